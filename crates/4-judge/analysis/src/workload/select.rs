//! Selection of dispatches: by kernel, by dispatch ID, by GPU.
//!
//! Every part of a selection must match something; if it does not, the error lists the choices.

use metrics::kernels;
use regex::Regex;
use sorting::Sort;
use std::collections::BTreeSet;
use view::{UsageError, Wanted};
use workload::{Workload, plain_kernel_name};

pub(crate) fn wrong(message: impl Into<String>, hint: impl Into<String>) -> UsageError {
    UsageError { message: message.into(), hint: hint.into() }
}

/// A regular expression for names of kernels. An error is reported in one line.
pub fn kernel_pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        // The message of the regex crate draws the pattern above the reason; only the reason fits in one
        // line.
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
    })
}

/// Values named in a hint before the rest is only counted.
const NAMED: usize = 8;

/// Some of many values, for a hint.
pub(crate) fn some_of<T: ToString>(values: &[T], word: &str) -> String {
    let named: Vec<String> = values.iter().take(NAMED).map(ToString::to_string).collect();
    let rest = match values.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{word} are {}{rest}", named.join(", "))
}

/// A filter on kernels, resolved on the recording it was written for.
#[derive(Debug)]
pub struct KernelFilter {
    names: BTreeSet<String>,
    patterns: Vec<Regex>,
    named: Vec<String>,
}

impl KernelFilter {
    /// Resolves indexes, names and expressions. `None` if every kernel is selected.
    pub fn new(w: &Workload, wanted: &[String]) -> Result<Option<Self>, UsageError> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let all: Vec<u32> = (0..w.dispatches.len() as u32).collect();
        let ranked: Vec<&str> =
            kernels(w, &all).iter().map(|k| plain_kernel_name(&w.kernels[k.kernel as usize])).collect();
        let mut filter = KernelFilter {
            names: BTreeSet::new(),
            patterns: Vec::new(),
            named: Vec::with_capacity(wanted.len()),
        };
        for text in wanted {
            if let Ok(index) = text.trim().parse::<usize>() {
                let name = ranked.get(index).ok_or_else(|| {
                    let last = ranked.len().saturating_sub(1);
                    wrong(
                        format!("there is no kernel {index}"),
                        format!("kernels are 0 to {last}; `rockhound analyze --list-kernels` lists them"),
                    )
                })?;
                filter.names.insert((*name).to_string());
                filter.named.push((*name).to_string());
                continue;
            }
            filter.named.push(text.clone());
            let exact = plain_kernel_name(text);
            if ranked.contains(&exact) {
                filter.names.insert(exact.to_string());
                continue;
            }
            let pattern = kernel_pattern(text).map_err(|error| {
                wrong(
                    format!("`{text}` is no kernel and no regular expression: {error}"),
                    some_of(&ranked, "kernels"),
                )
            })?;
            if !ranked.iter().any(|name| pattern.is_match(name)) {
                return Err(wrong(format!("no kernel matches `{text}`"), some_of(&ranked, "kernels")));
            }
            filter.patterns.push(pattern);
        }
        Ok(Some(filter))
    }

    /// The request it was made from, with names instead of indexes, since indexes differ between recordings.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// Also admits a kernel.
    pub fn admit(&mut self, name: &str) {
        self.names.insert(name.to_string());
    }

    /// Whether a kernel is selected.
    pub fn admits(&self, name: &str) -> bool {
        let name = plain_kernel_name(name);
        self.names.contains(name) || self.patterns.iter().any(|p| p.is_match(name))
    }
}

/// A range of IDs, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ids {
    first: u64,
    last: u64,
}

fn ids(text: &str) -> Result<Ids, UsageError> {
    let bad =
        || wrong(format!("`{text}` names no dispatches"), "give IDs such as `3`, `1-5`, `>10` or `<=4`");
    let number = |t: &str| t.trim().parse::<u64>().map_err(|_| bad());
    let t = text.trim();
    for (sign, make) in [
        (">=", (|n| Some((n, u64::MAX))) as fn(u64) -> Option<(u64, u64)>),
        ("<=", |n| Some((0, n))),
        (">", |n| Some((n.checked_add(1)?, u64::MAX))),
        ("<", |n| Some((0, n.checked_sub(1)?))),
    ] {
        if let Some(rest) = t.strip_prefix(sign) {
            let (first, last) = make(number(rest)?).ok_or_else(bad)?;
            return Ok(Ids { first, last });
        }
    }
    match t.split_once('-') {
        Some((a, b)) => {
            let (first, last) = (number(a)?, number(b)?);
            if first <= last { Ok(Ids { first, last }) } else { Err(bad()) }
        }
        None => number(t).map(|n| Ids { first: n, last: n }),
    }
}

