//! Addresses of the lanes of a memory instruction.
//!
//! The one idea to keep in mind: the addresses of all elements are computed before data moves, because data may
//! overwrite the address registers. Buffer accesses out of range access nothing; the dwords of a lane are checked one by one.

use super::{Access, Buffer};
use crate::lanes::active;
use crate::machine::{Machine, PRIVATE_BASE, SCRATCH_RESOURCE, SHARED_BASE};
use crate::operand::{M0, Src};
use crate::outside::Outside;
use crate::wave::Wave;
use isa::Space;

/// Address spaces of an access with their lanes; only flat accesses reach several.
pub(crate) type Parts = [(Space, u64); 3];

impl Access {
    /// Computes the addresses of all elements; returns the lanes in range by address space.
    #[inline(always)]
    pub(crate) fn reach(&self, machine: &mut Machine<'_>, wave: &Wave) -> Parts {
        machine.formation = None;
        let (space, lanes) = if self.recognise(machine, wave) {
            (self.space, wave.exec())
        } else {
            let mut reached = (self.space, 0);
            for element in 0..usize::from(self.elements) & 3 {
                reached = compute(self, element & 1, machine, wave);
            }
            reached
        };
        if space != Space::Flat {
            return [(space, lanes), (space, 0), (space, 0)];
        }
        windows(lanes, &mut machine.addresses[0])
    }
}

impl Access {
    /// Computes the addresses if the lanes keep the distances of the last execution; false otherwise.
    #[inline(always)]
    pub(super) fn recognise(&self, machine: &mut Machine<'_>, wave: &Wave) -> bool {
        let (Src::Row(row), None) = (self.address, self.buffer) else { return false };
        let base = match self.base {
            Src::None => 0,
            src => machine.scalar(wave, src),
        };
        let low = &wave.v[usize::from(row)];
        let first = u64::from(low.0[0]);
        let start = base.wrapping_add(self.offsets[0] as u64);
        let (origin, high, first) = match (self.space, self.base) {
            (Space::Global | Space::Flat, Src::None) => {
                let high = &wave.v[usize::from(row) + 1];
                (low.0[0], Some(high), (first | u64::from(high.0[0]) << 32).wrapping_add(start))
            }
            (Space::Global | Space::Flat, _) => (low.0[0], None, first.wrapping_add(start)),
            (Space::Lds, _) => {
                let first = (start as u32).wrapping_add(low.0[0]);
                (first, None, u64::from(first))
            }
            _ => return false,
        };
        let Machine { formations, addresses, formation, trip, .. } = machine;
        let trip = (self.walks && wave.exec() == u64::MAX).then_some(*trip);
        let Some(name) = formations.recognise(self.slot, trip, origin, low, high) else { return false };
        let Some(distances) = formations.distances(self.slot) else { return false };
        let second = first.wrapping_add((self.offsets[1] - self.offsets[0]) as u64);
        let (least, most) = distances.limits();
        let stays = |first: u64| {
            // LDS addresses have 32 bits; the lanes of a flat access may reach several spaces.
            match self.space {
                Space::Lds => {
                    let first = first as i64;
                    first + least >= 0 && first + most <= i64::from(u32::MAX)
                }
                Space::Flat => {
                    !in_window(first.wrapping_add(least as u64))
                        && !in_window(first.wrapping_add(most as u64))
                }
                _ => true,
            }
        };
        if !stays(first) || (self.elements == 2 && !stays(second)) {
            return false;
        }
        distances.place(first, &mut addresses[0]);
        if self.elements == 2 {
            distances.place(second, &mut addresses[1]);
        }
        *formation = Some(name);
        true
    }
}

/// An address of LDS or scratch.
#[inline(always)]
fn in_window(address: u64) -> bool {
    let window = address >> 32 << 32;
    window == SHARED_BASE || window == PRIVATE_BASE
}

/// Address spaces of a flat access; addresses in the LDS and scratch windows become offsets.
#[inline(always)]
fn windows(lanes: u64, addresses: &mut [u64; 64]) -> Parts {
    let (mut shared, mut private) = (0, 0);
    let mut any = false;
    for address in addresses.iter() {
        any |= in_window(*address);
    }
    if any {
        for lane in active(lanes) {
            let address = &mut addresses[lane];
            let window = *address >> 32 << 32;
            if window == SHARED_BASE {
                shared |= 1 << lane;
                *address &= 0xffff_ffff;
            } else if window == PRIVATE_BASE {
                private |= 1 << lane;
                *address &= 0xffff_ffff;
            }
        }
    }
    [(Space::Global, lanes & !shared & !private), (Space::Lds, shared), (Space::Scratch, private)]
}

