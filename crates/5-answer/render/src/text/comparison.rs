//! Changes between two builds.
//!
//! Only differences are shown, and exceeded thresholds come first.

use super::card::{severity_role, short_name, source_text};
use super::number::short;
use super::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use view::{
    Change, ChangeTotal, Comparison, Finding, KernelComparison, KernelName, LoopComparison, Verdict,
    thousands, thousands_of,
};

/// Renders a comparison.
pub(crate) fn comparison(comparison: &Comparison, style: &Style) -> String {
    let top = comparison.shown;
    let mut page = Page::new(style);
    for kernel in comparison.changed.iter().take(top) {
        changed(&mut page, kernel);
        page.blank();
    }
    if comparison.changed.len() > top {
        let rest = thousands((comparison.changed.len() - top) as u64);
        page.wrapped(
            0,
            0,
            &[dim(format!("{rest} more changed kernels: `--top N` shows more, `--kernel REGEX` selects"))],
        );
        page.blank();
    }
    names(&mut page, "added", Role::Info, &comparison.added, top);
    names(&mut page, "removed", Role::Info, &comparison.removed, top);
    if comparison.changed.len() > 1 {
        totals(&mut page, &comparison.totals);
    }
    let mut line = vec![
        plain(format!("{} changed, ", thousands(comparison.changed.len() as u64))),
        plain(format!("{} added, ", thousands(comparison.added.len() as u64))),
        plain(format!("{} removed, ", thousands(comparison.removed.len() as u64))),
        plain(format!("{} unchanged", thousands(comparison.unchanged))),
    ];
    if comparison.regressions > 0 {
        line.push(plain("; "));
        line.push(span(Role::Severe, thousands_of(comparison.regressions, "change") + " beyond a threshold"));
    }
    page.wrapped(0, 2, &line);
    page.finish()
}

fn changed(page: &mut Page, kernel: &KernelComparison) {
    let style = page.style;
    let name = short_name(display(&kernel.new), 2 * style.width - 24, &style);
    page.wrapped(0, 4, &[span(Role::Heading, name), dim(format!("  {}", kernel.new.target))]);
    if kernel.old.name != kernel.new.name || kernel.old.target != kernel.new.target {
        let name = short_name(display(&kernel.old), 2 * style.width - 24, &style);
        page.wrapped(2, 4, &[dim(format!("was {name}  {}", kernel.old.target))]);
    }
    let role = match kernel.balance.verdict {
        Verdict::Better => Role::Good,
        Verdict::Worse => Role::Severe,
        Verdict::Neutral => Role::Plain,
    };
    page.wrapped(2, 4, &[span(role, &kernel.balance.words)]);
    let label_width = kernel.changes.iter().map(|change| width(&label(change))).max().unwrap_or(0);
    let value_width = |pick: fn(&Change) -> Option<f64>| {
        kernel.changes.iter().map(|change| width(&value(pick(change)))).max().unwrap_or(0)
    };
    let (old_width, new_width) = (value_width(|change| change.old), value_width(|change| change.new));
    for change in &kernel.changes {
        let role = match change.verdict {
            Verdict::Better => Role::Good,
            Verdict::Worse => Role::Severe,
            Verdict::Neutral => Role::Plain,
        };
        let word = match change.verdict {
            Verdict::Better => "  better",
            Verdict::Worse => "  worse",
            Verdict::Neutral => "",
        };
        let mut line = vec![
            plain(format!("  {:<label_width$}  ", label(change))),
            plain(format!("{:>old_width$} → ", value(change.old))),
            span(role, format!("{:>new_width$}", value(change.new))),
        ];
        if let (Some(old), Some(new)) = (change.old, change.new) {
            let sign = if new > old { "+" } else { "-" };
            line.push(plain(format!("  {:>6}", format!("{sign}{}", short((new - old).abs())))));
        }
        line.push(span(role, word));
        if let Some(remark) = change.remark {
            line.push(dim(format!("  {remark}")));
        }
        if let Some(limit) = &change.breaks {
            line.push(span(Role::Severe, format!("  beyond the threshold {limit}")));
        }
        page.raw(&line);
    }
    for it in &kernel.loops {
        page.wrapped(2, 4, &[plain(loop_words(it))]);
    }
    for finding in &kernel.appeared {
        finding_line(page, "+", finding);
    }
    for finding in &kernel.gone {
        finding_line(page, "-", finding);
    }
}

