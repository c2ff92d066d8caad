//! Descriptions of matrices and vectors, as objects with attributes.

use super::super::blas::Type;
use super::super::objects::Objects;
use super::elements::{Format, Indices, Sparse, element};
use super::{Arguments, Problem, put};

/// An object of the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object {
    /// Of the older interface.
    Description(Description),
    Matrix(Matrix),
    Dense(Dense),
    Vector(Vector),
    SparseVector(SparseVector),
    /// What a solver needs to know, which is nothing.
    Plan,
}

/// Properties of a matrix, each a number of its enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Description {
    pub(super) kind: i32,
    pub(super) fill: i32,
    pub(super) diagonal: i32,
    pub(super) base: i32,
}

/// Formats as the library numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layout {
    Csr = 1,
    Csc,
    Coo,
}

/// A sparse matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) layout: Layout,
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) elements: i64,
    /// Offsets, or rows of a list.
    pub(super) lines: Indices,
    pub(super) across: Indices,
    pub(super) values: usize,
    pub(super) base: i32,
    pub(super) element: Type,
    pub(super) fill: i32,
    pub(super) diagonal: i32,
    pub(super) batches: i32,
}

impl Matrix {
    /// The matrix by its lines, and whether these are its columns.
    pub(super) fn sparse(&self) -> (Sparse, bool) {
        let by_columns = self.layout == Layout::Csc;
        let sparse = Sparse {
            format: if self.layout == Layout::Coo { Format::List } else { Format::Lines },
            lines: self.lines,
            across: self.across,
            values: self.values,
            count: if by_columns { self.columns } else { self.rows },
            elements: self.elements,
            base: i64::from(self.base),
        };
        (sparse, by_columns)
    }
}

/// A dense matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dense {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) leading: i64,
    pub(super) at: usize,
    pub(super) element: Type,
    pub(super) order: i32,
    pub(super) batches: i32,
    pub(super) stride: i64,
}

impl Dense {
    pub(super) fn strides(&self) -> super::elements::Dense {
        super::elements::Dense::new(self.at, self.leading, self.order == BY_ROWS)
    }
}

/// A dense vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vector {
    pub(super) size: i64,
    pub(super) at: usize,
    pub(super) element: Type,
}

/// A sparse vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct SparseVector {
    pub(super) size: i64,
    pub(super) elements: i64,
    pub(super) indices: Indices,
    pub(super) at: usize,
    pub(super) base: i32,
    pub(super) element: Type,
}

/// Orders of dense matrices.
const BY_COLUMNS: i32 = 1;
const BY_ROWS: i32 = 2;

static OBJECTS: Objects<Object> = Objects::numbered_from(0x50_0000);

fn create(at: usize, object: Object) -> Result<(), Problem> {
    OBJECTS.create(at, object).map(drop)
}

macro_rules! finders {
    ($($name:ident $kind:ident $type:ty),*) => {$(
        /// The object that is the next argument.
        pub(super) fn $name(arguments: &mut Arguments) -> Result<$type, Problem> {
            match OBJECTS.lock().get(&arguments.address()) {
                Some(Object::$kind(found)) => Ok(*found),
                _ => Err(Problem::Handle),
            }
        }
    )*};
}

finders! {
    description Description Description, matrix Matrix Matrix, dense Dense Dense, vector Vector Vector,
    sparse_vector SparseVector SparseVector
}

/// Changes a sparse matrix.
pub(super) fn change_matrix(
    number: usize,
    change: impl FnOnce(&mut Matrix) -> Result<(), Problem>,
) -> Result<(), Problem> {
    match OBJECTS.lock().get_mut(&number) {
        Some(Object::Matrix(matrix)) => change(matrix),
        _ => Err(Problem::Handle),
    }
}

fn size(arguments: &mut Arguments) -> Result<i64, Problem> {
    let size = arguments.long();
    if size < 0 { Err(Problem::Size) } else { Ok(size) }
}

