//! The parts of an XCD behind its first-level caches, as an access sees them.

use crate::count::{Count, FrontCounts};
use crate::l2::{L2, L2Location, L2Request, RequestType};
use crate::memory_owner::MemoryOwner;
use crate::place_predictor::PlacePredictor;
use crate::shape::Shape;
use crate::timing::Timing;
use crate::translations::Translations;
use arch::MemoryType;

/// L2, memory and counts of an XCD, with the timing of an access.
pub(crate) struct Backend<'a, F> {
    pub(crate) shape: &'a Shape,
    pub(crate) memory_owner: &'a MemoryOwner,
    pub(crate) l2: &'a mut L2,
    pub(crate) translations: &'a mut Translations,
    pub(crate) predictor: &'a mut PlacePredictor,
    pub(crate) front_counts: &'a mut FrontCounts,
    pub(crate) timing: &'a mut F,
}

impl<F: Timing> Backend<'_, F> {
    /// Sends a request to the L2; returns the place of its line.
    pub(crate) fn send(&mut self, request: L2Request) -> Option<usize> {
        let at = self.l2.locate(request.line);
        self.send_to(request, &at)
    }

    /// Sends a request whose line has been located.
    pub(crate) fn send_to(&mut self, request: L2Request, at: &L2Location) -> Option<usize> {
        let answer = self.l2.request(request, at);
        if let Some(note) = self.timing.l2_request(&answer)
            && let Some(place) = answer.place
        {
            self.l2.note(place, note);
        }
        answer.place
    }

    /// Merges a read with the one before, of the same line; fetches the sectors that the read before did not.
    pub(crate) fn merge(&mut self, line: u64, touched: u8, local: bool) {
        if let Some(answer) = self.l2.merge(line, touched, local)
            && let Some(note) = self.timing.reads_more_sectors(&answer)
            && let Some(place) = answer.place
        {
            self.l2.note(place, note);
        }
    }
}

/// Count of requests from the vector L1, by request and memory type.
#[inline]
pub(crate) fn by_memory_type(request_type: RequestType, memory: MemoryType) -> Count {
    match (request_type, memory) {
        (RequestType::Read, MemoryType::Rw) => Count::L1ReadRw,
        (RequestType::Read, MemoryType::Nc) => Count::L1ReadNc,
        (RequestType::Read, MemoryType::Cc) => Count::L1ReadCc,
        (RequestType::Read, MemoryType::Uc) => Count::L1ReadUc,
        (RequestType::Write, MemoryType::Rw) => Count::L1WriteRw,
        (RequestType::Write, MemoryType::Nc) => Count::L1WriteNc,
        (RequestType::Write, MemoryType::Cc) => Count::L1WriteCc,
        (RequestType::Write, MemoryType::Uc) => Count::L1WriteUc,
        (RequestType::Atomic, MemoryType::Rw) => Count::L1AtomicRw,
        (RequestType::Atomic, MemoryType::Nc) => Count::L1AtomicNc,
        (RequestType::Atomic, MemoryType::Cc) => Count::L1AtomicCc,
        (RequestType::Atomic, MemoryType::Uc) => Count::L1AtomicUc,
    }
}
