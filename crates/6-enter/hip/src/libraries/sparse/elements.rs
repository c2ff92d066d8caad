//! Matrices, vectors and factors as the kernels take them.

use super::super::blas::{Factor, Type};
use super::super::kernels;
use super::Problem;

/// Work-items of a workgroup, and of a wave.
const WORKGROUP: u64 = 256;
const WAVE: u64 = 64;

/// Indices of 4 or 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Indices {
    pub(super) at: usize,
    pub(super) is_wide: bool,
}

impl Indices {
    pub(super) const NONE: Indices = Indices { at: 0, is_wide: false };

    /// Indices of 4 bytes.
    pub(super) fn narrow(at: usize) -> Indices {
        Indices { at, is_wide: false }
    }

    pub(super) fn bytes(self) -> usize {
        if self.is_wide { 8 } else { 4 }
    }

    pub(super) fn push(self, bytes: &mut Vec<u8>) {
        words(bytes, &[self.at as i64, i64::from(self.is_wide)]);
    }
}

/// How elements are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// Rows one after the other; columns where the matrix is taken as its transpose.
    Lines,
    /// Row and column of each element.
    List,
}

/// A sparse matrix, or with rows and columns exchanged one by its columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sparse {
    pub(super) format: Format,
    /// Where each line begins, or the line of each element.
    pub(super) lines: Indices,
    pub(super) across: Indices,
    pub(super) values: usize,
    pub(super) count: i64,
    pub(super) elements: i64,
    pub(super) base: i64,
}

impl Sparse {
    pub(super) fn push(&self, bytes: &mut Vec<u8>) {
        self.lines.push(bytes);
        self.across.push(bytes);
        words(bytes, &[self.values as i64, self.count, self.elements, self.base]);
    }
}

/// A dense matrix: elements `row` and `column` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dense {
    pub(super) at: usize,
    pub(super) row: i64,
    pub(super) column: i64,
}

impl Dense {
    /// Columns, or rows, that are `leading` apart.
    pub(super) fn new(at: usize, leading: i64, by_rows: bool) -> Dense {
        if by_rows { Dense { at, row: leading, column: 1 } } else { Dense { at, row: 1, column: leading } }
    }

    pub(super) fn transposed(self) -> Dense {
        Dense { row: self.column, column: self.row, ..self }
    }

    pub(super) fn push(&self, bytes: &mut Vec<u8>) {
        words(bytes, &[self.at as i64, self.row, self.column]);
    }
}

pub(super) fn words(bytes: &mut Vec<u8>, words: &[i64]) {
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
}

/// Types that the kernels have.
pub(super) fn element(number: i32) -> Result<Type, Problem> {
    match Type::of_number(number)? {
        found @ (Type::F32 | Type::F64 | Type::C32 | Type::C64) => Ok(found),
        other => Err(Problem::Unsupported(format!("elements of type {}", other.word()))),
    }
}

/// A transposition: whether rows and columns are exchanged, and elements conjugated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operation {
    pub(super) transposed: bool,
    pub(super) conjugate: bool,
}

impl Operation {
    pub(super) fn of_number(number: i32) -> Result<Operation, Problem> {
        match number {
            0..=2 => Ok(Operation { transposed: number > 0, conjugate: number == 2 }),
            _ => Err(Problem::Value),
        }
    }
}

/// Runs a kernel with a work-item for each of `count`, `columns` times.
pub(super) fn each(
    stream: usize,
    kernel: &str,
    count: i64,
    columns: i64,
    bytes: Vec<u8>,
) -> Result<(), Problem> {
    let groups = count.max(0).cast_unsigned().div_ceil(WORKGROUP);
    if groups == 0 || columns <= 0 {
        return Ok(());
    }
    kernels::launch(
        stream,
        &format!("rockhound_sparse_{kernel}"),
        [groups, columns.cast_unsigned(), 1],
        bytes,
    )
}

/// Work-items where each of `count` gets a wave.
pub(super) fn waves(count: i64) -> i64 {
    count.saturating_mul(WAVE as i64)
}

/// `c = alpha op(A) b + beta c` for a matrix of `columns` columns.
pub(super) struct Product {
    pub(super) a: Sparse,
    /// `a` is the transpose of what is multiplied.
    pub(super) transposed: bool,
    pub(super) conjugate: bool,
    pub(super) b: Dense,
    pub(super) c: Dense,
    /// Rows and columns of `c`.
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) alpha: Factor,
    pub(super) beta: Factor,
    pub(super) element: Type,
}

impl Product {
    pub(super) fn run(self, stream: usize) -> Result<(), Problem> {
        let word = self.element.word();
        let mut a = self.a;
        let (kernel, count) = match a.format {
            Format::Lines if !self.transposed => {
                return each(
                    stream,
                    &format!("product_{word}"),
                    waves(a.count),
                    self.columns,
                    self.bytes(&a),
                );
            }
            Format::Lines => ("transposed", waves(a.count)),
            Format::List => {
                if self.transposed {
                    (a.lines, a.across) = (a.across, a.lines);
                }
                ("listed", a.elements)
            }
        };
        // These add to c, which is scaled before.
        let scaled = Sparse { elements: self.rows, ..a };
        each(stream, &format!("scale_{word}"), self.rows, self.columns, self.bytes(&scaled))?;
        each(stream, &format!("{kernel}_{word}"), count, self.columns, self.bytes(&a))
    }

    fn bytes(&self, a: &Sparse) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(192);
        a.push(&mut bytes);
        self.b.push(&mut bytes);
        self.c.push(&mut bytes);
        self.alpha.push(&mut bytes);
        self.beta.push(&mut bytes);
        words(&mut bytes, &[i64::from(self.conjugate)]);
        bytes
    }
}

/// What is done with a sparse and a dense vector, as the kernel numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Gather,
    GatherAndClear,
    Scatter,
    Add,
    Dot,
}

/// A sparse vector and a dense one.
pub(super) struct Vectors {
    pub(super) indices: Indices,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) result: usize,
    pub(super) alpha: Factor,
    pub(super) count: i64,
    pub(super) base: i64,
    pub(super) conjugate: bool,
}

impl Vectors {
    pub(super) fn run(&self, stream: usize, action: Action, element: Type) -> Result<(), Problem> {
        let mut bytes = Vec::with_capacity(112);
        self.indices.push(&mut bytes);
        words(&mut bytes, &[self.x as i64, self.y as i64, self.result as i64]);
        self.alpha.push(&mut bytes);
        words(&mut bytes, &[self.count, self.base, action as i64, i64::from(self.conjugate)]);
        let items = if action == Action::Dot { 1 } else { self.count };
        each(stream, &format!("vector_{}", element.word()), items, 1, bytes)
    }
}