/// Whether indices of a type have 8 bytes.
fn is_wide(number: i32) -> Result<bool, Problem> {
    match number {
        2 => Ok(false),
        3 => Ok(true),
        1 => Err(Problem::Unsupported("indices of 16 bits".to_owned())),
        _ => Err(Problem::Value),
    }
}

fn base(number: i32) -> Result<i32, Problem> {
    if matches!(number, 0 | 1) { Ok(number) } else { Err(Problem::Value) }
}

/// An object is made, changed, asked or ended; `None` for other functions.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    let what = name.strip_prefix("CreateConst").or_else(|| name.strip_prefix("Create"));
    let done = match what.unwrap_or_default() {
        "Csr" => new_matrix(arguments, Layout::Csr),
        "Csc" => new_matrix(arguments, Layout::Csc),
        "Coo" => new_matrix(arguments, Layout::Coo),
        "DnVec" => new_vector(arguments),
        "DnMat" => new_dense(arguments),
        "SpVec" => new_sparse_vector(arguments),
        "MatDescr" => create(arguments.address(), Object::Description(Description::default())),
        _ if name == "SpSV_createDescr" => create(arguments.address(), Object::Plan),
        _ if ENDS.contains(&name) => OBJECTS.remove(arguments.address()),
        _ if CHANGES.contains(&name) => change(name, arguments),
        _ => {
            let name = name.strip_prefix("Const").unwrap_or(name);
            return READS.contains(&name).then(|| read(name, arguments));
        }
    };
    Some(done)
}

/// Functions that end objects, change them, and read them.
const ENDS: [&str; 6] =
    ["DestroySpMat", "DestroyDnVec", "DestroyDnMat", "DestroySpVec", "DestroyMatDescr", "SpSV_destroyDescr"];
const CHANGES: [&str; 12] = [
    "CsrSetPointers",
    "CscSetPointers",
    "CooSetPointers",
    "SpMatSetValues",
    "SpMatSetStridedBatch",
    "CooSetStridedBatch",
    "CsrSetStridedBatch",
    "SpMatSetAttribute",
    "DnVecSetValues",
    "SpVecSetValues",
    "DnMatSetValues",
    "DnMatSetStridedBatch",
];
const READS: [&str; 17] = [
    "CsrGet",
    "CscGet",
    "CooGet",
    "SpMatGetSize",
    "SpMatGetFormat",
    "SpMatGetIndexBase",
    "SpMatGetValues",
    "SpMatGetStridedBatch",
    "SpMatGetAttribute",
    "DnVecGet",
    "DnVecGetValues",
    "DnMatGet",
    "DnMatGetValues",
    "DnMatGetStridedBatch",
    "SpVecGet",
    "SpVecGetValues",
    "SpVecGetIndexBase",
];

fn new_matrix(arguments: &mut Arguments, layout: Layout) -> Result<(), Problem> {
    let at = arguments.address();
    let (rows, columns, elements) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let [lines, across, values] = [(); 3].map(|()| arguments.address());
    let of_lines = is_wide(arguments.int())?;
    let of_across = if layout == Layout::Coo { of_lines } else { is_wide(arguments.int())? };
    let base = base(arguments.int())?;
    let element = element(arguments.int())?;
    if elements > 0 && [across, values].contains(&0) {
        return Err(Problem::Pointer);
    }
    let matrix = Matrix {
        layout,
        rows,
        columns,
        elements,
        lines: Indices { at: lines, is_wide: of_lines },
        across: Indices { at: across, is_wide: of_across },
        values,
        base,
        element,
        fill: 0,
        diagonal: 0,
        batches: 1,
    };
    create(at, Object::Matrix(matrix))
}

fn new_vector(arguments: &mut Arguments) -> Result<(), Problem> {
    let to = arguments.address();
    let (size, at) = (size(arguments)?, arguments.address());
    let element = element(arguments.int())?;
    if size > 0 && at == 0 {
        return Err(Problem::Pointer);
    }
    create(to, Object::Vector(Vector { size, at, element }))
}

