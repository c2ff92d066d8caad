//! Several ranks of one run.

use super::Input;
use crate::tables::rows::{count, missing, ms, number, percent, push, table, text, us};
use ::trace::Format;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use timeline::TimelineEvidence;
use timeline::collectives::match_ranks;
use view::ColumnKind::{Number, Percent, Text};
use view::{Note, NoteKind, Table};

/// Why traces may be no ranks of one run, although they were given as such.
pub(super) fn doubts(inputs: &[Input<'_>]) -> Vec<Note> {
    let mut doubts = Vec::new();
    let gpu = |it: &Input<'_>| {
        let device = it.timeline.devices.first()?;
        [&device.target, &device.name].into_iter().find(|text| !text.is_empty()).cloned()
    };
    let gpus: BTreeSet<String> = inputs.iter().filter_map(gpu).collect();
    if gpus.len() > 1 {
        let listed: Vec<&str> = gpus.iter().map(String::as_str).collect();
        doubts.push(format!("the traces are of different GPUs ({})", listed.join(", ")));
    }
    let mut ranks: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
    for (rank, world) in inputs.iter().filter_map(|it| it.timeline.rank) {
        let seen = ranks.entry(rank).or_default();
        *seen = (seen.0 + 1, world);
    }
    if let Some((rank, (count, world))) = ranks.iter().find(|(_, (count, _))| *count > 1) {
        let of_all = if *world > 0 { format!(" of {world}") } else { String::new() };
        doubts.push(format!("{count} traces are rank {rank}{of_all}"));
    }
    let ranges: Vec<(i64, i64)> = inputs
        .iter()
        .filter(|it| is_of_boot(it.timeline.format))
        .filter_map(|it| it.timeline.range())
        .collect();
    let (begin, end) = (ranges.iter().map(|it| it.0).max(), ranges.iter().map(|it| it.1).min());
    if ranges.len() > 1 && begin > end {
        doubts.push("the traces are not of the same time".to_owned());
    }
    let remedy = if inputs.len() == 2 { "; `--base` compares two" } else { "" };
    let text = |why: String| {
        format!("{why}: they are read as ranks of one run and may be runs of their own{remedy}")
    };
    doubts.into_iter().map(|why| Note { kind: NoteKind::Warning, text: text(why) }).collect()
}

/// True if a tool's times count from the machine's start, so that ranks of one machine overlap.
fn is_of_boot(format: Format) -> bool {
    matches!(
        format,
        Format::Rocprofv3Csv
            | Format::Rocprofv3Json
            | Format::Rocpd
            | Format::Rocprofv1Csv
            | Format::Rocprofv2Csv
            | Format::Rocprofv1Json
            | Format::Rocprofv1Database
    )
}

/// Span and busy time of each rank.
fn side_by_side(ranks: &[TimelineEvidence<'_>], names: &[&str]) -> Table {
    let columns = [
        ("rank", Text, ""),
        ("span", Number, "ms"),
        ("computing", Number, "ms"),
        ("communicating", Number, "ms"),
        ("exposed", Number, "ms"),
        ("overlapped", Number, "%"),
        ("idle", Number, "ms"),
        ("busy", Percent, "%"),
    ];
    let mut t = table("9.1", "ranks", "Ranks", "trace", &columns);
    for (it, name) in ranks.iter().zip(names) {
        let o = &it.total;
        let rank = it.timeline.rank.map_or_else(String::new, |(rank, _)| rank.to_string());
        let overlapped = o.communicating - o.exposed_communication;
        let cells = vec![
            text(rank),
            ms(o.span),
            ms(o.computing),
            ms(o.communicating),
            ms(o.exposed_communication),
            percent(overlapped, o.communicating),
            ms(o.idle()),
            percent(o.busy, o.span),
        ];
        push(&mut t, *name, cells);
    }
    t
}

/// Tables over ranks, and kernels over all of them.
pub(super) fn tables(ranks: &[TimelineEvidence<'_>], names: &[&str], top: usize) -> Vec<Table> {
    let mut out = Vec::new();
    sums(&mut out, ranks, names);
    if ranks.iter().all(|it| it.timeline.gpu.is_empty() && it.timeline.host.is_empty()) {
        out.iter_mut().for_each(|t| crate::tables::rows::cut(t, top));
        return out;
    }
    out.push(side_by_side(ranks, names));
    let timelines: Vec<_> = ranks.iter().map(|it| it.timeline).collect();
    let matched = match_ranks(&timelines);
    let columns = [
        ("collectives", Number, ""),
        ("time", Number, "ms"),
        ("waiting", Number, "ms"),
        ("came last", Number, ""),
        ("clock", Number, "us"),
        ("waiting", Percent, "%"),
    ];
    let mut t = table("9.2", "ranks", "Who waits for whom", "trace", &columns);
    for (it, skew) in matched.ranks.iter().zip(&matched.skew) {
        if it.matched == 0 {
            continue;
        }
        let cells = vec![
            count(it.matched),
            ms(it.communicating),
            ms(it.waiting),
            count(it.last),
            skew.map_or_else(|| missing("no collective was matched"), |ns| us(ns as f64)),
            percent(it.waiting, it.communicating),
        ];
        push(&mut t, names[it.timeline], cells);
    }
    t.notes.push(
        "ranks leave a collective together, so the one that spends least time in it came last; `clock` is the median \
         difference of ends to the first trace"
            .to_owned(),
    );
    if matched.unmatched > 0 {
        t.notes.push(format!(
            "{} collectives are not in all traces equally often and are not matched",
            matched.unmatched
        ));
    }
    out.push(t);
    let of_kernels = |it: &TimelineEvidence<'_>| -> Vec<(::trace::Name, u64, i64)> {
        it.kernels.iter().map(|k| (k.name, k.durations.count, k.durations.total)).collect()
    };
    out.push(apart(ranks, names, ("9.3", "Kernels over all ranks", "kernel"), &of_kernels));
    let of_ranges = |it: &TimelineEvidence<'_>| -> Vec<(::trace::Name, u64, i64)> {
        it.named.iter().map(|range| (range.name, range.calls, range.own)).collect()
    };
    let mut t = apart(ranks, names, ("9.4", "Named ranges over all ranks", "range"), &of_ranges);
    t.notes.push("time of kernels launched in a range and in no inner one, without communication".to_owned());
    out.push(t);
    out.iter_mut().for_each(|t| crate::tables::rows::cut(t, top));
    out
}

