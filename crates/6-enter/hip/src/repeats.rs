//! Launches that would do what an earlier one did, which are counted and not run.
//!
//! The one idea to keep in mind: a launch may be left out when the same kernel with the same arguments ran before on
//! exactly the memory that is there now. A digest of all memory says so, before and after the run and before each
//! launch that is left out, so that writes of the host, of copies and of other kernels all count. The blocks that
//! the earlier run changed are kept and written again; most benchmarks reset their inputs between repetitions.
//! Reading all memory must be cheaper than running the kernel, or nothing is looked at.

use crate::work::Kernel;
use emu::{Changes, Contents, Digest, Memory};
use record::Dispatch;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that are read in a second, before that was measured.
const BYTES_PER_SECOND: f64 = 2e9;
/// Fewest bytes whose reading tells how long it takes.
const FEWEST_MEASURED: u64 = 1 << 14;
/// How many times longer than reading all memory a kernel takes for which that is done.
const WORTH: f64 = 2.0;
/// The same for a kernel that is looked at however often its memory changed: reading costs less than a fifth of the time.
const WORTH_ALWAYS: f64 = 10.0;
/// Runs before the first look.
const FEWEST: u32 = 2;
/// Most kernels with arguments that are known.
const MOST: usize = 4096;
/// Launches without looking double after a look that found a change, up to this many.
const MOST_UNSEEN: u32 = 64;
/// Most bytes of changes that are kept.
const MOST_KEPT: usize = 1 << 30;

/// A kernel with its arguments and size, and the launch before it where that matters.
type Key = [u64; 2];

/// Facts of a kernel with its arguments.
#[derive(Clone, Debug)]
struct Known {
    /// How long it ran, the shortest of its runs, and how often: the first takes longer.
    seconds: f64,
    runs: u32,
    /// Launches until the next look, and how many after the one behind.
    wait: u32,
    unseen: u32,
}

/// Effect of a run on the memory that it found.
#[derive(Debug)]
struct Effect {
    changes: Changes,
    outcome: Outcome,
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
    /// Run it; memory before it, where that is worth it.
    Run(Key, Option<Contents>),
    /// Its effect is known, and is there.
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
#[derive(Debug)]
pub(crate) struct Repeats {
    /// Bytes that are read in a second.
    rate: f64,
    known: HashMap<Key, Known>,
    /// Effects by launch and digest of the memory before it, and their order.
    effects: HashMap<(Key, Digest), Effect>,
    order: VecDeque<(Key, Digest)>,
    kept: usize,
    /// The launch before.
    last: u64,
    /// Launches that were counted and not run.
    pub(crate) counted: u64,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats {
            rate: BYTES_PER_SECOND,
            known: HashMap::new(),
            effects: HashMap::new(),
            order: VecDeque::new(),
            kept: 0,
            last: 0,
            counted: 0,
        }
    }
}

