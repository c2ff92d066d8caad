//! `rockhound diff`: what changed between two builds.
//!
//! Both sides are read by the same driver as `inspect`; comparing is a function of two lists of cards.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Diff, Look};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::kernels::{Selection, each_kernel};
use anyhow::{Context, Result};
use host::{Source, renames};
use study::{Build, Judges, thresholds};
use view::{FileError, KernelCard};

/// Compares.
pub(crate) fn run(args: &Diff, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("diff", Judges::Code, &args.fail_on, &args.memory)?;
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
    let mut read = |source: &Source| -> Result<Vec<KernelCard>> {
        let (cards, more) = cards(source, &selection)?;
        errors.extend(more);
        Ok(cards)
    };
    let old = read(&args.old)?;
    let new = read(&args.new)?;
    let build = |source: &Source, kernels| Build { path: source.to_string(), kernels };
    let mut answer = study::compare([build(&args.old, &old), build(&args.new, &new)], &renamed, &limits)?;
    // The reader of code has said what it could not read.
    let failed = !errors.is_empty();
    answer.errors = errors;
    answer.part.shown = if args.top == 0 { usize::MAX } else { args.top };
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    gated.gate.findings(&mut answer.findings);
    answer.gate = gated.gate.summary();
    answer::write(&answer, &target)?;
    let met = gated.close(failed)? || answer.part.regressions > 0;
    Ok(Outcome::of(failed, met))
}

/// Cards of all selected kernels of one side, without the fields that are not compared.
pub(crate) fn cards(source: &Source, selection: &Selection) -> Result<(Vec<KernelCard>, Vec<FileError>)> {
    let mut cards = Vec::new();
    let remarks = each_kernel(
        std::slice::from_ref(source),
        &[source.open()?.to_owned()],
        selection,
        |judged| judged.compared_card(),
        |card| {
            cards.push(card);
            Ok(())
        },
    )?;
    Ok((cards, remarks.errors))
}
