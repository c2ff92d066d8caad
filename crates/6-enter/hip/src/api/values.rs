//! Values that streams write and wait for, alone and in batches.

use super::{In, entries};
use crate::codes::Code;
use crate::launch::perform;
use crate::runtime::lock;
use crate::work::{ValueOp, Work};

/// Kinds of operations of a batch.
const WAIT: [u32; 2] = [1, 4];
const WRITE: [u32; 2] = [2, 5];
const FLUSH: u32 = 3;
const BARRIER: u32 = 6;
/// Most operations of a batch.
const MOST: u32 = 256;

/// An operation of a batch: six words, of which barriers have one.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Operation {
    kind: u32,
    address: usize,
    value: u64,
    flags: u32,
    alias: usize,
    rest: usize,
}

const _: () = assert!(size_of::<Operation>() == 48);

impl Operation {
    /// The operation as a value; barriers have nothing to do, since work is done in order and at once.
    fn value_op(&self) -> Result<Option<ValueOp>, Code> {
        let Operation { kind, address, value, flags, .. } = *self;
        let (wait, is_wide) = match kind {
            FLUSH | BARRIER => return Ok(None),
            _ if WAIT.contains(&kind) => (Some((flags, u64::MAX)), kind == WAIT[1]),
            _ if WRITE.contains(&kind) => (None, kind == WRITE[1]),
            _ => return Err(Code::hipErrorInvalidValue),
        };
        if address == 0 || wait.is_some_and(|it| it.0 > 3) {
            return Err(Code::hipErrorInvalidValue);
        }
        let value = if is_wide { value } else { value & u64::from(u32::MAX) };
        Ok(Some(ValueOp { address, bytes: if is_wide { 8 } else { 4 }, value, wait }))
    }
}

impl Operation {
    /// An operation as it is in memory.
    pub(super) fn words(value: &ValueOp) -> [usize; 6] {
        let kinds = if value.wait.is_some() { WAIT } else { WRITE };
        let flags = value.wait.map_or(0, |it| it.0 as usize);
        let kind = kinds[usize::from(value.bytes == 8)] as usize;
        [kind, value.address, value.value as usize, flags, 0, 0]
    }
}

/// The work of a batch.
pub(super) fn batch(count: u32, operations: In<Operation>) -> Result<Work, Code> {
    if count == 0 || count > MOST {
        return Err(Code::hipErrorInvalidValue);
    }
    let mut values = Vec::new();
    for index in 0..count as usize {
        values.extend(operations.at(index).get()?.value_op()?);
    }
    Ok(Work::Values(values.into()))
}

/// Writes a value, or waits for one, in the order of a stream.
fn one(stream: usize, operation: ValueOp) -> Result<(), Code> {
    let is_memory = operation.address != 0 && lock().allocations.find(operation.address).is_some();
    let is_known_wait = operation.wait.is_none_or(|it| it.0 <= 3);
    if !is_memory || !is_known_wait {
        return Err(Code::hipErrorInvalidValue);
    }
    perform(stream, Work::Values([operation].into()))
}

entries! {
    /// Writes a 32-bit value.
    fn hipStreamWriteValue32(stream: usize, address: usize, value: u32, _flags: u32) {
        one(stream, ValueOp { address, bytes: 4, value: value.into(), wait: None })
    }

    /// Writes a 64-bit value.
    fn hipStreamWriteValue64(stream: usize, address: usize, value: u64, _flags: u32) {
        one(stream, ValueOp { address, bytes: 8, value, wait: None })
    }

    /// Waits for a 32-bit value.
    fn hipStreamWaitValue32(stream: usize, address: usize, value: u32, flags: u32, mask: u32) {
        one(stream, ValueOp { address, bytes: 4, value: value.into(), wait: Some((flags, mask.into())) })
    }

    /// Waits for a 64-bit value.
    fn hipStreamWaitValue64(stream: usize, address: usize, value: u64, flags: u32, mask: u64) {
        one(stream, ValueOp { address, bytes: 8, value, wait: Some((flags, mask)) })
    }

    /// Several of these in order.
    fn hipStreamBatchMemOp(stream: usize, count: u32, operations: In<Operation>, flags: u32) {
        if flags != 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        perform(stream, batch(count, operations)?)
    }
}
