//! The code of one kernel, found in a file.
//!
//! If a file has several targets or kernels, the error lists them.

use crate::{Contents, hip_source};
use anyhow::{Context, Result, anyhow, bail};
use codeobj::{CodeObject, Kernel, Wanted};
use std::path::Path;

/// A code object and its bytes.
pub(crate) struct DeviceCode {
    /// Bytes it was read from.
    pub(crate) data: Vec<u8>,
    /// Parsed code object.
    pub(crate) object: CodeObject,
    /// Where the code of a source comes from, and what of the source it lacks.
    pub(crate) notes: Vec<String>,
}

impl DeviceCode {
    /// Finds the code for a target in a file, or generic code if it has none for this exact target; without a
    /// target the first code. A HIP source is compiled.
    pub(crate) fn find(path: &Path, target: Option<&str>) -> Result<DeviceCode> {
        let name = path.display().to_string();
        if hip_source::is_source(path) {
            let code = hip_source::compiled(path, target)?;
            let notes = code.notes().iter().cloned().chain(code.lost()).map(|it| format!("{name}: {it}"));
            return Ok(DeviceCode {
                notes: notes.collect(),
                ..DeviceCode::find_in(&name, &code.bytes, target)?
            });
        }
        let contents = Contents::open(path).with_context(|| format!("cannot read `{name}`"))?;
        if contents.bytes().is_empty() {
            bail!("`{name}`: the file is empty");
        }
        DeviceCode::find_in(&name, contents.bytes(), target)
    }

    /// The same in the contents of a file.
    pub(crate) fn find_in(name: &str, contents: &[u8], target: Option<&str>) -> Result<DeviceCode> {
        let mut others = Vec::new();
        let mut generic = None;
        let scan = codeobj::scan(contents, &Wanted::all());
        for found in scan.map_err(|error| anyhow!("`{name}`: {error}"))? {
            let found = found.map_err(|error| anyhow!("`{name}`: {error}"))?;
            let processor = &found.target.processor;
            if target.is_some_and(|target| target != processor) {
                others.push(processor.clone());
                if target.is_some_and(|target| arch::code_runs_on(processor, target)) {
                    generic.get_or_insert(found.data.into_owned());
                }
                continue;
            }
            return Self::read(found.data.into_owned(), target).with_context(|| format!("`{name}`"));
        }
        if let Some(data) = generic {
            return Self::read(data, target).with_context(|| format!("`{name}`"));
        }
        others.dedup();
        match target {
            Some(target) if !others.is_empty() => {
                bail!("`{name}` has no code for {target}, only for {}", others.join(", "))
            }
            _ => bail!("`{name}` has no GPU code"),
        }
    }

    /// Reads a code object; generic code becomes code for the target it is wanted for, or for one it runs on.
    fn read(data: Vec<u8>, target: Option<&str>) -> Result<DeviceCode> {
        let mut object = CodeObject::read(&data)?;
        let processor = &mut object.target.processor;
        if let Some(target) = target.or_else(|| arch::Target::of_code(processor).map(|it| it.name)) {
            *processor = target.to_owned();
        }
        Ok(DeviceCode { data, object, notes: Vec::new() })
    }

    /// A kernel by its linker or demangled name, or the only one.
    pub(crate) fn kernel(&self, wanted: Option<&str>) -> Result<&Kernel> {
        let kernels = &self.object.kernels;
        let names = || kernels.iter().map(|kernel| kernel.demangled.as_str()).collect::<Vec<_>>().join(", ");
        match wanted {
            Some(wanted) => {
                let plain = |kernel: &Kernel| kernel.demangled.split('(').next() == Some(wanted);
                let exact = kernels.iter().find(|it| it.name == wanted || it.demangled == wanted);
                let found = exact.or_else(|| kernels.iter().find(|kernel| plain(kernel)));
                found.ok_or_else(|| match kernels.is_empty() {
                    true => anyhow!("there is no kernel `{wanted}`: the code has none"),
                    false => anyhow!("there is no kernel `{wanted}`, only {}", names()),
                })
            }
            None => match &kernels[..] {
                [kernel] => Ok(kernel),
                [] => bail!("the code has no kernel"),
                _ => bail!("the code has several kernels: {}\nhint: name one with `kernel`", names()),
            },
        }
    }
}
