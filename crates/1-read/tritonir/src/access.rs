//! Loads, stores and atomics of global memory.

use crate::context::{At, Context};
use crate::convert::order;
use crate::linear::linear;
use crate::model::{OpId, Source};
use crate::types::{Tensor, Type};

/// Bytes that one instruction moves per lane, at most.
const WIDEST: u64 = 16;

/// Direction of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Global memory to registers.
    Load,
    /// Registers to global memory.
    Store,
    /// From global memory to the LDS, past the registers.
    LoadToLds,
}

impl Direction {
    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Load => "load",
            Direction::Store => "store",
            Direction::LoadToLds => "load to the LDS",
        }
    }
}

/// A load or store of a tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// Position.
    pub at: At,
    /// Load or store.
    pub direction: Direction,
    /// `128x64xf16`.
    pub shape: String,
    /// Bytes of the whole tensor.
    pub bytes: u64,
    /// Bytes per lane that one instruction can move, by the layout: neighbours in a lane's registers along
    /// the fastest dimension. The alignment the compiler knows can make it less. `None` in TTIR.
    pub width: Option<u64>,
    /// Bytes of a row along the fastest dimension of a two-dimensional tile; of the whole tile if its rows
    /// are contiguous. `None` in TTIR, for vectors, and if addresses may not follow the layout.
    pub row_bytes: Option<u64>,
    /// It has a mask.
    pub masked: bool,
    /// The access uses a buffer descriptor.
    pub buffer: bool,
    /// The address is loaded from memory by another load.
    pub indirect: bool,
    /// Kernel parameter that holds the base address, where one can be followed to.
    pub base: Option<String>,
}

/// An atomic on global memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Atomic {
    /// Position.
    pub at: At,
    /// `fadd`, `max`, `cas`.
    pub operation: String,
    /// Elements of the tensor of addresses; 1 for a single address.
    pub elements: u64,
    /// Every element has the same address: a scalar splat to a tensor.
    pub one_address: bool,
    /// The address does not depend on which workgroup it is.
    pub same_for_all_workgroups: bool,
}

pub(crate) fn accesses(context: &Context<'_, '_>) -> Vec<Access> {
    (0..context.function.ops.len()).filter_map(|op| access(context, op)).collect()
}

fn access(context: &Context<'_, '_>, op: OpId) -> Option<Access> {
    let (module, function) = (context.module, context.function);
    let it = function.ops.get(op)?;
    let (direction, pointers) = match (it.dialect(), it.short()) {
        ("tt", "load") => (Direction::Load, true),
        ("tt", "store") => (Direction::Store, true),
        ("amdg" | "amdgpu", "buffer_load") => (Direction::Load, false),
        ("amdg" | "amdgpu", "buffer_store") => (Direction::Store, false),
        ("amdg" | "amdgpu", "buffer_load_to_local") => (Direction::LoadToLds, false),
        ("ttg" | "triton_gpu", "async_copy_global_to_local") => (Direction::LoadToLds, true),
        _ => return None,
    };
    // The tensor whose layout counts: of addresses, of offsets, or of values.
    let operands = module.operand_types(function, op).find_map(Type::tensor);
    let tensor = match direction {
        Direction::Load if !pointers => module.result_type(function, op).and_then(Type::tensor).or(operands),
        _ => operands.or_else(|| module.operand_type(function, op, 0).and_then(Type::tensor)),
    }?;
    let element = match direction {
        Direction::LoadToLds => module.operand_types(function, op).find_map(|it| match it {
            Type::Pointer(element) => element.value_bits(),
            _ => None,
        }),
        _ => None,
    };
    let element = u64::from(element.or_else(|| tensor.element.value_bits())?);
    let contiguous = it.number("contiguity").and_then(|it| u64::try_from(it).ok());
    let neighbours = contiguous.or_else(|| neighbours(tensor));
    let values = match (direction, pointers) {
        (Direction::Load, true) => 1,
        (Direction::Store, true) => 2,
        (Direction::Load, false) => 2,
        (Direction::Store, false) => 3,
        (Direction::LoadToLds, _) => usize::MAX,
    };
    let masked = match direction {
        Direction::LoadToLds => it.text.contains("mask"),
        _ => function.operands(op).len() > values,
    };
    let address = match direction {
        Direction::Store if !pointers => 1,
        _ => 0,
    };
    let address_values: Vec<usize> = if pointers {
        function.operand(op, address).into_iter().collect()
    } else {
        [address, address + 1].iter().filter_map(|at| function.operand(op, *at)).collect()
    };
    let (base, indirect) = origin(context, &address_values);
    Some(Access {
        at: context.at(op),
        direction,
        shape: value_text(tensor),
        bytes: tensor.elements().saturating_mul(element).div_ceil(8),
        width: neighbours.map(|it| it.saturating_mul(element).div_ceil(8).clamp(1, WIDEST)),
        row_bytes: row_bytes(context, &address_values, tensor, element),
        masked,
        buffer: !pointers,
        indirect,
        base,
    })
}

