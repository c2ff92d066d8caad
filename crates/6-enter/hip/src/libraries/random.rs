//! hipRAND and rocRAND called by the host: every pseudo-random generator is Philox 4x32-10.
//!
//! Numbers have the right distributions and follow from the seed; they are not the vendor's.

use super::blas::put;
use super::kernels::{self, Scratch};
use super::objects::Objects;
use super::{Answer, Arguments, Problem};
use crate::work::Copy3;

/// Largest mean of the Poisson distribution: a number is made of about as many uniform ones.
const MOST_MEAN: f64 = 500.0;

/// A generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Generator {
    seed: u64,
    /// Counters used so far.
    offset: u64,
    stream: usize,
    /// Numbers go to memory of the host.
    on_host: bool,
}

static GENERATORS: Objects<Generator> = Objects::numbered_from(0x30_0000);

/// Distribution of numbers, as the kernels have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Words,
    Uniform,
    Normal,
    LogNormal,
    Poisson,
}

/// Functions that generate, in lower case without separators: shape, and whether numbers have 8 bytes.
const GENERATE: [(&str, Shape, bool); 8] = [
    ("generate", Shape::Words, false),
    ("generateuniform", Shape::Uniform, false),
    ("generateuniformdouble", Shape::Uniform, true),
    ("generatenormal", Shape::Normal, false),
    ("generatenormaldouble", Shape::Normal, true),
    ("generatelognormal", Shape::LogNormal, false),
    ("generatelognormaldouble", Shape::LogNormal, true),
    ("generatepoisson", Shape::Poisson, false),
];

/// A function of one of the two libraries; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let lower = function.to_ascii_lowercase().replace('_', "");
    let rest = lower.strip_prefix("hiprand").or_else(|| lower.strip_prefix("rocrand"))?;
    if let Some((_, shape, is_long)) = GENERATE.iter().find(|it| it.0 == rest) {
        return Some(generate(*shape, *is_long, arguments).map(|()| 0));
    }
    let done = match rest {
        "creategenerator" => create(arguments, false),
        "creategeneratorhost" | "creategeneratorhostblocking" => create(arguments, true),
        "getversion" => put(arguments.address(), 300_000i32),
        "initialize" => Ok(()),
        _ => {
            let number = arguments.address();
            let value = arguments.word();
            let mut generators = GENERATORS.lock();
            let Some(generator) = generators.get_mut(&number) else { return Some(Err(Problem::Handle)) };
            match rest {
                "destroygenerator" => {
                    generators.remove(&number);
                }
                "setpseudorandomgeneratorseed" | "setseed" => (generator.seed, generator.offset) = (value, 0),
                "setgeneratoroffset" | "setoffset" => generator.offset = value / 4,
                "setstream" => generator.stream = value as usize,
                "generateseeds" | "initializegenerator" | "setgeneratorordering" | "setordering" => {}
                _ => return None,
            }
            Ok(())
        }
    };
    Some(done.map(|()| 0))
}

fn create(arguments: &mut Arguments, on_host: bool) -> Result<(), Problem> {
    let (at, kind) = (arguments.address(), arguments.int());
    match kind {
        400..=407 => {}
        500..=505 => return Err(Problem::Unsupported("quasi-random numbers".to_owned())),
        _ => return Err(Problem::Value),
    }
    GENERATORS.create(at, Generator { seed: 0, offset: 0, stream: 0, on_host }).map(drop)
}

fn generate(shape: Shape, is_long: bool, arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, to, count) = (arguments.address(), arguments.address(), arguments.long());
    let parameter = |arguments: &mut Arguments| {
        let bits = arguments.float_bits();
        if is_long || shape == Shape::Poisson {
            f64::from_bits(bits)
        } else {
            f64::from(f32::from_bits(bits as u32))
        }
    };
    let (mean, deviation) = match shape {
        Shape::Words | Shape::Uniform => (0.0, 0.0),
        Shape::Normal | Shape::LogNormal => (parameter(arguments), parameter(arguments)),
        Shape::Poisson => (parameter(arguments), 0.0),
    };
    if shape == Shape::Poisson && !(0.0..=MOST_MEAN).contains(&mean) {
        return Err(Problem::Unsupported(format!("a Poisson distribution with mean {mean}")));
    }
    let each = if is_long { 2 } else { 4 };
    let groups = count.cast_unsigned().div_ceil(each);
    let generator = {
        let mut generators = GENERATORS.lock();
        let generator = generators.get_mut(&number).ok_or(Problem::Handle)?;
        let before = *generator;
        generator.offset += groups;
        before
    };
    if count == 0 {
        return Ok(());
    }
    if to == 0 {
        return Err(Problem::Pointer);
    }
    let total = usize::try_from(count).ok().and_then(|it| it.checked_mul(if is_long { 8 } else { 4 }));
    let total = total.ok_or(Problem::Size)?;
    let scratch = generator.on_host.then(|| Scratch::new(total)).transpose()?;
    let place = scratch.as_ref().map_or(to, Scratch::address);
    let mut bytes = Vec::with_capacity(56);
    for word in [place as u64, generator.seed, generator.offset, count.cast_unsigned()] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(mean.to_le_bytes());
    bytes.extend(deviation.to_le_bytes());
    bytes.extend((shape as u32).to_le_bytes());
    let kernel = if is_long { "rockhound_random_f64" } else { "rockhound_random_f32" };
    kernels::launch(generator.stream, kernel, [groups.div_ceil(256), 1, 1], bytes)?;
    match scratch {
        Some(scratch) => kernels::copy(generator.stream, Copy3::flat(to, scratch.address(), total)),
        None => Ok(()),
    }
}
