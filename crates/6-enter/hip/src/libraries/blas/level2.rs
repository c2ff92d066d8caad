//! Operations that are products of special shape, or element by element.

use super::gemm::{BIAS, LOWER, Product, UPPER};
use super::handles::Handle;
use super::matrix::{Factor, Matrix, Operand, Operation, Reader, Type};
use super::name::Name;
use super::{Arguments, Problem};

/// The type that a name has.
fn element(name: &Name) -> Result<Type, Problem> {
    name.element.ok_or_else(|| Problem::Unsupported("types by argument".to_owned()))
}

/// Reads a factor of the elements' type, or of its real one.
fn factor(at: usize, name: &Name, handle: Handle) -> Result<Factor, Problem> {
    let element = element(name)?;
    let element = if name.has_real_factor { element.real() } else { element };
    // SAFETY: addresses of factors as the headers say.
    unsafe { Factor::read(at, element, handle.on_gpu) }
}

const ONE: Factor = Factor::Value(1.0, 0.0);
const ZERO: Factor = Factor::Value(0.0, 0.0);

/// y = alpha op(A) x + beta y.
pub(super) fn gemv(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let operation = reader.operation()?;
    let (m, n) = (reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let (a, x) = (reader.operand()?, reader.operand()?);
    let beta = reader.arguments.address();
    let y = reader.operand()?;
    let batches = reader.batch()?;
    a.check(m)?;
    steps(&[x, y])?;
    let (rows, inner) = if operation.transposed { (n, m) } else { (m, n) };
    if rows == 0 || batches == 0 {
        return Ok(());
    }
    [a, x, y].iter().try_for_each(Operand::present)?;
    let factors = [factor(alpha, name, handle)?, factor(beta, name, handle)?];
    let result = y.vector(rows);
    let operands = [a.matrix(operation), x.vector(inner), result, result];
    let element = element(name)?;
    Product::new(operands, factors, [rows, 1, inner, batches]).multiply(handle.stream, element, element)
}

/// Steps of vectors that are written, or read again and again, are not 0.
fn steps(vectors: &[Operand]) -> Result<(), Problem> {
    if vectors.iter().any(|it| it.step == 0) { Err(Problem::Size) } else { Ok(()) }
}

/// A = A + alpha x y'.
pub(super) fn ger(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let (m, n) = (reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let (x, y, a) = (reader.operand()?, reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    a.check(m)?;
    steps(&[x, y])?;
    if m == 0 || n == 0 || batches == 0 {
        return Ok(());
    }
    [a, x, y].iter().try_for_each(Operand::present)?;
    let column = x.vector(m);
    let row = Matrix { conjugate: name.operation == "gerc", ..y.vector(n).transposed() };
    let result = a.matrix(Operation::NONE);
    let factors = [factor(alpha, name, handle)?, ONE];
    let element = element(name)?;
    Product::new([column, row, result, result], factors, [m, n, 1, batches]).multiply(
        handle.stream,
        element,
        element,
    )
}

/// Bit of a triangle.
fn triangle(number: i32) -> Result<u32, Problem> {
    match number {
        121 => Ok(UPPER),
        122 => Ok(LOWER),
        _ => Err(Problem::Value),
    }
}

/// C = alpha op(A) op(A)' + beta C in one triangle.
pub(super) fn syrk(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let triangle = triangle(reader.arguments.int())?;
    let operation = reader.operation()?;
    let (n, k) = (reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let a = reader.operand()?;
    let beta = reader.arguments.address();
    let c = reader.operand()?;
    let batches = reader.batch()?;
    a.check(if operation.transposed { k } else { n })?;
    c.check(n)?;
    if n == 0 || batches == 0 {
        return Ok(());
    }
    [a, c].iter().try_for_each(Operand::present)?;
    let is_hermitian = name.operation == "herk";
    // `herk` conjugates whichever of the two is the transposed one.
    let left = Matrix { conjugate: is_hermitian && operation.transposed, ..a.matrix(operation) };
    let right = Matrix { conjugate: is_hermitian && !operation.transposed, ..left.transposed() };
    let result = c.matrix(Operation::NONE);
    let factors = [factor(alpha, name, handle)?, factor(beta, name, handle)?];
    let element = element(name)?;
    let product = Product::new([left, right, result, result], factors, [n, n, k, batches]);
    Product { epilogue: triangle, ..product }.multiply(handle.stream, element, element)
}

/// op(A) X = alpha B, or X op(A) = alpha B, in place of B.
pub(super) fn trsm(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let is_left = side(reader.arguments.int())?;
    let triangle = triangle(reader.arguments.int())?;
    let operation = reader.operation()?;
    let has_ones = match reader.arguments.int() {
        131 => false,
        132 => true,
        _ => return Err(Problem::Value),
    };
    let (m, n) = (reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let (a, b) = (reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    a.check(if is_left { m } else { n })?;
    b.check(m)?;
    if m == 0 || n == 0 || batches == 0 {
        return Ok(());
    }
    [a, b].iter().try_for_each(Operand::present)?;
    let (matrix, unknowns) = (a.matrix(operation), b.matrix(Operation::NONE));
    // From the right: the transposed system.
    let is_flipped = operation.transposed == is_left;
    let (matrix, unknowns, sizes) = match is_left {
        true => (matrix, unknowns, [m, n, 0, batches]),
        false => (matrix.transposed(), unknowns.transposed(), [n, m, 0, batches]),
    };
    let triangle = if is_flipped { UPPER + LOWER - triangle } else { triangle };
    let factors = [factor(alpha, name, handle)?, ZERO];
    let product = Product::new([matrix, unknowns, unknowns, unknowns], factors, sizes);
    let product = Product { epilogue: triangle | if has_ones { BIAS } else { 0 }, ..product };
    product.columns(handle.stream, &format!("rockhound_trsm_{}", element(name)?.word()))
}

fn side(number: i32) -> Result<bool, Problem> {
    match number {
        141 => Ok(true),
        142 => Ok(false),
        _ => Err(Problem::Value),
    }
}

/// C = alpha op(A) + beta op(B).
pub(super) fn geam(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let (on_a, on_b) = (reader.operation()?, reader.operation()?);
    let (m, n) = (reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let a = reader.operand()?;
    let beta = reader.arguments.address();
    let (b, c) = (reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    if m == 0 || n == 0 || batches == 0 {
        return Ok(());
    }
    let factors = [factor(alpha, name, handle)?, factor(beta, name, handle)?];
    for ((operand, operation), factor) in [(a, on_a), (b, on_b)].into_iter().zip(&factors) {
        // An operand whose factor is 0 is not read and may be null.
        if !factor.is(0.0) {
            operand.check(if operation.transposed { n } else { m })?;
            operand.present()?;
        }
    }
    c.check(m)?;
    c.present()?;
    let result = c.matrix(Operation::NONE);
    let product = Product::new([a.matrix(on_a), b.matrix(on_b), result, result], factors, [m, n, 0, batches]);
    product.elements(handle.stream, &format!("rockhound_geam_{}", element(name)?.word()))
}

/// C = diag(x) A or A diag(x).
pub(super) fn dgmm(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let is_left = side(reader.arguments.int())?;
    let (m, n) = (reader.size()?, reader.size()?);
    let (a, x, c) = (reader.operand()?, reader.operand()?, reader.operand()?);
    let batches = reader.batch()?;
    a.check(m)?;
    c.check(m)?;
    if m == 0 || n == 0 || batches == 0 {
        return Ok(());
    }
    [a, x, c].iter().try_for_each(Operand::present)?;
    let result = c.matrix(Operation::NONE);
    let operands = [a.matrix(Operation::NONE), x.vector(if is_left { m } else { n }), result, result];
    let product = Product::new(operands, [ONE, ZERO], [m, n, 0, batches]);
    let product = Product { epilogue: u32::from(!is_left), ..product };
    product.elements(handle.stream, &format!("rockhound_dgmm_{}", element(name)?.word()))
}
