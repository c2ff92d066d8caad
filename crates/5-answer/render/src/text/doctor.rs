//! `doctor` as text: failed checks first, each with its remedy; then unknown ones, with reasons.
//!
//! Thirty checks that lack one source are one line with its reason, not thirty.

use super::card::gate_span;
use super::page::{Page, Span, dim, plain, span};
use crate::{Role, Style};
use view::{Examined, HostCheck, HostVerdict, Machines, OddOne};

/// Column at which values start.
const VALUES: usize = 10;
/// Ways to find out shown of checks that lack one thing.
const WAYS: usize = 2;
/// Readings shown of one check.
const READINGS: usize = 8;

/// Renders the answer.
pub(crate) fn doctor(doctor: &Machines, style: &Style) -> String {
    let mut page = Page::new(style);
    if !doctor.odd.is_empty() {
        odd(&mut page, doctor);
    }
    for (at, machine) in doctor.machines.iter().enumerate() {
        if at > 0 || !doctor.odd.is_empty() {
            page.blank();
        }
        // Of a fleet the differences are the answer; each machine keeps its first lines.
        examined(&mut page, machine, doctor.odd.is_empty() && doctor.machines.len() < 4);
    }
    if let Some(profile) = doctor.profile {
        page.blank();
        page.wrapped(
            0,
            2,
            &[dim(format!("only what matters for {profile}; without --profile all checks are made"))],
        );
    }
    page.finish()
}

/// A machine and its checks that are not as wanted, in another answer.
pub(crate) fn machine(page: &mut Page, machine: &Examined) {
    field(page, "read", &[plain(machine.sources.join(", "))]);
    for fact in machine.facts.iter().filter(|fact| fact.known) {
        field(page, fact.name, &[plain(&fact.value)]);
    }
    for note in &machine.notes {
        field(page, "note", &[span(Role::Warning, note)]);
    }
    for check in &machine.checks {
        let head =
            [plain("  "), word(check.verdict), plain(" "), span(Role::Strong, check.check), plain(": ")];
        page.prefixed(&head, &[plain(" ".repeat(10))], &message(check));
        if let Some(set) = &check.set {
            page.prefixed(
                &[plain(" ".repeat(10)), dim("do ")],
                &[plain(" ".repeat(12))],
                &[span(Role::Good, set)],
            );
        }
    }
}

fn role(verdict: HostVerdict) -> Role {
    match verdict {
        HostVerdict::Fail => Role::Severe,
        HostVerdict::Warn => Role::Warning,
        HostVerdict::Unknown => Role::Info,
        HostVerdict::Pass => Role::Good,
    }
}

fn examined(page: &mut Page, machine: &Examined, whole: bool) {
    let name = if machine.name.is_empty() { "input" } else { &machine.name };
    page.raw(&[span(Role::Heading, name)]);
    field(page, "read", &[plain(machine.sources.join(", "))]);
    for fact in machine.facts.iter().filter(|fact| fact.known) {
        field(page, fact.name, &[plain(&fact.value)]);
    }
    // Nothing was given of the machine itself: the reasons of five facts are one.
    let unknown: Vec<&str> = machine.facts.iter().filter(|fact| !fact.known).map(|fact| fact.name).collect();
    if !unknown.is_empty() {
        field(page, "unknown", &[dim(unknown.join(", "))]);
    }
    for note in &machine.notes {
        field(page, "note", &[span(Role::Warning, note)]);
    }
    let counts: Vec<Vec<Span>> = HostVerdict::ALL
        .into_iter()
        .filter(|verdict| machine.count(*verdict) > 0)
        .map(|verdict| vec![span(role(verdict), format!("{} {}", machine.count(verdict), verdict.as_str()))])
        .collect();
    field(page, "checks", &super::page::join(counts, ", "));
    if !whole {
        short(page, machine);
        return;
    }
    for check in
        machine.checks.iter().filter(|it| matches!(it.verdict, HostVerdict::Fail | HostVerdict::Warn))
    {
        page.blank();
        bad(page, check);
    }
    unknowns(page, machine);
    passes(page, machine);
}

/// A line per check that is not as wanted.
fn short(page: &mut Page, machine: &Examined) {
    for check in
        machine.checks.iter().filter(|it| matches!(it.verdict, HostVerdict::Fail | HostVerdict::Warn))
    {
        let head =
            [plain("  "), word(check.verdict), plain(" "), span(Role::Strong, check.check), plain(": ")];
        page.prefixed(&head, &[plain(" ".repeat(10))], &message(check));
    }
}

