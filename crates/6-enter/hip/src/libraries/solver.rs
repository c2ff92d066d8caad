//! rocSOLVER and hipSOLVER: Cholesky and LU factorizations of real matrices, and systems solved with them.

use super::blas::{Handle, put};
use super::{Answer, Arguments, Problem, kernels};

/// A fill mode and an operation of rocBLAS and hipSOLVER.
const UPPER: i32 = 121;
const LOWER: i32 = 122;
const AS_IT_IS: i32 = 111;
const TRANSPOSED: [i32; 2] = [112, 113];

/// How a function lays out its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// rocSOLVER's: sizes in 32 or 64 bits.
    Roc { wide: bool, batches: Batches },
    /// hipSOLVER's, with memory and its size before the outputs, and `info` in the end of solves too.
    Hip,
    /// hipSOLVER's in cuSOLVER's order: without the size of the memory for LU, and without memory for solves.
    HipDense,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Batches {
    One,
    /// Lists of addresses.
    Listed,
    /// One after the other.
    Strided,
}

/// A function: what it does, by its name in LAPACK, for which type.
struct Name {
    routine: &'static str,
    of: &'static str,
    form: Form,
    /// Only the size of the memory is asked for.
    asks_size: bool,
}

const ROUTINES: [&str; 5] = ["potrf", "potrs", "getrf", "getrs", "getrf_npvt"];

impl Name {
    fn parse(function: &str) -> Option<Name> {
        let of = |letter: &str| match letter {
            "s" | "S" => Some("f32"),
            "d" | "D" => Some("f64"),
            _ => None,
        };
        let routine = |name: &str| ROUTINES.into_iter().find(|it| *it == name);
        if let Some(rest) = function.strip_prefix("rocsolver_") {
            let (rest, wide) = rest.strip_suffix("_64").map_or((rest, false), |it| (it, true));
            let (letter, rest) = rest.split_at_checked(1)?;
            let strided = rest.strip_suffix("_strided_batched").map(|it| (it, Batches::Strided));
            let listed = rest.strip_suffix("_batched").map(|it| (it, Batches::Listed));
            let (rest, batches) = strided.or(listed).unwrap_or((rest, Batches::One));
            let form = Form::Roc { wide, batches };
            return Some(Name { routine: routine(rest)?, of: of(letter)?, form, asks_size: false });
        }
        let rest = function.strip_prefix("hipsolver")?;
        let (rest, form) = rest.strip_prefix("Dn").map_or((rest, Form::Hip), |it| (it, Form::HipDense));
        let (rest, asks_size) = rest.strip_suffix("_bufferSize").map_or((rest, false), |it| (it, true));
        let (letter, rest) = rest.split_at_checked(1)?;
        Some(Name {
            routine: routine(rest).filter(|it| *it != "getrf_npvt")?,
            of: of(letter)?,
            form,
            asks_size,
        })
    }
}

/// A function of solvers; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let name = Name::parse(function)?;
    let mut reader = Reader { name, arguments };
    let done = match reader.name.routine {
        _ if reader.name.asks_size => reader.size(),
        "potrf" => reader.cholesky(),
        "potrs" => reader.solve(false),
        "getrs" => reader.solve(true),
        _ => reader.lu(),
    };
    Some(done.map(|()| 0))
}

struct Reader<'a> {
    name: Name,
    arguments: &'a mut Arguments,
}

/// Where matrices lie: address, leading dimension, distance of batches.
struct Matrices {
    at: usize,
    leading: i64,
    stride: i64,
}

