//! Differences between two builds of the same kernels.
//!
//! A metric is one row of [`METRICS`]: its key, its label, its direction, and the function that reads it off
//! a card. Thresholds, text and JSON all use these rows.

mod balance;
mod loops;
mod work;

use sorting::Sort;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use view::{
    Change, ChangeTotal, Comparison, Finding, KernelCard, KernelComparison, KernelName, Mix, Severity,
    Verdict,
};

use work::Work;

/// Direction in which a metric improves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Less is better, where the difference is clear.
    ClearlyLess,
    /// More is better, if the difference is clear.
    ClearlyMore,
    /// Less is better if it lets more waves run.
    ForWaves,
    /// It depends.
    Neither,
}

/// One value compared.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Key in JSON and in threshold files.
    pub key: &'static str,
    /// Words for a reader.
    pub label: &'static str,
    /// Unit; empty for counts.
    pub unit: &'static str,
    /// Direction of improvement.
    pub better: Better,
    value: fn(&KernelCard) -> Option<f64>,
}

const fn row(
    key: &'static str,
    label: &'static str,
    unit: &'static str,
    better: Better,
    value: fn(&KernelCard) -> Option<f64>,
) -> Metric {
    Metric { key, label, unit, better, value }
}

fn findings(card: &KernelCard, severity: Severity) -> Option<f64> {
    Some(card.findings.iter().filter(|finding| finding.severity == severity).count() as f64)
}

/// Every metric with a fixed key. Widths (`loads.16`) and rules (`findings.RES001`) are added to these.
pub const METRICS: &[Metric] = &[
    row("occupancy", "waves per SIMD", "", Better::More, |c| c.occupancy.as_ref().map(|o| o.waves_per_simd)),
    row("vgprs", "VGPRs", "", Better::ForWaves, |c| c.resources.vgprs.map(f64::from)),
    row("agprs", "AGPRs", "", Better::ForWaves, |c| c.resources.agprs.map(f64::from)),
    row("vgprs_allocated", "VGPRs allocated", "", Better::ForWaves, |c| {
        c.resources.vgprs_allocated.map(f64::from)
    }),
    row("sgprs", "SGPRs", "", Better::ForWaves, |c| c.resources.sgprs.map(f64::from)),
    row("vgpr_spills", "VGPR spills", "", Better::Less, |c| c.resources.vgpr_spills.map(f64::from)),
    row("sgpr_spills", "SGPR spills", "", Better::Less, |c| c.resources.sgpr_spills.map(f64::from)),
    row("scratch_bytes", "scratch per lane", "bytes", Better::Less, |c| {
        c.resources.scratch_bytes.map(f64::from)
    }),
    row("lds_bytes", "LDS", "bytes", Better::ForWaves, |c| c.resources.lds_bytes.map(f64::from)),
    row("launch_lds_bytes", "LDS at launch", "bytes", Better::ForWaves, |c| {
        c.resources.launch_lds_bytes.map(f64::from)
    }),
    row("max_workgroup", "largest workgroup", "", Better::Neither, |c| {
        c.resources.max_workgroup.map(f64::from)
    }),
    row("kernarg_bytes", "kernel arguments", "bytes", Better::Neither, |c| {
        c.resources.kernarg_bytes.map(f64::from)
    }),
    row("live_vgprs", "live VGPRs at the peak", "", Better::ForWaves, |c| {
        c.pressure.as_ref().map(|p| f64::from(p.live_vgprs))
    }),
    row("live_agprs", "live AGPRs at the peak", "", Better::ForWaves, |c| {
        c.pressure.as_ref().map(|p| f64::from(p.live_agprs))
    }),
    row("instructions", "instructions", "", Better::Neither, |c| c.instructions.map(f64::from)),
    row("code_bytes", "code", "bytes", Better::Neither, |c| c.code_bytes.map(|bytes| bytes as f64)),
    row("work_per_byte", "instructions executed per byte moved", "", Better::ClearlyLess, |c| {
        Work::of(c)?.per_byte()
    }),
    row("work_per_mfma", "instructions executed per matrix instruction", "", Better::ClearlyLess, |c| {
        Work::of(c)?.per_matrix()
    }),
    row("load_width", "width of loads executed", "bytes per lane", Better::ClearlyMore, |c| {
        Work::of(c)?.loads.width()
    }),
    row("store_width", "width of stores executed", "bytes per lane", Better::ClearlyMore, |c| {
        Work::of(c)?.stores.width()
    }),
    row("lds_width", "width of LDS accesses executed", "bytes per lane", Better::ClearlyMore, |c| {
        Work::of(c)?.lds.width()
    }),
    row("loops", "loops", "", Better::Neither, |c| Some(c.loops.len() as f64)),
    row("findings.severe", "severe findings", "", Better::Less, |c| findings(c, Severity::Severe)),
    row("findings.warning", "warnings", "", Better::Less, |c| findings(c, Severity::Warning)),
    row("findings.info", "notes", "", Better::Neither, |c| findings(c, Severity::Info)),
];

/// One value of one card.
struct Value {
    key: String,
    label: String,
    unit: &'static str,
    better: Better,
    number: Option<f64>,
}

