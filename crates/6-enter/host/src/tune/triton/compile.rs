//! The compiler of Triton, and launch files of what it makes.

use super::super::evaluation::{Evaluation, Failure};
use super::TritonRun;
use super::term::Names;
use crate::process::{self, Bounds};
use anyhow::{Context, Result, anyhow, bail};
use arch::Model;
use codeobj::CodeObject;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tune::Parameter;

/// Compiles with the Triton of a Python.
const SCRIPT: &str = include_str!("../../../python/triton_compile.py");

/// Types of values, as Triton names them, and as launch files do.
const VALUES: [(&str, &str); 12] = [
    ("i1", "u8"),
    ("u1", "u8"),
    ("i8", "i8"),
    ("u8", "u8"),
    ("i16", "i16"),
    ("u16", "u16"),
    ("i32", "i32"),
    ("u32", "u32"),
    ("i64", "i64"),
    ("u64", "u64"),
    ("fp32", "f32"),
    ("fp64", "f64"),
];

/// Where and for what is compiled.
pub(in super::super) struct Site<'a> {
    /// The GPU.
    pub(in super::super) model: &'a Model,
    /// Folder for all files.
    pub(in super::super) out: &'a Path,
    /// Limits of the compiler.
    pub(in super::super) bounds: &'a Bounds,
}

/// A kernel as the script compiled it.
#[derive(Debug, Deserialize)]
struct Compiled {
    name: String,
    /// LDS of a workgroup, bytes.
    shared: u32,
    /// Work-items of a workgroup.
    threads: u32,
    /// Names and types of what a launch passes: values that the compiler specialised for are not among them.
    arguments: Vec<(String, String)>,
    /// Values of arguments, those that functions of the script gave included.
    values: Map<String, Json>,
    /// Scratch memory of each program, bytes: the kernel's, and the profiler's.
    scratch: [u64; 2],
}

/// The compiled kernel of a shape.
pub(in super::super) fn code(out: &Path, shape: usize) -> PathBuf {
    out.join(format!("kernel{shape}.hsaco"))
}

/// The launch file of a shape.
pub(in super::super) fn launch_file(out: &Path, shape: usize) -> PathBuf {
    out.join(format!("triton{shape}.toml"))
}

/// Refuses what no configuration can run: a Python without Triton, no such kernel, arguments without a value,
/// expressions of unknown names.
///
/// # Errors
/// The refusal.
pub(in super::super) fn check(
    run: &TritonRun,
    parameters: &[Parameter],
    shapes: &[&str],
    site: &Site<'_>,
) -> Result<()> {
    let parameters: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
    let names: Vec<&str> = parameters.iter().chain(shapes).copied().collect();
    let mut used = BTreeSet::new();
    for term in run.terms() {
        used.extend(term.names(&names)?);
    }
    let needed: Vec<&str> = parameters.into_iter().filter(|it| !used.contains(*it)).collect();
    let request = json!({ "needed": needed, "values": names });
    compiled(run, request, site)
        .map(|_| ())
        .map_err(|it| anyhow!(it.failed.map_or_else(String::new, |it| it.why)))
}

/// Compiles a configuration for all shapes, and writes the launch files.
///
/// # Errors
/// The failure, as the result of the configuration.
pub(in super::super) fn built(
    run: &TritonRun,
    problems: &[Vec<(&str, &tune::Value)>],
    site: &Site<'_>,
) -> Result<(), Evaluation> {
    let refused = |error: anyhow::Error| Evaluation::failed(Failure::Build, format!("{error:#}"));
    let builds = (0..).zip(problems).map(|(shape, names)| build(run, names, &code(site.out, shape)));
    let builds = builds.collect::<Result<Vec<_>>>().map_err(refused)?;
    let known: Vec<&str> = problems.first().into_iter().flatten().map(|it| it.0).collect();
    let request = json!({ "needed": [], "values": known, "builds": builds });
    let compiled = compiled(run, request, site)?;
    if compiled.len() != problems.len() {
        return Err(refused(anyhow!("the compiler made {} of {} kernels", compiled.len(), problems.len())));
    }
    let lds = site.model.target().lds.bytes_per_workgroup.value;
    for (shape, (compiled, names)) in compiled.iter().zip(problems).enumerate() {
        if compiled.shared > lds {
            let why = format!("fits in no compute unit: LDS needs {} of {lds} bytes", compiled.shared);
            return Err(Evaluation::failed(Failure::Rejected, why));
        }
        let path = launch_file(site.out, shape);
        let text = launch(run, compiled, names, &code(site.out, shape)).map_err(refused)?.to_string();
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write `{}`", path.display()))
            .map_err(refused)?;
    }
    Ok(())
}

/// The request to the script for one shape.
fn build(run: &TritonRun, names: &Names<'_>, code: &Path) -> Result<Json> {
    let mut values = Map::new();
    for (name, value) in names {
        values.insert((*name).to_owned(), super::term::json_of(&(*value).into())?);
    }
    for (name, term) in &run.values {
        values.insert(name.clone(), term.json(names).with_context(|| format!("argument `{name}`"))?);
    }
    let mut buffers = Map::new();
    for buffer in &run.buffers {
        let size = buffer.element.size() as u64;
        let bytes = buffer.sizes(names)?.iter().try_fold(size, |all, it| all.checked_mul(*it));
        let bytes = bytes.with_context(|| format!("argument `{}` is too large", buffer.name))?;
        buffers.insert(buffer.name.clone(), json!({ "type": buffer.dtype, "bytes": bytes }));
    }
    Ok(json!({ "code": code, "values": values, "buffers": buffers }))
}

