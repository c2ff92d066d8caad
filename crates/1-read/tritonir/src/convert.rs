//! Data movement of a conversion between two layouts.

use crate::layout::{Bases, Layout};
use crate::linear::linear;
use crate::model::{Function, Module, OpId};
use crate::style::ScratchStyle;
use crate::types::{Tensor, Type};

/// Implementation of a `convert_layout`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exchange {
    /// No data moves.
    Nothing,
    /// Registers of a lane are permuted.
    Registers,
    /// Lanes of a wave exchange values.
    Lanes,
    /// Values are written to the LDS and read back by other waves; bytes of LDS used.
    Lds(Option<u64>),
    /// A tensor is stored to a buffer of the LDS (layouts of buffers, old compilers).
    Store,
    /// A tensor is loaded from a buffer of the LDS (layouts of buffers, old compilers).
    Load,
    /// Undetermined, with the reason.
    Unknown(&'static str),
}

impl Exchange {
    /// The LDS is written and read.
    pub fn through_lds(&self) -> bool {
        matches!(self, Exchange::Lds(_))
    }

    /// `through the LDS`, `between lanes`, …
    pub fn phrase(&self) -> &'static str {
        match self {
            Exchange::Nothing => "moves nothing",
            Exchange::Registers => "within lanes",
            Exchange::Lanes => "between lanes",
            Exchange::Lds(_) => "through the LDS",
            Exchange::Store => "store to the LDS",
            Exchange::Load => "load from the LDS",
            Exchange::Unknown(_) => "unknown",
        }
    }
}

/// Implementation of a `convert_layout` operation.
pub fn exchange(module: &Module<'_>, function: &Function<'_>, op: OpId, style: ScratchStyle) -> Exchange {
    let from = module.operand_types(function, op).next().or_else(|| module.operand_type(function, op, 0));
    let to = module.result_types(function, op).next().or_else(|| module.result_type(function, op));
    let (Some(Type::Tensor(from)), Some(Type::Tensor(to))) = (from, to) else {
        return Exchange::Unknown("its types are not those of tensors");
    };
    // The compiler's own allocation is the best witness.
    if function.ops.get(op).is_some_and(|op| op.attribute("allocation.offset").is_some()) {
        return Exchange::Lds(scratch_bytes(from, to, style));
    }
    between(from, to, style)
}

/// Data movement when a tensor changes its layout.
pub fn between(from: &Tensor, to: &Tensor, style: ScratchStyle) -> Exchange {
    let (Some(source), Some(target)) = (&from.layout, &to.layout) else {
        return Exchange::Unknown("the layouts are not known");
    };
    if source == target {
        return Exchange::Nothing;
    }
    let buffer = |it: &Layout| matches!(it, Layout::Swizzled { .. } | Layout::Padded { .. });
    match (buffer(source), buffer(target)) {
        (false, true) => return Exchange::Store,
        (true, false) => return Exchange::Load,
        (true, true) => return Exchange::Nothing,
        (false, false) => {}
    }
    let (Some(source), Some(target)) = (linear(source, &from.shape), linear(target, &to.shape)) else {
        return Exchange::Unknown("a layout of an unknown kind");
    };
    if !same_steps(&source.warp, &target.warp) {
        return Exchange::Lds(scratch_bytes(from, to, style));
    }
    if source.lane != target.lane {
        return Exchange::Lanes;
    }
    if source.register == target.register { Exchange::Nothing } else { Exchange::Registers }
}

/// True if two lists of bases are equivalent; trailing zero bits may be missing in one of them, as with one
/// wave.
fn same_steps(a: &[Vec<u32>], b: &[Vec<u32>]) -> bool {
    let zero = |it: &Vec<u32>| it.iter().all(|it| *it == 0);
    let longest = a.len().max(b.len());
    (0..longest).all(|at| match (a.get(at), b.get(at)) {
        (Some(a), Some(b)) => a == b,
        (Some(it), None) | (None, Some(it)) => zero(it),
        (None, None) => true,
    })
}

