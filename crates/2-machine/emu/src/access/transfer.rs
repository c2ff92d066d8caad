//! Data transfer of memory instructions.
//!
//! The one idea to keep in mind: if all lanes are in one registered range, one check covers them and data goes
//! straight to registers. Other accesses go lane by lane, and only those find faults.

use super::begun::{load_begun, store_begun};
use super::range::{locate, put_shared, shared_word};
use super::{Access, Data};
use crate::atomics::{AtomicOp, update};
use crate::deferred_atomics::Note;
use crate::fault::{Cause, Stop};
use crate::lanes::{LANES, Row, active, are_contiguous_dwords};
use crate::machine::Machine;
use crate::memory::{Hint, Memory};
use crate::operand::{M0, Src};
use crate::outside::Outside;
use crate::raw::Shared;
use crate::transpose;
use crate::typed::Typed;
use crate::wave::Wave;
use isa::{Access as Kind, Space};

/// The part of an access that [`Access::transfer`] moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) space: Space,
    /// Lanes that reach the space.
    pub(crate) lanes: u64,
    /// Index of the element.
    pub(crate) element: usize,
}

impl Access {
    /// Moves the data of one element, for the lanes of one address space.
    #[inline(always)]
    pub(crate) fn transfer(
        &self,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        part: Part,
    ) -> Result<(), Box<Stop>> {
        let Part { space, lanes, element } = part;
        let in_memory = !matches!(space, Space::Lds | Space::Scratch);
        let mut changed = in_memory && (matches!(self.kind, Kind::Store | Kind::Atomic) || self.coherent);
        if in_memory && !(self.can_wait() && machine.deferred_atomics.is_waiting()) {
            let Machine { deferred_atomics, addresses, memory, .. } = machine;
            changed |=
                deferred_atomics.look(&addresses[element], lanes, u64::from(self.data.bytes()), memory);
        }
        machine.time += u64::from(changed);
        if let Some(typed) = self.typed {
            return self.transfer_typed(typed, machine, wave, part);
        }
        match self.kind {
            Kind::Store => self.store(machine, wave, part),
            Kind::Atomic => self.atomic(machine, wave, part),
            _ if self.to_lds => {
                let mut loaded = [Row::ZERO; 4];
                self.load(machine, wave, part, &mut loaded)?;
                let (start, lanes) = (self.lds_start(wave), wave.exec());
                let Machine { lds, outside, .. } = machine;
                for lane in active(lanes) {
                    let at = start.wrapping_add(self.lds_stride() * lane as u64);
                    if at.saturating_add(self.lds_stride()) > lds.len() as u64 {
                        let bytes = self.data.bytes();
                        Outside::note(outside, self.slot, wave.id, lane, (at, bytes), lds.len());
                    }
                }
                wave.dma.push(start, self.lds_stride(), lanes, &loaded);
                Ok(())
            }
            _ if self.turned != 0 => {
                let mut loaded = [Row::ZERO; 4];
                self.load(machine, wave, part, &mut loaded)?;
                let width = self.data.bytes().div_ceil(4) as usize;
                transpose::turn(&mut loaded, width, self.turned);
                let (Some(dst), exec) = (self.dst, wave.exec()) else { return Ok(()) };
                for (number, row) in loaded.iter().take(width).enumerate() {
                    wave.store_row(usize::from(dst) + width * element + number, row, exec);
                }
                Ok(())
            }
            _ => {
                let Some(dst) = self.dst else { return Ok(()) };
                let width = self.data.bytes().div_ceil(4) as usize;
                let first = usize::from(dst) + width * element;
                // The rows leave the register file while they are filled, so that scratch and LDS can be borrowed.
                let mut registers = std::mem::take(&mut wave.v);
                let rows = registers.get_mut(first..).unwrap_or(&mut []);
                let result = self.load(machine, wave, part, rows);
                wave.v = registers;
                result
            }
        }
    }

    /// Moves data whose format in memory differs from the registers.
    #[cold]
    #[inline(never)]
    fn transfer_typed(
        &self,
        typed: Typed,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        part: Part,
    ) -> Result<(), Box<Stop>> {
        let Part { space, lanes, element } = part;
        let mut raw = [Row::ZERO; 4];
        if self.kind != Kind::Store {
            self.load(machine, wave, part, &mut raw)?;
            let (exec, Some(dst)) = (wave.exec(), self.dst) else { return Ok(()) };
            let rows = wave.v.get_mut(usize::from(dst)..).unwrap_or(&mut []);
            active(exec).for_each(|lane| typed.unpack(&raw, lane, rows));
            return Ok(());
        }
        if space == Space::Scratch {
            return Err(Stop::new(Cause::Unsupported("typed store to scratch".into())));
        }
        let Src::Row(first) = self.stored[element] else { return Ok(()) };
        let rows = wave.v.get(usize::from(first)..).unwrap_or(&[]);
        let Machine { addresses, memory, hint, .. } = machine;
        for lane in active(lanes) {
            typed.pack(rows, lane, &mut raw);
            let bytes = u64::from(self.data.bytes());
            let (range, start) = locate(memory, hint, addresses[element][lane], bytes, lane, "store")?;
            self.write(lane, &raw, |offset, size, value| put_shared(range, start + offset, size, value));
        }
        Ok(())
    }

