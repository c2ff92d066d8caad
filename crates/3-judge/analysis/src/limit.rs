//! The limits of a GPU that a simulation lifted one at a time, and which of them says most of a kernel.
//!
//! The one idea to keep in mind: a roofline says what a kernel is near to, a lifted limit what it would gain; where both are
//! known, the gain leads.

use crate::roofline::Bound;
use crate::workload::predictions::Times;

/// What a kernel would save.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saved {
    /// Nanoseconds, of all its dispatches.
    pub ns: f64,
    /// Nanoseconds they take.
    pub base: f64,
}

impl Saved {
    pub(crate) fn of(times: Times) -> Saved {
        Saved { ns: times.saved().max(0.0), base: times.base }
    }

    /// Part of the time.
    pub fn part(self) -> f64 {
        self.ns / self.base
    }
}

/// A limit of the GPU that was lifted in a simulation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limit<'a> {
    /// Name in files: a row of docs/breakdown.md.
    pub name: &'a str,
    /// Name for people.
    pub title: &'a str,
    /// What the kernel would save without it.
    pub saved: Saved,
}

/// The limit that costs a kernel most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Leading<'a> {
    /// The limit.
    pub limit: Limit<'a>,
    /// What it does to the kernel, after "held up by".
    pub what: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// Part of the time from which on a limit leads.
const LEADS: f64 = 0.05;

impl<'a> Leading<'a> {
    /// The first of the limits, which come most first, if it costs enough to lead.
    pub(crate) fn of(limits: &[Limit<'a>]) -> Option<Leading<'a>> {
        let limit = *limits.first().filter(|limit| limit.saved.part() >= LEADS)?;
        let (_, what, advice) = *WHAT_AND_ADVICE.iter().find(|(name, _, _)| *name == limit.name)?;
        Some(Leading { limit, what, advice })
    }

    /// The roofline says the same.
    pub fn is_bound(&self, bound: &Bound) -> bool {
        match bound {
            Bound::Ceiling { share, .. } => share.name == "HBM" && self.limit.name == "hbm",
            Bound::VectorIssue { .. } => self.limit.name == "issue",
            Bound::Launch { .. } => self.limit.name == "launch",
            Bound::Latency { .. } => self.limit.name == "memory-latency",
        }
    }
}

/// By limit: what it does to a kernel, and what to do about it.
const WHAT_AND_ADVICE: &[(&str, &str, &str)] = &[
    (
        "l1",
        "misses of the vector L1",
        "use a line for all it is good for while it is there: smaller tiles, another order of loops",
    ),
    (
        "l2",
        "lines that leave the L2 and come back",
        "let workgroups that run together share their lines: another order of workgroups, smaller tiles",
    ),
    (
        "hbm",
        "memory bandwidth",
        "move fewer bytes: fuse with neighbouring kernels, narrower types, reuse in the caches",
    ),
    (
        "memory-latency",
        "the latency of memory",
        "have more in flight: more waves, more independent loads per wave, loads issued earlier",
    ),
    (
        "lds-conflicts",
        "bank conflicts of the LDS",
        "pad or swizzle the rows so that lanes come to different banks",
    ),
    (
        "lds-size",
        "workgroups that wait for LDS",
        "take less LDS per workgroup, so that more of them run at a time",
    ),
    (
        "registers",
        "waves that wait for registers",
        "take fewer vector registers, so that more waves run at a time",
    ),
    (
        "barriers",
        "barriers",
        "let waves depend on fewer others: smaller workgroups, fewer phases, work between arrival and need",
    ),
    (
        "issue",
        "the issue of instructions",
        "spend fewer instructions on addresses, conversions and control per useful operation",
    ),
    (
        "mfma",
        "wait states of matrix instructions",
        "put independent matrix instructions between dependent ones",
    ),
    ("launch", "the start of its waves", "give each wave more work, or put several small kernels into one"),
    (
        "translation",
        "address translation",
        "touch fewer pages at a time: neighbouring waves on neighbouring addresses",
    ),
];
