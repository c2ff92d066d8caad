//! Descriptors of tensors, convolutions, pooling, activations and reductions.

use super::super::objects::Objects;
use super::{Arguments, Problem, ints, put, put_all, put_each};

/// Most axes of a tensor.
pub(super) const AXES: usize = 5;

/// Type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    F16,
    F32,
    Bf16,
    F64,
}

impl Type {
    /// Numbers of `miopenDataType_t`.
    const NUMBERS: [(i32, Type); 4] = [(0, Type::F16), (1, Type::F32), (5, Type::Bf16), (6, Type::F64)];

    fn of(number: i32) -> Result<Type, Problem> {
        let found = Type::NUMBERS.iter().find(|it| it.0 == number);
        found.map(|it| it.1).ok_or_else(|| Problem::Unsupported(format!("tensors of type {number}")))
    }

    fn number(self) -> i32 {
        Type::NUMBERS.iter().find(|it| it.1 == self).map_or(0, |it| it.0)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Type::F16 => "f16",
            Type::F32 => "f32",
            Type::Bf16 => "bf16",
            Type::F64 => "f64",
        }
    }

    fn bytes(self) -> i64 {
        match self {
            Type::F16 | Type::Bf16 => 2,
            Type::F32 => 4,
            Type::F64 => 8,
        }
    }
}

/// Sizes and steps of a tensor. Those with fewer axes than five have axes of one element behind the second one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tensor {
    pub(super) of: Type,
    pub(super) sizes: [i64; AXES],
    pub(super) steps: [i64; AXES],
    axes: usize,
}

impl Tensor {
    fn new(of: Type, sizes: &[i32], steps: Option<&[i32]>) -> Result<Tensor, Problem> {
        let axes = sizes.len();
        if axes == 0 || axes > AXES {
            return Err(Problem::Unsupported(format!("{axes} axes")));
        }
        if sizes.iter().any(|it| *it < 1) {
            return Err(Problem::Size);
        }
        let mut tensor = Tensor { of, sizes: [1; AXES], steps: [0; AXES], axes };
        let mut packed = 1;
        for (axis, size) in sizes.iter().enumerate().rev() {
            let at = place(axis, axes);
            tensor.sizes[at] = i64::from(*size);
            tensor.steps[at] = steps.map_or(packed, |it| i64::from(it[axis]));
            packed *= i64::from(*size);
        }
        Ok(tensor)
    }

    /// A packed tensor with these sizes of all five axes, which is shown with as many as another.
    pub(super) fn like(&self, sizes: [i64; AXES]) -> Tensor {
        let mut steps = [1; AXES];
        (0..AXES - 1).rev().for_each(|axis| steps[axis] = steps[axis + 1] * sizes[axis + 1]);
        Tensor { sizes, steps, ..*self }
    }

    pub(super) fn count(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Sizes of the axes that the program gave.
    pub(super) fn shown(&self, of: &[i64; AXES]) -> Vec<i32> {
        (0..self.axes).map(|axis| of[place(axis, self.axes)] as i32).collect()
    }

    /// Bytes from the first element to the last.
    fn bytes(&self) -> i64 {
        let last: i64 = self.sizes.iter().zip(self.steps).map(|(size, step)| (size - 1) * step).sum();
        (last + 1) * self.of.bytes()
    }
}

/// Where an axis is among five: the first two lead, the others end at the last.
fn place(axis: usize, axes: usize) -> usize {
    if axis < 2 { axis } else { axis + AXES - axes }
}

/// Numbers along depth, height and width.
pub(super) type Spatial = [i32; 3];

/// A convolution, or the window of pooling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Window {
    pub(super) axes: usize,
    /// Transposed: what a convolution's backward pass does.
    pub(super) is_transposed: bool,
    pub(super) pads: Spatial,
    pub(super) steps: Spatial,
    pub(super) apart: Spatial,
    pub(super) groups: i32,
    /// Of pooling: which way, and the window's sizes.
    pub(super) mode: i32,
    pub(super) sizes: Spatial,
}

