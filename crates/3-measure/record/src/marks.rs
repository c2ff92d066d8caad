//! Trust in the values of a recording.
//!
//! A counter is exact if its rule needs only events of execution. The errors of the others against hardware
//! are in `data/errors.tsv`, or unknown. `data/times.tsv` has errors of times that rest on more kernels; they
//! replace the errors of times in the other file.

use clock::Limit;
use counters::{Class, catalogue};
use probe::{Basis, Formula, Rule, registry};
use probe::{Event, Source};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use workload::{Mark, Marks, TIME};

/// Comparison of a quantity with hardware.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Compared {
    /// Mean error in percent.
    Error(f64),
    /// It was 0 there and in the model, each time.
    Zero,
}

/// Time in nanoseconds below which a dispatch is short: the time before and after its work matters then, and
/// the model is less exact for it.
const SHORT: f64 = 20e3;

/// Name under which a time is compared with hardware: short times have a separate name.
pub fn time_quantity(nanoseconds: f64) -> &'static str {
    if nanoseconds < SHORT { "time_short" } else { TIME }
}

/// Classes of times, each with its name and the name of the wider class: short and long dispatches, which
/// device memory limits or something else.
pub const TIME_CLASSES: [[&str; 2]; 4] = [
    ["time_short_memory", "time_short"],
    ["time_short_other", "time_short"],
    ["time_memory", TIME],
    ["time_other", TIME],
];

/// Number of a time's class in [`TIME_CLASSES`]; the kind of limit is the modelled one.
pub fn time_class(nanoseconds: f64, limit: Limit) -> usize {
    2 * usize::from(nanoseconds >= SHORT) + usize::from(limit != Limit::Memory)
}

/// Name under which a time from representative XCDs is compared with the time from all XCDs.
pub const TIME_SHARED: &str = "time_shared";

/// Likely error of dispatches that were simulated in part, percent: spread between the estimates of
/// representative XCDs, and error of the extrapolation from the first workgroups.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Apart {
    /// Of times.
    pub(crate) time: f64,
    /// Of counts of caches.
    pub(crate) counts: f64,
}

/// Comparisons with hardware: target, quantity, and mean error.
const ERRORS: &str = include_str!("../data/errors.tsv");

/// Errors of times, in the same format.
const TIMES: &str = include_str!("../data/times.tsv");

/// Comparison of a quantity of a target with hardware; `None` if not compared. Quantities are counters, the
/// names in [`TIME_CLASSES`], and [`TIME_SHARED`].
fn compared(target: &str, quantity: &str) -> Option<Compared> {
    static COMPARED: OnceLock<BTreeMap<(&str, &str), Compared>> = OnceLock::new();
    let compared = COMPARED.get_or_init(|| {
        let row = |line: &'static str| {
            let mut fields = line.split('\t');
            let key = (fields.next()?, fields.next()?);
            let compared = match fields.next()? {
                "zero" => Compared::Zero,
                percent => Compared::Error(percent.parse().ok()?),
            };
            Some((key, compared))
        };
        // A later row replaces an earlier one.
        let rows = [ERRORS, TIMES].into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
        rows.filter_map(row).collect()
    });
    compared.get(&(target, quantity)).copied()
}

/// True if a counter needs more than execution: cache contents or timing.
pub fn is_modelled(rule: &Rule) -> bool {
    let Formula::Sum { terms, .. } = &rule.formula else { return true };
    rule.basis == Basis::Modelled || !terms.iter().all(|(_, source)| matches!(source, Source::Event(_)))
}

/// Whether a counter counts accesses of atomics by the vector L1. Few recordings have them, so its error is
/// unknown for kernels with atomics.
fn counts_atomics(rule: &Rule) -> bool {
    let Formula::Sum { terms, .. } = &rule.formula else { return false };
    terms.iter().any(|(_, source)| ATOMICS.iter().any(|event| *source == Source::Event(*event)))
}

/// Accesses of atomics by the vector L1.
const ATOMICS: [Event; 2] = [Event::TcpAtomic, Event::TcpAtomicReturn];

