//! A workload written as the folder that rocprof-compute 3.x reads.
//!
//! Level counters go back into separate companion files, because the vendor's tool looks for them there;
//! reading the written folder gives the same workload again.

mod long;
mod rocpd;

use crate::Ceilings;
use crate::digits::whole_number;
use crate::levels::ACCUMULATOR;
use crate::marks::MARKS_FILE;
use crate::model::Counter;
use crate::recording::Workload;
use crate::repeats::{self, SPREADS_FILE};
use crate::side::CEILINGS_GPU;
use crate::values::Values;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

pub use long::write_long;
pub use rocpd::{RocpdError, write_rocpd};

/// The files of the folder, by name.
pub fn write(w: &Workload) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let runs: BTreeSet<String> = w
        .counters
        .iter()
        .filter_map(|c| c.run.clone().or_else(|| c.name.strip_suffix("_ACCUM").map(str::to_string)))
        .collect();
    let main: Vec<&Counter> =
        w.counters.iter().filter(|c| c.run.is_none() && !c.name.ends_with("_ACCUM")).collect();
    files.insert("pmc_perf.csv".to_string(), table(w, &main, "", true));
    files.insert("timestamps.csv".to_string(), table(w, &[], "", false));
    for run in &runs {
        let accumulated = format!("{run}_ACCUM");
        let columns: Vec<&Counter> = w
            .counters
            .iter()
            .filter(|c| c.run.as_deref() == Some(run) || (c.run.is_none() && c.name == accumulated))
            .collect();
        files.insert(format!("{run}.csv"), table(w, &columns, &accumulated, false));
    }
    files.extend(beside(w, &w.machine.facts));
    files
}

/// The files of the folder that have no line for each dispatch.
pub fn write_beside(w: &Workload) -> BTreeMap<String, Vec<u8>> {
    beside(w, &w.machine.facts)
}

/// Writes the side files of the counters, with these facts of the machine.
fn beside(w: &Workload, facts: &BTreeMap<String, String>) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    if !facts.is_empty() {
        files.insert("sysinfo.csv".to_string(), sysinfo(facts).into_bytes());
    }
    if let Some(marks) = &w.marks {
        files.insert(MARKS_FILE.to_string(), marks.write().into_bytes());
    }
    if !w.ceilings.is_empty() {
        files.insert("roofline.csv".to_string(), write_ceilings(&w.ceilings));
    }
    if !w.spreads.is_empty() {
        files.insert(SPREADS_FILE.to_string(), repeats::write(&w.spreads, &w.kernels).into_bytes());
    }
    if !w.settings.is_empty() {
        let mut text = String::new();
        for (k, v) in &w.settings {
            let _ = writeln!(text, "{k}: {}", if v.is_empty() { "null" } else { v });
        }
        files.insert("profiling_config.yaml".to_string(), text.into_bytes());
    }
    files
}

/// `roofline.csv` of some devices.
pub fn write_ceilings(ceilings: &[Ceilings]) -> Vec<u8> {
    let names: BTreeSet<&String> = ceilings.iter().flat_map(|c| c.values.keys()).collect();
    let mut text = "device".to_string();
    for n in &names {
        let _ = write!(text, ",{}", quoted(n));
    }
    let said = ceilings.iter().any(|c| !c.gpu.is_empty());
    if said {
        let _ = write!(text, ",{CEILINGS_GPU}");
    }
    text.push('\n');
    for c in ceilings {
        let _ = write!(text, "{}", c.device);
        for n in &names {
            text.push(',');
            if let Some(v) = c.values.get(*n) {
                let _ = write!(text, "{v}");
            }
        }
        if said {
            let _ = write!(text, ",{}", quoted(&c.gpu));
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// First columns of a line of counters, besides identity, kernel and times.
const SIZES: [&str; 7] = [
    "Grid_Size",
    "Workgroup_Size",
    "LDS_Per_Workgroup",
    "Scratch_Per_Workitem",
    "Arch_VGPR",
    "Accum_VGPR",
    "SGPR",
];

/// The begin of a line of counters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LineOf<'a> {
    /// Number of the dispatch.
    pub dispatch: u64,
    /// Number of its GPU.
    pub gpu: u32,
    /// Work-items, work-items of a workgroup, bytes of LDS and of scratch, registers of three kinds.
    pub sizes: [Option<f64>; 7],
    /// Kernel.
    pub kernel: &'a str,
    /// Start and end: nanoseconds, and the fraction that remains.
    pub times: [Option<(i64, f64)>; 2],
}

/// The first line of a file of counters; `columns` are names with the instance of the block.
pub fn counters_header<'a>(columns: impl Iterator<Item = (&'a str, Option<u32>)>) -> String {
    let mut out = String::from("Dispatch_ID,GPU_ID");
    for name in SIZES {
        let _ = write!(out, ",{name}");
    }
    out.push_str(",Kernel_Name,Start_Timestamp,End_Timestamp");
    for (name, instance) in columns {
        out.push(',');
        let instance = instance.map_or_else(String::new, |i| format!("[{i}]"));
        out.push_str(&quoted(&format!("{name}{instance}")));
    }
    out.push('\n');
    out
}

