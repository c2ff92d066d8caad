//! `rockhound accuracy`: a recording of a GPU beside an emulated one, as a file that its user can send.

use crate::args::{Accuracy, Look};
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::{subjects, terminal};
use anyhow::Result;
use host::subjects::Asked;
use render::{json, text};
use std::path::PathBuf;
use view::Format;

/// Compares.
pub(crate) fn run(args: &Accuracy, look: &Look) -> Result<Outcome> {
    let emulated = match &args.emulated {
        Some(path) => path.clone(),
        None => host::emulated_beside(&args.gpu).inspect(|it| eprintln!("beside {it}"))?,
    };
    let asked =
        Asked { sources: vec![args.gpu.clone(), emulated], wanted: args.part.wanted(), ..Asked::default() };
    let measured = subjects::measured(&asked)?;
    let Some(accuracy) = measured.accuracy(args.kernel_names)? else { return Ok(Outcome::InputError) };
    let document = json::accuracy(&accuracy);
    let path = args.output.clone().unwrap_or_else(|| {
        let name = accuracy.gpu.get("gpu_model").or(accuracy.gpu.get("gpu_arch")).map_or("gpu", |it| it);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        PathBuf::from(format!("accuracy-{name}.json"))
    });
    let mut file = Output::open(Some(&path))?;
    file.write(&document)?;
    file.finish()?;
    eprintln!("wrote {}", path.display());
    output::print(&match args.format {
        Format::Json => document,
        _ => text::accuracy(&accuracy, terminal::style(look, false).width),
    })?;
    Ok(Outcome::of(measured.failed(), false))
}
