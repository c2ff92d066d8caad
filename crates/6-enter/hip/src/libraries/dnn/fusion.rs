//! Plans of several operations: a convolution, a bias and an activation, which run one after the other.

use super::super::blas::Handle;
use super::super::objects::Objects;
use super::convolution::Convolution;
use super::objects::{self, Tensor, Window};
use super::{Arguments, Operand, Problem, factor, layers, put, tensors};
use std::collections::BTreeMap;

/// An operation of a plan.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Operation {
    Convolution(Window, Tensor),
    Bias(Tensor),
    Activation(i32),
}

/// Values of an operation: factors, the address of weights or biases, parameters of an activation.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Values {
    alpha: f64,
    beta: f64,
    address: usize,
    parameters: [f64; 3],
}

/// An object of the program.
#[derive(Clone)]
enum Object {
    /// Numbers of its operations.
    Plan(Vec<usize>),
    Operation(Operation),
    /// Values by operation.
    Values(BTreeMap<usize, Values>),
}

static OBJECTS: Objects<Object> = Objects::numbered_from(0x60_0000);

fn plan(number: usize) -> Result<Vec<usize>, Problem> {
    match OBJECTS.lock().get(&number) {
        Some(Object::Plan(it)) => Ok(it.clone()),
        _ => Err(Problem::Handle),
    }
}

fn operation(number: usize) -> Result<Operation, Problem> {
    match OBJECTS.lock().get(&number) {
        Some(Object::Operation(it)) => Ok(*it),
        _ => Err(Problem::Handle),
    }
}

/// A function of plans; `None` for others.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    Some(match name {
        "CreateFusionPlan" => put(arguments.address(), OBJECTS.add(Object::Plan(Vec::new()))),
        "CreateOperatorArgs" => put(arguments.address(), OBJECTS.add(Object::Values(BTreeMap::new()))),
        "DestroyFusionPlan" | "DestroyOperatorArgs" => OBJECTS.remove(arguments.address()),
        "CreateOpConvForward" => add(arguments, |arguments| {
            Ok(Operation::Convolution(
                objects::window(arguments.address())?,
                objects::tensor(arguments.address())?,
            ))
        }),
        "CreateOpBiasForward" => {
            add(arguments, |arguments| Ok(Operation::Bias(objects::tensor(arguments.address())?)))
        }
        "CreateOpActivationForward" => add(arguments, |arguments| Ok(Operation::Activation(arguments.int()))),
        "SetOpArgsConvForward" | "SetOpArgsBiasForward" => set(arguments, |arguments, values| {
            values.address = arguments.address();
        }),
        "SetOpArgsActivForward" => set(arguments, |arguments, values| {
            values.parameters = [(); 3].map(|()| f64::from_bits(arguments.float_bits()));
        }),
        "CompileFusionPlan" => Handle::take(arguments).and_then(|_| {
            let operations = plan(arguments.address())?;
            if operations.is_empty() { Err(Problem::Value) } else { Ok(()) }
        }),
        "FusionPlanGetWorkSpaceSize" => Handle::take(arguments).and_then(|_| {
            plan(arguments.address())?;
            put(arguments.address(), 0usize)
        }),
        "ExecuteFusionPlan" | "ExecuteFusionPlan_v2" => execute(arguments),
        _ => return None,
    })
}

/// Adds an operation to a plan.
fn add(
    arguments: &mut Arguments,
    read: impl FnOnce(&mut Arguments) -> Result<Operation, Problem>,
) -> Result<(), Problem> {
    let (number, at) = (arguments.address(), arguments.address());
    plan(number)?;
    let operation = OBJECTS.add(Object::Operation(read(arguments)?));
    if let Some(Object::Plan(all)) = OBJECTS.lock().get_mut(&number) {
        all.push(operation);
    }
    put(at, operation)
}

/// Sets the values of an operation: factors, which are floats here, and what `read` takes.
fn set(arguments: &mut Arguments, read: impl FnOnce(&mut Arguments, &mut Values)) -> Result<(), Problem> {
    let (number, of) = (arguments.address(), arguments.address());
    operation(of)?;
    let (alpha, beta) = (arguments.address(), arguments.address());
    let float = super::Type::F32;
    let mut values =
        Values { alpha: factor(alpha, float)?, beta: factor(beta, float)?, address: 0, parameters: [0.0; 3] };
    read(arguments, &mut values);
    match OBJECTS.lock().get_mut(&number) {
        Some(Object::Values(all)) => {
            all.insert(of, values);
            Ok(())
        }
        _ => Err(Problem::Handle),
    }
}

fn execute(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let operations = plan(arguments.address())?;
    let (x, y) = (Operand::take(arguments)?, Operand::take(arguments)?);
    let values = match OBJECTS.lock().get(&arguments.address()) {
        Some(Object::Values(it)) => it.clone(),
        _ => return Err(Problem::Handle),
    };
    // The first reads what is given, the others change what is there.
    let mut from = x;
    for number in operations {
        let values = *values.get(&number).ok_or(Problem::Value)?;
        let of = |tensor| Operand { tensor, address: values.address };
        match operation(number)? {
            Operation::Convolution(window, tensor) => {
                let (w, alpha, beta) = (of(tensor), values.alpha, values.beta);
                Convolution { x: from, w, y, window, alpha, beta }.forward(handle.stream)?;
            }
            Operation::Bias(tensor) => {
                if from.address != y.address {
                    tensors::copy(handle.stream, &from, &y)?;
                }
                tensors::add_bias(handle.stream, &y, &of(tensor), values.alpha)?;
            }
            Operation::Activation(mode) => {
                layers::activate(
                    handle.stream,
                    (mode, values.parameters),
                    (&from, values.alpha),
                    (&y, values.beta),
                )?;
            }
        }
        from = y;
    }
    Ok(())
}
