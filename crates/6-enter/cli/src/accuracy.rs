//! `rockhound accuracy`: a recording of a GPU beside an emulated one, as a file that its user can send.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Accuracy, Look};
use crate::exit::Outcome;
use crate::subjects;
use anyhow::Result;
use host::subjects::Asked;
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
    let path = args.output.clone().unwrap_or_else(|| {
        let gpu = &accuracy.part.gpu;
        let name = gpu.get("gpu_model").or(gpu.get("gpu_arch")).map_or("gpu", |it| it);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        PathBuf::from(format!("accuracy-{name}.json"))
    });
    let file = Target { format: Format::Json, output: Some(&path), decimals: DECIMALS, look };
    answer::write(&accuracy, &file)?;
    eprintln!("wrote {}", path.display());
    answer::print(&accuracy, args.format, look)?;
    Ok(Outcome::of(measured.failed(), false))
}
