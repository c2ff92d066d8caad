//! `rockhound comm`: communication between GPUs.

use crate::answer::{self, Target, unread};
use crate::args::{Comm, Look};
use crate::exit::{Outcome, usage};
use crate::gate;
use anyhow::Result;
use host::comm;
use std::path::Path;
use study::Judges;

/// Shows.
pub(crate) fn run(args: &Comm, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("comm", Judges::Communication, &args.fail_on, &args.memory)?;
    let mut errors = Vec::new();
    let mut files = Vec::new();
    for path in args.base.iter().chain(&args.files) {
        match comm::read(path, study::comm::read_npkit) {
            Ok(mut runs) if runs.len() == 1 => files.extend(runs.pop().map(|it| (name(path), it))),
            Ok(runs) => {
                files.extend((1..).zip(runs).map(|(run, it)| (format!("{} run {run}", name(path)), it)));
            }
            Err(error) => errors.push(unread(path, &error, "comm")),
        }
    }
    if files.is_empty() || args.base.is_some() && !errors.is_empty() {
        errors.iter().for_each(answer::tell);
        return Ok(Outcome::InputError);
    }
    if args.base.is_some() && files.len() != 2 {
        return Err(usage(
            format!("`--base` compares two files, found {}", files.len()),
            "give one file beside the base",
        ));
    }
    let top = if args.top == 0 || args.format.is_for_programs() { usize::MAX } else { args.top };
    let mut survey = study::comm::survey(&files, args.base.is_some(), top);
    survey.errors = errors;
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: args.decimal, look };
    answer::finish(&mut survey, &target, &mut gated)
}

/// Short name of a file: without its folders.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
