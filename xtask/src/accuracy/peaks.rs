//! Bandwidths, rates and latencies by kernels that do one thing only.
//!
//! The kernels are the kernels of `rockhound roofline --measure`; hardware was measured with others that do
//! the same.

use super::Page;
use anyhow::{Context, Result};
use arch::Model;
use std::collections::BTreeMap;

/// GPU, kernel, 10^9 per second measured, remark.
const PEAKS: &[(&str, &str, f64, &str)] = &[
    ("mi210", "memory, read", 1370.0, "read"),
    ("mi210", "memory, triad", 1225.0, "read"),
    ("mi210", "vector L1", 10_200.0, ""),
    ("mi210@1700", "L2", 4321.3, "read"),
    ("mi210@1411", "vector L1", 8262.6, ""),
    ("mi210@1411", "LDS", 18_780.4, "the clock is read"),
    ("mi210@1411", "vector f32, not packed", 18_977.7, ""),
    ("mi210@1411", "vector f64", 18_336.2, ""),
    ("mi210@1411", "matrix f64", 36_978.4, ""),
    ("mi210@1411", "matrix f32", 37_200.4, ""),
    ("mi210@1411", "matrix f16", 147_890.9, ""),
    ("mi210@1411", "matrix bf16", 153_763.7, ""),
    ("mi300x", "memory, read", 4199.0, "read"),
    ("mi300x", "memory, triad", 3866.0, "read"),
    ("mi300x", "vector L1", 38_800.0, ""),
    ("mi300a", "memory, read", 2677.0, "read"),
    ("mi300a", "memory, triad", 3034.0, "more than reads alone: writes are taken to be as fast as these"),
];

/// GPU, bytes, nanoseconds measured.
const LATENCIES: &[(&str, u64, f64)] = &[
    ("mi210", 8 << 10, 75.0),
    ("mi210", 1 << 20, 149.0),
    ("mi210", 945 << 20, 404.0),
    ("mi300a", 8 << 10, 57.0),
    ("mi300a", 1 << 20, 102.0),
    ("mi300a", 20 << 20, 215.0),
    ("mi300a", 99 << 20, 231.0),
    ("mi300a", 945 << 20, 387.0),
    ("mi300x", 8 << 10, 57.0),
    ("mi300x", 1 << 20, 102.0),
    ("mi300x", 20 << 20, 219.0),
    ("mi300x", 99 << 20, 235.0),
    ("mi300x", 945 << 20, 422.0),
];

/// Fills in peaks and latencies.
pub(super) fn write(page: &mut Page) -> Result<()> {
    let mut known: BTreeMap<&str, Vec<::peaks::Peak>> = BTreeMap::new();
    for &(gpu, what, truth, remark) in PEAKS {
        let all = match known.get(gpu) {
            Some(all) => all,
            None => known.entry(gpu).or_insert(::peaks::measure(model(gpu)?, |_| ())?),
        };
        let peak = all.iter().find(|peak| peak.what == what).with_context(|| format!("no `{what}`"))?;
        let error = format!("{:+.1} %", 100.0 * (peak.value - truth) / truth);
        let unit = peak.unit.name();
        println!("{gpu} {what}: {truth} {unit} measured, {:.1} modelled, {error}", peak.value);
        let (truth, modelled) = (format!("{truth:.0} {unit}"), format!("{:.0}", peak.value));
        page.row("peaks", &[gpu.into(), what.into(), truth, modelled, error, remark.into()]);
    }
    for &(gpu, bytes, truth) in LATENCIES {
        let found = ::peaks::chase(model(gpu)?, bytes)?.nanoseconds;
        let error = format!("{:+.1} %", 100.0 * (found - truth) / truth);
        println!("{gpu} {bytes} bytes: {truth} ns measured, {found:.1} modelled, {error}");
        let region =
            if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) };
        page.row("latencies", &[gpu.into(), region, format!("{truth:.0}"), format!("{found:.1}"), error]);
    }
    Ok(())
}

fn model(name: &str) -> Result<&'static Model> {
    Model::by_name(name).context("a model of the data files")
}
