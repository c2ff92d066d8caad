//! Achievable peak rates of a GPU, measured by kernels that exercise one unit only.
//!
//! A rate is the difference between two runs of different length, so work before and after the measured part
//! cancels out. On an emulated GPU the numbers test the model: they should match hardware.
//!
//! `kernels/peaks.hip` holds the kernels; `kernels/build.sh` makes the code objects.

mod bench;
mod code;
mod device;
mod emulated;
mod error;
mod latency;

pub use bench::{Peak, Unit, measure, measure_on};
pub use code::kernels;
pub use device::{Device, Given, Launch};
pub use error::Error;
pub use latency::{Latency, chase};
