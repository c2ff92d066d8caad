//! Machine facts a recording lacks, from the data sheets of `arch`.
//!
//! A fact is filled in only if every GPU that the recording may stem from agrees on it, and each filled-in
//! fact names its source.

use super::select::wrong;
use arch::{Model, Target, target_of_product};
use sorting::Sort;
use view::UsageError;
use workload::Machine;

/// A fact that was filled in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filled {
    /// Name as in `sysinfo.csv`.
    pub fact: &'static str,
    /// Value.
    pub value: String,
    /// Source: `data sheet of Instinct MI300X`.
    pub source: String,
}

/// The highest clock of the engine.
pub(crate) const ENGINE_CLOCK: &str = "max_sclk";

/// Fact of a model.
type FromModel = (&'static str, fn(&Model) -> Option<f64>);
/// Fact of a target.
type FromTarget = (&'static str, fn(&Target) -> f64);

const OF_TARGET: &[FromTarget] = &[
    ("wave_size", |t| f64::from(t.lanes_per_wave.value)),
    ("simd_per_cu", |t| f64::from(t.simds_per_cu.value)),
    ("max_waves_per_cu", |t| f64::from(t.waves_per_cu())),
    ("lds_banks_per_cu", |t| f64::from(t.lds.banks.value)),
];

const OF_MODEL: &[FromModel] = &[
    ("cu_per_gpu", |m| Some(f64::from(m.compute_units.value))),
    ("se_per_gpu", |m| Some(f64::from(m.shader_engines.value))),
    ("num_xcd", |m| Some(f64::from(m.xcds.value))),
    (ENGINE_CLOCK, |m| Some(f64::from(m.engine_mhz.value))),
    ("max_mclk", |m| m.memory_mhz.value().map(f64::from)),
    ("num_hbm_channels", |m| Some(f64::from(m.hbm.channels.value))),
    ("hbm_bw", |m| Some(m.hbm.gb_per_s.value)),
];

/// Fact of a target for each XCD.
type OfXcd = (&'static str, fn(&Target) -> u32);

const OF_XCD: &[OfXcd] =
    &[("total_l2_chan", |t| t.l2.channels_per_xcd.value), ("sqc_per_gpu", Target::scalar_caches_per_xcd)];

/// Models a recording may stem from: the one it names, or the models of its target with as many compute
/// units.
pub fn models(machine: &Machine) -> Vec<&'static Model> {
    let named = machine.text("gpu_model").and_then(|name| {
        let lower = name.to_ascii_lowercase();
        let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
        words.find_map(Model::by_name)
    });
    let Some(target) = machine.target().and_then(Target::by_name) else {
        return named.map_or_else(|| of_size(machine), |it| vec![it]);
    };
    if let Some(model) = named.filter(|m| m.target().name == target.name) {
        return vec![model];
    }
    let cus = machine.number("cu_per_gpu");
    Model::of_target(target)
        .filter(|m| cus.is_none_or(|cus| cus == f64::from(m.compute_units.value)))
        .collect()
}

/// Models with the recorded number of compute units, and the clock if it is recorded, of a recording that names none.
fn of_size(machine: &Machine) -> Vec<&'static Model> {
    let Some(units) = machine.number("cu_per_gpu") else { return Vec::new() };
    let clock = machine.number(ENGINE_CLOCK);
    let is_it = |it: &&Model| {
        f64::from(it.compute_units.value) == units
            && clock.is_none_or(|clock| clock == f64::from(it.engine_mhz.value))
    };
    Model::names().filter_map(Model::by_name).filter(is_it).collect()
}

/// Facts that follow from others, or that no data sheet has.
const OTHERS: &[&str] = &["total_l2_chan", "sqc_per_gpu", "pipes_per_gpu", "cur_sclk", "cur_mclk"];
/// Facts that are names.
const NAMES: &[&str] = &["gpu_arch", "gpu_model", "compute_partition", "memory_partition"];

/// Facts of which 0 is none.
fn sizes() -> impl Iterator<Item = &'static str> {
    let of_target = OF_TARGET.iter().map(|(fact, _)| *fact);
    of_target.chain(OF_MODEL.iter().map(|(fact, _)| *fact)).chain(OTHERS.iter().copied())
}

