//! Launches that would do what an earlier one did, which are counted and not run.
//!
//! The one idea to keep in mind: a launch may be left out when the same kernel with the same arguments ran before on
//! exactly the memory that is there now and left it as it was. The digest of all memory says so, before and after the
//! run and before each launch that is left out, so that writes of the host, of copies and of other kernels all count.
//! Reading all memory must be cheaper than running the kernel, or nothing is looked at.

use crate::work::Kernel;
use emu::{Digest, Memory};
use record::Dispatch;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are surely read in a second.
const BYTES_PER_SECOND: f64 = 2e9;
/// How many times longer than reading all memory a kernel takes for which that is done.
const WORTH: f64 = 2.0;
/// Runs before the first look.
const FEWEST: u32 = 2;
/// Most kernels with arguments that are known.
const MOST: usize = 4096;
/// Launches without looking double after a look that found a change, up to this many.
const MOST_UNSEEN: u32 = 64;

/// A kernel with its arguments and size, and the launch before it where that matters.
type Key = [u64; 2];

/// Facts of a kernel with its arguments.
#[derive(Clone, Debug)]
struct Known {
    /// How long it ran, the shortest of its runs, and how often: the first takes longer.
    seconds: f64,
    runs: u32,
    /// Memory that it leaves as it is, and what a run on that memory gave.
    fixed: Option<(Digest, Outcome)>,
    /// Launches until the next look, and how many after the one behind.
    wait: u32,
    unseen: u32,
}

/// Results of a run that a launch which is left out has too.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Outcome {
    /// Nanoseconds, where they are known.
    pub(crate) time: Option<f64>,
    /// The recorded dispatch.
    pub(crate) dispatch: Option<Arc<Dispatch>>,
}

/// Plan of a launch.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Plan {
    /// Run it; the digest of memory before it, where that is worth it.
    Run(Key, Option<Digest>),
    /// Nothing would change.
    Count(Outcome),
}

/// Results that a launch must have besides its effect.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Needs {
    /// A modelled time, which depends on what the launch before left in the caches.
    pub(crate) time: bool,
    /// A recorded dispatch.
    pub(crate) dispatch: bool,
}

impl Needs {
    /// A recorded launch without a time has none in another run either.
    fn are_met(self, by: &Outcome) -> bool {
        let is_recorded = by.dispatch.is_some();
        (!self.time || by.time.is_some() || is_recorded) && (!self.dispatch || is_recorded)
    }
}

/// Launches so far.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    known: HashMap<Key, Known>,
    /// The launch before.
    last: u64,
    /// Launches that were counted and not run.
    pub(crate) counted: u64,
}

impl Repeats {
    /// The caches are empty now.
    pub(crate) fn empty_caches(&mut self) {
        self.last = 0;
    }

    /// Plan of a launch. `except` are ranges in which the runtime keeps arguments.
    pub(crate) fn plan(&mut self, kernel: &Kernel, memory: &Memory, except: &[u64], needs: Needs) -> Plan {
        let identity = identity(kernel);
        // The launch before has to be the same where it matters.
        let key = [identity, if needs.time { self.last } else { 0 }];
        self.last = identity;
        let Some(known) = self.known.get_mut(&key) else { return Plan::Run(key, None) };
        if known.runs < FEWEST
            || known.seconds < WORTH * memory.digest_bytes(except) as f64 / BYTES_PER_SECOND
        {
            return Plan::Run(key, None);
        }
        if known.fixed.is_none() && known.wait > 0 {
            known.wait -= 1;
            return Plan::Run(key, None);
        }
        let now = memory.digest(except);
        match &known.fixed {
            Some((digest, outcome)) if *digest == now && needs.are_met(outcome) => {
                self.counted += 1;
                Plan::Count(outcome.clone())
            }
            _ => Plan::Run(key, Some(now)),
        }
    }

