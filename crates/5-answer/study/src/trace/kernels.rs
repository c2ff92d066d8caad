//! Kernels, categories, operators, matrix products, collectives.

use crate::tables::rows::{count, missing, ms, number, percent, push, table, text, us};
use arch::Unit;
use timeline::{SHORT_US, TimelineEvidence, by_category, by_duration, category, origins};
use view::ColumnKind::{Number, Percent, Text};
use view::{Cell, Table};

pub(super) fn tables(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    if evidence.total.spans == 0 {
        return;
    }
    kernels(out, evidence);
    short(out, evidence);
    operators(out, evidence);
    products(out, evidence);
    collectives(out, evidence);
}

fn kernels(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("mean", Number, "us"),
        ("min", Number, "us"),
        ("max", Number, "us"),
        ("std dev", Number, "us"),
        ("of GPU time", Percent, "%"),
        ("category", Text, ""),
        ("operator", Text, ""),
    ];
    let mut all = table("2.1", "kernels", "Kernels by time", "kernel", &columns);
    let mut triton = table("2.4", "kernels", "Triton kernels of Inductor", "kernel", &columns);
    for it in &evidence.kernels {
        let d = &it.durations;
        let name = evidence.text(it.name);
        let operator = it.operator.map_or("", |name| evidence.text(name));
        let cells = vec![
            count(d.count),
            ms(d.total),
            us(d.mean()),
            us(d.min as f64),
            us(d.max as f64),
            us(d.deviation()),
            percent(d.total, evidence.gpu_time()),
            text(it.category),
            text(operator),
        ];
        if category::is_triton(name) {
            push(&mut triton, name, cells.clone());
        }
        push(&mut all, name, cells);
    }
    if !evidence.links.has_operators {
        for t in [&mut all, &mut triton] {
            drop_column(t, "operator");
        }
    }
    out.push(all);
    let columns = [("kernels", Number, ""), ("total", Number, "ms"), ("of GPU time", Percent, "%")];
    let mut t = table("2.2", "kernels", "Categories", "category", &columns);
    for (category, ns, n) in by_category(&evidence.kernels) {
        push(&mut t, category, vec![count(n), ms(ns), percent(ns, evidence.gpu_time())]);
    }
    out.push(t);
    out.push(triton);
}

/// Removes a column that says nothing.
fn drop_column(t: &mut Table, title: &str) {
    if let Some(at) = t.columns.iter().position(|c| c.title == title) {
        t.columns.remove(at);
        t.rows.iter_mut().for_each(|row| {
            row.cells.remove(at);
        });
    }
}

fn short(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [("kernels", Number, ""), ("total", Number, "ms"), ("of kernels", Percent, "%")];
    let mut t = table("2.3", "kernels", "Kernels by duration", "duration", &columns);
    let classes = by_duration(evidence.timeline);
    for (at, (n, ns)) in classes.iter().enumerate() {
        let label = match (at.checked_sub(1).and_then(|b| SHORT_US.get(b)), SHORT_US.get(at)) {
            (None, Some(to)) => format!("below {to} us"),
            (Some(from), Some(to)) => format!("{from} to {to} us"),
            (Some(from), None) => format!("{from} us and more"),
            (None, None) => String::new(),
        };
        push(&mut t, label, vec![count(*n), ms(*ns), percent(*n as i64, evidence.total.kernels as i64)]);
    }
    out.push(t);
}

fn operators(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("calls", Number, ""),
        ("host total", Number, "ms"),
        ("host self", Number, "ms"),
        ("kernels", Number, ""),
        ("GPU", Number, "ms"),
        ("of GPU time", Percent, "%"),
    ];
    let mut t = table("3.1", "operators", "Operators", "operator", &columns);
    for it in &evidence.operators {
        let cells = vec![
            count(it.calls),
            ms(it.host_total),
            ms(it.host_self),
            count(it.kernels),
            ms(it.gpu),
            percent(it.gpu, evidence.gpu_time()),
        ];
        push(&mut t, evidence.text(it.name), cells);
    }
    out.push(t);
    if !evidence.links.has_operators {
        return;
    }
    let columns =
        [("operator", Text, ""), ("python", Text, ""), ("calls", Number, ""), ("total", Number, "ms")];
    let mut t = table("3.2", "operators", "Kernels with operator and Python line", "kernel", &columns);
    for (origin, ns, n) in origins(evidence.timeline, &evidence.links) {
        let words = |name: Option<::trace::Name>, none: &str| match name {
            Some(name) => text(evidence.text(name)),
            None => missing(none),
        };
        let cells = vec![
            words(origin.operator, "no operator has the kernel's external id"),
            words(origin.python, "no Python function outside the framework was running"),
            count(n),
            ms(ns),
        ];
        push(&mut t, evidence.text(origin.kernel), cells);
    }
    out.push(t);
}

fn products(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("type", Text, ""),
        ("layout", Text, ""),
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("mean", Number, "us"),
        ("rate", Number, "Tflop/s"),
        ("of peak", Percent, "%"),
        ("kernel", Text, ""),
    ];
    let mut t = table("7.1", "matrix products", "Matrix products", "m × n × k", &columns);
    for it in &evidence.products {
        let p = &it.product;
        let batch = if p.batch > 1 { format!("{} × ", p.batch) } else { String::new() };
        let rate = it.tera_ops();
        let cells = vec![
            text(it.element().map_or_else(|| p.data_type.clone(), |it| it.name().to_owned())),
            text(p.layout.clone()),
            count(it.durations.count),
            ms(it.durations.total),
            us(it.durations.mean()),
            rate.map_or_else(|| missing("the kernels have no duration"), number),
            of_peak(evidence, it.element(), rate),
            text(evidence.text(it.kernel)),
        ];
        push(&mut t, format!("{batch}{} × {} × {}", p.m, p.n, p.k), cells);
    }
    if let Some(model) = evidence.model {
        t.notes.push(format!(
            "m, n, k and layout as BLAS has them: m is PyTorch's columns. Peak of {} at {} MHz, dense",
            model.name, model.engine_mhz.value
        ));
    }
    out.push(t);
}

fn of_peak(evidence: &TimelineEvidence<'_>, element: Option<arch::ElementType>, rate: Option<f64>) -> Cell {
    let Some(model) = evidence.model else { return missing("the trace does not name a GPU that is known") };
    let peak = element.and_then(|element| model.peak_tera_ops(Unit::Matrix, element));
    match (rate, peak) {
        (Some(rate), Some(peak)) => number(100.0 * rate / peak),
        (None, _) => missing("the kernels have no duration"),
        (_, None) => missing("the GPU's peak for this type is not known"),
    }
}

fn collectives(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("ranks", Number, ""),
        ("type", Text, ""),
        ("bytes", Number, ""),
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("fastest", Number, "us"),
        ("slowest", Number, "us"),
        ("bus, fastest", Number, "GB/s"),
    ];
    let mut t = table("8.1", "communication", "Collectives", "collective", &columns);
    for it in &evidence.collectives {
        let d = &it.durations;
        let bus = it.bus_gb_per_s();
        let cells = vec![
            count(it.ranks),
            text(it.data_type.clone()),
            it.bytes.map_or_else(|| missing("the type's size is not known"), count),
            count(d.count),
            ms(d.total),
            us(d.min as f64),
            us(d.max as f64),
            bus.map_or_else(|| missing("bytes or time are not known"), number),
        ];
        push(&mut t, it.operation.clone(), cells);
    }
    t.notes
        .push("the fastest call waited least for other ranks: the slower ones are mostly waiting".to_owned());
    out.push(t);
}
