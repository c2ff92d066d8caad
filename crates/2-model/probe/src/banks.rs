//! Cycles an LDS access takes when lanes ask the same bank.
//!
//! The one idea to keep in mind: an access is worked off in groups of neighbouring lanes that together want at most
//! one dword per bank, and at most half a wave at a time; a group takes as many cycles as its busiest bank has
//! different dwords. Groups without active lanes take their cycle too.

/// Lanes a group has at most.
const MOST_LANES: usize = 32;
/// Bytes a bank gives per cycle.
const BANK_BYTES: u64 = 4;

/// Cycles of one access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cycles {
    /// In all.
    pub(crate) taken: u64,
    /// Lost to lanes that want different dwords of a bank.
    pub(crate) bank: u64,
    /// Lost to lanes that want the same dword, where they cannot share it: atomics.
    pub(crate) address: u64,
    /// Some lane is not aligned to the size of the access, or to a dword where that is larger.
    pub(crate) unaligned: bool,
}

/// Cycles of an access of `bytes` per lane at byte offsets `addresses`; `shared` says that lanes at one address share
/// the access (loads and stores) instead of following each other (atomics). `banks` is a power of two.
pub(crate) fn cycles(addresses: &[u64; 64], lanes: u64, bytes: u32, banks: usize, shared: bool) -> Cycles {
    let dwords = u64::from(bytes).div_ceil(BANK_BYTES).max(1);
    let group = (banks / dwords.next_power_of_two() as usize).clamp(1, MOST_LANES);
    let alignment = u64::from(bytes).clamp(1, BANK_BYTES);
    let mut cycles = Cycles::default();
    let mut asked = [(0u64, 0u64); 64 * 4];
    for first in (0..64).step_by(group) {
        let mut count = 0;
        for lane in (first..first + group).filter(|lane| lanes >> lane & 1 != 0) {
            let address = addresses[lane];
            cycles.unaligned |= !address.is_multiple_of(alignment);
            for dword in 0..dwords.min(4) {
                let number = address / BANK_BYTES + dword;
                asked[count] = (number & (banks as u64 - 1), number);
                count += 1;
            }
        }
        let asked = &mut asked[..count];
        // Lanes in a row ask the banks in a row: nothing to sort out.
        if !asked.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1) || count > banks {
            asked.sort_unstable();
            let (bank, address) = conflicts(asked, shared);
            cycles.bank += bank;
            cycles.address += address;
            cycles.taken += bank + address;
        }
        cycles.taken += 1;
    }
    cycles
}

/// Cycles beyond the first, of banks and dwords in order: for different dwords, and for one dword several times.
fn conflicts(asked: &[(u64, u64)], shared: bool) -> (u64, u64) {
    let (mut different, mut all) = (1, 1);
    for bank in asked.chunk_by(|a, b| a.0 == b.0) {
        let dwords = bank.chunk_by(|a, b| a.1 == b.1).count();
        different = different.max(dwords);
        all = all.max(bank.len());
    }
    let address = if shared { 0 } else { all - different };
    (different as u64 - 1, address as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_and_widths() {
        // (bytes between lanes, bytes per lane, banks, active lanes, cycles, of these lost)
        let all = u64::MAX;
        let cases = [
            (4, 4, 32, all, 2, 0),
            (8, 8, 32, all, 4, 0),
            (16, 16, 32, all, 8, 0),
            // All lanes at one address.
            (0, 4, 32, all, 2, 0),
            (0, 16, 32, all, 8, 0),
            // Every other dword, a column of 32 dwords, the same padded by one.
            (8, 4, 32, all, 4, 2),
            (128, 4, 32, all, 64, 62),
            (132, 4, 32, all, 2, 0),
            // Lanes that are off ask for nothing, their group still has its cycle.
            (128, 4, 32, 1, 2, 0),
            (128, 4, 32, 0xffff_ffff, 33, 31),
            // Bytes of one dword share it.
            (1, 1, 32, all, 2, 0),
            // Twice the banks: recorded on such a GPU, half of the lanes on, 2 and 4 cycles.
            (4, 4, 64, 0xffff_ffff, 2, 0),
            (16, 16, 64, 0xffff_ffff, 4, 0),
        ];
        for (stride, bytes, banks, lanes, taken, lost) in cases {
            let addresses = std::array::from_fn(|lane| lane as u64 * stride);
            let found = cycles(&addresses, lanes, bytes, banks, true);
            let want = Cycles { taken, bank: lost, address: 0, unaligned: false };
            assert_eq!(found, want, "{stride} {bytes} {banks} {lanes:#x}");
        }
    }

    #[test]
    fn atomics_on_one_dword_follow_each_other() {
        let found = cycles(&[64; 64], u64::MAX, 4, 32, false);
        assert_eq!(found, Cycles { taken: 64, bank: 0, address: 62, unaligned: false });
    }

    #[test]
    fn unaligned_lanes_are_seen() {
        let addresses = std::array::from_fn(|lane| lane as u64 * 4 + 2);
        assert!(cycles(&addresses, u64::MAX, 4, 32, true).unaligned);
        assert!(!cycles(&addresses, u64::MAX, 2, 32, true).unaligned);
    }
}
