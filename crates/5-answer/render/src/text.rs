//! Text for people: cards, tables, listings, comparisons, rule pages.
//!
//! Everything goes through [`page::Page`], which wraps, colours and makes control characters of names
//! visible; no renderer writes escape codes itself.

mod accuracy;
mod answer;
mod canvas;
mod card;
mod comparison;
mod doctor;
pub(crate) mod figure;
mod findings;
mod grid;
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
mod roofs;
mod search;
mod sets;
mod summary;
mod table;
mod tile;
mod triage;
mod triton;
mod verdict;
mod waves;

pub(crate) use accuracy::accuracy;
pub(crate) use answer::answer;
#[cfg(feature = "tui")]
pub(crate) use card::severity_role;
pub use card::{card, findings};
pub(crate) use comparison::comparison;
pub(crate) use doctor::doctor;
pub(crate) use findings::by_rule;
pub use guide::{guide, kernel};
pub use listing::{listing, listing_with_places};
pub use markdown::{markdown, rules};
pub use memory_chart::memory_chart;
pub(crate) use metrics::metrics;
pub use names::shorten;
pub(crate) use occupancy::occupancy;
pub(crate) use page::visible;
#[cfg(feature = "tui")]
pub(crate) use page::{width as display_width, wrapped};
pub use report::{panels, report};
pub use roofline::roofline;
pub(crate) use roofline::rooflines;
pub(crate) use roofs::roofs;
pub(crate) use search::searches;
pub(crate) use sets::sets;
pub use summary::summary;
pub(crate) use table::markdown as markdown_table;
pub use table::{sort_columns, table};
pub(crate) use tile::tile;
pub(crate) use triage::triage;
pub use triton::triton_lines;
pub(crate) use verdict::verdicts;
pub(crate) use waves::describe as describe_waves;
pub use waves::waves;