const WINDOW: Window = Window {
    axes: 2,
    is_transposed: false,
    pads: [0; 3],
    steps: [1; 3],
    apart: [1; 3],
    groups: 1,
    mode: 0,
    sizes: [1; 3],
};

/// A descriptor of the program.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Object {
    /// A tensor, once it is set.
    Tensor(Option<Tensor>),
    Window(Window),
    /// Mode and three parameters.
    Activation(i32, [f64; 3]),
    /// Operation, and whether places are wanted.
    Reduction(i32, bool),
}

static OBJECTS: Objects<Object> = Objects::numbered_from(0x50_0000);

pub(super) fn tensor(number: usize) -> Result<Tensor, Problem> {
    match OBJECTS.find(number)? {
        Object::Tensor(Some(it)) => Ok(it),
        _ => Err(Problem::Handle),
    }
}

pub(super) fn window(number: usize) -> Result<Window, Problem> {
    match OBJECTS.find(number)? {
        Object::Window(it) => Ok(it),
        _ => Err(Problem::Handle),
    }
}

pub(super) fn activation(number: usize) -> Result<(i32, [f64; 3]), Problem> {
    match OBJECTS.find(number)? {
        Object::Activation(mode, parameters) => Ok((mode, parameters)),
        _ => Err(Problem::Handle),
    }
}

pub(super) fn reduction(number: usize) -> Result<(i32, bool), Problem> {
    match OBJECTS.find(number)? {
        Object::Reduction(op, has_places) => Ok((op, has_places)),
        _ => Err(Problem::Handle),
    }
}

/// Sets a descriptor of the same kind.
fn set(number: usize, object: Object) -> Result<(), Problem> {
    match OBJECTS.lock().get_mut(&number) {
        Some(old) if std::mem::discriminant(old) == std::mem::discriminant(&object) => {
            *old = object;
            Ok(())
        }
        _ => Err(Problem::Handle),
    }
}

/// Makes, sets, shows and destroys descriptors; `None` for other functions.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    if let Some(kind) = name.strip_prefix("Create").and_then(|it| it.strip_suffix("Descriptor")) {
        let object = match kind {
            "Tensor" => Object::Tensor(None),
            "Convolution" | "Pooling" => Object::Window(WINDOW),
            "Activation" => Object::Activation(0, [0.0; 3]),
            "ReduceTensor" => Object::Reduction(0, false),
            _ => return None,
        };
        return Some(OBJECTS.create(arguments.address(), object).map(drop));
    }
    if name.starts_with("Destroy") && name.ends_with("Descriptor") {
        return Some(OBJECTS.remove(arguments.address()));
    }
    Some(match name {
        "Set4dTensorDescriptor" => set_tensor(arguments, Some(4), false),
        "Set4dTensorDescriptorEx" => set_tensor(arguments, Some(4), true),
        "SetTensorDescriptor" => set_tensor(arguments, None, true),
        "SetTensorDescriptorV2" => set_wide_tensor(arguments),
        "GetTensorDescriptorSize" => {
            tensor(arguments.address()).and_then(|it| put(arguments.address(), it.axes as i32))
        }
        "GetTensorNumBytes" => {
            tensor(arguments.address()).and_then(|it| put(arguments.address(), it.bytes()))
        }
        "GetTensorDescriptor" => tensor(arguments.address()).and_then(|it| {
            put(arguments.address(), it.of.number())?;
            put_all(arguments.address(), it.shown(&it.sizes))?;
            put_all(arguments.address(), it.shown(&it.steps))
        }),
        "Get4dTensorDescriptor" => tensor(arguments.address()).and_then(|it| {
            put(arguments.address(), it.of.number())?;
            put_each(arguments, it.shown(&it.sizes))?;
            put_each(arguments, it.shown(&it.steps))
        }),
        "DeriveBNTensorDescriptor" => derive_normalization(arguments),
        "InitConvolutionDescriptor" => convolution_2d(arguments),
        "InitConvolutionNdDescriptor" => convolution(arguments),
        "SetConvolutionGroupCount" => change(arguments.address(), |it| it.groups = arguments.int()),
        "GetConvolutionGroupCount" => {
            window(arguments.address()).and_then(|it| put(arguments.address(), it.groups))
        }
        "GetConvolutionSpatialDim" => {
            window(arguments.address()).and_then(|it| put(arguments.address(), it.axes as i32))
        }
        "GetConvolutionNdDescriptor" => show_convolution(arguments),
        // Settings that change no result here.
        "SetConvolutionAttribute" | "SetTransposeConvOutputPadding" | "SetTransposeConvNdOutputPadding" => {
            window(arguments.address()).map(drop)
        }
        "SetPoolingIndexType" | "SetPoolingWorkSpaceIndexMode" => window(arguments.address()).map(drop),
        "Set2dPoolingDescriptor" => pooling_2d(arguments),
        "SetNdPoolingDescriptor" => pooling(arguments),
        "SetActivationDescriptor" => {
            let (number, mode) = (arguments.address(), arguments.int());
            let parameters = [(); 3].map(|()| f64::from_bits(arguments.float_bits()));
            set(number, Object::Activation(mode, parameters))
        }
        "SetReduceTensorDescriptor" => {
            let (number, op, _type, _nan) =
                (arguments.address(), arguments.int(), arguments.int(), arguments.int());
            set(number, Object::Reduction(op, arguments.int() != 0))
        }
        _ => return None,
    })
}

