//! A workload written as the folder that rocprof-compute 3.x reads.
//!
//! Level counters go back into separate companion files, because the vendor's tool looks for them there;
//! reading the written folder gives the same workload again.

mod long;
mod rocpd;

use crate::Ceilings;
use crate::marks::MARKS_FILE;
use crate::model::Counter;
use crate::recording::Workload;
use crate::repeats::{self, SPREADS_FILE};
use crate::side::CEILINGS_GPU;
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

fn table(w: &Workload, counters: &[&Counter], accumulated: &str, extras: bool) -> Vec<u8> {
    let d = &w.dispatches;
    let sizes = [
        ("Grid_Size", &d.grid),
        ("Workgroup_Size", &d.workgroup),
        ("LDS_Per_Workgroup", &d.lds),
        ("Scratch_Per_Workitem", &d.scratch),
        ("Arch_VGPR", &d.arch_vgpr),
        ("Accum_VGPR", &d.accum_vgpr),
        ("SGPR", &d.sgpr),
    ];
    let mut out = String::from("Dispatch_ID,GPU_ID");
    for (name, _) in &sizes {
        let _ = write!(out, ",{name}");
    }
    out.push_str(",Kernel_Name,Start_Timestamp,End_Timestamp");
    for c in counters {
        let name = if c.name == accumulated { "SQ_ACCUM_PREV_HIRES" } else { &c.name };
        out.push(',');
        let instance = c.instance.map_or_else(String::new, |i| format!("[{i}]"));
        out.push_str(&quoted(&format!("{name}{instance}")));
    }
    let extras: &[_] = if extras { &w.extras } else { &[] };
    for e in extras {
        let _ = write!(out, ",{}", quoted(&e.name));
    }
    out.push('\n');
    let cell = |out: &mut String, v: Option<f64>| {
        out.push(',');
        if let Some(v) = v {
            let _ = write!(out, "{v}");
        }
    };
    for row in 0..d.len() {
        let _ = write!(out, "{},{}", d.id[row], d.gpu.get(row).copied().unwrap_or(0));
        for (_, v) in &sizes {
            cell(&mut out, v.get(row));
        }
        let _ = write!(out, ",{}", quoted(w.kernel_of(row)));
        for (t, fraction) in [(&d.start, &d.start_fraction), (&d.end, &d.end_fraction)] {
            out.push(',');
            if let Some(Some(t)) = t.get(row) {
                time(&mut out, *t, fraction.get(row).unwrap_or(0.0));
            }
        }
        for c in counters {
            let recorded = w.multiplexed.as_ref().is_none_or(|it| it.recorded(c, row));
            cell(&mut out, c.values.get(row).filter(|_| recorded));
        }
        for e in extras {
            cell(&mut out, e.values.get(row));
        }
        out.push('\n');
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
