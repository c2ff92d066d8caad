//! rocFFT's own interface: descriptions of layouts, plans, what a run needs.

use super::super::blas::put;
use super::super::objects::Objects;
use super::super::{Answer, Arguments, Problem};
use super::{Kind, Layout, Plan};
use std::sync::Arc;

/// The version whose functions these are.
const VERSION: &[u8] = b"1.0.31\0";

/// An object of the program.
#[derive(Clone)]
enum Object {
    Description(Description),
    Plan(Arc<Transform>),
    /// The stream of a run.
    Run(usize),
}

/// How a plan differs from the usual one.
#[derive(Clone)]
struct Description {
    layouts: [Option<Given>; 2],
    scale: f64,
}

/// A layout: distances along the axes, the fastest first, and of batches, and the offset of the first element.
#[derive(Clone)]
struct Given {
    strides: Vec<i64>,
    distance: i64,
    offset: usize,
}

/// A plan, and in which direction it goes.
struct Transform {
    plan: Plan,
    is_backward: bool,
    in_place: bool,
    /// Bytes from the given addresses to the first elements.
    offsets: [usize; 2],
}

static OBJECTS: Objects<Object> = Objects::numbered_from(0x40_0000);

/// A function behind `rocfft_`; `None` for what is not implemented.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Answer> {
    let done = match name {
        "setup" | "cleanup" => Ok(()),
        "get_version_string" => version(arguments),
        "plan_description_create" => create(
            arguments.address(),
            Object::Description(Description { layouts: [None, None], scale: 1.0 }),
        ),
        "execution_info_create" => create(arguments.address(), Object::Run(0)),
        "plan_description_destroy" | "execution_info_destroy" | "plan_destroy" => {
            OBJECTS.remove(arguments.address())
        }
        "plan_description_set_data_layout" => set_layout(arguments),
        "plan_description_set_scale_factor" => {
            let number = arguments.address();
            let scale = f64::from_bits(arguments.float_bits());
            describe(number, |it| it.scale = scale)
        }
        "plan_create" => plan(arguments),
        // Plans have their own memory.
        "plan_get_work_buffer_size" => {
            OBJECTS.find(arguments.address()).and_then(|_| put(arguments.address(), 0usize))
        }
        "plan_get_print" => OBJECTS.find(arguments.address()).map(drop),
        "execution_info_set_work_buffer" => OBJECTS.find(arguments.address()).map(drop),
        "execution_info_set_stream" => {
            let (number, stream) = (arguments.address(), arguments.address());
            match OBJECTS.lock().get_mut(&number) {
                Some(Object::Run(of)) => {
                    *of = stream;
                    Ok(())
                }
                _ => Err(Problem::Handle),
            }
        }
        "execute" => execute(arguments),
        _ => return None,
    };
    Some(done.map(|()| 0))
}

fn version(arguments: &mut Arguments) -> Result<(), Problem> {
    let (at, room) = (arguments.address(), arguments.word() as usize);
    if room < VERSION.len() {
        return Err(Problem::Size);
    }
    VERSION.iter().enumerate().try_for_each(|(index, byte)| put(at.wrapping_add(index), *byte))
}

fn create(at: usize, object: Object) -> Result<(), Problem> {
    OBJECTS.create(at, object).map(drop)
}

fn describe(number: usize, change: impl FnOnce(&mut Description)) -> Result<(), Problem> {
    match OBJECTS.lock().get_mut(&number) {
        Some(Object::Description(it)) => {
            change(it);
            Ok(())
        }
        _ => Err(Problem::Handle),
    }
}

/// Numbers of `size_t` at an address; none at 0.
fn list(at: usize, count: usize) -> Vec<usize> {
    let place = std::ptr::with_exposed_provenance::<usize>(at);
    // SAFETY: the program gives as many as it says.
    (0..if at == 0 { 0 } else { count.min(3) }).map(|it| unsafe { place.add(it).read_unaligned() }).collect()
}

