//! Events of a compute unit's vector L1: look-ups of the oldest queued access, and slots that become free.

use super::XcdGroup;
use crate::calendar::L1_EVENT;
use crate::l1_queue::{Front, SCRATCH_BASE};
use crate::memory::L1Timing;

impl XcdGroup {
    /// Runs the look-ups of the oldest access in a compute unit's vector L1, as far as they can be done at a
    /// cycle.
    pub(crate) fn vector_l1(&mut self, number: usize, now: u64) {
        let XcdGroup { units, groups, caches, memory, waves, grid, unique_accesses, calendar, .. } = self;
        let unit = &mut units[number];
        let event = number as u32 | L1_EVENT;
        let access = match unit.queue.front(now, memory.rates.l1_lines_in_flight) {
            Front::Empty => return,
            Front::At(cycle) => return calendar.push(cycle, event),
            Front::Ready(access) => access,
        };
        let wave = &waves[access.wave as usize];
        let mut timing = L1Timing::new(memory, &mut unit.lines, (unit.xcd, number));
        timing.now = now;
        timing.translate_at = access.translate_at.unwrap_or(now);
        timing.done = access.done;
        (timing.unblocked, timing.mshrs_full) = (access.unblocked, access.mshrs_full);
        let group = groups[wave.group as usize].as_ref();
        if let Some(group) = group
            && let Some(vector_access) = unique_accesses.get(access.pattern, &group.patterns)
        {
            let block = match vector_access.policy.scratch {
                true => {
                    let place =
                        number as u64 * u64::from(grid.groups_per_unit.max(1)) + u64::from(group.slot);
                    let wave =
                        place.wrapping_mul(group.waves.len() as u64).wrapping_add(u64::from(wave.number));
                    let base = SCRATCH_BASE.wrapping_add(wave.wrapping_mul(grid.scratch));
                    access.block.wrapping_add(base / caches.shape().l2_line)
                }
                false => access.block,
            };
            let who = (unit.xcd, unit.number);
            if !caches.look_up_access(who, (&vector_access, block), &mut access.progress, &mut timing) {
                (access.done, access.translate_at) = (timing.done, Some(timing.translate_at));
                (access.unblocked, access.mshrs_full) = (false, timing.mshrs_full);
                let held_until = timing.held_until.max(now + 1);
                calendar.push(held_until, event);
                return;
            }
            caches.end(unit.xcd, vector_access.policy, &mut access.progress, &mut timing);
        } else {
            timing.now += u64::from(access.demand.lines);
            timing.done = timing.done.max(timing.now - 1 + timing.memory.rates.l1);
        }
        let (end, done) = (timing.now, timing.done.max(timing.now));
        let (wave, last) = (access.wave, access.last);
        unique_accesses.remove(access.pattern);
        let done = unit.queue.finish_front(end, done, memory.rates.l2);
        unit.queue.schedule_wake(number, calendar);
        if unit.queue.continues() {
            calendar.push(end, event);
        }
        if last {
            self.vector_access_done(wave, done);
        }
    }

    /// Resumes waves that waited for slots of a vector L1's queue, the oldest first.
    pub(crate) fn free_l1_slots(&mut self, number: usize, now: u64) {
        let queue = &mut self.units[number].queue;
        for wave in queue.admit_waiting(now, &self.memory.rates) {
            self.calendar.push(now, wave);
        }
        queue.schedule_wake(number, &mut self.calendar);
    }
}