/// Puts facts in place of recorded ones: `max_sclk: 2400, cu_per_gpu: 304`.
pub fn correct(machine: &mut Machine, text: &str) -> Result<Vec<Filled>, UsageError> {
    let mut corrected = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once(':').map(|(name, value)| (name.trim(), value.trim()))
        else {
            return Err(wrong(
                format!("`{part}` is no fact with a value"),
                "write names and values such as `max_sclk: 2400, cu_per_gpu: 304`",
            ));
        };
        // The newest profilers have another name for it.
        let name = if name == "num_memory_channels" { "num_hbm_channels" } else { name };
        let size = sizes().find(|fact| *fact == name);
        let Some(fact) = size.or_else(|| NAMES.iter().copied().find(|fact| *fact == name)) else {
            let mut known: Vec<&str> = sizes().chain(NAMES.iter().copied()).collect();
            known.in_order();
            return Err(wrong(
                format!("there is no fact `{name}`"),
                format!("known are {}", known.join(", ")),
            ));
        };
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
        if size.is_some() && number.is_none() || value.is_empty() {
            return Err(wrong(format!("`{value}` is no value of `{fact}`"), "write a number above 0"));
        }
        machine.facts.insert(fact.to_string(), value.to_string());
        corrected.retain(|earlier: &Filled| earlier.fact != fact);
        corrected.push(Filled { fact, value: value.to_string(), source: COMMAND_LINE.to_string() });
    }
    Ok(corrected)
}

/// Source of facts given on the command line.
pub const COMMAND_LINE: &str = "command line";

/// Fills in facts that the recording lacks, and returns them.
pub fn fill(machine: &mut Machine) -> Vec<Filled> {
    fill_as(machine, None)
}

/// As `fill`, for a recording that the user assigns to a model; a model that the recording names takes
/// precedence.
pub fn fill_as(machine: &mut Machine, given: Option<&'static Model>) -> Vec<Filled> {
    let zeros: Vec<&str> = sizes().filter(|fact| machine.number(fact) == Some(0.0)).collect();
    for fact in &zeros {
        machine.facts.remove(*fact);
    }
    let mut filled = fill_absent(machine, given);
    for it in filled.iter_mut().filter(|it| zeros.contains(&it.fact)) {
        it.source += ", recorded as 0";
    }
    filled
}

fn fill_absent(machine: &mut Machine, given: Option<&'static Model>) -> Vec<Filled> {
    let mut filled = Vec::new();
    let of_target = |model: &&Model| machine.target().is_none_or(|target| target == model.target().name);
    let candidates = match (models(machine), given.filter(of_target)) {
        (own, Some(_)) if own.len() == 1 => own,
        (_, Some(model)) => vec![model],
        (own, None) => own,
    };
    if machine.target().is_none() {
        let mut targets: Vec<&str> = candidates.iter().map(|m| m.target().name).collect();
        targets.dedup();
        let named = machine.text("gpu_model").and_then(target_of_product).map(|target| target.name);
        if let (true, Some(target)) = (targets.is_empty(), named) {
            add(machine, &mut filled, "gpu_arch", target.to_string(), "name of the GPU".to_owned());
        }
        if let [target] = targets[..] {
            add(machine, &mut filled, "gpu_arch", target.to_string(), sheet(&candidates));
        }
    }
    let Some(target) = machine.target().and_then(Target::by_name) else { return filled };
    for (fact, value) in OF_TARGET {
        add(machine, &mut filled, fact, value(target).to_string(), format!("facts of {}", target.name));
    }
    // The bandwidth follows from recorded channels and the memory clock, so those go before the data sheet's number.
    let channels = machine.number("num_hbm_channels").is_some();
    for (fact, value) in OF_MODEL {
        // The clock precedes the bandwidth in the list, so it is filled in by now.
        if *fact == "hbm_bw" && channels && machine.number("max_mclk").is_some() {
            continue;
        }
        let mut values = candidates.iter().map(|m| value(m));
        let Some(Some(first)) = values.next() else { continue };
        if values.all(|v| v == Some(first)) {
            add(machine, &mut filled, fact, first.to_string(), sheet(&candidates));
        }
    }
    if let Some(xcds) = machine.number("num_xcd") {
        for (fact, per_xcd) in OF_XCD {
            let all = xcds * f64::from(per_xcd(target));
            add(machine, &mut filled, fact, all.to_string(), format!("facts of {}", target.name));
        }
    }
    filled
}

