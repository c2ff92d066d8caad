//! `rockhound diff`: what changed between two builds.
//!
//! Both sides are read by the same driver as `inspect`; comparing is a function of two lists of cards.

use crate::args::{Diff, Look};
use crate::exit::{Outcome, usage};
use crate::kernels::{Selection, each_kernel};
use crate::output::Output;
use crate::terminal;
use anyhow::{Context, Result};
use host::renames;
use render::{json, text};
use std::path::Path;
use study::thresholds;
use view::{FileError, Format, KernelCard};

/// Compares.
pub(crate) fn run(args: &Diff, look: &Look) -> Result<Outcome> {
    let selection = Selection::new(args.select.kernel.as_deref(), &args.select.arch)?;
    let limits = match &args.thresholds {
        None => Vec::new(),
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
            thresholds::parse(&text).map_err(|error| {
                usage(
                    format!("`{name}`: {error}"),
                    "write limits such as `vgprs = \"+4\"` or `occupancy = \"-0\"`",
                )
            })?
        }
    };
    let renamed = renames::parse(&args.matches)?;
    let mut errors = Vec::new();
    let mut read = |path: &Path| -> Result<Vec<KernelCard>> {
        let (cards, more) = cards(path, &selection)?;
        errors.extend(more);
        Ok(cards)
    };
    let old = read(&args.old)?;
    let new = read(&args.new)?;
    let mut comparison = study::compare(&old, &new, &renamed)?;
    comparison.old = args.old.display().to_string();
    comparison.new = args.new.display().to_string();
    comparison.errors = errors;
    comparison.regressions = thresholds::apply(&limits, &mut comparison);
    let mut output = Output::open(args.output.as_deref())?;
    let top = if args.top == 0 { usize::MAX } else { args.top };
    output.write(&match args.format {
        Format::Json => json::comparison(&comparison),
        _ => text::comparison(&comparison, top, &terminal::style(look, args.output.is_some())),
    })?;
    output.finish()?;
    Ok(Outcome::of(!comparison.errors.is_empty(), comparison.regressions > 0))
}

/// Cards of all selected kernels of one side, without the fields that are not compared.
fn cards(path: &Path, selection: &Selection) -> Result<(Vec<KernelCard>, Vec<FileError>)> {
    let mut cards = Vec::new();
    let errors = each_kernel(
        &[path.to_owned()],
        selection,
        |judged| judged.compared_card(),
        |card| {
            cards.push(card);
            Ok(())
        },
    )?;
    Ok((cards, errors))
}
