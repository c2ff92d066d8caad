//! Ceilings of a machine: measured ones if the recording has them, else data-sheet values.
//!
//! One row per ceiling names both the column of `roofline.csv` and the metric whose peak is the data-sheet
//! value, so that both always describe the same resource.

use crate::numbers::KernelNumbers;
use view::{CeilingBasis, Missing};

/// Resource that a ceiling limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// Bytes moved at a level of memory.
    Bandwidth,
    /// Look-ups of lines in a cache, whatever each of them moves.
    LookUps,
    /// Operations of a type.
    Arithmetic,
}

/// A level of memory.
pub(crate) struct Level {
    /// Display name.
    pub(crate) name: &'static str,
    /// Column of `roofline.csv`.
    measured: &'static str,
    /// Bytes of a dispatch.
    pub(crate) bytes: &'static str,
    /// Rate, with the data-sheet value as its peak.
    pub(crate) bandwidth: &'static str,
}

/// Memory levels, from the farthest to the nearest.
pub(crate) const LEVELS: &[Level] = &[
    Level {
        name: "HBM",
        measured: "HBMBw",
        bytes: "roofline.hbm_bytes",
        bandwidth: "roofline.hbm_bandwidth",
    },
    Level { name: "L2", measured: "L2Bw", bytes: "roofline.l2_bytes", bandwidth: "vl1d.l2_bandwidth" },
    Level { name: "vL1D", measured: "L1Bw", bytes: "roofline.l1_bytes", bandwidth: "vl1d.bandwidth" },
    Level { name: "LDS", measured: "LDSBw", bytes: "roofline.lds_bytes", bandwidth: "lds.bandwidth" },
];

/// The level whose counter counts look-ups and no bytes: a look-up for one lane's two bytes counts as one for
/// a whole line. It is drawn, as the vendor's tools do, and judges nothing; [`LOOKUPS`] does.
pub(crate) const DRAWN_ONLY: &str = "vL1D";

/// Look-ups of the vector L1, in place of its bytes.
pub(crate) const LOOKUPS: Level = Level {
    name: "vL1D look-ups",
    measured: "",
    bytes: "vl1d.cache_accesses",
    bandwidth: "access.lookup_rate",
};

/// A type that a unit computes with.
pub(crate) struct Rate {
    /// Display name.
    pub(crate) name: &'static str,
    /// The unit's types take turns: their shares of the peaks add up.
    pub(crate) unit: Unit,
    /// Columns of `roofline.csv` of different ages.
    measured: &'static [&'static str],
    /// Rate, with the data-sheet value as its peak.
    pub(crate) metric: &'static str,
    /// `Gflop/s` or `Gop/s`.
    pub(crate) unit_name: &'static str,
}

/// Unit that computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Vector,
    Matrix,
    /// Integer instructions of the vector unit. Every kernel computes addresses with some, so their ceilings
    /// are shown where they are requested and judge nothing.
    Integer,
}

const fn rate(
    name: &'static str,
    unit: Unit,
    measured: &'static [&'static str],
    metric: &'static str,
    unit_name: &'static str,
) -> Rate {
    Rate { name, unit, measured, metric, unit_name }
}

pub(crate) const RATES: &[Rate] = &[
    rate("vector f16", Unit::Vector, &["FP16Flops"], "roofline.vector_f16", "Gflop/s"),
    rate("vector f32", Unit::Vector, &["FP32Flops"], "roofline.vector_f32", "Gflop/s"),
    rate("vector f64", Unit::Vector, &["FP64Flops"], "roofline.vector_f64", "Gflop/s"),
    rate("matrix f4/f6", Unit::Matrix, &["MFMAF6F4Flops"], "compute.matrix_f6f4", "Gflop/s"),
    rate("matrix f8", Unit::Matrix, &["MFMAF8Flops"], "compute.matrix_f8", "Gflop/s"),
    rate("matrix f16", Unit::Matrix, &["MFMAF16Flops"], "compute.matrix_f16", "Gflop/s"),
    rate("matrix bf16", Unit::Matrix, &["MFMABF16Flops"], "compute.matrix_bf16", "Gflop/s"),
    rate("matrix f32", Unit::Matrix, &["MFMAF32Flops"], "compute.matrix_f32", "Gflop/s"),
    rate("matrix f64", Unit::Matrix, &["MFMAF64Flops"], "compute.matrix_f64", "Gflop/s"),
    rate("vector i32", Unit::Integer, &["I32Ops"], "roofline.vector_i32", "Gop/s"),
    rate("vector i64", Unit::Integer, &["I64Ops"], "roofline.vector_i64", "Gop/s"),
    rate("matrix i8", Unit::Matrix, &["MFMAI8Ops"], "compute.matrix_i8", "Gop/s"),
];

/// Measured and data-sheet ceiling of one resource.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Both {
    /// Measured on the machine.
    pub(crate) measured: Option<f64>,
    /// Clock times width.
    pub(crate) data_sheet: Option<f64>,
}

/// Factor by which a kernel may exceed a measured ceiling: HBM's is measured with a copy, and reads alone are
/// faster.
const ABOVE_MEASURED: f64 = 1.1;

impl Both {
    /// The ceiling that `rate` is compared with: the measured one, unless the kernel exceeds it.
    pub(crate) fn of(self, rate: Option<f64>) -> Option<(f64, CeilingBasis)> {
        let data_sheet = self.data_sheet.map(|value| (value, CeilingBasis::DataSheet));
        let Some(measured) = self.measured else { return data_sheet };
        let exceeded = rate.is_some_and(|rate| rate > ABOVE_MEASURED * measured);
        match data_sheet {
            Some(sheet) if exceeded && sheet.0 > measured => Some(sheet),
            _ => Some((measured, CeilingBasis::Measured)),
        }
    }
}

impl Level {
    pub(crate) fn ceilings(&self, kernel: &KernelNumbers<'_>) -> Result<Both, Missing> {
        ceilings(kernel, &[self.measured], self.bandwidth)
    }
}

impl Rate {
    pub(crate) fn ceilings(&self, kernel: &KernelNumbers<'_>) -> Result<Both, Missing> {
        ceilings(kernel, self.measured, self.metric)
    }
}

fn ceilings(kernel: &KernelNumbers<'_>, columns: &[&str], metric: &str) -> Result<Both, Missing> {
    let devices = &kernel.workload.ceilings;
    let gpu = kernel.evaluation.rows().first().and_then(|row| {
        let gpu = kernel.workload.dispatches.gpu.get(*row as usize)?;
        devices.iter().find(|device| device.device == *gpu)
    });
    let measured = gpu.or_else(|| devices.first()).and_then(|device| {
        columns.iter().find_map(|column| device.values.get(*column).copied()).filter(|value| *value > 0.0)
    });
    let none = || Missing::Because(format!("no ceiling of `{metric}` is known"));
    let peak = kernel.evaluation.peak(metric).unwrap_or_else(|| Err(none()));
    let data_sheet = match peak {
        Ok(peak) => Some(peak).filter(|peak| peak.is_finite() && *peak > 0.0),
        Err(reason) if measured.is_none() => return Err(reason),
        Err(_) => None,
    };
    if measured.is_none() && data_sheet.is_none() {
        return Err(none());
    }
    Ok(Both { measured, data_sheet })
}
