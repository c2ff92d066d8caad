//! Buffers in the LDS: size, live range and offset; their total is the LDS that a launch requests.
//!
//! Sizes and offsets are computed as Triton's own allocation does (intervals of operations, first fit by
//! colours), so that the sum equals `shared` in the IR's JSON file. If the IR is a dump made after that
//! allocation, its offsets are used.

mod allocate;
mod live;

use crate::context::At;
use crate::convert::{Exchange, between, scratch_bytes};
use crate::layout::Layout;
use crate::linear::linear;
use crate::model::{Function, Module, OpId};
use crate::style::ScratchStyle;
use crate::types::{Tensor, Type};
use allocate::{Request, allocate};
use live::Liveness;
use sorting::Sort;

/// Purpose of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// `local_alloc`: tiles of operands, or a tensor stored to be read in another layout.
    Allocation,
    /// A `convert_layout` through the LDS.
    Conversion,
    /// A reduction over waves.
    Reduction,
    /// The result of an atomic of one lane, for all.
    Atomic,
}

impl Purpose {
    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Allocation => "buffer",
            Purpose::Conversion => "conversion",
            Purpose::Reduction => "reduction",
            Purpose::Atomic => "atomic",
        }
    }
}

/// One buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct LdsBuffer {
    /// The operation that requires it.
    pub op: OpId,
    /// Position of the operation; filled in by [`kernels`](crate::kernels).
    pub at: At,
    /// Purpose.
    pub purpose: Purpose,
    /// `2x128x64xf16`; the tensor exchanged for conversions and reductions.
    pub shape: String,
    /// Bytes, padding included.
    pub bytes: u64,
    /// Offset in the workgroup's LDS, bytes.
    pub offset: u64,
    /// First and last line of the text in which it is live.
    pub lines: (u32, u32),
    /// Buffers of one tile each: 2 for `2x128x64xf16`; 1 where the tile has no further dimension.
    pub slots: u64,
}

/// The LDS of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct LdsAccount {
    /// Buffers in text order.
    pub buffers: Vec<LdsBuffer>,
    /// Bytes a workgroup takes; the reason where an operation is met whose demand is not known.
    pub total: Result<u64, String>,
    /// Offsets are the compiler's own.
    pub allocated: bool,
}

/// The buffers of a function and their sum.
pub fn lds(module: &Module<'_>, function: &Function<'_>, style: ScratchStyle) -> LdsAccount {
    let mut unknown: Option<String> = None;
    let mut requests: Vec<LdsBuffer> = Vec::new();
    for (id, op) in function.ops.iter().enumerate() {
        match demand(module, function, id, style) {
            Ok(Some(Demand { purpose, tensor, bytes })) => requests.push(LdsBuffer {
                op: id,
                at: At::default(),
                purpose,
                shape: tensor.map_or_else(|| "1".to_owned(), |it| it.text.clone()),
                bytes,
                offset: 0,
                lines: (op.line, op.line),
                slots: tensor
                    .filter(|it| it.shape.len() > 2)
                    .and_then(|it| it.shape.first().copied())
                    .unwrap_or(1),
            }),
            Ok(None) => {}
            Err(reason) => {
                unknown.get_or_insert_with(|| format!("`{}` at line {}: {reason}", op.name, op.line));
            }
        }
    }
    let mut buffers = requests;
    let stated = |it: &LdsBuffer| function.ops.get(it.op).and_then(|op| op.number("allocation.offset"));
    let allocated = !buffers.is_empty() && buffers.iter().all(|it| stated(it).is_some());
    if allocated {
        for buffer in &mut buffers {
            buffer.offset = stated(buffer).and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
        }
    } else {
        place(module, function, &mut buffers);
    }
    let total = buffers.iter().map(|it| it.offset.saturating_add(it.bytes)).max().unwrap_or(0);
    LdsAccount { buffers, total: unknown.map_or(Ok(total), Err), allocated }
}

/// Lifetimes and offsets.
fn place(module: &Module<'_>, function: &Function<'_>, buffers: &mut [LdsBuffer]) {
    let allocations: Vec<OpId> =
        buffers.iter().filter(|it| it.purpose == Purpose::Allocation).map(|it| it.op).collect();
    let liveness = Liveness::of(module, function, &allocations);
    // Explicit buffers first, as the compiler has them; that decides which of two equal ones is lower.
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.in_order_by_key(|at| buffers.get(*at).is_some_and(|it| it.purpose != Purpose::Allocation));
    let request = |at: &usize| {
        let buffer = buffers.get(*at)?;
        let live = match buffer.purpose {
            Purpose::Allocation => liveness.allocation(buffer.op),
            _ => liveness.moment(buffer.op),
        };
        let alignment = if buffer.purpose == Purpose::Allocation { 16 } else { 128 };
        Some(Request { size: buffer.bytes, live, alignment })
    };
    let requests: Vec<Request> = order.iter().filter_map(request).collect();
    let offsets = allocate(&requests);
    for ((at, offset), request) in order.iter().zip(offsets).zip(&requests) {
        if let Some(buffer) = buffers.get_mut(*at) {
            buffer.offset = offset;
            buffer.lines = liveness.lines(function, request.live.clone(), buffer.lines);
        }
    }
}

/// LDS that an operation requires.
struct Demand<'m> {
    purpose: Purpose,
    /// Content; `None` for a single value.
    tensor: Option<&'m Tensor>,
    bytes: u64,
}

