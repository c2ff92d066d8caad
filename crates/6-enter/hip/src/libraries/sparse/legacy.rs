//! The older interface: types in the names, 32-bit indices, rows as they are.

use super::super::blas::{Factor, Handle, Type};
use super::super::kernels::{self, Scratch};
use super::convert::index;
use super::elements::{Action, Dense, Format, Indices, Operation, Product, Sparse, Vectors, each};
use super::generic::dot_to;
use super::objects;
use super::{Arguments, Problem, factor, letter, no_memory, put, size};
use crate::work::Copy3;

/// A function of the older interface; `None` for others.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    if name == "Xcsrgeam2Nnz" {
        return Some(count_sum(arguments));
    }
    let (of, rest) = letter(name)?;
    Some(match rest {
        "csrmv" => matrix_times_vector(arguments, of),
        "csrmm" => matrix_times_matrix(arguments, of, false),
        "csrmm2" => matrix_times_matrix(arguments, of, true),
        "csrgeam2_bufferSizeExt" => no_memory(arguments, 17),
        "csrgeam2" => sum(arguments, of),
        "gthr" => vectors(arguments, of, Action::Gather),
        "gthrz" => vectors(arguments, of, Action::GatherAndClear),
        "sctr" => vectors(arguments, of, Action::Scatter),
        "axpyi" => vectors(arguments, of, Action::Add),
        "doti" => dot(arguments, of, false),
        "dotci" => dot(arguments, of, true),
        _ => return None,
    })
}

/// A general matrix: description, values, where rows begin, columns.
fn matrix(arguments: &mut Arguments, rows: i64, elements: i64) -> Result<Sparse, Problem> {
    let description = objects::description(arguments)?;
    if description.kind != 0 {
        return Err(Problem::Unsupported("a matrix that is not a general one".to_owned()));
    }
    let [values, lines, across] = [(); 3].map(|()| arguments.address());
    Ok(Sparse {
        format: Format::Lines,
        lines: Indices::narrow(lines),
        across: Indices::narrow(across),
        values,
        count: rows,
        elements,
        base: i64::from(description.base),
    })
}

fn matrix_times_vector(arguments: &mut Arguments, of: Type) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let operation = Operation::of_number(arguments.int())?;
    let (m, n, elements) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let alpha = factor(arguments.address(), of, &handle)?;
    let a = matrix(arguments, m, elements)?;
    let x = arguments.address();
    let beta = factor(arguments.address(), of, &handle)?;
    let y = arguments.address();
    let product = Product {
        a,
        transposed: operation.transposed,
        conjugate: operation.conjugate,
        b: Dense::new(x, 1, false),
        c: Dense::new(y, 1, false),
        rows: if operation.transposed { n } else { m },
        columns: 1,
        alpha,
        beta,
        element: of,
    };
    product.run(handle.stream)
}

fn matrix_times_matrix(arguments: &mut Arguments, of: Type, has_second: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let on_a = Operation::of_number(arguments.int())?;
    let on_b = Operation::of_number(if has_second { arguments.int() } else { 0 })?;
    let (m, n, k, elements) = (size(arguments)?, size(arguments)?, size(arguments)?, size(arguments)?);
    let alpha = factor(arguments.address(), of, &handle)?;
    let a = matrix(arguments, m, elements)?;
    let b = Dense::new(arguments.address(), size(arguments)?, false);
    let beta = factor(arguments.address(), of, &handle)?;
    let c = Dense::new(arguments.address(), size(arguments)?, false);
    if on_b.conjugate && matches!(of, Type::C32 | Type::C64) {
        return Err(Problem::Unsupported("a conjugated dense matrix".to_owned()));
    }
    let product = Product {
        a,
        transposed: on_a.transposed,
        conjugate: on_a.conjugate,
        b: if on_b.transposed { b.transposed() } else { b },
        c,
        rows: if on_a.transposed { k } else { m },
        columns: n,
        alpha,
        beta,
        element: of,
    };
    product.run(handle.stream)
}

