//! The generic interface: functions on descriptions of matrices and vectors.

use super::super::blas::{Factor, Handle, Type};
use super::super::kernels::{self, Scratch};
use super::convert;
use super::elements::{Action, Format, Operation, Product, Vectors, each, element, words};
use super::objects::{self, Dense, Layout, Matrix};
use super::{Arguments, Problem, factor, no_memory};
use crate::work::Copy3;

/// A function of the generic interface; `None` for others. No function needs memory of the program.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    Some(match name {
        // Behind the handle come as many arguments before the place for the size.
        "SpMV_bufferSize" => no_memory(arguments, 8),
        "SpMM_bufferSize" => no_memory(arguments, 9),
        "SparseToDense_bufferSize" | "DenseToSparse_bufferSize" => no_memory(arguments, 3),
        "SpVV_bufferSize" => no_memory(arguments, 5),
        "SpSV_bufferSize" => no_memory(arguments, 8),
        "SpMV_preprocess" | "SpMM_preprocess" | "SpSV_analysis" => Handle::take(arguments).map(drop),
        "SpMV" => matrix_times_vector(arguments),
        "SpMM" => matrix_times_matrix(arguments),
        "SpSV_solve" => solve(arguments),
        "SpVV" => dot(arguments),
        "Gather" => gather(arguments),
        "Scatter" => scatter(arguments),
        "Axpby" => add(arguments),
        "SparseToDense" => sparse_to_dense(arguments),
        "DenseToSparse_analysis" => dense_to_sparse(arguments, true),
        "DenseToSparse_convert" => dense_to_sparse(arguments, false),
        _ => return None,
    })
}

/// All operands, and what is computed with, have one type.
fn one_type(elements: &[Type]) -> Result<Type, Problem> {
    let first = elements[0];
    match elements.iter().find(|it| **it != first) {
        None => Ok(first),
        Some(other) => {
            let why = format!("operands of the types {} and {}", first.word(), other.word());
            Err(Problem::Unsupported(why))
        }
    }
}

fn no_batches(counts: &[i32]) -> Result<(), Problem> {
    if counts.iter().any(|count| *count > 1) {
        return Err(Problem::Unsupported("batches of sparse matrices".to_owned()));
    }
    Ok(())
}

/// Rows and columns of a matrix after an operation.
fn shape(matrix: &Matrix, operation: Operation) -> [i64; 2] {
    if operation.transposed { [matrix.columns, matrix.rows] } else { [matrix.rows, matrix.columns] }
}

fn matrix_times_vector(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let operation = Operation::of_number(arguments.int())?;
    let alpha = arguments.address();
    let (matrix, x) = (objects::matrix(arguments)?, objects::vector(arguments)?);
    let beta = arguments.address();
    let y = objects::vector(arguments)?;
    let of = one_type(&[matrix.element, x.element, y.element, element(arguments.int())?])?;
    no_batches(&[matrix.batches])?;
    let [rows, columns] = shape(&matrix, operation);
    if x.size != columns || y.size != rows {
        return Err(Problem::Size);
    }
    let (a, by_columns) = matrix.sparse();
    let product = Product {
        a,
        transposed: operation.transposed != by_columns,
        conjugate: operation.conjugate,
        b: super::elements::Dense::new(x.at, columns, false),
        c: super::elements::Dense::new(y.at, rows, false),
        rows,
        columns: 1,
        alpha: factor(alpha, of, &handle)?,
        beta: factor(beta, of, &handle)?,
        element: of,
    };
    product.run(handle.stream)
}

fn matrix_times_matrix(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let on_a = Operation::of_number(arguments.int())?;
    let on_b = Operation::of_number(arguments.int())?;
    let alpha = arguments.address();
    let (matrix, b) = (objects::matrix(arguments)?, objects::dense(arguments)?);
    let beta = arguments.address();
    let c = objects::dense(arguments)?;
    let of = one_type(&[matrix.element, b.element, c.element, element(arguments.int())?])?;
    no_batches(&[matrix.batches, b.batches, c.batches])?;
    if on_b.conjugate && matches!(of, Type::C32 | Type::C64) {
        return Err(Problem::Unsupported("a conjugated dense matrix".to_owned()));
    }
    let [rows, inner] = shape(&matrix, on_a);
    let of_b = if on_b.transposed { [b.columns, b.rows] } else { [b.rows, b.columns] };
    if of_b != [inner, c.columns] || c.rows != rows {
        return Err(Problem::Size);
    }
    let (a, by_columns) = matrix.sparse();
    let strides = b.strides();
    let product = Product {
        a,
        transposed: on_a.transposed != by_columns,
        conjugate: on_a.conjugate,
        b: if on_b.transposed { strides.transposed() } else { strides },
        c: c.strides(),
        rows,
        columns: c.columns,
        alpha: factor(alpha, of, &handle)?,
        beta: factor(beta, of, &handle)?,
        element: of,
    };
    product.run(handle.stream)
}

