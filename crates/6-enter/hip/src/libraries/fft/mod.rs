//! hipFFT and rocFFT: plans of up to three axes of any size, of complex numbers, from and to real ones.
//!
//! Elements are brought into rows of complex numbers, transformed axis by axis with one stage for each prime
//! factor, and brought where the plan says. Buffers belong to the plan.

mod rocfft;

use super::blas::put;
use super::kernels::{self, Scratch};
use super::objects::Objects;
use super::{Answer, Arguments, Problem};
use crate::runtime::lock;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Bit of a kind of hipFFT's for double precision.
const DOUBLE: i32 = 0x40;
/// Largest number of elements of a plan.
const MOST: i64 = 1 << 30;

/// Kind of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Complex,
    FromReal,
    ToReal,
}

/// How elements lie in the caller's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// One after the other; rows of real numbers have room for the transform if it is in place.
    Plain,
    /// Distances of the axes and of batches.
    Strided([i64; 3], i64),
}

/// A plan that can run.
struct Plan {
    sizes: [i64; 3],
    kind: Kind,
    is_double: bool,
    layouts: [Layout; 2],
    batches: i64,
    /// Factor of the results.
    scale: f64,
    work: [Scratch; 2],
    /// Powers of roots of unity of each axis, forward and backward.
    roots: [[Scratch; 2]; 3],
}

/// A plan as the program has it: a stream, and what was planned.
#[derive(Clone, Default)]
struct Handle {
    stream: usize,
    plan: Option<Arc<Plan>>,
}

static PLANS: Objects<Handle> = Objects::numbered_from(0x20_0000);

/// A function of hipFFT or rocFFT; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    if let Some(rest) = function.strip_prefix("rocfft_") {
        return rocfft::call(rest, arguments);
    }
    let rest = function.strip_prefix("hipfft")?;
    let done = match rest {
        "Create" => PLANS.create(arguments.address(), Handle::default()).map(drop),
        "Destroy" => PLANS.remove(arguments.address()),
        "SetStream" => {
            let (number, stream) = (arguments.address(), arguments.address());
            PLANS.change(number, |it| it.stream = stream)
        }
        "GetVersion" => put(arguments.address(), 10_000i32),
        // Plans have their own memory whatever the program gives.
        "SetAutoAllocation" | "SetWorkArea" => PLANS.find(arguments.address()).map(|_| ()),
        "GetSize" => PLANS.find(arguments.address()).and_then(|_| put(arguments.address(), 0usize)),
        "ExecC2C" | "ExecZ2Z" | "XtExec" => execute(arguments, true),
        "ExecR2C" | "ExecD2Z" | "ExecC2R" | "ExecZ2D" => execute(arguments, false),
        _ => match rest.strip_prefix("MakePlan") {
            Some(form) => {
                let number = arguments.address();
                make(number, form, true, arguments)
            }
            None => {
                let form = rest.strip_prefix("Plan")?;
                let at = arguments.address();
                PLANS.create(at, Handle::default()).and_then(|number| {
                    make(number, form, false, arguments).inspect_err(|_| {
                        _ = PLANS.remove(number);
                    })
                })
            }
        },
    };
    Some(done.map(|()| 0))
}

/// Plans from the arguments of one of the forms: `1d`, `2d`, `3d`, `Many`, `Many64`.
fn make(number: usize, form: &str, has_work_size: bool, arguments: &mut Arguments) -> Result<(), Problem> {
    PLANS.find(number)?;
    let (sizes, layouts, kind, batches) = match form {
        "1d" => {
            let size = i64::from(arguments.int());
            let (kind, batches) = (arguments.int(), i64::from(arguments.int()));
            (vec![size], [Layout::Plain, Layout::Plain], kind, batches)
        }
        "2d" | "3d" => {
            let rank = if form == "2d" { 2 } else { 3 };
            let sizes = (0..rank).map(|_| i64::from(arguments.int())).collect();
            (sizes, [Layout::Plain, Layout::Plain], arguments.int(), 1)
        }
        "Many" | "Many64" => many(form == "Many64", arguments)?,
        _ => return Err(Problem::Unsupported("such a plan".to_owned())),
    };
    let (kind, is_double) = (kind & !DOUBLE, kind & DOUBLE != 0);
    let kind = match kind {
        0x29 => Kind::Complex,
        0x2a => Kind::FromReal,
        0x2c => Kind::ToReal,
        _ => return Err(Problem::Value),
    };
    let plan = Plan::new(&sizes, kind, is_double, layouts, batches)?;
    if has_work_size {
        let at = arguments.address();
        if at != 0 {
            put(at, 0usize)?;
        }
    }
    PLANS.change(number, |it| it.plan = Some(Arc::new(plan)))
}

