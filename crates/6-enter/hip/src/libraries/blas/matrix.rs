//! Elements, matrices and factors as kernels take them.

use super::Problem;
pub(in crate::libraries) use super::element::Type;
use super::name::{Form, Name};
use crate::libraries::arguments::Arguments;

/// A transposition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Operation {
    pub(super) transposed: bool,
    pub(super) conjugate: bool,
}

impl Operation {
    pub(super) const NONE: Operation = Operation { transposed: false, conjugate: false };

    pub(super) fn of_number(number: i32) -> Result<Operation, Problem> {
        match number {
            111 => Ok(Operation::NONE),
            112 => Ok(Operation { transposed: true, conjugate: false }),
            113 => Ok(Operation { transposed: true, conjugate: true }),
            _ => Err(Problem::Value),
        }
    }
}

/// An address with a leading dimension or step, as arguments give it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) at: usize,
    /// Leading dimension of a matrix, step of a vector.
    pub(super) step: i64,
    pub(super) stride: i64,
    pub(super) element: Type,
    pub(super) form: Form,
}

/// A matrix as kernels take it: distances of elements, of batches, and how a batch is given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Matrix {
    pub(super) at: usize,
    pub(super) row: i64,
    pub(super) column: i64,
    pub(super) batch: i64,
    pub(super) is_list: bool,
    pub(super) conjugate: bool,
}

impl Operand {
    /// The matrix with an operation applied, by row and column of the result. Stored rows are contiguous.
    pub(super) fn matrix(&self, operation: Operation) -> Matrix {
        let (row, column) = if operation.transposed { (self.step, 1) } else { (1, self.step) };
        Matrix { row, column, conjugate: operation.conjugate, ..self.whole(0) }
    }

    /// A vector of `count` elements along the rows. A negative step begins at the end.
    pub(super) fn vector(&self, count: i64) -> Matrix {
        let first = if self.step < 0 { (1 - count.max(1)) * self.step } else { 0 };
        Matrix { row: self.step, ..self.whole(first) }
    }

    fn whole(&self, first: i64) -> Matrix {
        let is_list = self.form == Form::Batched;
        // A list has the addresses of its first elements; the kernel adds the rest.
        let offset = if is_list { 0 } else { first.wrapping_mul(self.element.bytes() as i64) };
        let batch = if is_list { first } else { self.stride };
        Matrix { at: self.at.wrapping_add_signed(offset as isize), batch, is_list, ..Matrix::default() }
    }

    /// Whether a stored matrix of these rows may have this leading dimension.
    pub(super) fn check(&self, rows: i64) -> Result<(), Problem> {
        if self.step < rows.max(1) { Err(Problem::Size) } else { Ok(()) }
    }

    pub(super) fn present(&self) -> Result<(), Problem> {
        if self.at == 0 { Err(Problem::Pointer) } else { Ok(()) }
    }
}

impl Matrix {
    pub(super) fn transposed(self) -> Matrix {
        Matrix { row: self.column, column: self.row, ..self }
    }

    pub(super) fn push(&self, bytes: &mut Vec<u8>) {
        for word in [self.at as i64, self.row, self.column, self.batch] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(i32::from(self.is_list).to_le_bytes());
        bytes.extend(i32::from(self.conjugate).to_le_bytes());
    }
}

/// A factor as kernels take it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::libraries) enum Factor {
    Value(f64, f64),
    /// Address on the GPU and type there.
    At(usize, Type),
}

impl Factor {
    /// The factor that an argument leads to. A null pointer is an error.
    ///
    /// # Safety
    /// Unless `on_gpu`, the address is null or leads to a value of the type.
    pub(in crate::libraries) unsafe fn read(
        at: usize,
        element: Type,
        on_gpu: bool,
    ) -> Result<Factor, Problem> {
        if at == 0 {
            return Err(Problem::Pointer);
        }
        if on_gpu {
            return Ok(Factor::At(at, element));
        }
        let place = std::ptr::with_exposed_provenance::<u8>(at);
        // SAFETY: as the caller says.
        let bytes = unsafe { std::slice::from_raw_parts(place, element.bytes()) };
        Ok(value(bytes, element))
    }

    pub(in crate::libraries) fn is(&self, number: f64) -> bool {
        *self == Factor::Value(number, 0.0)
    }

