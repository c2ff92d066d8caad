//! Charts as SVG: one element in a page, or a standalone picture.
//!
//! Shapes only name classes. In a page their colours come from the page; a standalone picture carries the
//! same style sheet with the colours of one theme written in.

pub(crate) mod element;
pub(crate) mod history;
mod memory_chart;
mod number;
mod roofline;
pub(crate) mod search;
mod theme;
mod waves;

pub use memory_chart::{Slots, memory_chart, slots};
pub use number::{Scaled, quantity, rate, short};
pub use roofline::{Plotted, roofline};
pub use theme::{DARK, LIGHT, Theme};
pub use waves::waves;

/// Settings of a chart.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// Width, in pixels.
    pub width: f64,
    /// Height, in pixels; ignored by charts that compute their height.
    pub height: f64,
    /// Colours of a standalone picture; `None` for a part of a page, which styles it.
    pub theme: Option<&'a Theme>,
    /// Whether the names of kernels are listed below.
    pub names: bool,
}

impl Picture<'_> {
    /// A part of a page.
    pub const fn in_page(width: f64, height: f64) -> Self {
        Picture { width, height, theme: None, names: false }
    }
}

/// Style sheet of the charts, with colours as variables; a page includes it once.
pub const STYLE: &str = include_str!("chart.css");

/// The style sheet with the colours of a theme instead of variables.
fn style_of(theme: &Theme) -> String {
    theme
        .colours()
        .iter()
        .fold(STYLE.to_owned(), |css, (name, colour)| css.replace(&format!("var(--{name})"), colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_the_style_sheet_is_in_the_themes() {
        for theme in [&LIGHT, &DARK] {
            assert!(!style_of(theme).contains("var("), "{}", style_of(theme));
        }
    }
}