fn value_text(tensor: &Tensor) -> String {
    tensor.text.replace("!tt.ptr<", "").replace('>', "")
}

/// Adjacent elements in a lane's registers, along the fastest dimension.
fn neighbours(tensor: &Tensor) -> Option<u64> {
    let layout = tensor.layout.as_deref()?;
    let bases = linear(layout, &tensor.shape)?;
    match order(layout).and_then(|it| it.first().copied()) {
        Some(fastest) => Some(bases.contiguous(fastest as usize)),
        None => (0..tensor.shape.len()).map(|dim| bases.contiguous(dim)).max(),
    }
}

/// Bytes along the dimension in which a lane's elements are adjacent; one element per lane does not determine
/// it.
fn row_bytes(context: &Context<'_, '_>, from: &[usize], tensor: &Tensor, element: u64) -> Option<u64> {
    let layout = tensor.layout.as_deref()?;
    let bases = linear(layout, &tensor.shape)?;
    if tensor.shape.len() != 2 {
        return None;
    }
    // Lanes may hold neighbours of the other dimension: for a transpose between registers.
    let fastest = match order(layout).and_then(|it| it.first().copied()) {
        Some(first) => Some(first as usize).filter(|dim| bases.contiguous(*dim) > 1)?,
        None => (0..2).find(|dim| bases.contiguous(*dim) > 1)?,
    };
    let row = *tensor.shape.get(fastest)?;
    let elements = if row_step(context, from, fastest) == Some(row) { tensor.elements() } else { row };
    Some(elements.saturating_mul(element).div_ceil(8))
}

/// Elements from one row of a tile to the next, where that is a constant: what the row's number is multiplied
/// by in the address.
fn row_step(context: &Context<'_, '_>, from: &[usize], fastest: usize) -> Option<u64> {
    let function = context.function;
    let mut seen = vec![false; function.values.len()];
    let mut open: Vec<usize> = from.to_vec();
    let mut step = None;
    while let Some(value) = open.pop() {
        if std::mem::replace(seen.get_mut(value).unwrap_or(&mut true), true) {
            continue;
        }
        match function.values.get(value).map(|it| it.source) {
            Some(Source::Result(op, _)) => match context.short(op) {
                "addi" | "addptr" | "trunci" | "extsi" | "extui" | "broadcast" | "convert_layout" => {
                    open.extend(function.operands(op).iter().flatten());
                }
                "muli" if of_rows(context, value, fastest) => {
                    let mut factors = function.operands(op).iter().flatten();
                    let found = factors.find_map(|it| context.constant(*it));
                    // Two steps are none that is known.
                    if step.is_some() {
                        return None;
                    }
                    step = Some(u64::try_from(found?).ok()?);
                }
                _ => {}
            },
            Some(Source::Block { of: Some(of), index, .. }) => {
                open.extend(function.ops.get(of).and_then(|it| it.initial.get(index).copied().flatten()));
            }
            _ => {}
        }
    }
    step
}

/// The value has one number for each row of a tile.
fn of_rows(context: &Context<'_, '_>, value: usize, fastest: usize) -> bool {
    let tensor = context.module.type_of(context.function, value).and_then(Type::tensor);
    tensor.is_some_and(|it| {
        it.shape.len() == 2 && it.shape.get(fastest) == Some(&1) && it.shape.get(1 - fastest) > Some(&1)
    })
}

