//! Findings of an answer: what costs time, why, and what to do.
//!
//! One line states the loss, the next the remedy; the supporting numbers follow.

use crate::marks;
use crate::text::card::{gate_span, severity_role, short_name};
use crate::text::page::{Page, Span, dim, plain, span};
use crate::{Role, Style};
use std::collections::BTreeMap;
use view::{Answer, Finding, NotChecked, counted, thousands, thousands_of};

/// Rules whose findings are shown before the rest is only counted.
const SHOWN: usize = 10;
/// Kernels shown of one rule; a tenth teaches nothing.
const PER_RULE: usize = 4;
/// Column at which what belongs to a finding starts.
const INDENT: usize = 11;

/// Findings of one file and rule that are shown before the rest is only counted.
const PER_FILE: usize = 4;
/// Lines of one finding that are named one by one.
const LINES_NAMED: usize = 6;

/// Heading of the findings of an answer.
pub(super) struct Heading<'a> {
    /// Input of the findings, if several were read: ` in b`.
    pub(super) of: &'a str,
    /// Their order, if there are several: `most time first`.
    pub(super) order: &'a str,
    /// Whether findings name their kernels: there are several.
    pub(super) kernels: bool,
}

/// Writes findings and the rules that could not be checked.
pub(super) fn write<P>(page: &mut Page, answer: &Answer<P>, heading: &Heading<'_>) {
    let findings = &answer.findings;
    if findings.is_empty() && answer.not_checked.is_empty() {
        return;
    }
    page.blank();
    let word = match findings.len() {
        0 => "no findings".to_owned(),
        n => counted(n, "finding"),
    };
    let order = if findings.len() > 1 { format!(", {}", heading.order) } else { String::new() };
    page.wrapped(0, 2, &[span(Role::Heading, word), dim(format!("{}{order}", heading.of))]);
    let files = by_file(findings);
    if findings.iter().any(|it| it.kernel.is_some()) {
        of_kernels(page, findings, heading.kernels);
    } else if files.iter().all(|(file, _)| file.is_empty()) {
        for finding in findings {
            message(page, finding);
            advice(page, finding);
        }
    } else {
        for (file, findings) in files {
            page.wrapped(2, 4, &[span(Role::Strong, file)]);
            of_file(page, &findings);
        }
    }
    not_checked(page, &answer.not_checked);
}