impl Reader<'_> {
    fn number(&mut self) -> i64 {
        match self.name.form {
            Form::Roc { wide: true, .. } => self.arguments.long(),
            _ => i64::from(self.arguments.int()),
        }
    }

    fn size_of(&mut self) -> Result<i64, Problem> {
        let size = self.number();
        if size < 0 { Err(Problem::Size) } else { Ok(size) }
    }

    fn batches(&self) -> Batches {
        match self.name.form {
            Form::Roc { batches, .. } => batches,
            _ => Batches::One,
        }
    }

    fn matrices(&mut self, rows: i64) -> Result<Matrices, Problem> {
        let (at, leading) = (self.arguments.address(), self.number());
        let stride = if self.batches() == Batches::Strided { self.arguments.long() } else { 0 };
        if leading < rows.max(1) {
            return Err(Problem::Size);
        }
        Ok(Matrices { at, leading, stride })
    }

    /// Number of matrices, at the end of the arguments.
    fn count(&mut self) -> Result<u64, Problem> {
        if self.batches() == Batches::One {
            return Ok(1);
        }
        u64::try_from(self.number()).map_err(|_| Problem::Size)
    }

    /// Memory of the program, which is not used.
    fn skip_memory(&mut self, has_size: bool) {
        let _memory = self.arguments.address();
        if has_size {
            let _size = self.arguments.int();
        }
    }

    fn put_matrices(&self, bytes: &mut Vec<u8>, it: &Matrices) {
        let is_list = i64::from(self.batches() == Batches::Listed);
        [it.at as i64, it.stride, is_list].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }

    fn launch(&self, stream: usize, kernel: &str, count: u64, bytes: Vec<u8>) -> Result<(), Problem> {
        if count == 0 {
            return Ok(());
        }
        kernels::launch(stream, &format!("rockhound_solver_{kernel}_{}", self.name.of), [count, 1, 1], bytes)
    }

    /// No memory is needed; the size is the last argument.
    fn size(&mut self) -> Result<(), Problem> {
        Handle::take(self.arguments)?;
        let before = match self.name.routine {
            // Sizes and the matrix with its leading dimension, right sides, pivots.
            "potrf" | "getrf" => 4,
            "potrs" => 7,
            _ => 8,
        };
        self.arguments.skip(before);
        put(self.arguments.address(), 0i32)
    }

    fn cholesky(&mut self) -> Result<(), Problem> {
        let handle = Handle::take(self.arguments)?;
        let triangle = self.arguments.int();
        let n = self.size_of()?;
        let a = self.matrices(n)?;
        if self.name.form == Form::Hip || self.name.form == Form::HipDense {
            self.skip_memory(true);
        }
        let info = self.arguments.address();
        let count = self.count()?;
        let (row, column) = steps(triangle, a.leading)?;
        let mut bytes = Vec::with_capacity(56);
        self.put_matrices(&mut bytes, &a);
        [n, row, column, info as i64].iter().for_each(|it| bytes.extend(it.to_le_bytes()));
        if info == 0 { Err(Problem::Pointer) } else { self.launch(handle.stream, "cholesky", count, bytes) }
    }

    fn lu(&mut self) -> Result<(), Problem> {
        let handle = Handle::take(self.arguments)?;
        let (m, n) = (self.size_of()?, self.size_of()?);
        let a = self.matrices(m)?;
        match self.name.form {
            Form::Hip => self.skip_memory(true),
            Form::HipDense => self.skip_memory(false),
            Form::Roc { .. } => {}
        }
        // hipSOLVER takes no pivots where none are wanted.
        let (mut pivots, mut pivot_stride) = (0, 0);
        if self.name.routine == "getrf" {
            pivots = self.arguments.address();
            if self.batches() != Batches::One {
                pivot_stride = self.arguments.long();
            } else if pivots == 0 && matches!(self.name.form, Form::Roc { .. }) {
                return Err(Problem::Pointer);
            }
        }
        let info = self.arguments.address();
        let count = self.count()?;
        let mut bytes = Vec::with_capacity(72);
        self.put_matrices(&mut bytes, &a);
        let words = [m, n, a.leading, pivots as i64, pivot_stride, info as i64];
        words.iter().for_each(|it| bytes.extend(it.to_le_bytes()));
        if info == 0 { Err(Problem::Pointer) } else { self.launch(handle.stream, "lu", count, bytes) }
    }

    fn solve(&mut self, is_lu: bool) -> Result<(), Problem> {
        let handle = Handle::take(self.arguments)?;
        let mode = self.arguments.int();
        let (n, columns) = (self.size_of()?, self.size_of()?);
        let a = self.matrices(n)?;
        let (mut pivots, mut pivot_stride) = (0, 0);
        if is_lu {
            pivots = self.arguments.address();
            if self.batches() != Batches::One {
                pivot_stride = self.arguments.long();
            }
            if pivots == 0 {
                return Err(Problem::Pointer);
            }
        }
        let b = self.matrices(n)?;
        let info = match self.name.form {
            Form::Roc { .. } => 0,
            Form::Hip => {
                self.skip_memory(true);
                self.arguments.address()
            }
            Form::HipDense => self.arguments.address(),
        };
        let count = self.count()?;
        let (row, column) = if is_lu { (1, a.leading) } else { steps(mode, a.leading)? };
        let transposed = match mode {
            _ if !is_lu => 0,
            AS_IT_IS => 0,
            mode if TRANSPOSED.contains(&mode) => 1,
            _ => return Err(Problem::Value),
        };
        let mut bytes = Vec::with_capacity(128);
        self.put_matrices(&mut bytes, &a);
        self.put_matrices(&mut bytes, &b);
        let words =
            [n, columns, row, column, b.leading, pivots as i64, pivot_stride, transposed, i64::from(is_lu)];
        words.iter().for_each(|it| bytes.extend(it.to_le_bytes()));
        self.launch(handle.stream, "solve", count, bytes)?;
        if info != 0 {
            // Solves always succeed.
            crate::runtime::lock().allocations.emulated.write(info as u64, &0i32.to_le_bytes());
        }
        Ok(())
    }
}

/// Steps to the next row and column of the lower factor in a triangle.
fn steps(triangle: i32, leading: i64) -> Result<(i64, i64), Problem> {
    match triangle {
        LOWER => Ok((1, leading)),
        UPPER => Ok((leading, 1)),
        _ => Err(Problem::Value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_routine_type_and_form() {
        let one = |wide, batches| Form::Roc { wide, batches };
        for (function, expected) in [
            ("rocsolver_spotrf", Some(("potrf", "f32", one(false, Batches::One), false))),
            (
                "rocsolver_dgetrf_npvt_strided_batched_64",
                Some(("getrf_npvt", "f64", one(true, Batches::Strided), false)),
            ),
            ("rocsolver_sgetrs_batched", Some(("getrs", "f32", one(false, Batches::Listed), false))),
            ("hipsolverDgetrf_bufferSize", Some(("getrf", "f64", Form::Hip, true))),
            ("hipsolverDnSpotrs", Some(("potrs", "f32", Form::HipDense, false))),
            ("hipsolverDnDpotrf", Some(("potrf", "f64", Form::HipDense, false))),
            ("rocsolver_cpotrf", None),
            ("rocsolver_sgetri", None),
        ] {
            let found = Name::parse(function).map(|it| (it.routine, it.of, it.form, it.asks_size));
            assert_eq!(found, expected, "{function}");
        }
    }
}
