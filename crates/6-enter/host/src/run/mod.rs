//! The one way to run something: a program, or the kernel of a launch file, on an emulated GPU or, with the
//! vendor's profiler, on the GPU of this machine.
//!
//! A [`Request`] becomes [`Ran`]: the recorded folders and the end of the run. The caller reports on the folders
//! afterwards.

mod captured;
mod earlier;
mod emulated;
mod folder;
mod launch;
mod placed;
mod progress;
mod report;
mod request;
mod runner;
mod set;
mod vendor;

pub use captured::capture;
pub use emulated::library::{Libraries, files as library_files, find as library, look as libraries};
pub use emulated::run_and_report;
pub(crate) use emulated::{
    FIRST_GPU, Observed, is_executable, observed, predictions, with_variables, write_python,
};
pub use launch::{Conditions, LeftBuffer, Results, Stopped, results};
pub use record::CacheState;
pub use report::{Ended, Output, Ran, Reporter};
pub use request::{
    Detail, Emulate, MOST_INSTRUCTIONS, OnGpu, Place, Recording, Repeated, Request, Sampling, Selection, What,
};
pub use runner::run;
pub(crate) use vendor::wanted_profiler;
pub use vendor::{denied, model_of_machine};

#[cfg(test)]
pub(crate) use report::tests;

use crate::usage;
use anyhow::{Result, anyhow};
use arch::{Model, Target};

/// Device node that exists if an AMD GPU does.
pub const GPU_DEVICE: &str = "/dev/kfd";

/// A model by its name; the error lists all names.
pub(crate) fn model(name: &str) -> Result<&'static Model> {
    Model::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Model::names().collect();
        usage(format!("there is no GPU `{name}`"), format!("known are {}", names.join(", ")))
    })
}

/// The model used for a target: the one with the most compute units.
fn model_of_target(processor: &str) -> Result<&'static Model> {
    let target =
        Target::by_name(processor).ok_or_else(|| anyhow!("there are no facts about `{processor}`"))?;
    let model = Model::of_target(target).reduce(|most, model| {
        if model.compute_units.value > most.compute_units.value { model } else { most }
    });
    model.ok_or_else(|| anyhow!("there is no GPU with target `{processor}`"))
}

/// A model's name without the vendor, and its clock unless it is the highest.
pub(crate) fn title(model: &Model) -> String {
    match model.key().split_once('@') {
        None => model.short().to_owned(),
        Some((_, clock)) => format!("{} at {clock} MHz", model.short()),
    }
}