impl Repeats {
    /// Digests of memory, and how fast they come.
    fn look(&mut self, memory: &Memory, except: &[u64]) -> Contents {
        let bytes = memory.digest_bytes(except);
        let start = Instant::now();
        let contents = memory.contents(except);
        if bytes >= FEWEST_MEASURED {
            let rate = bytes as f64 / start.elapsed().as_secs_f64().max(1e-9);
            // The fastest of late, as for kernels: other programs on the CPU slow both down.
            self.rate = rate.max(0.95 * self.rate);
        }
        contents
    }

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
        let ratio = known.seconds * self.rate / memory.digest_bytes(except).max(1) as f64;
        let is_long = ratio >= WORTH_ALWAYS;
        if !is_long && (known.runs < FEWEST || ratio < WORTH) {
            return Plan::Run(key, None);
        }
        if !is_long && known.wait > 0 {
            known.wait -= 1;
            return Plan::Run(key, None);
        }
        let now = self.look(memory, except);
        match self.effects.get(&(key, now.whole)) {
            Some(effect) if needs.are_met(&effect.outcome) => {
                memory.change(&effect.changes);
                self.known.entry(key).and_modify(|it| it.unseen = 0);
                self.counted += 1;
                Plan::Count(effect.outcome.clone())
            }
            _ => Plan::Run(key, Some(now)),
        }
    }

    /// A launch ran.
    pub(crate) fn ran(
        &mut self,
        (key, before): (Key, Option<Contents>),
        (took, outcome): (Duration, Outcome),
        memory: &Memory,
        except: &[u64],
    ) {
        if self.known.len() >= MOST && !self.known.contains_key(&key) {
            self.known.clear();
        }
        let new = Known { seconds: f64::MAX, runs: 0, wait: 0, unseen: 0 };
        let known = self.known.entry(key).or_insert(new);
        known.seconds = known.seconds.min(took.as_secs_f64());
        known.runs = known.runs.saturating_add(1);
        let Some(before) = before else { return };
        let after = self.look(memory, except);
        let Some(known) = self.known.get_mut(&key) else { return };
        if after != before {
            // The first change is followed by a look: most inputs are reset at once or never.
            (known.wait, known.unseen) = (known.unseen, (2 * known.unseen + 1).min(MOST_UNSEEN));
        }
        if let Some(changes) = memory.changes(&before, &after, except) {
            self.keep((key, before.whole), Effect { changes, outcome });
        }
    }

    /// Keeps an effect, in place of the oldest ones if there are too many bytes.
    fn keep(&mut self, place: (Key, Digest), effect: Effect) {
        let bytes = effect.changes.bytes();
        if bytes > MOST_KEPT {
            return;
        }
        self.kept += bytes;
        match self.effects.insert(place, effect) {
            Some(old) => self.kept -= old.changes.bytes(),
            None => self.order.push_back(place),
        }
        while self.kept > MOST_KEPT || self.effects.len() > MOST {
            let Some(oldest) = self.order.pop_front() else { return };
            self.kept -= self.effects.remove(&oldest).map_or(0, |it| it.changes.bytes());
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
    /// A few times longer than reading the memory of these tests takes.
    const MIDDLE: Duration = Duration::from_nanos(160);

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
            (&[(1, 7), (1, 7), (1, 7), (1, 7), (1, 7)], no, &[no, no, yes, yes, yes]),
            // Each changes the memory.
            (&[(1, 1), (1, 2), (1, 3), (1, 4), (1, 5)], no, &[no; 5]),
            // Another argument, which changes the memory that the first leaves.
            (&[(1, 7), (1, 7), (1, 7), (2, 8), (1, 7), (1, 7)], no, &[no, no, yes, no, no, yes]),
            // Two kernels in turn, which leave the memory of each other.
            (&[(1, 7), (2, 7), (1, 7), (2, 7), (1, 7), (2, 7), (1, 7)], no, &[no, no, no, no, yes, yes, yes]),
            (&[(1, 7), (2, 7), (1, 7), (2, 7), (1, 7), (2, 7), (1, 7)], yes, &[no, no, no, no, no, yes, yes]),
        ];
        for (launches, in_order, expected) in cases {
            assert_eq!(counted(launches, in_order, LONG), expected, "{launches:?}");
        }
        assert_eq!(counted(&[(1, 7); 4], no, Duration::from_nanos(1)), [no; 4], "reading takes longer");
    }

    #[test]
    fn effects_on_memory_that_is_reset_are_made_again() {
        // (time of a run, launches that are left out of eight on two states in turn)
        for (took, expected) in [(LONG, 4), (MIDDLE, 2)] {
            let mut memory = Memory::new();
            let place = memory.allocate("a", 64);
            let mut repeats = Repeats::default();
            for number in 0..8u8 {
                let state = number % 2;
                memory.write(place, &[state, 0]);
                let plan = repeats.plan(&kernel(state), &memory, &[], Needs::default());
                if let Plan::Run(key, before) = plan {
                    memory.write(place, &[state, 9 + state]);
                    repeats.ran((key, before), (took, Outcome::default()), &memory, &[]);
                }
                assert_eq!(memory.read(place, 2), Some(vec![state, 9 + state]), "{number}");
            }
            assert_eq!(repeats.counted, expected, "{took:?}");
        }
    }

    #[test]
    fn the_oldest_effects_make_room() {
        let mut memory = Memory::new();
        let place = memory.allocate("a", 64);
        let mut repeats = Repeats::default();
        for number in 0..2 * MOST as u32 {
            let before = memory.contents(&[]);
            memory.write(place, &number.to_le_bytes());
            repeats.ran(([1, 0], Some(before)), (LONG, Outcome::default()), &memory, &[]);
        }
        assert_eq!([repeats.effects.len(), repeats.order.len(), repeats.kept], [MOST, MOST, 64 * MOST]);
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
            repeats.ran((key, before), (MIDDLE, Outcome::default()), &memory, &[]);
        }
        assert!((10..30).contains(&looks), "{looks}");
    }
}
