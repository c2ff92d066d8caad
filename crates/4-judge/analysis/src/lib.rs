//! Evidence: the facts about one kernel, from its code object and from a recording, as values.
//!
//! Everything a rule, a card or a chart needs is computed once per kernel, here; rules only judge and
//! renderers only write.

mod built;
mod callees;
mod calls;
mod card;
mod code;
mod compare;
mod compilers_waves;
mod evidence;
pub mod guide;
mod ir;
mod limit;
mod listing;
mod listing_run;
mod listing_samples;
mod listing_trace;
mod numbers;
mod recorded;
mod resources;
pub mod roofline;
pub mod roofline_chart;
mod runtime_kernel;
mod shapes;
mod source;
mod text;
mod triton;
pub mod waits;
pub mod waves;
pub mod workload;

pub use affine;
pub use built::Built;
pub use callees::Callee;
pub use calls::Call;
pub use card::card;
pub use code::{Code, Recent};
pub use compare::{Better, METRICS, Metric, changes, compare, compare_kernels};
pub use compilers_waves::occupancy_reasons;
pub use evidence::KernelEvidence;
pub use ir::{TritonIr, ir_place};
pub use limit::{Leading, Limit, Saved, beside};
pub use listing::listing;
pub use listing_run::{Mismatch, add_run};
pub use listing_samples::{SampledBy, add_samples, sampled_listing};
pub use listing_trace::{add_trace, measure_findings, traced_listing};
pub use numbers::KernelNumbers;
pub use recorded::WorkloadEvidence;
pub use resources::NamedRegisters;
pub use runtime_kernel::RuntimeKernel;
pub use shapes::Shaped;
pub use source::Source;
pub use text::TextFile;
