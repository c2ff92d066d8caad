//! Tables before the metrics: top kernels, dispatches, the machine; and the list of metrics.
//!
//! These come from the recording alone, so they exist even if the GPU is unknown.

use super::panels::number;
use super::subject::Subject;
use metrics::{Definitions, KernelTimes, kernels, shown_unit};
use std::collections::BTreeMap;
use view::{Cell, Column, ColumnKind, Norm, Number, Row, Table};
use workload::{LaunchNote, TIME, Values, Workload, plain_kernel_name};

pub(crate) fn table(
    id: &str,
    panel: &str,
    title: &str,
    label: &str,
    columns: Vec<Column>,
    rows: Vec<Row>,
) -> Table {
    let (id, panel, title, label) = (id.to_string(), panel.to_string(), title.to_string(), label.to_string());
    Table { id, panel, title, label, columns, rows, ..Table::default() }
}

pub(crate) fn row(id: String, label: &str, cells: Vec<Cell>) -> Row {
    Row { id, label: label.to_string(), cells, ..Row::default() }
}

/// Annotation of a dispatch by the program.
pub(crate) fn note_of(workload: &Workload, row: u32) -> Option<&LaunchNote> {
    workload.launches.iter().find(|note| note.row == Some(row))
}

/// Kernels, most time first; at most `top` of them.
pub(crate) fn top_kernels(subject: &Subject, top: usize) -> Table {
    let w = &subject.workload;
    let times = kernels(w, &subject.rows);
    let cells = |k: &KernelTimes| {
        vec![
            Cell::Number(Number::from(k.count as f64)),
            number(k.sum.clone()),
            number(k.mean.clone()),
            number(k.median.clone()),
            number(k.percent.clone()),
        ]
    };
    let rows =
        times.iter().take(top).enumerate().map(|(index, k)| {
            row(index.to_string(), plain_kernel_name(&w.kernels[k.kernel as usize]), cells(k))
        });
    let columns = vec![
        Column::new("count", ColumnKind::Number, ""),
        Column::new("sum", ColumnKind::Number, "ns"),
        Column::new("mean", ColumnKind::Number, "ns"),
        Column::new("median", ColumnKind::Number, "ns"),
        Column::new("percent", ColumnKind::Percent, "%"),
    ];
    let mut out = table("0.1", "Top Stats", "Top Kernels", "kernel", columns, rows.collect());
    if times.len() > top {
        let rest: f64 = times[top..].iter().filter_map(|k| k.percent.as_ref().ok()).sum();
        let share = if rest > 0.0 { format!(" with {rest:.1} % of the time") } else { String::new() };
        out.notes.push(format!("{} more kernels{share}; `--top N` shows more", times.len() - top));
    }
    out.notes.extend(times_are(w));
    out
}

/// Confidence of the times, if they were not measured.
fn times_are(w: &Workload) -> Option<String> {
    let known = (0..w.dispatches.len()).any(|row| w.dispatches.duration(row).is_some());
    let mark = w.marks.as_ref().filter(|_| known)?.of(TIME);
    Some(format!("times are {mark}"))
}

/// The dispatches in the order recorded; at most `top` of them.
pub(crate) fn dispatches(subject: &Subject, top: usize) -> Table {
    let w = &subject.workload;
    let d = &w.dispatches;
    let columns: [(&str, &str, &Values); 7] = [
        ("grid", "", &d.grid),
        ("workgroup", "", &d.workgroup),
        ("LDS", "B", &d.lds),
        ("scratch", "B", &d.scratch),
        ("VGPR", "", &d.arch_vgpr),
        ("AGPR", "", &d.accum_vgpr),
        ("SGPR", "", &d.sgpr),
    ];
    let recorded: Vec<&(&str, &str, &Values)> = columns.iter().filter(|(_, _, v)| !v.is_blank()).collect();
    let mut headings =
        vec![Column::new("GPU", ColumnKind::Number, ""), Column::new("time", ColumnKind::Number, "ns")];
    headings.extend(recorded.iter().map(|(name, unit, _)| Column::new(*name, ColumnKind::Number, *unit)));
    let noted = !w.launches.is_empty();
    if noted {
        headings.push(Column::new("configuration", ColumnKind::Text, ""));
    }
    let known = |v: Option<f64>, what: &str| {
        Cell::Number(
            v.map_or_else(|| Number::missing(format!("{what} of the dispatch is not known")), Number::from),
        )
    };
    let rows = subject.rows.iter().take(top).map(|r| {
        let at = *r as usize;
        let mut cells =
            vec![Cell::Number(Number::from(f64::from(d.gpu[at]))), known(d.duration(at), "the duration")];
        cells.extend(recorded.iter().map(|(name, _, v)| known(v.get(at), &format!("the {name}"))));
        if noted {
            let note = note_of(w, *r);
            cells.push(Cell::Text(note.map(workload::LaunchNote::configured).unwrap_or_default()));
        }
        row(d.id[at].to_string(), plain_kernel_name(w.kernel_of(at)), cells)
    });
    let mut out = table("0.2", "Top Stats", "Dispatch List", "kernel", headings, rows.collect());
    if subject.rows.len() > top {
        out.notes.push(format!("{} more dispatches; `--top N` shows more", subject.rows.len() - top));
    }
    out.notes.extend(times_are(w));
    out
}

