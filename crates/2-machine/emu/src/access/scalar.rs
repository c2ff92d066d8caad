//! Scalar memory: loads of up to 16 dwords into scalar registers, stores, atomics.
//!
//! A wave has one address; its low two bits are ignored. Buffer forms read 0 outside of the resource's range.

use super::range::locate;
use crate::atomics::{self, AtomicOp, update};
use crate::fault::{Cause, Stop};
use crate::machine::Machine;
use crate::observe::MemoryAccess;
use crate::operand::{Files, Pool, Src, scalar_index, source};
use crate::wave::Wave;
use isa::{Access as Kind, Bits, Field, Inst, Operand, Space, Ty};

/// A scalar memory instruction, resolved.
#[derive(Clone, Debug)]
pub(crate) struct ScalarAccess {
    kind: Kind,
    /// First scalar register of data.
    data: u8,
    dwords: u8,
    base: u8,
    /// The base is a buffer resource.
    buffer: bool,
    offset: Src,
    immediate: i64,
    /// The offset counts scratch bytes of all lanes (`s_scratch_*`).
    pub(crate) atomic: Option<(AtomicOp, bool)>,
    returns: bool,
}

impl ScalarAccess {
    pub(crate) fn resolve(inst: &Inst, files: Files, pool: &mut Pool) -> Option<ScalarAccess> {
        let info = inst.info();
        let mem = inst.mem()?;
        let name = info.name.strip_prefix("s_")?;
        if name.starts_with("scratch_") {
            return None;
        }
        let (buffer, rest) = name.strip_prefix("buffer_").map_or((false, name), |rest| (true, rest));
        let atomic = match rest.strip_prefix("atomic_") {
            Some(op) => Some(atomics::global(op)?),
            None => None,
        };
        let mut access = ScalarAccess {
            kind: mem.access,
            data: 0,
            dwords: mem.bytes / 4,
            base: 0,
            buffer,
            offset: Src::None,
            immediate: i64::from(inst.mods.offset),
            atomic,
            returns: inst.mods.bits.contains(Bits::SC0),
        };
        for (operand, field) in inst.operands_with_fields() {
            match (field, *operand) {
                (Field::Sdata, Operand::Reg(range)) => access.data = scalar_index(range)?,
                (Field::Sbase, Operand::Reg(range)) => access.base = scalar_index(range)?,
                (Field::Offset, operand) => access.offset = source(operand, Ty::I64, files, pool)?,
                _ => return None,
            }
        }
        Some(access)
    }

    /// True for a load.
    pub(crate) fn is_load(&self) -> bool {
        self.kind == Kind::Load && self.atomic.is_none()
    }

    /// True if a load writes a scalar register.
    pub(crate) fn may_write(&self, register: u8) -> bool {
        (self.data..self.data.saturating_add(self.dwords.max(4))).contains(&register)
    }

    pub(crate) fn run(
        &self,
        machine: &mut Machine<'_>,
        wave: &mut Wave,
        index: usize,
        report: &mut dyn FnMut(&MemoryAccess<'_>),
    ) -> Result<(), Box<Stop>> {
        let offset = match self.offset {
            Src::Scalar(register) => i64::from(wave.s[usize::from(register) & 127]),
            Src::None => 0,
            src => machine.scalar(wave, src) as i64,
        };
        let offset = offset.wrapping_add(self.immediate);
        let mut base = wave.pair(self.base);
        let mut records = None;
        if self.buffer {
            let stride = base >> 48 & 0x3fff;
            base &= 0xffff_ffff_ffff;
            let count = u64::from(wave.s[usize::from(self.base + 2) & 127]);
            records = Some(if stride == 0 { count } else { stride * count });
        }
        let address = base.wrapping_add(offset as u64) & !3;
        let bytes = 4 * u64::from(self.dwords);
        machine.addresses[0][0] = address;
        report(&MemoryAccess {
            index,
            space: Space::Scalar,
            kind: self.kind,
            bytes: bytes as u32,
            element: 0,
            lanes: 1,
            addresses: &machine.addresses[0],
            formation: None,
        });
        let inside =
            |dword: u64| records.is_none_or(|records| (offset as u64 & !3) + 4 * dword + 4 <= records);
        let memory = machine.memory;
        let looked = machine.deferred_atomics.look(&machine.addresses[0], 1, bytes.max(4), memory);
        machine.time += u64::from(looked || self.atomic.is_some() || self.kind == Kind::Store);
        if let Some((op, wide)) = self.atomic {
            let (range, at) = locate(memory, &mut machine.hint, address, bytes, 0, "atomic")?;
            let width = if wide { 2 } else { 1 };
            let value = |at: u8| if wide { wave.pair(at) } else { u64::from(wave.s[usize::from(at) & 127]) };
            let (new, comparand) = (value(self.data), value(self.data + width));
            let old = update(range, at, wide, |old| op(old, new, comparand))
                .ok_or_else(|| Stop::at(0, Cause::Misaligned { address, bytes: 4 * u32::from(width) }))?;
            if self.returns {
                for number in 0..width {
                    wave.s[usize::from(self.data + number) & 127] = (old >> (32 * number)) as u32;
                }
            }
            return Ok(());
        }
        let access = if self.kind == Kind::Store { "store" } else { "load" };
        for dword in 0..u64::from(self.dwords) {
            let register = usize::from(self.data) + dword as usize;
            let inside = inside(dword);
            if self.kind == Kind::Store {
                if inside {
                    let (range, at) = locate(memory, &mut machine.hint, address + 4 * dword, 4, 0, access)?;
                    range.store_u32(at, wave.s[register & 127]);
                }
                continue;
            }
            wave.s[register & 127] = if inside {
                let (range, at) = locate(memory, &mut machine.hint, address + 4 * dword, 4, 0, access)?;
                range.load_u32(at)
            } else {
                0
            };
        }
        Ok(())
    }
}
