//! Cycles an LDS access takes when lanes ask the same bank.
//!
//! The one idea to keep in mind: in each cycle every bank gives one dword, so an access is worked off in groups of
//! neighbouring lanes that together want one dword per bank; a group takes as many cycles as its busiest bank has
//! different addresses. Lanes that read the very same address share it.

use analysis::affine::LANES;

/// Bytes a bank gives per cycle.
const BANK_BYTES: u32 = 4;

/// Cycles of one access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cycles {
    /// As it is.
    pub(crate) taken: u32,
    /// Without conflicts.
    pub(crate) least: u32,
}

/// Cycles of an access of `bytes` per lane at the given lane addresses, all lanes active. `banks` is a power of two.
pub(crate) fn cycles(lanes: &[u32; LANES], bytes: u32, banks: u32) -> Cycles {
    let dwords = bytes.div_ceil(BANK_BYTES).max(1);
    let group = (banks / dwords.next_power_of_two()).clamp(1, LANES as u32) as usize;
    let mut cycles = Cycles::default();
    // Different addresses per bank; 64 lanes of up to four dwords are few enough to keep in order.
    let mut asked: Vec<(u32, u32)> = Vec::with_capacity(banks as usize);
    for lanes in lanes.chunks(group) {
        asked.clear();
        for &lane in lanes {
            for dword in 0..dwords {
                let address = lane.wrapping_add(dword * BANK_BYTES);
                asked.push(((address / BANK_BYTES) & (banks - 1), address));
            }
        }
        asked.sort_unstable();
        asked.dedup();
        let busiest = asked.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(1);
        cycles.taken += busiest as u32;
        cycles.least += 1;
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_widths() {
        // (bytes between lanes, bytes per lane, banks, cycles, without conflicts)
        let cases = [
            // Contiguous accesses of 1, 2, 4, 8 and 16 bytes per lane: rates 4, 2, 1, 1, 1.
            (1, 1, 32, 8, 2),
            (2, 2, 32, 4, 2),
            (4, 4, 32, 2, 2),
            (8, 8, 32, 4, 4),
            (16, 16, 32, 8, 8),
            // All lanes at one address.
            (0, 4, 32, 2, 2),
            (0, 16, 32, 8, 8),
            // Every other dword, a column of 32 dwords, the same padded by one.
            (8, 4, 32, 4, 2),
            (128, 4, 32, 64, 2),
            (132, 4, 32, 2, 2),
            (128, 16, 32, 64, 8),
            // Twice the banks.
            (4, 4, 64, 1, 1),
            (128, 4, 64, 32, 1),
        ];
        for (stride, bytes, banks, taken, least) in cases {
            let lanes = std::array::from_fn(|lane| lane as u32 * stride);
            assert_eq!(cycles(&lanes, bytes, banks), Cycles { taken, least }, "{stride} {bytes} {banks}");
        }
    }
}