/// One triangle of rows.
fn solve(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let operation = Operation::of_number(arguments.int())?;
    let alpha = arguments.address();
    let (matrix, b, x) =
        (objects::matrix(arguments)?, objects::vector(arguments)?, objects::vector(arguments)?);
    let of = one_type(&[matrix.element, b.element, x.element, element(arguments.int())?])?;
    if operation.transposed || matrix.layout != Layout::Csr {
        return Err(Problem::Unsupported("a triangle that is not of compressed rows as they are".to_owned()));
    }
    if [matrix.columns, b.size, x.size] != [matrix.rows; 3] {
        return Err(Problem::Size);
    }
    let mut bytes = Vec::with_capacity(128);
    matrix.sparse().0.push(&mut bytes);
    words(&mut bytes, &[b.at as i64, x.at as i64]);
    factor(alpha, of, &handle)?.push(&mut bytes);
    words(&mut bytes, &[i64::from(matrix.fill), i64::from(matrix.diagonal)]);
    each(handle.stream, &format!("solve_{}", of.word()), matrix.rows.min(1), 1, bytes)
}

fn dot(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let operation = Operation::of_number(arguments.int())?;
    let (x, y) = (objects::sparse_vector(arguments)?, objects::vector(arguments)?);
    let result = arguments.address();
    let of = one_type(&[x.element, y.element, element(arguments.int())?])?;
    let vectors = Vectors {
        indices: x.indices,
        x: x.at,
        y: y.at,
        result,
        alpha: Factor::Value(1.0, 0.0),
        count: x.elements,
        base: i64::from(x.base),
        conjugate: operation.conjugate,
    };
    dot_to(&handle, vectors, of)
}

/// A product whose result goes to the GPU or to the host.
pub(super) fn dot_to(handle: &Handle, vectors: Vectors, of: Type) -> Result<(), Problem> {
    let result = vectors.result;
    if result == 0 {
        return Err(Problem::Pointer);
    }
    if handle.on_gpu {
        return vectors.run(handle.stream, Action::Dot, of);
    }
    let scratch = Scratch::new(of.bytes())?;
    Vectors { result: scratch.address(), ..vectors }.run(handle.stream, Action::Dot, of)?;
    kernels::copy(handle.stream, Copy3::flat(result, scratch.address(), of.bytes()))
}

fn gather(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (y, x) = (objects::vector(arguments)?, objects::sparse_vector(arguments)?);
    let of = one_type(&[x.element, y.element])?;
    moved(&x, y.at).run(handle.stream, Action::Gather, of)
}

fn scatter(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (x, y) = (objects::sparse_vector(arguments)?, objects::vector(arguments)?);
    let of = one_type(&[x.element, y.element])?;
    moved(&x, y.at).run(handle.stream, Action::Scatter, of)
}

fn moved(x: &objects::SparseVector, y: usize) -> Vectors {
    Vectors {
        indices: x.indices,
        x: x.at,
        y,
        result: 0,
        alpha: Factor::Value(1.0, 0.0),
        count: x.elements,
        base: i64::from(x.base),
        conjugate: false,
    }
}

/// `y = alpha x + beta y`.
fn add(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let alpha = arguments.address();
    let x = objects::sparse_vector(arguments)?;
    let beta = arguments.address();
    let y = objects::vector(arguments)?;
    let of = one_type(&[x.element, y.element])?;
    let beta = factor(beta, of, &handle)?;
    if !beta.is(1.0) {
        convert::scale(handle.stream, y.at, y.size, beta, of)?;
    }
    let vectors = Vectors { alpha: factor(alpha, of, &handle)?, ..moved(&x, y.at) };
    vectors.run(handle.stream, Action::Add, of)
}

fn sparse_to_dense(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (matrix, dense) = (objects::matrix(arguments)?, objects::dense(arguments)?);
    let of = one_type(&[matrix.element, dense.element])?;
    if [matrix.rows, matrix.columns] != [dense.rows, dense.columns] {
        return Err(Problem::Size);
    }
    let (a, by_columns) = matrix.sparse();
    convert::to_dense(handle.stream, &a, by_columns, (dense.strides(), dense.rows, dense.columns), of)
}

/// First the number of elements and the beginnings of lines, then the elements.
fn dense_to_sparse(arguments: &mut Arguments, is_analysis: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let dense: Dense = objects::dense(arguments)?;
    let number = arguments.address();
    let mut found = None;
    objects::change_matrix(number, |it| {
        found = Some(*it);
        Ok(())
    })?;
    let matrix = found.ok_or(Problem::Handle)?;
    let of = one_type(&[matrix.element, dense.element])?;
    let (mut a, by_columns) = matrix.sparse();
    let strides = dense.strides();
    let (strides, across) =
        if by_columns { (strides.transposed(), dense.rows) } else { (strides, dense.columns) };
    // A list has no place for the beginnings of its lines.
    let lines =
        (a.format == Format::List).then(|| Scratch::new(8 * (a.count.max(0) as usize + 1))).transpose()?;
    let list = a.lines;
    if let Some(lines) = &lines {
        a.lines = super::elements::Indices { at: lines.address(), is_wide: true };
        a.format = Format::Lines;
    }
    if is_analysis || lines.is_some() {
        let elements = convert::count_dense(handle.stream, &a, strides, across, of)?;
        objects::change_matrix(number, |it| {
            it.elements = elements;
            Ok(())
        })?;
        a.elements = elements;
    }
    if is_analysis {
        return Ok(());
    }
    convert::of_dense(handle.stream, &a, strides, across, of)?;
    if lines.is_some() { convert::expand(handle.stream, a.lines, list, a.count, a.base) } else { Ok(()) }
}
