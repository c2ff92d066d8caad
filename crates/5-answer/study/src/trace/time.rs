//! Division of the time, reasons of idle GPUs, streams, steps.

use crate::tables::rows::{count, missing, ms, number, percent, push, table, text, us};
use sorting::Sort;
use timeline::{TimelineEvidence, Why, ranges};
use view::ColumnKind::{Number, Percent, Text};
use view::Table;

/// Ranges listed where the trace has no steps.
const FEW: usize = 500;

pub(super) fn tables(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    sums(out, evidence);
    if evidence.total.spans == 0 {
        return;
    }
    let total = &evidence.total;
    let whole = total.span;
    let mut t = table(
        "1.1",
        "time",
        "How the time divides",
        "part",
        &[("time", Number, "ms"), ("of span", Percent, "%")],
    );
    let several = evidence.overviews.len() > 1;
    let rows = [
        ("span, first start to last end", total.span),
        ("busy: anything runs", total.busy),
        ("computing", total.computing),
        ("communicating", total.communicating),
        ("communicating, nothing else runs", total.exposed_communication),
        ("copying and filling", total.copying),
        ("copying, nothing else runs", total.exposed_copies),
        ("idle", total.idle()),
    ];
    for (label, ns) in rows {
        if ns > 0 || matches!(label, "idle" | "computing") {
            push(&mut t, label, vec![ms(ns), percent(ns, whole)]);
        }
    }
    if total.sum > total.busy {
        let more = (total.sum - total.busy) as f64 / 1e6;
        t.notes.push(format!("durations add up to {more:.3} ms more than busy time: spans overlap"));
    }
    out.push(t);
    if several {
        let columns =
            [("spans", Number, ""), ("span", Number, "ms"), ("busy", Number, "ms"), ("idle", Percent, "%")];
        let mut t = table("1.3", "time", "GPUs", "GPU", &columns);
        for it in &evidence.overviews {
            let cells = vec![count(it.spans), ms(it.span), ms(it.busy), percent(it.idle(), it.span)];
            push(&mut t, it.device.to_string(), cells);
        }
        out.push(t);
    }
    idle(out, evidence);
    streams(out, evidence);
    steps(out, evidence);
}

fn idle(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let idle = evidence.total.idle();
    if idle <= 0 || evidence.is_capture() {
        return;
    }
    let columns = [
        ("time", Number, "ms"),
        ("of span", Number, "%"),
        ("gaps", Number, ""),
        ("longest", Number, "us"),
        ("of idle", Percent, "%"),
    ];
    let mut t = table("1.2", "time", "Why the GPU was idle", "reason", &columns);
    for why in Why::ALL {
        if let Some(it) = evidence.idle.by_reason.get(&why) {
            let cells = vec![
                ms(it.ns),
                percent(it.ns, evidence.total.span),
                count(it.gaps),
                us(it.longest as f64),
                percent(it.ns, idle),
            ];
            push(&mut t, why.as_str(), cells);
        }
    }
    let words = |list: &[(::trace::Name, i64, u64)]| {
        let list = list.iter().take(3).filter(|(_, ns, _)| *ns > 0);
        let list: Vec<String> = list
            .map(|(name, ns, n)| format!("{} {:.3} ms in {n}", evidence.text(*name), *ns as f64 / 1e6))
            .collect();
        list.join(", ")
    };
    let (calls, operators) = (words(&evidence.idle.calls), words(&evidence.idle.operators));
    if !calls.is_empty() {
        t.notes.push(format!("waits in {calls}"));
    }
    if !operators.is_empty() {
        t.notes.push(format!("before kernels of {operators}"));
    }
    out.push(t);
}

fn streams(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("spans", Number, ""),
        ("communication", Number, ""),
        ("span", Number, "ms"),
        ("busy", Number, "ms"),
        ("only others run", Number, "ms"),
        ("busy", Percent, "%"),
    ];
    let mut t = table("5.1", "streams", "Streams and queues", "GPU, stream", &columns);
    for it in &evidence.streams {
        let cells = vec![
            count(it.spans),
            count(it.communication),
            ms(it.span),
            ms(it.busy),
            ms(it.others),
            percent(it.busy, it.span),
        ];
        push(&mut t, format!("GPU {}, stream {}", it.queue.device, it.queue.stream), cells);
    }
    out.push(t);
    let columns = [
        ("count", Number, ""),
        ("time", Number, "ms"),
        ("mean", Number, "us"),
        ("bytes", Number, ""),
        ("rate", Number, "GB/s"),
    ];
    let mut t = table("5.2", "streams", "Copies and fills", "copy", &columns);
    for it in &evidence.copies {
        let rate = it.bandwidth();
        let bytes = match rate {
            Err(reason) if it.one_byte > 0 || it.known == 0 => missing(reason),
            _ => count(it.bytes),
        };
        let cells = vec![
            count(it.durations.count),
            ms(it.durations.total),
            us(it.durations.mean()),
            bytes,
            rate.map_or_else(missing, number),
        ];
        push(&mut t, evidence.text(it.name), cells);
        if let Err(reason) = rate
            && !t.notes.iter().any(|note| note.contains(reason))
        {
            t.notes.push(format!("n/a: {reason}"));
        }
    }
    out.push(t);
}

