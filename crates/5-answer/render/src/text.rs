//! Text for people: cards, tables, listings, comparisons, rule pages.
//!
//! The one idea to keep in mind: everything goes through [`page::Page`], which wraps, colours and makes
//! control characters of names visible; no renderer writes escape codes itself.

mod canvas;
mod card;
mod comparison;
mod doctor;
pub(crate) mod figure;
mod guide;
mod listing;
mod listing_samples;
mod listing_trace;
mod markdown;
mod memory_chart;
mod metrics;
mod names;
pub(crate) mod number;
mod occupancy;
mod page;
mod report;
mod roofline;
mod summary;
mod survey;
mod table;
mod tile;
mod triage;
mod triton;
mod tunings;
mod waves;

#[cfg(feature = "tui")]
pub(crate) use card::severity_role;
pub use card::{card, findings};
pub use comparison::comparison;
pub use doctor::doctor;
pub use guide::{guide, kernel};
pub use listing::{listing, listing_with_places};
pub use markdown::{markdown, rules};
pub use memory_chart::memory_chart;
pub use metrics::metrics;
pub use names::shorten;
pub use occupancy::occupancy;
pub(crate) use page::visible;
#[cfg(feature = "tui")]
pub(crate) use page::{width as display_width, wrapped};
pub(crate) use report::findings::by_rule;
pub use report::{panels, report};
pub use roofline::roofline;
pub use summary::summary;
pub use survey::survey;
pub use table::{SORT_COLUMNS, table};
pub use tile::tile;
pub use triage::triage;
pub use triton::triton_lines;
pub use tunings::tunings;
pub(crate) use waves::describe as describe_waves;
pub use waves::waves;
