//! hipBLASLt: descriptions of matrices and products as objects with attributes.

use super::gemm::{BIAS, GELU, KEEP, Product, RELU};
use super::handles::{Handle, put};
use super::matrix::{Factor, Matrix, Operand, Operation, Type};
use super::name::Form;
use super::{Answer, Arguments, Problem};
use crate::libraries::objects::Objects;
use std::collections::BTreeMap;

/// Kinds of objects, as their functions are called.
const KINDS: [&str; 4] = ["MatrixLayout", "MatmulDesc", "MatmulPreference", "MatrixTransformDesc"];

/// Attributes of a layout.
mod layout {
    pub(super) const BATCHES: i32 = 0;
    pub(super) const STRIDE: i32 = 1;
    pub(super) const TYPE: i32 = 2;
    pub(super) const ORDER: i32 = 3;
    pub(super) const ROWS: i32 = 4;
    pub(super) const COLUMNS: i32 = 5;
    pub(super) const LEADING: i32 = 6;
}

/// Attributes of a product; the last two are numbers of ours for what its creation says.
mod product {
    pub(super) const ON_A: i32 = 0;
    pub(super) const ON_B: i32 = 1;
    pub(super) const EPILOGUE: i32 = 2;
    pub(super) const BIAS: i32 = 3;
    pub(super) const BIAS_TYPE: i32 = 4;
    pub(super) const SCALE_A: i32 = 5;
    pub(super) const SCALE_B: i32 = 6;
    pub(super) const SCALE_D: i32 = 8;
    pub(super) const KEPT: i32 = 10;
    pub(super) const KEPT_LEADING: i32 = 11;
    pub(super) const KEPT_STRIDE: i32 = 12;
    pub(super) const POINTER_MODE: i32 = 13;
    pub(super) const COMPUTE: i32 = -1;
    pub(super) const FACTOR_TYPE: i32 = -2;
    /// Everything that is carried out; others are refused when the product is to run.
    pub(super) const KNOWN: [i32; 14] = [
        ON_A,
        ON_B,
        EPILOGUE,
        BIAS,
        BIAS_TYPE,
        SCALE_A,
        SCALE_B,
        SCALE_D,
        KEPT,
        KEPT_LEADING,
        KEPT_STRIDE,
        POINTER_MODE,
        COMPUTE,
        FACTOR_TYPE,
    ];
}

/// Epilogues: number, and what is done.
const EPILOGUES: [(i64, u32); 8] = [
    (1, 0),
    (2, RELU),
    (4, BIAS),
    (6, RELU | BIAS),
    (32, GELU),
    (36, GELU | BIAS),
    (160, GELU | KEEP),
    (164, GELU | KEEP | BIAS),
];

/// Values by attribute; an absent one is 0.
type Object = BTreeMap<i32, i64>;

static OBJECTS: Objects<Object> = Objects::numbered_from(0x10_0000);

fn get(number: usize) -> Result<Object, Problem> {
    OBJECTS.lock().get(&number).cloned().ok_or(Problem::Pointer)
}

fn value(object: &Object, attribute: i32) -> i64 {
    object.get(&attribute).copied().unwrap_or_default()
}

/// A function of hipBLASLt; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let rest = function.strip_prefix("hipblasLt")?;
    let done = match rest {
        "GetVersion" => {
            arguments.word();
            put(arguments.address(), 100_000i32)
        }
        "Matmul" => matmul(arguments),
        "MatmulAlgoGetHeuristic" => heuristic(arguments),
        _ => {
            let kind = KINDS.iter().find(|it| rest.starts_with(**it))?;
            match rest.strip_prefix(kind)? {
                "Create" => create(kind, arguments),
                "Destroy" => OBJECTS.lock().remove(&arguments.address()).map(|_| ()).ok_or(Problem::Pointer),
                "SetAttribute" => set(arguments),
                "GetAttribute" => read(arguments),
                _ => return None,
            }
        }
    };
    Some(done.map(|()| 0))
}

