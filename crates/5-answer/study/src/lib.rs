//! Answers to questions about kernels and recordings, as values for the renderers.
//!
//! Values in, values out; the command and the Python module give the same answers because both call this
//! crate.

pub mod accuracy;
mod analysis_db;
mod builds;
mod columns;
pub mod comm;
pub mod dashboards;
pub mod doctor;
pub mod emit;
mod export;
mod fail_on;
pub mod fix;
mod gate;
pub mod gpus;
pub mod history;
mod judge;
mod launched;
mod measured;
mod occupancy;
mod operators;
mod page;
mod rooflines;
mod search;
mod sets;
pub mod stored;
mod summarized;
mod tables;
pub mod thresholds;
mod tile;
pub mod trace;
pub mod tunings;
mod verdict;

pub mod triage;
pub use builds::{Build, compare};
pub use columns::columns;
pub use export::{ExportTo, Exported, export};
pub use fail_on::FailOn;
pub use gate::{ConfigError, Exceptions, Gate, Judges};
pub use measured::{Measured, ReportQuestion, Units, conditions, is_advice};
pub use occupancy::occupancy;
pub use operators::Operators;
pub use rooflines::{Placed, Shown};
pub use search::{SearchedSpace, Trial, add_search, constraints};
pub use sets::{compile, explain, known_set, sets, targets};
pub use summarized::{Summarized, base_name};
pub use tile::{AskedTile, TileQuestion, tile, tile_times};
pub use verdict::{TriedVariant, verdicts};
use view::RuleInfo;

/// Every rule as a renderer needs it.
pub fn rules() -> Vec<RuleInfo> {
    rules::all()
        .iter()
        .map(|rule| RuleInfo { id: rule.id, title: rule.title, severity: rule.severity, page: rule.page })
        .collect()
}
