#![doc = include_str!("../README.md")]

mod agent;
mod beside;
mod by_dispatch;
mod check;
mod dispatch_columns;
mod folder;
mod form;
mod gather;
mod headers;
mod instructions;
mod join;
mod launches;
mod levels;
mod long;
mod marks;
mod merge;
mod model;
mod multiplex;
mod multiplexed;
mod names;
mod native;
mod occupancy;
mod passes;
mod predictions;
mod printed;
mod recognize;
mod recording;
mod repeats;
mod rocpd;
mod rocprofv3;
mod runs;
mod sampled;
mod samples;
mod shares;
mod side;
mod thread_trace;
mod traced;
mod wide;
mod write;

pub(crate) use columns::{digits, number, problem, table, times, values};

pub use folder::Folder;
pub use instructions::{
    INSTRUCTIONS_FILE, INSTRUCTIONS_HEADER, InstructionRow, KernelRun, LdsUse, RunOf, STALLS, StallCycles,
    VectorUse, code_object_file, events_file, is_events_file, read_instructions, write_instructions,
};
pub use launches::{
    LAUNCHES_FILE, LaunchArgument, LaunchNote, REPEATS_FILE, compiled_stem, launch_note, repeat_line,
};
pub use marks::{MARKS_FILE, Marks, TIME};
pub use merge::merge;
pub use model::{
    Ceilings, Counter, Counters, Dispatches, Extra, Generation, Machine, PrintedRow, Rank, plain_kernel_name,
};
pub use multiplexed::Multiplexed;
pub use names::is_level_file;
pub use occupancy::{OCCUPANCY_FILE, OCCUPANCY_HEADER, Occupancy, write_occupancy};
pub use passes::{is_pass, is_repeated_run, natural, repeated_run};
pub use predictions::{PREDICTIONS_FILE, PREDICTIONS_HEADER, Prediction, PredictionLine, write_prediction};
pub use problem::{ABSENT, Error, Problem};
pub use recognize::{has_counters, has_form_of_recording, holds_dispatches, is_companion};
pub use recording::Workload;
pub use repeats::Spread;
pub use sampled::{
    KernelSamples, SAMPLE_STALLS, SampleCounts, SampledInstruction, SampledKernel, Samples, SamplingMethod,
};
pub use samples::is_sampled_kernel;
pub use shares::{SHARES_FILE, SHARES_HEADER, Share, write_share};
pub use thread_trace::{is_thread_trace_folder, is_wave_file};
pub use traced::{KernelTrace, TracedCounts, TracedDispatch, Traces, WaveSpan};
pub use values::Values;
pub use view::Mark;
pub use view::{Note, NoteKind};

pub use levels::ACCUMULATOR;
pub use write::{
    LineOf, RocpdError, counters_header, sysinfo, write, write_beside, write_ceilings, write_counters,
    write_long, write_rocpd,
};

use folder::Files;
use problem::Problems;

/// Limits of reading.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes one packed file may unpack to.
    pub max_unpacked: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_unpacked: 4 << 30 }
    }
}

/// Reads a recording.
pub fn read(folder: &dyn Folder, options: &Options) -> Result<Workload, Error> {
    let files = Files::new(folder, options.max_unpacked);
    if files.len() == 0 {
        return Err(Error::EmptyFolder);
    }
    let mut problems = Problems::default();
    let samples = samples::read(&files, &mut problems);
    let traces = thread_trace::read(&files, &mut problems);
    let workload = match (recognize::read(&files), samples, traces) {
        (Ok(mut workload), samples, traces) => {
            if let Some(samples) = samples {
                samples.attach(&mut workload, &mut problems);
            }
            if let Some(traces) = traces {
                traces.attach(&mut workload);
            }
            workload.problems.extend(problems.list);
            workload
        }
        // A run for samples or traces alone has no counters.
        (Err(Error::NoRecording { .. } | Error::TritonCache), Some(samples), traces) => {
            let mut workload = samples.workload(&files, problems)?;
            if let Some(traces) = traces {
                traces.attach(&mut workload);
            }
            workload
        }
        (Err(Error::NoRecording { .. } | Error::TritonCache), None, Some(traces)) => {
            traces.workload(&files, problems)
        }
        (Err(error @ Error::NoRecording { .. }), None, None) => {
            printed::read(&files).unwrap_or(Err(error))?
        }
        (Err(error), ..) => return Err(error),
    };
    Ok(workload)
}