fn create(kind: &str, arguments: &mut Arguments) -> Result<(), Problem> {
    let at = arguments.address();
    let mut object = Object::new();
    match kind {
        "MatrixLayout" => {
            object.insert(layout::BATCHES, 1);
            object.insert(layout::TYPE, i64::from(arguments.int()));
            for attribute in [layout::ROWS, layout::COLUMNS, layout::LEADING] {
                object.insert(attribute, arguments.long());
            }
        }
        "MatmulDesc" => {
            object.insert(product::EPILOGUE, 1);
            for attribute in [product::ON_A, product::ON_B] {
                object.insert(attribute, 111);
            }
            for attribute in [product::COMPUTE, product::FACTOR_TYPE] {
                object.insert(attribute, i64::from(arguments.int()));
            }
        }
        _ => {}
    }
    OBJECTS.create(at, object).map(drop)
}

fn set(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, attribute) = (arguments.address(), arguments.int());
    let (from, bytes) = (arguments.address(), arguments.address());
    if from == 0 {
        return Err(Problem::Pointer);
    }
    let place = std::ptr::with_exposed_provenance::<u8>(from);
    // SAFETY: the program gives a value of this size; other sizes are refused.
    let value = unsafe {
        match bytes {
            1 => i64::from(place.cast::<i8>().read_unaligned()),
            4 => i64::from(place.cast::<i32>().read_unaligned()),
            8 => place.cast::<i64>().read_unaligned(),
            _ => return Err(Problem::Unsupported(format!("attribute {attribute} of {bytes} bytes"))),
        }
    };
    OBJECTS.lock().get_mut(&number).ok_or(Problem::Pointer)?.insert(attribute, value);
    Ok(())
}

fn read(arguments: &mut Arguments) -> Result<(), Problem> {
    let (object, attribute) = (get(arguments.address())?, arguments.int());
    let (to, bytes, written) = (arguments.address(), arguments.address(), arguments.address());
    let value = value(&object, attribute);
    match bytes {
        1 => put(to, value as i8)?,
        4 => put(to, value as i32)?,
        8 => put(to, value)?,
        _ => return Err(Problem::Unsupported(format!("attribute {attribute} of {bytes} bytes"))),
    }
    if written != 0 {
        put(written, bytes)?;
    }
    Ok(())
}

/// Bytes of a result of the search for algorithms, and places in it.
const HEURISTIC: usize = 56;
const HEURISTIC_WAVES: usize = 36;

/// One algorithm, ours, for products that run; none for others, as the library answers.
fn heuristic(arguments: &mut Arguments) -> Result<(), Problem> {
    Handle::take(arguments)?;
    let numbers: Vec<usize> = (0..5).map(|_| arguments.address()).collect();
    let (_preference, wanted) = (arguments.word(), arguments.int());
    let (results, count) = (arguments.address(), arguments.address());
    if wanted < 1 {
        return Err(Problem::Size);
    }
    let product = get(numbers[0])?;
    let layouts = [get(numbers[1])?, get(numbers[2])?, get(numbers[3])?, get(numbers[4])?];
    if let Err(problem) = describe(&product, &layouts, [0; 4]) {
        put(count, 0i32)?;
        return Err(problem);
    }
    (0..HEURISTIC).try_for_each(|byte| put(results.wrapping_add(byte), 0u8))?;
    put(results + HEURISTIC_WAVES, 1f32)?;
    put(count, 1i32)
}

/// Runs a product.
fn matmul(arguments: &mut Arguments) -> Result<(), Problem> {
    Handle::take(arguments)?;
    let product = get(arguments.address())?;
    let alpha = arguments.address();
    let (a, on_a) = (arguments.address(), get(arguments.address())?);
    let (b, on_b) = (arguments.address(), get(arguments.address())?);
    let beta = arguments.address();
    let (c, on_c) = (arguments.address(), get(arguments.address())?);
    let (d, on_d) = (arguments.address(), get(arguments.address())?);
    let (_algorithm, _work_space, _bytes) = (arguments.word(), arguments.word(), arguments.word());
    let stream = arguments.address();
    if d == 0 {
        return Err(Problem::Pointer);
    }
    let (mut described, from, to) = describe(&product, &[on_a, on_b, on_c, on_d], [a, b, c, d])?;
    let of_factor = Type::of_number(value(&product, product::FACTOR_TYPE) as i32)?;
    let on_gpu = value(&product, product::POINTER_MODE) == 1;
    // SAFETY: addresses of factors as the headers say.
    let read = |at| unsafe { Factor::read(at, of_factor, on_gpu) };
    (described.alpha, described.beta) = (read(alpha)?, read(beta)?);
    described.multiply(stream, from, to)
}

