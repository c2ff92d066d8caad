//! TensileLite's logic YAML: the library's mapping from sizes to solutions.
//!
//! The number in the table of sizes is the position in the list of solutions, regardless of the index that a
//! solution states; texts of solutions are kept verbatim, so unknown keys survive.

mod scan;
mod solution;
mod write;

use crate::error::Error;
pub use crate::logic_parts::{Form, Logic, Pair, Size, Solution};
use sorting::Sort;
pub use write::{MergedSize, compose};

use crate::format::Format;
use crate::lines::text;
use crate::logic_parts::numbers;
use crate::model::{Detail, FlawKind, GemmShape, Kind, Row, Said, Shape, Stated, Tunings, Version, time};
use scan::{Section, sections};
use std::borrow::Cow;

/// Kind of library of Tensile's lists, which end before part 12.
const MATCHING: &str = "Matching";

/// Whether a text is a logic file.
pub(crate) fn is_logic(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(400)).unwrap_or_default();
    let start = String::from_utf8_lossy(start);
    start.starts_with("- {MinimumRequiredVersion:")
        || start.starts_with("- MinimumRequiredVersion:")
        || start.starts_with("MinimumRequiredVersion:") && start.contains("ScheduleName:")
}

/// Reads a logic file.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let text = text(bytes)?;
    let form = if text.starts_with("- ") { Form::List } else { Form::Map };
    let sections = sections(text, form)?;
    if let Some(sizes) = sections.get(1).filter(|it| it.text.trim_start().starts_with("ProblemSizes:")) {
        return Err(Error::new(
            sizes.line,
            "solutions of a benchmark step, without a table of sizes: no logic file",
        )
        .hint("name the CSV beside it, or the logic that Tensile makes of both"));
    }
    let mut tunings = Tunings::new(name, Format::Logic, bytes);
    let logic = logic(text, form, &sections, &mut tunings)?;
    rows(&logic, &sections, text, &mut tunings);
    flaws(&logic, &mut tunings);
    tunings.detail = Detail::Logic(Box::new(logic));
    Ok(tunings)
}

/// The section of a list position or map key.
fn find<'s, 'a>(sections: &'s [Section<'a>], at: usize, key: &str) -> Option<&'s Section<'a>> {
    match sections.first() {
        Some(first) if first.key.is_some() => sections.iter().find(|it| it.key == Some(key)),
        _ => sections.get(at),
    }
}

fn need<'s, 'a>(sections: &'s [Section<'a>], at: usize, key: &str) -> Result<&'s Section<'a>, Error> {
    find(sections, at, key).ok_or_else(|| {
        Error::new(0, format!("a logic file without its part {} (`{key}`)", at + 1))
            .hint("a list has 9 parts or more; the file may be cut")
    })
}

fn logic<'a>(
    text: &'a str,
    form: Form,
    sections: &[Section<'a>],
    tunings: &mut Tunings<'a>,
) -> Result<Logic<'a>, Error> {
    let schedule = need(sections, 1, "ScheduleName")?.one_line();
    let architecture = need(sections, 2, "ArchitectureName")?;
    let (target, cu_count) = architecture_of(architecture.one_line(), find(sections, usize::MAX, "CUCount"));
    let version = need(sections, 0, "MinimumRequiredVersion")?;
    let minimum =
        version.one_line().trim_matches(['{', '}']).trim_start_matches("MinimumRequiredVersion:").trim();
    for (key, value, line) in [
        ("MinimumRequiredVersion", minimum, version.line),
        ("architecture", target, architecture.line),
        ("devices", need(sections, 3, "DeviceNames")?.text.trim(), architecture.line + 1),
    ] {
        tunings.versions.push(Version { key: Cow::Borrowed(key), value: Cow::Borrowed(value), line });
    }
    let problem_type = need(sections, 4, "ProblemType")?;
    let mut problem = solution::pairs(problem_type, text, 2)?;
    let list = need(sections, 5, "Solutions")?;
    let (dash, indent) = if form == Form::List { (2, 4) } else { (0, 2) };
    let mut solutions = solution::solutions(list, text, dash, indent)?;
    let maps = solutions.iter_mut().map(|it| (it.line, &mut it.pairs));
    let anchored = solution::resolve([(problem_type.line, &mut problem)].into_iter().chain(maps))?;
    let table = need(sections, 7, "ExactLogic")?;
    let sizes = scan::sizes(table, text)?;
    let library = match form {
        Form::Map => need(sections, 11, "LibraryType")?.one_line(),
        Form::List => {
            need(sections, 8, "RangeLogic")?;
            find(sections, 11, "LibraryType").map_or(MATCHING, Section::one_line)
        }
    };
    Ok(Logic {
        form,
        schedule,
        architecture: target,
        cu_count,
        library,
        problem,
        defaults: find(sections, usize::MAX, "DefaultSolution").map_or("", |it| it.text),
        solutions,
        sizes,
        anchored,
        solution_span: list.span.clone(),
        size_span: table.span.clone(),
    })
}

