//! Matrix products.

use super::handles::Handle;
use super::matrix::{Factor, Matrix, Operation, Reader, Type};
use super::name::Name;
use super::{Arguments, Problem};
use crate::libraries::kernels;

/// Bits of `epilogue`, as the kernels have them.
pub(super) const RELU: u32 = 1;
pub(super) const GELU: u32 = 2;
pub(super) const BIAS: u32 = 4;
pub(super) const KEEP: u32 = 8;
pub(super) const LOWER: u32 = 16;
pub(super) const UPPER: u32 = 32;

/// Side of the square of results that a workgroup computes with matrix instructions, and without.
const TILE: i64 = 64;
const PLAIN_TILE: i64 = 16;
/// Columns of a workgroup that has one for each work-item.
const COLUMNS: i64 = 256;

/// d = activation(alpha a b + beta c + bias), as kernels take it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) a: Matrix,
    pub(super) b: Matrix,
    pub(super) c: Matrix,
    pub(super) d: Matrix,
    pub(super) alpha: Factor,
    pub(super) beta: Factor,
    /// Rows, columns, inner size, batches.
    pub(super) sizes: [i64; 4],
    pub(super) epilogue: u32,
    /// Address and type of one value for each row, and the distance of batches.
    pub(super) bias: Option<(usize, Type, i64)>,
    /// Where the values before the activation go: address, distances of columns and batches.
    pub(super) kept: Option<(usize, i64, i64)>,
    /// Addresses of factors of a, b and d; 0: none.
    pub(super) scales: [usize; 3],
}

impl Product {
    pub(super) fn new(operands: [Matrix; 4], factors: [Factor; 2], sizes: [i64; 4]) -> Product {
        let ([a, b, c, d], [alpha, beta]) = (operands, factors);
        Product { a, b, c, d, alpha, beta, sizes, epilogue: 0, bias: None, kept: None, scales: [0; 3] }
    }

    fn bytes(&self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::with_capacity(320);
        for matrix in [&self.a, &self.b, &self.c, &self.d] {
            matrix.push(&mut bytes);
        }
        self.alpha.push(&mut bytes);
        self.beta.push(&mut bytes);
        let (bias, kind, bias_batch) = self.bias.unwrap_or((0, Type::F32, 0));
        let kind = match kind {
            Type::F32 => 1,
            Type::F16 => 3,
            Type::Bf16 => 4,
            other => return Err(Problem::Unsupported(format!("a bias of type {}", other.word()))),
        };
        let (kept, kept_column, kept_batch) = self.kept.unwrap_or_default();
        for word in [bias as i64, kept as i64, kind, bias_batch, kept_column, kept_batch] {
            bytes.extend(word.to_le_bytes());
        }
        self.scales.iter().for_each(|it| bytes.extend((*it as u64).to_le_bytes()));
        for size in &self.sizes[..3] {
            let size = i32::try_from(*size);
            let size = size.map_err(|_| Problem::Unsupported("sizes over 2^31".to_owned()))?;
            bytes.extend(size.to_le_bytes());
        }
        bytes.extend(self.epilogue.to_le_bytes());
        Ok(bytes)
    }

    /// Runs an element-wise kernel of squares of 16 by 16 results.
    pub(super) fn elements(&self, stream: usize, kernel: &str) -> Result<(), Problem> {
        self.launch(stream, kernel, [PLAIN_TILE, PLAIN_TILE])
    }

    /// Runs a kernel that has a work-item for each column.
    pub(super) fn columns(&self, stream: usize, kernel: &str) -> Result<(), Problem> {
        self.run(stream, kernel, [self.sizes[1], 1], [COLUMNS, 1])
    }

    fn launch(&self, stream: usize, kernel: &str, tile: [i64; 2]) -> Result<(), Problem> {
        self.run(stream, kernel, [self.sizes[0], self.sizes[1]], tile)
    }

    fn run(&self, stream: usize, kernel: &str, of: [i64; 2], tile: [i64; 2]) -> Result<(), Problem> {
        let [m, n, _, batches] = self.sizes.map(i64::cast_unsigned);
        if m == 0 || n == 0 || batches == 0 {
            return Ok(());
        }
        let groups = |axis: usize| of[axis].cast_unsigned().div_ceil(tile[axis].cast_unsigned());
        kernels::launch(stream, kernel, [groups(0), groups(1), batches], self.bytes()?)
    }

    /// Multiplies elements of type `from` to such of type `to`.
    pub(super) fn multiply(mut self, stream: usize, from: Type, to: Type) -> Result<(), Problem> {
        if self.alpha.is(0.0) {
            // The operands are not read then.
            self.sizes[2] = 0;
        }
        let name = match (from, to) {
            _ if from == to => format!("rockhound_gemm_{}", from.word()),
            (Type::F16 | Type::Bf16, Type::F32) | (Type::I8, Type::I32) => {
                format!("rockhound_gemm_{}_{}", from.word(), to.word())
            }
            _ => {
                let (from, to) = (from.word(), to.word());
                return Err(Problem::Unsupported(format!("a product of {from} elements with {to} results")));
            }
        };
        let plain = format!("{name}_plain");
        if kernels::exists(&plain)? {
            return self.launch(stream, &plain, [PLAIN_TILE; 2]);
        }
        self.launch(stream, &name, [TILE; 2])
    }
}

/// Type of the factors of a product.
fn factor_type(compute: i32, element: Type) -> Result<Type, Problem> {
    let real = match compute {
        0 | 1 => Type::F16,
        2..=6 | 300 => Type::F32,
        7 | 8 => Type::F64,
        9 | 10 => Type::I32,
        number => Type::of_number(number)?.real(),
    };
    Ok(match (element, real) {
        (Type::C32 | Type::C64, _) => element,
        (_, real) => real,
    })
}

/// `gemm` in all forms.
pub(super) fn gemm(name: &Name, arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut reader = Reader { name, arguments };
    let (on_a, on_b) = (reader.operation()?, reader.operation()?);
    let (m, n, k) = (reader.size()?, reader.size()?, reader.size()?);
    let alpha = reader.arguments.address();
    let (a, b) = (reader.operand()?, reader.operand()?);
    let beta = reader.arguments.address();
    let c = reader.operand()?;
    let has_result = name.is_rocblas && name.element.is_none();
    let d = if has_result { reader.operand()? } else { c };
    let batches = reader.batch()?;
    let factors = match name.element {
        Some(element) => element,
        None => factor_type(reader.arguments.int(), a.element)?,
    };
    let rows =
        |operation: Operation, plain, transposed| if operation.transposed { transposed } else { plain };
    a.check(rows(on_a, m, k))?;
    b.check(rows(on_b, k, n))?;
    c.check(m)?;
    d.check(m)?;
    if m == 0 || n == 0 || batches == 0 {
        return Ok(());
    }
    // SAFETY: addresses of factors as the headers say.
    let (alpha, beta) = unsafe {
        let read = |at| Factor::read(at, factors, handle.on_gpu);
        (read(alpha)?, read(beta)?)
    };
    d.present()?;
    if k > 0 && !alpha.is(0.0) {
        a.present()?;
        b.present()?;
    }
    if a.element != b.element || (c.element != d.element && !beta.is(0.0)) {
        let words = [a, b, c, d].map(|it| it.element.word());
        return Err(Problem::Unsupported(format!("operands of the types {}", words.join(", "))));
    }
    let operands = [a.matrix(on_a), b.matrix(on_b), c.matrix(Operation::NONE), d.matrix(Operation::NONE)];
    Product::new(operands, [alpha, beta], [m, n, k, batches]).multiply(handle.stream, a.element, d.element)
}