/// "loop 2, per iteration: 148 → 96 instructions, 64 → 16 bytes per lane loaded"
fn loop_words(it: &LoopComparison) -> String {
    let (old, new) = (&it.old, &it.new);
    let number =
        if old.id == new.id { format!("loop {}", old.id) } else { format!("loop {} → {}", old.id, new.id) };
    let values = [
        (u64::from(old.instructions), u64::from(new.instructions), "instructions"),
        (u64::from(old.mfma), u64::from(new.mfma), "matrix instructions"),
        (old.load_bytes, new.load_bytes, "bytes per lane loaded"),
        (old.store_bytes, new.store_bytes, "bytes per lane stored"),
        (old.lds_bytes, new.lds_bytes, "bytes per lane through the LDS"),
        (u64::from(old.barriers), u64::from(new.barriers), "barriers"),
    ];
    let differing = values.iter().filter(|(old, new, _)| old != new);
    let words: Vec<String> = differing
        .map(|(old, new, what)| format!("{} → {} {what}", thousands(*old), thousands(*new)))
        .collect();
    format!("{number}, per iteration: {}", words.join(", "))
}

fn finding_line(page: &mut Page, sign: &str, finding: &Finding) {
    let role = if sign == "+" { severity_role(finding.severity) } else { Role::Good };
    let first = [span(role, format!("  {sign} {:<7} {} ", finding.severity.as_str(), finding.rule))];
    let rest = [plain(" ".repeat(width(&first[0].text)))];
    let mut spans: Vec<Span> = vec![plain(&finding.message)];
    if let Some(source) = finding.places.first().and_then(|place| place.source.as_ref()) {
        spans.push(dim(format!(" ({})", source_text(source))));
    }
    page.prefixed(&first, &rest, &spans);
}

/// Rows of the table of totals that fit a glance; JSON has all.
const TOTALS: usize = 14;

fn totals(page: &mut Page, totals: &[ChangeTotal]) {
    let shown = &totals[..totals.len().min(TOTALS)];
    let label_width = shown.iter().map(|total| width(&total.label)).max().unwrap_or(0);
    page.raw(&[dim(format!(
        "  {:<label_width$}  {:>8}  {:>8}  {:>9}",
        "kernels", "better", "worse", "different"
    ))]);
    let number = |value: u64| if value == 0 { "-".to_owned() } else { thousands(value) };
    for total in shown {
        let role = |value: u64, role: Role| if value == 0 { Role::Dim } else { role };
        page.raw(&[
            plain(format!("  {:<label_width$}", total.label)),
            span(role(total.better, Role::Good), format!("  {:>8}", number(total.better))),
            span(role(total.worse, Role::Severe), format!("  {:>8}", number(total.worse))),
            span(role(total.different, Role::Plain), format!("  {:>9}", number(total.different))),
        ]);
    }
    if totals.len() > shown.len() {
        page.wrapped(
            2,
            4,
            &[dim(format!("{} more values (`--format json` has all)", totals.len() - shown.len()))],
        );
    }
    page.blank();
}

fn names(page: &mut Page, word: &str, role: Role, names: &[KernelName], top: usize) {
    let style = page.style;
    for name in names.iter().take(top) {
        let room = style.width.saturating_sub(word.len() + name.target.len() + 6).max(24);
        page.wrapped(
            0,
            4,
            &[
                span(role, word),
                plain(format!("  {}", short_name(display(name), room, &style))),
                dim(format!("  {}", name.target)),
            ],
        );
    }
    if names.len() > top {
        page.wrapped(0, 4, &[dim(format!("{} more {word}", thousands((names.len() - top) as u64)))]);
    }
    if !names.is_empty() {
        page.blank();
    }
}

fn display(name: &KernelName) -> &str {
    if name.demangled.is_empty() { &name.name } else { &name.demangled }
}

fn label(change: &Change) -> String {
    if change.unit.is_empty() { change.label.clone() } else { format!("{} ({})", change.label, change.unit) }
}

fn value(value: Option<f64>) -> String {
    value.map_or_else(|| "?".to_owned(), short)
}
