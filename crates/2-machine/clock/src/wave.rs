//! State of a resident wave: its position in its stream and the completion cycles of its memory accesses.

use mem::{Cursor, Event};

/// Most outstanding vector accesses of a wave.
pub(crate) const MOST_VECTOR: usize = 64;
/// Most outstanding LDS and scalar accesses of a wave.
pub(crate) const MOST_OTHER: usize = 16;

/// Marks the absence of an instruction index.
pub(crate) const NO_INSTRUCTION: u32 = u32::MAX;

/// A resident wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wave {
    /// Index of its workgroup among the resident ones.
    pub(crate) group: u32,
    /// Index of the wave in its workgroup.
    pub(crate) number: u32,
    /// Index of its SIMD in the compute unit.
    pub(crate) simd: u8,
    pub(crate) state: WaveState,
    /// Position in the wave's stream.
    pub(crate) cursor: Cursor,
    /// Next event of the stream, once decoded.
    pub(crate) event: Option<Event>,
    /// Index of the next instruction.
    pub(crate) next: u32,
    /// Index one past the last instruction of the current run.
    pub(crate) end: u32,
    /// Cycle at which the wave started.
    pub(crate) started: u64,
    /// Vector accesses issued.
    pub(crate) vector_issued: u32,
    /// Vector accesses whose completion cycle is known.
    pub(crate) vector_completed: u32,
    /// LDS and scalar accesses issued.
    pub(crate) other_issued: u32,
    /// Cycle at which the current wait began.
    pub(crate) waits_since: u64,
    /// Index of the instruction that waits.
    pub(crate) waits_at: u32,
    /// The wave owns slots of the vector L1's queue for its next access.
    pub(crate) admitted: bool,
}

/// Why a wave is not in the calendar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaveState {
    /// The wave is in the calendar.
    Running,
    /// Waits until this many vector accesses have completed.
    Vector(u32),
    /// Waits at a barrier.
    Barrier,
    /// Waits for slots of the vector L1's queue.
    L1Queue,
}

/// Completion cycles of a wave's outstanding accesses, in issue order; rings indexed by access number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completions {
    vector: [u64; MOST_VECTOR],
    other: [u64; MOST_OTHER],
}

impl Default for Completions {
    fn default() -> Completions {
        Completions { vector: [0; MOST_VECTOR], other: [0; MOST_OTHER] }
    }
}

impl Completions {
    /// A word to touch so that the wave's completions are prefetched.
    #[inline]
    pub(crate) fn prefetch_word(&self) -> u64 {
        self.other[0]
    }
}

impl Default for Wave {
    fn default() -> Wave {
        Wave {
            group: 0,
            number: 0,
            simd: 0,
            state: WaveState::Running,
            cursor: Cursor::default(),
            event: None,
            next: NO_INSTRUCTION,
            end: NO_INSTRUCTION,
            started: 0,
            vector_issued: 0,
            vector_completed: 0,
            other_issued: 0,
            waits_since: 0,
            waits_at: NO_INSTRUCTION,
            admitted: false,
        }
    }
}

impl Wave {
    /// Starts a wave at a cycle.
    pub(crate) fn begin(&mut self, group: u32, number: u32, simd: usize, started: u64) {
        *self = Wave { group, number, simd: simd as u8, started, ..Wave::default() };
    }

    /// A word to touch so that the wave's next event is prefetched.
    #[inline]
    pub(crate) fn prefetch_word(&self, bytes: &[u8]) -> u64 {
        u64::from(self.cursor.next_byte(bytes))
    }

    /// Decodes the next event of the resident part of the stream, and keeps it.
    #[inline]
    pub(crate) fn peek(&mut self, bytes: &[u8]) -> Option<Event> {
        if self.event.is_none() {
            self.event = self.cursor.next(bytes);
        }
        self.event
    }

    /// Vector accesses without a known completion.
    pub(crate) fn outstanding(&self) -> u32 {
        self.vector_issued - self.vector_completed
    }

    /// Completion cycle of the first `count` vector accesses; `None` while one of them has no known
    /// completion.
    pub(crate) fn vector_completion(&self, completions: &Completions, count: u32) -> Option<u64> {
        match count {
            0 => Some(0),
            count if count > self.vector_completed => None,
            count => Some(completions.vector[(count - 1) as usize % MOST_VECTOR]),
        }
    }

    /// Records the completion cycle of the oldest outstanding vector access. Accesses complete in order:
    /// returns the cycle, at least the completion cycle of the access before.
    pub(crate) fn complete_vector(&mut self, completions: &mut Completions, cycle: u64) -> u64 {
        let before = self.vector_completion(completions, self.vector_completed).unwrap_or(0);
        let cycle = cycle.max(before);
        completions.vector[self.vector_completed as usize % MOST_VECTOR] = cycle;
        self.vector_completed += 1;
        cycle
    }

    /// Completion cycle of the first `count` LDS and scalar accesses.
    pub(crate) fn lds_or_scalar_completion(&self, completions: &Completions, count: u32) -> u64 {
        count.checked_sub(1).map_or(0, |last| completions.other[last as usize % MOST_OTHER])
    }

    /// Issues an LDS or scalar access that completes at a cycle, and not before the access issued before it.
    pub(crate) fn push_lds_or_scalar(&mut self, completions: &mut Completions, cycle: u64) {
        let before = self.lds_or_scalar_completion(completions, self.other_issued);
        completions.other[self.other_issued as usize % MOST_OTHER] = cycle.max(before);
        self.other_issued += 1;
    }

    /// Begins to wait at a cycle, before the next instruction.
    pub(crate) fn wait_for(&mut self, state: WaveState, since: u64) {
        (self.state, self.waits_since, self.waits_at) = (state, since, self.next);
    }
}
