//! Kernels of Triton: a configuration and a shape become a compiled kernel and the launch file that runs it.

mod compile;
mod term;

pub(super) use compile::{Site, built, check, code, launch_file};

use crate::launch_file::{Argument, Element};
use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use term::Term;

/// Types of buffers: a name of launch files, and Triton's.
const TYPES: [(&str, &str); 12] = [
    ("f16", "fp16"),
    ("bf16", "bf16"),
    ("f32", "fp32"),
    ("f64", "fp64"),
    ("i8", "i8"),
    ("i16", "i16"),
    ("i32", "i32"),
    ("i64", "i64"),
    ("u8", "u8"),
    ("u16", "u16"),
    ("u32", "u32"),
    ("u64", "u64"),
];
/// Types of one byte that launch files cannot write as numbers: their buffers hold bytes.
const BYTES: [&str; 4] = ["fp8e4b8", "fp8e5b16", "fp8e4nv", "fp8e5"];

/// `[run.triton]` as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TritonTable {
    file: String,
    kernel: String,
    /// Programs in up to three dimensions.
    grid: Vec<toml::Value>,
    python: Option<String>,
}

/// `[[argument]]` as written: an argument of a kernel of Triton. Launch files have the other keys.
#[derive(Clone, Debug, Deserialize)]
pub struct ArgumentTable {
    name: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    value: Option<toml::Value>,
    shape: Option<Vec<toml::Value>>,
    #[serde(flatten)]
    more: toml::Table,
}

/// A kernel of Triton that each configuration compiles.
#[derive(Clone, PartialEq, Debug)]
pub struct TritonRun {
    /// The script.
    pub file: PathBuf,
    /// Name of the function.
    pub kernel: String,
    /// The Python that has Triton.
    python: PathBuf,
    grid: Vec<Term>,
    buffers: Vec<BufferArgument>,
    /// Arguments with values.
    values: Vec<(String, Term)>,
}

/// A buffer that the kernel has a pointer to.
#[derive(Clone, PartialEq, Debug)]
struct BufferArgument {
    name: String,
    element: Element,
    /// Triton's name of the type.
    dtype: String,
    shape: Vec<Term>,
    /// Other keys of the launch file.
    more: toml::Table,
}

impl TritonRun {
    /// Reads the tables; paths start from `folder`.
    ///
    /// # Errors
    /// If an argument is neither a value nor a buffer, or a key is unknown.
    pub(super) fn of(table: &TritonTable, arguments: &[ArgumentTable], folder: &Path) -> Result<TritonRun> {
        if table.grid.is_empty() || table.grid.len() > 3 {
            bail!("`grid` of `[run.triton]` has one to three numbers of programs");
        }
        let folder = std::path::absolute(folder)?;
        let mut names = BTreeSet::new();
        let (mut buffers, mut values) = (Vec::new(), Vec::new());
        for argument in arguments {
            let name = argument.name.as_str();
            if !names.insert(name) {
                bail!("`[[argument]]` has `{name}` twice");
            }
            match (&argument.value, &argument.shape) {
                (Some(value), None) if argument.kind.is_none() && argument.more.is_empty() => {
                    values.push((name.to_owned(), Term::of(name, value)?));
                }
                (Some(_), None) => {
                    bail!("argument `{name}`: a value has no other keys, because Triton gives it its type")
                }
                (None, Some(shape)) => buffers.push(BufferArgument::of(argument, shape, &folder)?),
                _ => bail!("argument `{name}`: give either `value`, or `shape` and `type` (a buffer)"),
            }
        }
        let python = table.python.as_deref().unwrap_or("python3");
        Ok(TritonRun {
            file: folder.join(&table.file),
            kernel: table.kernel.clone(),
            // A path starts from the folder of the space file; a name is one of a program.
            python: if python.contains('/') { folder.join(python) } else { python.into() },
            grid: table.grid.iter().map(|it| Term::of("grid", it)).collect::<Result<_>>()?,
            buffers,
            values,
        })
    }

    fn terms(&self) -> impl Iterator<Item = &Term> {
        let shapes = self.buffers.iter().flat_map(|it| &it.shape);
        self.grid.iter().chain(shapes).chain(self.values.iter().map(|it| &it.1))
    }
}

impl BufferArgument {
    fn of(argument: &ArgumentTable, shape: &[toml::Value], folder: &Path) -> Result<BufferArgument> {
        let name = &argument.name;
        let Some(kind) = &argument.kind else { bail!("argument `{name}`: a buffer needs a `type`") };
        let is_bytes = BYTES.contains(&kind.as_str());
        let element = if is_bytes { Element::by_name("u8") } else { Element::by_name(kind) };
        let dtype = match element {
            Some(_) if is_bytes => Some(kind.as_str()),
            Some(it) => TYPES.iter().find(|(ours, _)| *ours == it.name()).map(|it| it.1),
            None => None,
        };
        let (Some(element), Some(dtype)) = (element, dtype) else {
            let known: Vec<&str> = TYPES.iter().map(|it| it.0).chain(BYTES).collect();
            bail!("argument `{name}`: `{kind}` is not a type; there are {}", known.join(", "));
        };
        let mut more = argument.more.clone();
        for key in ["file", "expected_file"] {
            if let Some(toml::Value::String(path)) = more.get_mut(key) {
                *path = folder.join(&*path).to_string_lossy().into_owned();
            }
        }
        let out = BufferArgument {
            name: name.clone(),
            element,
            dtype: dtype.to_owned(),
            shape: shape.iter().map(|it| Term::of(name, it)).collect::<Result<_>>()?,
            more,
        };
        // Wrong keys are said before the search.
        let trial = toml::Value::Table(out.argument(&[1]));
        trial.try_into::<Argument>().map_err(|error| anyhow!("argument `{name}`: {}", error.message()))?;
        Ok(out)
    }

    /// The argument of a launch file.
    fn argument(&self, shape: &[u64]) -> toml::Table {
        let mut out = self.more.clone();
        out.insert("name".to_owned(), self.name.clone().into());
        out.insert("type".to_owned(), self.element.name().into());
        let shape: Vec<toml::Value> = shape.iter().map(|it| toml::Value::Integer(*it as i64)).collect();
        out.insert("shape".to_owned(), shape.into());
        out
    }

    /// Elements in each dimension.
    fn sizes(&self, names: &term::Names<'_>) -> Result<Vec<u64>> {
        let sizes = self.shape.iter().map(|it| it.size(names)).collect::<Result<_>>();
        sizes.with_context(|| format!("argument `{}`", self.name))
    }
}
