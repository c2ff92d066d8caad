//! Time of a dispatch on another GPU, or as a changed kernel.
//!
//! The program runs once; its wave events are replayed to a second clock with another GPU, other limits on
//! workgroups or another order of workgroups. The effect of the change on the instructions is unknown here:
//! fewer registers may mean spills.

use arch::{LOWEST_MHZ, Limiter, Model, Resources};
use clock::{Gpu, Grid, IdealLimit, Order, Rates};
use std::fmt;

/// A change to the GPU or the kernel whose time is predicted.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// As in files: `l2`, `vgpr=96`.
    pub name: String,
    /// For people.
    pub title: String,
    /// The limit this prediction removes, if any.
    pub ideal_limit: Option<IdealLimit>,
    changes: Vec<Change>,
}

/// One change.
#[derive(Clone, Copy, Debug)]
enum Change {
    Registers(u32),
    Lds(u32),
    Waves(u32),
    Order(Order),
    Bandwidth(f64),
    LdsPerUnit(u32),
    Model(&'static Model),
}

/// Possible changes, with an example of each value.
pub const CHANGES: [(&str, &str); 7] = [
    ("vgpr", "vgpr=96"),
    ("lds", "lds=16384"),
    ("waves_per_eu", "waves_per_eu=4"),
    ("workgroup-order", "workgroup-order=xcd-swizzle"),
    ("gpu.hbm_bandwidth", "gpu.hbm_bandwidth=8e12"),
    ("gpu.lds_per_cu", "gpu.lds_per_cu=160K"),
    ("gpu", "gpu=mi300a"),
];

/// Why a change cannot be predicted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PredictionError {
    /// The error.
    pub message: String,
    /// Advice.
    pub hint: String,
}

impl fmt::Display for PredictionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}\nhint: {}", self.message, self.hint)
    }
}

impl std::error::Error for PredictionError {}

fn wrong(message: String, hint: impl Into<String>) -> PredictionError {
    PredictionError { message, hint: hint.into() }
}

impl Prediction {
    /// Predictions with each limit removed.
    pub fn lifts() -> Vec<Prediction> {
        let of = |ideal_limit: &IdealLimit| Prediction {
            name: ideal_limit.key().to_string(),
            title: ideal_limit.title().to_string(),
            ideal_limit: Some(*ideal_limit),
            changes: Vec::new(),
        };
        IdealLimit::ALL.iter().map(of).collect()
    }

    /// Refuses a GPU without times to compare with.
    pub fn possible(model: &Model) -> Result<(), PredictionError> {
        let timed = |model: &Model| model.hbm.read_gb_per_s.value().is_some();
        if timed(model) {
            return Ok(());
        }
        let others: Vec<String> = Model::names()
            .filter(|name| Model::by_name(name).is_some_and(timed))
            .map(str::to_string)
            .collect();
        Err(wrong(
            format!("no times are modelled for {}: nobody has measured its memory", model.name),
            format!("GPUs with times: {}", others.join(", ")),
        ))
    }

