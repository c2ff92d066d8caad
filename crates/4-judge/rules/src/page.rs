//! The shape of a rule's page.
//!
//! Every page has the same five headings in the same order, so a reader finds reason, evidence and remedy at
//! the same place.

/// Headings of a page, in order. Each is a `## ` line.
pub const SECTIONS: [&str; 5] = ["What it does", "Why it is slow", "Evidence", "What to do", "Source"];

/// Heading and body of each section of a page, in page order.
pub fn sections(page: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(start) = find_heading(rest) {
        let after = &rest[start + 3..];
        let (heading, body) = after.split_once('\n').unwrap_or((after, ""));
        let end = find_heading(body).unwrap_or(body.len());
        found.push((heading.trim(), body[..end].trim()));
        rest = &body[end..];
    }
    found
}

/// Byte offset of the next line that begins with `## `.
fn find_heading(text: &str) -> Option<usize> {
    if text.starts_with("## ") { Some(0) } else { text.find("\n## ").map(|at| at + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_keep_order_and_bodies() {
        let cases: [(&str, &[(&str, &str)]); 4] = [
            ("", &[]),
            ("no heading", &[]),
            ("## A\nx\n\n## B\ny ## z\n", &[("A", "x"), ("B", "y ## z")]),
            ("lead\n## A\n## B", &[("A", ""), ("B", "")]),
        ];
        for (page, expected) in cases {
            assert_eq!(sections(page), expected, "{page:?}");
        }
    }
}