/// `gfx942`, or `{Architecture: gfx942, CUCount: 80}`, or the two apart.
fn architecture_of<'a>(text: &'a str, apart: Option<&Section<'a>>) -> (&'a str, Option<u32>) {
    let Some(inner) = text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
        return (text, apart.and_then(|it| it.one_line().parse().ok()));
    };
    let value = |key: &str| {
        inner
            .split(',')
            .find_map(|part| part.trim().strip_prefix(key))
            .map(|it| it.trim_start_matches(':').trim())
    };
    (value("Architecture").unwrap_or(text), value("CUCount").and_then(|it| it.parse().ok()))
}

/// Data types are numbers in logic files.
fn type_name(code: &str) -> &str {
    match code {
        "0" => "f32_r",
        "1" => "f64_r",
        "4" => "f16_r",
        "7" => "bf16_r",
        "8" => "i8_r",
        // The numbers of the f8 types differ between releases, so they are shown as they are.
        other => other,
    }
}

fn rows<'a>(logic: &Logic<'a>, sections: &[Section<'a>], text: &'a str, tunings: &mut Tunings<'a>) {
    let transposed =
        |key: &str| logic.problem_value(key).is_some_and(|it| it == "1" || it.eq_ignore_ascii_case("true"));
    let letter = |is: bool| if is { 'T' } else { 'N' };
    let layout = format!("{}{}", letter(transposed("TransposeA")), letter(transposed("TransposeB")));
    let types = logic.problem_value("DataType").map(type_name);
    let spans = find(sections, 7, "ExactLogic").map(|it| scan::size_spans(it, text)).unwrap_or_default();
    for (at, size) in logic.sizes.iter().enumerate() {
        let span = spans.get(at).cloned().unwrap_or(0..0);
        let mut row = Row::new(size.line, span, Kind::Gemm, Cow::Owned(logic.library.trim().to_owned()));
        let shape = shape(&size.numbers);
        row.key = Cow::Owned(numbers(&size.numbers));
        row.shape = shape.map(Shape::Gemm);
        row.layout = Ok(Cow::Owned(layout.clone()));
        row.types = types.map(|it| Cow::Owned(it.to_owned())).ok_or("the problem type names none");
        row.target = Ok(Cow::Borrowed(logic.architecture));
        row.cu_count = logic.cu_count.ok_or("the file is for any number of compute units");
        row.candidate = match logic.solutions.get(size.solution) {
            Some(it) => Ok(Cow::Owned(format!("{} {}", size.solution, it.name()))),
            None => Err("the index points behind the list of solutions"),
        };
        let known = size.efficiency > 0.0 && size.efficiency.is_finite();
        row.stated = Stated::rate(if known {
            Ok(size.efficiency / 1e3)
        } else {
            Err("the efficiency is 0: not stated")
        });
        row.time_us = match (row.flop(), known) {
            (Some(flop), true) => time::check(flop / size.efficiency / 1e3),
            _ => Err("the efficiency is 0: not stated"),
        };
        tunings.rows.push(row);
    }
}

fn shape(numbers: &[u64]) -> Said<GemmShape> {
    let [m, n, batch, k, rest @ ..] = numbers else { return Err("the size has fewer than 4 numbers") };
    // Tensile writes the leading dimensions as ldd, ldc, lda, ldb.
    let leading = match rest {
        [d, c, a, b] => Some([*a, *b, *c, *d]),
        _ => None,
    };
    GemmShape::of_long([*m, *n, *k, *batch], leading)
}

fn flaws(logic: &Logic<'_>, tunings: &mut Tunings<'_>) {
    let count = logic.solutions.len();
    let mut used = vec![false; count];
    for size in &logic.sizes {
        match used.get_mut(size.solution) {
            Some(used) => *used = true,
            None => {
                let text = format!("solution {} of {count}: the index points behind the list", size.solution);
                tunings.bad_row(size.line, FlawKind::BadIndex, text);
            }
        }
        if !matches!(size.numbers.len(), 4 | 8) {
            let text = format!("a size of {} numbers: there are 4 and 8", size.numbers.len());
            tunings.bad_row(size.line, FlawKind::Malformed, text);
        }
    }
    for (at, solution) in logic.solutions.iter().enumerate() {
        if let Some(own) = solution.index.filter(|own| *own != at as u64) {
            let text = format!("solution {at} says `SolutionIndex: {own}`: the position counts");
            tunings.flaw(solution.line, FlawKind::Contradiction, text);
        }
        // Every solution of a file without sizes is used.
        if !logic.sizes.is_empty() && !used[at] {
            tunings.flaw(solution.line, FlawKind::Unused, format!("solution {at} serves no size"));
        }
    }
    if logic.library != logic.library.trim() {
        tunings.flaw(0, FlawKind::Malformed, "a blank after the kind of library");
    }
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
}