    /// A launch ran.
    pub(crate) fn ran(
        &mut self,
        (key, before): (Key, Option<Digest>),
        (took, outcome): (Duration, Outcome),
        memory: &Memory,
        except: &[u64],
    ) {
        if self.known.len() >= MOST && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let new = Known { seconds: f64::MAX, runs: 0, fixed: None, wait: 0, unseen: 0 };
        let known = self.known.entry(key).or_insert(new);
        known.seconds = known.seconds.min(took.as_secs_f64());
        known.runs = known.runs.saturating_add(1);
        let Some(before) = before else { return };
        let after = memory.digest(except);
        if after == before {
            (known.fixed, known.unseen) = (Some((before, outcome)), 0);
        } else if known.fixed.as_ref().is_none_or(|it| it.0 != after) {
            let unseen = (2 * known.unseen + 1).min(MOST_UNSEEN);
            (known.fixed, known.wait, known.unseen) = (None, unseen, unseen);
        }
    }
}

/// Kernel, sizes and arguments as a number.
fn identity(kernel: &Kernel) -> u64 {
    let Kernel { handle: _, device: _, function, grid, workgroup, dynamic_lds, arguments, cooperative } =
        kernel;
    let mut hasher = DefaultHasher::new();
    (function.module, &function.name, grid, workgroup, dynamic_lds, arguments, cooperative).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Function;

    const LONG: Duration = Duration::from_secs(10);

    fn kernel(argument: u8) -> Kernel {
        Kernel {
            handle: 0,
            function: Function { module: 0, name: "f".into() },
            grid: [64, 1, 1],
            workgroup: [64, 1, 1],
            dynamic_lds: 0,
            arguments: vec![argument],
            cooperative: false,
            device: 0,
        }
    }

    /// Launches, each of which writes a byte; true for those that are left out.
    fn counted(launches: &[(u8, u8)], time: bool, took: Duration) -> Vec<bool> {
        let mut memory = Memory::new();
        let place = memory.allocate("a", 64);
        let mut repeats = Repeats::default();
        let mut out = Vec::new();
        for &(argument, written) in launches {
            let plan = repeats.plan(&kernel(argument), &memory, &[], Needs { time, dispatch: false });
            out.push(matches!(plan, Plan::Count(_)));
            if let Plan::Run(key, before) = plan {
                memory.write(place, &[written]);
                let outcome = Outcome { time: time.then_some(1.0), dispatch: None };
                repeats.ran((key, before), (took, outcome), &memory, &[]);
            }
        }
        out
    }

    #[test]
    fn launches_on_unchanged_memory_are_left_out() {
        let (yes, no) = (true, false);
        // (argument and byte that each launch writes, whether the launch before has to be the same, those left out)
        type Case<'a> = (&'a [(u8, u8)], bool, &'a [bool]);
        let cases: [Case<'_>; 5] = [
            (&[(1, 7), (1, 7), (1, 7), (1, 7), (1, 7)], no, &[no, no, no, yes, yes]),
            // Each changes the memory.
            (&[(1, 1), (1, 2), (1, 3), (1, 4), (1, 5)], no, &[no; 5]),
            // Another argument, which changes the memory that the first leaves.
            (&[(1, 7), (1, 7), (1, 7), (2, 8), (1, 7), (1, 7)], no, &[no, no, no, no, no, yes]),
            // Two kernels in turn, which leave the memory of each other.
            (&[(1, 7), (2, 7), (1, 7), (2, 7), (1, 7), (2, 7), (1, 7)], no, &[no, no, no, no, no, no, yes]),
            (&[(1, 7), (2, 7), (1, 7), (2, 7), (1, 7), (2, 7), (1, 7)], yes, &[no; 7]),
        ];
        for (launches, in_order, expected) in cases {
            assert_eq!(counted(launches, in_order, LONG), expected, "{launches:?}");
        }
        assert_eq!(counted(&[(1, 7); 4], no, Duration::from_nanos(1)), [no; 4], "reading takes longer");
    }

    #[test]
    fn looks_become_rare_where_memory_changes() {
        let mut memory = Memory::new();
        let place = memory.allocate("a", 64);
        let mut repeats = Repeats::default();
        let mut looks = 0;
        for number in 0..1000u32 {
            let Plan::Run(key, before) = repeats.plan(&kernel(1), &memory, &[], Needs::default()) else {
                panic!("{number}")
            };
            looks += u32::from(before.is_some());
            memory.write(place, &number.to_le_bytes());
            repeats.ran((key, before), (LONG, Outcome::default()), &memory, &[]);
        }
        assert!((10..30).contains(&looks), "{looks}");
    }
}