/// Findings of kernels, by rule.
fn of_kernels(page: &mut Page, findings: &[Finding], several: bool) {
    let style = page.style;
    let mut shown: Vec<&Finding> = Vec::new();
    let groups = by_rule(findings);
    for group in groups.iter().take(SHOWN) {
        let rows = group.len().min(PER_RULE);
        shown.extend(&group[..rows]);
        finding(page, &group[..rows], group.len() - rows, several, &style);
    }
    if groups.len() > SHOWN {
        let rules: Vec<String> = groups[SHOWN..]
            .iter()
            .map(|group| match group.len() {
                1 => group[0].rule.to_owned(),
                n => format!("{}×{n}", group[0].rule),
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
}

/// Findings of each file, in the order of the first.
fn by_file(findings: &[Finding]) -> Vec<(&str, Vec<&Finding>)> {
    let mut found: Vec<(&str, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let file = finding.places.first().and_then(|it| it.source.as_ref()).map_or("", |it| it.file.as_str());
        match found.iter_mut().find(|it| it.0 == file) {
            Some(group) => group.1.push(finding),
            None => found.push((file, vec![finding])),
        }
    }
    found
}

/// Findings of one file; the advice of a rule follows its last finding.
fn of_file(page: &mut Page, findings: &[&Finding]) {
    let mut of_rules: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        of_rules.entry(finding.rule).or_default().push(finding);
    }
    let rest = [plain(" ".repeat(INDENT))];
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for it in findings {
        let before = shown.entry(it.rule).or_default();
        if *before == PER_FILE {
            continue;
        }
        *before += 1;
        let after = of_rules.get(it.rule).and_then(|same| same.get(*before..)).unwrap_or_default();
        message(page, it);
        let last = *before == PER_FILE || after.is_empty();
        if last && !after.is_empty() {
            let more = thousands_of(after.len() as u64, "more finding");
            page.prefixed(&rest, &rest, &[dim(format!("and {more} (`--format json` has all)"))]);
        }
        if after.first().is_none_or(|next| next.advice != it.advice) || last {
            advice(page, it);
        }
    }
}

/// Lines of the file of the main place: `lines 3, 7: `; empty without lines.
fn lines_of(finding: &Finding) -> String {
    let file = finding.places.first().and_then(|it| it.source.as_ref()).map(|it| &it.file);
    let sources = finding.places.iter().filter_map(|it| it.source.as_ref());
    let lines: Vec<u32> =
        sources.filter(|it| Some(&it.file) == file && it.line > 0).map(|it| it.line).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("line {line}: "),
        [first, .., last] if lines.len() > LINES_NAMED => {
            format!("{} lines, {first} to {last}: ", thousands(lines.len() as u64))
        }
        all => {
            let words: Vec<String> = all.iter().map(u32::to_string).collect();
            format!("lines {}: ", words.join(", "))
        }
    }
}

/// Findings of one rule, which are one fact about several kernels; in the order of the first of each.
pub(crate) fn by_rule(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut out: Vec<Vec<&Finding>> = Vec::new();
    for it in findings {
        match out.iter_mut().find(|group| group[0].rule == it.rule) {
            Some(group) => group.push(it),
            None => out.push(vec![it]),
        }
    }
    out
}

/// A finding with its kernels, the kernel that loses most time first; `more` are not listed.
fn finding(page: &mut Page, group: &[&Finding], more: usize, several: bool, style: &Style) {
    let Some((it, others)) = group.split_first() else { return };
    let f: &Finding = it;
    message(page, f);
    let rest = [plain(" ".repeat(INDENT))];
    let name = |it: &Finding, room: usize| {
        let name = short_name(it.kernel(), style.width.saturating_sub(INDENT + room).max(24), style);
        let share = it.percent_of_time().map_or_else(String::new, |p| {
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
            let cost = it.cost.as_ref().map_or_else(String::new, |cost| format!("; costs {cost}"));
            let said = plain(format!("{}{cost}", it.message));
            page.prefixed(&rest, &rest, &[dim("and there "), said]);
            continue;
        }
        let [name, share] = name(it, 24);
        let cost = it.cost.as_ref().map_or_else(String::new, |cost| format!("; costs {cost}"));
        let also = plain(format!("{}  ", " ".repeat(INDENT)));
        let said = plain(format!(": {}{cost}", it.message));
        page.prefixed(&rest, &[also], &[dim("also in "), name, share, said]);
    }
    if more > 0 {
        let text = format!("{} of this rule; `-k` selects a kernel", counted(more, "more finding"));
        page.prefixed(&rest, &rest, &[dim(text)]);
    }
}

/// Description of the finding and its cost.
fn message(page: &mut Page, f: &Finding) {
    let role = severity_role(f.severity);
    let first = [span(role, format!("  {:<7} ", f.severity.as_str())), plain(" ")];
    let rest = [plain(" ".repeat(INDENT))];
    let mut line: Vec<Span> =
        vec![span(role, f.rule), plain("  "), dim(lines_of(f)), span(Role::Strong, f.said())];
    if let Some(cost) = &f.cost {
        line.push(plain("; costs "));
        line.push(span(Role::Strong, cost));
    }
    line.extend(gate_span(f.gate.as_ref()));
    page.prefixed(&first, &rest, &line);
}

/// Advice and its numbers.
fn advice(page: &mut Page, f: &Finding) {
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
pub(super) fn not_checked(page: &mut Page, list: &[NotChecked]) {
    let mut by_need: BTreeMap<String, Vec<&str>> = BTreeMap::new();
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