type Planned = (Vec<i64>, [Layout; 2], i32, i64);

fn many(is_wide: bool, arguments: &mut Arguments) -> Result<Planned, Problem> {
    let rank = arguments.int();
    if !(1..=3).contains(&rank) {
        return Err(Problem::Unsupported(format!("{rank} axes")));
    }
    let list = |at: usize| -> Vec<i64> {
        let place = std::ptr::with_exposed_provenance::<u8>(at);
        // SAFETY: the program gives a number for each axis.
        let get = |index: usize| unsafe {
            if is_wide {
                place.cast::<i64>().add(index).read_unaligned()
            } else {
                i64::from(place.cast::<i32>().add(index).read_unaligned())
            }
        };
        (0..rank as usize).map(get).collect()
    };
    let number = |arguments: &mut Arguments| {
        if is_wide { arguments.long() } else { i64::from(arguments.int()) }
    };
    let sizes = arguments.address();
    if sizes == 0 {
        return Err(Problem::Pointer);
    }
    let layout = |arguments: &mut Arguments| {
        let embed = arguments.address();
        let (step, distance) = (number(arguments), number(arguments));
        if embed == 0 {
            return Layout::Plain;
        }
        let embed = list(embed);
        let mut strides = [0; 3];
        let mut stride = step;
        for axis in (0..embed.len()).rev() {
            strides[axis + 3 - embed.len()] = stride;
            stride = stride.saturating_mul(embed[axis]);
        }
        Layout::Strided(strides, distance)
    };
    let layouts = [layout(arguments), layout(arguments)];
    let (kind, batches) = (arguments.int(), number(arguments));
    Ok((list(sizes), layouts, kind, batches))
}

/// Prime factors, smallest first.
fn factors(mut number: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let mut factor = 2;
    while number > 1 {
        if factor * factor > number {
            factor = number;
        }
        while number % factor == 0 {
            found.push(factor);
            number /= factor;
        }
        factor += 1;
    }
    found
}

impl Plan {
    fn new(
        sizes: &[i64],
        kind: Kind,
        is_double: bool,
        layouts: [Layout; 2],
        batches: i64,
    ) -> Result<Plan, Problem> {
        let mut all = [1; 3];
        for (axis, size) in sizes.iter().enumerate() {
            all[axis + 3 - sizes.len()] = *size;
        }
        let count = all.iter().try_fold(batches, |all, size| all.checked_mul(*size));
        let count = count.filter(|it| (1..=MOST).contains(it)).ok_or(Problem::Size)?;
        if batches < 1 || all.iter().any(|it| *it < 1) {
            return Err(Problem::Size);
        }
        let bytes = count as usize * if is_double { 16 } else { 8 };
        let work = [Scratch::new(bytes)?, Scratch::new(bytes)?];
        let axis = |size| Ok::<_, Problem>([roots(size, -1.0, is_double)?, roots(size, 1.0, is_double)?]);
        let roots = [axis(all[0])?, axis(all[1])?, axis(all[2])?];
        Ok(Plan { sizes: all, kind, is_double, layouts, batches, scale: 1.0, work, roots })
    }

