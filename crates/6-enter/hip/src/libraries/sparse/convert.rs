//! Conversions between forms of matrices, and sorts, by the kernels on lists of indices.

use super::super::blas::{Factor, Handle, Type};
use super::super::kernels::{self, Scratch};
use super::elements::{Dense, Format, Indices, Sparse, each, waves, words};
use super::objects;
use super::{Arguments, Problem, letter, no_memory, size};
use crate::launch::perform;
use crate::runtime::lock;
use crate::work::{Copy3, Fill, Place, Work};

/// Lists of indices as the kernels take them.
#[derive(Clone, Copy, Default)]
struct Lists {
    lines: Indices,
    list: Indices,
    count: i64,
    elements: i64,
    base: i64,
    order: usize,
    from: usize,
    to: usize,
    /// Words of an element that is moved.
    words: i64,
}

impl Lists {
    fn run(self, stream: usize, kernel: &str, items: i64) -> Result<(), Problem> {
        let mut bytes = Vec::with_capacity(88);
        self.lines.push(&mut bytes);
        self.list.push(&mut bytes);
        let Lists { count, elements, base, order, from, to, words: each_words, .. } = self;
        words(&mut bytes, &[count, elements, base, order as i64, from as i64, to as i64, each_words]);
        each(stream, kernel, items, 1, bytes)
    }
}

/// A conversion with 32-bit indices; `None` for other functions.
pub(super) fn call(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    Some(match name {
        "Xcsr2coo" => rows_to_list(arguments),
        "Xcoo2csr" => list_to_rows(arguments),
        "CreateIdentityPermutation" => number(arguments),
        "Xcsrsort_bufferSizeExt" | "Xcscsort_bufferSizeExt" | "Xcoosort_bufferSizeExt" => {
            no_memory(arguments, 5)
        }
        "Csr2cscEx2_bufferSize" => no_memory(arguments, 13),
        "Xcsrsort" => sort_lines(arguments, false),
        "Xcscsort" => sort_lines(arguments, true),
        "XcoosortByRow" => sort_list(arguments, false),
        "XcoosortByColumn" => sort_list(arguments, true),
        "Csr2cscEx2" => transpose(arguments, None),
        _ => match letter(name)? {
            (of, "csr2csc") => transpose(arguments, Some(of)),
            (of, "csr2dense") => legacy_to_dense(arguments, of, false),
            (of, "csc2dense") => legacy_to_dense(arguments, of, true),
            (of, "dense2csr") => legacy_of_dense(arguments, of, false),
            (of, "dense2csc") => legacy_of_dense(arguments, of, true),
            (of, "nnz") => legacy_count(arguments, of),
            _ => return None,
        },
    })
}

fn base(number: i32) -> Result<i64, Problem> {
    if matches!(number, 0 | 1) { Ok(i64::from(number)) } else { Err(Problem::Value) }
}

fn clear(stream: usize, at: usize, bytes: usize) -> Result<(), Problem> {
    let to = Place { address: at, pitch: bytes, slice: bytes };
    Ok(perform(stream, Work::Fill(Fill { to, pattern: 0, size: 1, width: bytes, height: 1, depth: 1 }))?)
}

/// Lines of each element, from where lines begin.
pub(super) fn expand(
    stream: usize,
    lines: Indices,
    list: Indices,
    count: i64,
    base: i64,
) -> Result<(), Problem> {
    Lists { lines, list, count, base, ..Lists::default() }.run(stream, "expand", waves(count))
}

/// Where lines begin, from the numbers of their elements.
pub(super) fn scan(
    stream: usize,
    lines: Indices,
    numbers: Indices,
    count: i64,
    base: i64,
) -> Result<(), Problem> {
    Lists { lines, list: numbers, count, base, ..Lists::default() }.run(stream, "scan", 1)
}

fn rows_to_list(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let lines = Indices::narrow(arguments.address());
    let (_, count) = (size(arguments)?, size(arguments)?);
    let list = Indices::narrow(arguments.address());
    expand(handle.stream, lines, list, count, base(arguments.int())?)
}