/// The message of a check, with the judgement of a gate.
fn message(check: &HostCheck) -> Vec<Span> {
    [plain(&check.message)].into_iter().chain(gate_span(check.gate.as_ref())).collect()
}

fn word(verdict: HostVerdict) -> Span {
    span(role(verdict), format!("{:<7}", verdict.as_str().to_uppercase()))
}

fn field(page: &mut Page, name: &str, spans: &[Span]) {
    let width = VALUES.max(name.chars().count() + 1);
    let first = [plain("  "), dim(format!("{name:<width$}"))];
    page.prefixed(&first, &[plain(" ".repeat(2 + width))], spans);
}

fn bad(page: &mut Page, check: &HostCheck) {
    let first = [
        word(check.verdict),
        plain(" "),
        span(Role::Strong, check.check),
        plain(" "),
        dim(check.rule),
        plain("  "),
    ];
    page.prefixed(&first, &[plain(" ".repeat(8))], &message(check));
    let line = |page: &mut Page, name: &str, text: &str, role: Role| {
        let first = [plain(" ".repeat(8)), dim(format!("{name:<7}"))];
        page.prefixed(&first, &[plain(" ".repeat(15))], &[span(role, text)]);
    };
    for reading in check.readings.iter().take(READINGS) {
        line(page, "read", &format!("{}: {}", reading.from, reading.value), Role::Plain);
    }
    if check.readings.len() > READINGS {
        line(page, "", &format!("and {} more", check.readings.len() - READINGS), Role::Dim);
    }
    line(page, "wanted", check.wanted, Role::Plain);
    line(page, "why", check.why, Role::Plain);
    if let Some(set) = &check.set {
        line(page, "set", set, Role::Good);
    }
    if let Some(undo) = &check.undo {
        line(page, "undo", undo, Role::Plain);
    }
    line(page, "for", &format!("{}; source: {}", check.profiles.join(", "), check.source), Role::Dim);
}

/// Checks that are not known, by their reason.
fn unknowns(page: &mut Page, machine: &Examined) {
    let mut groups: Vec<(&str, Vec<&HostCheck>)> = Vec::new();
    for check in machine.checks.iter().filter(|it| it.verdict == HostVerdict::Unknown) {
        match groups.iter_mut().find(|(reason, _)| *reason == check.message) {
            Some((_, checks)) => checks.push(check),
            None => groups.push((&check.message, vec![check])),
        }
    }
    if groups.is_empty() {
        return;
    }
    page.blank();
    for (reason, checks) in groups {
        let names: Vec<&str> = checks.iter().map(|check| check.check).collect();
        let first = [word(HostVerdict::Unknown), plain(" ")];
        let mut spans = vec![span(Role::Strong, names.join(", ")), plain(": "), plain(reason)];
        let mut ways: Vec<&str> = Vec::new();
        for way in checks.iter().filter_map(|check| check.find_out) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        if !ways.is_empty() {
            let more = ways.len().saturating_sub(WAYS);
            ways.truncate(WAYS);
            spans.extend([dim(". To find out: "), span(Role::Dim, ways.join("; "))]);
            if more > 0 {
                spans.push(dim(format!("; {more} other ways, which --format json has")));
            }
        }
        page.prefixed(&first, &[plain(" ".repeat(8))], &spans);
    }
}

fn passes(page: &mut Page, machine: &Examined) {
    let passed: Vec<&HostCheck> =
        machine.checks.iter().filter(|it| it.verdict == HostVerdict::Pass).collect();
    if !passed.is_empty() {
        page.blank();
    }
    for check in passed {
        let from = check.readings.first().map_or_else(String::new, |it| format!(" ({})", it.from));
        let first = [word(HostVerdict::Pass), plain(" "), span(Role::Strong, check.check), plain(": ")];
        page.prefixed(&first, &[plain(" ".repeat(8))], &[plain(&check.message), dim(from)]);
    }
}

fn odd(page: &mut Page, doctor: &Machines) {
    let machines = doctor.machines.len();
    page.raw(&[span(Role::Heading, format!("{machines} machines: what is not the same"))]);
    let mut last = "";
    for it in &doctor.odd {
        let OddOne { machine, fact, value, usual, usual_count } = it;
        if machine != last {
            page.wrapped(2, 4, &[span(Role::Strong, machine)]);
            last = machine;
        }
        let usual =
            if *usual_count == 0 { usual.clone() } else { format!("{usual} on {usual_count} of {machines}") };
        let first = [plain("    "), dim(format!("{fact:<18}")), plain(" ")];
        page.prefixed(
            &first,
            &[plain(" ".repeat(23))],
            &[span(Role::Warning, value), dim("; "), plain(usual)],
        );
    }
}
