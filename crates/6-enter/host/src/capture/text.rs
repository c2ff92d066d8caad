//! Captured launches as the text of a launch file.

use super::VERSION;
use buffers::Element;
use std::fmt::Write as _;

/// Code, sizes and conditions of a launch.
#[derive(Debug)]
pub(super) struct Sizes {
    /// The first line.
    pub(super) title: String,
    pub(super) code: String,
    pub(super) kernel: String,
    pub(super) gpu: Option<String>,
    pub(super) grid: [u32; 3],
    pub(super) workgroup: [u32; 3],
    pub(super) dynamic_lds: u32,
    pub(super) cooperative: bool,
    pub(super) code_address: Option<u64>,
}

/// Where a launch comes from.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) program: Vec<String>,
    /// GPU that ran it.
    pub(super) on: String,
    /// A replay gives the same bits.
    pub(super) is_exact: bool,
    pub(super) dispatch: u64,
    pub(super) launch: u64,
    pub(super) environment: Vec<(String, String)>,
    pub(super) not_captured: Vec<String>,
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    /// A buffer, if a part of memory begins there, or a pointer into one; the type of its elements, if it is known.
    Pointer { name: String, address: u64, element: Option<Element> },
    /// A value, with its type, and the type in the source.
    Bytes { name: String, bytes: Vec<u8>, element: Option<Element>, kind: String },
}

/// Memory with its files.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) place: Place,
    /// Type of its elements by their looks.
    pub(super) element: Element,
    pub(super) bytes: u64,
    pub(super) file: String,
    /// File with what the launch left, if that is another.
    pub(super) expected: Option<String>,
}

/// Where memory is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Place {
    Address(u64),
    Symbol(String),
}

impl Value {
    fn name(&mut self) -> &mut String {
        match self {
            Value::Pointer { name, .. } | Value::Bytes { name, .. } => name,
        }
    }
}

/// Makes names distinct: of arguments, and of parts of memory at which no argument points.
pub(super) fn name_values(values: &mut [Value], parts: &mut [Part]) {
    for at in 1..values.len() {
        let (before, rest) = values.split_at_mut(at);
        let name = rest[0].name();
        let taken = |name: &str| before.iter_mut().any(|it| it.name() == name);
        distinct(name, taken);
    }
    let begins = |values: &[Value], part: &Part| {
        values
            .iter()
            .any(|it| matches!(it, Value::Pointer { address, .. } if part.place == Place::Address(*address)))
    };
    for part in parts {
        if !begins(values, part) {
            let taken = |name: &str| values.iter_mut().any(|it| it.name() == name);
            distinct(&mut part.name, taken);
        }
    }
}

/// Appends underscores until a name is not taken.
fn distinct(name: &mut String, mut taken: impl FnMut(&str) -> bool) {
    while taken(name) {
        name.push('_');
    }
}

/// The launch file.
pub(super) fn launch_file(
    sizes: &Sizes,
    origin: Option<&Origin>,
    values: &[Value],
    parts: &[Part],
) -> String {
    let mut text = String::new();
    head(&mut text, sizes);
    let is_exact = origin.is_none_or(|it| it.is_exact);
    let memory = |out: &mut String, table: &str, name: &str, part: (&Part, Option<Element>)| {
        memory(out, (table, name), part, is_exact);
    };
    let mut rest: Vec<&Part> = parts.iter().collect();
    let mut arguments = String::new();
    for value in values {
        match value {
            Value::Pointer { name, address, element } => {
                let at = rest.iter().position(|it| it.place == Place::Address(*address));
                match at.map(|at| rest.remove(at)) {
                    Some(part) => memory(&mut arguments, "argument", name, (part, *element)),
                    None => {
                        let _ =
                            write!(arguments, "\n[[argument]]\nname = {}\ntype = \"u64\"\n", quoted(name));
                        let _ = writeln!(arguments, "address = {address:#x}");
                    }
                }
            }
            Value::Bytes { name, bytes, element: Some(element), .. } if number(*element, bytes).is_some() => {
                let number = number(*element, bytes).unwrap_or_default();
                let _ = write!(arguments, "\n[[argument]]\nname = {}\n", quoted(name));
                let _ = writeln!(arguments, "type = \"{}\"\nvalue = {number}", element.name());
            }
            Value::Bytes { name, bytes, kind, .. } => {
                let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
                let kind = if kind.is_empty() { String::new() } else { format!("  # {}", one_line(kind)) };
                let _ = write!(arguments, "\n[[argument]]\nname = {}\ntype = \"u8\"\n", quoted(name));
                let _ = writeln!(arguments, "bytes = \"{digits}\"{kind}");
            }
        }
    }
    for part in &rest {
        memory(&mut arguments, "memory", &part.name, (part, None));
    }
    if let Some(origin) = origin {
        captured(&mut text, origin, (values.len(), rest.len()));
    }
    text + &arguments
}

