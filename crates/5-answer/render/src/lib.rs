//! Renderers: text, JSON, CSV, SARIF, SVG, a screen; one file per format.
//!
//! Renderers see only `view` and return strings. Results may be gigabytes of code, so every format is written
//! in pieces: the opening, each kernel, the end. Pieces of kernels are independent, so they can be rendered
//! on all cores and written in order.

mod answer;
pub mod brief;
pub mod csv;
mod doctor;
pub mod github;
mod html;
pub mod json;
pub mod junit;
mod markdown;
mod marks;
mod part;
pub mod picture;
pub mod sarif;
mod style;
pub mod svg;
pub mod table_csv;
pub mod text;
#[cfg(feature = "tui")]
pub mod tui;

pub use answer::{How, answer};
pub use html::{page, searches, stored, timeline, verdicts};
pub use markdown::kernels;
pub use part::Part;
pub use style::{Role, Style};