    /// Reads `KEY=VALUE`, or several of them with commas between: then all of them at once. `base` is the GPU
    /// that is emulated.
    pub fn parse(text: &str, base: &Model) -> Result<Prediction, PredictionError> {
        let parts = text.split(',').map(key_and_value).collect::<Result<Vec<_>, _>>()?;
        let changes =
            parts.iter().map(|(key, value)| change(key, value, base)).collect::<Result<Vec<_>, _>>()?;
        for (at, (key, _)) in parts.iter().enumerate() {
            if parts[..at].iter().any(|(before, _)| before == key) {
                return Err(wrong(
                    format!("`{text}` gives `{key}` twice"),
                    "one `--what-if` is one prediction; give the option again for another",
                ));
            }
        }
        let lds = changes.iter().find_map(|it| if let Change::Lds(bytes) = it { Some(*bytes) } else { None });
        let unit = changes.iter().find_map(|it| match it {
            Change::LdsPerUnit(bytes) => Some(*bytes),
            _ => None,
        });
        let most = unit.unwrap_or(base.target().lds.bytes_per_workgroup.value);
        if lds.is_some_and(|bytes| bytes > most) {
            return Err(wrong(
                format!("`{text}`: a workgroup has at most {most} bytes of LDS"),
                "`gpu.lds_per_cu=160K` in the same `--what-if` gives the GPU more",
            ));
        }
        // However it was typed, it is the same prediction.
        let name = parts.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",");
        Ok(Prediction { title: name.clone(), name, ideal_limit: None, changes })
    }

    /// The GPU it runs on.
    pub(crate) fn model(&self, base: &'static Model) -> &'static Model {
        let other = |it: &Change| if let Change::Model(model) = it { Some(*model) } else { None };
        self.changes.iter().find_map(other).unwrap_or(base)
    }

    /// Rates of its parts.
    pub(crate) fn rates(&self, base: &'static Model) -> Rates {
        let model = self.model(base);
        let rates = Rates::of(model);
        let rates = self.ideal_limit.map_or(rates.clone(), |ideal_limit| rates.without(ideal_limit));
        self.changes.iter().fold(rates, |rates, it| match it {
            Change::Bandwidth(bytes) => rates.with_bandwidth(model, *bytes),
            _ => rates,
        })
    }

    /// The simulated GPU of the prediction, with empty caches.
    pub(crate) fn gpu(&self, base: &'static Model) -> Gpu {
        Gpu::with_rates(self.model(base), &self.rates(base))
    }

    /// The launch of a kernel with the resources `asked`, or the reason why no workgroup fits.
    pub(crate) fn grid(&self, base: &'static Model, grid: &Grid, asked: &Resources) -> Result<Grid, String> {
        let order =
            self.changes.iter().find_map(|it| if let Change::Order(it) = it { Some(*it) } else { None });
        Ok(Grid {
            groups_per_unit: self.groups_per_unit(base, asked)?,
            order: order.unwrap_or(grid.order),
            ..grid.clone()
        })
    }

    /// Workgroups per compute unit, or the reason why none fits.
    pub(crate) fn groups_per_unit(&self, base: &'static Model, asked: &Resources) -> Result<u32, String> {
        let target = self.model(base).target();
        let is = *asked;
        let mut asked = is;
        match self.ideal_limit {
            Some(IdealLimit::Registers) => (asked.vgprs, asked.agprs) = (0, 0),
            Some(IdealLimit::LdsSize) => asked.lds_bytes = 0,
            _ => {}
        }
        let (mut unit, mut waves) = (None, None);
        for it in &self.changes {
            match it {
                Change::Registers(count) => (asked.vgprs, asked.agprs) = (*count, 0),
                Change::Lds(bytes) => asked.lds_bytes = *bytes,
                Change::LdsPerUnit(bytes) => unit = Some(*bytes),
                Change::Waves(count) => waves = Some(*count),
                Change::Order(_) | Change::Bandwidth(_) | Change::Model(_) => {}
            }
        }
        let found = arch::occupancy(target, &asked);
        let admits = |limit: &arch::Limit| match (limit.resource, unit) {
            (Limiter::Lds, Some(bytes)) => {
                let granule = target.lds.granule.value;
                let taken = asked.lds_bytes.checked_next_multiple_of(granule).unwrap_or(u32::MAX);
                bytes.checked_div(taken).unwrap_or(u32::MAX)
            }
            _ => limit.workgroups,
        };
        let slots = |limit: &&arch::Limit| {
            waves.is_none() || matches!(limit.resource, Limiter::WaveSlots | Limiter::BarrierSlots)
        };
        let tightest = found.limits.iter().filter(slots).min_by_key(|limit| admits(limit));
        let most = tightest.map_or(1, admits);
        let (group, simds) = (asked.waves_per_workgroup.max(1), target.simds_per_cu.value);
        let wanted = waves.map_or(u32::MAX, |waves| waves * simds / group);
        if wanted == 0 {
            let needed = group.div_ceil(simds);
            return Err(format!("a workgroup of {group} waves does not fit (needs {needed} per SIMD)"));
        }
        // A launch that never had a place is none the worse for a change.
        let limit = match tightest {
            Some(limit) if most == 0 && arch::occupancy(target, &is).workgroups_per_cu > 0 => limit,
            _ => return Ok(most.min(wanted).max(1)),
        };
        Err(match limit.resource {
            Limiter::Lds => format!("a workgroup takes {} bytes of LDS", asked.lds_bytes),
            Limiter::Vgpr | Limiter::Agpr => {
                let fits = |vgprs: &u32| {
                    arch::occupancy(target, &Resources { vgprs: *vgprs, ..asked }).workgroups_per_cu > 0
                };
                let vgprs = (0..asked.vgprs).rev().find(fits).unwrap_or(0);
                format!("a workgroup of {group} waves does not fit (has at most {vgprs} VGPRs)")
            }
            other => format!("a workgroup of {group} waves does not fit ({})", other.name()),
        })
    }
}