/// A layout as a matrix, with its sizes and number of batches.
fn matrix(object: &Object, at: usize, operation: Operation) -> Result<(Matrix, Type, [i64; 3]), Problem> {
    let get = |attribute| value(object, attribute);
    let element = Type::of_number(get(layout::TYPE) as i32)?;
    let [rows, columns, step] = [layout::ROWS, layout::COLUMNS, layout::LEADING].map(get);
    let by_row = match get(layout::ORDER) {
        0 => false,
        1 => true,
        order => return Err(Problem::Unsupported(format!("matrices in order {order}"))),
    };
    let operand = Operand { at, step, stride: get(layout::STRIDE), element, form: Form::Strided };
    operand.check(if by_row { columns } else { rows })?;
    let matrix = operand.matrix(Operation { transposed: operation.transposed != by_row, ..operation });
    let sizes = if operation.transposed { [columns, rows] } else { [rows, columns] };
    Ok((matrix, element, [sizes[0], sizes[1], get(layout::BATCHES)]))
}

/// A product without its factors, and the types of operands and result.
fn describe(
    object: &Object,
    layouts: &[Object; 4],
    at: [usize; 4],
) -> Result<(Product, Type, Type), Problem> {
    let get = |attribute| value(object, attribute);
    if let Some((attribute, _)) = object.iter().find(|it| !product::KNOWN.contains(it.0) && *it.1 != 0) {
        return Err(Problem::Unsupported(format!("attribute {attribute} of a product")));
    }
    if !(0..=1).contains(&get(product::POINTER_MODE)) {
        return Err(Problem::Unsupported("a factor for each row".to_owned()));
    }
    let operation = |attribute| Operation::of_number(get(attribute) as i32);
    let (a, of_a, [m, k, batches]) = matrix(&layouts[0], at[0], operation(product::ON_A)?)?;
    let (b, of_b, [inner, n, _]) = matrix(&layouts[1], at[1], operation(product::ON_B)?)?;
    let (c, of_c, _) = matrix(&layouts[2], at[2], Operation::NONE)?;
    let (d, of_d, of_result) = matrix(&layouts[3], at[3], Operation::NONE)?;
    if inner != k || of_result != [m, n, batches] {
        return Err(Problem::Size);
    }
    if of_a != of_b || of_c != of_d {
        let words = [of_a, of_b, of_c, of_d].map(Type::word);
        return Err(Problem::Unsupported(format!("operands of the types {}", words.join(", "))));
    }
    let number = get(product::EPILOGUE);
    let Some((_, epilogue)) = EPILOGUES.iter().find(|it| it.0 == number) else {
        return Err(Problem::Unsupported(format!("epilogue {number}")));
    };
    // The epilogue is computed in single precision.
    if *epilogue != 0 && matches!(of_d, Type::F64 | Type::I32 | Type::C32 | Type::C64) {
        return Err(Problem::Unsupported(format!("epilogue {number} on {} elements", of_d.word())));
    }
    let factor = Factor::Value(1.0, 0.0);
    let mut described = Product::new([a, b, c, d], [factor, factor], [m, n, k, batches]);
    described.epilogue = *epilogue;
    if epilogue & BIAS != 0 {
        let element = match object.get(&product::BIAS_TYPE) {
            Some(number) => Type::of_number(*number as i32)?,
            None => of_d,
        };
        described.bias = Some((get(product::BIAS) as usize, element, 0));
    }
    if epilogue & KEEP != 0 {
        let place = get(product::KEPT) as usize;
        described.kept = Some((place, get(product::KEPT_LEADING), get(product::KEPT_STRIDE)));
    }
    described.scales = [product::SCALE_A, product::SCALE_B, product::SCALE_D].map(|it| get(it) as usize);
    Ok((described, of_a, of_d))
}
