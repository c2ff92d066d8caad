//! Moving the data of a memory instruction.
//!
//! The one idea to keep in mind: lanes that lie in one registered range need one look-up, and lanes that lie in a row
//! one copy; everything else goes lane by lane and is where faults are found.

use super::{Access, Data, address};
use crate::fault::{Cause, Stop};
use crate::lanes::{LANES, Row};
use crate::machine::{Machine, PRIVATE_BASE, SHARED_BASE};
use crate::memory::Memory;
use crate::observe::MemoryAccess;
use crate::operand::{M0, Src};
use crate::raw::Shared;
use crate::transpose;
use crate::wave::Wave;
use isa::{Access as Kind, Space};

/// Active lanes in order.
pub(super) fn active(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

impl Access {
    /// Executes the instruction; `report` sees each access before it happens.
    pub(crate) fn run(
        &self,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        index: usize,
        report: &mut dyn FnMut(&MemoryAccess<'_>),
    ) -> Result<(), Box<Stop>> {
        let exec = wave.exec();
        if exec == 0 {
            return Ok(());
        }
        let width = (self.data.bytes().div_ceil(4)) as u16;
        for element in 0..usize::from(self.elements) {
            let (space, inside) = address::compute(self, element, machine, wave);
            // The result of lanes out of a buffer's range is 0.
            let mut loaded = [Row::ZERO; 4];
            for (space, lanes) in spaces(space, inside, machine) {
                if lanes == 0 {
                    continue;
                }
                report(&MemoryAccess {
                    index,
                    space,
                    kind: self.kind,
                    bytes: self.data.bytes(),
                    element: element as u8,
                    lanes,
                    addresses: &machine.addresses,
                });
                match self.kind {
                    Kind::Store => self.store(machine, wave, space, lanes, element)?,
                    Kind::Atomic => self.atomic(machine, wave, space, lanes, element, &mut loaded)?,
                    _ => self.load(machine, wave, space, lanes, &mut loaded)?,
                }
            }
            if self.turned != 0 {
                transpose::turn(&mut loaded, usize::from(width), self.turned);
            }
            if self.to_lds {
                self.to_lds(machine, wave, exec, &loaded);
            } else if let Some(dst) = self.dst {
                let first = usize::from(dst + width * element as u16);
                self.write_back(wave, first, &loaded, exec);
            }
        }
        Ok(())
    }

    fn write_back(&self, wave: &mut Wave, first: usize, loaded: &[Row; 4], exec: u64) {
        match self.data {
            Data::Dwords(count) => {
                for (number, row) in loaded.iter().take(usize::from(count)).enumerate() {
                    wave.store_row(first + number, row, exec);
                }
            }
            Data::Part { .. } => wave.store_row(first, &loaded[0], exec),
            Data::Half { high, .. } => {
                let old = wave.v[first];
                let merged = Row(std::array::from_fn(|lane| {
                    let half = loaded[0].0[lane] & 0xffff;
                    if high { old.0[lane] & 0xffff | half << 16 } else { old.0[lane] & 0xffff_0000 | half }
                }));
                wave.store_row(first, &merged, exec);
            }
        }
    }

    fn load(
        &self,
        machine: &mut Machine<'_>,
        wave: &Wave,
        space: Space,
        lanes: u64,
        out: &mut [Row; 4],
    ) -> Result<(), Box<Stop>> {
        let bytes = self.data.bytes();
        match space {
            Space::Lds => {
                for lane in active(lanes) {
                    let from = bytes_at(&machine.lds, machine.addresses[lane], bytes);
                    self.read(lane, out, |at, size| word(from, at, size));
                }
            }
            Space::Scratch => {
                for lane in active(lanes) {
                    let at = scratch_offset(wave, machine.addresses[lane], bytes, lane, "load")?;
                    let from = &wave.scratch[at..at + bytes as usize];
                    self.read(lane, out, |at, size| word(from, at, size));
                }
            }
            _ => return self.load_global(machine, lanes, out),
        }
        Ok(())
    }

    fn load_global(
        &self,
        machine: &mut Machine<'_>,
        lanes: u64,
        out: &mut [Row; 4],
    ) -> Result<(), Box<Stop>> {
        let bytes = u64::from(self.data.bytes());
        let memory = machine.memory;
        if let Some((range, at, low)) = span(memory, &mut machine.hint, &machine.addresses, lanes, bytes) {
            if lanes == u64::MAX
                && self.data == Data::Dwords(1)
                && in_a_row(&machine.addresses)
                && range.load_row(at, &mut out[0])
            {
                return Ok(());
            }
            for lane in active(lanes) {
                let start = at + (machine.addresses[lane] - low) as usize;
                self.read(lane, out, |offset, size| shared_word(range, start + offset, size));
            }
            return Ok(());
        }
        for lane in active(lanes) {
            let address = machine.addresses[lane];
            let (range, start) = locate(memory, &mut machine.hint, address, bytes, lane, "load")?;
            self.read(lane, out, |offset, size| shared_word(range, start + offset, size));
        }
        Ok(())
    }

    /// One lane's element through a function that reads 1, 2 or 4 bytes.
    #[inline(always)]
    fn read(&self, lane: usize, out: &mut [Row; 4], from: impl Fn(usize, usize) -> u32) {
        match self.data {
            Data::Part { bytes, signed } | Data::Half { bytes, signed, .. } => {
                let value = from(0, usize::from(bytes));
                let shift = 32 - 8 * u32::from(bytes);
                out[0].0[lane] = if signed { ((value << shift) as i32 >> shift) as u32 } else { value };
            }
            Data::Dwords(count) => {
                for (number, row) in out.iter_mut().take(usize::from(count)).enumerate() {
                    row.0[lane] = from(4 * number, 4);
                }
            }
        }
    }

    fn store(
        &self,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        space: Space,
        lanes: u64,
        element: usize,
    ) -> Result<(), Box<Stop>> {
        let Src::Row(first) = self.stored[element] else { return Ok(()) };
        let first = usize::from(first);
        let bytes = self.data.bytes();
        match space {
            Space::Lds => {
                for lane in active(lanes) {
                    let at = machine.addresses[lane];
                    let lds = &mut machine.lds;
                    self.write(lane, &wave.v[first..], |offset, size, value| {
                        put(lds, at.wrapping_add(offset as u64), size, value);
                    });
                }
            }
            Space::Scratch => {
                for lane in active(lanes) {
                    let at = scratch_offset(wave, machine.addresses[lane], bytes, lane, "store")?;
                    let Wave { v, scratch, .. } = wave;
                    self.write(lane, &v[first..], |offset, size, value| {
                        put(scratch, (at + offset) as u64, size, value);
                    });
                }
            }
            _ => {
                let memory = machine.memory;
                let found = span(memory, &mut machine.hint, &machine.addresses, lanes, u64::from(bytes));
                if let Some((range, at, low)) = found {
                    if lanes == u64::MAX
                        && self.data == Data::Dwords(1)
                        && in_a_row(&machine.addresses)
                        && range.store_row(at, &wave.v[first])
                    {
                        return Ok(());
                    }
                    for lane in active(lanes) {
                        let start = at + (machine.addresses[lane] - low) as usize;
                        self.write(lane, &wave.v[first..], |offset, size, value| {
                            put_shared(range, start + offset, size, value);
                        });
                    }
                    return Ok(());
                }
                for lane in active(lanes) {
                    let address = machine.addresses[lane];
                    let (range, start) =
                        locate(memory, &mut machine.hint, address, u64::from(bytes), lane, "store")?;
                    self.write(lane, &wave.v[first..], |offset, size, value| {
                        put_shared(range, start + offset, size, value);
                    });
                }
            }
        }
        Ok(())
    }

    /// One lane's element through a function that writes 1, 2 or 4 bytes.
    #[inline(always)]
    fn write(&self, lane: usize, rows: &[Row], mut to: impl FnMut(usize, usize, u32)) {
        match self.data {
            Data::Part { bytes, .. } => to(0, usize::from(bytes), rows[0].0[lane]),
            Data::Half { bytes, high, .. } => {
                to(0, usize::from(bytes), rows[0].0[lane] >> if high { 16 } else { 0 });
            }
            Data::Dwords(count) => {
                for (number, row) in rows.iter().take(usize::from(count)).enumerate() {
                    to(4 * number, 4, row.0[lane]);
                }
            }
        }
    }

    fn atomic(
        &self,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        space: Space,
        lanes: u64,
        element: usize,
        out: &mut [Row; 4],
    ) -> Result<(), Box<Stop>> {
        let Some(op) = self.atomic else { return Ok(()) };
        let wide = self.data == Data::Dwords(2);
        let bytes = self.data.bytes();
        let value = |wave: &Wave, src: Src, lane: usize| match src {
            Src::Row(row) => {
                let row = usize::from(row);
                let high = if wide { u64::from(wave.v[row + 1].0[lane]) << 32 } else { 0 };
                u64::from(wave.v[row].0[lane]) | high
            }
            _ => 0,
        };
        // Two-address exchanges have one data register per element; the others use both for one.
        let two = self.elements == 2;
        for lane in active(lanes) {
            let first = value(wave, self.stored[if two { element } else { 0 }], lane);
            let second = if two { 0 } else { value(wave, self.stored[1], lane) };
            let address = machine.addresses[lane];
            let old = match space {
                Space::Lds => {
                    let from = bytes_at(&machine.lds, address, bytes);
                    let old = u64::from(word(from, 0, 4))
                        | if wide { u64::from(word(from, 4, 4)) << 32 } else { 0 };
                    let new = op(old, first, second);
                    put(&mut machine.lds, address, 4, new as u32);
                    if wide {
                        put(&mut machine.lds, address + 4, 4, (new >> 32) as u32);
                    }
                    old
                }
                Space::Scratch => {
                    let at = scratch_offset(wave, address, bytes, lane, "atomic")?;
                    let from = &wave.scratch[at..at + bytes as usize];
                    let old = u64::from(word(from, 0, 4))
                        | if wide { u64::from(word(from, 4, 4)) << 32 } else { 0 };
                    let new = op(old, first, second);
                    put(&mut wave.scratch, at as u64, 4, new as u32);
                    if wide {
                        put(&mut wave.scratch, at as u64 + 4, 4, (new >> 32) as u32);
                    }
                    old
                }
                _ => {
                    let memory = machine.memory;
                    let (range, at) =
                        locate(memory, &mut machine.hint, address, u64::from(bytes), lane, "atomic")?;
                    update(range, at, wide, |old| op(old, first, second))
                        .ok_or_else(|| Stop::at(lane, Cause::Misaligned { address, bytes }))?
                }
            };
            out[0].0[lane] = old as u32;
            out[1].0[lane] = (old >> 32) as u32;
        }
        Ok(())
    }

    /// Loads that go to LDS: each lane's element beside the last one's, from M0 on.
    fn to_lds(&self, machine: &mut Machine<'_>, wave: &Wave, exec: u64, loaded: &[Row; 4]) {
        let size = u64::from(self.data.bytes().next_multiple_of(4));
        let start = u64::from(wave.s[usize::from(M0)] & 0x3_ffff).wrapping_add(self.offsets[0] as u64);
        for lane in active(exec) {
            for (number, row) in loaded.iter().take(size as usize / 4).enumerate() {
                let at = start.wrapping_add(size * lane as u64).wrapping_add(4 * number as u64);
                put(&mut machine.lds, at, 4, row.0[lane]);
            }
        }
    }
}

/// A read-modify-write of 32 or 64 bits; `None` when misaligned.
pub(super) fn update(range: &Shared, at: usize, wide: bool, op: impl Fn(u64) -> u64) -> Option<u64> {
    if wide {
        range.update_u64(at, op)
    } else {
        range.update_u32(at, |old| op(u64::from(old)) as u32).map(u64::from)
    }
}

/// The spaces a flat access reaches, each with its lanes; their addresses become offsets.
fn spaces(space: Space, lanes: u64, machine: &mut Machine<'_>) -> [(Space, u64); 3] {
    if space != Space::Flat {
        return [(space, lanes), (space, 0), (space, 0)];
    }
    let (mut shared, mut private) = (0, 0);
    for lane in active(lanes) {
        let address = &mut machine.addresses[lane];
        let window = *address >> 32 << 32;
        if window == SHARED_BASE {
            shared |= 1 << lane;
            *address &= 0xffff_ffff;
        } else if window == PRIVATE_BASE {
            private |= 1 << lane;
            *address &= 0xffff_ffff;
        }
    }
    [(Space::Global, lanes & !shared & !private), (Space::Lds, shared), (Space::Scratch, private)]
}

/// The range that holds the accesses of all active lanes: range, offset of the lowest, lowest address.
fn span<'m>(
    memory: &'m Memory,
    hint: &mut usize,
    addresses: &[u64; LANES],
    lanes: u64,
    bytes: u64,
) -> Option<(&'m Shared, usize, u64)> {
    let (mut low, mut high) = (u64::MAX, 0);
    if lanes == u64::MAX {
        for &address in addresses {
            low = low.min(address);
            high = high.max(address);
        }
    } else {
        for lane in active(lanes) {
            low = low.min(addresses[lane]);
            high = high.max(addresses[lane]);
        }
    }
    let length = high.checked_sub(low)?.checked_add(bytes)?;
    let (range, at) = memory.locate_near(hint, low, length)?;
    Some((range, at, low))
}

/// Each lane's address is four bytes behind the one before.
fn in_a_row(addresses: &[u64; LANES]) -> bool {
    let first = addresses[0];
    let mut differing = 0;
    for (lane, &address) in addresses.iter().enumerate() {
        differing |= address ^ first.wrapping_add(4 * lane as u64);
    }
    differing == 0
}

pub(super) fn locate<'m>(
    memory: &'m Memory,
    hint: &mut usize,
    address: u64,
    bytes: u64,
    lane: usize,
    access: &'static str,
) -> Result<(&'m Shared, usize), Box<Stop>> {
    memory.locate_near(hint, address, bytes).ok_or_else(|| {
        let nearest = memory.nearest(address);
        Stop::at(lane, Cause::Unmapped { access, address, bytes: bytes as u32, nearest })
    })
}

