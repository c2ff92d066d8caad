//! Formations: distances between the lanes of a memory instruction, cached between executions.
//!
//! The one idea to keep in mind: in a loop lanes mostly move together and keep their distances. One register
//! comparison shows it; bounds, alignment and other facts about the distances are then known.

use crate::lanes::{LANES, Row};
use crate::raw::{Distances, Lines};

/// Formation of one instruction.
#[derive(Debug)]
pub(crate) struct Formation {
    /// Low dwords of the addresses, relative to the first lane.
    low: Row,
    /// Number and distances, computed at the second execution with the same distances.
    found: Option<(u64, Distances)>,
    /// Cached memory lines that the lanes walk along.
    lines: Lines,
    /// Trip of the last execution with these distances.
    trip: u64,
}

/// The formations of all memory instructions.
#[derive(Debug, Default)]
pub(crate) struct Formations {
    known: Vec<Option<Box<Formation>>>,
    /// Number of the newest formation.
    names: u64,
}

impl Formations {
    pub(crate) fn new(instructions: usize) -> Formations {
        Formations { known: std::iter::repeat_with(|| None).take(instructions).collect(), names: 0 }
    }

    /// Compares the distances between lanes with the last execution. Returns the formation's number if they are
    /// equal and all addresses lie in one 4 GiB window, in which `origin` is the first lane's offset. `trip` is
    /// given for instructions whose lanes move together during a trip; they are compared only at the first
    /// execution of a trip.
    #[inline(always)]
    pub(crate) fn recognise(
        &mut self,
        slot: u32,
        trip: Option<u64>,
        origin: u32,
        low: &Row,
        high: Option<&Row>,
    ) -> Option<u64> {
        let known = self.known.get_mut(slot as usize)?;
        let Some(formation) = known else {
            *known = Some(Box::new(Formation::new(low)));
            return None;
        };
        if trip != Some(formation.trip) {
            formation.trip = 0;
            let mut differing = 0;
            for lane in 0..LANES {
                differing |= low.0[lane].wrapping_sub(low.0[0]) ^ formation.low.0[lane];
            }
            if differing != 0 {
                formation.remember(low);
                return None;
            }
            if formation.found.is_none() {
                self.names += 1;
                formation.found = Some((self.names, formation.distances()));
            }
            if let Some(high) = high {
                for lane in 0..LANES {
                    differing |= high.0[lane] ^ high.0[0];
                }
            }
            if differing != 0 {
                return None;
            }
        }
        let (name, distances) = formation.found.as_ref()?;
        let (least, most) = distances.limits();
        let origin = i64::from(origin);
        if origin + least < 0 || origin + most > i64::from(u32::MAX) {
            formation.trip = 0;
            return None;
        }
        formation.trip = trip.unwrap_or(0);
        Some(*name)
    }

    /// Distances of an instruction with a recognised formation.
    #[inline(always)]
    pub(crate) fn distances(&self, slot: u32) -> Option<&Distances> {
        let (_, distances) = self.known.get(slot as usize)?.as_ref()?.found.as_ref()?;
        Some(distances)
    }

    /// Distances and cached lines of an instruction with a recognised formation.
    #[inline(always)]
    pub(crate) fn walk(&mut self, slot: u32) -> Option<(&Distances, &mut Lines)> {
        let formation = self.known.get_mut(slot as usize)?.as_mut()?;
        let (_, distances) = formation.found.as_ref()?;
        Some((distances, &mut formation.lines))
    }
}

impl Formation {
    #[cold]
    fn new(low: &Row) -> Formation {
        let mut formation = Formation { low: Row::ZERO, found: None, lines: Lines::default(), trip: 0 };
        formation.remember(low);
        formation
    }

    #[inline(always)]
    fn remember(&mut self, low: &Row) {
        for lane in 0..LANES {
            self.low.0[lane] = low.0[lane].wrapping_sub(low.0[0]);
        }
        self.found = None;
        self.lines.forget();
    }

    /// Distances as signed numbers.
    #[cold]
    fn distances(&self) -> Distances {
        Distances::new(self.low.0.map(|distance| i64::from(distance as i32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// During a trip only the first lane is compared, as long as all addresses lie within 4 GiB.
    #[test]
    fn compares_once_on_a_trip() {
        let mut all = Formations::new(1);
        let row = |start: u32, stride: u32| {
            Row(std::array::from_fn(|lane| start.wrapping_add(stride.wrapping_mul(lane as u32))))
        };
        let cases = [
            (1, row(0x1000, 8), None),
            (1, row(0x1010, 8), Some(1)),
            // These distances differ, but are not compared during the trip.
            (1, row(0x2000, 4), Some(1)),
            (2, row(0x2000, 4), None),
            (2, row(0x2000, 4), Some(2)),
            // The last lanes leave the 4 GiB; distances are compared again.
            (2, row(0xffff_ff80, 4), None),
            (2, row(0x3000, 8), None),
        ];
        for (trip, low, expected) in cases {
            assert_eq!(
                all.recognise(0, Some(trip), low.0[0], &low, None),
                expected,
                "{trip} {:#x}",
                low.0[0]
            );
        }
    }

    #[test]
    fn recognises_lanes_that_move_together() {
        let mut all = Formations::new(1);
        let rows = |start: u64, stride: u64| {
            let address = |lane: usize| start.wrapping_add(stride.wrapping_mul(lane as u64));
            let low = Row(std::array::from_fn(|lane| address(lane) as u32));
            let high = Row(std::array::from_fn(|lane| (address(lane) >> 32) as u32));
            (low, high)
        };
        let back = 8u64.wrapping_neg();
        let cases = [
            (0x7f00_0000_1000, 8, None),
            (0x7f00_0000_1000, 8, Some(1)),
            (0x7f00_0000_2008, 8, Some(1)),
            // Some lanes lie in the next 4 GiB.
            (0x7f00_ffff_ff80, 8, None),
            (0x7f01_0000_0000, 8, Some(1)),
            (0x7f01_0000_1000, back, None),
            (0x7f01_0000_1000, back, Some(2)),
            // Some lanes lie in the previous 4 GiB.
            (0x7f01_0000_0000, back, None),
        ];
        for (start, stride, expected) in cases {
            let (low, high) = rows(start, stride);
            let name = all.recognise(0, None, low.0[0], &low, Some(&high));
            assert_eq!(name, expected, "{start:#x} {stride:#x}");
            if name.is_some() {
                let mut addresses = [0; LANES];
                all.distances(0).unwrap().place(start, &mut addresses);
                for (lane, address) in addresses.iter().enumerate() {
                    assert_eq!(*address, start.wrapping_add(stride.wrapping_mul(lane as u64)));
                }
            }
        }
    }
}
