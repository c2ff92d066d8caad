//! Results of accesses, kept for the next access of the same instruction.
//!
//! The result of an access depends on the offsets between its lanes and on the offset of the first lane in a
//! cache line (or in the row of banks); most instructions repeat both again and again.

/// Number of offsets of the first lane that are kept.
const PLACES: usize = 16;

/// Known accesses of one instruction.
#[derive(Debug)]
pub(crate) struct Memo<T> {
    /// The executor's id of the lane pattern, if it has one.
    formation: Option<u64>,
    lanes: u64,
    /// Offsets of all lanes from the first.
    offsets: [u64; 64],
    /// Offset of the first lane, with the result.
    results: [(u64, T); PLACES],
}

impl<T: Copy + Default> Memo<T> {
    pub(crate) fn new() -> Self {
        Memo { formation: None, lanes: 0, offsets: [0; 64], results: [(u64::MAX, T::default()); PLACES] }
    }

    /// The result for addresses of which only the offset modulo `period` matters, a power of two of at least
    /// 16 bytes.
    #[inline(always)]
    pub(crate) fn get(
        &mut self,
        addresses: &[u64; 64],
        lanes: u64,
        formation: Option<u64>,
        period: u64,
        compute: impl FnOnce() -> T,
    ) -> T {
        let first = addresses[0];
        if lanes != self.lanes || formation.is_none() || formation != self.formation {
            self.formation = formation;
            self.compare(addresses, lanes);
        }
        let place = first & (period - 1);
        let shift = period.trailing_zeros().saturating_sub(PLACES.trailing_zeros());
        let known = &mut self.results[(place >> shift) as usize & (PLACES - 1)];
        if known.0 != place {
            *known = (place, compute());
        }
        known.1
    }

    /// Clears the results when the active lanes or their offsets change.
    #[inline(always)]
    fn compare(&mut self, addresses: &[u64; 64], lanes: u64) {
        let first = addresses[0];
        let mut differing = lanes ^ self.lanes;
        for (address, offset) in addresses.iter().zip(&self.offsets) {
            differing |= address.wrapping_sub(first) ^ offset;
        }
        if differing != 0 {
            self.lanes = lanes;
            for (address, offset) in addresses.iter().zip(&mut self.offsets) {
                *offset = address.wrapping_sub(first);
            }
            for result in &mut self.results {
                result.0 = u64::MAX;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_once_for_the_same_place_and_offsets() {
        let mut memo = Memo::new();
        let mut computed = 0;
        let mut get = |start: u64, stride: u64, lanes: u64, formation: Option<u64>| {
            let addresses = std::array::from_fn(|lane| start + stride * lane as u64);
            memo.get(&addresses, lanes, formation, 64, || {
                computed += 1;
                (start & 63, stride, lanes)
            })
        };
        for (start, stride, lanes, formation) in [
            (0, 4, !0, None),
            (64, 4, !0, None),
            (8, 4, !0, Some(1)),
            (128, 4, !0, Some(1)),
            (72, 4, !0, None),
            (0, 8, !0, Some(2)),
            (0, 8, 1, Some(2)),
            (0, 4, !0, Some(3)),
        ] {
            assert_eq!(get(start, stride, lanes, formation), (start & 63, stride, lanes));
        }
        assert_eq!(computed, 5);
    }
}