/// Sums of calls over all ranks, a table for each domain.
fn sums(out: &mut Vec<Table>, ranks: &[TimelineEvidence<'_>], names: &[&str]) {
    let domains: BTreeSet<&str> =
        ranks.iter().flat_map(|it| &it.timeline.calls).map(|it| it.domain.as_str()).collect();
    for (at, domain) in domains.into_iter().enumerate() {
        let rows = |it: &TimelineEvidence<'_>| -> Vec<(::trace::Name, u64, i64)> {
            let calls = it.timeline.calls.iter().filter(|it| it.domain == domain);
            calls.map(|it| (it.name, it.calls, it.total_ns as i64)).collect()
        };
        let title = format!("Sums over all ranks: {domain}");
        let mut t = apart(ranks, names, (&format!("9.5.{at}"), &title, "call"), &rows);
        if ranks.iter().any(|it| it.timeline.calls.iter().any(|it| it.depth > 0)) {
            t.notes.push("times include what is called: rows must not be added up".to_owned());
        }
        out.push(t);
    }
}

/// Names with their calls and times, ns.
type Rows<'a> = &'a dyn Fn(&TimelineEvidence<'_>) -> Vec<(::trace::Name, u64, i64)>;

/// Kernels or ranges over all ranks: who takes longest.
fn apart(
    ranks: &[TimelineEvidence<'_>],
    names: &[&str],
    (id, title, what): (&str, &str, &str),
    rows: Rows<'_>,
) -> Table {
    let columns = [
        ("calls", Number, ""),
        ("total", Number, "ms"),
        ("least of a rank", Number, "ms"),
        ("most of a rank", Number, "ms"),
        ("most in", Text, ""),
        ("apart", Number, "%"),
    ];
    let mut t = table(id, "ranks", title, what, &columns);
    let mut sums: std::collections::HashMap<&str, (u64, Vec<i64>)> = Default::default();
    for (at, it) in ranks.iter().enumerate() {
        for (name, calls, ns) in rows(it) {
            let sum = sums.entry(it.text(name)).or_insert_with(|| (0, vec![0; ranks.len()]));
            sum.0 += calls;
            sum.1[at] += ns;
        }
    }
    let mut all: Vec<_> = sums.into_iter().collect();
    all.in_order_by_key(|(name, (_, times))| (std::cmp::Reverse(times.iter().sum::<i64>()), *name));
    for (name, (calls, times)) in all {
        let (least, most) = (times.iter().min().copied(), times.iter().max().copied());
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
        // Ranges of the host alone.
        if most == 0 {
            continue;
        }
        let slowest = times.iter().position(|ns| *ns == most).and_then(|at| names.get(at));
        let apart = match least {
            0 => missing("a rank does not run it"),
            least => number(100.0 * (most - least) as f64 / least as f64),
        };
        let cells = vec![
            count(calls),
            ms(times.iter().sum()),
            ms(least),
            ms(most),
            text(slowest.copied().unwrap_or_default()),
            apart,
        ];
        push(&mut t, name, cells);
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::trace::{Device, Timeline};

    #[test]
    fn traces_that_are_no_ranks_are_doubted() {
        let made = |target: &str, rank: Option<(u64, u64)>| {
            let mut timeline = Timeline::new(Format::Kineto);
            timeline.devices.push(Device { target: target.to_owned(), ..Device::default() });
            timeline.rank = rank;
            timeline
        };
        for (timelines, doubt) in [
            ([made("gfx942", Some((0, 8))), made("gfx942", Some((1, 8)))], None),
            ([made("gfx942", None), made("", None)], None),
            ([made("gfx942", None), made("gfx90a", None)], Some("different GPUs (gfx90a, gfx942)")),
            ([made("gfx942", Some((0, 1))), made("gfx942", Some((0, 1)))], Some("2 traces are rank 0 of 1")),
            ([made("gfx942", Some((1, 0))), made("gfx942", Some((1, 0)))], Some("2 traces are rank 1:")),
        ] {
            let input = |timeline| Input { name: String::new(), path: String::new(), timeline };
            let found = doubts(&timelines.each_ref().map(input));
            assert_eq!(found.len(), usize::from(doubt.is_some()), "{doubt:?}");
            for (note, doubt) in found.iter().zip(doubt) {
                assert!(note.text.contains(doubt) && note.text.contains("`--base`"), "{}", note.text);
            }
        }
    }
}
