//! Observers of a running kernel.
//!
//! The one idea to keep in mind: an observer is a type parameter of the executor; the empty one compiles to
//! nothing. Observers are merged in workgroup order, so results do not depend on threads.

use crate::wave::WaveId;
use isa::{Access as Kind, Space};

/// One memory access of a wave.
#[derive(Clone, Copy, Debug)]
pub struct MemoryAccess<'a> {
    /// Index of the instruction in the program.
    pub index: usize,
    /// Space that was reached; a flat access is reported once per space it reached.
    pub space: Space,
    /// Load, store, atomic.
    pub kind: Kind,
    /// Bytes per lane (per wave for scalar memory) of one element.
    pub bytes: u32,
    /// Which element of a two-address LDS instruction.
    pub element: u8,
    /// Active lanes; bit 0 alone for scalar memory.
    pub lanes: u64,
    /// Address of each lane: 64 bits in global memory, byte offsets in LDS and scratch. Only active lanes' count.
    pub addresses: &'a [u64; 64],
    /// Formation: accesses of one instruction with equal formations differ by one amount in all lanes, within one
    /// observer.
    pub formation: Option<u64>,
}

/// A load of a wave into the LDS.
#[derive(Clone, Copy, Debug)]
pub struct LdsDmaLoad {
    /// Index of the instruction in the program.
    pub index: usize,
    /// Number of the instruction among the vector memory instructions that the wave has issued.
    pub number: u64,
    /// LDS address that lane 0 writes.
    pub start: u64,
    /// Bytes that a lane writes, and bytes to the address of the next lane.
    pub stride: u64,
    /// Active lanes.
    pub lanes: u64,
}

/// Receives events. Every method does nothing unless it is overridden.
#[allow(unused_variables, reason = "the names document the events")]
pub trait Observer {
    /// A wave begins with these lanes.
    #[inline(always)]
    fn wave_start(&mut self, wave: WaveId, lanes: u64) {}
    /// An instruction issues, before it executes.
    #[inline(always)]
    fn issue(&mut self, wave: WaveId, index: usize, exec: u64) {}
    /// Instructions issue, one after the other and with the same EXEC, before the first of them executes.
    #[inline(always)]
    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, exec: u64) {
        for index in first..first + count {
            self.issue(wave, index, exec);
        }
    }
    /// A memory instruction reaches memory.
    #[inline(always)]
    fn access(&mut self, wave: WaveId, access: &MemoryAccess<'_>) {}
    /// A load into the LDS issues; its memory access is reported separately.
    #[inline(always)]
    fn lds_dma_load(&mut self, wave: WaveId, load: &LdsDmaLoad) {}
    /// A wave has waited for its loads into the LDS up to a number.
    #[inline(always)]
    fn lds_dma_done(&mut self, wave: WaveId, number: u64) {}
    /// All waves of the workgroup have reached a barrier.
    #[inline(always)]
    fn barrier(&mut self, workgroup: [u32; 3]) {}
    /// A wave ends.
    #[inline(always)]
    fn wave_end(&mut self, wave: WaveId) {}
}

/// Watches nothing.
impl Observer for () {}

/// An observer of any type.
impl Observer for &mut dyn Observer {
    fn wave_start(&mut self, wave: WaveId, lanes: u64) {
        (**self).wave_start(wave, lanes);
    }

    fn issue(&mut self, wave: WaveId, index: usize, exec: u64) {
        (**self).issue(wave, index, exec);
    }

    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, exec: u64) {
        (**self).issue_run(wave, first, count, exec);
    }

    fn access(&mut self, wave: WaveId, access: &MemoryAccess<'_>) {
        (**self).access(wave, access);
    }

    fn lds_dma_load(&mut self, wave: WaveId, load: &LdsDmaLoad) {
        (**self).lds_dma_load(wave, load);
    }

    fn lds_dma_done(&mut self, wave: WaveId, number: u64) {
        (**self).lds_dma_done(wave, number);
    }

    fn barrier(&mut self, workgroup: [u32; 3]) {
        (**self).barrier(workgroup);
    }

    fn wave_end(&mut self, wave: WaveId) {
        (**self).wave_end(wave);
    }
}

