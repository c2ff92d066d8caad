//! Convolutions: forward, and backward to the images and to the weights, by one algorithm.

use super::super::blas::Handle;
use super::objects::{self, AXES, Tensor, Window};
use super::{Arguments, Operand, Packed, Problem, factor, put, put_all, put_each};

/// Which of images, weights and results is computed from the other two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Forward,
    Backward,
    Weights,
}

/// Algorithm and solution of all: direct, and number 1.
const DIRECT: i32 = 1;
const SOLUTION: u64 = 1;

/// A function of convolutions; `None` for others.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    match name {
        "GetConvolutionForwardOutputDim" => {
            return Some(output(arguments).and_then(|it| put_each(arguments, it)));
        }
        "GetConvolutionNdForwardOutputDim" => {
            return Some(output(arguments).and_then(|it| {
                put(arguments.address(), it.len() as i32)?;
                put_all(arguments.address(), it)
            }));
        }
        _ => {}
    }
    let (find, rest) = match name.strip_prefix("FindConvolution") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("Convolution")?),
    };
    let directions = [
        ("BackwardData", Direction::Backward),
        ("BackwardWeights", Direction::Weights),
        ("Forward", Direction::Forward),
    ];
    let (direction, rest) =
        directions.iter().find_map(|(prefix, it)| Some((*it, rest.strip_prefix(prefix)?)))?;
    Some(match (find, rest) {
        (true, "Algorithm") => found(arguments),
        (false, "") => run(direction, arguments, true),
        (false, "Immediate") => run(direction, arguments, false),
        (false, "GetWorkSpaceSize") => described(arguments).and_then(|()| put(arguments.address(), 0usize)),
        (false, "GetSolutionCount") => described(arguments).and_then(|()| put(arguments.address(), 1usize)),
        (false, "CompileSolution") => described(arguments),
        (false, "GetSolutionWorkspaceSize") => described(arguments).and_then(|()| {
            let _solution = arguments.word();
            put(arguments.address(), 0usize)
        }),
        (false, "GetSolution") => solution(arguments),
        _ => return None,
    })
}

/// A handle and four descriptors, one of them of a window.
fn described(arguments: &mut Arguments) -> Result<(), Problem> {
    Handle::take(arguments)?;
    (0..4).try_for_each(|_| {
        let number = arguments.address();
        objects::tensor(number).map(drop).or_else(|_| objects::window(number).map(drop))
    })
}

/// The only algorithm.
fn found(arguments: &mut Arguments) -> Result<(), Problem> {
    Handle::take(arguments)?;
    // Descriptors of tensors with contents, the window, and the result.
    let _ = (Operand::take(arguments)?, Operand::take(arguments)?);
    objects::window(arguments.address())?;
    let _ = Operand::take(arguments)?;
    let (room, count, at) = (arguments.int(), arguments.address(), arguments.address());
    if room < 1 {
        return Err(Problem::Value);
    }
    put(count, 1i32)?;
    // Algorithm, time in ms, workspace.
    put(at, DIRECT)?;
    put(at.wrapping_add(4), 1f32)?;
    put(at.wrapping_add(8), 0usize)
}

fn solution(arguments: &mut Arguments) -> Result<(), Problem> {
    described(arguments)?;
    let (room, count, at) = (arguments.word(), arguments.address(), arguments.address());
    put(count, usize::from(room > 0))?;
    if room == 0 {
        return Ok(());
    }
    // Time, workspace, number, algorithm.
    put(at, 1f32)?;
    put(at.wrapping_add(8), 0usize)?;
    put(at.wrapping_add(16), SOLUTION)?;
    put(at.wrapping_add(24), DIRECT)
}