/// Every fact of the machine.
pub(crate) fn machine(subject: &Subject) -> Table {
    let facts = &subject.workload.machine;
    let rows = facts.facts.keys().filter_map(|name| Some((name, facts.text(name)?)));
    let rows = rows.map(|(name, value)| row(name.clone(), name, vec![Cell::Text(value.trim().to_string())]));
    let columns = vec![Column::new("value", ColumnKind::Text, "")];
    let mut out = table("1.1", "System Info", "System Info", "fact", columns, rows.collect());
    for (i, r) in out.rows.iter_mut().enumerate() {
        r.id = format!("1.1.{i}");
    }
    out
}

/// The machine's facts with the source of each.
pub(crate) fn specs(subject: &Subject) -> Table {
    let mut out = machine(subject);
    out.columns.push(Column::new("from", ColumnKind::Text, ""));
    for row in &mut out.rows {
        let filled = subject.filled.iter().find(|it| it.fact == row.label);
        let from = filled.map_or_else(|| "the recording".to_string(), |it| it.source.clone());
        row.cells.push(Cell::Text(from));
    }
    out
}

/// Every row of every table of a target.
pub(crate) fn metric_list(definitions: &Definitions, target: &str, norm: Norm) -> Vec<Table> {
    let columns =
        || vec![Column::new("metric", ColumnKind::Text, ""), Column::new("unit", ColumnKind::Text, "")];
    definitions
        .tables()
        .iter()
        .map(|t| {
            let id = format!("{}.{}", t.id.0, t.id.1);
            let rows = t.rows(target).enumerate().map(|(i, r)| {
                let unit =
                    definitions.metric(&r.metric).map_or(String::new(), |m| shown_unit(&m.unit_text, norm));
                let tags =
                    if r.tags.is_empty() { String::new() } else { format!(" ({})", r.tags.join(", ")) };
                Row {
                    metric: r.metric.clone(),
                    ..row(
                        format!("{id}.{i}"),
                        &format!("{}{tags}", r.label),
                        vec![Cell::Text(r.metric.clone()), Cell::Text(unit)],
                    )
                }
            });
            table(&id, &t.panel, &t.title, "row", columns(), rows.collect())
        })
        .filter(|t| !t.rows.is_empty())
        .collect()
}

/// Every panel of a target with the names that select it.
pub(crate) fn block_list(definitions: &Definitions, target: &str) -> Table {
    let mut panels: BTreeMap<u16, (String, Vec<String>)> = BTreeMap::new();
    let titled = |id: &str| {
        let known = [("0", "Top Stats"), ("1", "System Info"), ("21", "PC Sampling")];
        known.iter().find(|(panel, _)| *panel == id).map_or(id, |(_, title)| title).to_string()
    };
    for ((panel, table), _) in super::blocks::SPECIAL {
        let title = titled(&panel.to_string());
        panels.entry(*panel).or_insert_with(|| (title, Vec::new())).1.push(format!("{panel}.{table}"));
    }
    for t in definitions.tables().iter().filter(|t| t.rows(target).next().is_some()) {
        let (panel, table) = t.id;
        let entry = panels.entry(panel).or_insert_with(|| (t.panel.clone(), Vec::new()));
        entry.1.push(format!("{panel}.{table}"));
    }
    let names = |panel: u16| {
        let of_it = |alias: &&metrics::Alias| {
            alias.blocks.split(' ').any(|block| block.split('.').next() == Some(&*panel.to_string()))
        };
        let all: Vec<&str> = metrics::aliases().iter().filter(of_it).map(|alias| alias.name).collect();
        all.join(", ")
    };
    let rows = panels.iter().map(|(panel, (title, tables))| {
        let cells = vec![Cell::Text(names(*panel)), Cell::Text(tables.join(" "))];
        row(panel.to_string(), title, cells)
    });
    let columns =
        vec![Column::new("names", ColumnKind::Text, ""), Column::new("tables", ColumnKind::Text, "")];
    let mut out = table("blocks", "Blocks", "Blocks", "panel", columns, rows.collect());
    out.notes.extend(
        metrics::aliases()
            .iter()
            .filter(|alias| alias.blocks.contains([' ', '.']))
            .map(|alias| format!("`{}` is {}: {}", alias.name, alias.blocks, alias.what)),
    );
    out
}
