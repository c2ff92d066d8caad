//! `rockhound profile`: a program's kernels, or the kernel of a launch file, as a workload, and its report.

use crate::args::{Analyze, Look, Profile, Ranks};
use crate::exit::Outcome;
use crate::progress::{self, Running};
use crate::{analyze, answer};
use anyhow::Result;
use host::recording::recordings_in;
use host::run::{self, Ended, What};
use std::path::Path;
use view::Format;

/// Profiles, and reports the recording.
pub(crate) fn run(args: &Profile, look: &Look) -> Result<Outcome> {
    if args.list_sets {
        let definitions = host::definitions::read(&[])?;
        let sets = study::sets(&study::compile(&definitions, &study::targets(None)?)?);
        return answer::print(&sets, Format::Text, look);
    }
    args.set.as_deref().map(study::known_set).transpose()?;
    let request = args.request(progress::of_programs())?;
    let ran = run::run(&request, &Running::new(look))?;
    let outcome = Outcome::of_run(&ran);
    if let What::LaunchFile(..) = request.what {
        let Some(folder) = ran.folders.first() else { return Ok(outcome) };
        let reported = report(folder, args, look)?;
        return Ok(if ran.ended == Ended::Differs { Outcome::ThresholdMet } else { reported });
    }
    for folder in &ran.folders {
        let extra = ["pc_sampling", "thread_trace"].iter().any(|name| folder.join(name).exists());
        if !extra && recordings_in(folder).is_empty() {
            eprintln!("rockhound: no dispatch was recorded in {}", folder.display());
            continue;
        }
        eprintln!("wrote {}", folder.display());
        report(folder, args, look)?;
    }
    Ok(outcome)
}

/// Report of `analyze` on a recording, short unless the arguments request more.
fn report(folder: &Path, args: &Profile, look: &Look) -> Result<Outcome> {
    let mut shown = Analyze::of_recording(folder, &args.shown())?;
    if recordings_in(folder).len() > 1 {
        shown.pick.ranks = Some(Ranks::Merged);
    }
    analyze::run(&shown, look)
}
