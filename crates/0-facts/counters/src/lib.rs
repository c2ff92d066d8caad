#![doc = include_str!("../README.md")]

mod catalogue;
mod derived;
mod plan;

pub use catalogue::{Block, Catalogue, CatalogueError, Class, Definition, Name, OfInstances, Per, catalogue};
pub use derived::{Averaged, DERIVED_FILE, Derived, DerivedCounters, Formula, derived};
pub use plan::{Need, Pass, Plan, PlanError, plan};