/// Runs the script.
fn compiled(run: &TritonRun, mut request: Json, site: &Site<'_>) -> Result<Vec<Compiled>, Evaluation> {
    let path = |name: &str| site.out.join(name);
    let (script, asked, answer) = (path("triton_compile.py"), path("request.json"), path("compiled.json"));
    let given = run.buffers.iter().map(|it| &it.name).chain(run.values.iter().map(|it| &it.0));
    request["arguments"] = given.cloned().collect::<Vec<_>>().into();
    request["file"] = run.file.to_string_lossy().into();
    request["kernel"] = run.kernel.as_str().into();
    request["arch"] = site.model.target().name.into();
    request["answer"] = answer.to_string_lossy().into();
    let failed = |error: anyhow::Error| Evaluation::failed(Failure::Build, format!("{error:#}"));
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|it| failed(anyhow!("cannot write `{}`: {it}", path.display())))
    };
    write(&script, SCRIPT)?;
    write(&asked, &request.to_string())?;
    let words = [run.python.as_os_str(), script.as_os_str(), asked.as_os_str()];
    let folder = run.file.parent().unwrap_or(Path::new("."));
    let ended = process::program(&words, folder, site.bounds);
    if !ended.is_well() {
        let kind = Failure::of(&ended).filter(|it| *it != Failure::Run).unwrap_or(Failure::Build);
        let last = ended.errors.lines().rev().map(str::trim).find(|it| !it.is_empty());
        // The script's own refusals are whole sentences.
        let why = last.filter(|_| ended.code == Some(1)).map_or_else(|| ended.why(), str::to_owned);
        return Err(Evaluation::failed(kind, why));
    }
    let text = std::fs::read(&answer).map_err(|it| failed(anyhow!("the compiler left no answer: {it}")))?;
    serde_json::from_slice(&text).map_err(|it| failed(anyhow!("the compiler's answer: {it}")))
}

/// The launch file of a compiled kernel.
fn launch(run: &TritonRun, compiled: &Compiled, names: &Names<'_>, code: &Path) -> Result<toml::Table> {
    let mut grid = run.grid.iter().map(|it| it.size(names)).collect::<Result<Vec<_>>>().context("`grid`")?;
    let programs = grid.iter().try_fold(1u64, |all, it| all.checked_mul(*it));
    let programs = programs.context("`grid` is too large")?;
    grid[0] = grid[0].checked_mul(u64::from(compiled.threads)).context("`grid` is too large")?;
    let mut arguments: Vec<toml::Value> = Vec::new();
    for (name, kind) in &compiled.arguments {
        let argument = match run.buffers.iter().find(|it| it.name == *name) {
            Some(buffer) => buffer.argument(&buffer.sizes(names)?),
            None => scalar(name, kind, compiled.values.get(name))?,
        };
        arguments.push(argument.into());
    }
    // Kernels of older versions end without them, or with the first.
    let scratch = [("global_scratch", compiled.scratch[0]), ("profile_scratch", compiled.scratch[1])];
    let behind = arguments_of(code, &compiled.name)?.saturating_sub(arguments.len());
    for (name, bytes) in scratch.into_iter().take(behind) {
        let mut argument = toml::Table::new();
        argument.insert("name".to_owned(), name.into());
        if bytes == 0 {
            argument.insert("type".to_owned(), "u64".into());
            argument.insert("value".to_owned(), 0.into());
        } else {
            let all = bytes.checked_mul(programs).and_then(|it| i64::try_from(it).ok());
            argument.insert("type".to_owned(), "u8".into());
            argument.insert("shape".to_owned(), vec![all.context("scratch memory is too large")?].into());
        }
        arguments.push(argument.into());
    }
    let mut file = toml::Table::new();
    file.insert("code".to_owned(), code.to_string_lossy().into_owned().into());
    file.insert("kernel".to_owned(), compiled.name.as_str().into());
    let grid = grid.into_iter().map(i64::try_from).collect::<Result<Vec<_>, _>>()?;
    file.insert("grid".to_owned(), grid.into());
    file.insert("workgroup".to_owned(), vec![i64::from(compiled.threads)].into());
    file.insert("dynamic_lds".to_owned(), i64::from(compiled.shared).into());
    file.insert("argument".to_owned(), arguments.into());
    Ok(file)
}

/// Number of arguments of a kernel in a code object.
fn arguments_of(path: &Path, name: &str) -> Result<usize> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let object = CodeObject::read(&bytes)?;
    let kernel = object.kernels.iter().find(|it| it.name == name);
    let kernel = kernel.with_context(|| format!("`{}` has no kernel `{name}`", path.display()))?;
    Ok(kernel.metadata.given().count())
}

/// An argument with a value, of the type that the compiler gave it.
fn scalar(name: &str, kind: &str, value: Option<&Json>) -> Result<toml::Table> {
    let number = match value {
        Some(Json::Bool(it)) => f64::from(u8::from(*it)),
        Some(it) => it.as_f64().with_context(|| format!("argument `{name}` ({kind}) has the value {it}"))?,
        None => bail!("argument `{name}` ({kind}) has no value that a launch could pass"),
    };
    let element = VALUES.iter().find(|(triton, _)| *triton == kind).map(|it| it.1);
    let element = element.with_context(|| format!("argument `{name}`: no launch file passes a `{kind}`"))?;
    let mut argument = toml::Table::new();
    argument.insert("name".to_owned(), name.into());
    argument.insert("type".to_owned(), element.into());
    argument.insert("value".to_owned(), number.into());
    Ok(argument)
}
