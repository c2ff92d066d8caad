//! The shape of a rule's page.
//!
//! The one idea to keep in mind: every page has the same five headings in the same order, so a reader knows
//! where the reason, the evidence and the remedy stand.

use crate::Rule;
use view::Severity;

/// Headings of a page, in order. Each is a `## ` line.
pub const SECTIONS: [&str; 5] = ["What it does", "Why it is slow", "Evidence", "What to do", "Source"];

/// Heading and body of each section of a page, in the order they stand.
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

/// The page of a rule as a document of its own, with title and highest severity.
pub fn document(rule: &Rule) -> String {
    format!("# {}: {}\n\nHighest severity: {}.\n\n{}", rule.id, rule.title, severity_name(rule), rule.page)
}

/// The table of all rules, each linked to its document `ID.md`.
pub fn index() -> String {
    let mut text = String::from(
        "# Rules\n\n`rockhound explain RULE` prints the same pages.\n\n| rule | fires on | highest severity |\n|---|---|---|\n",
    );
    for rule in crate::all() {
        text += &format!("| [{id}]({id}.md) | {} | {} |\n", rule.title, severity_name(rule), id = rule.id);
    }
    text
}

fn severity_name(rule: &Rule) -> &'static str {
    match rule.severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Severe => "severe",
    }
}

/// Byte offset of the next line that begins with `## `.
fn find_heading(text: &str) -> Option<usize> {
    if text.starts_with("## ") { Some(0) } else { text.find("\n## ").map(|at| at + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_name_their_rule_and_the_index_names_all() {
        let index = index();
        for rule in crate::all() {
            assert!(document(rule).starts_with(&format!("# {}: {}\n", rule.id, rule.title)));
            assert!(
                index.contains(&format!("| [{id}]({id}.md) | {}", rule.title, id = rule.id)),
                "{}",
                rule.id
            );
        }
    }

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
