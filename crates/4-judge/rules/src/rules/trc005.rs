//! TRC005: ranks wait for a late one.
//!
//! The rank that spends least time in a collective arrived last.

use crate::traced::{TraceEvidence, lost, ms, percent, short};
use crate::{Check, Outcome, Rule};
use timeline::{Excess, More, TimelineEvidence, excess};
use view::{Missing, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TRC005",
    title: "ranks wait for one that comes late",
    severity: Severity::Warning,
    page: include_str!("trc005.md"),
    checks: &[Check::Trace(check)],
    panels: &[],
};

/// Percent of communication that is waiting, and of collectives in which one rank is last, that are worth a
/// word.
const MUCH: [f64; 2] = [15.0, 50.0];
/// Part of the waiting that is a cause of it, on the GPU and on the host.
const CAUSE: [f64; 2] = [0.1, 0.25];

fn check(run: &TraceEvidence<'_>) -> Outcome {
    let Some(matched) = &run.matched else { return Outcome::NotChecked(Missing::Ranks) };
    let all = matched.ranks.iter().map(|rank| rank.matched).max().unwrap_or(0);
    if all == 0 {
        return Outcome::needs("collectives that all traces have equally often");
    }
    let (time, waiting) =
        matched.ranks.iter().fold((0, 0), |sum, rank| (sum.0 + rank.communicating, sum.1 + rank.waiting));
    let Some(late) = matched.ranks.iter().max_by_key(|rank| rank.last) else { return Outcome::Silent };
    let (share, last) = (percent(waiting, time), 100.0 * late.last as f64 / all as f64);
    if share < MUCH[0] || last < MUCH[1] {
        return Outcome::Silent;
    }
    let name = run.names.get(late.timeline).map_or("", String::as_str);
    let most = matched.ranks.iter().map(|rank| rank.waiting).max().unwrap_or(0);
    let (Some(first), Some(rank)) = (run.ranks.first(), run.ranks.get(late.timeline)) else {
        return Outcome::Silent;
    };
    let others: Vec<&TimelineEvidence<'_>> =
        run.ranks.iter().enumerate().filter(|(at, _)| *at != late.timeline).map(|(_, it)| it).collect();
    let more = excess(rank, &others);
    let cause = cause(&more, rank, most);
    if cause.is_none()
        && let Some(reason) = profiler(rank, &others, most)
    {
        return Outcome::needs(format!("{reason}: {name} comes last in {} of {all} collectives", late.last));
    }
    let (what, advice, cost) = cause.unwrap_or_else(|| {
        let what = format!("{share:.1} % of the time in them is waiting");
        (what, "find what that rank does before: more work, a slower GPU, or a host that launches late", most)
    });
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!("{} comes last in {} of {all} collectives: {what}", short(name), late.last),
            advice,
        )
        .with_evidence("longest waiting of a rank", ms(most));
    for (list, label) in [
        (&more.ranges, "more in ranges"),
        (&more.kernels, "more in kernels"),
        (&more.products, "more in products"),
    ] {
        let rows: Vec<String> = list
            .iter()
            .take_while(|it| it.ns as f64 >= most as f64 * CAUSE[0] / 2.0)
            .take(3)
            .map(|it| format!("{} {} ({:+} calls)", short(&it.name), ms(it.ns), it.calls))
            .collect();
        if !rows.is_empty() {
            finding = finding.with_evidence(label, rows.join(", "));
        }
    }
    Outcome::Findings(vec![lost(finding, first, cost)])
}

/// Why a rank is late, what to do about it, and the time it costs, ns: work of its GPU, or else of its host.
fn cause(more: &Excess, rank: &TimelineEvidence<'_>, waiting: i64) -> Option<(String, &'static str, i64)> {
    let enough = |ns: i64, part: f64| ns > 0 && ns as f64 >= waiting as f64 * part;
    let kernel = more.kernels.first().filter(|it| enough(it.ns, CAUSE[0]));
    let calls = |it: &More| match it.calls {
        0 => "as often as others".to_owned(),
        n => format!("{n} more calls"),
    };
    let of_kernel = |it: &More| format!("{} more in `{}`, {}", ms(it.ns), short(&it.name), calls(it));
    if let Some(range) = more.ranges.first().filter(|it| enough(it.ns, CAUSE[0])) {
        let only = if range.only_here { ", which no other rank has" } else { "" };
        // A product says more than the kernel that computes it, if it is most of the difference.
        let product = more.products.first().filter(|it| it.calls > 0 && it.ns * 2 >= range.ns);
        let detail = match (product, kernel) {
            (Some(it), _) => format!(": {} more products {}", it.calls, it.name),
            (None, Some(it)) => format!(": {}", of_kernel(it)),
            _ => String::new(),
        };
        let ns = range_time(rank, range);
        let what = format!("it computes {} more in the range `{}`{only}{detail}", ms(ns), short(&range.name));
        let advice = "look at why this rank alone has that work: uneven batches or experts, evaluation or logging on one rank";
        return Some((what, advice, ns.min(waiting)));
    }
    if let Some(it) = kernel {
        let advice = if it.calls == 0 {
            "the same kernels take longer: compare clocks, power and temperature of the GPUs (CTR006), and the sizes of their input"
        } else {
            "look at why this rank alone has that work: uneven batches or experts, evaluation or logging on one rank"
        };
        let cost = more.computing().max(it.ns).min(waiting);
        return Some((format!("it computes {}", of_kernel(it)), advice, cost));
    }
    let host = more.host.first().filter(|it| enough(it.ns, CAUSE[1]))?;
    // Every range takes longer where the profiler costs more.
    (host.ns * 2 >= rank.profiler.total()).then(|| {
        let what = format!("its host takes {} longer in the range `{}`", ms(host.ns), short(&host.name));
        let advice = "look at what the host does there: data loading, logging, placement on NUMA nodes";
        (what, advice, host.ns.min(waiting))
    })
}

/// Time of the additional work in a range, ns: where no other rank has the range, all from its first kernel to its last.
fn range_time(rank: &TimelineEvidence<'_>, range: &More) -> i64 {
    let whole = rank.named.iter().find(|it| rank.text(it.name) == range.name && range.only_here);
    whole.map_or(range.ns, |it| it.span.max(range.ns))
}

/// Says that the profiler made a rank late, if it did.
fn profiler(late: &TimelineEvidence<'_>, others: &[&TimelineEvidence<'_>], waiting: i64) -> Option<String> {
    let stacks = |it: &TimelineEvidence<'_>| it.profiler.python.0 > 0;
    if stacks(late) && !others.iter().all(|it| stacks(it)) {
        return Some("ranks traced alike (`with_stack` is on for some and slows their hosts)".to_owned());
    }
    let cost = late.profiler.total();
    (cost * 2 >= waiting && cost > 0).then(|| {
        format!(
            "traces that the profiler slows less (it costs about {}, ranks wait {})",
            ms(cost),
            ms(waiting)
        )
    })
}
