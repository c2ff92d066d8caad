//! Metrics and counters explained.
//!
//! A list is for finding the name, a card for understanding it.

use super::page::{Page, dim, plain, span, width};
use crate::{Role, Style};
use view::{CounterCard, MetricCard, MetricVariant, MetricsReport, TargetMetrics, counted, thousands_of};

/// Renders a list of all metrics, or cards of the requested ones.
pub(crate) fn metrics(report: &MetricsReport, style: &Style) -> String {
    let mut page = Page::new(style);
    if !report.named {
        list(&mut page, report);
        return page.finish();
    }
    for (i, m) in report.metrics.iter().enumerate() {
        if i > 0 {
            page.blank();
        }
        card(&mut page, m);
    }
    for (i, c) in report.counters.iter().enumerate() {
        if i > 0 || !report.metrics.is_empty() {
            page.blank();
        }
        counter(&mut page, c);
    }
    if report.metrics.len() > 1 {
        page.blank();
        totals(&mut page, "together", &report.asked);
    }
    page.finish()
}

fn totals(page: &mut Page, word: &str, targets: &[TargetMetrics]) {
    for t in targets {
        let passes = t.passes.map_or_else(String::new, |p| format!(", read in {}", counted(p, "run")));
        page.wrapped(
            0,
            4,
            &[
                span(Role::Heading, &t.target),
                plain(format!(
                    "  {word}: {}, {}{passes}",
                    thousands_of(t.metrics, "metric"),
                    thousands_of(t.counters, "counter")
                )),
            ],
        );
    }
}

fn list(page: &mut Page, report: &MetricsReport) {
    let mut table = "";
    let id_width = report.metrics.iter().flat_map(|m| &m.rows).map(|r| width(&r.id)).max().unwrap_or(0);
    let name_width = report.metrics.iter().map(|m| width(&m.metric)).max().unwrap_or(0);
    // In the order of the tables, since that is how reports show them.
    let mut rows: Vec<_> =
        report.metrics.iter().flat_map(|m| m.rows.iter().map(move |r| (number(&r.id), m, r))).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, m, r) in rows {
        if r.table != table {
            table = &r.table;
            page.raw(&[span(Role::Heading, table)]);
        }
        let without = m.variants.iter().all(|v| v.formula.is_err());
        let first = [dim(format!("  {:<id_width$}  ", r.id)), plain(format!("{:<name_width$}  ", m.metric))];
        let rest = [plain(" ".repeat(id_width + name_width + 8))];
        let unit = dim(format!("  [{}]{}", m.unit, if without { "  n/a" } else { "" }));
        page.prefixed(&first, &rest, &[plain(&r.label), unit]);
    }
    page.blank();
    totals(page, "all", &report.targets);
    page.wrapped(0, 2, &[dim("`rockhound metrics ID` explains a panel, table, row, metric or counter")]);
}

/// The parts of a row's number, for ordering.
fn number(id: &str) -> Vec<u64> {
    id.split('.').filter_map(|p| p.parse().ok()).collect()
}

fn field(page: &mut Page, name: &str, text: &str) {
    page.prefixed(&[dim(format!("  {name:<9}"))], &[plain(" ".repeat(11))], &[plain(text)]);
}

fn card(page: &mut Page, m: &MetricCard) {
    page.wrapped(0, 4, &[span(Role::Heading, &m.metric), dim(format!("  [{}]", m.unit))]);
    if !m.meaning.is_empty() {
        field(page, "says", &m.meaning);
    }
    if !m.also.is_empty() {
        field(page, "also", &m.also.join(" "));
    }
    if !m.stands_in_for.is_empty() {
        field(page, "in place", &format!("of {}", m.stands_in_for.join(" ")));
    }
    for r in &m.rows {
        page.wrapped(2, 4, &[dim(format!("{}  ", r.id)), plain(&r.label), dim(format!("  in {}", r.table))]);
    }
    for v in &m.variants {
        variant(page, v);
    }
}

fn variant(page: &mut Page, v: &MetricVariant) {
    page.wrapped(0, 4, &[span(Role::Info, v.targets.join(" "))]);
    match &v.formula {
        Ok(formula) => field(page, "formula", formula),
        Err(reason) => {
            field(page, "n/a", reason);
            return;
        }
    }
    if let Some(peak) = &v.peak {
        field(page, "peak", peak);
    }
    let mut word = "where";
    for n in &v.names {
        page.prefixed(
            &[dim(format!("  {word:<9}"))],
            &[plain(" ".repeat(13))],
            &[span(Role::Strong, &n.name), plain(format!(" = {}", n.formula))],
        );
        word = "";
    }
    let mut word = "or";
    for n in &v.stand_ins {
        page.prefixed(
            &[dim(format!("  {word:<9}"))],
            &[plain(" ".repeat(13))],
            &[span(Role::Strong, &n.name), plain(format!(" = {}, where its counters are absent", n.formula))],
        );
        word = "";
    }
    let mut word = "counters";
    for c in &v.counters {
        page.prefixed(
            &[dim(format!("  {word:<9}"))],
            &[plain(" ".repeat(13))],
            &[span(Role::Strong, &c.name), dim(format!(" [{}] ", c.unit)), plain(&c.meaning)],
        );
        word = "";
    }
    if let Some(passes) = v.passes {
        field(page, "runs", &passes.to_string());
    }
}

fn counter(page: &mut Page, c: &CounterCard) {
    page.wrapped(0, 4, &[span(Role::Heading, &c.name), dim(format!("  [{}]", c.unit))]);
    field(page, "counts", &c.meaning);
    field(page, "block", &format!("{}, which reads {} counters at once", c.block, c.block_limit));
    field(page, "targets", &c.targets.join(" "));
    if !c.used_by.is_empty() {
        field(page, "used by", &c.used_by.join(" "));
    }
}