/// Counters that are not 0 if a kernel has atomics.
pub(crate) const ATOMIC_COUNTERS: [&str; 2] = ["TCP_TOTAL_ATOMIC_WITH_RET", "TCP_TOTAL_ATOMIC_WITHOUT_RET"];

/// The marks of a recording with these counters; `sampled` if only some workgroups ran, `atomics` if an
/// atomic was executed. `times` are the sums of its times by class ([`TIME_CLASSES`]), in nanoseconds; the mark is the one of the
/// class with most of the time. With representative XCDs, the errors grow by their spread `apart`, and
/// the error of times also by the measured error of this method.
pub(crate) fn marks<'a>(
    target: &str,
    counters: impl Iterator<Item = &'a str>,
    (sampled, atomics): (bool, bool),
    times: [f64; 4],
    apart: Option<Apart>,
) -> Marks {
    let found = match compared(target, TIME_SHARED) {
        Some(Compared::Error(error)) => error,
        Some(Compared::Zero) | None => 0.0,
    };
    let more = |class: Class| match (apart, class) {
        (Some(apart), Class::Timing) => apart.time + found,
        (Some(apart), Class::Cache) => apart.counts,
        _ => 0.0,
    };
    let modelled = |quantity: &str, class: Class| match modelled(target, quantity) {
        Mark::Modelled(Some(error)) => Mark::Modelled(Some(error + more(class))),
        other => other,
    };
    let follows = |rule: &Rule| !(is_modelled(rule) || atomics && counts_atomics(rule));
    let mark = |counter: &str| match registry().rule(counter, target).is_some_and(follows) {
        true if sampled => Mark::Sampled,
        true => Mark::Exact,
        false => modelled(counter, catalogue().get(counter).map_or(Class::Timing, |it| it.class)),
    };
    let mut marks: BTreeMap<String, Mark> = counters.map(|it| (it.to_string(), mark(it))).collect();
    let most = times.iter().copied().fold(0.0, f64::max);
    // Without any time the last class has as much as the others.
    let class = times.iter().rposition(|it| *it == most).map_or(&[][..], |it| &TIME_CLASSES[it]);
    let time = class.iter().find(|it| compared(target, it).is_some()).map_or(TIME, |it| *it);
    marks.insert(TIME.to_string(), modelled(time, Class::Timing));
    let zeros = marks.keys().filter(|it| compared(target, it) == Some(Compared::Zero)).cloned().collect();
    Marks::new(marks, zeros)
}

