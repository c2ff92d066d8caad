//! The guide: a conversation of four questions, shorter than a screen.
//!
//! A command has its line to itself and can be pasted; a longer one continues after a backslash, as a shell
//! reads it.

use super::card::{severity_role, short_name};
use super::page::{Page, Span, dim, plain, span, visible, width};
use crate::marks;
use crate::{Role, Style};
use view::{
    Finding, Guide, GuideChange, GuideFinding, GuideKernel, GuideStep, GuideTotal, GuideVerdict, Known, Mark,
    Verdict, counted, duration,
};

/// Column at which what belongs to a number starts.
const INDENT: usize = 5;
/// Findings that appeared or went, and kernels that changed, before the rest is only counted.
const LISTED: usize = 6;

/// Renders a guide.
pub fn guide(guide: &Guide, style: &Style) -> String {
    let mut page = Page::new(style);
    page.wrapped(0, 4, &[span(Role::Heading, &guide.path), dim("  "), plain(&guide.gpu)]);
    for caveat in &guide.caveats {
        page.prefixed(&[span(Role::Warning, "  note  ")], &[plain(" ".repeat(8))], &[plain(caveat)]);
    }
    question(&mut page, "What stops it?");
    verdict(&mut page, guide);
    if let Some(changes) = &guide.changes {
        question(&mut page, "Did the change help?");
        page.wrapped(2, 4, &[dim(format!("compared with {}", changes.base))]);
        total(&mut page, &changes.total);
        listed(&mut page, &changes.kernels, change);
        names(&mut page, "only here", &changes.new_kernels);
        names(&mut page, "only in the base", &changes.gone_kernels);
        listed(&mut page, &changes.gone, |page, it| moved(page, Role::Good, "gone", it));
        listed(&mut page, &changes.appeared, |page, it| moved(page, Role::Warning, "new", it));
        if changes.gone.is_empty() && changes.appeared.is_empty() {
            page.wrapped(2, 4, &[dim("the findings are the same")]);
        }
    }
    question(&mut page, "What is worth changing?");
    findings(&mut page, guide);
    question(&mut page, "What next?");
    for (index, step) in guide.steps.iter().enumerate() {
        self::step(&mut page, index + 1, step);
    }
    page.finish()
}

fn question(page: &mut Page, text: &str) {
    page.blank();
    page.raw(&[span(Role::Heading, text)]);
}

/// Summary of one kernel: its time, limiter, findings.
pub fn kernel(
    kernel: &GuideKernel,
    verdict: Option<&GuideVerdict>,
    findings: &[&Finding],
    style: &Style,
) -> String {
    let mut page = Page::new(style);
    kernel_line(&mut page, kernel);
    if let Some(verdict) = verdict {
        because(&mut page, verdict);
    }
    for finding in findings {
        let mut line = vec![span(Role::Strong, &finding.message)];
        if let Some(cost) = &finding.cost {
            line.extend([plain("; costs "), plain(cost)]);
        }
        let first = [span(severity_role(finding.severity), format!("  {}  ", finding.rule))];
        page.prefixed(&first, &[plain(" ".repeat(10))], &line);
    }
    let shown = verdict.and_then(|it| it.trust).into_iter().chain(kernel.time_trust);
    signs(&mut page, shown.chain(marks::of_findings(findings.iter().copied())));
    page.finish()
}

/// Legend of the signs.
fn signs(page: &mut Page, of: impl Iterator<Item = Mark>) {
    if let Some(legend) = marks::legend(of) {
        page.wrapped(2, 4, &[dim(legend)]);
    }
}

/// The limiter of a kernel, and its consequences.
fn because(page: &mut Page, it: &GuideVerdict) {
    page.wrapped(2, 4, &[span(Role::Strong, &it.headline), plain(": "), plain(&it.because)]);
    if !it.meaning.is_empty() {
        page.prefixed(&[span(Role::Good, "  → ")], &[plain("    ")], &[plain(&it.meaning)]);
    }
    for note in &it.notes {
        page.wrapped(2, 4, &[dim(note)]);
    }
}

/// The limiter of the kernel that a guide describes, with its name and share of the time.
pub(super) fn headline(page: &mut Page, guide: &Guide) {
    let style = page.style;
    let it = &guide.verdict;
    if it.kernel.is_empty() {
        return;
    }
    let lead = guide.kernels.iter().find(|kernel| kernel.name == it.kernel);
    let share = lead.and_then(|kernel| Some((kernel.time_percent.get()?, kernel.percent_trust)));
    let share = share.map_or_else(String::new, |(p, trust)| {
        format!("  {} % of the time", marks::signed(trust, format!("{p:.1}")))
    });
    let name = short_name(&it.kernel, style.width.saturating_sub(width(&share) + 2).max(24), &style);
    page.wrapped(0, 2, &[span(Role::Heading, name), dim(share)]);
    because(page, it);
    signs(page, it.trust.into_iter());
}