/// Computes the addresses of one element; returns the space and the lanes in range.
#[inline(always)]
fn compute(access: &Access, element: usize, machine: &mut Machine<'_>, wave: &Wave) -> (Space, u64) {
    let exec = wave.exec();
    let offset = access.offsets[element];
    if let Some(buffer) = access.buffer {
        return buffered(access, buffer, offset, machine, wave);
    }
    let base = match access.base {
        Src::None => 0,
        src => machine.scalar(wave, src),
    };
    let addresses = &mut machine.addresses[element];
    match access.space {
        Space::Global | Space::Flat => {
            let start = base.wrapping_add(offset as u64);
            match (access.address, access.base) {
                (Src::Row(row), Src::None) => {
                    let (low, high) = (&wave.v[usize::from(row)], &wave.v[usize::from(row) + 1]);
                    for (lane, address) in addresses.iter_mut().enumerate() {
                        let whole = u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32;
                        *address = whole.wrapping_add(start);
                    }
                }
                (Src::Row(row), _) => {
                    let offsets = &wave.v[usize::from(row)];
                    for (address, offset) in addresses.iter_mut().zip(&offsets.0) {
                        *address = start.wrapping_add(u64::from(*offset));
                    }
                }
                _ => *addresses = [start; 64],
            }
        }
        Space::Lds if access.by_lane => {
            let start = u64::from(wave.s[usize::from(M0)] & 0xffff) + offset as u64;
            for (lane, address) in addresses.iter_mut().enumerate() {
                *address = start + 4 * lane as u64;
            }
        }
        _ => {
            // LDS and scratch: 32-bit offsets.
            let start = (base as u32).wrapping_add(offset as u32);
            match access.address {
                Src::Row(row) => {
                    for (address, offset) in addresses.iter_mut().zip(&wave.v[usize::from(row)].0) {
                        *address = u64::from(start.wrapping_add(*offset));
                    }
                }
                _ => *addresses = [u64::from(start); 64],
            }
        }
    }
    (access.space, exec)
}

/// A buffer resource.
struct Resource {
    base: u64,
    stride: u64,
    records: u64,
    swizzled: bool,
    add_lane: bool,
    index_stride: u64,
    element: u64,
}

impl Resource {
    fn read(wave: &Wave, first: u8) -> Resource {
        let word = |index: u8| wave.s[usize::from(first + index) & 127];
        Resource {
            base: u64::from(word(0)) | u64::from(word(1) & 0xffff) << 32,
            stride: u64::from(word(1) >> 16 & 0x3fff),
            records: u64::from(word(2)),
            swizzled: word(1) >> 31 != 0,
            add_lane: word(3) >> 23 & 1 != 0,
            index_stride: 8 << (word(3) >> 21 & 3),
            element: 2 << (word(3) >> 19 & 3),
        }
    }

    /// The resource of the wave's own scratch.
    fn is_scratch(&self) -> bool {
        self.base >> 32 == SCRATCH_RESOURCE
    }
}

fn buffered(
    access: &Access,
    buffer: Buffer,
    offset: i64,
    machine: &mut Machine<'_>,
    wave: &Wave,
) -> (Space, u64) {
    let resource = Resource::read(wave, buffer.resource);
    let soffset = machine.scalar(wave, buffer.soffset) & 0xffff_ffff;
    let row = |number: u16| match access.address {
        Src::Row(row) => Some(&wave.v[usize::from(row + number)]),
        _ => None,
    };
    let indices = if buffer.index_enable { row(0) } else { None };
    let offsets = if buffer.offset_enable { row(u16::from(buffer.index_enable)) } else { None };
    let bytes = u64::from(access.data.bytes());
    let records = resource.records.saturating_sub(if resource.stride == 0 { soffset } else { 0 });
    let mut inside = 0;
    machine.begun.lanes = 0;
    for lane in 0..64 {
        let within = u64::from(offsets.map_or(0, |row| row.0[lane])).wrapping_add(offset as u64);
        if resource.is_scratch() {
            // The offset register counts bytes of the whole wave.
            machine.addresses[0][lane] = (soffset / 64).wrapping_add(within) & 0xffff_ffff;
            inside |= 1 << lane;
            continue;
        }
        let mut index = u64::from(indices.map_or(0, |row| row.0[lane]));
        if resource.add_lane {
            index += lane as u64;
        }
        let structured = resource.stride != 0 && buffer.index_enable;
        let ends_before = |within: u64| within + bytes <= records;
        let fits = if structured {
            index < resource.records && (!resource.swizzled || within + bytes <= resource.stride)
        } else {
            ends_before(within)
        };
        if fits {
            inside |= 1 << lane;
        } else if within < records && !structured && access.has_separate_dwords() {
            machine.begun.lanes |= wave.exec() & 1 << lane;
            machine.begun.dwords[lane] = ((records - within) / 4) as u8;
        } else if within >> 32 != 0
            && !structured
            && ends_before(within & 0xffff_ffff)
            && wave.exec() >> lane & 1 != 0
        {
            // The check takes the register as unsigned and its sum does not wrap: docs/triton.md has the sources.
            let register = u64::from(offsets.map_or(0, |row| row.0[lane]));
            Outside::note(
                &mut machine.negative,
                access.slot,
                wave.id,
                lane,
                (register, bytes as u32),
                records as usize,
            );
        }
        let linear = if resource.swizzled {
            let (group, place) = (index / resource.index_stride, index % resource.index_stride);
            let (block, rest) = (within / resource.element, within % resource.element);
            (group * resource.stride + block * resource.element) * resource.index_stride
                + place * resource.element
                + rest
        } else {
            index * resource.stride + within
        };
        machine.addresses[0][lane] = resource.base.wrapping_add(soffset).wrapping_add(linear);
    }
    let space = if resource.is_scratch() { Space::Scratch } else { Space::Buffer };
    (space, wave.exec() & inside)
}
