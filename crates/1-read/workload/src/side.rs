//! Side files of the counters: machine, measured ceilings, settings, pass lists.
//!
//! All of them are optional; data of an absent one is missing with a reason.

use crate::dispatch_columns::launches;
use crate::folder::Files;
use crate::headers;
use crate::join;
use crate::model::{Ceilings, Counters, Dispatches, Machine};
use crate::problem::Problems;
use crate::table::{self, Want};
use crate::values::Values;
use std::collections::BTreeMap;
use view::counted;

/// Reads a side file; an unreadable one is a problem, not the end.
pub(crate) fn try_bytes<'a>(
    files: &Files<'a>,
    name: &str,
    problems: &mut Problems,
) -> Option<std::borrow::Cow<'a, [u8]>> {
    if !files.has(name) {
        return None;
    }
    match files.bytes(name) {
        Ok(b) => Some(b),
        Err(e) => {
            problems.error(name, first_line(&e.to_string()), "the file is left out");
            None
        }
    }
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// Reads a side file as a table, if it exists; `consequence` is reported if it cannot be read.
pub(crate) fn table(
    files: &Files<'_>,
    file: &str,
    choose: &dyn Fn(&str, &[u8]) -> Want,
    consequence: &str,
    problems: &mut Problems,
) -> Option<table::Table> {
    if !files.has(file) {
        return None;
    }
    let read = files.bytes(file).and_then(|b| table::read(file, &b, &str::to_string, choose, problems));
    read.map_err(|e| problems.error(file, first_line(&e.to_string()), consequence)).ok()
}

/// `sysinfo.csv`: one row of facts.
pub(crate) fn machine(files: &Files<'_>, problems: &mut Problems) -> Machine {
    let file = "sysinfo.csv";
    let mut machine = Machine::default();
    let Some(table) = table(files, file, &|_, _| Want::Text, "the file is left out", problems) else {
        if !files.has(file) {
            problems.warn(
                file,
                0,
                crate::ABSENT,
                "peaks and everything else that needs the GPU's size or clock are n/a; name the GPU to fill them in",
            );
        }
        return machine;
    };
    if table.rows == 0 {
        problems.error(file, "the file holds no row", "the machine is not known");
        return machine;
    }
    if table.rows > 1 {
        problems.warn(
            file,
            table.rows as u64,
            "the file describes more than one machine",
            "the first is used",
        );
    }
    for name in &table.names {
        let value = table.text(name).map_or("", |t| t.get(0)).trim();
        let plain = headers::MACHINE
            .iter()
            .find(|(n, other)| n == name || other.contains(&name.as_str()))
            .map_or(name.as_str(), |(n, _)| *n);
        machine.facts.entry(plain.to_string()).or_insert_with(|| value.to_string());
    }
    machine
}

/// The column of `roofline.csv` that names the GPU: an addition of ours; the vendor's file has none.
pub(crate) const CEILINGS_GPU: &str = "gpu";

/// `roofline.csv`: one row of ceilings per device.
pub(crate) fn ceilings(files: &Files<'_>, machine: &Machine, problems: &mut Problems) -> Vec<Ceilings> {
    let file = "roofline.csv";
    let consequence = "ceilings are taken from data sheets";
    let want = |name: &str, _: &[u8]| if name == CEILINGS_GPU { Want::Text } else { Want::Number };
    let Some(table) = table(files, file, &want, consequence, problems) else {
        return Vec::new();
    };
    let ceilings: Vec<Ceilings> = (0..table.rows)
        .map(|row| {
            let mut c = Ceilings { device: row as u32, ..Ceilings::default() };
            c.gpu = table.text(CEILINGS_GPU).map_or("", |texts| texts.get(row)).to_string();
            for name in &table.names {
                let Some(v) = table.number(name).and_then(|v| v.get(row)) else { continue };
                if name == "device" {
                    c.device = v.max(0.0) as u32;
                } else {
                    c.values.insert(name.clone(), v);
                }
            }
            c
        })
        .collect();
    let model = machine.text("gpu_model").unwrap_or_default().trim();
    // Some recordings name a variant: `MI300X_A1`.
    let is_it = |gpu: &str| model.to_lowercase().starts_with(&gpu.to_lowercase());
    let other = |c: &&Ceilings| !model.is_empty() && !is_it(&c.gpu);
    if let Some(c) = ceilings.iter().find(other) {
        let message = format!("it was measured on {}, the recording is of {model}", c.gpu);
        problems.warn(file, 0, message, "ceilings are those of the other GPU");
    }
    ceilings
}