/// Sets a tensor whose sizes are arguments, or lists.
fn set_tensor(arguments: &mut Arguments, given: Option<usize>, has_steps: bool) -> Result<(), Problem> {
    let (number, of) = (arguments.address(), Type::of(arguments.int())?);
    let (sizes, steps) = match given {
        Some(axes) => {
            let mut take = || (0..axes).map(|_| arguments.int()).collect::<Vec<_>>();
            let sizes = take();
            (sizes, has_steps.then(take))
        }
        None => {
            let axes = usize::try_from(arguments.int()).map_err(|_| Problem::Size)?.min(AXES + 1);
            let (sizes, steps) = (arguments.address(), arguments.address());
            (ints(sizes, axes)?, if steps == 0 { None } else { Some(ints(steps, axes)?) })
        }
    };
    set(number, Object::Tensor(Some(Tensor::new(of, &sizes, steps.as_deref())?)))
}

/// Sets a tensor whose sizes and steps are lists of `size_t`.
fn set_wide_tensor(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, of) = (arguments.address(), Type::of(arguments.int())?);
    let axes = usize::try_from(arguments.int()).map_err(|_| Problem::Size)?.min(AXES + 1);
    let list = |at: usize| -> Result<Option<Vec<i32>>, Problem> {
        let place = std::ptr::with_exposed_provenance::<u64>(at);
        // SAFETY: the program gives as many as it says.
        let get = |it| i32::try_from(unsafe { place.add(it).read_unaligned() }).map_err(|_| Problem::Size);
        if at == 0 { Ok(None) } else { (0..axes).map(get).collect::<Result<_, _>>().map(Some) }
    };
    let (sizes, steps) = (list(arguments.address())?, list(arguments.address())?);
    let sizes = sizes.ok_or(Problem::Pointer)?;
    set(number, Object::Tensor(Some(Tensor::new(of, &sizes, steps.as_deref())?)))
}

/// The tensor of scales of a batch normalization: for each element of an image, or for each channel.
fn derive_normalization(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, x) = (arguments.address(), tensor(arguments.address())?);
    let is_of_channels = arguments.int() == 1;
    let of_axis = |axis| if axis == 1 || axis > 1 && !is_of_channels { x.sizes[axis] } else { 1 };
    let sizes = std::array::from_fn(of_axis);
    set(number, Object::Tensor(Some(Tensor { of: Type::F32, ..x.like(sizes) })))
}

fn change(number: usize, change: impl FnOnce(&mut Window)) -> Result<(), Problem> {
    let mut new = window(number)?;
    change(&mut new);
    set(number, Object::Window(new))
}