fn set_layout(arguments: &mut Arguments) -> Result<(), Problem> {
    let number = arguments.address();
    let arrays = [arguments.int(), arguments.int()];
    // Real and imaginary parts apart.
    if arrays.iter().any(|it| [1, 4].contains(it)) {
        return Err(Problem::Unsupported("planar arrays".to_owned()));
    }
    let offsets = [arguments.address(), arguments.address()];
    let layout = |arguments: &mut Arguments, offset: usize| {
        let (count, strides, distance) = (arguments.word() as usize, arguments.address(), arguments.long());
        let offset = list(offset, 1).first().copied().unwrap_or(0);
        let strides = list(strides, count).into_iter().map(|it| it as i64).collect();
        Given { strides, distance, offset }
    };
    let layouts = [layout(arguments, offsets[0]), layout(arguments, offsets[1])];
    describe(number, |it| it.layouts = layouts.map(Some))
}

fn plan(arguments: &mut Arguments) -> Result<(), Problem> {
    let at = arguments.address();
    let (placement, transform, precision) = (arguments.int(), arguments.int(), arguments.int());
    let (axes, lengths) = (arguments.word() as usize, arguments.address());
    let (batches, description) = (arguments.long(), arguments.address());
    let (kind, is_backward) = match transform {
        0 => (Kind::Complex, false),
        1 => (Kind::Complex, true),
        2 => (Kind::FromReal, false),
        3 => (Kind::ToReal, true),
        _ => return Err(Problem::Value),
    };
    let is_double = match precision {
        0 => false,
        1 => true,
        _ => return Err(Problem::Unsupported("half precision".to_owned())),
    };
    if !(1..=3).contains(&axes) {
        return Err(Problem::Size);
    }
    // The fastest axis comes first here, and last in a plan.
    let sizes: Vec<i64> = list(lengths, axes).into_iter().rev().map(|it| it as i64).collect();
    let described = match description {
        0 => Description { layouts: [None, None], scale: 1.0 },
        number => match OBJECTS.find(number)? {
            Object::Description(it) => it,
            _ => return Err(Problem::Handle),
        },
    };
    let in_place = placement == 0;
    let mut layouts = [Layout::Plain, Layout::Plain];
    for (layout, given) in layouts.iter_mut().zip(&described.layouts) {
        if let Some(given) = given.as_ref().filter(|it| it.strides.len() == axes) {
            let mut strides = [0; 3];
            given.strides.iter().enumerate().for_each(|(axis, it)| strides[2 - axis] = *it);
            *layout = Layout::Strided(strides, given.distance);
        }
    }
    let mut plan = Plan::new(&sizes, kind, is_double, layouts, batches)?;
    plan.scale = described.scale;
    let real = if is_double { 8 } else { 4 };
    let bytes = |index: usize, is_real: bool| {
        let offset = described.layouts[index].as_ref().map_or(0, |it| it.offset);
        offset * if is_real { real } else { 2 * real }
    };
    let offsets = [bytes(0, kind == Kind::FromReal), bytes(1, kind == Kind::ToReal)];
    create(at, Object::Plan(Arc::new(Transform { plan, is_backward, in_place, offsets })))
}

fn execute(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, from, to, run) =
        (arguments.address(), arguments.address(), arguments.address(), arguments.address());
    let Object::Plan(transform) = OBJECTS.find(number)? else { return Err(Problem::Handle) };
    let stream = match run {
        0 => 0,
        run => match OBJECTS.find(run)? {
            Object::Run(stream) => stream,
            _ => return Err(Problem::Handle),
        },
    };
    let buffer = |at: usize| list(at, 1).first().copied().filter(|it| *it != 0).ok_or(Problem::Pointer);
    let from = buffer(from)?;
    let to = if transform.in_place { from } else { buffer(to)? };
    let [first, second] = transform.offsets;
    transform.plan.run(stream, from + first, to + second, transform.is_backward)
}
