//! A first space file for a script with a kernel of Triton.

use super::{around, toml};
use crate::usage;
use anyhow::Result;
use std::fmt::Write as _;
use std::path::Path;
use tune::Value;

/// Options of Triton's compiler for AMD GPUs with values to try, and those with which programs start that name none.
const OPTIONS: [(&str, &str, i64); 5] = [
    ("num_warps", "[1, 2, 4, 8]", 4),
    ("num_stages", "[1, 2]", 2),
    ("waves_per_eu", "[0, 2]", 0),
    ("matrix_instr_nonkdim", "[0, 16, 32]", 0),
    ("kpack", "[1, 2]", 1),
];
/// Options that matter to kernels with matrix products only.
const OF_PRODUCTS: [&str; 2] = ["matrix_instr_nonkdim", "kpack"];

/// A kernel as its source shows it.
#[derive(PartialEq, Debug)]
struct Kernel<'a> {
    name: &'a str,
    /// An autotuner is above it.
    autotuned: bool,
    parameters: Vec<Parameter<'a>>,
    body: &'a str,
}

/// A parameter of a kernel.
#[derive(PartialEq, Debug)]
struct Parameter<'a> {
    name: &'a str,
    constant: bool,
    default: Option<&'a str>,
}

/// The text of a first space file for a script.
///
/// # Errors
/// If it has no kernel of Triton that could be searched, or only autotuned ones.
pub(super) fn init(source: &Path, text: &str) -> Result<String> {
    let name = source.display();
    let kernels = kernels(text);
    let live = format!("rockhound tune -- python {}", view::shell_word(&source.to_string_lossy()));
    let Some(kernel) = kernels.iter().find(|it| !it.autotuned && it.parameters.iter().any(|it| it.constant))
    else {
        return Err(if kernels.iter().any(|it| it.autotuned) {
            usage(
                format!("the kernels of `{name}` are autotuned: they are found when they are called"),
                format!("write `{live}`"),
            )
        } else {
            usage(
                format!(
                    "`{name}` has no kernel of Triton with constants: no `@triton.jit` above a function with `tl.constexpr`"
                ),
                format!("a script that calls autotuned kernels of other files is searched with `{live}`"),
            )
        });
    };
    Ok(written(&source.file_name().unwrap_or_default().to_string_lossy(), kernel))
}

fn written(file: &str, kernel: &Kernel<'_>) -> String {
    let mut out = String::from(
        "# Runs with: rockhound tune tune.toml    (needs a Python with Triton, and no GPU)\ngpu = \"mi300x\"\n# Expressions of Python that every valid configuration meets.\nconstraints = []\n\n[parameters]\n",
    );
    let has_product = kernel.body.contains(".dot(") || kernel.body.contains(".dot_scaled(");
    let constants: Vec<(&str, Value)> =
        kernel.parameters.iter().filter(|it| it.constant).map(|it| (it.name, value(it))).collect();
    for (name, value) in &constants {
        let values: Vec<String> = around(value).iter().map(toml).collect();
        let _ = writeln!(out, "{name} = [{}]", values.join(", "));
    }
    let options = || OPTIONS.iter().filter(|it| has_product || !OF_PRODUCTS.contains(&it.0));
    for (name, values, _) in options() {
        let _ = writeln!(out, "{name} = {values}");
    }
    out.push_str("\n# The configuration in use, which a winner has to beat.\n[start]\n");
    for (name, value) in &constants {
        let _ = writeln!(out, "{name} = {}", toml(value));
    }
    for (name, _, start) in options() {
        let _ = writeln!(out, "{name} = {start}");
    }
    let arguments = || kernel.parameters.iter().filter(|it| !it.constant);
    let scalars: Vec<&str> = arguments().filter(|it| !kernel.is_pointer(it)).map(|it| it.name).collect();
    let tile = constants.iter().find(|it| it.0.to_uppercase().contains("BLOCK")).map_or("1", |it| it.0);
    let size = scalars.iter().find(|it| !it.contains("stride")).copied();
    let grid = size.map_or_else(|| "1".to_owned(), |it| format!("-(-{it} // {tile})"));
    let _ = write!(
        out,
        "\n# `grid`: programs in up to three dimensions, as expressions of parameters and values of shapes.\n# `python = \"PATH\"`: another Python than `python3`.\n[run.triton]\nfile = {file:?}\nkernel = {:?}\ngrid = [{grid:?}]  # TO SET\n",
        kernel.name
    );
    for it in arguments().filter(|it| kernel.is_pointer(it)) {
        let shape = size.map_or_else(|| "1024".to_owned(), |it| format!("{it:?}"));
        let _ = write!(
            out,
            "\n[[argument]]\nname = {:?}\ntype = \"f16\"  # TO SET\nshape = [{shape}]  # TO SET: elements in each dimension\ninitial = \"random\"\n",
            it.name
        );
    }
    if !scalars.is_empty() {
        out.push_str("\n# Values of the other arguments; each table is a problem that every configuration runs.\n[[shapes]]\n");
        for name in scalars {
            let value = if name.contains("stride") { 1 } else { 1024 };
            let _ = writeln!(out, "{name} = {value}  # TO SET");
        }
    }
    out.push_str("\n[check]\ntolerance = 1e-2\n\n[limits]\nseconds = 300\nmemory_mib = 16384\n");
    out
}

