//! Fast path of memory instructions in loops: whole dwords, all lanes active, distances between lanes unchanged.
//!
//! The one idea to keep in mind: facts about the distances are cached, so one register comparison and one bounds
//! check precede the data. All other cases take the general path from the start.

use super::{Access, Data};
use crate::machine::Machine;
use crate::operand::Src;
use crate::raw::Mover;
use crate::wave::Wave;
use isa::{Access as Kind, Space};

impl Access {
    /// True if an instruction may take the fast path.
    pub(super) fn is_simple(&self) -> bool {
        matches!(self.data, Data::Dwords(1..=4))
            && matches!(self.kind, Kind::Load | Kind::Store)
            && matches!(self.space, Space::Global | Space::Flat | Space::Lds)
            && matches!(self.address, Src::Row(_))
            && self.buffer.is_none()
            && self.typed.is_none()
            && self.turned == 0
            && !self.to_lds
            && !self.by_lane
            && (self.kind == Kind::Store || self.dst.is_some())
    }

    /// Executes the whole instruction, or nothing and returns false. All lanes are active. Sets the addresses.
    #[inline(always)]
    pub(crate) fn run_ordinary(&self, mover: impl Mover, machine: &mut Machine<'_>, wave: &mut Wave) -> bool {
        machine.formation = None;
        let Data::Dwords(count) = self.data else { return false };
        if !self.recognise(machine, wave) {
            return false;
        }
        let count = usize::from(count);
        let Machine { addresses, lds, memory, hint, formations, deferred_atomics, time, .. } = machine;
        let Some((distances, lines)) = formations.walk(self.slot) else { return false };
        let store = self.kind == Kind::Store;
        let rows = |element: usize| match (store, self.stored[element], self.dst) {
            (true, Src::Row(row), _) => usize::from(row)..usize::from(row) + count,
            (false, _, Some(dst)) => {
                let first = usize::from(dst) + count * element;
                first..first + count
            }
            _ => 0..0,
        };
        if self.space == Space::Lds {
            let elements = usize::from(self.elements).min(2);
            // Either all elements are done or none.
            if (0..elements).any(|element| {
                !distances.fit_within(lds.len(), addresses[element][0], 4 * count)
                    || wave.v.get(rows(element)).is_none()
            }) {
                return false;
            }
            for (element, addresses) in addresses.iter().enumerate().take(elements) {
                let rows = wave.v.get_mut(rows(element)).unwrap_or_default();
                if store {
                    mover.store_lds(lds, addresses[0], distances, rows);
                } else {
                    mover.load_lds(lds, addresses[0], distances, rows);
                }
            }
            return true;
        }
        let first = addresses[0][0];
        let (Some(rows), Some((range, base))) = (wave.v.get_mut(rows(0)), memory.range_near(hint, first))
        else {
            return false;
        };
        let (least, most) = distances.limits();
        let end = first.wrapping_add(most as u64).wrapping_add(4 * count as u64);
        if deferred_atomics.has_notes_in(first.wrapping_add(least as u64)..end) {
            return false;
        }
        let now = *time + u64::from(store || self.coherent);
        let at = first.wrapping_sub(base);
        let done = if store {
            mover.store(range, at, distances, rows)
        } else {
            mover.load(range, at, distances, (!self.coherent).then_some((lines, now)), rows)
        };
        if done {
            *time = now;
        }
        done
    }
}
