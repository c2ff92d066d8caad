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

What kernels reach that do one thing only (`rockhound roofline --measure`). *read* is a rate the model is given; the others follow from widths,
latencies and queues. The vendor's benchmark ran an MI200 at another clock than other recordings: what it gives for the LDS is 128 bytes per compute unit
and cycle at 1411 MHz, and that clock is what its other rows are compared at (`mi210@1411`). That of the L2 is not: the model's rate is read from it, at
1.7 GHz. At 1411 MHz it would be 96 bytes per channel and cycle instead of 79, with which `daxpy`, which the L2 holds up, takes too little time.

";

/// GPU, what, 10^9 per second measured, what there is to say.
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