/// The value of a constant to start with.
fn value(parameter: &Parameter<'_>) -> Value {
    match parameter.default.map(|it| Value::parse(it.trim_matches(['"', '\'']))) {
        Some(it) => it,
        None if parameter.name.to_uppercase().contains("BLOCK") => Value::Int(64),
        None => Value::Int(1),
    }
}

impl Kernel<'_> {
    /// Whether a parameter is used as an address.
    fn is_pointer(&self, parameter: &Parameter<'_>) -> bool {
        let name = parameter.name;
        let calls = ["load(", "store(", "atomic_add(", "make_block_ptr(", "make_tensor_descriptor("];
        let lower = name.to_lowercase();
        let called = |call: &&str| {
            self.body
                .match_indices(*call)
                .any(|(at, _)| is_word(self.body[at + call.len()..].trim_start(), name))
        };
        lower.ends_with("ptr") || lower.ends_with("ptrs") || calls.iter().any(called)
    }
}

/// Whether a text begins with a name, and not with a longer one.
fn is_word(text: &str, name: &str) -> bool {
    text.strip_prefix(name)
        .is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_'))
}

/// The functions below `@triton.jit`.
fn kernels(text: &str) -> Vec<Kernel<'_>> {
    let mut out = Vec::new();
    let (mut is_kernel, mut autotuned, mut place) = (false, false, 0);
    for line in text.split_inclusive('\n') {
        let start = place;
        place += line.len();
        let bare = line.trim();
        if let Some(decorator) = bare.strip_prefix('@') {
            let name = decorator.split('(').next().unwrap_or_default().trim();
            is_kernel |= name == "jit" || name == "triton.jit";
            autotuned |= name.ends_with("autotune");
        } else if let Some(rest) = bare.strip_prefix("def ") {
            let name = rest.split('(').next().unwrap_or_default().trim();
            let open = text[start..].find('(').map(|it| start + it + 1);
            let end = open.and_then(|open| Some((open, open + closing(&text[open..])?)));
            if let Some((open, end)) = end.filter(|_| is_kernel) {
                let body = &text[end..];
                let body = &body[..body.find("\n@").or_else(|| body.find("\ndef ")).unwrap_or(body.len())];
                out.push(Kernel { name, autotuned, parameters: parameters(&text[open..end]), body });
            }
            (is_kernel, autotuned) = (false, false);
        }
    }
    out
}

/// The place of the parenthesis that closes one before the text; comments may hold any.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut comment) = (0u32, false);
    for (at, it) in text.char_indices() {
        match it {
            '\n' => comment = false,
            _ if comment => {}
            '#' => comment = true,
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ')' => return Some(at),
            _ => {}
        }
    }
    None
}

fn parameters(text: &str) -> Vec<Parameter<'_>> {
    let lines = text.lines().map(|it| it.split('#').next().unwrap_or_default());
    lines.flat_map(|it| it.split(',')).filter_map(parameter).collect()
}

fn parameter(text: &str) -> Option<Parameter<'_>> {
    let (rest, default) = match text.split_once('=') {
        Some((rest, default)) => (rest, Some(default.trim())),
        None => (text, None),
    };
    let (name, kind) = rest.split_once(':').unwrap_or((rest, ""));
    let name = name.trim();
    let is_name = name.chars().all(|it| it.is_alphanumeric() || it == '_') && !name.is_empty();
    is_name.then(|| Parameter { name, constant: kind.contains("constexpr"), default })
}

#[cfg(test)]
mod tests {
    use super::super::super::spec::Spec;
    use super::*;

    const SCRIPT: &str = "import triton\n\n@triton.jit\ndef helper(x):\n    return x\n\n@triton.jit\ndef add(\n    x_ptr,  # input (a)\n    y,\n    n, stride_x,\n    BLOCK: tl.constexpr, FAST: tl.constexpr = True,\n):\n    at = tl.arange(0, BLOCK)\n    tl.store(y + at, tl.load(x_ptr + at))\n\n@triton.autotune(configs=[], key=[])\n@triton.jit\ndef tuned(x, B: tl.constexpr):\n    pass\n";

    #[test]
    fn kernels_are_found() {
        let found = kernels(SCRIPT);
        let names: Vec<_> = found.iter().map(|it| (it.name, it.autotuned, it.parameters.len())).collect();
        assert_eq!(names, [("helper", false, 1), ("add", false, 6), ("tuned", true, 2)]);
        let add = &found[1];
        let pointers: Vec<_> =
            add.parameters.iter().filter(|it| add.is_pointer(it)).map(|it| it.name).collect();
        assert_eq!(pointers, ["x_ptr", "y"]);
        assert_eq!(add.parameters[5], Parameter { name: "FAST", constant: true, default: Some("True") });
    }

    #[test]
    fn what_is_written_is_read() {
        let text = init(Path::new("k.py"), SCRIPT).unwrap();
        let spec = Spec::of(&text, "tune", Path::new(".")).unwrap();
        let names: Vec<&str> = spec.parameters.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["BLOCK", "FAST", "num_warps", "num_stages", "waves_per_eu"]);
        assert_eq!(spec.shapes[0].name, "n=1024 stride_x=1");
        let autotuned = &SCRIPT[SCRIPT.find("@triton.autotune").unwrap()..];
        for (script, said) in [("x = 1\n", "no kernel of Triton"), (autotuned, "are autotuned")] {
            let error = init(Path::new("k.py"), script).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{error:#}");
        }
    }
}
