//! The report that Omniperf 1.x made of `../shared/workloads/mixbench`, number by number.
//!
//! Labels and units were others then. A row of the old report is reproduced when one metric has its average,
//! minimum and maximum; what is not reproduced is listed with the class of its difference.

use rockhound_metrics::{Definitions, Evaluation, Settings};
use std::collections::BTreeMap;
use view::{Average, Norm};
use workload::Options;

const CYCLES: &str = "cycles then, a share of cycles now";
const RUN: &str = "divided by the cycles of the level's own run then, of the main run now";
const PEAK: &str = "another peak";
const RATE: &str = "bytes per wave then, a rate now";
const SHARE: &str = "cycles per wave then, a share on newer targets now";

/// Rows that are not reproduced, by table and label, with the class of the difference.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("201", "MFMA FLOPs (BF16)", PEAK),
    ("201", "IPC - Issue", PEAK),
    ("201", "LDS_Per_Workgroup BW", PEAK),
    ("201", "Instr Fetch BW", "32 bytes per fetch then, 64 now"),
    ("201", "Wave Occupancy", RUN),
    ("702", "Wavefront Occupancy", RUN),
    ("501", "L2Cache Intf Busy", CYCLES),
    ("502", "CPC Stall Cycles", CYCLES),
    ("502", "CPC Packet Decoding", CYCLES),
    ("502", "SPI Intf Busy Cycles", CYCLES),
    ("502", "UTCL1 Stall Cycles", CYCLES),
    ("502", "UTCL2 Intf Busy Cycles", CYCLES),
    ("601", "CS Busy", CYCLES),
    ("601", "SPI Busy", CYCLES),
    ("601", "SQ Busy", CYCLES),
    ("601", "Wave Alloc Failed", CYCLES),
    ("601", "Wave Alloc Failed - CS", CYCLES),
    ("602", "Wave request Failed (CS)", CYCLES),
    ("602", "CS Stall", CYCLES),
    ("602", "CS Stall Rate", "divided by the cycles with a failed request then, by the manager's cycles now"),
    ("602", "Insufficient SIMD Waveslots", CYCLES),
    ("1101", "valu_flops_pop", "percent of peak, which is its own column now"),
    ("1601", "Cache BW", PEAK),
    ("1702", "Read BW", RATE),
    ("1702", "Write BW", RATE),
    ("1704", "Read - HBM Stall", SHARE),
    ("1704", "Write - HBM Stall", SHARE),
];

/// Columns of the old tables of channels, and the metric of each.
const CHANNEL: &[(&str, &str)] = &[
    ("Hit Rate", "channel.hit_rate"),
    ("Req", "channel.requests"),
    ("Read Req", "channel.reads"),
    ("Write Req", "channel.writes"),
    ("AtomicReq", "channel.atomics"),
    ("EA Read Req", "channel.fabric_reads"),
    ("EA Write Req", "channel.fabric_writes"),
    ("EA AtomicReq", "channel.fabric_atomics"),
    ("EA Read Lat - cycles", "channel.read_latency"),
    ("EA Write Lat - cycles", "channel.write_latency"),
    ("EA Read Stall - IO", "channel.read_stall_pcie"),
    ("EA Read Stall - GMI", "channel.read_stall_infinity_fabric"),
    ("EA Read Stall - DRAM", "channel.read_stall_hbm"),
    ("EA Write Stall - IO", "channel.write_stall_pcie"),
    ("EA Write Stall - GMI", "channel.write_stall_infinity_fabric"),
    ("EA Write Stall - DRAM", "channel.write_stall_hbm"),
    ("EA Write Stall - Starve", "channel.write_starved"),
];

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn the_old_report_is_reproduced_where_definitions_stayed() {
    let Some(dir) = testkit::shared("workloads/mixbench/mi200") else { return };
    let w = workload::read(&testkit::files(&dir), &Options::default()).unwrap();
    let d = Definitions::built_in();
    let compiled = d.compile("gfx90a").unwrap();
    let settings = Settings { average: Average::Dispatches, norm: Norm::Wave, ..Settings::default() };
    let e = Evaluation::new(&compiled, &w, (0..w.dispatches.len() as u32).collect(), settings);
    // Average, minimum, maximum, peak, percent of peak.
    let ours: Vec<[Option<f64>; 5]> = d
        .metrics()
        .iter()
        .filter(|m| !m.id.starts_with("channel."))
        .map(|m| {
            let (least, most) = e.extremes(&m.id);
            let of = |v: Option<rockhound_metrics::Value>| v.and_then(Result::ok);
            [e.value(&m.id).ok(), least.ok(), most.ok(), of(e.peak(&m.id)), of(e.percent_of_peak(&m.id))]
        })
        .collect();
    let (mut numbers, mut equal, mut unlisted, mut classes) = (0, 0, Vec::new(), BTreeMap::new());
    for entry in std::fs::read_dir(dir.join("prev_analysis")).unwrap().flatten() {
        let path = entry.path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        // Kernel lists, the machine and the memory chart are not metrics.
        if ["1", "101", "2001", "1901"].contains(&id.as_str()) {
            continue;
        }
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(&path).unwrap();
        let headings: Vec<String> = reader.headers().unwrap().iter().map(str::to_string).collect();
        for row in reader.records().map(Result::unwrap) {
            let channel: Option<u32> = (headings[0] == "Channel").then(|| row[0].parse().unwrap());
            let mut cells: Vec<(usize, f64)> = Vec::new();
            for (heading, cell) in headings.iter().zip(&row) {
                let Ok(theirs) = cell.parse::<f64>() else { continue };
                if let Some(channel) = channel {
                    let Some((_, metric)) = CHANNEL.iter().find(|(h, _)| h == heading) else { continue };
                    numbers += 1;
                    match e.channel_value(metric, channel) {
                        Ok(v) if close(v, theirs) => equal += 1,
                        v => unlisted.push(format!("{id} {channel} {heading}: theirs {theirs}, ours {v:?}")),
                    }
                    continue;
                }
                let column = match heading.as_str() {
                    "Avg" | "Value" | "Count" | "Mean" | "Pct" => 0,
                    "Min" => 1,
                    "Max" => 2,
                    "Peak" => 3,
                    "PoP" => 4,
                    _ => continue,
                };
                cells.push((column, theirs));
            }
            let agrees = |m: &[Option<f64>; 5], (c, v): &(usize, f64)| m[*c].is_some_and(|o| close(o, *v));
            let found = ours
                .iter()
                .filter(|m| cells.iter().filter(|c| c.0 < 3).all(|c| agrees(m, c)))
                .map(|m| cells.iter().filter(|c| agrees(m, c)).count())
                .max()
                .unwrap_or(0);
            numbers += cells.len();
            equal += found;
            if found < cells.len() {
                match DIFFERENT.iter().find(|(t, label, _)| *t == id && *label == &row[0]) {
                    Some((_, _, class)) => *classes.entry(*class).or_insert(0) += cells.len() - found,
                    None => unlisted.push(format!("{id} {:?}", row.iter().collect::<Vec<_>>())),
                }
            }
        }
    }
    println!("{equal} of {numbers} numbers reproduced; others by class: {classes:?}");
    assert!(unlisted.is_empty(), "{}", unlisted.join("\n"));
    assert_eq!(equal + classes.values().sum::<usize>(), numbers);
    assert!(equal * 100 >= numbers * 94, "{equal} of {numbers}");
}