/// The parameter an address is computed from, and whether a load has a part in it.
fn origin(context: &Context<'_, '_>, from: &[usize]) -> (Option<String>, bool) {
    let function = context.function;
    let mut seen = vec![false; function.values.len()];
    let mut open: Vec<usize> = from.to_vec();
    let (mut base, mut indirect) = (None, false);
    while let Some(value) = open.pop() {
        if std::mem::replace(seen.get_mut(value).unwrap_or(&mut true), true) {
            continue;
        }
        match function.values.get(value).map(|it| it.source) {
            Some(Source::Parameter(_)) => {
                if matches!(context.module.type_of(function, value), Some(Type::Pointer(_))) {
                    base.get_or_insert_with(|| {
                        function.values.get(value).map_or("", |it| it.name).to_owned()
                    });
                }
            }
            Some(Source::Result(op, _)) => {
                let short = context.short(op);
                if matches!(short, "load" | "buffer_load") {
                    indirect = true;
                } else if !function.ops.get(op).is_some_and(|it| it.is_loop()) {
                    open.extend(function.operands(op).iter().flatten());
                }
            }
            Some(Source::Block { of: Some(of), index, .. }) => {
                open.extend(function.ops.get(of).and_then(|it| it.initial.get(index).copied().flatten()));
            }
            _ => {}
        }
    }
    (base, indirect)
}

pub(crate) fn atomics(context: &Context<'_, '_>) -> Vec<Atomic> {
    (0..context.function.ops.len()).filter_map(|op| atomic(context, op)).collect()
}

fn atomic(context: &Context<'_, '_>, op: OpId) -> Option<Atomic> {
    let (module, function) = (context.module, context.function);
    let it = function.ops.get(op)?;
    let operation = match it.short() {
        "atomic_rmw" | "buffer_atomic_rmw" => it.text.split([',', ' ']).next().unwrap_or_default().to_owned(),
        "atomic_cas" | "buffer_atomic_cas" => "cas".to_owned(),
        _ => return None,
    };
    let tensor = module.operand_types(function, op).find_map(Type::tensor);
    let elements = tensor.map_or(1, Tensor::elements);
    // Operands in the text: address, then value; a buffer atomic has value, base, offsets.
    let address = if it.short().starts_with("buffer_") { 2 } else { 0 };
    let pointer = function.operand(op, address)?;
    Some(Atomic {
        at: context.at(op),
        operation,
        elements,
        one_address: elements == 1 || is_splat(context, pointer),
        same_for_all_workgroups: !depends_on_workgroup(context, pointer),
    })
}

/// The value is one scalar for every element: sums of splats and constants.
fn is_splat(context: &Context<'_, '_>, value: usize) -> bool {
    let function = context.function;
    let mut seen = vec![false; function.values.len()];
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if std::mem::replace(seen.get_mut(value).unwrap_or(&mut true), true) {
            continue;
        }
        let Some(op) = function.definition(value) else { return false };
        match context.short(op) {
            "splat" => {}
            "constant" if function.ops.get(op).is_some_and(|it| it.text.contains("dense<")) => {}
            "broadcast" | "convert_layout" | "expand_dims" | "addptr" | "addi" => {
                if function.operands(op).iter().any(Option::is_none) {
                    return false;
                }
                open.extend(function.operands(op).iter().flatten());
            }
            _ => return false,
        }
    }
    true
}

/// The value is computed from the program's number, or from memory.
fn depends_on_workgroup(context: &Context<'_, '_>, value: usize) -> bool {
    let function = context.function;
    let mut seen = vec![false; function.values.len()];
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if std::mem::replace(seen.get_mut(value).unwrap_or(&mut true), true) {
            continue;
        }
        match function.values.get(value).map(|it| it.source) {
            Some(Source::Result(op, _)) => {
                if matches!(context.short(op), "get_program_id" | "load" | "buffer_load") {
                    return true;
                }
                open.extend(function.operands(op).iter().flatten());
            }
            Some(Source::Block { of: Some(of), .. }) => {
                open.extend(
                    function.ops.get(of).into_iter().flat_map(|it| it.initial.iter().copied().flatten()),
                );
            }
            _ => {}
        }
    }
    false
}