fn vectors(arguments: &mut Arguments, of: Type, action: Action) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let count = size(arguments)?;
    let alpha = match action {
        Action::Add => factor(arguments.address(), of, &handle)?,
        _ => Factor::Value(1.0, 0.0),
    };
    let [x, y, indices] = match action {
        Action::Gather | Action::GatherAndClear => {
            let [y, x, indices] = [(); 3].map(|()| arguments.address());
            [x, y, indices]
        }
        _ => {
            let [x, indices, y] = [(); 3].map(|()| arguments.address());
            [x, y, indices]
        }
    };
    let base = i64::from(arguments.int());
    let indices = Indices::narrow(indices);
    let vectors = Vectors { indices, x, y, result: 0, alpha, count, base, conjugate: false };
    vectors.run(handle.stream, action, of)
}

fn dot(arguments: &mut Arguments, of: Type, conjugate: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let count = size(arguments)?;
    let [x, indices, y, result] = [(); 4].map(|()| arguments.address());
    let (alpha, base) = (Factor::Value(1.0, 0.0), i64::from(arguments.int()));
    let indices = Indices::narrow(indices);
    dot_to(&handle, Vectors { indices, x, y, result, alpha, count, base, conjugate }, of)
}

fn sums(parts: [&Sparse; 3], factors: [Factor; 2]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    parts.iter().for_each(|part| part.push(&mut bytes));
    factors.iter().for_each(|factor| factor.push(&mut bytes));
    bytes
}

/// Rows of `alpha A + beta B`, and the number of its elements.
fn count_sum(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, _n) = (size(arguments)?, size(arguments)?);
    let mut part = || {
        let (description, elements) = (objects::description(arguments)?, size(arguments)?);
        let (lines, across) = (Indices::narrow(arguments.address()), Indices::narrow(arguments.address()));
        let base = i64::from(description.base);
        Ok::<_, Problem>(Sparse { format: Format::Lines, lines, across, values: 0, count: m, elements, base })
    };
    let (a, b) = (part()?, part()?);
    let base = i64::from(objects::description(arguments)?.base);
    let (lines, total) = (arguments.address(), arguments.address());
    let counts = Scratch::new(4 * (m as usize + 1))?;
    let c = Sparse { lines: Indices::narrow(counts.address()), base, ..a };
    let none = [Factor::Value(0.0, 0.0); 2];
    each(handle.stream, "sum_f32", m, 1, sums([&a, &b, &c], none))?;
    super::convert::scan(handle.stream, Indices::narrow(lines), c.lines, m, base)?;
    if total == 0 {
        return Ok(());
    }
    let last = index(lines + 4 * m as usize, false)? - base;
    if handle.on_gpu {
        let scratch = Scratch::new(8)?;
        crate::runtime::lock()
            .allocations
            .emulated
            .write(scratch.address() as u64, &(last as i32).to_le_bytes());
        return kernels::copy(handle.stream, Copy3::flat(total, scratch.address(), 4));
    }
    put(total, last as i32)
}

fn sum(arguments: &mut Arguments, of: Type) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, _n) = (size(arguments)?, size(arguments)?);
    let mut part = || {
        let factor = factor(arguments.address(), of, &handle)?;
        let (description, elements) = (objects::description(arguments)?, size(arguments)?);
        let [values, lines, across] = [(); 3].map(|()| arguments.address());
        let (lines, across) = (Indices::narrow(lines), Indices::narrow(across));
        let base = i64::from(description.base);
        let sparse = Sparse { format: Format::Lines, lines, across, values, count: m, elements, base };
        Ok::<_, Problem>((factor, sparse))
    };
    let ((alpha, a), (beta, b)) = (part()?, part()?);
    let base = i64::from(objects::description(arguments)?.base);
    let [values, lines, across] = [(); 3].map(|()| arguments.address());
    let (lines, across) = (Indices::narrow(lines), Indices::narrow(across));
    let c = Sparse { lines, across, values, base, ..a };
    if values == 0 {
        return Err(Problem::Pointer);
    }
    each(handle.stream, &format!("sum_{}", of.word()), m, 1, sums([&a, &b, &c], [alpha, beta]))
}