/// Appends the line of a dispatch, which has a value or a gap for each column.
pub fn write_counters(out: &mut String, of: &LineOf<'_>, values: impl Iterator<Item = Option<f64>>) {
    let _ = write!(out, "{},{}", of.dispatch, of.gpu);
    for size in of.sizes {
        cell(out, size);
    }
    let _ = write!(out, ",{}", quoted(of.kernel));
    for it in of.times {
        out.push(',');
        if let Some((whole, fraction)) = it {
            time(out, whole, fraction);
        }
    }
    for value in values {
        cell(out, value);
    }
    out.push('\n');
}

fn cell(out: &mut String, value: Option<f64>) {
    /// Whole numbers below this have a short way.
    const MOST: f64 = 9e15;
    out.push(',');
    let Some(value) = value else { return };
    // Negative numbers, also zero, are 0 as a whole one, whose bits differ.
    let whole = value as u64;
    if value < MOST && (whole as f64).to_bits() == value.to_bits() {
        whole_number(out, whole);
    } else {
        let _ = write!(out, "{value}");
    }
}

fn table(w: &Workload, counters: &[&Counter], accumulated: &str, extras: bool) -> Vec<u8> {
    let d = &w.dispatches;
    let extras: &[_] = if extras { &w.extras } else { &[] };
    let columns = counters.iter().map(|c| {
        let name = if c.name == accumulated { ACCUMULATOR } else { &c.name };
        (name, c.instance)
    });
    let mut out = counters_header(columns.chain(extras.iter().map(|e| (e.name.as_str(), None))));
    for row in 0..d.len() {
        let sizes = [&d.grid, &d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr];
        let time = |times: &Vec<Option<i64>>, fractions: &Values| {
            times.get(row).copied().flatten().map(|it| (it, fractions.get(row).unwrap_or(0.0)))
        };
        let of = LineOf {
            dispatch: d.id[row],
            gpu: d.gpu.get(row).copied().unwrap_or(0),
            sizes: sizes.map(|it| it.get(row)),
            kernel: w.kernel_of(row),
            times: [time(&d.start, &d.start_fraction), time(&d.end, &d.end_fraction)],
        };
        let counted = counters.iter().map(|c| {
            let recorded = w.multiplexed.as_ref().is_none_or(|it| it.recorded(c, row));
            c.values.get(row).filter(|_| recorded)
        });
        write_counters(&mut out, &of, counted.chain(extras.iter().map(|e| e.values.get(row))));
    }
    out.into_bytes()
}

/// Writes a time stamp: whole nanoseconds, rounded down, and the fraction that remains.
fn time(out: &mut String, whole: i64, fraction: f64) {
    let _ = match (fraction > 0.0, whole < 0) {
        (false, _) => write!(out, "{whole}"),
        (true, false) => write!(out, "{whole}{}", format!("{fraction}").trim_start_matches('0')),
        // A negative time is written with the complement of the fraction, which rounds down.
        (true, true) => {
            write!(out, "-{}{}", -(whole + 1), format!("{}", 1.0 - fraction).trim_start_matches('0'))
        }
    };
}

/// `sysinfo.csv`: a table of one row with the facts of a machine.
pub fn sysinfo(facts: &BTreeMap<String, String>) -> String {
    let row = |cells: Vec<&String>| cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",");
    format!("{}\n{}\n", row(facts.keys().collect()), row(facts.values().collect()))
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}
