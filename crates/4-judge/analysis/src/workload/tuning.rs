//! The table of an autotuner's runs: time of each configuration, and its excess over the best one.
//!
//! Configurations compute the same result, so a resource or count that exceeds the fastest one's is the
//! reason that counters can give.

use super::overview::{row, table};
use super::subject::Subject;
use sorting::Sort;
use view::{Cell, Column, ColumnKind, Number, Row, Table};
use workload::{LaunchNote, Workload, plain_kernel_name};

/// Reasons given of one configuration.
const MOST_REASONS: usize = 2;
/// Ratio from which an excess is mentioned.
const MORE: f64 = 1.15;
/// Difference of times below which nothing is lost, as a share.
const EQUAL: f64 = 0.01;

/// Counters in which configurations differ.
const COUNTED: [(&str, &str); 8] = [
    ("SQ_INSTS_VALU", "vector instructions"),
    ("SQ_INSTS_MFMA", "matrix instructions"),
    ("SQ_INSTS_LDS", "LDS instructions"),
    ("SQ_LDS_BANK_CONFLICT", "cycles of LDS bank conflicts"),
    ("SQ_INSTS_VMEM", "vector-memory instructions"),
    ("TCP_TOTAL_CACHE_ACCESSES", "look-ups in the vector L1"),
    ("TCC_REQ", "requests to the L2"),
    ("TCC_EA0_RDREQ", "reads from memory"),
];

/// One configuration of a run of the autotuner.
struct Tried<'a> {
    note: &'a LaunchNote,
    /// Row of its first dispatch.
    row: Option<usize>,
    time: Option<f64>,
}

/// Runs of the autotuner, configurations by time; of a recording without any no rows.
pub(crate) fn tuning(subject: &Subject) -> Table {
    let w = &subject.workload;
    let (mut rows, mut reasons): (Vec<Row>, Vec<String>) = Default::default();
    for (at, (kernel, key, mut tried)) in runs(subject).into_iter().enumerate() {
        tried.in_order_by(|a, b| a.time.unwrap_or(f64::MAX).total_cmp(&b.time.unwrap_or(f64::MAX)));
        let blank = vec![Cell::Empty; 6];
        rows.push(row(at.to_string(), &format!("{kernel} ({key})"), blank));
        let best = tried.first().and_then(|it| Some((it.row?, it.time?)));
        let shown = differing(&tried);
        for (number, it) in tried.iter().enumerate() {
            let (id, why) = (format!("{at}.{}", number + 1), against(w, it, best));
            if number > 0 && !why.is_empty() {
                reasons.push(format!("{id}: {why}"));
            }
            rows.push(row(id, &label(it.note, &shown), cells(w, it, best, why)));
        }
    }
    let columns = vec![
        Column::new("time", ColumnKind::Number, "ns"),
        Column::new("of best", ColumnKind::Number, "x"),
        Column::new("VGPR", ColumnKind::Number, ""),
        Column::new("LDS", ColumnKind::Number, "B"),
        Column::new("workgroups", ColumnKind::Number, ""),
        Column::new("against the best", ColumnKind::Text, ""),
    ];
    let mut out = table("0.7", "Top Stats", "Autotuning", "configuration", columns, rows);
    out.notes = reasons;
    if !out.rows.is_empty() {
        out.notes.push("every configuration ran once, with empty caches; differences below the error of modelled times may come out otherwise on a GPU".to_string());
    }
    out
}