    pub(in crate::libraries) fn push(&self, bytes: &mut Vec<u8>) {
        let (re, im, at, kind) = match *self {
            Factor::Value(re, im) => (re, im, 0, 0),
            Factor::At(at, element) => (0.0, 0.0, at as u64, element.kind()),
        };
        bytes.extend(re.to_le_bytes());
        bytes.extend(im.to_le_bytes());
        bytes.extend(at.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
    }
}

fn value(bytes: &[u8], element: Type) -> Factor {
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|it| bytes[at + it]));
    let single = |at: usize| f64::from(f32::from_bits(word(at)));
    let double = |at: usize| f64::from_bits(u64::from(word(at)) | u64::from(word(at + 4)) << 32);
    match element {
        Type::F16 => Factor::Value(of_half(half(0)), 0.0),
        Type::Bf16 => Factor::Value(f64::from(f32::from_bits(u32::from(half(0)) << 16)), 0.0),
        Type::F32 => Factor::Value(single(0), 0.0),
        Type::F64 => Factor::Value(double(0), 0.0),
        Type::I8 => Factor::Value(f64::from(bytes[0].cast_signed()), 0.0),
        Type::I32 => Factor::Value(f64::from(word(0).cast_signed()), 0.0),
        Type::C32 => Factor::Value(single(0), single(4)),
        Type::C64 => Factor::Value(double(0), double(8)),
    }
}

/// A half-precision number.
fn of_half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Reads the arguments of calls of one name: sizes of its width, operands and batches of its form.
pub(super) struct Reader<'a> {
    pub(super) name: &'a Name,
    pub(super) arguments: &'a mut Arguments,
}

impl Reader<'_> {
    /// A size, which is not negative.
    pub(super) fn size(&mut self) -> Result<i64, Problem> {
        let size = self.step();
        if size < 0 { Err(Problem::Size) } else { Ok(size) }
    }

    /// A number of the width of sizes.
    pub(super) fn step(&mut self) -> i64 {
        if self.name.is_wide { self.arguments.long() } else { i64::from(self.arguments.int()) }
    }

    pub(super) fn operation(&mut self) -> Result<Operation, Problem> {
        Operation::of_number(self.arguments.int())
    }

    /// Address, type where arguments say it, leading dimension or step, distance.
    pub(super) fn operand(&mut self) -> Result<Operand, Problem> {
        let at = self.arguments.address();
        let element = self.element()?;
        let step = self.step();
        let stride = if self.name.form == Form::Strided { self.arguments.long() } else { 0 };
        Ok(Operand { at, step, stride, element, form: self.name.form })
    }

    /// Type of elements: of the name, or the next argument.
    pub(super) fn element(&mut self) -> Result<Type, Problem> {
        match self.name.element {
            Some(element) => Ok(element),
            None => Type::of_number(self.arguments.int()),
        }
    }

    /// Number of matrices.
    pub(super) fn batch(&mut self) -> Result<i64, Problem> {
        if self.name.form == Form::Single { Ok(1) } else { self.size() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_read_in_every_type() {
        for (bytes, element, expected) in [
            (vec![0x00, 0x3e], Type::F16, (1.5, 0.0)),
            (vec![0x01, 0x80], Type::F16, (-2f64.powi(-24), 0.0)),
            (vec![0xc0, 0xbf], Type::Bf16, (-1.5, 0.0)),
            (2.5f32.to_le_bytes().to_vec(), Type::F32, (2.5, 0.0)),
            ((-3i32).to_le_bytes().to_vec(), Type::I32, (-3.0, 0.0)),
            ([1.0f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat(), Type::C64, (1.0, -2.0)),
        ] {
            assert_eq!(value(&bytes, element), Factor::Value(expected.0, expected.1));
        }
    }

    #[test]
    fn a_vector_with_a_negative_step_begins_at_its_end() {
        let operand = |form| Operand { at: 1000, step: -2, stride: 50, element: Type::F32, form };
        let read = |form| {
            let vector = operand(form).vector(5);
            (vector.at, vector.row, vector.batch)
        };
        assert_eq!(read(Form::Single), (1000 + 8 * 4, -2, 50));
        assert_eq!(read(Form::Batched), (1000, -2, 8));
    }
}