fn list_to_rows(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let list = Indices::narrow(arguments.address());
    let (elements, count) = (size(arguments)?, size(arguments)?);
    let lines = Indices::narrow(arguments.address());
    let base = base(arguments.int())?;
    Lists { lines, list, count, elements, base, ..Lists::default() }.run(handle.stream, "compress", count + 1)
}

fn number(arguments: &mut Arguments) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (elements, order) = (size(arguments)?, arguments.address());
    Lists { elements, order, ..Lists::default() }.run(handle.stream, "number", elements)
}

/// Places of elements in the order of their lines, and where lines begin.
struct Sorted {
    order: Scratch,
    lines: Scratch,
}

impl Sorted {
    /// Elements by `list`, which has `count` different lines; those of a line by `second`, or as they come.
    fn new(
        stream: usize,
        list: Indices,
        second: Indices,
        (count, elements, base): (i64, i64, i64),
    ) -> Result<Sorted, Problem> {
        let narrow = |count: i64| Scratch::new(4 * (count as usize + 1));
        let (order, lines, counts) = (narrow(elements)?, narrow(count)?, narrow(count)?);
        clear(stream, counts.address(), 4 * (count as usize + 1))?;
        let all = Lists { list, count, elements, base, ..Lists::default() };
        Lists { order: counts.address(), ..all }.run(stream, "tally", elements)?;
        let starts = Indices::narrow(lines.address());
        scan(stream, starts, Indices::narrow(counts.address()), count, 0)?;
        // The next place of each line begins as its first.
        let bytes = 4 * (count as usize + 1);
        kernels::copy(stream, Copy3::flat(counts.address(), lines.address(), bytes))?;
        Lists { order: order.address(), to: counts.address(), ..all }.run(stream, "place", elements)?;
        let sort = Lists { lines: starts, list: second, count, order: order.address(), ..Lists::default() };
        sort.run(stream, "sort", count)?;
        Ok(Sorted { order, lines })
    }
}

/// Moves elements of a number of bytes into a new order.
fn reorder(
    stream: usize,
    order: &Scratch,
    from: usize,
    to: usize,
    (elements, bytes): (i64, usize),
) -> Result<(), Problem> {
    let lists = Lists { order: order.address(), from, to, elements, ..Lists::default() };
    let words = bytes as i64 / 4;
    Lists { words, ..lists }.run(stream, "reorder", elements * words)
}

/// Moves indices into a new order where they are.
fn reorder_in_place(stream: usize, order: &Scratch, at: usize, elements: i64) -> Result<(), Problem> {
    let bytes = 4 * elements as usize;
    let copy = Scratch::new(bytes)?;
    reorder(stream, order, at, copy.address(), (elements, 4))?;
    kernels::copy(stream, Copy3::flat(at, copy.address(), bytes))
}

fn sort_lines(arguments: &mut Arguments, by_columns: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, n, elements) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let description = objects::description(arguments)?;
    let (lines, across, given) = (arguments.address(), arguments.address(), arguments.address());
    let (count, base) = (if by_columns { n } else { m }, i64::from(description.base));
    if elements == 0 {
        return Ok(());
    }
    let order = Scratch::new(4 * elements as usize)?;
    Lists { elements, order: order.address(), ..Lists::default() }.run(handle.stream, "number", elements)?;
    let (lines, list) = (Indices::narrow(lines), Indices::narrow(across));
    let sort = Lists { lines, list, count, base, order: order.address(), ..Lists::default() };
    sort.run(handle.stream, "sort", count)?;
    reorder_in_place(handle.stream, &order, across, elements)?;
    if given == 0 { Ok(()) } else { reorder_in_place(handle.stream, &order, given, elements) }
}

fn sort_list(arguments: &mut Arguments, by_columns: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, n, elements) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let [rows, columns, given] = [(); 3].map(|()| arguments.address());
    if elements == 0 {
        return Ok(());
    }
    let (first, second, count) = if by_columns { (columns, rows, n) } else { (rows, columns, m) };
    // Indices from 1 on have one line more.
    let counts = (count + 1, elements, 0);
    let sorted = Sorted::new(handle.stream, Indices::narrow(first), Indices::narrow(second), counts)?;
    let places = [rows, columns, given];
    places
        .into_iter()
        .filter(|at| *at != 0)
        .try_for_each(|at| reorder_in_place(handle.stream, &sorted.order, at, elements))
}