/// Possible changes, as a hint.
fn examples() -> String {
    let all: Vec<&str> = CHANGES.iter().map(|(_, example)| *example).collect();
    format!("what can be changed: {}", all.join(", "))
}

/// Splits `KEY=VALUE`; the key is converted to lower case.
fn key_and_value(text: &str) -> Result<(String, &str), PredictionError> {
    let text = text.trim();
    let Some((key, value)) = text.split_once('=') else {
        return Err(wrong(format!("`{text}` is not KEY=VALUE"), examples()));
    };
    Ok((key.trim().to_ascii_lowercase(), value.trim()))
}

fn change(key: &str, value: &str, base: &Model) -> Result<Change, PredictionError> {
    let text = format!("{key}={value}");
    let target = base.target();
    let count = |least: u32, most: u32, what: &str| -> Result<u32, PredictionError> {
        let number = bytes(value).filter(|it| (f64::from(least)..=f64::from(most)).contains(it));
        number.map(|it| it as u32).ok_or_else(|| {
            wrong(
                format!("`{text}`: `{value}` is not {what}"),
                format!("give a number from {least} to {most}"),
            )
        })
    };
    match key {
        "vgpr" => count(1, target.registers.vgprs_per_lane.value, "a number of vector registers")
            .map(Change::Registers),
        "lds" => count(0, 1 << 20, "a number of bytes of LDS").map(Change::Lds),
        "waves_per_eu" => {
            count(1, target.waves_per_simd.value, "a number of waves of a SIMD").map(Change::Waves)
        }
        "workgroup-order" => match value {
            "xcd-swizzle" => Ok(Change::Order(Order::Blocks)),
            "linear" => Ok(Change::Order(Order::Round)),
            _ => Err(wrong(
                format!("`{text}`: there is no order `{value}`"),
                "orders are `linear`, which goes round the XCDs, and `xcd-swizzle`, in which each XCD gets workgroups that follow each other",
            )),
        },
        "gpu.hbm_bandwidth" => {
            let number = bytes(value).filter(|it| (1e9..=1e15).contains(it));
            number.map(Change::Bandwidth).ok_or_else(|| {
                wrong(
                    format!("`{text}`: `{value}` is not a bandwidth"),
                    "give bytes a second, from 1e9 to 1e15: `8e12` is 8 TB/s",
                )
            })
        }
        "gpu.lds_per_cu" => count(1, 1 << 24, "a number of bytes of LDS").map(Change::LdsPerUnit),
        "gpu" => {
            let Some(model) = Model::by_name(value) else {
                let (name, clock) = value.split_once('@').unwrap_or((value, ""));
                if let Some(model) = Model::by_name(name) {
                    return Err(wrong(
                        format!("`{text}`: the engine of {} does not run at `{clock}` MHz", model.name),
                        format!("give a clock from {LOWEST_MHZ} to {}", model.engine_mhz.value),
                    ));
                }
                let names: Vec<&str> = Model::names().collect();
                return Err(wrong(
                    format!("there is no GPU `{value}`"),
                    format!("known are {}", names.join(", ")),
                ));
            };
            if model.target().name != target.name {
                let same: Vec<String> = Model::of_target(target).map(|model| model.key()).collect();
                return Err(wrong(
                    format!(
                        "`{text}`: code for {} does not run on it, which is a {}",
                        target.name,
                        model.target().name
                    ),
                    format!(
                        "GPUs that run it: {}; for another profile code compiled for {}",
                        same.join(", "),
                        model.target().name
                    ),
                ));
            }
            Prediction::possible(model)?;
            Ok(Change::Model(model))
        }
        _ => Err(wrong(format!("`{key}` is nothing that can be changed"), examples())),
    }
}

