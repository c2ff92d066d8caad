//! What a GPU reaches at best, measured by kernels that do one thing only.
//!
//! The one idea to keep in mind: a number is the difference of two runs that differ in length, so what stands before and
//! after the work is not in it. On an emulated GPU the numbers test the model: they ought to be those of hardware.
//!
//! The kernels stand in `kernels/peaks.hip`; `kernels/build.sh` makes the code objects.

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
