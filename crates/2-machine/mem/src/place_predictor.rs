//! Prediction of the places that lines have in the L2.

use crate::timing::{L1_WAYS, TagLookup};

/// Rows of the table, as a power of two.
const ROW_BITS: u32 = 8;

/// Predicts the place of an L2 line from the last access with the same base and look-up number. Saves the
/// search of the set; a wrong prediction costs a search and changes no result.
#[derive(Clone, Debug)]
pub(crate) struct PlacePredictor {
    /// By hash of the base line, and by look-up number. Places above 65535 are kept as 0.
    places: Box<[[u16; L1_WAYS]; 1 << ROW_BITS]>,
    /// Buffer for the results of a batch, here because both are used together.
    results: Box<[TagLookup; L1_WAYS]>,
}

impl Default for PlacePredictor {
    fn default() -> PlacePredictor {
        PlacePredictor {
            places: Box::new([[0; L1_WAYS]; 1 << ROW_BITS]),
            results: Box::new([TagLookup::default(); L1_WAYS]),
        }
    }
}

impl PlacePredictor {
    /// Records the place of the line of a look-up.
    #[inline(always)]
    pub(crate) fn record(&mut self, base: u64, number: usize, place: usize) {
        self.row(base).0[number % L1_WAYS] = short(place);
    }

    /// Predicted places for look-ups that count from a base line, and the buffer for their results.
    #[inline(always)]
    pub(crate) fn row(&mut self, base: u64) -> (&mut [u16; L1_WAYS], &mut [TagLookup; L1_WAYS]) {
        let row = base.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - ROW_BITS);
        (&mut self.places[row as usize % (1 << ROW_BITS)], &mut self.results)
    }
}

/// A place as the table keeps it.
#[inline(always)]
pub(crate) fn short(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(0)
}
