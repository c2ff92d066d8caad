//! Evidence from a timeline: where the time between kernels goes.
//!
//! [`TimelineEvidence`] is gathered once; tables and rules read it and compute nothing of the timeline
//! themselves.

mod attention;
mod by_name;
pub mod category;
pub mod collectives;
mod evidence;
mod excess;
pub mod gaps;
pub mod gemm;
mod idle;
mod intervals;
mod kernels;
mod launches;
mod links;
mod named;
mod operators;
mod overview;
mod profiler;
mod select;
mod steps;
mod streams;
mod work;

pub use attention::{UnfusedAttention, unfused_attention};
pub use evidence::TimelineEvidence;
pub use excess::{Excess, More, excess};
pub use idle::{Gap, Idle, IdleTime, Why, idle};
pub use intervals::Intervals;
pub use kernels::{Durations, KernelSum, by_category, kernels};
pub use launches::{CallTime, GraphLaunch, Latency, calls, graphs, latency};
pub use links::{Launched, Links, is_graph_launch, is_launch, is_synchronising};
pub use named::{NamedRange, named_ranges};
pub use operators::{OperatorSum, Origin, operators, origins};
pub use overview::{Overview, linked, overviews, together};
pub use profiler::ProfilerCost;
pub use select::{Selection, select};
pub use steps::{Range, ranges, step_number};
pub use streams::{CopySum, SHORT_US, StreamTime, by_duration, copies, streams};
pub use work::{Work, work};
