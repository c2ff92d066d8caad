//! A page around one chart.
//!
//! The content of the picture follows below as text too, for readers who do not see it.

use crate::svg::Theme;
use askama::Template;

#[derive(Template)]
#[template(path = "picture.html")]
struct Page<'a> {
    title: &'a str,
    /// Made by [`crate::svg`], which escapes names.
    svg: &'a str,
    numbers: &'a str,
    ground: &'a str,
    ink: &'a str,
}

/// A page with a chart in the colours of a theme and its numbers as text.
pub fn html(title: &str, svg: &str, numbers: &str, theme: &Theme) -> String {
    let title = crate::text::visible(title);
    let page = Page { title: &title, svg, numbers, ground: theme.surface, ink: theme.text };
    // Writing to a string cannot fail.
    page.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        let page = html("<b>&\u{1b}", "<svg></svg>", "a < b <script>", &crate::svg::LIGHT);
        assert!(
            page.contains("<svg></svg>") && !page.contains("<script>") && !page.contains("<b>"),
            "{page}"
        );
        assert!(!page.contains('\u{1b}'), "{page}");
    }
}