fn head(text: &mut String, sizes: &Sizes) {
    let Sizes { title, code, kernel, gpu, grid, workgroup, dynamic_lds, cooperative, code_address } = sizes;
    let _ = writeln!(text, "# {}", one_line(title));
    let _ = writeln!(text, "code = {}\nkernel = {}", quoted(code), quoted(kernel));
    if let Some(gpu) = gpu {
        let _ = writeln!(text, "gpu = {}", quoted(gpu));
    }
    let _ = writeln!(text, "grid = {grid:?}\nworkgroup = {workgroup:?}\ndynamic_lds = {dynamic_lds}");
    if *cooperative {
        let _ = writeln!(text, "cooperative = true");
    }
    if let Some(address) = code_address {
        let _ = writeln!(text, "code_address = {address:#x}");
    }
}

fn captured(text: &mut String, origin: &Origin, (arguments, memory): (usize, usize)) {
    let list = |all: &[String]| all.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    let Origin { program, on, dispatch, launch, environment, not_captured, .. } = origin;
    let by = concat!("rockhound ", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "\n[captured]\nversion = {VERSION}\nby = \"{by}\"");
    let _ = writeln!(text, "program = [{}]\non = {}", list(program), quoted(on));
    let _ = writeln!(text, "dispatch = {dispatch}\nlaunch = {launch}");
    let _ = writeln!(text, "arguments = {arguments}\nmemory = {memory}");
    let _ = writeln!(text, "not_captured = [{}]", list(not_captured));
    if !environment.is_empty() {
        let _ = writeln!(text, "\n[captured.environment]");
    }
    for (name, value) in environment {
        let _ = writeln!(text, "{name} = {}", quoted(value));
    }
}

/// A value that is the same again when it is read as a number.
fn number(element: Element, bytes: &[u8]) -> Option<f64> {
    let [number] = element.numbers(bytes)[..] else { return None };
    (element.bytes(std::iter::once(number)) == bytes).then_some(number).filter(|it| it.is_finite())
}

/// Memory with the type of its elements in the source, if that is known.
fn memory(
    text: &mut String,
    (table, name): (&str, &str),
    (part, element): (&Part, Option<Element>),
    is_exact: bool,
) {
    let Part { place, bytes, file, expected, .. } = part;
    let fits = |it: &Element| bytes.is_multiple_of(it.size() as u64);
    let known = element.filter(fits);
    let element = known.unwrap_or(if fits(&part.element) { part.element } else { Element::BYTE });
    let count = bytes / element.size() as u64;
    let _ = write!(text, "\n[[{table}]]\nname = {}\ntype = \"{}\"\n", quoted(name), element.name());
    if known.is_none() {
        let _ = writeln!(text, "guessed = true");
    }
    let _ = match place {
        Place::Address(address) => writeln!(text, "address = {address:#x}"),
        Place::Symbol(symbol) => writeln!(text, "symbol = {}", quoted(symbol)),
    };
    let _ = writeln!(text, "shape = [{count}]\nfile = {}", quoted(file));
    if let Some(expected) = expected {
        let _ = writeln!(text, "expected_file = {}", quoted(expected));
        let tolerance = element.usual_difference();
        if !is_exact && tolerance > 0.0 {
            let _ = writeln!(text, "tolerance = {tolerance:e}");
        }
    }
}

/// A text as a string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
