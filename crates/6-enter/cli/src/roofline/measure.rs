//! `rockhound roofline --measure`: the roofs of a GPU, by kernels of our own.
//!
//! The file has the vendor's columns, so that a recording in the same folder takes its roofs from it; an
//! emulated GPU and a GPU of this machine run the same kernels.

mod gpu;

use crate::args::Roofline;
use crate::emulation::title;
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use anyhow::{Result, anyhow};
use arch::Model;
use peaks::Peak;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use view::Format;
use workload::Ceilings;

/// Version of the JSON's shape.
const SCHEMA: &str = "rockhound.roofs/1";

/// A measured number in JSON.
#[derive(Serialize)]
struct Roof {
    what: &'static str,
    column: Option<&'static str>,
    value: f64,
    /// The smallest and the largest of repeated measurements.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 2]>,
    unit: &'static str,
    /// Maximum according to the data sheet or the width of the unit.
    promised: Option<f64>,
}

/// All of them.
#[derive(Serialize)]
struct Roofs<'a> {
    schema: &'static str,
    gpu: &'a str,
    emulated: bool,
    roofs: Vec<Roof>,
}

/// Measures.
pub(super) fn run(args: &Roofline) -> Result<Outcome> {
    let path = args.output.as_deref().unwrap_or(Path::new("roofline.csv"));
    if path.extension().is_none_or(|it| it != "csv") {
        return Err(usage(
            format!("`{}` is no table", path.display()),
            "what is measured is written as `.csv`",
        ));
    }
    let started = std::time::Instant::now();
    let say = |what: &str| eprintln!("measuring {what}");
    let on_gpu = gpu::is_wanted(args);
    let (model, peaks) = if on_gpu {
        let (mut device, model) = gpu::Gpu::open(args)?;
        (model, peaks::measure_on(&mut device, model, say))
    } else {
        let model = emulated(args.gpu.as_deref().unwrap_or(EMULATED))?;
        eprintln!("emulating {} ({})", title(model), model.target().name);
        (model, peaks::measure(model, say))
    };
    let peaks = peaks.map_err(|error| anyhow!("{error}"))?;
    let mut file = Output::open(Some(path))?;
    file.write_bytes(&workload::write_ceilings(&[Ceilings {
        device: 0,
        gpu: model.short().to_owned(),
        values: columns(&peaks),
    }]))?;
    file.finish()?;
    eprintln!("wrote {} ({:.1} s)", path.display(), started.elapsed().as_secs_f64());
    output::print(&match args.format {
        Format::Json => json(model, &peaks, !on_gpu)?,
        _ => table(model, &peaks, !on_gpu),
    })?;
    Ok(Outcome::Fine)
}

/// The GPU that is emulated unless one is named.
const EMULATED: &str = "mi300x";

fn emulated(name: &str) -> Result<&'static Model> {
    Model::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Model::names().collect();
        usage(format!("there is no GPU `{name}`"), format!("known are {}", names.join(", ")))
    })
}

/// Columns of the vendor's file: a value, and for repeated measurements the smallest and the largest.
fn columns(peaks: &[Peak]) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for peak in peaks {
        let Some(column) = peak.column else { continue };
        out.insert(column.to_owned(), peak.value);
        if let Some([low, high]) = peak.range {
            out.insert(format!("{column}Low"), low);
            out.insert(format!("{column}High"), high);
        }
    }
    out
}

fn json(model: &Model, peaks: &[Peak], emulated: bool) -> Result<String> {
    let roofs = peaks.iter().map(|peak| Roof {
        what: peak.what,
        column: peak.column,
        value: peak.value,
        range: peak.range,
        unit: peak.unit.name(),
        promised: peak.sheet,
    });
    let roofs = Roofs { schema: SCHEMA, gpu: &model.name, emulated, roofs: roofs.collect() };
    Ok(serde_json::to_string_pretty(&roofs)? + "\n")
}

fn table(model: &Model, peaks: &[Peak], emulated: bool) -> String {
    let an = if emulated { "an emulated" } else { "this" };
    let mut text = format!("What {an} {} reaches, beside what its data sheet promises\n\n", model.name);
    for peak in peaks {
        let _ = write!(text, "  {:14} {:>12.1} {:8}", peak.what, peak.value, peak.unit.name());
        if let Some(sheet) = peak.sheet {
            let _ = write!(text, " {:5.1} % of {sheet:.1}", 100.0 * peak.value / sheet);
        }
        if let Some([low, high]) = peak.range {
            let _ = write!(text, "  ({low:.1} to {high:.1})");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_several_times_has_its_range() {
        let once = Peak {
            column: Some("HBMBw"),
            what: "HBM",
            unit: peaks::Unit::Bytes,
            value: 1400.0,
            range: None,
            sheet: Some(1600.0),
        };
        let often =
            Peak { column: Some("L2Bw"), what: "L2", value: 3900.0, range: Some([3800.0, 4000.0]), ..once };
        let all = [once, often];
        let expected = [("HBMBw", 1400.0), ("L2Bw", 3900.0), ("L2BwHigh", 4000.0), ("L2BwLow", 3800.0)];
        assert_eq!(columns(&all), expected.map(|(column, value)| (column.to_owned(), value)).into());
        let model = Model::by_name("mi210").unwrap();
        let lines = table(model, &all, false);
        assert!(
            lines.contains("GB/s      87.5 % of 1600.0\n") && lines.ends_with("  (3800.0 to 4000.0)\n"),
            "{lines}"
        );
        let roofs: serde_json::Value = serde_json::from_str(&json(model, &all, false).unwrap()).unwrap();
        assert!(roofs["roofs"][0]["range"].is_null());
        assert_eq!(roofs["roofs"][1]["range"], serde_json::json!([3800.0, 4000.0]));
    }
}
