//! LDS reads that transpose elements among 16 lanes.
//!
//! The one idea to keep in mind: the data of 16 lanes is one sequence of elements, lane by lane. After the read,
//! element *k* of lane *m* is number 16 *k* + *m* of the sequence. So a tile whose rows are consecutive in the
//! LDS arrives column by column.

use crate::lanes::{LANES, Row};

/// Lanes that exchange elements.
const GROUP: usize = 16;

/// Bits of an element, from the mnemonic after the space; `None` for reads without transposition.
pub(crate) fn element_bits(name: &str) -> Option<u8> {
    let (_, bits) = name.split_once("_tr_b")?;
    bits.parse().ok()
}

/// Transposes the data that lanes have loaded to `dwords` registers.
pub(crate) fn turn(rows: &mut [Row], dwords: usize, bits: u8) {
    let bits = usize::from(bits).max(1);
    let per_lane = 32 * dwords / bits;
    let loaded: Vec<Row> = rows.iter().take(dwords).copied().collect();
    for row in rows.iter_mut().take(dwords) {
        *row = Row::ZERO;
    }
    let mask = (1u64 << bits) - 1;
    let get = |lane: usize, element: usize| {
        let (at, shift) = (element * bits / 32, element * bits % 32);
        let dword = |number: usize| loaded.get(number).map_or(0, |row: &Row| u64::from(row.0[lane]));
        (dword(at) | dword(at + 1) << 32) >> shift & mask
    };
    for lane in 0..LANES {
        let group = lane / GROUP * GROUP;
        for element in 0..per_lane {
            let number = GROUP * element + lane % GROUP;
            let value = get(group + number / per_lane, number % per_lane);
            let (at, shift) = (element * bits / 32, element * bits % 32);
            let value = value << shift;
            rows[at].0[lane] |= value as u32;
            if let Some(next) = rows.get_mut(at + 1).filter(|_| value >> 32 != 0) {
                next.0[lane] |= (value >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element `element` of a lane.
    fn element(rows: &[Row], lane: usize, bits: usize, element: usize) -> u64 {
        (0..bits).fold(0, |value, bit| {
            let at = element * bits + bit;
            value | u64::from(rows[at / 32].0[lane] >> (at % 32) & 1) << bit
        })
    }

    #[test]
    fn tiles_arrive_column_by_column() {
        // (bits, dwords): a tile has 16 columns and consecutive rows.
        for (bits, dwords) in [(4usize, 2usize), (6, 3), (8, 2), (16, 2)] {
            let per_lane = 32 * dwords / bits;
            let mut rows = [Row::ZERO; 4];
            let value = |group: usize, row: usize, column: usize| {
                (97 * group + 31 * row + 7 * column) as u64 & ((1 << bits) - 1)
            };
            for lane in 0..LANES {
                for k in 0..per_lane {
                    let number = (lane % GROUP) * per_lane + k;
                    let bits_of = value(lane / GROUP, number / GROUP, number % GROUP);
                    for bit in (0..bits).filter(|bit| bits_of >> bit & 1 != 0) {
                        let at = k * bits + bit;
                        rows[at / 32].0[lane] |= 1 << (at % 32);
                    }
                }
            }
            turn(&mut rows, dwords, bits as u8);
            for lane in 0..LANES {
                for k in 0..per_lane {
                    let expected = value(lane / GROUP, k, lane % GROUP);
                    assert_eq!(
                        element(&rows, lane, bits, k),
                        expected,
                        "{bits} bits, lane {lane}, element {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn only_transposing_reads_have_element_bits() {
        let names = ["read_b64_tr_b4", "read_b96_tr_b6", "read_b64_tr_b8", "read_b64_tr_b16", "read_b64"];
        assert_eq!(names.map(element_bits), [Some(4), Some(6), Some(8), Some(16), None]);
    }
}