/// Two observers at once.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn wave_start(&mut self, wave: WaveId, lanes: u64) {
        self.0.wave_start(wave, lanes);
        self.1.wave_start(wave, lanes);
    }

    #[inline(always)]
    fn issue(&mut self, wave: WaveId, index: usize, exec: u64) {
        self.0.issue(wave, index, exec);
        self.1.issue(wave, index, exec);
    }

    #[inline(always)]
    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, exec: u64) {
        self.0.issue_run(wave, first, count, exec);
        self.1.issue_run(wave, first, count, exec);
    }

    #[inline(always)]
    fn access(&mut self, wave: WaveId, access: &MemoryAccess<'_>) {
        self.0.access(wave, access);
        self.1.access(wave, access);
    }

    #[inline(always)]
    fn lds_dma_load(&mut self, wave: WaveId, load: &LdsDmaLoad) {
        self.0.lds_dma_load(wave, load);
        self.1.lds_dma_load(wave, load);
    }

    #[inline(always)]
    fn lds_dma_done(&mut self, wave: WaveId, number: u64) {
        self.0.lds_dma_done(wave, number);
        self.1.lds_dma_done(wave, number);
    }

    #[inline(always)]
    fn barrier(&mut self, workgroup: [u32; 3]) {
        self.0.barrier(workgroup);
        self.1.barrier(workgroup);
    }

    #[inline(always)]
    fn wave_end(&mut self, wave: WaveId) {
        self.0.wave_end(wave);
        self.1.wave_end(wave);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the events.
    #[derive(Default)]
    struct Log(Vec<&'static str>);

    impl Observer for Log {
        fn wave_start(&mut self, _: WaveId, _: u64) {
            self.0.push("wave start");
        }

        fn issue(&mut self, _: WaveId, _: usize, _: u64) {
            self.0.push("issue");
        }

        fn issue_run(&mut self, _: WaveId, _: usize, _: usize, _: u64) {
            self.0.push("issue run");
        }

        fn access(&mut self, _: WaveId, _: &MemoryAccess<'_>) {
            self.0.push("access");
        }

        fn lds_dma_load(&mut self, _: WaveId, _: &LdsDmaLoad) {
            self.0.push("load");
        }

        fn lds_dma_done(&mut self, _: WaveId, _: u64) {
            self.0.push("done");
        }

        fn barrier(&mut self, _: [u32; 3]) {
            self.0.push("barrier");
        }

        fn wave_end(&mut self, _: WaveId) {
            self.0.push("wave end");
        }
    }

    fn events(observer: &mut impl Observer) {
        let wave = WaveId { workgroup: [0; 3], workgroup_index: 0, wave: 0 };
        let (space, kind) = (Space::Global, Kind::Load);
        let addresses = &[0; 64];
        let access = MemoryAccess {
            index: 0,
            space,
            kind,
            bytes: 4,
            element: 0,
            lanes: 1,
            addresses,
            formation: None,
        };
        observer.wave_start(wave, 1);
        observer.issue(wave, 0, 1);
        observer.issue_run(wave, 0, 2, 1);
        observer.access(wave, &access);
        observer.lds_dma_load(wave, &LdsDmaLoad { index: 0, number: 0, start: 0, stride: 4, lanes: 1 });
        observer.lds_dma_done(wave, 0);
        observer.barrier([0; 3]);
        observer.wave_end(wave);
    }

    #[test]
    fn observers_of_any_type_and_in_pairs_see_every_event() {
        let (mut plain, mut any, mut pair) =
            (Log::default(), Log::default(), (Log::default(), Log::default()));
        events(&mut plain);
        let mut pointer: &mut dyn Observer = &mut any;
        events(&mut pointer);
        events(&mut pair);
        assert_eq!(plain.0.len(), 8);
        assert_eq!([&any.0, &pair.0.0, &pair.1.0], [&plain.0; 3]);
    }
}
