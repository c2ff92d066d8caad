//! Choice of a runner for a request.

use super::emulated::EmulatedProgram;
use super::launch::EmulatedLaunch;
use super::report::{Ran, Reporter, Runner};
use super::request::{Place, Request, What};
use super::vendor::{self, Vendor};
use super::{GPU_DEVICE, set};
use crate::{recording, usage};
use anyhow::Result;

/// Runs, and records what is asked for.
pub fn run(request: &Request, reporter: &dyn Reporter) -> Result<Ran> {
    let ran = runner(request, reporter)?.run(request, reporter)?;
    let set = request.record.as_ref().and_then(|it| it.set.as_deref());
    for folder in ran.folders.iter().filter(|_| set.is_some()) {
        if !recording::recordings_in(folder).is_empty() {
            set::keep_set(set, folder)?;
        }
    }
    Ok(ran)
}

/// The runner for a request.
fn runner(request: &Request, reporter: &dyn Reporter) -> Result<&'static dyn Runner> {
    let sampled = request.record.as_ref().is_some_and(|it| it.detail.most_workgroups.is_some());
    if sampled && !request.record.as_ref().is_some_and(|it| it.no_results) {
        return Err(usage(
            "with `--sample-workgroups` most workgroups do not run: results are not computed",
            "add `--no-results` where only counters matter",
        ));
    }
    if let What::LaunchFile(..) = request.what {
        return Ok(&EmulatedLaunch);
    }
    // Without a recording a profiler has nothing to do.
    if request.record.is_none() {
        return Ok(&EmulatedProgram);
    }
    let device = std::fs::File::open(GPU_DEVICE);
    let tool = vendor::profiler().is_some();
    let named = request.emulate.gpu.is_some();
    if request.place == Place::Auto && !named {
        match &device {
            Ok(_) if !tool => {
                reporter.say(&format!("the AMD GPU cannot be read: {}", vendor::no_profiler()));
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound && tool => {
                reporter.say(&format!("emulating: {}", vendor::denied(error)));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(choose(request.place, named, device.is_ok(), tool))
}

/// The requested place, else the hardware if a GPU and a tool that profiles it exist, unless a GPU to emulate
/// is named.
fn choose(place: Place, named: bool, gpu: bool, tool: bool) -> &'static dyn Runner {
    match place {
        Place::Gpu => &Vendor,
        Place::Auto if !named && gpu && tool => &Vendor,
        Place::Auto | Place::Emulator => &EmulatedProgram,
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::Silent;
    use super::super::request::{Emulate, OnGpu, Recording, Selection};
    use super::*;
    use crate::run::{Detail, MOST_INSTRUCTIONS};
    use crate::session::Progress;

    #[test]
    fn the_hardware_is_used_where_it_is_and_nothing_is_pretended() {
        let request = Request {
            what: What::Program(vec!["/nowhere/app".into()]),
            place: Place::Auto,
            emulate: Emulate {
                gpu: None,
                devices: 1,
                threads: 0,
                max_instructions: MOST_INSTRUCTIONS,
                repeats: true,
                virtual_time: None,
                autotune_limit: None,
                check: Vec::new(),
                progress: Progress::Silent,
            },
            on_gpu: OnGpu { profiler: Some("/nowhere/rocprofv3".into()), ..OnGpu::default() },
            record: Some(Recording {
                name: None,
                output: None,
                overwrite: false,
                select: Selection::default(),
                blocks: Vec::new(),
                set: None,
                detail: Detail::default(),
                no_results: false,
            }),
        };
        let hardware = "what GPU this machine has cannot be read";
        let emulator = "/nowhere/app";
        // Request, whether a GPU is named, whether one exists, whether the vendor's profiler does; error of
        // the chosen runner.
        for ((place, named, gpu, tool), expected) in [
            ((Place::Auto, false, true, true), hardware),
            ((Place::Auto, true, true, true), emulator),
            ((Place::Auto, false, true, false), emulator),
            ((Place::Auto, false, false, true), emulator),
            ((Place::Gpu, false, false, false), hardware),
            ((Place::Emulator, false, true, true), emulator),
        ] {
            let runner = choose(place, named, gpu, tool);
            let error = runner.run(&request, &Silent).err().map(|it| it.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{place:?} {named} {gpu} {tool}: {error}");
        }
    }
}
