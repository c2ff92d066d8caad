//! Vector memory instructions: resolution of operands and data.
//!
//! The one idea to keep in mind: data form and address computation are resolved independently, so every form works
//! in every address space.

mod address;
mod begun;
mod ordinary;
mod range;
mod scalar;
mod transfer;

pub(crate) use address::Parts;
pub(crate) use scalar::ScalarAccess;
pub(crate) use transfer::Part;

use crate::atomics::{self, AtomicOp};
use crate::operand::{Files, Pool, Src, scalar_index, source};
use crate::transpose;
use crate::typed::Typed;
use isa::{Access as Kind, Bits, Field, Inst, Operand, Space, Ty};

/// Data of one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Data {
    /// One byte or two, extended to a register.
    Part { bytes: u8, signed: bool },
    /// One byte or two, in one half of a register; loads keep the other half.
    Half { bytes: u8, signed: bool, high: bool },
    /// Whole registers.
    Dwords(u8),
}

impl Data {
    /// Bytes of one lane's element.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Data::Part { bytes, .. } | Data::Half { bytes, .. } => u32::from(bytes),
            Data::Dwords(count) => 4 * u32::from(count),
        }
    }
}

/// How buffer instructions compute addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// First scalar register of the resource.
    pub(crate) resource: u8,
    pub(crate) soffset: Src,
    pub(crate) offset_enable: bool,
    pub(crate) index_enable: bool,
}

/// A vector memory or LDS instruction, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    pub(crate) kind: Kind,
    pub(crate) data: Data,
    /// Vector address, or [`Src::None`].
    pub(crate) address: Src,
    /// Scalar base.
    pub(crate) base: Src,
    /// Byte offset of each element; one element but for two-address LDS instructions.
    pub(crate) offsets: [i64; 2],
    pub(crate) elements: u8,
    /// First row written.
    pub(crate) dst: Option<u16>,
    /// First rows of the data.
    pub(crate) stored: [Src; 2],
    pub(crate) atomic: Option<AtomicOp>,
    pub(crate) buffer: Option<Buffer>,
    /// Address is M0 and the lane's number (`ds_*_addtid`).
    pub(crate) by_lane: bool,
    /// Format of the elements in memory, if it differs from the registers.
    pub(crate) typed: Option<Typed>,
    /// Bits of the elements that lanes exchange after loading, or 0.
    pub(crate) turned: u8,
    /// Data goes to LDS instead of registers.
    pub(crate) to_lds: bool,
    /// Number among the memory instructions.
    pub(crate) slot: u32,
    /// The access sees writes of other waves.
    pub(crate) coherent: bool,
    /// Result depends on the order of accesses.
    ordered: bool,
    /// The access may take the fast path of [`Access::run_ordinary`].
    pub(crate) simple: bool,
    /// While its run repeats, all lane addresses move by one amount between executions.
    pub(crate) walks: bool,
}

impl Access {
    /// Whether the range check of a buffer looks at each dword alone: atomics and typed accesses are in range or not.
    pub(crate) fn has_separate_dwords(&self) -> bool {
        matches!(self.data, Data::Dwords(2..)) && self.typed.is_none() && self.kind != Kind::Atomic
    }

    /// `slot` is its number among the memory instructions.
    pub(crate) fn resolve(inst: &Inst, slot: u32, files: Files, pool: &mut Pool) -> Option<Access> {
        let info = inst.info();
        let mem = inst.mem()?;
        if inst.mods.bits.intersects(Bits::GDS | Bits::TFE) || mem.space == Space::Gds {
            return None;
        }
        let (space, rest) = info.name.split_once('_')?;
        let typed = match space {
            "tbuffer" => {
                let form = rest.split_once("_format_")?.1;
                Some(Typed::new(inst.mods.cbsz, inst.mods.abid, form)?)
            }
            _ => None,
        };
        let (data, atomic) = match mem.access {
            Kind::Atomic => {
                let name = rest.strip_prefix("atomic_").unwrap_or(rest);
                let found = if mem.space == Space::Lds { atomics::lds(name) } else { atomics::global(name) };
                let (op, wide) = found?;
                (Data::Dwords(if wide { 2 } else { 1 }), Some(op))
            }
            _ if typed.is_some() => (raw(typed?.bytes())?, None),
            _ => (data(rest)?, None),
        };
        let mut access = Access {
            space: mem.space,
            kind: mem.access,
            data,
            address: Src::None,
            base: Src::None,
            offsets: [i64::from(inst.mods.offset), 0],
            elements: mem.elements.max(1),
            dst: None,
            stored: [Src::None; 2],
            atomic,
            buffer: None,
            by_lane: rest.contains("addtid"),
            typed,
            turned: transpose::element_bits(rest).unwrap_or(0),
            to_lds: mem.access == Kind::LoadToLds || inst.mods.bits.contains(Bits::LDS),
            slot,
            coherent: inst.mods.bits.intersects(Bits::SC0 | Bits::SC1 | Bits::NT),
            ordered: false,
            simple: false,
            walks: false,
        };
        access.resolve_operands(inst, mem.access, files, pool)?;
        if access.atomic.is_some() && mem.space != Space::Lds && rest.contains("cmpswap") {
            // Consecutive registers hold the new value and the comparand.
            let Src::Row(first) = access.stored[0] else { return None };
            access.stored[1] = Src::Row(first + (data.bytes() / 4) as u16);
        }
        if access.elements == 2 {
            let scale = i64::from(data.bytes()) * if rest.contains("st64") { 64 } else { 1 };
            let both = inst.mods.offset;
            access.offsets = [i64::from(both & 0xff) * scale, i64::from(both >> 8 & 0xff) * scale];
        }
        access.ordered =
            atomic.is_some() && (access.dst.is_some() || rest.contains("_f") || rest.contains("swap"));
        access.simple = access.is_simple();
        Some(access)
    }