impl Value {
    /// A number of things; its absence on the other side means none.
    fn count(key: String, label: String, better: Better, count: u32) -> Self {
        Value { key, label, unit: "", better, number: Some(f64::from(count)) }
    }
}

/// All values of a card, in the order they are shown.
fn values(card: &KernelCard) -> Vec<Value> {
    let mut values: Vec<Value> = METRICS
        .iter()
        .map(|metric| Value {
            key: metric.key.to_owned(),
            label: metric.label.to_owned(),
            unit: metric.unit,
            better: metric.better,
            number: (metric.value)(card),
        })
        .collect();
    for (key, label, count) in card.mix.iter().flat_map(Mix::classes) {
        let label = format!("{label} instructions");
        values.push(Value::count(format!("mix.{key}"), label, Better::Neither, count));
    }
    for (key, words, widths) in [
        ("loads", "loads", &card.load_widths),
        ("stores", "stores", &card.store_widths),
        ("lds", "LDS accesses", &card.lds_widths),
    ] {
        for (bytes, times) in widths {
            let label = format!("{words} of {bytes} bytes");
            values.push(Value::count(format!("{key}.{bytes}"), label, Better::Neither, *times));
        }
    }
    let mut rules: BTreeMap<&str, u32> = BTreeMap::new();
    for finding in &card.findings {
        *rules.entry(finding.rule).or_default() += 1;
    }
    for (rule, times) in rules {
        let label = format!("findings of {rule}");
        values.push(Value::count(format!("findings.{rule}"), label, Better::Less, times));
    }
    values
}

/// Whether a key counts things, so that its absence on one side means none.
fn counts(key: &str) -> bool {
    ["loads.", "stores.", "lds.", "findings."].iter().any(|prefix| key.starts_with(prefix))
}

/// Every value that differs between two cards.
pub fn changes(old: &KernelCard, new: &KernelCard) -> Vec<Change> {
    let cards = (old, new);
    let (old, new) = (values(old), values(new));
    let number_in = |side: &[Value], key: &str| {
        let found = side.iter().find(|value| value.key == key);
        found.map_or_else(|| counts(key).then_some(0.0), |value| value.number)
    };
    let only_new = new.iter().filter(|value| !old.iter().any(|other| other.key == value.key));
    let mut changes: Vec<Change> = old
        .iter()
        .chain(only_new)
        .filter_map(|value| {
            let (old, new) = (number_in(&old, &value.key), number_in(&new, &value.key));
            (old != new).then(|| Change {
                metric: value.key.clone(),
                label: value.label.clone(),
                unit: value.unit.to_owned(),
                old,
                new,
                verdict: verdict(value.better, old, new),
                remark: None,
                breaks: None,
            })
        })
        .collect();
    judge_for_waves(&mut changes);
    judge_nests(&mut changes, cards.0, cards.1);
    changes
}

/// Part of a value from which on a difference is clear.
const CLEAR: f64 = 0.03;

/// Registers and LDS are as good as the waves they leave room for.
fn judge_for_waves(changes: &mut [Change]) {
    let waves = changes.iter().find(|change| change.metric == "occupancy").map(|change| change.verdict);
    for change in changes {
        let row = METRICS.iter().find(|metric| metric.key == change.metric);
        if row.is_none_or(|metric| metric.better != Better::ForWaves) {
            continue;
        }
        let (Some(old), Some(new)) = (change.old, change.new) else { continue };
        match waves {
            None | Some(Verdict::Neutral) => change.remark = Some("waves unchanged"),
            Some(Verdict::Better) if new < old => change.verdict = Verdict::Better,
            Some(Verdict::Worse) if new > old => change.verdict = Verdict::Worse,
            Some(_) => {}
        }
    }
}

/// Work is not compared where a nest of loops is deeper on one side: how often a loop runs is a guess.
fn judge_nests(changes: &mut [Change], old: &KernelCard, new: &KernelCard) {
    let depth = |card: &KernelCard| card.loops.iter().map(|it| it.depth).max();
    if depth(old) == depth(new) {
        return;
    }
    for change in changes.iter_mut().filter(|change| change.metric.starts_with("work_per_")) {
        change.verdict = Verdict::Neutral;
        change.remark = Some("loops nest otherwise");
    }
}

fn verdict(better: Better, old: Option<f64>, new: Option<f64>) -> Verdict {
    let (Some(old), Some(new)) = (old, new) else { return Verdict::Neutral };
    match better {
        Better::Neither | Better::ForWaves => Verdict::Neutral,
        Better::ClearlyLess | Better::ClearlyMore if (new - old).abs() < CLEAR * old.abs() => {
            Verdict::Neutral
        }
        Better::ClearlyLess if new < old => Verdict::Better,
        Better::ClearlyMore if new > old => Verdict::Better,
        Better::Less if new < old => Verdict::Better,
        Better::More if new > old => Verdict::Better,
        Better::Less | Better::More | Better::ClearlyLess | Better::ClearlyMore => Verdict::Worse,
    }
}

