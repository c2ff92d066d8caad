//! Calls of the runtime, latency of launches, graphs, allocations, counters.

use crate::tables::rows::{count, missing, ms, number, push, table, text, us};
use timeline::{Latency, TimelineEvidence};
use view::ColumnKind::{Number, Text};
use view::Table;

pub(super) fn tables(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("mean", Number, "us"),
        ("min", Number, "us"),
        ("max", Number, "us"),
        ("what it does", Text, ""),
    ];
    let mut t = table("4.1", "launches", "Calls of the runtime", "call", &columns);
    for it in &evidence.calls {
        let d = &it.durations;
        let what = match (it.launches, it.synchronises) {
            (true, _) => "launches",
            (_, true) => "waits for the GPU",
            _ => "",
        };
        let cells =
            vec![count(d.count), ms(d.total), us(d.mean()), us(d.min as f64), us(d.max as f64), text(what)];
        push(&mut t, evidence.text(it.name), cells);
    }
    out.push(t);
    latency(out, evidence);
    let columns = [
        ("call", Number, "us"),
        ("kernels", Number, ""),
        ("GPU span", Number, "ms"),
        ("GPU time", Number, "ms"),
    ];
    let mut t = table("4.3", "launches", "Graph launches", "launch", &columns);
    for it in &evidence.graphs {
        let call = us(evidence.timeline.host.duration(it.call) as f64);
        let name = evidence.text(evidence.timeline.host.name[it.call]);
        push(&mut t, name, vec![call, count(it.kernels), ms(it.span), ms(it.gpu)]);
    }
    out.push(t);
    memory(out, evidence);
}

fn latency(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let it = &evidence.latency;
    if it.all.is_empty() {
        return;
    }
    let columns = [("value", Number, "")];
    let mut t = table("4.2", "launches", "From launch to start", "measure", &columns);
    let mut add = |label: &str, unit: &str, cell| {
        push(&mut t, label, vec![cell]);
        if let Some(row) = t.rows.last_mut() {
            row.unit = unit.to_owned();
        }
    };
    let quantile = |values: &[i64], part| match Latency::quantile(values, part) {
        Some(ns) => us(ns as f64),
        None => missing("no launch found the GPU's queue empty"),
    };
    add("median latency, nothing queued before", "us", quantile(&it.idle, 0.5));
    add("least latency, nothing queued before", "us", quantile(&it.idle, 0.0));
    add("median latency of all launches", "us", quantile(&it.all, 0.5));
    add("99 % of all launches start within", "us", quantile(&it.all, 0.99));
    add("launches", "", count(it.all.len() as u64));
    add("launches that found nothing queued", "", count(it.found_empty));
    add("mean spans queued or running", "", it.depth_mean().map_or_else(|| missing("no launch"), number));
    add("most spans queued or running", "", count(it.depth_max));
    out.push(t);
}

fn memory(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let timeline = evidence.timeline;
    let columns = [("count", Number, ""), ("bytes", Number, ""), ("time", Number, "ms")];
    let mut t = table("5.3", "memory", "Allocations", "operation", &columns);
    let mut sums: std::collections::BTreeMap<(bool, &str), (u64, Option<u64>, i64)> = Default::default();
    for it in &timeline.allocations {
        let sum = sums.entry((it.scratch, evidence.text(it.operation))).or_default();
        sum.0 += 1;
        sum.1 = it.bytes.map_or(sum.1, |bytes| Some(sum.1.unwrap_or(0) + bytes));
        sum.2 += it.end - it.start;
    }
    for ((scratch, operation), (n, bytes, ns)) in sums {
        let bytes = bytes.map_or_else(|| missing("the operation names no size"), count);
        let label = if scratch { format!("{operation}, scratch") } else { operation.to_owned() };
        push(&mut t, label, vec![count(n), bytes, ms(ns)]);
    }
    out.push(t);
    let columns = [("records", Number, ""), ("sum", Number, "")];
    let mut t = table("5.4", "memory", "Counters", "counter", &columns);
    for it in &timeline.counters {
        push(&mut t, evidence.text(it.name), vec![count(it.dispatches), number(it.sum)]);
    }
    out.push(t);
}
