//! Faults as text: event, location, meaning, remedy.

use super::answer::notes;
use super::page::{Page, dim, plain, span};
use crate::{Role, Style};
use view::{Answer, Incident, Incidents, TriageEvent, TriageLine};

/// Most writers of a message that are named.
const MOST_WRITERS: usize = 8;
/// Width of names.
const NAMES: usize = 19;

/// Renders the answer.
pub(crate) fn triage(answer: &Answer<Incidents>, style: &Style) -> String {
    let triage = &answer.part;
    let mut page = Page::new(style);
    for (at, it) in triage.incidents.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        incident(&mut page, it, at + 1);
    }
    if !triage.events.is_empty() {
        if !triage.incidents.is_empty() {
            page.blank();
        }
        page.raw(&[span(Role::Heading, "Messages")]);
        triage.events.iter().for_each(|it| event(&mut page, it));
    }
    for machine in &triage.machines {
        if !triage.incidents.is_empty() || !triage.events.is_empty() {
            page.blank();
        }
        page.raw(&[span(Role::Heading, "Machine")]);
        super::doctor::machine(&mut page, machine);
    }
    // Checks of machines are shown with them.
    let of_machine = |it: &&view::Finding| {
        triage.machines.iter().any(|machine| machine.checks.iter().any(|check| check.rule == it.rule))
    };
    let others: Vec<view::Finding> = answer.findings.iter().filter(|it| !of_machine(it)).cloned().collect();
    if !others.is_empty() {
        let others = Answer { findings: others, ..Answer::new(answer.schema, view::Plain::default()) };
        let heading = super::findings::Heading { of: " in tables", order: "worst first", kernels: false };
        super::findings::write(&mut page, &others, &heading);
    }
    notes(&mut page, &answer.notes);
    if !triage.next.is_empty() {
        page.blank();
        page.raw(&[span(Role::Heading, "To learn more")]);
        for next in &triage.next {
            page.wrapped(2, 4, &[plain(next)]);
        }
    }
    page.finish()
}

fn incident(page: &mut Page, it: &Incident, number: usize) {
    let role = if it.consequence { Role::Dim } else { Role::Severe };
    let first = [span(role, format!("{number}. "))];
    page.prefixed(
        &first,
        &[plain("   ")],
        &[span(if it.consequence { Role::Plain } else { Role::Heading }, &it.title)],
    );
    let line = |page: &mut Page, name: &str, text: &str, role: Role| {
        let first = [plain("   "), dim(format!("{name:<NAMES$}"))];
        page.prefixed(&first, &[plain(" ".repeat(3 + NAMES))], &[span(role, text)]);
    };
    line(page, "from", &format!("{}:{}", it.file, it.line), Role::Dim);
    if it.consequence {
        line(page, "follows", "from a fault before it: look at that first", Role::Info);
    }
    if !it.meaning.is_empty() {
        line(page, "means", &it.meaning, Role::Plain);
    }
    for fact in &it.facts {
        let strong = fact.name == "access" || fact.name == "kernel";
        line(page, &fact.name, &fact.value, if strong { Role::Strong } else { Role::Plain });
    }
    if !it.code.is_empty() {
        line(page, "code", &format!("from {}", it.code_from), Role::Dim);
        it.code.iter().for_each(|it| code(page, it));
    }
    for next in &it.next {
        line(page, "do", next, Role::Good);
    }
}

fn code(page: &mut Page, line: &TriageLine) {
    if let Some(source) = &line.source {
        let text = line.source_text.as_deref().map_or_else(String::new, |it| format!("  {it}"));
        page.raw(&[plain("     "), dim(format!("{}:{}{text}", source.file, source.line))]);
    }
    let (mark, role) = match (line.suspect, line.current) {
        (true, true) => ("=>!", Role::Severe),
        (true, false) => ("  !", Role::Severe),
        (false, true) => ("=> ", Role::Strong),
        (false, false) => ("   ", Role::Plain),
    };
    page.raw(&[
        plain("     "),
        span(role, mark),
        plain(" "),
        dim(format!("{:#x}", line.address)),
        plain("  "),
        span(role, &line.text),
    ]);
    if let Some(registers) = &line.registers {
        page.wrapped(13, 15, &[dim(registers)]);
    }
}

fn event(page: &mut Page, it: &TriageEvent) {
    let role = match it.severity {
        "fail" => Role::Severe,
        "warn" => Role::Warning,
        _ => Role::Dim,
    };
    let mut about = Vec::new();
    if it.times > 1 {
        about.push(format!("{} times", it.times));
    }
    about.extend(it.device.as_ref().map(|it| format!("on {it}")));
    about.push(it.meaning.clone());
    let about = about.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(" ");
    let name = if it.id.is_empty() { "error" } else { it.id.as_str() };
    let colon = if about.is_empty() { "" } else { ": " };
    let first =
        [plain("  "), span(role, format!("{:<8}", it.severity)), span(Role::Strong, name), plain(colon)];
    page.prefixed(&first, &[plain(" ".repeat(12))], &[plain(about)]);
    page.wrapped(10, 12, &[dim(format!("{}:{}: {}", it.file, it.line, it.text))]);
    if !it.writers.is_empty() {
        let more = it.writers.len().saturating_sub(MOST_WRITERS);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = it.writers.iter().take(MOST_WRITERS).cloned().collect::<Vec<_>>().join("; ");
        page.wrapped(10, 12, &[dim(format!("by {names}{rest}"))]);
    }
    if let Some(cause) = &it.follows {
        page.wrapped(10, 12, &[dim("follows from "), span(Role::Info, cause)]);
    }
    for next in &it.next {
        page.wrapped(10, 12, &[dim("do "), span(Role::Good, next)]);
    }
}
