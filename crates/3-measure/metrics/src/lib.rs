//! Metrics: formulas over the counters of a dispatch, defined as data.
//!
//! A metric is an expression with a unit, written once. Which counters it needs, how it averages, its minimum
//! and maximum, its share of a peak, its rows per channel are all derived from it.
//!
//! Load [`Definitions`], [`Definitions::compile`] them for a target, make an [`Evaluation`] of a workload,
//! and ask it for values or [`table`]s.

mod compile;
mod definitions;
mod evaluate;
mod facts;
mod kernels;
mod names;
mod panels;
mod parse;
mod tables;
mod unit;

pub use compile::Compiled;
pub use definitions::{DefinitionError, Definitions, Metric, Row, Style, Table, WrongDefinitions};
pub use evaluate::{Evaluation, Settings, TakenFrom, Trust, Value, Window};
pub use kernels::{KernelTimes, kernels};
pub use names::{Alias, Set, aliases, sets};
pub use tables::{EvaluatedTable, TableRow, shown_unit, table};
pub use unit::Unit;
