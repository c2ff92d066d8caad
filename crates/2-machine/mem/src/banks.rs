//! Cycles of an LDS access with bank conflicts.
//!
//! An access is split into groups of adjacent lanes that together need at most one dword per bank, and at
//! most half a wave at a time; a group takes as many cycles as its busiest bank has different dwords. Groups
//! without active lanes take one cycle. Recorded: 32 lanes of 4 and of 16 bytes on a GPU with 64 banks take 2
//! and 4 cycles.

/// Lanes a group has at most.
const MOST_LANES: usize = 32;
/// Bytes a bank gives per cycle.
const BANK_BYTES: u64 = 4;
/// Most dwords of one lane.
const MOST_DWORDS: u64 = 4;
/// Largest number of banks supported.
const MOST_BANKS: usize = 64;

/// Cycles of one LDS access.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BankCycles {
    /// In all.
    pub taken: u64,
    /// Cycles lost to lanes that access different dwords of a bank.
    pub bank: u64,
    /// Cycles lost to lanes that access the same dword and cannot share it: atomics.
    pub address: u64,
    /// Some lane is not aligned to the size of the access, or to a dword where that is larger.
    pub unaligned: bool,
}

/// Cycles of an access of `bytes` per lane at byte offsets `addresses`; `shared` says that lanes at one dword
/// share the access (loads and stores) instead of being serialized (atomics). `banks` is a power of two.
pub fn bank_cycles(addresses: &[u64; 64], lanes: u64, bytes: u32, banks: usize, shared: bool) -> BankCycles {
    let dwords = u64::from(bytes).div_ceil(BANK_BYTES).clamp(1, MOST_DWORDS);
    let banks = banks.clamp(1, MOST_BANKS);
    let group = (banks / dwords.next_power_of_two() as usize).clamp(1, MOST_LANES);
    let alignment = u64::from(bytes).clamp(1, BANK_BYTES).next_power_of_two();
    let groups = (64 / group) as u64;
    if lanes == u64::MAX {
        // Lanes in a row ask the banks in a row, and lanes at one address share it: nothing to sort out.
        let first = addresses[0];
        let (mut off_row, mut off_place, mut all) = (0, 0, 0);
        for (lane, &address) in addresses.iter().enumerate() {
            off_row |= address ^ first.wrapping_add(lane as u64 * dwords * BANK_BYTES);
            off_place |= address ^ first;
            all |= address;
        }
        let fits = dwords as usize * group <= banks;
        if (off_row == 0 && fits && first.is_multiple_of(BANK_BYTES)) || (off_place == 0 && shared) {
            return BankCycles { taken: groups, unaligned: all & (alignment - 1) != 0, ..Default::default() };
        }
    }
    let mut cycles = BankCycles { taken: groups, ..Default::default() };
    for (number, addresses) in addresses.chunks(group).enumerate() {
        let active = lanes >> (number * group) & (u64::MAX >> (64 - group));
        let (bank, address, all) = group_cycles(addresses, active, dwords, banks, shared);
        cycles.bank += bank;
        cycles.address += address;
        cycles.taken += bank + address;
        cycles.unaligned |= all & (alignment - 1) != 0;
    }
    cycles
}