fn scratch_offset(
    wave: &Wave,
    offset: u64,
    bytes: u32,
    lane: usize,
    access: &'static str,
) -> Result<usize, Box<Stop>> {
    let size = u64::from(wave.scratch_bytes);
    if offset + u64::from(bytes) > size {
        return Err(Stop::at(lane, Cause::OutOfRange { access, space: "scratch", offset, size }));
    }
    Ok(lane * wave.scratch_bytes as usize + offset as usize)
}

#[inline(always)]
fn shared_word(range: &Shared, at: usize, size: usize) -> u32 {
    match size {
        1 => u32::from(range.load_u8(at)),
        2 => u32::from(range.load_u16(at)),
        _ => range.load_u32(at),
    }
}

#[inline(always)]
fn put_shared(range: &Shared, at: usize, size: usize, value: u32) {
    match size {
        1 => range.store_u8(at, value as u8),
        2 => range.store_u16(at, value as u16),
        _ => range.store_u32(at, value),
    }
}

/// The bytes of an LDS access; nothing when it is out of range, which reads as 0.
#[inline(always)]
fn bytes_at(bytes: &[u8], at: u64, size: u32) -> &[u8] {
    let at = at as usize;
    bytes.get(at..at + size as usize).unwrap_or(&[])
}

#[inline(always)]
fn word(bytes: &[u8], at: usize, size: usize) -> u32 {
    match (bytes.get(at..at + size), size) {
        (Some(&[a]), _) => u32::from(a),
        (Some(&[a, b]), _) => u32::from(u16::from_le_bytes([a, b])),
        (Some(&[a, b, c, d]), _) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Writes the low bytes of a value; out of range nothing happens.
#[inline(always)]
fn put(bytes: &mut [u8], at: u64, size: usize, value: u32) {
    let at = at as usize;
    if let Some(target) = at.checked_add(size).and_then(|end| bytes.get_mut(at..end)) {
        target.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}