    fn word(&self) -> &'static str {
        if self.is_double { "f64" } else { "f32" }
    }

    /// Elements of one transform.
    fn count(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Distances of the caller's elements; `is_real` and `is_half` say of which kind they are.
    fn strides(&self, layout: &Layout, is_real: bool, is_half: bool, in_place: bool) -> ([i64; 3], i64) {
        let last = self.sizes[2];
        let row = match (is_real, is_half) {
            (true, _) if in_place => 2 * (last / 2 + 1),
            (_, true) => last / 2 + 1,
            _ => last,
        };
        match layout {
            Layout::Plain => ([self.sizes[1] * row, row, 1], self.sizes[0] * self.sizes[1] * row),
            Layout::Strided(strides, distance) => (*strides, *distance),
        }
    }

    /// Brings elements between the caller's memory and rows.
    fn convert(
        &self,
        stream: usize,
        user: usize,
        rows: usize,
        is_store: bool,
        in_place: bool,
    ) -> Result<(), Problem> {
        let is_real = self.kind == if is_store { Kind::ToReal } else { Kind::FromReal };
        let is_half = self.kind == if is_store { Kind::FromReal } else { Kind::ToReal };
        let layout = &self.layouts[usize::from(is_store)];
        let (strides, distance) = self.strides(layout, is_real, is_half, in_place);
        let (from, to) = if is_store { (rows, user) } else { (user, rows) };
        let mut bytes = Vec::with_capacity(96);
        let words = [from as i64, to as i64, self.count()];
        words
            .iter()
            .chain(&self.sizes)
            .chain(&strides)
            .chain(&[distance])
            .for_each(|it| bytes.extend(it.to_le_bytes()));
        let kind = if is_real { 1i32 } else { 2 * i32::from(is_half) };
        bytes.extend(kind.to_le_bytes());
        bytes.extend(i32::from(is_store).to_le_bytes());
        bytes.extend(self.scale.to_le_bytes());
        let groups = self.count().cast_unsigned().div_ceil(256);
        let name = format!("rockhound_fft_layout_{}", self.word());
        kernels::launch(stream, &name, [groups, self.batches.cast_unsigned(), 1], bytes)
    }

    /// Transforms what lies at one address to another.
    fn run(&self, stream: usize, from: usize, to: usize, is_backward: bool) -> Result<(), Problem> {
        self.convert(stream, from, self.work[0].address(), false, from == to)?;
        let last = self.transform(stream, is_backward)?;
        self.convert(stream, to, self.work[last].address(), true, from == to)
    }

    /// Transforms rows along all axes; returns which buffer has the result.
    fn transform(&self, stream: usize, is_backward: bool) -> Result<usize, Problem> {
        let mut current = 0;
        let count = self.count() * self.batches;
        for axis in 0..3 {
            let inner: i64 = self.sizes[axis + 1..].iter().product();
            let roots = self.roots[axis][usize::from(is_backward)].address();
            let mut done = 1;
            for radix in factors(self.sizes[axis]) {
                let (from, to) = (self.work[current].address(), self.work[1 - current].address());
                let words =
                    [from as i64, to as i64, roots as i64, count, self.sizes[axis], inner, done, radix];
                let bytes = words.iter().flat_map(|it| it.to_le_bytes()).collect();
                let groups = count.cast_unsigned().div_ceil(256);
                kernels::launch(stream, &format!("rockhound_fft_{}", self.word()), [groups, 1, 1], bytes)?;
                (current, done) = (1 - current, done * radix);
            }
        }
        Ok(current)
    }
}

/// Powers of a root of unity, in memory of the GPU.
fn roots(size: i64, sign: f64, is_double: bool) -> Result<Scratch, Problem> {
    let mut bytes = Vec::new();
    for power in 0..size {
        let (sine, cosine) = (sign * TAU * power as f64 / size as f64).sin_cos();
        for part in [cosine, sine] {
            if is_double {
                bytes.extend(part.to_le_bytes());
            } else {
                bytes.extend((part as f32).to_le_bytes());
            }
        }
    }
    let scratch = Scratch::new(bytes.len())?;
    lock().allocations.emulated.write(scratch.address() as u64, &bytes);
    Ok(scratch)
}

fn execute(arguments: &mut Arguments, has_direction: bool) -> Result<(), Problem> {
    let handle = PLANS.find(arguments.address())?;
    let plan = handle.plan.ok_or(Problem::Handle)?;
    let (from, to) = (arguments.address(), arguments.address());
    if from == 0 || to == 0 {
        return Err(Problem::Pointer);
    }
    let is_backward = match (plan.kind, has_direction) {
        (Kind::Complex, true) => arguments.int() == 1,
        (kind, _) => kind == Kind::ToReal,
    };
    plan.run(handle.stream, from, to, is_backward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_prime_factors() {
        for (number, expected) in
            [(1, vec![]), (8, vec![2, 2, 2]), (60, vec![2, 2, 3, 5]), (97, vec![97]), (49, vec![7, 7])]
        {
            assert_eq!(factors(number), expected);
        }
    }
}