/// Cycles a group takes beyond the first, for different dwords and for one dword several times, and its
/// addresses or-ed.
fn group_cycles(addresses: &[u64], active: u64, dwords: u64, banks: usize, shared: bool) -> (u64, u64, u64) {
    // The dword each bank was asked for first; most groups ask for no second one.
    let mut owners = [0; MOST_BANKS];
    let (mut asked, mut conflict, mut all) = (0u64, false, 0);
    let mut count = 0;
    let mut places = [(0, 0); MOST_LANES * MOST_DWORDS as usize];
    for (lane, &address) in addresses.iter().enumerate() {
        if active >> lane & 1 == 0 {
            continue;
        }
        all |= address;
        for dword in 0..dwords {
            let number = address / BANK_BYTES + dword;
            let bank = number as usize & (banks - 1) & (MOST_BANKS - 1);
            let known = asked >> bank & 1 != 0;
            conflict |= known && (!shared || owners[bank] != number);
            owners[bank] = number;
            asked |= 1 << bank;
            if let Some(place) = places.get_mut(count) {
                *place = (bank, number);
                count += 1;
            }
        }
    }
    if !conflict {
        return (0, 0, all);
    }
    let places = &mut places[..count];
    places.sort_unstable();
    let (mut different, mut together) = (1, 1);
    for bank in places.chunk_by(|a, b| a.0 == b.0) {
        different = different.max(bank.chunk_by(|a, b| a.1 == b.1).count());
        together = together.max(bank.len());
    }
    let address = if shared { 0 } else { together - different };
    (different as u64 - 1, address as u64, all)
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
            let found = bank_cycles(&addresses, lanes, bytes, banks, true);
            let want = BankCycles { taken, bank: lost, address: 0, unaligned: false };
            assert_eq!(found, want, "{stride} {bytes} {banks} {lanes:#x}");
        }
    }

    #[test]
    fn atomics_on_one_dword_follow_each_other() {
        let found = bank_cycles(&[64; 64], u64::MAX, 4, 32, false);
        assert_eq!(found, BankCycles { taken: 64, bank: 0, address: 62, unaligned: false });
    }

    #[test]
    fn unaligned_lanes_are_seen() {
        let addresses = std::array::from_fn(|lane| lane as u64 * 4 + 2);
        assert!(bank_cycles(&addresses, u64::MAX, 4, 32, true).unaligned);
        assert!(!bank_cycles(&addresses, u64::MAX, 2, 32, true).unaligned);
    }

    /// Reference implementation of the rule, without fast paths.
    fn by_the_rule(addresses: &[u64; 64], lanes: u64, bytes: u32, banks: u64, shared: bool) -> (u64, u64) {
        let dwords = u64::from(bytes).div_ceil(4).max(1);
        let group = (banks / dwords.next_power_of_two()).clamp(1, 32);
        let (mut different, mut together) = (0, 0);
        for first in (0..64).step_by(group as usize) {
            let asked: Vec<u64> = (first..first + group as usize)
                .filter(|lane| lanes >> lane & 1 != 0)
                .flat_map(|lane| (0..dwords).map(move |dword| addresses[lane] / 4 + dword))
                .collect();
            let most = |dwords: &[u64]| {
                (0..banks)
                    .map(|bank| dwords.iter().filter(|&&it| it % banks == bank).count())
                    .max()
                    .unwrap_or(0)
            };
            let mut once = asked.clone();
            once.sort_unstable();
            once.dedup();
            different += most(&once).max(1) as u64;
            together += if shared { most(&once) } else { most(&asked) }.max(1) as u64;
        }
        (different, together)
    }

    #[test]
    fn short_ways_lead_to_the_same() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..4000 {
            let bytes = [1, 2, 4, 8, 12, 16][next(6) as usize];
            let (stride, start, spread) = (next(40), next(64), [1, 1, 8, 4096][next(4) as usize]);
            let addresses =
                std::array::from_fn(|lane| (start + lane as u64 * stride * 2 + next(spread)) & !1);
            let lanes = if next(3) == 0 { next(u64::MAX >> 33) * next(u64::MAX >> 33) } else { u64::MAX };
            for banks in [32, 64] {
                for shared in [true, false] {
                    let found = bank_cycles(&addresses, lanes, bytes, banks as usize, shared);
                    let expected = by_the_rule(&addresses, lanes, bytes, banks, shared);
                    let got = (found.taken - found.address, found.taken);
                    assert_eq!(got, expected, "{round} {bytes} {lanes:#x} {banks} {shared} {addresses:?}");
                }
            }
        }
    }
}