/// Runs by kernel and key, in the order of their first launch.
fn runs(subject: &Subject) -> Vec<(String, &str, Vec<Tried<'_>>)> {
    let w = &subject.workload;
    let mut runs: Vec<(String, &str, Vec<Tried<'_>>)> = Vec::new();
    for note in &w.launches {
        let Some(key) = note.tuning.as_deref() else { continue };
        if note.row.is_some_and(|row| !subject.rows.contains(&row)) {
            continue;
        }
        let kernel = plain_kernel_name(&note.kernel).to_string();
        let at = runs.iter().position(|it| it.0 == kernel && it.1 == key).unwrap_or_else(|| {
            runs.push((kernel, key, Vec::new()));
            runs.len() - 1
        });
        // Compile-time values that are not tuned are not in the note of a configuration that failed.
        if runs[at].2.iter().any(|it| it.note.configuration == note.configuration) {
            continue;
        }
        let row = note.row.map(|row| row as usize);
        let time = row.and_then(|row| w.dispatches.duration(row));
        runs[at].2.push(Tried { note, row, time });
    }
    runs
}

/// Names whose values differ between configurations; all names if there is one configuration.
fn differing<'a>(tried: &[Tried<'a>]) -> Vec<&'a str> {
    let value = |note: &LaunchNote, name: &str| {
        note.configuration.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in tried.iter().flat_map(|it| &it.note.configuration) {
        // A value missing from a failed configuration counts as equal.
        let mut values: Vec<String> = tried.iter().filter_map(|it| value(it.note, name)).collect();
        values.in_order();
        values.dedup();
        if (values.len() > 1 || tried.len() == 1) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// A configuration as far as it differs from the others.
fn label(note: &LaunchNote, shown: &[&str]) -> String {
    let shown = note.configuration.iter().filter(|(name, _)| shown.contains(&name.as_str()));
    shown.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Excess of a configuration over the best one, or the reason why it cannot be launched.
fn against(w: &Workload, it: &Tried<'_>, best: Option<(usize, f64)>) -> String {
    let Some(at) = it.row else {
        return it.note.failed.clone().unwrap_or_else(|| "not launched".to_string());
    };
    match (it.time, best) {
        (Some(_), Some((fastest, _))) if fastest == at => "best".to_string(),
        (Some(time), Some((_, least))) if time / least - 1.0 < EQUAL => "as fast".to_string(),
        (Some(_), Some((fastest, _))) => reasons(w, at, fastest),
        _ => String::new(),
    }
}

fn cells(w: &Workload, it: &Tried<'_>, best: Option<(usize, f64)>, why: String) -> Vec<Cell> {
    let Some(at) = it.row else { return [vec![Cell::Empty; 5], vec![Cell::Text(why)]].concat() };
    let known = |value: Option<f64>| value.map_or(Cell::Empty, |it| Cell::Number(Number::from(it)));
    let d = &w.dispatches;
    let ratio = it.time.zip(best).map(|(time, (_, best))| time / best);
    vec![
        it.time.map_or_else(
            || Cell::Number(Number::missing("the duration of the dispatch is not known")),
            |it| Cell::Number(Number::from(it)),
        ),
        known(ratio),
        known(d.arch_vgpr.get(at)),
        known(d.lds.get(at)),
        known(workgroups(w, at)),
        Cell::Text(why),
    ]
}

fn workgroups(w: &Workload, row: usize) -> Option<f64> {
    Some(w.dispatches.grid.get(row)? / w.dispatches.workgroup.get(row).filter(|it| *it > 0.0)?)
}

/// Reasons why a dispatch takes longer than another that computes the same.
fn reasons(w: &Workload, row: usize, best: usize) -> String {
    let mut found: Vec<(f64, String)> = Vec::new();
    let d = &w.dispatches;
    if let (Some(scratch), Some(least)) = (d.scratch.get(row), d.scratch.get(best))
        && scratch > least
    {
        found.push((f64::MAX, format!("spills: {scratch} bytes of scratch memory per work-item")));
    }
    let units = w.machine.number("cu_per_gpu");
    if let (Some(own), Some(other), Some(units)) = (workgroups(w, row), workgroups(w, best), units)
        && own < units
        && other > MORE * own
    {
        found
            .push((other / own, format!("{own} workgroups for {units} compute units, the best has {other}")));
    }
    for (counter, what) in COUNTED {
        let of = |row| w.counters.get(counter).and_then(|it| it.values.get(row));
        match (of(row), of(best)) {
            (Some(own), Some(0.0)) if own > 0.0 => {
                found.push((2.0, format!("{own} {what}, the best has none")))
            }
            (Some(own), Some(other)) if own > MORE * other => {
                found.push((own / other, format!("{:.1}x the {what}", own / other)))
            }
            _ => {}
        }
    }
    found.in_order_by(|a, b| b.0.total_cmp(&a.0));
    match found.is_empty() {
        true => "executes no more than the best: waits longer".to_string(),
        false => found.into_iter().take(MOST_REASONS).map(|it| it.1).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use view::Wanted;

    #[test]
    fn configurations_stand_by_time_with_what_they_do_more() {
        let counters = "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,Scratch_Per_Workitem,Start_Timestamp,End_Timestamp,SQ_INSTS_VALU,SQ_INSTS_LDS\n\
            0,mm,2560,256,0,0,300,1000,50\n1,mm,25600,256,0,300,400,500,50\n2,mm,25600,256,16,400,600,500,50\n3,mm,25600,256,0,600,700,500,50\n4,mm,25600,256,0,700,850,500,50\n";
        let tuned = |block: u32| {
            format!(r#"{{"kernel": "mm", "configuration": [["BLOCK", {block}]], "tuning": "M=8"}}"#)
        };
        let notes = (0..3u32).map(|at| workload::launch_note(Some(u64::from(at)), &tuned(16 << at)));
        let mut text: String = notes.collect();
        text += &workload::launch_note(
            None,
            r#"{"kernel": "mm", "configuration": [["BLOCK", 999]], "tuning": "M=8", "failed": "too much LDS"}"#,
        );
        text += &workload::launch_note(Some(3), r#"{"kernel": "mm", "configuration": [["BLOCK", 32]]}"#);
        text += &workload::launch_note(Some(4), &tuned(1));
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (workload::LAUNCHES_FILE.to_string(), text.into_bytes()),
            ("sysinfo.csv".to_string(), b"cu_per_gpu\n304\n".to_vec()),
        ]);
        let subject = Subject {
            name: String::new(),
            path: String::new(),
            workload: workload::read(&files, &workload::Options::default()).unwrap(),
            filled: Vec::new(),
            rows: vec![0, 1, 2, 3, 4],
            selection: String::new(),
            wanted: Wanted::default(),
        };
        let found: Vec<String> = tuning(&subject)
            .rows
            .iter()
            .map(|row| match row.cells.last() {
                Some(Cell::Text(text)) => format!("{}: {text}", row.label),
                _ => row.label.clone(),
            })
            .collect();
        testkit::golden("why not", &found.join("\n"));
    }
}