    /// Fills in the registers of the operands.
    fn resolve_operands(&mut self, inst: &Inst, kind: Kind, files: Files, pool: &mut Pool) -> Option<()> {
        let mut resource = None;
        let mut soffset = Src::None;
        for (operand, field) in inst.operands_with_fields() {
            match field {
                Field::Vdst => self.dst = row(*operand, files),
                Field::Vdata if matches!(kind, Kind::Load) => self.dst = row(*operand, files),
                Field::Vdata | Field::Data | Field::Data0 => self.stored[0] = Src::Row(row(*operand, files)?),
                Field::Data1 => self.stored[1] = Src::Row(row(*operand, files)?),
                Field::Addr | Field::Vaddr => self.address = source(*operand, Ty::B64, files, pool)?,
                Field::Saddr => self.base = source(*operand, Ty::B64, files, pool)?,
                Field::Srsrc => {
                    let Operand::Reg(range) = *operand else { return None };
                    resource = Some(scalar_index(range)?);
                }
                Field::Soffset => soffset = source(*operand, Ty::B32, files, pool)?,
                _ => return None,
            }
        }
        if let Some(resource) = resource {
            let has = |bit| inst.mods.bits.contains(bit);
            let (offset_enable, index_enable) = (has(Bits::OFFEN), has(Bits::IDXEN));
            self.buffer = Some(Buffer { resource, soffset, offset_enable, index_enable });
            if kind == Kind::Atomic && has(Bits::SC0) {
                self.dst = match self.stored[0] {
                    Src::Row(row) => Some(row),
                    _ => None,
                };
            }
        }
        Some(())
    }

    /// True if results depend on the order of workgroups.
    pub(crate) fn depends_on_order(&self) -> bool {
        self.ordered
    }

    /// True if no result of the wave depends on when the access is done.
    pub(crate) fn can_wait(&self) -> bool {
        self.ordered && self.dst.is_none()
    }
}

fn row(operand: Operand, files: Files) -> Option<u16> {
    match operand {
        Operand::Reg(range) => files.row(range),
        _ => None,
    }
}

/// Raw data of a number of bytes.
fn raw(bytes: u32) -> Option<Data> {
    Some(match bytes {
        1 | 2 => Data::Part { bytes: bytes as u8, signed: false },
        4 | 8 | 12 | 16 => Data::Dwords((bytes / 4) as u8),
        _ => return None,
    })
}

/// Data form of a load or store, from its mnemonic after the space.
fn data(name: &str) -> Option<Data> {
    let rest =
        ["load_lds_", "load_", "store_", "read2st64_", "read2_", "read_", "write2st64_", "write2_", "write_"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))?;
    let rest = rest.split_once("_tr_b").map_or(rest, |(size, _)| size);
    let (size, half) = match rest.strip_suffix("_d16_hi") {
        Some(size) => (size, Some(true)),
        None => rest.strip_suffix("_d16").map_or((rest, None), |size| (size, Some(false))),
    };
    let (bytes, signed) = match size {
        "ubyte" | "byte" | "u8" | "b8" => (1, false),
        "sbyte" | "i8" => (1, true),
        "ushort" | "short" | "u16" | "b16" => (2, false),
        "sshort" | "i16" => (2, true),
        "dword" | "b32" | "addtid_b32" => return Some(Data::Dwords(1)),
        "dwordx2" | "b64" => return Some(Data::Dwords(2)),
        "dwordx3" | "b96" => return Some(Data::Dwords(3)),
        "dwordx4" | "b128" => return Some(Data::Dwords(4)),
        _ => return None,
    };
    Some(match half {
        Some(high) => Data::Half { bytes, signed, high },
        None => Data::Part { bytes, signed },
    })
}