/// Bytes of LDS that a conversion through it takes.
pub(crate) fn scratch_bytes(from: &Tensor, to: &Tensor, style: ScratchStyle) -> Option<u64> {
    let bits = u64::from(from.element.bits()?).max(8);
    let source = linear(from.layout.as_deref()?, &from.shape)?;
    let target = linear(to.layout.as_deref()?, &to.shape)?;
    let elements = match style {
        ScratchStyle::Swizzled => swizzled_elements(from, &source, &target, bits),
        ScratchStyle::Padded => padded_elements(from, to, &source, &target)?,
    };
    Some(elements * bits / 8)
}

/// Register bits that are equal on both sides, beyond the bits that one access moves, are processed one after
/// the other in the same bytes (Triton 3.5 and newer).
fn swizzled_elements(from: &Tensor, source: &Bases, target: &Bases, bits: u64) -> u64 {
    let shared =
        source.register.iter().filter(|it| it.iter().any(|it| *it != 0) && target.register.contains(it));
    let vector = (128 / bits).max(1).trailing_zeros() as usize;
    let repeats = shared.count().saturating_sub(vector).min(40);
    (from.elements() >> repeats).max(1)
}

/// The largest tile of both sides, one dimension padded against bank conflicts (Triton 3.4 and older).
fn padded_elements(from: &Tensor, to: &Tensor, source: &Bases, target: &Bases) -> Option<u64> {
    let tile = |layout: &Layout, bases: &Bases, shape: &[u64]| -> Option<Vec<u64>> {
        Some(tile_extents(layout, bases, shape).unwrap_or_else(|| shape.to_vec()))
    };
    let a = tile(from.layout.as_deref()?, source, &from.shape)?;
    let b = tile(to.layout.as_deref()?, target, &to.shape)?;
    let mut shape: Vec<u64> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
    let rank = shape.len();
    if rank > 1 {
        let inner = rank - 1;
        let (from_order, to_order) = (order(from.layout.as_deref()?)?, order(to.layout.as_deref()?)?);
        let (first_in, first_out) = (*from_order.first()? as usize, *to_order.first()? as usize);
        let write =
            if first_out != inner || first_in != inner { 1 } else { source.contiguous_in_any_order(inner) };
        let read = if first_out == inner { target.contiguous_in_any_order(first_out) } else { 1 };
        let padded = match to.layout.as_deref()? {
            Layout::Blocked { .. } => first_out,
            _ => inner,
        };
        *shape.get_mut(padded)? += write.max(read);
    }
    Some(shape.iter().product())
}

/// Extents that all waves hold at once before registers repeat, per dimension.
fn tile_extents(layout: &Layout, bases: &Bases, shape: &[u64]) -> Option<Vec<u64>> {
    let (Layout::Blocked { size_per_thread: inner, .. } | Layout::Mfma { shape: inner, .. }) = layout else {
        return None;
    };
    let mfma = matches!(layout, Layout::Mfma { .. });
    let extent = |dim: usize| {
        let inside = u64::from(*inner.get(dim)?);
        let lanes = if mfma { 1 } else { bases.lanes_along(dim) };
        Some((inside * lanes * bases.waves_along(dim)).min(*shape.get(dim)?))
    };
    (0..shape.len()).map(extent).collect()
}

/// Dimensions, the fastest first.
pub(crate) fn order(layout: &Layout) -> Option<Vec<u32>> {
    match layout {
        Layout::Blocked { order, .. } | Layout::Swizzled { order, .. } => Some(order.clone()),
        Layout::Mfma { transposed, .. } => Some(if *transposed { vec![1, 0] } else { vec![0, 1] }),
        Layout::DotOperand { index, .. } => Some(if *index == 0 { vec![1, 0] } else { vec![0, 1] }),
        Layout::Slice { dim, parent } => {
            let outer = order(parent)?;
            Some(
                outer
                    .into_iter()
                    .filter(|it| it != dim)
                    .map(|it| if it > *dim { it - 1 } else { it })
                    .collect(),
            )
        }
        _ => None,
    }
}
