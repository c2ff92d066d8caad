//! Bandwidths, rates and latencies by kernels that do one thing only.
//!
//! The one idea to keep in mind: the kernels are those of `rockhound roofline --measure`; hardware was measured with others
//! that do the same.

use super::row;
use anyhow::{Context, Result};
use arch::Model;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const WORDS: &str = "## Peaks

What kernels reach that do one thing only (`rockhound roofline --measure`). The model runs at the highest engine clock. Each unit of the MI200 that the
vendor's benchmark measured stands at 81 to 83 % of its width times that clock, so the clock was lower then: rows marked so compare a rate at 1.7 GHz with
one at about 1.4 GHz. *read* is a rate the model is given; the others follow from widths, latencies and queues.

";

/// GPU, what, 10^9 per second measured, whether by the vendor's benchmark under full load.
const PEAKS: &[(&str, &str, f64, bool)] = &[
    ("mi210", "memory, read", 1370.0, false),
    ("mi210", "memory, triad", 1225.0, false),
    ("mi210", "vector L1", 10_200.0, false),
    ("mi210", "L2", 4321.3, true),
    ("mi210", "LDS", 18_780.4, true),
    ("mi210", "vector f64", 18_336.2, true),
    ("mi210", "matrix f64", 36_978.4, true),
    ("mi210", "matrix f32", 37_200.4, true),
    ("mi210", "matrix f16", 147_890.9, true),
    ("mi210", "matrix bf16", 153_763.7, true),
    ("mi300x", "memory, read", 4199.0, false),
    ("mi300x", "memory, triad", 3866.0, false),
    ("mi300x", "vector L1", 38_800.0, false),
    ("mi300a", "memory, read", 2677.0, false),
];

const LATENCY_WORDS: &str = "## Latencies

One wave follows addresses through a region in an order that nothing foresees; a load with what leads to the next.

";

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

/// Writes both sections.
pub(super) fn write(text: &mut String) -> Result<()> {
    text.push_str(WORDS);
    text.push_str("| GPU | what | measured | modelled | error | |\n|---|---|---|---|---|---|\n");
    let mut known: BTreeMap<&str, Vec<::peaks::Peak>> = BTreeMap::new();
    for &(gpu, what, truth, loaded) in PEAKS {
        let all = match known.get(gpu) {
            Some(all) => all,
            None => known.entry(gpu).or_insert(::peaks::measure(model(gpu)?, |_| ())?),
        };
        let peak = all.iter().find(|peak| peak.what == what).with_context(|| format!("no `{what}`"))?;
        let error = format!("{:+.1} %", 100.0 * (peak.value - truth) / truth);
        let unit = peak.unit.name();
        println!("{gpu} {what}: {truth} {unit} measured, {:.1} modelled, {error}", peak.value);
        let remark = if loaded { "at another clock" } else { "" };
        let (truth, modelled) = (format!("{truth:.0} {unit}"), format!("{:.0}", peak.value));
        row(text, &[gpu.into(), what.into(), truth, modelled, error, remark.into()]);
    }
    let _ = writeln!(text);
    text.push_str(LATENCY_WORDS);
    text.push_str("| GPU | region | measured ns | modelled ns | error |\n|---|---|---|---|---|\n");
    for &(gpu, bytes, truth) in LATENCIES {
        let found = ::peaks::chase(model(gpu)?, bytes)?.nanoseconds;
        let error = format!("{:+.1} %", 100.0 * (found - truth) / truth);
        println!("{gpu} {bytes} bytes: {truth} ns measured, {found:.1} modelled, {error}");
        let region =
            if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) };
        row(text, &[gpu.into(), region, format!("{truth:.0}"), format!("{found:.1}"), error]);
    }
    let _ = writeln!(text);
    Ok(())
}

fn model(name: &str) -> Result<&'static Model> {
    Model::by_name(name).context("a model of the data files")
}