fn new_dense(arguments: &mut Arguments) -> Result<(), Problem> {
    let to = arguments.address();
    let (rows, columns, leading) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let at = arguments.address();
    let (element, order) = (element(arguments.int())?, arguments.int());
    let least = match order {
        BY_COLUMNS => rows,
        BY_ROWS => columns,
        _ => return Err(Problem::Value),
    };
    if leading < least {
        return Err(Problem::Size);
    }
    let dense = Dense { rows, columns, leading, at, element, order, batches: 1, stride: 0 };
    create(to, Object::Dense(dense))
}

fn new_sparse_vector(arguments: &mut Arguments) -> Result<(), Problem> {
    let to = arguments.address();
    let (size, elements) = (size(arguments)?, size(arguments)?);
    let (indices, at) = (arguments.address(), arguments.address());
    let indices = Indices { at: indices, is_wide: is_wide(arguments.int())? };
    let base = base(arguments.int())?;
    let element = element(arguments.int())?;
    create(to, Object::SparseVector(SparseVector { size, elements, indices, at, base, element }))
}

/// A property of a description of the older interface.
fn property<'a>(it: &'a mut Description, name: &str) -> Option<(&'a mut i32, i32)> {
    Some(match name {
        "MatType" => (&mut it.kind, 3),
        "MatFillMode" => (&mut it.fill, 1),
        "MatDiagType" => (&mut it.diagonal, 1),
        "MatIndexBase" => (&mut it.base, 1),
        _ => return None,
    })
}

/// Sets a property of a description, or returns it; `None` for other functions.
pub(super) fn describe(name: &str, arguments: &mut Arguments) -> Option<super::Answer> {
    let what = name.strip_prefix("Set").or_else(|| name.strip_prefix("Get"))?;
    property(&mut Description::default(), what)?;
    let (number, value) = (arguments.address(), arguments.word() as i32);
    let mut objects = OBJECTS.lock();
    let Some(Object::Description(of)) = objects.get_mut(&number) else { return Some(Err(Problem::Handle)) };
    let (place, most) = property(of, what)?;
    if name.starts_with("Get") {
        return Some(Ok(u64::from(place.cast_unsigned())));
    }
    if !(0..=most).contains(&value) {
        return Some(Err(Problem::Value));
    }
    *place = value;
    Some(Ok(0))
}

fn change(name: &str, arguments: &mut Arguments) -> Result<(), Problem> {
    let number = arguments.address();
    if name == "SpMatSetAttribute" {
        return set_attribute(number, arguments);
    }
    match (name, OBJECTS.lock().get_mut(&number).ok_or(Problem::Handle)?) {
        ("CsrSetPointers" | "CscSetPointers" | "CooSetPointers", Object::Matrix(it)) => {
            let places = [&mut it.lines.at, &mut it.across.at, &mut it.values];
            places.into_iter().for_each(|place| *place = arguments.address());
        }
        ("SpMatSetValues", Object::Matrix(it)) => it.values = arguments.address(),
        (_, Object::Matrix(it)) if name.ends_with("SetStridedBatch") => it.batches = arguments.int(),
        ("DnVecSetValues", Object::Vector(it)) => it.at = arguments.address(),
        ("SpVecSetValues", Object::SparseVector(it)) => it.at = arguments.address(),
        ("DnMatSetValues", Object::Dense(it)) => it.at = arguments.address(),
        ("DnMatSetStridedBatch", Object::Dense(it)) => {
            (it.batches, it.stride) = (arguments.int(), arguments.long());
        }
        _ => return Err(Problem::Handle),
    }
    Ok(())
}