/// The highest clock of the engine and, for an emulator that ran at another clock, the clock that the times
/// refer to. A hardware recording only has the idle clock.
pub(crate) fn engine_clock(machine: &Machine) -> Option<String> {
    let highest = machine.number(ENGINE_CLOCK)?;
    let running = machine.emulator().and_then(|_| machine.number("cur_sclk"));
    Some(match running.filter(|running| *running != highest) {
        Some(running) => format!("{highest} MHz, times at {running} MHz"),
        None => format!("{highest} MHz"),
    })
}

fn sheet(models: &[&Model]) -> String {
    let names: Vec<&str> = models.iter().map(|m| m.name.as_str()).collect();
    format!("data sheet of {}", names.join(" and "))
}

fn add(machine: &mut Machine, filled: &mut Vec<Filled>, fact: &'static str, value: String, source: String) {
    if machine.text(fact).is_none() {
        machine.facts.insert(fact.to_string(), value.clone());
        filled.push(Filled { fact, value, source });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(facts: &[(&str, &str)]) -> Machine {
        Machine { facts: facts.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect() }
    }

    #[test]
    fn facts_are_filled_where_the_candidates_agree() {
        type Case = (&'static [(&'static str, &'static str)], &'static str, Option<&'static str>);
        let cases: [Case; 19] = [
            // The model is named, with a stepping behind it.
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1")], "max_mclk", Some("1300")),
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1")], "total_l2_chan", Some("128")),
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1")], "max_waves_per_cu", Some("32")),
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1")], "sqc_per_gpu", Some("160")),
            (&[("gpu_arch", "gfx90a"), ("gpu_model", "MI250X")], "sqc_per_gpu", Some("56")),
            // What is recorded stays.
            (
                &[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1"), ("max_sclk", "2000")],
                "max_sclk",
                Some("2000"),
            ),
            // A family: two models have this many compute units and agree.
            (&[("gpu_arch", "gfx90a"), ("gpu_model", "MI200"), ("cu_per_gpu", "104")], "num_xcd", Some("1")),
            // The name alone gives the target.
            (&[("gpu_model", "AMD Instinct MI300X")], "gpu_arch", Some("gfx942")),
            (&[("gpu_model", "AMD Instinct MI325X OAM")], "cu_per_gpu", Some("304")),
            (&[("gpu_model", "mi350p")], "cu_per_gpu", Some("128")),
            // Of this one no more is known than its target.
            (&[("gpu_model", "AMD Instinct MI308X")], "gpu_arch", Some("gfx942")),
            (&[("gpu_model", "AMD Instinct MI308X")], "cu_per_gpu", None),
            // Recorded channels go before the bandwidth of the data sheet; the clock may be the sheet's.
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X"), ("num_hbm_channels", "64")], "hbm_bw", None),
            (
                &[("gpu_arch", "gfx942"), ("gpu_model", "MI300X"), ("num_hbm_channels", "64")],
                "max_mclk",
                Some("1300"),
            ),
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X")], "hbm_bw", Some("5324.8")),
            // 0 counts as missing, whether the data sheet knows the fact or not.
            (&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X"), ("max_sclk", "0")], "max_sclk", Some("2100")),
            (&[("gpu_arch", "gfx942"), ("sqc_per_gpu", "0.0")], "sqc_per_gpu", None),
            // The models of the target disagree.
            (&[("gpu_arch", "gfx942")], "cu_per_gpu", None),
            (&[], "wave_size", None),
        ];
        for (facts, fact, want) in cases {
            let mut m = machine(facts);
            fill(&mut m);
            assert_eq!(m.text(fact), want, "{facts:?} {fact}");
        }
    }

    #[test]
    fn each_fact_filled_in_says_where_it_is_from() {
        let mut m = machine(&[("gpu_arch", "gfx942"), ("gpu_model", "MI300X_A1"), ("max_mclk", "NA")]);
        let filled = fill(&mut m);
        let clock = filled.iter().find(|f| f.fact == "max_mclk").unwrap();
        assert!(clock.value == "1300" && clock.source.ends_with("MI300X"), "{clock:?}");
        assert!(filled.iter().all(|f| f.fact != "gpu_arch"));
    }

    #[test]
    fn a_given_model_counts_where_the_recording_names_none() {
        for (facts, given, clock) in [
            (
                &[("gpu_arch", "gfx950"), ("gpu_model", "MI350"), ("max_sclk", "0")][..],
                "mi355x",
                Some("2400"),
            ),
            (&[("gpu_arch", "gfx950:sramecc+"), ("gpu_model", "MI350")], "mi355x", Some("2400")),
            // It names itself.
            (&[("gpu_arch", "gfx950"), ("gpu_model", "MI355X")], "mi350x", Some("2400")),
            // Another target.
            (&[("gpu_arch", "gfx950"), ("gpu_model", "MI350")], "mi300x", None),
        ] {
            let mut m = machine(facts);
            let filled = fill_as(&mut m, Model::by_name(given));
            assert_eq!(m.text("max_sclk"), clock, "{facts:?} {given}");
            let zero = facts.contains(&("max_sclk", "0"));
            let said = filled.iter().any(|it| it.fact == "max_sclk" && it.source.ends_with("recorded as 0"));
            assert_eq!(said, zero, "{filled:?}");
        }
    }

    #[test]
    fn corrections_replace_what_is_recorded() {
        let mut m = machine(&[("gpu_arch", "gfx950"), ("max_sclk", "0"), ("cu_per_gpu", "256")]);
        let corrected = correct(&mut m, " max_sclk: 2400,num_memory_channels : 64, ").unwrap();
        assert_eq!((m.number("max_sclk"), m.number("num_hbm_channels")), (Some(2400.0), Some(64.0)));
        assert!(corrected.len() == 2 && corrected.iter().all(|it| it.source == "command line"));
        fill(&mut m);
        assert_eq!((m.number("max_sclk"), m.number("cu_per_gpu")), (Some(2400.0), Some(256.0)));
        for text in ["max_sclk", "max_sclk: 0", "max_sclk: fast", "clock: 2400", "gpu_model: "] {
            testkit::golden(&format!("correction `{text}`"), &correct(&mut m, text).unwrap_err().message);
        }
    }

    #[test]
    fn the_clock_of_times_is_said_where_an_emulator_chose_it() {
        let highest = ("max_sclk", "1700");
        for (facts, said) in [
            (&[highest][..], Some("1700 MHz")),
            (
                &[("emulated_by", "rockhound"), highest, ("cur_sclk", "1570")],
                Some("1700 MHz, times at 1570 MHz"),
            ),
            (&[("emulated_by", "rockhound"), highest, ("cur_sclk", "1700")], Some("1700 MHz")),
            (&[("emulated_by", "rockhound"), highest], Some("1700 MHz")),
            // Hardware: what the GPU was found at when nothing ran.
            (&[highest, ("cur_sclk", "800")], Some("1700 MHz")),
            (&[("emulated_by", "rockhound"), ("cur_sclk", "1570")], None),
        ] {
            assert_eq!(engine_clock(&machine(facts)).as_deref(), said, "{facts:?}");
        }
    }
}