impl<'m> Demand<'m> {
    fn of(purpose: Purpose, tensor: &'m Tensor, bytes: u64) -> Option<Self> {
        Some(Demand { purpose, tensor: Some(tensor), bytes })
    }
}

/// LDS requirement of an operation.
fn demand<'m>(
    module: &'m Module<'_>,
    function: &'m Function<'_>,
    id: OpId,
    style: ScratchStyle,
) -> Result<Option<Demand<'m>>, &'static str> {
    let Some(op) = function.ops.get(id) else { return Ok(None) };
    match op.short() {
        "local_alloc" if matches!(op.dialect(), "ttg" | "triton_gpu") => {
            let memory = module
                .result_type(function, id)
                .and_then(Type::memory)
                .ok_or("its type is not a buffer's")?;
            let bytes = buffer_bytes(memory).ok_or("a buffer of unknown size")?;
            Ok(Demand::of(Purpose::Allocation, memory, bytes))
        }
        "convert_layout" => {
            let from = module.operand_types(function, id).find_map(Type::tensor);
            let to = module.result_types(function, id).find_map(Type::tensor);
            let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
            let stated = op.attribute("allocation.offset").is_some();
            match between(from, to, style) {
                _ if stated => {
                    let bytes = scratch_bytes(from, to, style).ok_or("layouts of an unknown kind")?;
                    Ok(Demand::of(Purpose::Conversion, from, bytes))
                }
                Exchange::Lds(Some(bytes)) => Ok(Demand::of(Purpose::Conversion, from, bytes)),
                Exchange::Lds(None) => Err("a conversion of unknown size"),
                Exchange::Unknown(reason) => Err(reason),
                _ => Ok(None),
            }
        }
        "reduce" if op.dialect() == "tt" => reduction(module, function, id),
        "atomic_rmw" | "atomic_cas" if op.dialect() == "tt" => Ok(atomic(module, function, id)),
        "scan" if op.dialect() == "tt" => {
            let source = module.operand_types(function, id).find_map(Type::tensor);
            let along = op.number("axis").and_then(|it| usize::try_from(it).ok());
            let one_wave = source.zip(along).and_then(|(it, axis)| {
                Some(linear(it.layout.as_deref()?, &it.shape)?.waves_along(axis) == 1)
            });
            if one_wave == Some(true) { Ok(None) } else { Err("a scan over waves") }
        }
        "histogram" | "gather" if op.dialect() == "tt" => Err("its scratch memory is not known"),
        "warp_specialize" => Err("its scratch memory is not known"),
        "call" if op.dialect() == "tt" => Err("the LDS of the function it calls is not counted"),
        _ => Ok(None),
    }
}

/// Bytes of a buffer with its padding.
pub(crate) fn buffer_bytes(buffer: &Tensor) -> Option<u64> {
    let elements = buffer.elements();
    let mut all = elements;
    if let Some(Layout::Padded { padding }) = buffer.layout.as_deref() {
        for (interval, pad) in padding {
            let gaps = (elements / interval).checked_sub(u64::from(elements.is_multiple_of(*interval)))?;
            all = all.checked_add(gaps.checked_mul(*pad)?)?;
        }
    }
    Some(all.checked_mul(u64::from(buffer.element.bits()?))?.div_ceil(8))
}

/// LDS that a `tt.reduce` across waves stores its partial results in.
fn reduction<'m>(
    module: &'m Module<'_>,
    function: &'m Function<'_>,
    id: OpId,
) -> Result<Option<Demand<'m>>, &'static str> {
    let sources: Vec<&Tensor> = module.operand_types(function, id).filter_map(Type::tensor).collect();
    let Some(first) = sources.first().copied() else { return Ok(None) };
    let axis = function.ops.get(id).and_then(|op| op.number("axis")).and_then(|it| usize::try_from(it).ok());
    let axis = axis.filter(|it| *it < first.shape.len()).ok_or("no axis")?;
    let layout = first.layout.as_deref().ok_or("no layout yet")?;
    let bases = linear(layout, &first.shape).ok_or("a layout of an unknown kind")?;
    let waves = bases.waves_along(axis);
    if waves == 1 {
        return Ok(None);
    }
    let others: u64 =
        first.shape.iter().enumerate().filter(|(dim, _)| *dim != axis).map(|(_, extent)| *extent).product();
    let bytes: Option<u64> = sources.iter().map(|it| Some(u64::from(it.element.bits()?).div_ceil(8))).sum();
    let bytes = bytes.ok_or("elements of unknown size")?;
    Ok(Demand::of(Purpose::Reduction, first, waves.saturating_mul(others).saturating_mul(bytes)))
}

/// An atomic on one address whose result is used: one lane does it and tells the others.
fn atomic<'m>(module: &'m Module<'_>, function: &'m Function<'_>, id: OpId) -> Option<Demand<'m>> {
    let Some(Type::Scalar(_)) = module.result_type(function, id) else { return None };
    let result = function.result(id)?;
    let used = (0..function.ops.len()).any(|op| function.operands(op).contains(&Some(result)));
    let bits = module.result_type(function, id)?.element()?.bits()?;
    used.then(|| Demand { purpose: Purpose::Atomic, tensor: None, bytes: u64::from(bits).div_ceil(8) })
}