fn modelled(target: &str, quantity: &str) -> Mark {
    match compared(target, quantity) {
        Some(Compared::Error(error)) => Mark::Modelled(Some(error)),
        Some(Compared::Zero) | None => Mark::Modelled(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn counters_of_execution_are_exact() {
        let counters = ["SQ_INSTS_VALU", "TCP_TOTAL_CACHE_ACCESSES", "TCC_HIT", "SQ_WAVE_CYCLES"];
        let marks = marks("gfx942", counters.into_iter(), (false, false), [0.0; 4], None);
        let found = [counters[0], counters[1], counters[2], counters[3], TIME].map(|it| marks.of(it));
        assert_eq!(found[..2], [Mark::Exact; 2]);
        assert!(found[2..].iter().all(|mark| matches!(mark, Mark::Modelled(_))), "{found:?}");
    }

    #[test]
    fn accesses_of_atomics_are_not_exact() {
        let counters = ["TCP_TOTAL_ACCESSES", ATOMIC_COUNTERS[0], ATOMIC_COUNTERS[1], "TCP_TOTAL_READ"];
        let of = |atomics: bool| {
            let marks = marks("gfx90a", counters.into_iter(), (false, atomics), [0.0; 4], None);
            counters.map(|counter| marks.of(counter))
        };
        assert_eq!(of(false), [Mark::Exact; 4]);
        let unknown = Mark::Modelled(None);
        assert_eq!(of(true), [unknown, unknown, unknown, Mark::Exact]);
    }

    #[test]
    fn a_sample_is_not_exact() {
        let marks = marks("gfx942", ["SQ_INSTS_VALU"].into_iter(), (true, false), [0.0; 4], None);
        assert_eq!(marks.of("SQ_INSTS_VALU"), Mark::Sampled);
    }

    #[test]
    fn the_class_with_most_of_the_time_has_the_mark() {
        let mark = |times: &[(f64, Limit)]| {
            let mut sums = [0.0; 4];
            times.iter().for_each(|(time, limit)| sums[time_class(*time, *limit)] += time);
            marks("gfx942", [].into_iter(), (false, false), sums, None).of(TIME)
        };
        use Limit::{L2, Lds, Memory};
        assert_ne!(mark(&[(5e3, L2)]), mark(&[(5e6, L2)]));
        assert_ne!(mark(&[(5e6, Memory)]), mark(&[(5e6, L2)]));
        assert_eq!(mark(&[(5e3, L2), (5e3, Lds), (30e3, L2)]), mark(&[(5e6, Lds)]));
        assert_eq!(mark(&[(5e3, L2), (16e3, L2), (20e3, L2)]), mark(&[(5e3, L2)]));
        assert_eq!(mark(&[]), mark(&[(5e6, L2)]));
        assert!(matches!(mark(&[(5e3, Memory)]), Mark::Modelled(Some(_))));
    }

    #[test]
    fn the_spread_of_xcds_adds_to_the_error() {
        let of = |apart: Option<Apart>| {
            let counters = ["TCC_HIT", "SQ_WAVES"].into_iter();
            let marks = marks("gfx942", counters, (false, false), [0.0, 0.0, 0.0, 5e6], apart);
            ["TCC_HIT", TIME].map(|quantity| match marks.of(quantity) {
                Mark::Modelled(Some(error)) => error,
                other => panic!("{quantity}: {other:?}"),
            })
        };
        let [alone, none, some] =
            [None, Some(Apart::default()), Some(Apart { time: 13.0, counts: 8.0 })].map(of);
        assert!(none[0] == alone[0] && none[1] > alone[1], "{alone:?} {none:?}");
        assert_eq!(some.map(f64::round), [none[0] + 8.0, none[1] + 13.0].map(f64::round));
    }

    #[test]
    fn errors_of_times_of_several_kernels_replace_the_others() {
        for (target, quantity, percent, _) in rows(TIMES) {
            assert!(TIME_CLASSES.as_flattened().contains(&quantity), "{target} {quantity}");
            let error: f64 = percent.parse().unwrap();
            assert!((1.0..60.0).contains(&error), "{target} {quantity}");
            assert_eq!(compared(target, quantity), Some(Compared::Error(error)));
        }
        let targets: BTreeSet<&str> = rows(TIMES).map(|it| it.0).collect();
        assert_eq!(targets, BTreeSet::from(["gfx942", "gfx950"]));
    }

    /// Rows of a file: target, quantity, error, and the fields behind it.
    fn rows(text: &str) -> impl Iterator<Item = (&str, &str, &str, Vec<&str>)> {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or_else(|| panic!("{line}"));
            (next(), next(), next(), fields.collect())
        })
    }

    #[test]
    fn errors_are_those_of_known_quantities() {
        for (target, quantity, percent, counts) in rows(ERRORS) {
            let line = format!("{target} {quantity} {percent}");
            let known = catalogue().get(quantity).is_some_and(|it| catalogue().has(it, target));
            assert!(known || [time_quantity(0.0), TIME, TIME_SHARED].contains(&quantity), "{line}");
            let error = percent.parse::<f64>().ok();
            assert!(
                error.map_or(percent == "zero", |it| it >= 0.0)
                    && counts.len() == 1
                    && counts[0].parse::<u32>().is_ok(),
                "{line}"
            );
            assert!(
                registry().rule(quantity, target).is_none_or(is_modelled),
                "what is exact has no error: {line}"
            );
            if !rows(TIMES).any(|it| (it.0, it.1) == (target, quantity)) {
                let expected = error.map_or(Compared::Zero, Compared::Error);
                assert_eq!(compared(target, quantity), Some(expected));
            }
        }
    }
}