/// Findings only `one` has. Findings of one rule cancel out one by one, equal sentences first, so a changed
/// number in a sentence does not make a finding new.
fn only_in<'a>(one: &'a [Finding], other: &[Finding]) -> Vec<&'a Finding> {
    let mut free: Vec<&Finding> = other.iter().collect();
    let mut left: Vec<&Finding> = Vec::new();
    for finding in one {
        match free.iter().position(|f| {
            f.rule == finding.rule && f.severity == finding.severity && f.message == finding.message
        }) {
            Some(at) => drop(free.swap_remove(at)),
            None => left.push(finding),
        }
    }
    left.retain(|finding| {
        match free.iter().position(|f| f.rule == finding.rule && f.severity == finding.severity) {
            Some(at) => {
                free.swap_remove(at);
                false
            }
            None => true,
        }
    });
    left
}

fn name(card: &KernelCard) -> KernelName {
    KernelName { name: card.name.clone(), demangled: card.demangled.clone(), target: card.target.clone() }
}

/// Compares two cards; `None` when nothing differs.
pub fn compare_kernels(old: &KernelCard, new: &KernelCard) -> Option<KernelComparison> {
    let changes = changes(old, new);
    let appeared: Vec<Finding> = only_in(&new.findings, &old.findings).into_iter().cloned().collect();
    let gone: Vec<Finding> = only_in(&old.findings, &new.findings).into_iter().cloned().collect();
    let loops = loops::compare(old, new);
    if changes.is_empty() && loops.is_empty() && appeared.is_empty() && gone.is_empty() {
        return None;
    }
    let balance = balance::of(&changes);
    Some(KernelComparison { old: name(old), new: name(new), balance, changes, loops, appeared, gone })
}

/// Sort key of a change: new findings by severity, then waves lost, then values that got worse.
fn weight(kernel: &KernelComparison) -> ([usize; 3], bool, usize) {
    let appeared =
        Severity::ALL.map(|severity| kernel.appeared.iter().filter(|f| f.severity == severity).count());
    let worse = |change: &&Change| change.verdict == Verdict::Worse;
    let waves = kernel.changes.iter().filter(worse).any(|change| change.metric == "occupancy");
    (appeared, waves, kernel.changes.iter().filter(worse).count())
}

/// Number of kernels in which each value differs, the fixed metrics first.
fn totals(changed: &[KernelComparison]) -> Vec<ChangeTotal> {
    let mut totals: Vec<ChangeTotal> = Vec::new();
    for change in changed.iter().flat_map(|kernel| &kernel.changes) {
        let at = totals.iter().position(|total| total.metric == change.metric).unwrap_or_else(|| {
            let (metric, label) = (change.metric.clone(), change.label.clone());
            totals.push(ChangeTotal { metric, label, better: 0, worse: 0, different: 0 });
            totals.len() - 1
        });
        let total = &mut totals[at];
        match change.verdict {
            Verdict::Better => total.better += 1,
            Verdict::Worse => total.worse += 1,
            Verdict::Neutral => total.different += 1,
        }
    }
    let rank = |key: &str| METRICS.iter().position(|metric| metric.key == key).unwrap_or(METRICS.len());
    totals.in_order_by_key(|total| rank(&total.metric));
    totals
}

/// Compares two builds. `renamed` pairs names (linker or demangled) of the old build with names of the new.
///
/// Kernels are matched by linker name and processor, or by name alone when the builds have no processor in
/// common. A name that occurs several times is matched in order.
pub fn compare(old: &[KernelCard], new: &[KernelCard], renamed: &[(String, String)]) -> Comparison {
    let by_name_alone = !old.iter().any(|card| new.iter().any(|other| other.processor() == card.processor()));
    let key = |card: &KernelCard, name: &str| {
        let processor = if by_name_alone { String::new() } else { card.processor().to_owned() };
        (name.to_owned(), processor)
    };
    let mut free: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (index, card) in new.iter().enumerate().rev() {
        free.entry(key(card, &card.name)).or_default().push(index);
    }
    let mut matched = vec![false; new.len()];
    let mut changed = Vec::new();
    let mut removed = Vec::new();
    let mut unchanged = 0;
    for card in old {
        let wanted = renamed
            .iter()
            .find(|(from, _)| *from == card.name || *from == card.demangled)
            .and_then(|(_, to)| new.iter().find(|other| other.name == *to || other.demangled == *to))
            .map_or(card.name.as_str(), |other| other.name.as_str());
        match free.get_mut(&key(card, wanted)).and_then(Vec::pop) {
            None => removed.push(name(card)),
            Some(index) => {
                matched[index] = true;
                match compare_kernels(card, &new[index]) {
                    Some(comparison) => changed.push(comparison),
                    None => unchanged += 1,
                }
            }
        }
    }
    let added =
        new.iter().zip(&matched).filter(|(_, matched)| !**matched).map(|(card, _)| name(card)).collect();
    changed.in_order_by_key(|kernel| Reverse(weight(kernel)));
    Comparison {
        totals: totals(&changed),
        changed,
        added,
        removed,
        unchanged,
        regressions: 0,
        shown: usize::MAX,
    }
}
