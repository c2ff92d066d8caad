//! A first space file for a kernel's source.

mod script;

use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::Path;
use tune::Value;

use crate::usage;

/// Most macros taken for parameters.
const MOST: usize = 32;

/// A macro of a source that a `-D` option can set.
#[derive(Clone, PartialEq, Debug)]
struct Macro {
    name: String,
    value: Value,
    /// The comment behind it.
    comment: String,
}

/// The text of a first space file. Of a source of HIP or OpenCL the parameters are the macros that it defines only where
/// `-D` has not; of a script the constants of its kernel of Triton, and the compiler's options.
///
/// # Errors
/// If the file cannot be read or has no parameters.
pub fn init(source: &Path) -> Result<String> {
    let name = source.display();
    let text = std::fs::read(source).with_context(|| format!("cannot read `{name}`"))?;
    let text = String::from_utf8_lossy(&text);
    if source.extension().is_some_and(|it| it == "py") {
        return script::init(source, &text);
    }
    let macros = macros(&text);
    if macros.is_empty() {
        return Err(usage(
            format!(
                "`{name}` has no parameters: no number that is defined between `#ifndef NAME` and `#endif`"
            ),
            "write the numbers to search as `#ifndef TILE`, `#define TILE 32`, `#endif`",
        ));
    }
    let file = source.file_name().unwrap_or_default().to_string_lossy();
    let kernels = kernels(&text);
    Ok(written(&file, &macros, &kernels))
}

fn written(file: &str, macros: &[Macro], kernels: &[String]) -> String {
    let mut out = String::from(
        "# Runs with: rockhound tune tune.toml\n# GPU to emulate; on a machine with a GPU, `program` and `command` run there.\ngpu = \"mi300x\"\n",
    );
    out.push_str(
        "# Expressions of Python that every valid configuration meets.\nconstraints = []\n\n[parameters]\n",
    );
    for it in macros {
        let values: Vec<String> = around(&it.value).iter().map(toml).collect();
        let comment = if it.comment.is_empty() { String::new() } else { format!("  # {}", it.comment) };
        let _ = writeln!(out, "{} = [{}]{comment}", it.name, values.join(", "));
    }
    out.push_str("\n# The configuration in use, which a winner has to beat.\n[start]\n");
    for it in macros {
        let _ = writeln!(out, "{} = {}", it.name, toml(&it.value));
    }
    let code = "{out}/kernel.hsaco";
    let _ = write!(
        out,
        "\n# `{{defines}}` is -DNAME=VALUE of all parameters, `{{out}}` a folder for each configuration.\n[build]\ncommand = \"{{clang}} -x hip --cuda-device-only --offload-arch={{target}} -nogpulib -nogpuinc -O3 --no-gpu-bundle-output {{defines}} {} -o {code}\"\ncode = \"{code}\"\n",
        view::shell_word(file)
    );
    let kernel = kernels.first().map_or_else(String::new, |it| format!(" (kernel `{it}`)"));
    let _ = write!(
        out,
        "\n# One of:\n#   launch = \"LAUNCH.toml\"      a launch file{kernel} on the emulated GPU; `rockhound launch-template` writes one. In it\n#                               stand {{NAME}} and expressions such as {{N // TILE}}, and code = \"{code}\"\n#   program = \"./bench\"         a program whose kernels are timed, on the GPU or emulated\n#   command = \"./bench {{TILE}}\"  a command that prints its time, with time = \"([0-9.]+) ms\" and unit = \"ms\"\n[run]\nlaunch = \"LAUNCH.toml\"\n\n[check]\ntolerance = 1e-5\n\n[limits]\nseconds = 300\nmemory_mib = 16384\n"
    );
    out
}

fn toml(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::Bool(it) => it.to_string(),
        other => other.to_string(),
    }
}

/// Values to try for a value in use: a switch's two, powers of two around a power of two, else neighbours.
fn around(value: &Value) -> Vec<Value> {
    let Value::Int(it) = *value else { return vec![value.clone()] };
    let all: Vec<i64> = match it {
        0 | 1 => vec![0, 1],
        it if it > 1 && it.count_ones() == 1 => {
            [it / 4, it / 2, it, it * 2, it * 4].into_iter().filter(|it| *it > 0).collect()
        }
        it if it > 0 => [it / 2, it, it * 2].into_iter().filter(|it| *it > 0).collect(),
        it => vec![it],
    };
    all.into_iter().map(Value::Int).collect()
}

/// Numbers defined right behind `#ifndef` of the same name.
fn macros(text: &str) -> Vec<Macro> {
    let directive = |line: &str, word: &str| -> Option<String> {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(word)?;
        rest.starts_with([' ', '\t']).then(|| rest.trim().to_owned())
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<Macro> = Vec::new();
    for pair in lines.windows(2) {
        let (Some(name), Some(definition)) = (directive(pair[0], "ifndef"), directive(pair[1], "define"))
        else {
            continue;
        };
        let Some(rest) = definition.strip_prefix(&name).filter(|it| it.starts_with([' ', '\t'])) else {
            continue;
        };
        let (value, comment) = match rest.split_once("//") {
            Some((value, comment)) => (value, comment.trim()),
            None => (rest, ""),
        };
        let value = Value::parse(value.trim().trim_matches(['(', ')']));
        let is_known = out.iter().any(|it| it.name == name);
        if !matches!(value, Value::Text(_)) && !is_known && out.len() < MOST {
            out.push(Macro { name, value, comment: comment.to_owned() });
        }
    }
    out
}

/// Names of functions behind `__global__`.
fn kernels(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for at in text.match_indices("global").map(|(at, _)| at) {
        let Some(end) = text[at..].find('(').map(|it| at + it) else { continue };
        // Attributes in between have parentheses of their own.
        let after = text[at..].find("void").map(|it| &text[at + it + 4..]);
        let name = after.and_then(|it| it.split('(').next()).unwrap_or(&text[at..end]).trim();
        if !name.is_empty() && name.chars().all(|it| it.is_alphanumeric() || it == '_') {
            out.push(name.to_owned());
        }
    }
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::super::spec::Spec;
    use super::*;

    const SOURCE: &str = "#ifndef TILE\n#define TILE 32 // columns\n#endif\n#ifndef SWAP\n# define SWAP 0\n#endif\n#ifndef GUARD_H\n#define GUARD_H\n#endif\n#ifndef T\n#define T float\n#endif\n#define N 4\nextern \"C\" __global__ void copy(const float *a) {}\n";

    #[test]
    fn macros_become_parameters() {
        let found: Vec<_> = macros(SOURCE).into_iter().map(|it| (it.name, it.value)).collect();
        assert_eq!(found, [("TILE".to_owned(), Value::Int(32)), ("SWAP".to_owned(), Value::Int(0))]);
        assert_eq!(kernels(SOURCE), ["copy"]);
    }

    #[test]
    fn what_is_written_is_read() {
        let text = written("copy.hip", &macros(SOURCE), &kernels(SOURCE));
        let spec = Spec::of(&text, "tune", Path::new(".")).unwrap();
        let names: Vec<&str> = spec.parameters.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["TILE", "SWAP"]);
        assert_eq!(spec.parameters[0].values.len(), 5);
        assert_eq!(spec.start.unwrap().len(), 2);
    }
}
