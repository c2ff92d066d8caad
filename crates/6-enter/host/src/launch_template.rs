//! A launch file for a kernel, to be filled in.
//!
//! Facts of the code object and of Triton's JSON are filled in; the remaining values are examples to change.

mod triton;

use crate::capture::types::element;
use crate::device_code::DeviceCode;
use crate::hip_source::is_source;
use crate::parameters::{Parameter, declared, types_of};
use anyhow::{Context as _, Result};
use buffers::Element;
use codeobj::{Argument, Metadata};
use std::fmt::Write as _;
use std::path::Path;
use triton::{Companion, Named};

/// Elements of a buffer, and work-items, in a template.
const EXAMPLE: u32 = 1_048_576;
/// Work-items of a workgroup in a template.
const WORKGROUP: u32 = 256;

/// The template for a kernel of a file, which need not be named if it is the only one.
pub fn launch_template(file: &Path, target: Option<&str>, kernel: Option<&str>) -> Result<String> {
    let target = target.map(crate::kernels::target).transpose()?.map(|it| it.processor);
    let code = DeviceCode::find(file, target.as_deref())?;
    let kernel = code.kernel(kernel).with_context(|| format!("`{}`", file.display()))?;
    let types = types_of(&kernel.demangled).unwrap_or_default();
    let arguments: Vec<&Argument> = kernel.metadata.given().collect();
    let companion = Companion::beside(file, &kernel.name, arguments.len());
    let source = is_source(file).then(|| std::fs::read_to_string(file).ok()).flatten();
    let declared = source.and_then(|it| declared(&it, &kernel.demangled)).unwrap_or_default();
    let declared = if declared.len() == arguments.len() { declared } else { Vec::new() };
    let mut text = String::new();
    code.notes.iter().for_each(|it| text += &format!("# note: {it}\n"));
    text += &format!(
        "# Runs with: rockhound profile LAUNCH.toml\n# `{{N}}` and `{{(N + 255) // 256 * 256}}` have the values of `--shape N=1000`.\ncode = {:?}\nkernel = {:?}\n# gpu = \"mi300x\"\n",
        file.display().to_string(),
        kernel.name
    );
    match &companion {
        Some(companion) => size_of_programs(&mut text, companion),
        None => size(&mut text, &kernel.metadata),
    }
    text.push_str("# repeat = 1\n");
    for (number, argument) in arguments.into_iter().enumerate() {
        match companion.as_ref().and_then(|companion| companion.arguments.get(number)) {
            Some(Named { name, added: Some(bytes), .. }) => describe_added(&mut text, name, *bytes),
            Some(Named { name, element, pointer, .. }) => {
                let _ = writeln!(text, "\n[[argument]]\nname = \"{name}\"");
                values(&mut text, (*pointer, Access::Unknown), element);
            }
            None => {
                let kind = types.get(number).copied().unwrap_or_default();
                describe(&mut text, (number, declared.get(number)), argument, kind);
            }
        }
    }
    Ok(text)
}

/// An argument by its number and as the source declares it, by its metadata, and by its type in the kernel's name.
fn describe(
    text: &mut String,
    (number, declared): (usize, Option<&Parameter>),
    argument: &Argument,
    demangled: &str,
) {
    let name = first_word([&argument.name, declared.map_or("", |it| &it.name)]);
    let name = if name.is_empty() { format!("argument{number}") } else { name.to_owned() };
    // The name of a kernel of a template has the types that its parameters stand for.
    let source = first_word([&argument.type_name, demangled, declared.map_or("", |it| &it.kind)]);
    let known = element(source).map(Element::name);
    let buffer = argument.kind == "global_buffer" || (source.ends_with('*') && argument.size == 8);
    let _ = write!(text, "\n[[argument]]\nname = \"{name}\"");
    text.push_str(&if source.is_empty() { "\n".to_string() } else { format!("    # {source}\n") });
    let by_size = match argument.size {
        _ if buffer => "f32",
        1 => "i8",
        2 => "i16",
        8 => "i64",
        _ => "i32",
    };
    let access = match (argument.access.as_str(), argument.is_const || source.contains("const")) {
        ("read_only", _) | (_, true) => Access::Reads,
        ("write_only", _) => Access::Writes,
        _ => Access::Unknown,
    };
    values(text, (buffer, access), known.unwrap_or(by_size));
}

/// The first word that is there.
fn first_word<const N: usize>(words: [&str; N]) -> &str {
    words.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}

/// What a kernel does with a buffer, as its code says.
#[derive(Clone, Copy)]
enum Access {
    Reads,
    Writes,
    Unknown,
}

/// Type and example of a value.
fn values(text: &mut String, (buffer, access): (bool, Access), element: &str) {
    let _ = writeln!(text, "type = \"{element}\"");
    if !buffer {
        text.push_str("value = 1\n");
        return;
    }
    let _ = writeln!(text, "shape = [{EXAMPLE}]");
    text.push_str(match access {
        Access::Reads => {
            "initial = \"random\"    # with `seed` and `range`; zeros, ones, arange, or `file = …`\n"
        }
        Access::Writes => "# an output: no `initial`, so that elements that are not written are found\n",
        Access::Unknown => "# initial = \"random\"    # if the kernel reads it; an output has no `initial`\n",
    });
    text.push_str("# expected = \"a + 2 * b\"    # of the arguments at the start, or `expected_file = …`\n");
    text.push_str("# tolerance = 1e-6\n");
}

/// Grid and workgroup of a kernel.
fn size(text: &mut String, metadata: &Metadata) {
    let _ = writeln!(text, "grid = [{EXAMPLE}]        # work-items");
    match metadata.required_workgroup {
        Some([x, y, z]) => {
            let _ = writeln!(text, "workgroup = [{x}, {y}, {z}]");
        }
        None => {
            let most = metadata.max_workgroup.unwrap_or(WORKGROUP).min(WORKGROUP);
            let _ = writeln!(text, "workgroup = [{most}]");
        }
    }
    text.push_str("# dynamic_lds = 0\n");
}

/// Grid, workgroup and LDS of a kernel of Triton's.
fn size_of_programs(text: &mut String, companion: &Companion) {
    let Companion { path, warps, lanes, shared, .. } = companion;
    let workgroup = warps.saturating_mul(*lanes);
    let _ = writeln!(text, "# Triton: {warps} warps of {lanes} lanes, from {}", path.display());
    let _ = writeln!(
        text,
        "grid = [{workgroup}]        # {workgroup} for each program, then programs in y and z"
    );
    let _ = writeln!(text, "workgroup = [{workgroup}]\ndynamic_lds = {shared}");
}

/// A pointer that Triton adds.
fn describe_added(text: &mut String, name: &str, bytes: u64) {
    let _ = writeln!(text, "\n[[argument]]\nname = \"{name}\"    # added by Triton");
    if bytes == 0 {
        text.push_str("type = \"u64\"\nvalue = 0    # the kernel asks for none\n");
    } else {
        let _ = writeln!(text, "type = \"u8\"\nshape = [{bytes}]    # for each program");
    }
}
