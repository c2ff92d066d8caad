//! Pooling, batch normalization, activations and softmax, forward.

use super::super::blas::Handle;
use super::super::kernels::Scratch;
use super::objects::{self, AXES, Type};
use super::{Arguments, Operand, Packed, Problem, factor, put, put_all, put_each};

/// A function of layers; `None` for others.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    Some(match name {
        "ActivationForward" => activation(arguments),
        "GetPoolingForwardOutputDim" => pooled(arguments).and_then(|it| put_each(arguments, it)),
        "GetPoolingNdForwardOutputDim" => pooled(arguments).and_then(|it| {
            let _axes = arguments.int();
            put_all(arguments.address(), it)
        }),
        "PoolingGetWorkSpaceSize" => put_nothing(arguments, 1),
        "PoolingGetWorkSpaceSizeV2" => put_nothing(arguments, 2),
        "PoolingForward" => pool(arguments),
        "BatchNormalizationForwardInference" => normalize(arguments, false),
        "BatchNormalizationForwardTraining" => normalize(arguments, true),
        "SoftmaxForward" => softmax(arguments, false),
        "SoftmaxForward_V2" => softmax(arguments, true),
        _ => return None,
    })
}

/// No memory is needed beside the tensors.
fn put_nothing(arguments: &mut Arguments, before: usize) -> Result<(), Problem> {
    arguments.skip(before);
    put(arguments.address(), 0usize)
}

/// A factor, an operand, a factor, an operand, of one type: `alpha x`, `beta y`.
fn pair(arguments: &mut Arguments) -> Result<(f64, Operand, f64, Operand), Problem> {
    let alpha = arguments.address();
    let x = Operand::take(arguments)?;
    let beta = arguments.address();
    let y = Operand::take(arguments)?;
    let of = x.tensor.of;
    if y.tensor.of != of {
        return Err(Problem::Unsupported("input and output of two types".to_owned()));
    }
    Ok((factor(alpha, of)?, x, factor(beta, of)?, y))
}

fn activation(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (mode, parameters) = objects::activation(arguments.address())?;
    let (alpha, x, beta, y) = pair(arguments)?;
    activate(handle.stream, (mode, parameters), (&x, alpha), (&y, beta))
}

/// `y = alpha f(x) + beta y`.
pub(super) fn activate(
    stream: usize,
    (mode, parameters): (i32, [f64; 3]),
    (x, alpha): (&Operand, f64),
    (y, beta): (&Operand, f64),
) -> Result<(), Problem> {
    if !(0..=9).contains(&mode) {
        return Err(Problem::Unsupported(format!("activation {mode}")));
    }
    if x.tensor.sizes != y.tensor.sizes {
        return Err(Problem::Size);
    }
    let packed = parameters.iter().fold(Packed::new().tensor(x).tensor(y), |packed, it| packed.double(*it));
    packed.double(alpha).double(beta).int(mode).launch(stream, "activate", x.tensor.of, y.tensor.count())
}

/// Sizes of the results of pooling.
fn pooled(arguments: &mut Arguments) -> Result<Vec<i32>, Problem> {
    let window = objects::window(arguments.address())?;
    let x = objects::tensor(arguments.address())?;
    let mut sizes = x.sizes;
    for axis in 0..3 {
        let [pad, step, tap] = [window.pads, window.steps, window.sizes].map(|it| i64::from(it[axis]));
        sizes[axis + 2] = (x.sizes[axis + 2] + 2 * pad - tap) / step + 1;
    }
    Ok(x.shown(&sizes))
}

fn pool(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let window = objects::window(arguments.address())?;
    let (alpha, x, beta, y) = pair(arguments)?;
    if arguments.int() & 1 != 0 {
        return Err(Problem::Unsupported("places of the largest elements for the backward pass".to_owned()));
    }
    if !(0..=2).contains(&window.mode) || x.tensor.sizes[..2] != y.tensor.sizes[..2] {
        return Err(Problem::Value);
    }
    let packed = Packed::new().tensor(&x).tensor(&y);
    let packed = packed.ints(&window.pads).ints(&window.steps).ints(&window.apart).int(window.groups);
    let packed = packed.ints(&window.sizes).int(window.mode).double(alpha).double(beta);
    packed.launch(handle.stream, "pool", x.tensor.of, y.tensor.count())
}

fn normalize(arguments: &mut Arguments, trains: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let _mode = arguments.int();
    let (alpha, beta) = (arguments.address(), arguments.address());
    let (x, y) = (Operand::take(arguments)?, Operand::take(arguments)?);
    let of = x.tensor.of;
    let scale = Operand::take(arguments)?;
    let part = |address| Operand { tensor: scale.tensor, address };
    let bias = part(arguments.address());
    let fits = (0..AXES).all(|axis| [1, x.tensor.sizes[axis]].contains(&scale.tensor.sizes[axis]));
    if y.tensor.of != of || scale.tensor.of != Type::F32 {
        return Err(Problem::Unsupported("these types of a batch normalization".to_owned()));
    }
    if !fits || x.tensor.sizes != y.tensor.sizes {
        return Err(Problem::Size);
    }
    let (alpha, beta) = (factor(alpha, of)?, factor(beta, of)?);
    // Mean and variance of the batch are kept until they are used.
    let mut kept = None;
    let (mean, variance, epsilon) = if trains {
        let moving = f64::from_bits(arguments.float_bits());
        let running = [arguments.address(), arguments.address()];
        let epsilon = f64::from_bits(arguments.float_bits());
        let saved = [arguments.address(), arguments.address()];
        let bytes = scale
            .tensor
            .steps
            .iter()
            .zip(scale.tensor.sizes)
            .map(|(step, size)| step * (size - 1))
            .sum::<i64>()
            + 1;
        let bytes = usize::try_from(4 * bytes).map_err(|_| Problem::Size)?;
        let scratch = [Scratch::new(bytes)?, Scratch::new(bytes)?];
        let [mean, variance] = scratch.each_ref().map(Scratch::address);
        let packed = [mean, variance].into_iter().chain(running).chain(saved);
        let packed = packed.fold(Packed::new().tensor(&x).tensor(&scale), Packed::address);
        let packed = packed.double(moving).double(epsilon);
        packed.launch(handle.stream, "moments", of, scale.tensor.count())?;
        kept = Some(scratch);
        (mean, variance, epsilon)
    } else {
        (arguments.address(), arguments.address(), f64::from_bits(arguments.float_bits()))
    };
    let packed = Packed::new().tensor(&x).tensor(&y).tensor(&scale).tensor(&bias);
    let packed = packed.tensor(&part(mean)).tensor(&part(variance)).double(epsilon);
    let done = packed.double(alpha).double(beta).launch(handle.stream, "normalize", of, y.tensor.count());
    drop(kept);
    done
}

fn softmax(arguments: &mut Arguments, has_mode: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (alpha, x, beta, y) = pair(arguments)?;
    // Algorithm 2 gives logarithms; mode 1 goes along the channels of each place.
    let (algorithm, mode) = if has_mode { (arguments.int(), arguments.int()) } else { (1, 1) };
    if x.tensor.sizes != y.tensor.sizes {
        return Err(Problem::Size);
    }
    let sizes = y.tensor.sizes;
    let lines = if mode == 1 { y.tensor.count() / sizes[1] } else { sizes[0] };
    let packed = Packed::new().tensor(&x).tensor(&y).double(alpha).double(beta);
    let packed = packed.int(i32::from(algorithm == 2)).int(i32::from(mode == 1));
    packed.launch(handle.stream, "softmax", x.tensor.of, lines)
}
