//! Effect of an instruction's bits on the caches.

use arch::{CacheControl, Target};
use isa::{Access, Bits, Inst};
use mem::{AccessKind, Policy};

/// Cache policy of an instruction.
pub(crate) fn policy(inst: &Inst, target: Option<&Target>, returns: bool) -> Policy {
    let bits = inst.mods.bits;
    let mem = inst.op.info().mem;
    let kind = match mem.map(|mem| mem.access) {
        Some(Access::Store) => AccessKind::Store,
        Some(Access::Atomic) if returns => AccessKind::AtomicReturn,
        Some(Access::Atomic) => AccessKind::Atomic,
        _ => AccessKind::Load,
    };
    let control = match target.map(|target| target.vector_l1.bypassed_by.value) {
        Some(CacheControl::Sc0) => Bits::SC0,
        Some(CacheControl::Sc1) => Bits::SC1,
        None => Bits::empty(),
    };
    Policy {
        kind,
        bypass: kind == AccessKind::Load && bits.intersects(control),
        stream: bits.contains(Bits::NT),
        scratch: false,
    }
}
