//! Operations on whole tensors, and reductions.

use super::super::blas::Handle;
use super::objects::{self, AXES};
use super::{Arguments, Operand, Packed, Problem, factor, put};

/// Operations of `rockhound_dnn_elementwise` behind the four of MIOpen: the first tensor alone.
const FIRST: i32 = 4;
const ADD: i32 = 0;

/// A function of tensors; `None` for others.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    Some(match name {
        "OpTensor" => operation(arguments),
        "TransformTensor" => transform(arguments),
        "SetTensor" => fill(arguments),
        "ScaleTensor" => scale(arguments),
        "ConvolutionForwardBias" => bias(arguments),
        "ConvolutionBackwardBias" => backward_bias(arguments),
        "GetReductionWorkspaceSize" | "GetReductionIndicesSize" => size(name, arguments),
        "ReduceTensor" => reduce(arguments),
        _ => return None,
    })
}

/// `c = op(first a, second b) + beta c`.
struct Elementwise<'a> {
    op: i32,
    a: &'a Operand,
    b: &'a Operand,
    c: &'a Operand,
    factors: [f64; 3],
}

impl Elementwise<'_> {
    fn launch(&self, stream: usize) -> Result<(), Problem> {
        let (of, sizes) = (self.c.tensor.of, self.c.tensor.sizes);
        let fits = |it: &Operand| (0..AXES).all(|axis| [1, sizes[axis]].contains(&it.tensor.sizes[axis]));
        if self.a.tensor.of != of || self.b.tensor.of != of {
            return Err(Problem::Unsupported("tensors of several types".to_owned()));
        }
        if !fits(self.a) || !fits(self.b) {
            return Err(Problem::Size);
        }
        let packed = Packed::new().tensor(self.a).tensor(self.b).tensor(self.c);
        let packed = self.factors.iter().fold(packed, |packed, it| packed.double(*it));
        packed.int(self.op).launch(stream, "elementwise", of, self.c.tensor.count())
    }
}

fn operation(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let op = arguments.int();
    let mut next = || Ok::<_, Problem>((arguments.address(), Operand::take(arguments)?));
    let ((first, a), (second, b), (beta, c)) = (next()?, next()?, next()?);
    if !(0..FIRST).contains(&op) {
        return Err(Problem::Value);
    }
    let of = c.tensor.of;
    let factors = [factor(first, of)?, factor(second, of)?, factor(beta, of)?];
    Elementwise { op, a: &a, b: &b, c: &c, factors }.launch(handle.stream)
}

fn transform(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut next = || Ok::<_, Problem>((arguments.address(), Operand::take(arguments)?));
    let ((alpha, x), (beta, y)) = (next()?, next()?);
    let of = y.tensor.of;
    let factors = [factor(alpha, of)?, 0.0, factor(beta, of)?];
    Elementwise { op: FIRST, a: &x, b: &x, c: &y, factors }.launch(handle.stream)
}

fn fill(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let y = Operand::take(arguments)?;
    let value = factor(arguments.address(), y.tensor.of)?;
    Packed::new().tensor(&y).double(value).launch(handle.stream, "fill", y.tensor.of, y.tensor.count())
}

fn scale(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let y = Operand::take(arguments)?;
    let factors = [factor(arguments.address(), y.tensor.of)?, 0.0, 0.0];
    Elementwise { op: FIRST, a: &y, b: &y, c: &y, factors }.launch(handle.stream)
}

/// Adds a number for each channel.
fn bias(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut next = || Ok::<_, Problem>((arguments.address(), Operand::take(arguments)?));
    let ((alpha, b), (_, y)) = (next()?, next()?);
    add_bias(handle.stream, &y, &b, factor(alpha, y.tensor.of)?)
}

/// `y = x`.
pub(super) fn copy(stream: usize, x: &Operand, y: &Operand) -> Result<(), Problem> {
    Elementwise { op: FIRST, a: x, b: x, c: y, factors: [1.0, 0.0, 0.0] }.launch(stream)
}

/// `y = y + alpha b`; axes of one element of `b` are repeated.
pub(super) fn add_bias(stream: usize, y: &Operand, b: &Operand, alpha: f64) -> Result<(), Problem> {
    Elementwise { op: ADD, a: y, b, c: y, factors: [1.0, alpha, 0.0] }.launch(stream)
}

fn backward_bias(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let mut next = || Ok::<_, Problem>((arguments.address(), Operand::take(arguments)?));
    let ((alpha, y), (beta, b)) = (next()?, next()?);
    reduced(handle.stream, ADD, &y, &b, (factor(alpha, y.tensor.of)?, factor(beta, y.tensor.of)?), 0)
}

/// Bytes beside the tensors: none, or a place for each result.
fn size(name: &str, arguments: &mut Arguments) -> Result<(), Problem> {
    Handle::take(arguments)?;
    let (_, has_places) = objects::reduction(arguments.address())?;
    let (_, y) = (objects::tensor(arguments.address())?, objects::tensor(arguments.address())?);
    let places = if name.contains("Indices") && has_places { 4 * y.count() } else { 0 };
    put(arguments.address(), places)
}

fn reduce(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (op, has_places) = objects::reduction(arguments.address())?;
    let (places, bytes) = (arguments.address(), arguments.word());
    let (_memory, _size) = (arguments.address(), arguments.word());
    let mut next = || Ok::<_, Problem>((arguments.address(), Operand::take(arguments)?));
    let ((alpha, x), (beta, y)) = (next()?, next()?);
    let places = if has_places && (2..=4).contains(&op) { places } else { 0 };
    if places != 0 && (bytes as i64) < 4 * y.tensor.count() {
        return Err(Problem::Size);
    }
    let of = x.tensor.of;
    reduced(handle.stream, op, &x, &y, (factor(alpha, of)?, factor(beta, of)?), places)
}

fn reduced(
    stream: usize,
    op: i32,
    x: &Operand,
    y: &Operand,
    (alpha, beta): (f64, f64),
    places: usize,
) -> Result<(), Problem> {
    if !(0..=7).contains(&op) {
        return Err(Problem::Unsupported(format!("reduction {op}")));
    }
    if x.tensor.of != y.tensor.of {
        return Err(Problem::Unsupported("a reduction to another type".to_owned()));
    }
    if (0..AXES).any(|axis| ![1, x.tensor.sizes[axis]].contains(&y.tensor.sizes[axis])) {
        return Err(Problem::Size);
    }
    let packed = Packed::new().tensor(x).tensor(y).address(places).double(alpha).double(beta).int(op);
    packed.launch(stream, "reduce", x.tensor.of, y.tensor.count())
}
