//! `rockhound roofline --measure`: the roofs of a GPU, by kernels of our own.
//!
//! The one idea to keep in mind: the file has the vendor's columns, so that a recording it lies beside takes its roofs from it.

use crate::args::{Roofline, ShortFormat};
use crate::emulation::title;
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use anyhow::{Result, anyhow};
use arch::Model;
use peaks::Peak;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use workload::Ceilings;

/// Version of the JSON's shape.
const SCHEMA: &str = "rockhound.roofs/1";

/// A measured number in JSON.
#[derive(Serialize)]
struct Roof {
    what: &'static str,
    column: Option<&'static str>,
    value: f64,
    unit: &'static str,
    /// What the data sheet or the width of the unit promises.
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
    let Some(model) = Model::by_name(&args.gpu) else {
        let names: Vec<&str> = Model::names().collect();
        return Err(usage(
            format!("there is no GPU `{}`", args.gpu),
            format!("known are {}", names.join(", ")),
        ));
    };
    let path = args.output.as_deref().unwrap_or(Path::new("roofline.csv"));
    if path.extension().is_none_or(|it| it != "csv") {
        return Err(usage(
            format!("`{}` is no table", path.display()),
            "what is measured is written as `.csv`",
        ));
    }
    eprintln!("emulating {} ({})", title(model), model.target().name);
    let started = std::time::Instant::now();
    let peaks =
        peaks::measure(model, |what| eprintln!("measuring {what}")).map_err(|error| anyhow!("{error}"))?;
    let values = peaks.iter().filter_map(|peak| Some((peak.column?.to_owned(), peak.value))).collect();
    let mut file = Output::open(Some(path))?;
    file.write_bytes(&workload::write_ceilings(&[Ceilings {
        device: 0,
        gpu: model.short().to_owned(),
        values,
    }]))?;
    file.finish()?;
    eprintln!("wrote {} ({:.1} s)", path.display(), started.elapsed().as_secs_f64());
    output::print(&match args.format {
        ShortFormat::Text => table(model, &peaks),
        ShortFormat::Json => json(model, &peaks)?,
    })?;
    Ok(Outcome::Fine)
}

fn json(model: &Model, peaks: &[Peak]) -> Result<String> {
    let roofs = peaks.iter().map(|peak| Roof {
        what: peak.what,
        column: peak.column,
        value: peak.value,
        unit: peak.unit.name(),
        promised: peak.sheet,
    });
    let roofs = Roofs { schema: SCHEMA, gpu: &model.name, emulated: true, roofs: roofs.collect() };
    Ok(serde_json::to_string_pretty(&roofs)? + "\n")
}

fn table(model: &Model, peaks: &[Peak]) -> String {
    let mut text =
        format!("What an emulated {} reaches, beside what its data sheet promises\n\n", model.name);
    for peak in peaks {
        let _ = write!(text, "  {:14} {:>12.1} {:8}", peak.what, peak.value, peak.unit.name());
        if let Some(sheet) = peak.sheet {
            let _ = write!(text, " {:5.1} % of {sheet:.1}", 100.0 * peak.value / sheet);
        }
        text.push('\n');
    }
    text
}