/// Dispatch IDs as written on a command line, as first and last of ranges.
pub fn dispatch_ranges(wanted: &[String]) -> Result<Vec<(u64, u64)>, UsageError> {
    let parts = wanted.iter().flat_map(|text| text.split(',')).filter(|part| !part.trim().is_empty());
    parts.map(|part| ids(part).map(|range| (range.first, range.last))).collect()
}

/// Ranges of launches to select of each kernel, first and last, counted from 1: `3`, `2-5`, `>10`, `[2-5]`.
pub fn iteration_ranges(wanted: &[String]) -> Result<Vec<(u64, u64)>, UsageError> {
    let bare: Vec<String> = wanted.iter().map(|text| text.replace(['[', ']'], "")).collect();
    let ranges = dispatch_ranges(&bare).ok().filter(|ranges| ranges.iter().all(|range| range.1 > 0));
    let from_one = |ranges: Vec<(u64, u64)>| ranges.into_iter().map(|it| (it.0.max(1), it.1)).collect();
    ranges.map(from_one).ok_or_else(|| {
        wrong(
            format!("`{}` names no iterations", list(wanted)),
            "give numbers from 1 on, such as `3`, `1-5` or `>10`",
        )
    })
}

/// The selected dispatches as rows, and the selection in words.
pub fn select(
    w: &Workload,
    filter: Option<&KernelFilter>,
    wanted: &Wanted,
) -> Result<(Vec<u32>, String), UsageError> {
    let d = &w.dispatches;
    let mut words = Vec::new();
    let mut rows: Vec<u32> = (0..d.len() as u32).collect();
    if !wanted.gpus.is_empty() {
        let mut there = d.gpu.clone();
        there.in_order();
        there.dedup();
        if let Some(gpu) = wanted.gpus.iter().find(|g| !there.contains(g)) {
            return Err(wrong(
                format!("no dispatch ran on GPU {gpu}"),
                some_of(&there, "GPUs of the recording"),
            ));
        }
        rows.retain(|r| wanted.gpus.contains(&d.gpu[*r as usize]));
        words.push(format!("GPU {}", list(&wanted.gpus)));
    }
    if let Some(filter) = filter {
        let admitted: Vec<bool> = w.kernels.iter().map(|k| filter.admits(k)).collect();
        rows.retain(|r| admitted[d.kernel[*r as usize] as usize]);
        words.push(format!("kernel {}", list(&wanted.kernels)));
    }
    if !wanted.iterations.is_empty() {
        keep_iterations(w, &mut rows, &wanted.iterations)?;
        words.push(format!("iteration {} of each kernel", list(&wanted.iterations)));
    }
    if !wanted.dispatches.is_empty() {
        let mut ranges = Vec::new();
        for part in wanted.dispatches.iter().flat_map(|t| t.split(',')).filter(|t| !t.trim().is_empty()) {
            let range = ids(part)?;
            if !rows.iter().any(|r| range.holds(d.id[*r as usize])) {
                return Err(wrong(format!("no dispatch is `{}`", part.trim()), known_ids(w, &rows)));
            }
            ranges.push(range);
        }
        rows.retain(|r| ranges.iter().any(|range| range.holds(d.id[*r as usize])));
        words.push(format!("dispatch {}", list(&wanted.dispatches)));
    }
    Ok((rows, words.join(", ")))
}

/// Keeps the launches of each kernel that were requested, counted from 1 in the order recorded.
fn keep_iterations(w: &Workload, rows: &mut Vec<u32>, wanted: &[String]) -> Result<(), UsageError> {
    let ranges = iteration_ranges(wanted)?;
    let mut launches = vec![0u64; w.kernels.len()];
    let number = |row: usize, launches: &mut [u64]| {
        let launches = launches.get_mut(*w.dispatches.kernel.get(row)? as usize)?;
        *launches += 1;
        Some(*launches)
    };
    let numbers: Vec<Option<u64>> = (0..w.dispatches.len()).map(|row| number(row, &mut launches)).collect();
    let most = launches.iter().copied().max().unwrap_or(0);
    let holds = |number: u64| ranges.iter().any(|(first, last)| (*first..=*last).contains(&number));
    rows.retain(|row| numbers.get(*row as usize).copied().flatten().is_some_and(holds));
    if rows.is_empty() {
        return Err(wrong(
            format!("no kernel has an iteration {}", list(wanted)),
            format!("the kernel launched most often has {most}"),
        ));
    }
    Ok(())
}