/// Rows to columns; both interfaces differ in the order of the results and in where the type is.
fn transpose(arguments: &mut Arguments, named: Option<Type>) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, n, elements) = (size(arguments)?, size(arguments)?, size(arguments)?);
    let [values, lines, across, to_values, first, second] = [(); 6].map(|()| arguments.address());
    let (to_across, to_lines, of) = match named {
        Some(of) => (first, second, of),
        None => (second, first, super::elements::element(arguments.int())?),
    };
    let has_values = arguments.int() == 1;
    let base = base(arguments.int())?;
    let stream = handle.stream;
    let rows = Scratch::new(4 * elements as usize)?;
    expand(stream, Indices::narrow(lines), Indices::narrow(rows.address()), m, base)?;
    let sorted = Sorted::new(stream, Indices::narrow(across), Indices::NONE, (n, elements, base))?;
    // The kernels count from 0.
    let shift = Lists {
        lines: Indices::narrow(to_lines),
        list: Indices::narrow(sorted.lines.address()),
        count: n + 1,
        base,
        ..Lists::default()
    };
    shift.run(stream, "shift", n + 1)?;
    reorder(stream, &sorted.order, rows.address(), to_across, (elements, 4))?;
    match has_values {
        true => reorder(stream, &sorted.order, values, to_values, (elements, of.bytes())),
        false => Ok(()),
    }
}

/// `y = beta y`.
pub(super) fn scale(stream: usize, at: usize, count: i64, beta: Factor, of: Type) -> Result<(), Problem> {
    let none = Sparse {
        format: Format::List,
        lines: Indices::NONE,
        across: Indices::NONE,
        values: 0,
        count: 0,
        elements: count,
        base: 0,
    };
    let mut bytes = Vec::with_capacity(192);
    none.push(&mut bytes);
    let vector = Dense::new(at, count, false);
    vector.push(&mut bytes);
    vector.push(&mut bytes);
    beta.push(&mut bytes);
    beta.push(&mut bytes);
    words(&mut bytes, &[0]);
    each(stream, &format!("scale_{}", of.word()), count, 1, bytes)
}

fn change(a: &Sparse, b: Dense, across: i64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(96);
    a.push(&mut bytes);
    b.push(&mut bytes);
    words(&mut bytes, &[across]);
    bytes
}

/// A dense matrix with the elements of a sparse one.
pub(super) fn to_dense(
    stream: usize,
    a: &Sparse,
    by_columns: bool,
    (b, rows, columns): (Dense, i64, i64),
    of: Type,
) -> Result<(), Problem> {
    let bytes = of.bytes();
    let (inner, outer) = if b.row == 1 { (rows, columns) } else { (columns, rows) };
    let pitch = b.row.max(b.column) as usize * bytes;
    let to = Place { address: b.at, pitch, slice: 0 };
    let width = inner as usize * bytes;
    if width > 0 && outer > 0 {
        let fill = Fill { to, pattern: 0, size: 1, width, height: outer as usize, depth: 1 };
        perform(stream, Work::Fill(fill))?;
    }
    let b = if by_columns { b.transposed() } else { b };
    let (kernel, items) = match a.format {
        Format::Lines => ("to_dense", a.count),
        Format::List => ("list_to_dense", a.elements),
    };
    each(stream, &format!("{kernel}_{}", of.word()), items, 1, change(a, b, 0))
}

