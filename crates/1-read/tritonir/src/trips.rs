//! Values that make two round trips through the LDS.
//!
//! A trip is a store to the LDS and a load from it in another layout: a conversion across waves, or an
//! allocation that is read back. Only element-wise arithmetic is allowed between two trips; a matrix product
//! or a reduction makes new values.

use crate::context::{At, Context};
use crate::convert::{Exchange, exchange};
use crate::model::{OpId, ValueId};
use crate::style::ScratchStyle;
use crate::types::Type;

/// Two trips of one value.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundTrips {
    /// Position of the load that ends the first trip.
    pub first: At,
    /// Position of the store that begins the second.
    pub second: At,
    /// Type of the value on its second trip: `64x64xf16`.
    pub shape: String,
    /// Bytes of it.
    pub bytes: u64,
    /// A transpose is between the trips.
    pub transposed: bool,
    /// Operations on elements between the trips.
    pub between: u32,
}

pub(crate) fn round_trips(context: &Context<'_, '_>, style: ScratchStyle) -> Vec<RoundTrips> {
    (0..context.function.ops.len()).filter_map(|op| second(context, op, style)).collect()
}

/// The value that leaves for the LDS at an operation.
fn leaves(context: &Context<'_, '_>, op: OpId, style: ScratchStyle) -> Option<ValueId> {
    let function = context.function;
    match context.short(op) {
        "convert_layout" => {
            let how = exchange(context.module, function, op, style);
            (how.through_lds() || how == Exchange::Store).then(|| function.operand(op, 0))?
        }
        "local_alloc" | "local_store" => {
            let value = function.operand(op, 0)?;
            matches!(context.module.type_of(function, value), Some(Type::Tensor(_))).then_some(value)
        }
        _ => None,
    }
}

/// The operation brings a value back from the LDS.
fn comes_back(context: &Context<'_, '_>, op: OpId, style: ScratchStyle) -> bool {
    match context.short(op) {
        "local_load" => true,
        "convert_layout" => {
            let how = exchange(context.module, context.function, op, style);
            how.through_lds() || how == Exchange::Load
        }
        _ => false,
    }
}

fn second(context: &Context<'_, '_>, op: OpId, style: ScratchStyle) -> Option<RoundTrips> {
    let start = leaves(context, op, style)?;
    let function = context.function;
    let mut seen = vec![false; function.values.len()];
    let mut open = vec![start];
    let (mut between, mut transposed) = (0, false);
    while let Some(value) = open.pop() {
        if std::mem::replace(seen.get_mut(value).unwrap_or(&mut true), true) {
            continue;
        }
        let Some(definition) = function.definition(value) else { continue };
        let Some(it) = function.ops.get(definition) else { continue };
        // A value from before the loop is stored once.
        if function.enclosing_loop(definition) != function.enclosing_loop(op) {
            continue;
        }
        if comes_back(context, definition, style) {
            let tensor = context.module.type_of(function, start).and_then(Type::tensor)?;
            return Some(RoundTrips {
                first: context.at(definition),
                second: context.at(op),
                shape: tensor.text.clone(),
                bytes: tensor.bytes()?,
                transposed,
                between,
            });
        }
        let by_element = matches!(it.dialect(), "arith" | "math")
            || matches!(
                it.short(),
                "convert_layout"
                    | "trans"
                    | "bitcast"
                    | "fp_to_fp"
                    | "join"
                    | "split"
                    | "reshape"
                    | "expand_dims"
                    | "broadcast"
                    | "in_thread_transpose"
                    | "elementwise_inline_asm"
                    | "extern_elementwise"
            );
        if by_element {
            transposed |= it.short() == "trans";
            between += u32::from(matches!(it.dialect(), "arith" | "math"));
            open.extend(function.operands(definition).iter().flatten());
        }
    }
    None
}
