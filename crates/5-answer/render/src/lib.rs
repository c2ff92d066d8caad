//! Renderers: text, JSON, CSV, SARIF, SVG, a screen; one file per format.
//!
//! The one idea to keep in mind: renderers see only `view` and return strings. Results may be gigabytes of
//! code, so every format is written in pieces: what comes before the kernels, each kernel, what comes after.
//! Pieces of kernels are independent, so they can be rendered on all cores and written in order.

pub mod csv;
pub mod doctor;
pub mod github;
mod html;
pub mod json;
mod marks;
pub mod picture;
pub mod report_csv;
pub mod report_markdown;
pub mod sarif;
mod style;
pub mod svg;
pub mod text;
#[cfg(feature = "tui")]
pub mod tui;
pub mod tunings;

pub use html::{page, timeline};
pub use style::{Role, Style};