/// Beginnings of the lines of a dense matrix, to those of `a`; returns the number of elements.
pub(super) fn count_dense(
    stream: usize,
    a: &Sparse,
    b: Dense,
    across: i64,
    of: Type,
) -> Result<i64, Problem> {
    let counts = Scratch::new(8 * (a.count as usize + 1))?;
    let list = Indices { at: counts.address(), is_wide: true };
    let counted = Sparse { lines: list, ..*a };
    each(stream, &format!("count_{}", of.word()), a.count, 1, change(&counted, b, across))?;
    scan(stream, a.lines, list, a.count, a.base)?;
    let last = a.lines.at + a.count as usize * a.lines.bytes();
    Ok(index(last, a.lines.is_wide)? - a.base)
}

/// An index in memory of the GPU.
pub(super) fn index(at: usize, is_wide: bool) -> Result<i64, Problem> {
    let bytes = lock().allocations.emulated.read(at as u64, if is_wide { 8 } else { 4 });
    let bytes = bytes.ok_or(Problem::Pointer)?;
    Ok(match <[u8; 8]>::try_from(&bytes[..]) {
        Ok(wide) => i64::from_le_bytes(wide),
        Err(_) => i64::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
    })
}

/// The elements of a dense matrix that are not zero, whose lines begin where `a` says.
pub(super) fn of_dense(stream: usize, a: &Sparse, b: Dense, across: i64, of: Type) -> Result<(), Problem> {
    each(stream, &format!("of_dense_{}", of.word()), a.count, 1, change(a, b, across))
}

fn narrow(lines: usize, across: usize, values: usize, count: i64, base: i32) -> Sparse {
    Sparse {
        format: Format::Lines,
        lines: Indices::narrow(lines),
        across: Indices::narrow(across),
        values,
        count,
        elements: 0,
        base: i64::from(base),
    }
}

fn legacy_to_dense(arguments: &mut Arguments, of: Type, by_columns: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, n) = (size(arguments)?, size(arguments)?);
    let description = objects::description(arguments)?;
    let [values, first, second] = [(); 3].map(|()| arguments.address());
    let (lines, across) = if by_columns { (second, first) } else { (first, second) };
    let (at, leading) = (arguments.address(), size(arguments)?);
    if leading < m.max(1) {
        return Err(Problem::Size);
    }
    let a = narrow(lines, across, values, if by_columns { n } else { m }, description.base);
    to_dense(handle.stream, &a, by_columns, (Dense::new(at, leading, false), m, n), of)
}

fn legacy_of_dense(arguments: &mut Arguments, of: Type, by_columns: bool) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let (m, n) = (size(arguments)?, size(arguments)?);
    let description = objects::description(arguments)?;
    let (at, leading, _counts) = (arguments.address(), size(arguments)?, arguments.address());
    let [values, first, second] = [(); 3].map(|()| arguments.address());
    let (lines, across) = if by_columns { (second, first) } else { (first, second) };
    let (count, width) = if by_columns { (n, m) } else { (m, n) };
    let a = narrow(lines, across, values, count, description.base);
    let dense = Dense::new(at, leading, by_columns);
    count_dense(handle.stream, &a, dense, width, of)?;
    of_dense(handle.stream, &a, dense, width, of)
}

/// Elements of each row or column, and of all.
fn legacy_count(arguments: &mut Arguments, of: Type) -> Result<(), Problem> {
    let handle = Handle::take(arguments)?;
    let by_columns = match arguments.int() {
        0 => false,
        1 => true,
        _ => return Err(Problem::Value),
    };
    let (m, n) = (size(arguments)?, size(arguments)?);
    objects::description(arguments)?;
    let (at, leading) = (arguments.address(), size(arguments)?);
    let (counts, total) = (arguments.address(), arguments.address());
    // The elements of a column follow each other.
    let dense = Dense::new(at, leading, by_columns);
    let (count, width) = if by_columns { (n, m) } else { (m, n) };
    let counted = narrow(counts, 0, 0, count, 0);
    each(handle.stream, &format!("count_{}", of.word()), count, 1, change(&counted, dense, width))?;
    let lines = Scratch::new(4 * (count as usize + 1))?;
    let starts = Indices::narrow(lines.address());
    scan(handle.stream, starts, Indices::narrow(counts), count, 0)?;
    let last = lines.address() + 4 * count as usize;
    kernels::copy(handle.stream, Copy3::flat(total, last, 4))
}
