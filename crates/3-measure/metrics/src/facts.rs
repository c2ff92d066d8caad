//! Names an expression can use without defining them: the dispatch, the machine, the target.
//!
//! Facts about the recorded machine come from the recording; facts shared by all GPUs of a target come from
//! `arch`.

use arch::{ElementType, Target, Unit as ArchUnit};
use view::Missing;
use workload::Machine;

/// A property of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Property {
    Time,
    Grid,
    Workgroup,
    Lds,
    Scratch,
    ArchVgpr,
    AccumVgpr,
    Sgpr,
}

/// Name, property, unit, what it is called when it is missing.
pub(crate) const PROPERTIES: &[(&str, Property, &str, &str)] = &[
    ("dispatch.time", Property::Time, "ns", "start and end times"),
    ("dispatch.grid", Property::Grid, "item", "the grid size"),
    ("dispatch.workgroup", Property::Workgroup, "item", "the workgroup size"),
    ("dispatch.lds", Property::Lds, "B", "LDS per workgroup"),
    ("dispatch.scratch", Property::Scratch, "B/item", "scratch per work item"),
    ("dispatch.vgprs", Property::ArchVgpr, "register", "the number of VGPRs"),
    ("dispatch.agprs", Property::AccumVgpr, "register", "the number of AGPRs"),
    ("dispatch.sgprs", Property::Sgpr, "register", "the number of SGPRs"),
];

/// Name, name in `sysinfo.csv`, unit.
pub(crate) const MACHINE: &[(&str, &str, &str)] = &[
    ("machine.cus", "cu_per_gpu", "1"),
    ("machine.shader_engines", "se_per_gpu", "1"),
    ("machine.xcds", "num_xcd", "1"),
    ("machine.pipes", "pipes_per_gpu", "1"),
    ("machine.scalar_caches", "sqc_per_gpu", "1"),
    ("machine.l2_channels", "total_l2_chan", "1"),
    ("machine.hbm_channels", "num_hbm_channels", "1"),
    ("machine.waves_per_cu", "max_waves_per_cu", "wave"),
    ("machine.lanes_per_wave", "wave_size", "thread"),
    ("machine.lds_banks", "lds_banks_per_cu", "1"),
    ("machine.clock", "max_sclk", "MHz"),
    ("machine.memory_clock", "max_mclk", "MHz"),
    ("machine.hbm_bandwidth", "hbm_bw", "GB/s"),
];

/// Reason why a fact that differs between GPUs has no value.
pub(crate) const UNKNOWN_GPU: &str =
    "it differs between GPUs, and the recording does not say which it is from";

/// A value, or what is missing.
pub(crate) fn machine(name: &str, machine: &Machine) -> Option<Result<f64, Missing>> {
    let (_, key, _) = MACHINE.iter().find(|(n, _, _)| *n == name)?;
    let said = |key: &str| machine.number(key).ok_or_else(|| Missing::MachineFact(key.to_owned()));
    if name == "machine.hbm_bandwidth" && machine.number(key).is_none() {
        // Newer recordings give the clock and the channels instead; a channel moves 32 bytes per cycle.
        let product = |clock: f64| Ok(clock / 1000.0 * 32.0 * said("num_hbm_channels")?);
        return Some(said("max_mclk").and_then(product));
    }
    Some(said(key))
}

/// Unit of a machine or target fact.
pub(crate) fn unit(name: &str) -> Option<&'static str> {
    if let Some((_, _, unit)) = MACHINE.iter().find(|(n, _, _)| *n == name) {
        return Some(unit);
    }
    match name {
        "target.vector_l1.line" => Some("B/req"),
        "target.vector_l1.width" | "target.lds.width" => Some("B/cycle"),
        "target.l2.line" => Some("B/req"),
        "target.l2.width" => Some("B/cycle"),
        _ => {
            let element = peak_name(name)?.1;
            Some(if element.is_integer() { "op/cycle" } else { "flop/cycle" })
        }
    }
}

fn peak_name(name: &str) -> Option<(ArchUnit, ElementType)> {
    let rest = name.strip_prefix("target.peak.")?;
    use ElementType::{F16, F32, F64, I32, I64};
    let (unit, name) = rest.split_once('.')?;
    let element = ElementType::by_name(name).filter(|it| it.name() == name)?;
    match unit {
        "matrix" if ElementType::FACTORS.contains(&element) => Some((ArchUnit::Matrix, element)),
        "vector" if [F64, F32, F16, I32, I64].contains(&element) => Some((ArchUnit::Vector, element)),
        _ => None,
    }
}

/// A fact of a target.
pub(crate) fn target(name: &str, target: &str) -> Option<Result<f64, String>> {
    unit(name).filter(|_| name.starts_with("target."))?;
    if target.is_empty() {
        return Some(Err(UNKNOWN_GPU.to_string()));
    }
    let Some(t) = Target::by_name(target) else {
        return Some(Err(format!("nothing is known of `{target}`")));
    };
    Some(match name {
        "target.vector_l1.line" => Ok(f64::from(t.vector_l1.line_bytes.value)),
        "target.vector_l1.width" => Ok(f64::from(t.vector_l1.bytes_per_cycle.value)),
        "target.l2.line" => Ok(f64::from(t.l2.line_bytes.value)),
        "target.l2.width" => Ok(f64::from(t.l2.bytes_per_channel_cycle.value)),
        "target.lds.width" => t.lds.bytes_per_cycle.get().map(|v| f64::from(*v)).map_err(str::to_string),
        _ => {
            let (unit, element) = peak_name(name)?;
            t.peak(unit, element)
                .map(|f| f64::from(f.value))
                .ok_or_else(|| format!("{target} has no {element} in its {unit:?} unit").to_lowercase())
        }
    })
}
