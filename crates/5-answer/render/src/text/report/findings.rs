//! Findings of a report: what costs time, why, and what to do.
//!
//! The one idea to keep in mind: one line says what is lost, the next what to do; numbers follow for who doubts.

use crate::marks;
use crate::text::card::{severity_role, short_name};
use crate::text::page::{Page, Span, dim, plain, span};
use crate::{Role, Style};
use std::collections::BTreeMap;
use view::{Finding, KernelFinding, NotChecked, Report, counted};

/// Rules whose findings are shown before the rest is only counted.
const SHOWN: usize = 10;
/// Kernels shown of one rule; a tenth teaches nothing.
const PER_RULE: usize = 4;
/// Column at which what belongs to a finding starts.
const INDENT: usize = 11;

/// Writes the findings and what could not be checked.
pub(super) fn write(page: &mut Page, report: &Report) {
    if report.findings.is_empty() && report.not_checked.is_empty() {
        return;
    }
    page.blank();
    let style = page.style;
    let several = report.recordings.iter().any(|r| r.kernels > 1);
    let word = match report.findings.len() {
        0 => "no findings".to_owned(),
        n => counted(n, "finding"),
    };
    // Of a comparison the last recording is judged.
    let compared = report.recordings.len() > 1;
    let of =
        report.recordings.last().filter(|_| compared).map_or_else(String::new, |r| format!(" in {}", r.name));
    let order = format!("{of}{}", if report.findings.len() > 1 { ", most time first" } else { "" });
    page.wrapped(0, 2, &[span(Role::Heading, word), dim(order)]);
    let mut shown: Vec<&KernelFinding> = Vec::new();
    let groups = by_rule(&report.findings);
    for group in groups.iter().take(SHOWN) {
        let rows = group.len().min(PER_RULE);
        shown.extend(&group[..rows]);
        finding(page, &group[..rows], group.len() - rows, several, &style);
    }
    if groups.len() > SHOWN {
        let rules: Vec<String> = groups[SHOWN..]
            .iter()
            .map(|group| match group.len() {
                1 => group[0].finding.rule.to_owned(),
                n => format!("{}×{n}", group[0].finding.rule),
            })
            .collect();
        page.wrapped(
            2,
            4,
            &[dim(format!(
                "{} more rules: {}; `--format json` has every finding, `-k` selects a kernel",
                groups.len() - SHOWN,
                rules.join(" ")
            ))],
        );
    }
    if let Some(legend) = marks::legend(marks::of_findings(shown.iter().copied())) {
        page.wrapped(2, 4, &[dim(legend)]);
    }
    not_checked(page, &report.not_checked);
}

/// Findings of one rule, which are one fact about several kernels; in the order of the first of each.
pub(crate) fn by_rule(findings: &[KernelFinding]) -> Vec<Vec<&KernelFinding>> {
    let mut out: Vec<Vec<&KernelFinding>> = Vec::new();
    for it in findings {
        match out.iter_mut().find(|group| group[0].finding.rule == it.finding.rule) {
            Some(group) => group.push(it),
            None => out.push(vec![it]),
        }
    }
    out
}

/// A finding with the kernels it is about, those of most time lost first; `more` are not listed.
fn finding(page: &mut Page, group: &[&KernelFinding], more: usize, several: bool, style: &Style) {
    let Some((it, others)) = group.split_first() else { return };
    let f = &it.finding;
    message(page, f);
    let rest = [plain(" ".repeat(INDENT))];
    let name = |it: &KernelFinding, room: usize| {
        let name = short_name(&it.kernel, style.width.saturating_sub(INDENT + room).max(24), style);
        let share = it.time_percent.get().map_or_else(String::new, |p| {
            format!("  {} % of the time", marks::signed(it.time_trust, format!("{p:.1}")))
        });
        [plain(name), dim(share)]
    };
    if several {
        let [name, share] = name(it, 16);
        page.prefixed(&rest, &rest, &[dim("in "), name, share]);
    }
    advice(page, f);
    for it in others {
        if it.kernel == group[0].kernel {
            let cost = it.finding.cost.as_ref().map_or_else(String::new, |cost| format!("; costs {cost}"));
            let said = plain(format!("{}{cost}", it.finding.message));
            page.prefixed(&rest, &rest, &[dim("and there "), said]);
            continue;
        }
        let [name, share] = name(it, 24);
        let cost = it.finding.cost.as_ref().map_or_else(String::new, |cost| format!("; costs {cost}"));
        let also = plain(format!("{}  ", " ".repeat(INDENT)));
        let said = plain(format!(": {}{cost}", it.finding.message));
        page.prefixed(&rest, &[also], &[dim("also in "), name, share, said]);
    }
    if more > 0 {
        let text = format!("{} of this rule; `-k` selects a kernel", counted(more, "more finding"));
        page.prefixed(&rest, &rest, &[dim(text)]);
    }
}

/// What is the case, and what it costs.
pub(in crate::text) fn message(page: &mut Page, f: &Finding) {
    let role = severity_role(f.severity);
    let first = [span(role, format!("  {:<7} ", f.severity.as_str())), plain(" ")];
    let rest = [plain(" ".repeat(INDENT))];
    let mut line: Vec<Span> = vec![span(role, f.rule), plain("  "), span(Role::Strong, f.said())];
    if let Some(cost) = &f.cost {
        line.push(plain("; costs "));
        line.push(span(Role::Strong, cost));
    }
    page.prefixed(&first, &rest, &line);
}

/// What to do, and the numbers.
pub(in crate::text) fn advice(page: &mut Page, f: &Finding) {
    let rest = [plain(" ".repeat(INDENT))];
    if let Some(advice) = f.advised() {
        page.prefixed(&rest, &rest, &[span(Role::Good, "→ "), plain(advice)]);
    }
    if !f.evidence.is_empty() {
        let words: Vec<String> = f.evidence.iter().map(|e| format!("{}: {}", e.what, e.value)).collect();
        page.prefixed(&rest, &rest, &[dim(words.join(" · "))]);
    }
}

/// Groups of rules that lack the same, beyond which they are named in one line.
const GROUPS: usize = 5;

/// Rules that lack the same are named together.
pub(in crate::text) fn not_checked(page: &mut Page, list: &[NotChecked]) {
    let mut by_need: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in list {
        by_need.entry(it.needs_in_short()).or_default().push(it.rule);
    }
    if by_need.len() > GROUPS {
        let rules: Vec<&str> = list.iter().map(|it| it.rule).collect();
        let text = format!("{}: what they need was not recorded; `--format json` names it", rules.join(" "));
        page.prefixed(&[dim("  not checked ")], &[plain(" ".repeat(INDENT))], &[dim(text)]);
        return;
    }
    for (needs, rules) in by_need {
        page.prefixed(
            &[dim("  not checked ")],
            &[plain(" ".repeat(INDENT))],
            &[dim(format!("{}: needs {needs}", rules.join(" ")))],
        );
    }
}