/// The kernels that most of the time goes to, and what stops the first.
fn verdict(page: &mut Page, guide: &Guide) {
    let it = &guide.verdict;
    if let [one] = &guide.kernels[..] {
        kernel_line(page, one);
    } else {
        let room = page.style.width.saturating_sub(33).max(24);
        let style = page.style;
        let by = |kernel: &GuideKernel| kernel.bound().unwrap_or_else(|| "not known".to_owned());
        let column = guide.kernels.iter().map(|kernel| width(&by(kernel))).max().unwrap_or(0).clamp(20, 32);
        let room = (room + 20).saturating_sub(column).max(24);
        for kernel in &guide.kernels {
            let percent = kernel
                .time_percent
                .get()
                .map_or("n/a".to_owned(), |p| marks::signed(kernel.percent_trust, format!("{p:.1} %")));
            let by = by(kernel);
            page.raw(&[
                plain(format!("  {percent:>7}  ")),
                span(Role::Strong, format!("{by:<column$} ")),
                plain(short_name(&kernel.name, room, &style)),
            ]);
        }
        if guide.more_kernels > 0 {
            let kernels = counted(guide.more_kernels, "more kernel");
            page.wrapped(2, 4, &[dim(format!("{:>7}  {kernels}", ""))]);
        }
        let name = short_name(&it.kernel, room, &style);
        let leads = guide.kernels.first().is_some_and(|kernel| kernel.name == it.kernel);
        let which = if leads { "the first, " } else { "the first of the program's own, " };
        page.wrapped(2, 4, &[dim(which), plain(name), dim(":")]);
    }
    because(page, it);
}

/// `vecCopy(…) takes 100 % of the time: 52.3 us in 3 dispatches`.
fn kernel_line(page: &mut Page, kernel: &GuideKernel) {
    let style = page.style;
    let name = short_name(&kernel.name, style.width.saturating_sub(4).max(24), &style);
    let percent = kernel.time_percent.get().map_or(String::new(), |p| {
        format!(" takes {} % of the time", marks::signed(kernel.percent_trust, format!("{p:.0}")))
    });
    let time = kernel
        .time_ns
        .get()
        .map_or(String::new(), |ns| format!(", {} in", marks::signed(kernel.time_trust, duration(ns))));
    let comma = if time.is_empty() { "," } else { "" };
    let count = counted(kernel.dispatches, "dispatch");
    page.wrapped(2, 4, &[span(Role::Heading, name), plain(percent), dim(format!("{time}{comma} {count}"))]);
}

fn listed<T>(page: &mut Page, list: &[T], write: impl Fn(&mut Page, &T)) {
    list.iter().take(LISTED).for_each(|it| write(page, it));
    if list.len() > LISTED {
        page.wrapped(2, 4, &[dim(format!("{} more", list.len() - LISTED))]);
    }
}

/// `5.20 ms → 3.85 ms in all (-26.0 %)`.
fn total(page: &mut Page, it: &GuideTotal) {
    let (Some(before), Some(after)) = (it.before_ns.get(), it.after_ns.get()) else { return };
    let before = Known { value: before, trust: it.before_trust };
    let after = Known { value: after, trust: it.after_trust };
    let percent = it.change_percent.map(|p| before.with(after, |_, _| p));
    let percent = percent.map_or(String::new(), |p| format!(" ({p:+.1} %)"));
    let text = format!("all dispatches: {} → {}{percent}", before.text(duration), after.text(duration));
    page.wrapped(2, 4, &[span(Role::Strong, text)]);
}

fn change(page: &mut Page, it: &GuideChange) {
    let style = page.style;
    let (role, word) = match it.verdict {
        Verdict::Better => (Role::Good, "faster"),
        Verdict::Worse => (Role::Severe, "slower"),
        Verdict::Neutral if it.change_percent.is_none() => (Role::Dim, "n/a"),
        Verdict::Neutral => (Role::Plain, "same"),
    };
    let times = match (it.before_ns.get(), it.after_ns.get()) {
        (Some(before), Some(after)) => {
            let before = Known { value: before, trust: it.before_trust };
            let after = Known { value: after, trust: it.after_trust };
            let percent = it.change_percent.map(|p| before.with(after, |_, _| p));
            let percent = percent.map_or(String::new(), |p| format!(" ({p:+.1} %)"));
            format!("  {} → {} per dispatch{percent}", before.text(duration), after.text(duration))
        }
        _ => String::new(),
    };
    let name = short_name(&it.kernel, style.width.saturating_sub(width(&times) + 12).max(24), &style);
    page.prefixed(
        &[span(role, format!("  {word:<7} "))],
        &[plain(" ".repeat(10))],
        &[span(Role::Heading, name), plain(times)],
    );
    let bound = match (&it.bound_before, &it.bound_now) {
        (Some(before), Some(now)) if before != now => format!("; bound by {now}, before by {before}"),
        (Some(_), Some(now)) => format!("; still bound by {now}"),
        _ => String::new(),
    };
    page.wrapped(10, 10, &[plain(&it.text), plain(bound)]);
}

