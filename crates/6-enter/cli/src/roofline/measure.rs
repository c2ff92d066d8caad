//! `rockhound roofline --measure`: the roofs of a GPU, by kernels of our own.

use crate::answer;
use crate::args::{Look, Roofline};
use crate::exit::{Outcome, usage};
use crate::output::Output;
use anyhow::Result;
use host::roofs::{self, RoofsOf};
use std::path::Path;

/// Measures.
pub(super) fn run(args: &Roofline, look: &Look) -> Result<Outcome> {
    let path = args.output.as_deref().unwrap_or(Path::new("roofline.csv"));
    if path.extension().is_none_or(|it| it != "csv") {
        return Err(usage(
            format!("`{}` is no table", path.display()),
            "what is measured is written as `.csv`",
        ));
    }
    let started = std::time::Instant::now();
    let asked = RoofsOf {
        place: args.on.into(),
        gpu: args.gpu.clone(),
        repeat: args.repeat,
        least_time: args.least_time,
        hip: args.hip.clone(),
    };
    let (roofs, ceilings) = roofs::measure(&asked, &|line| eprintln!("{line}"))?;
    let mut file = Output::open(Some(path))?;
    file.write_bytes(&ceilings)?;
    file.finish()?;
    eprintln!("wrote {} ({:.1} s)", path.display(), started.elapsed().as_secs_f64());
    answer::print(&roofs, args.format, look)
}
