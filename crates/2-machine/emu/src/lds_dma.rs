//! Outstanding loads into the LDS (`global_load_lds_*`, `buffer_load_* … lds`).
//!
//! The one idea to keep in mind: a load reads memory at issue and writes the LDS as late as hardware may: when
//! `s_waitcnt vmcnt(n)` covers it, after every other wave has had a turn. A kernel without the wait reads old data,
//! as on hardware. Loads that no wait covers land when memory has had the time, or when no wave progresses otherwise.

use crate::lanes::{Row, active};
use std::collections::VecDeque;

/// Most vector memory instructions of a wave that `vmcnt` can count: one more does not issue before the oldest is done.
const MOST_OUTSTANDING: u64 = 63;

/// Time in instructions after which a load has landed without a wait: 1,600 cycles if none of them multiplies matrices.
const LONGEST: u64 = 400;

/// An outstanding load.
#[derive(Clone, PartialEq, Debug)]
struct Load {
    /// Number among the vector memory instructions of the wave.
    number: u64,
    /// Time of issue.
    time: u64,
    /// LDS address of lane 0.
    start: u64,
    /// Bytes of a lane, whole dwords.
    bytes: u64,
    lanes: u64,
    data: [Row; 4],
}

impl Load {
    /// First byte in the LDS, and the one behind the last.
    fn range(&self) -> (u64, u64) {
        let lane = |number: u32| self.start.wrapping_add(self.bytes * u64::from(number));
        (lane(self.lanes.trailing_zeros()), lane(64 - self.lanes.leading_zeros()))
    }

    fn overlaps(&self, other: &Load) -> bool {
        let ((start, end), (from, to)) = (self.range(), other.range());
        start < to && from < end
    }
}

/// Outstanding loads of a wave.
#[derive(Clone, Debug, Default)]
pub(crate) struct LdsDma {
    /// Issue number minus program position of the current run's vector memory instructions.
    base: u64,
    /// Vector memory instructions issued.
    issued: u64,
    loads: VecDeque<Load>,
    /// Number of the load that executes.
    number: u64,
    /// Time at which it is issued.
    time: u64,
    /// Last load that the wave's current wait covers.
    waited: Option<u64>,
}

impl LdsDma {
    /// Issues a run; `before` and `behind` count the program's vector memory instructions before the run and before
    /// its end.
    #[inline]
    pub(crate) fn issue_run(&mut self, before: u32, behind: u32) {
        self.base = self.issued.wrapping_sub(u64::from(before));
        self.issued += u64::from(behind - before);
    }

    /// Executes a load with `before` vector memory instructions before it in the program. Lands the loads that must
    /// complete before it can issue; returns the last of them.
    pub(crate) fn begin_load(&mut self, before: u32, time: u64, lds: &mut [u8]) -> Option<u64> {
        self.time = time;
        self.number = self.base.wrapping_add(u64::from(before));
        let done = self.number.checked_sub(MOST_OUTSTANDING)?;
        self.write_to_lds(lds, done);
        Some(done)
    }

    /// Number of the load that executes.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Adds the executing load; `start` is the LDS address of lane 0.
    pub(crate) fn push(&mut self, start: u64, bytes: u64, lanes: u64, data: &[Row; 4]) {
        let LdsDma { number, time, .. } = *self;
        self.loads.push_back(Load { number, time, start, bytes, lanes, data: *data });
    }

    /// Issues a wait for all but `outstanding` vector memory instructions; true if it waits for loads into the LDS.
    pub(crate) fn wait(&mut self, outstanding: u8) -> bool {
        // Numbers begin with 0.
        self.waited = self.issued.checked_sub(u64::from(outstanding) + 1);
        let waited = self.waited;
        self.loads.front().is_some_and(|first| waited.is_some_and(|waited| first.number <= waited))
    }

    /// Takes the last load covered by the current wait.
    pub(crate) fn take_waited(&mut self) -> Option<u64> {
        self.waited.take()
    }

    /// True if the wave waits.
    pub(crate) fn waits(&self) -> bool {
        self.waited.is_some()
    }

    /// No load is outstanding.
    pub(crate) fn is_idle(&self) -> bool {
        self.loads.is_empty()
    }

    /// Writes the data of all loads up to a number to the LDS, in the order of issue.
    pub(crate) fn write_to_lds(&mut self, lds: &mut [u8], number: u64) {
        while let Some(load) = self.loads.pop_front_if(|first| first.number <= number) {
            for lane in active(load.lanes) {
                let start = load.start.wrapping_add(load.bytes * lane as u64);
                for (dword, row) in load.data.iter().take(load.bytes as usize / 4).enumerate() {
                    put(lds, start.wrapping_add(4 * dword as u64), row.0[lane]);
                }
            }
        }
    }

    /// Lands the loads that write where loads of another wave land now and that were issued earlier: loads of waves that
    /// run at the same time land in the order of issue.
    pub(crate) fn land_before(&mut self, other: &LdsDma, lds: &mut [u8]) {
        let Some(waited) = other.waited else { return };
        let land = |it: &&Load| it.number <= waited;
        let earlier = |mine: &&Load| {
            other.loads.iter().take_while(land).any(|it| mine.time < it.time && mine.overlaps(it))
        };
        if let Some(number) = self.loads.iter().rev().find(earlier).map(|it| it.number) {
            self.write_to_lds(lds, number);
        }
    }

    /// Time of issue of the first load if it has landed at a time whether or not a wait covers it.
    pub(crate) fn old(&self, time: u64) -> Option<u64> {
        self.loads.front().map(|load| load.time).filter(|issued| issued + LONGEST < time)
    }

    /// Lands the first load.
    pub(crate) fn land_first(&mut self, lds: &mut [u8]) {
        if let Some(number) = self.loads.front().map(|load| load.number) {
            self.write_to_lds(lds, number);
        }
    }

    /// True if equal loads are outstanding at equal ages.
    pub(crate) fn is_like(&self, other: &LdsDma) -> bool {
        let age = |dma: &LdsDma, number: u64| dma.issued.wrapping_sub(number);
        let waited = |dma: &LdsDma| dma.waited.map(|number| age(dma, number));
        self.loads.len() == other.loads.len()
            && waited(self) == waited(other)
            && self.loads.iter().zip(&other.loads).all(|(a, b)| {
                let number = age(self, a.number) == age(other, b.number);
                number && (a.start, a.bytes, a.lanes) == (b.start, b.bytes, b.lanes) && a.data == b.data
            })
    }
}

/// Writes a dword; out of range nothing happens.
fn put(lds: &mut [u8], at: u64, value: u32) {
    let at = at as usize;
    if let Some(target) = at.checked_add(4).and_then(|end| lds.get_mut(at..end)) {
        target.copy_from_slice(&value.to_le_bytes());
    }
}
