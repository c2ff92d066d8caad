//! The roofs of a GPU, measured by kernels of our own.
//!
//! The file has the vendor's columns, so that a recording in the same folder takes its roofs from it; an
//! emulated GPU and a GPU of this machine run the same kernels.

mod gpu;

use crate::run::{Place, model, title};
use anyhow::{Result, anyhow};
use arch::Model;
use peaks::Peak;
use std::collections::BTreeMap;
use std::path::PathBuf;
use view::{Answer, ROOFS_SCHEMA, Roof, Roofs};
use workload::Ceilings;

/// The GPU whose roofs are measured.
pub struct RoofsOf {
    /// Where kernels run.
    pub place: Place,
    /// The GPU that is emulated, or which one this machine has.
    pub gpu: Option<String>,
    /// On a GPU: measurements per roof.
    pub repeat: u16,
    /// On a GPU: make kernels so long that two lengths differ by this many microseconds.
    pub least_time: u32,
    /// On a GPU: HIP runtime in place of the one that programs find.
    pub hip: Option<PathBuf>,
}

/// Measures; returns the roofs, and the file that gives them to recordings beside it.
pub fn measure(asked: &RoofsOf, say: &dyn Fn(&str)) -> Result<(Answer<Roofs>, Vec<u8>)> {
    let saying = |what: &str| say(&format!("measuring {what}"));
    let on_gpu = gpu::is_wanted(asked, say);
    let (model, peaks) = if on_gpu {
        let (mut device, model) = gpu::Gpu::open(asked, say)?;
        (model, peaks::measure_on(&mut device, model, saying))
    } else {
        let model = model(asked.gpu.as_deref().unwrap_or(EMULATED))?;
        say(&format!("emulating {} ({})", title(model), model.target().name));
        (model, peaks::measure(model, saying))
    };
    let peaks = peaks.map_err(|error| anyhow!("{error}"))?;
    let ceilings = Ceilings { device: 0, gpu: model.short().to_owned(), values: columns(&peaks) };
    Ok((roofs(model, &peaks, !on_gpu), workload::write_ceilings(&[ceilings])))
}

/// The GPU that is emulated unless one is named.
const EMULATED: &str = "mi300x";

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

fn roofs(model: &Model, peaks: &[Peak], emulated: bool) -> Answer<Roofs> {
    let roof = |peak: &Peak| Roof {
        what: peak.what,
        column: peak.column,
        value: peak.value,
        range: peak.range,
        unit: peak.unit.name(),
        promised: peak.sheet,
    };
    let roofs = peaks.iter().map(roof).collect();
    Answer::new(ROOFS_SCHEMA, Roofs { gpu: model.name.clone(), emulated, roofs })
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
        let roofs = roofs(Model::by_name("mi210").unwrap(), &all, false);
        assert_eq!((roofs.part.roofs[0].promised, roofs.part.roofs[0].range), (Some(1600.0), None));
        assert_eq!(roofs.part.roofs[1].range, Some([3800.0, 4000.0]));
    }
}
