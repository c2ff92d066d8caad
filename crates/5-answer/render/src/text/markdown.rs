//! Rule pages in a terminal: the small part of markdown they use.
//!
//! Pages are written to be read as plain text, so this only wraps paragraphs, marks headings and code, and
//! leaves everything else unchanged.

use super::card::severity_role;
use super::page::{Page, Span, plain, span, width};
use crate::{Role, Style};
use view::RuleInfo;

/// Renders a markdown page.
pub fn markdown(text: &str, style: &Style) -> String {
    let mut page = Page::new(&Style { width: style.width.min(100), ..*style });
    let mut paragraph: Vec<&str> = Vec::new();
    let mut item: Option<(usize, String)> = None;
    let mut code = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with("```") {
            flush(&mut page, &mut paragraph, &mut item);
            code = !code;
            continue;
        }
        if code {
            page.raw(&[plain("    "), span(Role::Info, line)]);
        } else if let Some(title) = heading(line) {
            flush(&mut page, &mut paragraph, &mut item);
            page.raw(&[span(Role::Heading, title)]);
        } else if trimmed.is_empty() {
            flush(&mut page, &mut paragraph, &mut item);
            page.blank();
        } else if trimmed.starts_with('|') || (indent >= 4 && paragraph.is_empty() && item.is_none()) {
            flush(&mut page, &mut paragraph, &mut item);
            page.raw(&[span(Role::Info, line)]);
        } else if let Some((marker, rest)) = list_item(trimmed) {
            flush(&mut page, &mut paragraph, &mut item);
            item = Some((indent, marker));
            paragraph.push(rest);
        } else {
            paragraph.push(trimmed);
        }
    }
    flush(&mut page, &mut paragraph, &mut item);
    page.finish()
}

/// Renders the list of rules.
pub fn rules(rules: &[RuleInfo], style: &Style) -> String {
    let mut page = Page::new(style);
    for rule in rules {
        let first = [
            span(Role::Heading, rule.id),
            plain("  "),
            span(severity_role(rule.severity), format!("{:<7}", rule.severity.as_str())),
            plain("  "),
        ];
        let rest = [plain(" ".repeat(width(rule.id) + 11))];
        page.prefixed(&first, &rest, &inline(rule.title));
    }
    page.finish()
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' ')).then(|| title.trim())
}

fn list_item(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = line.strip_prefix("* ").or_else(|| line.strip_prefix("- ")) {
        return Some(("• ".to_owned(), rest));
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line[digits..].strip_prefix(". ")?;
    (digits > 0 && digits <= 3).then(|| (format!("{}. ", &line[..digits]), rest))
}

fn flush(page: &mut Page, paragraph: &mut Vec<&str>, item: &mut Option<(usize, String)>) {
    if paragraph.is_empty() {
        *item = None;
        return;
    }
    let text = std::mem::take(paragraph).join(" ");
    let spans = inline(&text);
    match item.take() {
        Some((indent, marker)) => {
            let hang = 2 + indent + width(&marker);
            page.prefixed(
                &[plain(format!("{}{marker}", " ".repeat(2 + indent)))],
                &[plain(" ".repeat(hang))],
                &spans,
            );
        }
        None => page.wrapped(2, 2, &spans),
    }
}

/// `code`, **strong**, and [text](link) as text.
fn inline(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut rest = text;
    let mut before = String::new();
    while !rest.is_empty() {
        let (role, open, close) = if rest.starts_with('`') {
            (Role::Info, "`", "`")
        } else if rest.starts_with("**") {
            (Role::Strong, "**", "**")
        } else {
            if let Some((label, after)) = link(rest) {
                before.push_str(label);
                rest = after;
                continue;
            }
            let next = rest.chars().next().map_or(1, char::len_utf8);
            before.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        };
        let inside = &rest[open.len()..];
        match inside.find(close) {
            Some(end) if end > 0 => {
                spans.push(plain(std::mem::take(&mut before)));
                spans.push(span(role, &inside[..end]));
                rest = &inside[end + close.len()..];
            }
            _ => {
                before.push_str(open);
                rest = inside;
            }
        }
    }
    spans.push(plain(before));
    spans
}

fn link(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let (label, after) = inside.split_once("](")?;
    let (_, after) = after.split_once(')')?;
    (!label.contains(['[', ']'])).then_some((label, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_read_as_text() {
        let page = "# Title\n\nOne `code` and **strong**\nline with [a link](https://x).\n\n* item that goes on and on\n  over lines\n1. first\n\n```\nv_add_f32 v0\n```\n| a | b |\n";
        let expected = "Title\n\n  One code and strong line\n  with a link.\n\n  • item that goes on and\n    on over lines\n  1. first\n\n    v_add_f32 v0\n| a | b |\n";
        assert_eq!(markdown(page, &Style { width: 26, ..Style::default() }), expected);
    }

    #[test]
    fn unclosed_marks_stay() {
        for text in ["a ` b", "a ** b", "[x](y", "****", "``"] {
            let joined: String = inline(text).iter().map(|span| span.text.clone()).collect();
            assert_eq!(joined, text);
        }
    }
}
