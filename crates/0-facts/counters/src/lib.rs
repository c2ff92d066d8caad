//! The hardware counters of each GPU, their meaning, and their packing into few runs.
//!
//! A counter belongs to a hardware block, and each instance of a block can count only a few events at once;
//! therefore counters need several passes.

mod catalogue;
mod derived;
mod plan;

pub use catalogue::{Block, Catalogue, CatalogueError, Class, Definition, Name, OfInstances, Per, catalogue};
pub use derived::{Averaged, DERIVED_FILE, Derived, DerivedCounters, Formula, derived};
pub use plan::{Need, Pass, Plan, PlanError, plan};