impl Ids {
    fn holds(self, id: u64) -> bool {
        (self.first..=self.last).contains(&id)
    }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn known_ids(w: &Workload, rows: &[u32]) -> String {
    let ids = rows.iter().map(|r| w.dispatches.id[*r as usize]);
    match (ids.clone().min(), ids.max()) {
        (Some(a), Some(b)) => {
            format!(
                "IDs of the selected kernels are {a} to {b}; `rockhound analyze --list-dispatches` lists them"
            )
        }
        _ => "no dispatch is left by the other filters".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn recording() -> Workload {
        let csv = "Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n\
            10,2,\"copy(float*) [clone .kd]\",0,10,1\n11,2,scale,20,60,1\n12,3,\"copy(float*) [clone .kd]\",70,80,1\n15,2,fill<int>,80,81,1\n";
        let folder = BTreeMap::from([("pmc_perf.csv".to_string(), csv.as_bytes().to_vec())]);
        workload::read(&folder, &workload::Options::default()).unwrap()
    }

    /// IDs selected, or the message and hint.
    fn chosen(kernels: &[&str], dispatches: &[&str], gpus: &[u32]) -> Result<Vec<u64>, String> {
        let w = recording();
        let own = |list: &[&str]| list.iter().map(|t| (*t).to_string()).collect::<Vec<_>>();
        let wanted = Wanted {
            kernels: own(kernels),
            dispatches: own(dispatches),
            gpus: gpus.to_vec(),
            ..Wanted::default()
        };
        let text = |e: UsageError| format!("{}; {}", e.message, e.hint);
        let filter = KernelFilter::new(&w, &wanted.kernels).map_err(text)?;
        let (rows, _) = select(&w, filter.as_ref(), &wanted).map_err(text)?;
        Ok(rows.iter().map(|r| w.dispatches.id[*r as usize]).collect())
    }

    #[test]
    fn selections() {
        type Case = (&'static [&'static str], &'static [&'static str], &'static [u32], &'static [u64]);
        let cases: [Case; 14] = [
            (&[], &[], &[], &[10, 11, 12, 15]),
            // By time: scale 40, copy 20, fill 1.
            (&["0"], &[], &[], &[11]),
            (&["copy(float*)"], &[], &[], &[10, 12]),
            (&["copy(float*) [clone .kd]"], &[], &[], &[10, 12]),
            (&["^fill"], &[], &[], &[15]),
            (&["2", "scale"], &[], &[], &[11, 15]),
            (&[], &["11"], &[], &[11]),
            (&[], &["11-14", "15"], &[], &[11, 12, 15]),
            (&[], &["10,15"], &[], &[10, 15]),
            (&[], &["> 11"], &[], &[12, 15]),
            (&[], &["<=11"], &[], &[10, 11]),
            (&[], &["<11"], &[], &[10]),
            (&[], &[], &[3], &[12]),
            (&["copy"], &[">=11"], &[], &[12]),
        ];
        for (k, d, g, want) in cases {
            assert_eq!(chosen(k, d, g).as_deref(), Ok(want), "{k:?} {d:?} {g:?}");
        }
    }

    #[test]
    fn iterations_are_counted_for_each_kernel() {
        let w = recording();
        let chosen = |text: &str| {
            let wanted = Wanted { iterations: vec![text.to_string()], ..Wanted::default() };
            let (rows, words) =
                select(&w, None, &wanted).map_err(|e| format!("{}; {}", e.message, e.hint))?;
            let ids: Vec<u64> = rows.iter().map(|r| w.dispatches.id[*r as usize]).collect();
            Ok::<_, String>((ids, words))
        };
        let words = |text: &str| format!("iteration {text} of each kernel");
        // `copy` is launched twice, the others once.
        assert_eq!(chosen("1"), Ok((vec![10, 11, 15], words("1"))));
        assert_eq!(chosen("[2-3]"), Ok((vec![12], words("[2-3]"))));
        assert_eq!(chosen(">=1"), Ok((vec![10, 11, 12, 15], words(">=1"))));
        for text in ["3", "x"] {
            testkit::golden(&format!("iteration {text}"), &chosen(text).unwrap_err());
        }
    }

    #[test]
    fn what_selects_nothing_is_answered_with_what_there_is() {
        type Case = (&'static [&'static str], &'static [&'static str], &'static [u32]);
        let cases: [Case; 8] = [
            (&["7"], &[], &[]),
            (&["gemm"], &[], &[]),
            (&["cop(y"], &[], &[]),
            (&[], &["9"], &[]),
            (&["scale"], &["12"], &[]),
            (&[], &["x"], &[]),
            (&[], &["5-1"], &[]),
            (&[], &[], &[0]),
        ];
        for (k, d, g) in cases {
            testkit::golden(&format!("kernel {k:?} dispatch {d:?} GPU {g:?}"), &chosen(k, d, g).unwrap_err());
        }
    }
}
