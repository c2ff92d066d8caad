//! Vectors.

use super::handles::Handle;
use super::matrix::{Factor, Matrix, Operand, Reader, Type};
use super::name::Name;
use super::{Arguments, Problem};
use crate::libraries::kernels::{self, Scratch};
use crate::work::Copy3;

/// Elements of a workgroup where each work-item has one.
const WORKGROUP: u64 = 256;

const ZERO: Factor = Factor::Value(0.0, 0.0);

/// One or two vectors and a factor, as kernels take them.
struct Vectors {
    x: Matrix,
    y: Matrix,
    alpha: Factor,
    result: usize,
    /// The result of the greatest element is a 32-bit number.
    is_short: bool,
    count: i64,
    batches: i64,
}

impl Vectors {
    fn new(x: Matrix, y: Matrix, count: i64, batches: i64) -> Vectors {
        Vectors { x, y, alpha: ZERO, result: 0, is_short: false, count, batches }
    }

    fn launch(&self, stream: usize, kernel: &str, workgroups: u64) -> Result<(), Problem> {
        let mut bytes = Vec::with_capacity(168);
        self.x.push(&mut bytes);
        self.y.push(&mut bytes);
        self.alpha.push(&mut bytes);
        let beta = if self.is_short { Factor::At(0, Type::I32) } else { ZERO };
        beta.push(&mut bytes);
        // Results of a batch follow each other.
        for word in [self.result as i64, 1, self.count] {
            bytes.extend(word.to_le_bytes());
        }
        kernels::launch(stream, kernel, [workgroups, self.batches.cast_unsigned(), 1], bytes)
    }

    /// Runs a kernel with a work-item for each element.
    fn each(&self, stream: usize, kernel: &str) -> Result<(), Problem> {
        if self.count == 0 || self.batches == 0 {
            return Ok(());
        }
        self.launch(stream, kernel, self.count.cast_unsigned().div_ceil(WORKGROUP))
    }

    /// Runs a kernel that gives one result of `bytes` for each vector, on the GPU or to the host.
    fn reduce(mut self, handle: Handle, kernel: &str, result: usize, bytes: usize) -> Result<(), Problem> {
        if self.batches == 0 {
            return Ok(());
        }
        if result == 0 {
            return Err(Problem::Pointer);
        }
        if handle.on_gpu {
            self.result = result;
            return self.launch(handle.stream, kernel, 1);
        }
        let batches = usize::try_from(self.batches).map_err(|_| Problem::Size)?;
        let all = bytes.checked_mul(batches).ok_or(Problem::Size)?;
        let scratch = Scratch::new(all)?;
        self.result = scratch.address();
        self.launch(handle.stream, kernel, 1)?;
        kernels::copy(handle.stream, Copy3::flat(result, scratch.address(), all))
    }
}

/// `axpy` and `scal`.
pub(super) fn scaled(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let count = reader.step().max(0);
    let alpha = reader.arguments.address();
    let of_factor = match name.element {
        Some(element) if name.has_real_factor => element.real(),
        _ => reader.element()?,
    };
    let is_axpy = name.operation == "axpy";
    let x = reader.operand()?;
    let y = if is_axpy { reader.operand()? } else { x };
    let batches = reader.batch()?;
    same(&[x, y])?;
    // `scal` does nothing for steps that are not positive.
    if count == 0 || batches == 0 || (!is_axpy && x.step <= 0) {
        return Ok(());
    }
    // SAFETY: addresses of factors as the headers say.
    let alpha = unsafe { Factor::read(alpha, of_factor, handle.on_gpu) }?;
    if is_axpy && alpha.is(0.0) {
        return Ok(());
    }
    [x, y].iter().try_for_each(Operand::present)?;
    let vectors = Vectors { alpha, ..Vectors::new(x.vector(count), y.vector(count), count, batches) };
    vectors.each(handle.stream, &format!("rockhound_{}_{}", name.operation, x.element.word()))
}

fn same(operands: &[Operand; 2]) -> Result<(), Problem> {
    let [x, y] = operands.map(|it| it.element);
    if x == y {
        return Ok(());
    }
    Err(Problem::Unsupported(format!("vectors of the types {} and {}", x.word(), y.word())))
}

/// `copy` and `swap`.
pub(super) fn moved(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let count = reader.step().max(0);
    let (x, y) = (reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    if count == 0 || batches == 0 {
        return Ok(());
    }
    [x, y].iter().try_for_each(Operand::present)?;
    let vectors = Vectors::new(x.vector(count), y.vector(count), count, batches);
    vectors.each(handle.stream, &format!("rockhound_{}_{}", name.operation, x.element.word()))
}

/// `dot`, `dotu` and `dotc`.
pub(super) fn dot(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let count = reader.step().max(0);
    let (x, y) = (reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    let result = reader.arguments.address();
    let of_result = reader.element().map(|it| if name.element.is_some() { x.element } else { it })?;
    same(&[x, y])?;
    same(&[x, Operand { element: of_result, ..x }])?;
    if count > 0 {
        [x, y].iter().try_for_each(Operand::present)?;
    }
    let first = Matrix { conjugate: name.operation == "dotc", ..x.vector(count) };
    let kernel = format!("rockhound_dot_{}", x.element.word());
    Vectors::new(first, y.vector(count), count, batches).reduce(handle, &kernel, result, x.element.bytes())
}

/// `nrm2` and `asum`.
pub(super) fn norm(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let count = reader.step().max(0);
    let x = reader.operand()?;
    let batches = reader.batch()?;
    let result = reader.arguments.address();
    if name.element.is_none() {
        let of_result = reader.element()?;
        same(&[Operand { element: x.element.real(), ..x }, Operand { element: of_result, ..x }])?;
    }
    let count = if x.step <= 0 { 0 } else { count };
    if count > 0 {
        x.present()?;
    }
    let kernel = format!("rockhound_{}_{}", name.operation, x.element.word());
    let vector = x.vector(count);
    Vectors::new(vector, vector, count, batches).reduce(handle, &kernel, result, x.element.real().bytes())
}

/// `amax` and `amin`: places counted from 1.
pub(super) fn extreme(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let count = reader.step().max(0);
    let x = reader.operand()?;
    let batches = reader.batch()?;
    let result = reader.arguments.address();
    let count = if x.step <= 0 { 0 } else { count };
    if count > 0 {
        x.present()?;
    }
    let kernel = format!("rockhound_i{}_{}", name.operation, x.element.word());
    let vector = x.vector(count);
    let vectors = Vectors { is_short: !name.is_wide, ..Vectors::new(vector, vector, count, batches) };
    vectors.reduce(handle, &kernel, result, if name.is_wide { 8 } else { 4 })
}