    /// Loads the lanes of the rows; lanes out of a buffer's range get 0.
    #[inline(always)]
    fn load(
        &self,
        machine: &mut Machine<'_>,
        wave: &Wave,
        part: Part,
        out: &mut [Row],
    ) -> Result<(), Box<Stop>> {
        let Part { space, lanes, element } = part;
        let bytes = self.data.bytes();
        if self.buffer.is_some() {
            for lane in active(wave.exec() & !lanes) {
                self.read(lane, out, |_, _| 0);
            }
            if machine.begun.lanes != 0 {
                load_begun(machine, out)?;
            }
        }
        let Machine { addresses, lds, memory, hint, outside, .. } = machine;
        let addresses = &addresses[element];
        if lanes == 0 {
            return Ok(());
        }
        match space {
            Space::Lds => {
                if let Data::Dwords(count) = self.data
                    && lds_rows(count, lds, addresses, lanes, out)
                {
                    return Ok(());
                }
                for lane in active(lanes) {
                    let from = bytes_at(lds, addresses[lane], bytes);
                    if from.is_empty() {
                        let at = (addresses[lane], bytes);
                        Outside::note(outside, self.slot, wave.id, lane, at, lds.len());
                    }
                    self.read(lane, out, |at, size| word(from, at, size));
                }
            }
            Space::Scratch => {
                for lane in active(lanes) {
                    let at = scratch_offset(wave, addresses[lane], bytes, lane, "load")?;
                    let from = &wave.scratch[at..at + bytes as usize];
                    self.read(lane, out, |at, size| word(from, at, size));
                }
            }
            _ => {
                if let Data::Dwords(count) = self.data
                    && let Some((range, base)) = first_range(memory, hint, addresses, lanes)
                    && global_rows(count, range, base, addresses, lanes, out)
                {
                    return Ok(());
                }
                for lane in active(lanes) {
                    let (range, start) =
                        locate(memory, hint, addresses[lane], u64::from(bytes), lane, "load")?;
                    self.read(lane, out, |offset, size| shared_word(range, start + offset, size));
                }
            }
        }
        Ok(())
    }

    /// One lane's element through a function that reads 1, 2 or 4 bytes.
    #[inline(always)]
    fn read(&self, lane: usize, out: &mut [Row], from: impl Fn(usize, usize) -> u32) {
        match self.data {
            Data::Part { bytes, signed } => {
                let Some(row) = out.first_mut() else { return };
                row.0[lane] = extended(from(0, usize::from(bytes)), bytes, signed);
            }
            Data::Half { bytes, signed, high } => {
                let Some(row) = out.first_mut() else { return };
                let half = extended(from(0, usize::from(bytes)), bytes, signed) & 0xffff;
                let old = row.0[lane];
                row.0[lane] = if high { old & 0xffff | half << 16 } else { old & 0xffff_0000 | half };
            }
            Data::Dwords(count) => {
                for (number, row) in out.iter_mut().take(usize::from(count)).enumerate() {
                    row.0[lane] = from(4 * number, 4);
                }
            }
        }
    }

