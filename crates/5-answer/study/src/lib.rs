//! Answers to questions about kernels and recordings, as values for the renderers.
//!
//! Values in, values out; the command and the Python module give the same answers because both call this
//! crate.

pub mod accuracy;
mod analysis_db;
mod columns;
pub mod comm;
pub mod doctor;
pub mod emit;
mod fail_on;
pub mod fix;
pub mod judge;
mod launched;
mod needs;
mod operators;
mod page;
mod rooflines;
mod tables;
pub mod thresholds;
mod tile;
pub mod trace;
pub mod tunings;

pub mod triage;
pub use analysis_db::analysis_db;
pub use columns::columns;
pub use fail_on::FailOn;
pub use judge::report;
pub use needs::needs;
pub use operators::{Operators, operators};
pub use page::{DISPATCHES, page};
pub use rooflines::{Placed, Shown, rooflines};
pub use tile::{TileQuestion, tile};
use view::RuleInfo;

/// Every rule as a renderer needs it.
pub fn rules() -> Vec<RuleInfo> {
    rules::all()
        .iter()
        .map(|rule| RuleInfo { id: rule.id, title: rule.title, severity: rule.severity, page: rule.page })
        .collect()
}