/// `profiling_config.yaml`: the profiler writes plain `key: value` lines and lists of plain items; nothing
/// else of YAML is read.
pub(crate) fn settings(files: &Files<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let Some(bytes) = try_bytes(files, "profiling_config.yaml", problems) else { return out };
    let text = String::from_utf8_lossy(&bytes);
    let mut key = String::new();
    for line in text.lines() {
        let item = line.trim_start();
        if let Some(item) = item.strip_prefix("- ") {
            if let Some(list) = out.get_mut(&key) {
                if !list.is_empty() {
                    list.push(' ');
                }
                list.push_str(unquoted(item));
            }
        } else if !line.starts_with([' ', '#'])
            && let Some((k, v)) = line.split_once(':')
        {
            key = k.trim().to_string();
            let v = match unquoted(v) {
                "null" | "{}" | "[]" => "",
                v => v,
            };
            out.insert(key.clone(), v.to_string());
        }
    }
    out
}

fn unquoted(text: &str) -> &str {
    let t = text.trim();
    t.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or(t)
}

/// `perfmon/pmc_perf_N.txt`: which counters were read together.
pub(crate) fn passes(files: &Files<'_>, counters: &mut Counters, problems: &mut Problems) {
    let names: Vec<String> = files
        .names()
        .filter(|n| n.starts_with("perfmon/") && n.ends_with(".txt"))
        .map(str::to_string)
        .collect();
    if !names.is_empty() {
        // These number the passes otherwise than the header of a joined file does.
        counters.clear_passes();
    }
    for name in names {
        let stem = name.trim_start_matches("perfmon/").trim_end_matches(".txt");
        let Some(pass) = stem.strip_prefix("pmc_perf_").and_then(|n| n.parse::<u16>().ok()) else { continue };
        let Some(bytes) = try_bytes(files, &name, problems) else { continue };
        for line in String::from_utf8_lossy(&bytes).lines() {
            let Some(list) = line.trim().strip_prefix("pmc:") else { continue };
            for counter in list.split_whitespace() {
                let (base, instance) = headers::split_instance(counter);
                counters.set_pass(base, instance, pass);
            }
        }
    }
}

/// Time stamps from a separate file, if the counters' file has none.
pub(crate) fn times(
    file: &str,
    bytes: &[u8],
    d: &mut Dispatches,
    kernels: &[String],
    problems: &mut Problems,
) {
    let mut table =
        match table::read(file, bytes, &headers::plain, &crate::dispatch_columns::choose, problems) {
            Ok(t) => t,
            Err(e) => {
                problems.error(file, first_line(&e.to_string()), "durations are not known");
                return;
            }
        };
    multiply_sizes(&mut table);
    let Ok((other, names)) = crate::dispatch_columns::take(file, &mut table, problems) else {
        problems.error(file, "no column `Kernel_Name`", "durations are not known");
        return;
    };
    let met = join::join(&launches(d, kernels), &launches(&other, &names));
    report(file, &met, "durations are not known for dispatches without partner", problems);
    for (row, from) in met.rows.iter().enumerate() {
        if let Some(from) = from {
            d.start[row] = other.start[*from as usize];
            d.end[row] = other.end[*from as usize];
        }
    }
    if !(other.start_fraction.is_empty() && other.end_fraction.is_empty()) {
        let fraction = |values: &Values| {
            let of =
                |from: &Option<u32>| Some(from.and_then(|from| values.get(from as usize)).unwrap_or(0.0));
            met.rows.iter().map(of).collect()
        };
        (d.start_fraction, d.end_fraction) = (fraction(&other.start_fraction), fraction(&other.end_fraction));
    }
}

/// Kernel traces give sizes per dimension; elsewhere their product is one column.
pub(crate) fn multiply_sizes(table: &mut table::Table) {
    for (name, parts) in [
        ("Grid_Size", ["Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]),
        ("Workgroup_Size", ["Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"]),
    ] {
        if table.position(name).is_some() {
            continue;
        }
        let columns: Vec<_> = parts.iter().filter_map(|p| table.number(p)).collect();
        if columns.len() != parts.len() {
            continue;
        }
        let product = (0..table.rows)
            .map(|row| columns.iter().try_fold(1.0, |p, c| c.get(row).map(|v| p * v)))
            .collect();
        table.names.push(name.to_string());
        table.columns.push(table::Cells::Number(product));
    }
}

/// Reports dispatches without a counterpart in another run.
pub(crate) fn report(file: &str, met: &join::Match, consequence: &str, problems: &mut Problems) {
    if met.alone > 0 {
        problems.warn(
            file,
            met.alone,
            format!("{} of {} dispatches have no partner here", met.alone, met.rows.len()),
            consequence,
        );
    }
    if met.left_over > 0 {
        problems.warn(
            file,
            met.left_over,
            format!("{} here without a partner among the counters", counted(met.left_over, "dispatch")),
            "left out",
        );
    }
}
