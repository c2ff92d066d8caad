//! Workgroups and waves that start and end.

use super::{SIMDS, WAVES, XcdGroup};
use crate::workgroup::{PendingWorkgroup, ResidentWorkgroup};

/// Where a workgroup runs.
#[derive(Clone, Copy)]
struct Place {
    xcd: usize,
    /// Index of the shader engine in the XCD.
    engine: usize,
    /// Index of the compute unit in the group.
    unit: usize,
}

impl XcdGroup {
    /// Dispatches pending workgroups of an XCD, and records since when others wait although every unit is
    /// full.
    pub(super) fn dispatch(&mut self, xcd: usize, now: u64) {
        let started = self.dispatch_pending(xcd, now);
        let dispatcher = &mut self.dispatchers[xcd];
        let waits = !self.pending[xcd].is_empty() || self.expected[xcd] > 0;
        if waits && dispatcher.full.is_none() && dispatcher.is_full(self.grid.groups_per_unit.max(1)) {
            dispatcher.full = Some(started);
        }
    }

    /// Dispatches pending workgroups of an XCD while compute units have room; returns the cycle at which the
    /// last wave starts.
    fn dispatch_pending(&mut self, xcd: usize, now: u64) -> u64 {
        let most = self.grid.groups_per_unit.max(1);
        let mut last = now;
        while !self.pending[xcd].is_empty() {
            let Some((engine, number)) = self.dispatchers[xcd].find(most) else { return last };
            let Some(workgroup) = self.pending[xcd].pop_front() else { return last };
            let unit = xcd * self.caches.shape().compute_units() + number;
            last = last.max(self.start_workgroup(workgroup, Place { xcd, engine, unit }, now));
        }
        last
    }

    /// Starts a workgroup on a compute unit; returns the cycle at which its last wave starts.
    fn start_workgroup(&mut self, workgroup: PendingWorkgroup, place: Place, now: u64) -> u64 {
        let PendingWorkgroup { group, patterns, bytes, read } = workgroup;
        let Place { xcd, engine, unit } = place;
        self.steady_state.start_workgroup(&group);
        if let Some(footprint) = &mut self.memory.footprint {
            read.iter().for_each(|(xcd, lines)| footprint.add(*xcd, lines));
        }
        let id = self.vacant.pop().unwrap_or_else(|| {
            self.groups.push(None);
            self.groups.len() as u32 - 1
        });
        if !group.waves.is_empty() {
            self.caches.use_unit(xcd, self.units[unit].shared);
        }
        let mut waves = Vec::with_capacity(group.waves.len());
        let (mut first, mut last) = (u64::MAX, now);
        for number in 0..group.waves.len() {
            let start = self.dispatchers[xcd].start(engine, now, self.memory.rates.wave_start);
            (first, last) = (first.min(start), last.max(start));
            waves.push(self.start_wave((id, number as u32), place, start));
        }
        self.dispatchers[xcd].delay(engine, self.memory.rates.group_start);
        let engine = xcd * self.caches.shape().engines.len() + engine;
        let span = &mut self.engine_spans[engine];
        span.0 = span.0.min(first);
        let slot = self.take_workgroup_slot(unit, first);
        let running = waves.len() as u32;
        let resident = ResidentWorkgroup {
            group,
            patterns,
            bytes,
            unit: unit as u32,
            engine,
            slot,
            waves,
            running,
            waiting: 0,
        };
        self.groups[id as usize] = Some(resident);
        if running == 0 {
            self.end_workgroup(id, now);
        }
        last
    }

    /// Starts a wave of a workgroup at a cycle; returns its name. The first wave on a scalar cache fetches
    /// the kernel's code.
    fn start_wave(&mut self, (group, number): (u32, u32), Place { xcd, unit, .. }: Place, start: u64) -> u32 {
        self.outcome.waves.begin(start);
        let shared = self.units[unit].shared;
        let cache = xcd * self.caches.shape().scalar_caches() + shared;
        let code = self.code[cache].get_or_insert_with(|| {
            let has_code = self.caches.has_code((xcd, shared), self.grid.entry);
            let rates = &self.memory.rates;
            start + if has_code { rates.fetch } else { rates.fetch_cold }
        });
        let first_issue = start.max(*code);
        let slot = self.units[unit].take_wave_slot();
        let name = (unit * WAVES + slot) as u32;
        self.waves[name as usize].begin(group, number, slot % SIMDS, start);
        self.windows[name as usize].begin();
        self.calendar.push(first_issue, name);
        name
    }

    /// Takes a workgroup slot of a compute unit, whose first wave starts at a cycle.
    fn take_workgroup_slot(&mut self, unit: usize, start: u64) -> u32 {
        let number = unit;
        let unit = &mut self.units[number];
        if !std::mem::replace(&mut unit.used, true) {
            self.used_units.push(number);
        }
        if unit.groups == 0 {
            unit.since = start;
            if start != u64::MAX {
                self.outcome.units.begin(start);
            }
        }
        unit.groups += 1;
        let slot = (!unit.taken).trailing_zeros().min(63);
        unit.taken |= 1 << slot;
        slot
    }

    /// Ends a wave; its workgroup ends with its last wave, and opens its barrier if all others wait there.
    pub(super) fn end_wave(&mut self, name: u32, now: u64) {
        let wave = &self.waves[name as usize];
        let (id, started) = (wave.group, wave.started);
        self.outcome.wave_cycles += now.saturating_sub(started);
        self.outcome.waves.end(now.max(started));
        self.outcome.waves_end = self.outcome.waves_end.max(now);
        let unit = &mut self.units[name as usize / WAVES];
        let slot = name as usize % WAVES;
        unit.slots[slot % SIMDS] &= !(1 << (slot / SIMDS));
        let Some(group) = &mut self.groups[id as usize] else { return };
        group.running -= 1;
        if group.running == 0 {
            self.end_workgroup(id, now);
        } else {
            self.open_barrier(id, now);
        }
    }

    /// Ends a workgroup, and dispatches pending ones.
    fn end_workgroup(&mut self, id: u32, now: u64) {
        let Some(group) = self.groups[id as usize].take() else { return };
        self.vacant.push(id);
        self.last_end = now;
        self.held_bytes -= group.bytes.min(self.held_bytes);
        let span = &mut self.engine_spans[group.engine];
        span.1 = span.1.max(now);
        let unit = &mut self.units[group.unit as usize];
        unit.groups -= 1;
        unit.taken &= !(1 << group.slot);
        if unit.groups == 0 {
            self.outcome.unit_cycles += now.saturating_sub(unit.since);
            if unit.since != u64::MAX {
                self.outcome.units.end(now.max(unit.since));
            }
        }
        let (xcd, number) = (unit.xcd, unit.number);
        let dispatcher = &mut self.dispatchers[xcd];
        dispatcher.leave(number);
        if let Some(since) = dispatcher.full.take() {
            self.outcome.full_cycles += now.saturating_sub(since);
        }
        if self.steady_state.end_workgroup() {
            self.take_snapshot(now);
        }
        self.dispatch(xcd, now);
    }
}
