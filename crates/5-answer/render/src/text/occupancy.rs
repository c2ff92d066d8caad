//! The occupancy calculator's answer.
//!
//! The answer comes first; the table of boundaries shows how far the next step is on every resource.

use super::card::{occupancy_spans, step_spans};
use super::number::{bytes, short};
use super::page::{Page, Span, dim, join, plain, span, width};
use crate::{Role, Style};
use view::{BoundaryTable, OccupancyReport, counted};

/// Renders a report.
pub(crate) fn occupancy(report: &OccupancyReport, style: &Style) -> String {
    let mut page = Page::new(style);
    let inputs = &report.resources;
    let asked = vec![
        vec![span(Role::Heading, &report.target)],
        vec![plain(format!("VGPR {}", inputs.vgprs))],
        vec![plain(format!("AGPR {}", inputs.agprs))],
        vec![plain(format!("SGPR {}", inputs.sgprs))],
        vec![plain(format!("LDS {}", bytes(u64::from(inputs.lds_bytes))))],
        vec![plain(format!("{} per workgroup", counted(inputs.waves_per_workgroup, "wave")))],
    ];
    page.wrapped(0, 2, &join(asked, " · "));
    page.wrapped(2, 4, &occupancy_spans(&report.result));
    for step in step_spans(&report.result) {
        page.wrapped(2, 4, &step);
    }
    for assumption in &report.result.assumptions {
        page.wrapped(2, 4, &[dim(format!("assumes {assumption}"))]);
    }
    for reason in &report.result.reasons {
        page.wrapped(2, 4, &[plain(reason)]);
    }
    page.blank();
    let limits = report
        .limits
        .iter()
        .map(|limit| {
            let role =
                if limit.waves_per_simd <= report.result.waves_per_simd { Role::Strong } else { Role::Plain };
            vec![plain(format!("{} ", limit.resource)), span(role, short(limit.waves_per_simd))]
        })
        .collect();
    page.wrapped(0, 2, &[vec![dim("each alone allows (waves per SIMD): ")], join(limits, " · ")].concat());
    page.blank();
    boundaries(&mut page, &report.boundaries);
    page.finish()
}

/// Tables side by side, as many as the width allows.
fn boundaries(page: &mut Page, tables: &[BoundaryTable]) {
    let blocks: Vec<Vec<Vec<Span>>> = tables.iter().map(block).collect();
    let line_width = |line: &[Span]| line.iter().map(|span| width(&span.text)).sum::<usize>();
    let block_width = |block: &[Vec<Span>]| block.iter().map(|line| line_width(line)).max().unwrap_or(0);
    let mut start = 0;
    while start < blocks.len() {
        let mut end = start;
        let mut used = 0;
        while end < blocks.len() && (end == start || used + 4 + block_width(&blocks[end]) <= page.style.width)
        {
            used += block_width(&blocks[end]) + if end == start { 0 } else { 4 };
            end += 1;
        }
        let row = &blocks[start..end];
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for index in 0..height {
            let mut spans: Vec<Span> = Vec::new();
            for (position, block) in row.iter().enumerate() {
                let line = block.get(index).cloned().unwrap_or_default();
                let padding = block_width(block) - line_width(&line);
                spans.extend(line);
                if position + 1 < row.len() {
                    spans.push(plain(" ".repeat(padding + 4)));
                }
            }
            page.raw(&spans);
        }
        if end < blocks.len() {
            page.blank();
        }
        start = end;
    }
}

fn block(table: &BoundaryTable) -> Vec<Vec<Span>> {
    let amount = |value: u32| if table.unit == "bytes" { bytes(u64::from(value)) } else { value.to_string() };
    let title = format!("{} at most", table.resource);
    let amount_width =
        table.rows.iter().map(|row| width(&amount(row.at_most))).max().unwrap_or(0).max(width(&title));
    let mut lines = vec![vec![dim(format!("  {:>5}  {title:>amount_width$}", "waves"))]];
    for row in &table.rows {
        let mark = if row.here { "▸ " } else { "  " };
        let role = if row.here { Role::Strong } else { Role::Plain };
        lines.push(vec![span(
            role,
            format!("{mark}{:>5}  {:>amount_width$}", short(row.waves_per_simd), amount(row.at_most)),
        )]);
    }
    lines
}