/// A number with an optional suffix `K`, `M` or `G` (powers of 1024).
fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 1024.0),
        (at, 'M' | 'm') => (&text[..at], 1024.0 * 1024.0),
        (at, 'G' | 'g') => (&text[..at], 1024.0 * 1024.0 * 1024.0),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|it| it * unit).filter(|it| it.is_finite() && *it >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> &'static Model {
        Model::by_name("mi300x").unwrap()
    }

    #[test]
    fn errors_name_the_valid_values() {
        for text in [
            "vgprs=96",
            "96",
            "vgpr=0",
            "vgpr=many",
            "waves_per_eu=9",
            "lds=100K",
            "workgroup-order=snake",
            "gpu.hbm_bandwidth=8",
            "gpu=h100",
            "gpu=mi300x@99999",
            "gpu=mi300x@",
            "gpu=mi210",
            "vgpr=96,VGPR = 64",
        ] {
            let error = Prediction::parse(text, model()).unwrap_err();
            testkit::golden(text, &format!("{}\nhint: {}", error.message, error.hint));
        }
    }

    #[test]
    fn a_gpu_without_times_has_no_predictions() {
        assert!(Prediction::possible(Model::by_name("mi355x").unwrap()).is_ok());
        let error = Prediction::possible(Model::by_name("mi100").unwrap()).unwrap_err();
        assert!(error.message.contains("Instinct MI100"), "{error}");
        assert!(error.hint.contains("mi210, mi250, mi250x, mi300a, mi300x"), "{error}");
    }

    #[test]
    fn changes_of_a_kernel_change_how_many_workgroups_find_a_place() {
        let asked = Resources { vgprs: 256, agprs: 0, sgprs: 32, lds_bytes: 32_768, waves_per_workgroup: 4 };
        let of =
            |text: &str| Prediction::parse(text, model()).unwrap().groups_per_unit(model(), &asked).unwrap();
        let without_limit = |ideal_limit: IdealLimit, asked: Resources| {
            let all = Prediction::lifts();
            all.iter()
                .find(|it| it.ideal_limit == Some(ideal_limit))
                .unwrap()
                .groups_per_unit(model(), &asked)
                .unwrap()
        };
        assert_eq!(arch::occupancy(model().target(), &asked).workgroups_per_cu, 2);
        for (text, groups) in [
            ("vgpr=128", 2),
            ("vgpr=128,lds=16384", 4),
            ("lds=0", 2),
            ("gpu.lds_per_cu=160K,vgpr=96", 5),
            ("gpu.lds_per_cu=32K", 1),
            ("waves_per_eu=1", 1),
            ("waves_per_eu=4", 4),
            ("gpu.hbm_bandwidth=8e12", 2),
        ] {
            assert_eq!(of(text), groups, "{text}");
        }
        assert_eq!(
            [IdealLimit::Registers, IdealLimit::LdsSize, IdealLimit::L2]
                .map(|ideal_limit| without_limit(ideal_limit, asked)),
            [2, 2, 2]
        );
        let registers_stop = Resources { lds_bytes: 8192, ..asked };
        assert_eq!(
            [IdealLimit::Registers, IdealLimit::L2]
                .map(|ideal_limit| without_limit(ideal_limit, registers_stop)),
            [8, 2]
        );
        let lds_stops = Resources { vgprs: 64, ..asked };
        assert_eq!(
            [IdealLimit::LdsSize, IdealLimit::L2].map(|ideal_limit| without_limit(ideal_limit, lds_stops)),
            [8, 2]
        );
    }

    #[test]
    fn changes_without_a_place_for_a_workgroup_are_refused() {
        let large = Resources { vgprs: 64, agprs: 0, sgprs: 32, lds_bytes: 65_536, waves_per_workgroup: 16 };
        let of = |text: &str, asked: &Resources| {
            Prediction::parse(text, model()).unwrap().groups_per_unit(model(), asked)
        };
        for text in ["waves_per_eu=4", "vgpr=128", "gpu.lds_per_cu=32K,lds=32K"] {
            assert_eq!(of(text, &large), Ok(1), "{text}");
        }
        for text in ["waves_per_eu=3", "waves_per_eu=1", "vgpr=129", "vgpr=512", "gpu.lds_per_cu=32K"] {
            testkit::golden(&format!("{text} of a large workgroup"), &of(text, &large).unwrap_err());
        }
        // What is said to run, runs: a launch without a place as it is keeps the one it is given.
        let none = Resources { vgprs: 256, ..large };
        assert_eq!(of("gpu.hbm_bandwidth=8e12", &none), Ok(1));
        assert!(Prediction::lifts().iter().all(|it| it.groups_per_unit(model(), &none).is_ok()));
    }

    #[test]
    fn spellings_of_one_prediction_are_equal() {
        for text in ["vgpr=96,gpu=mi300a", " VGPR = 96 , Gpu=mi300a "] {
            assert_eq!(Prediction::parse(text, model()).unwrap().name, "vgpr=96,gpu=mi300a", "{text}");
        }
    }
}
