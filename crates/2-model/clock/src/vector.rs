//! Vector memory accesses of a compute unit.
//!
//! The one idea to keep in mind: accesses go through the vector L1 one after the other, a look-up a cycle; one that has to
//! wait for a translation or for room keeps all behind it waiting. Translations of an access are asked for ahead of its
//! look-ups. Where many wait, those of the wave that began first are let in first. Answers leave in the order of accesses.

use crate::calendar::Calendar;
use crate::dies::{Dies, L1};
use crate::memory::Port;
use mem::Progress;
use std::collections::{BTreeMap, VecDeque};

/// Where scratch lies: beyond all addresses of programs.
const SCRATCH: u64 = 1 << 50;

/// Accesses that wait for the vector L1.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    accesses: VecDeque<Access>,
    /// Those that were not let in yet, by the start of the wave and the order of issue.
    outside: BTreeMap<(u64, u32), Access>,
    issued: u32,
    /// The L1 is at work: its event is in the calendar.
    active: bool,
    /// Cycle at which it can take the next.
    free: u64,
    /// Cycle at which the last answer left: they leave in the order of accesses.
    left: u64,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) wave: u32,
    /// Number of its form.
    pub(crate) form: u32,
    pub(crate) block: u64,
    /// Cycle at which it issued.
    pub(crate) at: u64,
    /// The instruction makes no more.
    pub(crate) last: bool,
    /// Cycle at which its next translation is asked for, once it has begun.
    ahead: Option<u64>,
    progress: Progress,
    done: u64,
    smooth: bool,
}

impl Queue {
    /// An access issues on a compute unit.
    pub(crate) fn push(
        &mut self,
        access: Access,
        (started, most): (u64, usize),
        unit: usize,
        calendar: &mut Calendar,
    ) {
        if self.accesses.len() < most {
            self.accesses.push_back(access);
        } else {
            self.outside.insert((started, self.issued), access);
            self.issued = self.issued.wrapping_add(1);
        }
        if !self.active {
            self.active = true;
            calendar.push(access.at.max(self.free), unit as u32 | L1);
        }
    }
}

impl Queue {
    /// Something of what the next look-up needs.
    pub(crate) fn soon(&self) -> u64 {
        self.accesses.front().map_or(0, |access| access.block)
    }
}

impl Access {
    /// The last of its instruction.
    pub(crate) fn ends(self) -> Access {
        Access { last: true, ..self }
    }

    pub(crate) fn new(wave: u32, form: u32, block: u64, at: u64, last: bool) -> Access {
        let progress = Progress::default();
        Access { wave, form, block, at, last, ahead: None, progress, done: 0, smooth: true }
    }
}

impl Dies {
    /// A unit's vector L1 works on the access that came first.
    pub(crate) fn vector_l1(&mut self, number: usize, now: u64) {
        let Dies { units, groups, caches, memory, waves, grid, .. } = self;
        let unit = &mut units[number];
        let Some(access) = unit.queue.accesses.front_mut() else {
            unit.queue.active = false;
            return;
        };
        if access.at > now {
            self.calendar.push(access.at, number as u32 | L1);
            return;
        }
        let wave = &waves[access.wave as usize];
        let mut port = Port::new(memory, &mut unit.lines, (unit.xcd, number));
        port.now = now;
        port.ahead = access.ahead.unwrap_or(now);
        port.done = access.done;
        port.smooth = access.smooth;
        let group = groups[wave.group as usize].as_ref();
        if let Some(group) = group
            && let Some(shared) = group.forms.get(access.form as usize)
        {
            let block = match shared.policy.scratch {
                true => {
                    let place =
                        number as u64 * u64::from(grid.groups_per_unit.max(1)) + u64::from(group.slot);
                    let wave =
                        place.wrapping_mul(group.waves.len() as u64).wrapping_add(u64::from(wave.number));
                    let base = SCRATCH.wrapping_add(wave.wrapping_mul(grid.scratch)) / caches.shape().l2_line;
                    access.block.wrapping_add(base)
                }
                false => access.block,
            };
            let who = (unit.xcd, unit.number);
            if !caches.look_ups(who, (&shared, block), &mut access.progress, &mut port) {
                (access.done, access.ahead) = (port.done, Some(port.ahead));
                access.smooth = false;
                let until = port.until.max(now + 1);
                self.calendar.push(until, number as u32 | L1);
                return;
            }
            caches.end(unit.xcd, shared.policy, &mut access.progress, &mut port);
        }
        let (end, done) = (port.now, port.done.max(port.now));
        let (wave, last) = (access.wave, access.last);
        unit.queue.accesses.pop_front();
        if let Some((_, next)) = unit.queue.outside.pop_first() {
            unit.queue.accesses.push_back(next);
        }
        unit.queue.free = end;
        let done = unit.queue.left.max(done);
        unit.queue.left = done;
        if unit.queue.accesses.is_empty() {
            unit.queue.active = false;
        } else {
            self.calendar.push(end, number as u32 | L1);
        }
        if last {
            self.arrives(wave, done);
        }
    }
}