/// Numbers of the last axes, behind `fill` for the others.
fn spatial(given: &[i32], fill: i32) -> Spatial {
    let mut all = [fill; 3];
    given.iter().rev().zip(all.iter_mut().rev()).for_each(|(from, to)| *to = *from);
    all
}

fn init(number: usize, mode: i32, pads: &[i32], steps: &[i32], apart: &[i32]) -> Result<(), Problem> {
    if steps.iter().chain(apart).any(|it| *it < 1) || pads.iter().any(|it| *it < 0) {
        return Err(Problem::Value);
    }
    let new = Window {
        axes: pads.len(),
        is_transposed: mode == 1,
        pads: spatial(pads, 0),
        steps: spatial(steps, 1),
        apart: spatial(apart, 1),
        ..WINDOW
    };
    change(number, |it| *it = Window { groups: it.groups, ..new })
}

fn convolution_2d(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, mode) = (arguments.address(), arguments.int());
    let mut pair = || [arguments.int(), arguments.int()];
    let (pads, steps, apart) = (pair(), pair(), pair());
    init(number, mode, &pads, &steps, &apart)
}

fn convolution(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, axes) = (arguments.address(), axes(arguments.int())?);
    let mut list = || ints(arguments.address(), axes);
    let (pads, steps, apart) = (list()?, list()?, list()?);
    init(number, arguments.int(), &pads, &steps, &apart)
}

/// Axes of a convolution.
fn axes(given: i32) -> Result<usize, Problem> {
    let axes = usize::try_from(given).ok().filter(|it| (1..=3).contains(it));
    axes.ok_or_else(|| Problem::Unsupported(format!("{given} axes of a window")))
}

fn show_convolution(arguments: &mut Arguments) -> Result<(), Problem> {
    let it = window(arguments.address())?;
    let wanted = usize::try_from(arguments.int()).map_err(|_| Problem::Size)?.min(it.axes);
    put(arguments.address(), it.axes as i32)?;
    for all in [it.pads, it.steps, it.apart] {
        put_all(arguments.address(), all[3 - it.axes..].iter().copied().take(wanted))?;
    }
    put(arguments.address(), i32::from(it.is_transposed))
}

fn pool(number: usize, mode: i32, sizes: &[i32], pads: &[i32], steps: &[i32]) -> Result<(), Problem> {
    if sizes.iter().chain(steps).any(|it| *it < 1) || pads.iter().any(|it| *it < 0) {
        return Err(Problem::Value);
    }
    let (axes, sizes) = (sizes.len(), spatial(sizes, 1));
    let (pads, steps) = (spatial(pads, 0), spatial(steps, 1));
    change(number, |it| *it = Window { axes, mode, sizes, pads, steps, ..WINDOW })
}

fn pooling_2d(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, mode) = (arguments.address(), arguments.int());
    let mut pair = || [arguments.int(), arguments.int()];
    let (sizes, pads, steps) = (pair(), pair(), pair());
    pool(number, mode, &sizes, &pads, &steps)
}

fn pooling(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, mode, axes) = (arguments.address(), arguments.int(), axes(arguments.int())?);
    let mut list = || ints(arguments.address(), axes);
    let (sizes, pads, steps) = (list()?, list()?, list()?);
    pool(number, mode, &sizes, &pads, &steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_fewer_axes_have_their_last_axes_last() {
        let images = Tensor::new(Type::F32, &[2, 3, 4, 5], None).unwrap();
        assert_eq!((images.sizes, images.steps), ([2, 3, 1, 4, 5], [60, 20, 0, 5, 1]));
        assert_eq!(images.shown(&images.sizes), [2, 3, 4, 5]);
        let columns = Tensor::new(Type::F16, &[2, 3], Some(&[1, 2])).unwrap();
        assert_eq!((columns.sizes, columns.steps, columns.bytes()), ([2, 3, 1, 1, 1], [1, 2, 0, 0, 0], 12));
        for sizes in [&[][..], &[2, 0], &[1; 6]] {
            assert!(Tensor::new(Type::F32, sizes, None).is_err(), "{sizes:?}");
        }
    }
}
