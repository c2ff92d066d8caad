//! Findings counted by rule, over all kernels.
//!
//! The summary answers "what should I look at first in this library".

use super::card::severity_role;
use super::names::shorten;
use super::page::{Page, dim, plain, span};
use crate::{Role, Style};
use view::{RuleInfo, Severity, Summary, thousands, thousands_of};

/// Renders the counts; rules are named by their titles.
pub fn summary(summary: &Summary, rules: &[RuleInfo], style: &Style) -> String {
    let mut page = Page::new(style);
    let total: u64 = summary.severities.values().sum();
    let mut head = vec![
        span(Role::Strong, thousands_of(summary.kernels, "kernel")),
        plain(format!(", {}", thousands_of(summary.instructions, "instruction"))),
    ];
    if summary.empty > 0 {
        let words = format!(" ({} without an instruction)", thousands(summary.empty));
        head.insert(1, plain(words));
    }
    if total == 0 {
        head.push(plain(", no findings"));
        page.wrapped(0, 2, &head);
        return page.finish();
    }
    head.push(plain(format!(", {}: ", thousands_of(total, "finding"))));
    let mut first = true;
    for severity in Severity::ALL {
        let Some(count) = summary.severities.get(severity.as_str()) else { continue };
        if !first {
            head.push(plain(", "));
        }
        first = false;
        head.push(span(severity_role(severity), format!("{} {}", thousands(*count), severity.as_str())));
    }
    page.wrapped(0, 2, &head);
    let mut counts: Vec<_> = summary.rules.iter().collect();
    counts.sort_by(|(a_id, a), (b_id, b)| {
        (b.severe, b.warning, b.info).cmp(&(a.severe, a.warning, a.info)).then(a_id.cmp(b_id))
    });
    let number_width =
        counts.iter().map(|(_, count)| thousands(count.findings).len()).max().unwrap_or(1).max(8);
    page.raw(&[dim(format!("  {:>number_width$}  {:>number_width$}  rule", "findings", "kernels"))]);
    for (id, count) in counts {
        let severity = if count.severe > 0 {
            Severity::Severe
        } else if count.warning > 0 {
            Severity::Warning
        } else {
            Severity::Info
        };
        let first = [
            plain(format!("  {:>number_width$}", thousands(count.findings))),
            plain(format!("  {:>number_width$}  ", thousands(count.kernels))),
            span(severity_role(severity), *id),
            plain("  "),
        ];
        let rest = [plain(" ".repeat(2 * number_width + 14))];
        let title = rules.iter().find(|rule| rule.id == *id).map_or("", |rule| rule.title);
        page.prefixed(&first, &rest, &[plain(title)]);
    }
    facts(&mut page, summary);
    page.wrapped(0, 2, &[dim("`rockhound explain RULE` says what a rule means and what to do")]);
    page.finish()
}

/// Facts shown before the rest is only counted.
const FACTS_SHOWN: usize = 6;

/// Facts that several kernels share, written once for all of them.
fn facts(page: &mut Page, summary: &Summary) {
    let shared = summary.facts.shared();
    if shared.is_empty() {
        return;
    }
    page.raw(&[dim("  the same change in several kernels:")]);
    for fact in shared.iter().take(FACTS_SHOWN) {
        let kernels = thousands_of(fact.kernels, "kernel");
        let first = [plain("  "), span(severity_role(fact.severity), fact.rule), plain("  ")];
        let names: Vec<_> = fact.names.iter().take(2).map(|name| shorten(name, NAME)).collect();
        let more = if fact.names.len() > names.len() { ", …" } else { "" };
        let words = format!(
            "in {kernels} ({}{more}): {}; the first: {}",
            names.join(", "),
            fact.advice,
            fact.message
        );
        page.prefixed(&first, &[plain(" ".repeat(10))], &[plain(words)]);
    }
    if shared.len() > FACTS_SHOWN {
        let rest = (shared.len() - FACTS_SHOWN) as u64;
        page.raw(&[dim(format!("  and {} more", thousands_of(rest, "such change")))]);
    }
}

/// Width of a kernel's name among others.
const NAME: usize = 32;