/// Attributes of a triangle: number of the attribute, address and size of the value.
fn set_attribute(number: usize, arguments: &mut Arguments) -> Result<(), Problem> {
    let (attribute, at, size) = (arguments.int(), arguments.address(), arguments.word());
    if at == 0 {
        return Err(Problem::Pointer);
    }
    if size != 4 {
        return Err(Problem::Value);
    }
    // SAFETY: the program gives the address of a value of that size.
    let value = unsafe { std::ptr::with_exposed_provenance::<i32>(at).read_unaligned() };
    change_matrix(number, |it| {
        match (attribute, value) {
            (0, 0 | 1) => it.fill = value,
            (1, 0 | 1) => it.diagonal = value,
            _ => return Err(Problem::Value),
        }
        Ok(())
    })
}

/// Number of a type in the enumeration of HIP.
fn number_of(element: Type) -> i32 {
    match element {
        Type::F32 => 0,
        Type::F64 => 1,
        Type::C32 => 4,
        _ => 5,
    }
}

fn number_of_indices(indices: Indices) -> i32 {
    if indices.is_wide { 3 } else { 2 }
}

/// Writes values one after the other to addresses of the program.
macro_rules! put_all {
    ($arguments:ident, $($value:expr),+) => {{
        $(put($arguments.address(), $value)?;)+
        Ok(())
    }};
}

/// Facts of an object, each to an address of the program.
fn read(name: &str, arguments: &mut Arguments) -> Result<(), Problem> {
    let found = OBJECTS.find(arguments.address())?;
    match (name, found) {
        ("CsrGet" | "CscGet" | "CooGet", Object::Matrix(it)) => read_matrix(&it, arguments),
        ("SpMatGetSize", Object::Matrix(it)) => put_all!(arguments, it.rows, it.columns, it.elements),
        ("SpMatGetFormat", Object::Matrix(it)) => put_all!(arguments, it.layout as i32),
        ("SpMatGetIndexBase", Object::Matrix(it)) => put_all!(arguments, it.base),
        ("SpMatGetValues", Object::Matrix(it)) => put_all!(arguments, it.values),
        ("SpMatGetStridedBatch", Object::Matrix(it)) => put_all!(arguments, it.batches),
        ("SpMatGetAttribute", Object::Matrix(it)) => match arguments.int() {
            0 => put_all!(arguments, it.fill),
            1 => put_all!(arguments, it.diagonal),
            _ => Err(Problem::Value),
        },
        ("DnVecGet", Object::Vector(it)) => put_all!(arguments, it.size, it.at, number_of(it.element)),
        ("DnVecGetValues", Object::Vector(it)) => put_all!(arguments, it.at),
        ("DnMatGet", Object::Dense(it)) => {
            put_all!(arguments, it.rows, it.columns, it.leading, it.at, number_of(it.element), it.order)
        }
        ("DnMatGetValues", Object::Dense(it)) => put_all!(arguments, it.at),
        ("DnMatGetStridedBatch", Object::Dense(it)) => put_all!(arguments, it.batches, it.stride),
        ("SpVecGet", Object::SparseVector(it)) => {
            let kind = number_of_indices(it.indices);
            put_all!(
                arguments,
                it.size,
                it.elements,
                it.indices.at,
                it.at,
                kind,
                it.base,
                number_of(it.element)
            )
        }
        ("SpVecGetValues", Object::SparseVector(it)) => put_all!(arguments, it.at),
        ("SpVecGetIndexBase", Object::SparseVector(it)) => put_all!(arguments, it.base),
        _ => Err(Problem::Handle),
    }
}

fn read_matrix(it: &Matrix, arguments: &mut Arguments) -> Result<(), Problem> {
    [it.rows, it.columns, it.elements].into_iter().try_for_each(|size| put(arguments.address(), size))?;
    [it.lines.at, it.across.at, it.values].into_iter().try_for_each(|at| put(arguments.address(), at))?;
    put(arguments.address(), number_of_indices(it.lines))?;
    if it.layout != Layout::Coo {
        put(arguments.address(), number_of_indices(it.across))?;
    }
    put_all!(arguments, it.base, number_of(it.element))
}