    #[inline(always)]
    fn store(&self, machine: &mut Machine<'_>, wave: &mut Wave, part: Part) -> Result<(), Box<Stop>> {
        let Part { space, lanes, element } = part;
        let Src::Row(first) = self.stored[element] else { return Ok(()) };
        let bytes = self.data.bytes();
        if self.buffer.is_some() && machine.begun.lanes != 0 {
            store_begun(machine, wave.v.get(usize::from(first)..).unwrap_or(&[]))?;
        }
        let Machine { addresses, lds, memory, hint, outside, .. } = machine;
        let addresses = &addresses[element];
        let Wave { v, scratch, scratch_bytes, id, .. } = wave;
        let rows = v.get(usize::from(first)..).unwrap_or(&[]);
        match space {
            _ if lanes == 0 => {}
            Space::Lds => {
                for lane in active(lanes) {
                    let at = addresses[lane];
                    if at.saturating_add(u64::from(bytes)) > lds.len() as u64 {
                        Outside::note(outside, self.slot, *id, lane, (at, bytes), lds.len());
                        continue;
                    }
                    self.write(lane, rows, |offset, size, value| {
                        put(lds, at.wrapping_add(offset as u64), size, value);
                    });
                }
            }
            Space::Scratch => {
                for lane in active(lanes) {
                    let at = scratch_at(*scratch_bytes, addresses[lane], bytes, lane, "store")?;
                    self.write(lane, rows, |offset, size, value| {
                        put(scratch, (at + offset) as u64, size, value);
                    });
                }
            }
            _ => {
                if let Data::Dwords(count) = self.data
                    && let Some((range, base)) = first_range(memory, hint, addresses, lanes)
                    && global_store(count, range, base, addresses, lanes, rows)
                {
                    return Ok(());
                }
                for lane in active(lanes) {
                    let (range, start) =
                        locate(memory, hint, addresses[lane], u64::from(bytes), lane, "store")?;
                    self.write(lane, rows, |offset, size, value| {
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

    #[inline(always)]
    fn atomic(&self, machine: &mut Machine<'_>, wave: &mut Wave, part: Part) -> Result<(), Box<Stop>> {
        let Part { space, lanes, element } = part;
        let Some(op) = self.atomic else { return Ok(()) };
        let wide = self.data == Data::Dwords(2);
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
        let dst = self.dst.map(|dst| usize::from(dst) + if wide { 2 } else { 1 } * element);
        if let (true, Some(dst)) = (self.buffer.is_some(), dst) {
            for lane in active(wave.exec() & !lanes) {
                self.read(lane, &mut wave.v[dst..], |_, _| 0);
            }
        }
        for lane in active(lanes) {
            let first = value(wave, self.stored[if two { element } else { 0 }], lane);
            let second = if two { 0 } else { value(wave, self.stored[1], lane) };
            let address = machine.addresses[element][lane];
            let old = match space {
                Space::Lds => self.atomic_in_lds(op, machine, wave, (lane, address), [first, second]),
                Space::Scratch => {
                    let at = scratch_offset(wave, address, self.data.bytes(), lane, "atomic")?;
                    update_bytes(&mut wave.scratch, at as u64, wide, |old| op(old, first, second))
                }
                _ => match self.atomic_in_memory(op, machine, (lane, address), [first, second])? {
                    Some(old) => old,
                    None => continue,
                },
            };
            if let Some(dst) = dst {
                wave.v[dst].0[lane] = old as u32;
                if wide {
                    wave.v[dst + 1].0[lane] = (old >> 32) as u32;
                }
            }
        }
        Ok(())
    }

    /// Does a lane's atomic in the LDS; returns the old value, 0 past the end.
    #[inline(always)]
    fn atomic_in_lds(
        &self,
        op: AtomicOp,
        machine: &mut Machine<'_>,
        wave: &Wave,
        (lane, address): (usize, u64),
        [first, second]: [u64; 2],
    ) -> u64 {
        let bytes = self.data.bytes();
        let Machine { lds, outside, .. } = machine;
        if bytes_at(lds, address, bytes).is_empty() {
            Outside::note(outside, self.slot, wave.id, lane, (address, bytes), lds.len());
            return 0;
        }
        update_bytes(lds, address, bytes == 8, |old| op(old, first, second))
    }

    /// Does a lane's atomic in memory; returns the old value, `None` if the atomic is deferred.
    #[inline(always)]
    fn atomic_in_memory(
        &self,
        op: AtomicOp,
        machine: &mut Machine<'_>,
        (lane, address): (usize, u64),
        [first, second]: [u64; 2],
    ) -> Result<Option<u64>, Box<Stop>> {
        let (memory, bytes) = (machine.memory, self.data.bytes());
        let wide = bytes == 8;
        let (range, at) = locate(memory, &mut machine.hint, address, u64::from(bytes), lane, "atomic")?;
        let deferred = &mut machine.deferred_atomics;
        if self.can_wait() && deferred.is_waiting() && range.is_aligned(at, bytes) {
            deferred.note(Note { address, op, wide, operands: [first, second] }, memory);
            return Ok(None);
        }
        let old = update(range, at, wide, |old| op(old, first, second));
        old.map(Some).ok_or_else(|| Stop::at(lane, Cause::Misaligned { address, bytes }))
    }

    /// LDS address of lane 0, for a load into the LDS.
    pub(crate) fn lds_start(&self, wave: &Wave) -> u64 {
        u64::from(wave.s[usize::from(M0)] & 0x3_ffff).wrapping_add(self.offsets[0] as u64)
    }

    /// Bytes between the LDS addresses of two lanes, for a load into the LDS: whole dwords.
    pub(crate) fn lds_stride(&self) -> u64 {
        u64::from(self.data.bytes().next_multiple_of(4))
    }
}

/// Replaces 4 bytes, or 8 if `wide`, by a function of them; returns the old value.
#[inline(always)]
fn update_bytes(bytes: &mut [u8], at: u64, wide: bool, change: impl FnOnce(u64) -> u64) -> u64 {
    let from = bytes_at(bytes, at, if wide { 8 } else { 4 });
    let high = if wide { u64::from(word(from, 4, 4)) << 32 } else { 0 };
    let old = u64::from(word(from, 0, 4)) | high;
    let new = change(old);
    put(bytes, at, 4, new as u32);
    if wide {
        put(bytes, at + 4, 4, (new >> 32) as u32);
    }
    old
}

/// One byte or two as a register holds them.
#[inline(always)]
fn extended(value: u32, bytes: u8, signed: bool) -> u32 {
    let shift = 32 - 8 * u32::from(bytes);
    if signed { ((value << shift) as i32 >> shift) as u32 } else { value }
}

/// The range of the first active lane.
#[inline(always)]
fn first_range<'m>(
    memory: &'m Memory,
    hint: &mut Hint,
    addresses: &[u64; LANES],
    lanes: u64,
) -> Option<(&'m Shared, u64)> {
    memory.range_near(hint, addresses[lanes.trailing_zeros() as usize & 63])
}

/// A function of whole dwords for one to four of them; false where it does not apply.
macro_rules! by_count {
    ($name:ident, $rows:ty, $chunk:ident, $method:ident, $($argument:ident: $type:ty),*) => {
        #[inline(always)]
        fn $name(count: u8, range: &Shared, $($argument: $type,)* rows: $rows) -> bool {
            macro_rules! of {
                ($n:literal) => {
                    match rows.$chunk::<$n>() {
                        Some(rows) => range.$method($($argument,)* rows),
                        None => false,
                    }
                };
            }
            match count {
                1 => of!(1),
                2 => of!(2),
                3 => of!(3),
                4 => of!(4),
                _ => false,
            }
        }
    };
}

by_count!(global_rows, &mut [Row], first_chunk_mut, load_rows, base: u64, addresses: &[u64; LANES], lanes: u64);
by_count!(global_store, &[Row], first_chunk, store_rows, base: u64, addresses: &[u64; LANES], lanes: u64);

/// Loads whole dwords of all lanes from LDS; false when some lane is not aligned to a dword or out of range.
#[inline(always)]
fn lds_rows(count: u8, lds: &[u8], addresses: &[u64; LANES], lanes: u64, out: &mut [Row]) -> bool {
    let words = lds.as_chunks::<4>().0;
    let mut all = 0;
    for address in addresses {
        all |= address;
    }
    if lanes != u64::MAX || all & 3 != 0 {
        return false;
    }
    macro_rules! of {
        ($n:literal) => {
            match out.first_chunk_mut::<$n>() {
                Some(rows) => lds_words(words, addresses, rows),
                None => false,
            }
        };
    }
    match count {
        1 => of!(1),
        2 => of!(2),
        3 => of!(3),
        4 => of!(4),
        _ => false,
    }
}

#[inline(always)]
fn lds_words<const N: usize>(words: &[[u8; 4]], addresses: &[u64; LANES], rows: &mut [Row; N]) -> bool {
    if let (1, true, Some(from)) =
        (N, are_contiguous_dwords(addresses), words.get(addresses[0] as usize / 4..))
        && let Some(from) = from.first_chunk::<LANES>()
    {
        for lane in 0..LANES {
            rows[0].0[lane] = u32::from_le_bytes(from[lane]);
        }
        return true;
    }
    for lane in 0..LANES {
        let from = words.get(addresses[lane] as usize / 4..).and_then(<[[u8; 4]]>::first_chunk::<N>);
        let Some(from) = from else { return false };
        for number in 0..N {
            rows[number].0[lane] = u32::from_le_bytes(from[number]);
        }
    }
    true
}

fn scratch_offset(
    wave: &Wave,
    offset: u64,
    bytes: u32,
    lane: usize,
    access: &'static str,
) -> Result<usize, Box<Stop>> {
    scratch_at(wave.scratch_bytes, offset, bytes, lane, access)
}

/// Position of a lane's offset in the scratch of all lanes.
fn scratch_at(
    scratch_bytes: u32,
    offset: u64,
    bytes: u32,
    lane: usize,
    access: &'static str,
) -> Result<usize, Box<Stop>> {
    let size = u64::from(scratch_bytes);
    if offset + u64::from(bytes) > size {
        return Err(Stop::at(lane, Cause::OutOfRange { access, space: "scratch", offset, size }));
    }
    Ok(lane * scratch_bytes as usize + offset as usize)
}

/// Bytes of an LDS access; empty if out of range, which reads as 0.
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