fn steps(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("host", Number, "ms"),
        ("launched", Number, ""),
        ("GPU span", Number, "ms"),
        ("GPU busy", Number, "ms"),
        ("of GPU span", Percent, "%"),
    ];
    let mut t = table("6.1", "steps", "Steps and named ranges", "range", &columns);
    for it in ranges(evidence.timeline, &evidence.links).into_iter().take(FEW) {
        let cells = vec![ms(it.host), count(it.spans), ms(it.span), ms(it.busy), percent(it.busy, it.span)];
        push(&mut t, evidence.text(it.name), cells);
    }
    out.push(t);
    named(out, evidence);
}

/// Ranges by name.
fn named(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let columns = [
        ("calls", Number, ""),
        ("host", Number, "ms"),
        ("launched", Number, ""),
        ("GPU", Number, "ms"),
        ("GPU, itself", Number, "ms"),
        ("GPU busy", Number, "ms"),
        ("of busy", Percent, "%"),
    ];
    let mut t = table("6.2", "steps", "Named ranges by name", "range", &columns);
    for it in &evidence.named {
        let cells = vec![
            count(it.calls),
            ms(it.host),
            count(it.spans),
            ms(it.gpu),
            ms(it.own),
            ms(it.busy),
            percent(it.busy, evidence.total.busy),
        ];
        push(&mut t, evidence.text(it.name), cells);
    }
    t.notes.push("ranges may be within each other: rows must not be added up".to_owned());
    out.push(t);
}

/// Files that hold sums of calls.
fn sums(out: &mut Vec<Table>, evidence: &TimelineEvidence<'_>) {
    let calls = &evidence.timeline.calls;
    let tree = calls.iter().any(|c| c.depth > 0);
    let mut domains: Vec<&str> = calls.iter().map(|c| c.domain.as_str()).collect();
    domains.dedup();
    domains.in_order_by_key(|it| workload::natural(it));
    domains.dedup();
    let columns = [
        ("thread", Text, ""),
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("mean", Number, "us"),
        ("min", Number, "us"),
        ("max", Number, "us"),
        ("self", Number, "%"),
        ("of all", Percent, "%"),
    ];
    // Times of a tree include each other.
    let columns = if tree { &columns[..columns.len() - 1] } else { &columns[..] };
    // Sums beside spans are of what a tool derives from them.
    let number_of =
        |at: usize| if evidence.total.spans == 0 { format!("2.1.{at}") } else { format!("3.3.{at}") };
    for (at, domain) in domains.iter().enumerate() {
        let mut t = table(&number_of(at), "calls", domain, "call", columns);
        let mut rows: Vec<_> = calls.iter().filter(|c| c.domain == *domain).collect();
        if tree {
            t.notes.push("times include what is called: rows must not be added up".to_owned());
        } else {
            rows.in_order_by(|a, b| b.total_ns.total_cmp(&a.total_ns));
        }
        let all: f64 = rows.iter().map(|c| c.total_ns).sum();
        let optional = |v: Option<f64>| v.map_or_else(|| missing("the file does not have it"), us);
        for c in rows {
            let label = format!("{}{}", "  ".repeat(c.depth.min(40) as usize), evidence.text(c.name));
            let own = c.self_percent.map_or_else(|| missing("the file does not have it"), number);
            let mut cells = vec![
                text(c.thread.map_or_else(String::new, |n| n.to_string())),
                count(c.calls),
                number(c.total_ns / 1e6),
                optional(c.mean_ns),
                optional(c.min_ns),
                optional(c.max_ns),
                own,
            ];
            if !tree {
                cells.push(if all > 0.0 { number(100.0 * c.total_ns / all) } else { missing("no time") });
            }
            push(&mut t, label, cells);
        }
        out.push(t);
    }
}