/// Sizes of the results of a convolution of images.
fn output(arguments: &mut Arguments) -> Result<Vec<i32>, Problem> {
    let window = objects::window(arguments.address())?;
    let (x, w) = (objects::tensor(arguments.address())?, objects::tensor(arguments.address())?);
    let mut sizes = [1; AXES];
    sizes[0] = x.sizes[0];
    let groups = i64::from(window.groups);
    sizes[1] = if window.is_transposed { w.sizes[1] * groups } else { w.sizes[0] };
    for axis in 0..3 {
        let [pad, step, apart] = [window.pads, window.steps, window.apart].map(|it| i64::from(it[axis]));
        let (size, tap) = (x.sizes[axis + 2], apart * (w.sizes[axis + 2] - 1));
        sizes[axis + 2] = if window.is_transposed {
            (size - 1) * step + tap + 1 - 2 * pad
        } else {
            (size + 2 * pad - tap - 1) / step + 1
        };
    }
    Ok(x.shown(&sizes))
}

/// Runs a convolution; the immediate form has no factors and other places of weights and images.
fn run(direction: Direction, arguments: &mut Arguments, has_factors: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let alpha = if has_factors { Some(arguments.address()) } else { None };
    let (first, second) = (Operand::take(arguments)?, Operand::take(arguments)?);
    let window = objects::window(arguments.address())?;
    let beta = if has_factors {
        let _algorithm = arguments.int();
        Some(arguments.address())
    } else {
        None
    };
    let third = Operand::take(arguments)?;
    let of = first.tensor.of;
    if [&second, &third].iter().any(|it| it.tensor.of != of) {
        return Err(Problem::Unsupported("a convolution of tensors of several types".to_owned()));
    }
    let number = |at: Option<usize>, usual| at.map_or(Ok(usual), |at| factor(at, of));
    let (alpha, beta) = (number(alpha, 1.0)?, number(beta, 0.0)?);
    let (x, w, y) = match (direction, has_factors) {
        (Direction::Forward, true) => (first, second, third),
        (Direction::Forward, false) => (second, first, third),
        (Direction::Backward, _) => (third, second, first),
        (Direction::Weights, _) => (second, third, first),
    };
    Convolution { x, w, y, window, alpha, beta }.launch(handle.stream, direction)
}

/// Images, weights and results, of which one is computed.
pub(super) struct Convolution {
    pub(super) x: Operand,
    pub(super) w: Operand,
    pub(super) y: Operand,
    pub(super) window: Window,
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

impl Convolution {
    /// Computes the results.
    pub(super) fn forward(self, stream: usize) -> Result<(), Problem> {
        self.launch(stream, Direction::Forward)
    }

    fn launch(self, stream: usize, direction: Direction) -> Result<(), Problem> {
        let Convolution { mut x, w, mut y, window, alpha, beta } = self;
        let mut direction = direction;
        if window.is_transposed {
            std::mem::swap(&mut x, &mut y);
            direction = match direction {
                Direction::Forward => Direction::Backward,
                Direction::Backward => Direction::Forward,
                Direction::Weights => Direction::Weights,
            };
        }
        check(&x.tensor, &w.tensor, &y.tensor, &window)?;
        let (kernel, result) = match direction {
            Direction::Forward => ("forward", &y),
            Direction::Backward => ("backward", &x),
            Direction::Weights => ("weights", &w),
        };
        let (of, count) = (result.tensor.of, result.tensor.count());
        let packed = Packed::new().tensor(&x).tensor(&w).tensor(&y);
        let packed = packed.ints(&window.pads).ints(&window.steps).ints(&window.apart).int(window.groups);
        packed.double(alpha).double(beta).launch(stream, kernel, of, count)
    }
}

/// Sizes that do not go together would read past the ends.
fn check(x: &Tensor, w: &Tensor, y: &Tensor, window: &Window) -> Result<(), Problem> {
    let groups = i64::from(window.groups);
    let fits = groups > 0
        && x.sizes[0] == y.sizes[0]
        && y.sizes[1] == w.sizes[0]
        && y.sizes[1] % groups == 0
        && x.sizes[1] == w.sizes[1] * groups;
    if fits { Ok(()) } else { Err(Problem::Size) }
}