fn names(page: &mut Page, word: &str, list: &[String]) {
    let style = page.style;
    listed(page, list, |page, name| {
        let name = short_name(name, style.width.saturating_sub(width(word) + 4).max(24), &style);
        page.wrapped(2, 4, &[dim(format!("{word}  ")), plain(name)]);
    });
}

/// A finding that appeared or went.
fn moved(page: &mut Page, role: Role, word: &str, it: &Finding) {
    page.prefixed(
        &[span(role, format!("  {word:<7} "))],
        &[plain(" ".repeat(10))],
        &[span(role, it.rule), plain("  "), plain(&it.message)],
    );
}

fn findings(page: &mut Page, guide: &Guide) {
    let several = guide.more_kernels > 0 || guide.kernels.len() > 1;
    if guide.findings.is_empty() {
        page.wrapped(2, 4, &[plain("no finding costs enough of the time to act on")]);
    }
    for (index, it) in guide.findings.iter().enumerate() {
        finding(page, index + 1, it, several);
    }
    if guide.more_findings > 0 {
        let more = counted(guide.more_findings, "more finding");
        let selected = if guide.selection.is_empty() { "" } else { " " };
        let command = format!("rockhound analyze -p {}{selected}{}", guide.path, guide.selection);
        page.wrapped(2, 4, &[dim(format!("{more}, of less time: `{command}`"))]);
    }
    let moved = guide.changes.iter().flat_map(|changes| changes.gone.iter().chain(&changes.appeared));
    let findings = guide.findings.iter().map(|it| &it.finding).chain(moved);
    signs(page, marks::of_guide(guide).chain(marks::of_findings(findings)));
}

fn finding(page: &mut Page, number: usize, it: &GuideFinding, several: bool) {
    let style = page.style;
    let finding = &it.finding;
    let role = severity_role(finding.severity);
    let rest = [plain(" ".repeat(INDENT))];
    let mut line: Vec<Span> =
        vec![span(role, finding.rule), plain("  "), span(Role::Strong, &finding.message)];
    if let Some(cost) = &finding.cost {
        line.extend([plain("; costs "), span(Role::Strong, cost)]);
    }
    page.prefixed(&[plain(format!("  {number}  "))], &rest, &line);
    if several {
        let share = finding.percent_of_time().map_or_else(String::new, |p| {
            format!("  {} % of the time", marks::signed(finding.time_trust, format!("{p:.1}")))
        });
        let also = match it.also_in {
            0 => String::new(),
            n => format!(", and in {}", counted(n, "other kernel")),
        };
        let room = style.width.saturating_sub(INDENT + 3 + width(&share) + width(&also)).max(24);
        let name = short_name(finding.kernel(), room, &style);
        page.prefixed(&rest, &rest, &[dim("in "), plain(name), dim(share), dim(also)]);
    }
    page.prefixed(&rest, &rest, &[span(Role::Good, "→ "), plain(&finding.advice)]);
    if !finding.evidence.is_empty() {
        let words: Vec<String> =
            finding.evidence.iter().map(|e| format!("{}: {}", e.what, e.value)).collect();
        page.prefixed(&rest, &rest, &[dim(words.join(" · "))]);
    }
    page.prefixed(&rest, &rest, &[dim(format!("why and how: rockhound explain {}", finding.rule))]);
}

fn step(page: &mut Page, number: usize, step: &GuideStep) {
    let rest = " ".repeat(INDENT);
    page.prefixed(&[plain(format!("  {number}  "))], &[plain(&rest)], &[plain(&step.why)]);
    let room = page.style.width.saturating_sub(INDENT + 2);
    for (index, line) in command_lines(&visible(&step.command), room).into_iter().enumerate() {
        let prompt = if index == 0 { "$ " } else { "    " };
        page.raw(&[plain(&rest), dim(prompt), span(Role::Info, line)]);
    }
}

/// A command over lines of about `room` characters, broken between words and rather before an option than
/// after it.
fn command_lines(command: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let words = words(command);
    // An option stays with its values.
    for group in words.chunk_by(|_, next| !next.starts_with('-')) {
        let group = group.join(" ");
        match lines.last_mut() {
            // Two characters for the backslash, two that later lines are indented by.
            Some(line) if width(line) + 1 + width(&group) + 4 <= room => {
                line.push(' ');
                line.push_str(&group);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(group);
            }
            None => lines.push(group),
        }
    }
    lines
}

/// Words as a shell splits them, quotes kept.
fn words(command: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut quote, mut start) = (None, 0);
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ' ') => {
                out.push(&command[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    out.push(&command[start..]);
    out.retain(|word| !word.is_empty());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_break_between_words() {
        for (command, lines) in [
            ("", &[][..]),
            ("rockhound analyze -p a", &["rockhound analyze -p a"]),
            (
                "rockhound analyze -p a_longer/path -k 'two words'",
                &["rockhound analyze \\", "-p a_longer/path \\", "-k 'two words'"],
            ),
            ("'no place to break this anywhere'", &["'no place to break this anywhere'"]),
        ] {
            assert_eq!(command_lines(command, 26), lines, "{command}");
        }
    }
}
