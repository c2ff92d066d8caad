//! Files that Triton writes beside a code object: its JSON, and the IR it was compiled from.

use crate::inputs::Input;
use analysis::TritonIr;
use codeobj::CodeObject;
use std::path::{Path, PathBuf};
use tritonir::{Form, KernelIr, ScratchStyle};

/// The files beside one code object, unread.
#[derive(Default)]
pub(super) struct Companion {
    json: Option<Vec<u8>>,
    /// TTGIR if it exists, else TTIR.
    ir: Option<(PathBuf, Vec<u8>)>,
}

impl Companion {
    /// Reads the files beside an input.
    pub(super) fn of(input: &Input) -> Companion {
        let read = |path: &PathBuf| Some((path.clone(), std::fs::read(path).ok()?));
        Companion {
            json: input.companion.as_ref().and_then(|path| std::fs::read(path).ok()),
            ir: input.ir.iter().find_map(read),
        }
    }

    /// Version of Triton that the JSON names.
    pub(super) fn style(&self) -> Option<ScratchStyle> {
        let json: serde_json::Value = serde_json::from_slice(self.json.as_deref()?).ok()?;
        ScratchStyle::of_version(json.get("triton_version")?.as_str()?)
    }

    /// Processor that the JSON names: TTIR does not contain it.
    pub(super) fn processor(&self) -> Option<String> {
        let json: serde_json::Value = serde_json::from_slice(self.json.as_deref()?).ok()?;
        let of = |it: &serde_json::Value| it.get("arch").and_then(|it| it.as_str()).map(str::to_owned);
        of(&json).or_else(|| of(json.get("target")?))
    }

    /// Adds the facts of the JSON, and gives the IR of the kernels. A JSON file of that name that Triton did
    /// not write is not an error; IR that cannot be read, or is for something else, is a warning of each
    /// kernel.
    pub(super) fn apply(&self, object: &mut CodeObject) -> Vec<TritonIr> {
        if let Some(json) = &self.json {
            let _ = codeobj::apply_triton(json, object);
        }
        let Some((path, bytes)) = &self.ir else { return Vec::new() };
        let mut warn = |what: String| {
            let file = path.display();
            let lines =
                object.kernels.iter().map(|kernel| format!("{file}: {what}, so `{}` has no IR", kernel.name));
            let lines: Vec<String> = lines.collect();
            object.warnings.extend(lines);
        };
        let kernels = match read(bytes, self.style()) {
            Ok(kernels) => kernels,
            Err(error) => {
                warn(error);
                return Vec::new();
            }
        };
        let other = kernels.iter().filter_map(|it| it.processor.as_deref());
        if let Some(other) = other.into_iter().find(|it| *it != object.target.processor) {
            let processor = &object.target.processor;
            warn(format!("IR for `{other}` beside code for `{processor}`"));
            return Vec::new();
        }
        for kernel in &object.kernels {
            let Some(ir) = kernels.iter().find(|it| it.name == kernel.name) else { continue };
            if let (Form::Ttgir, Ok(counted), Some(stated)) =
                (ir.form, &ir.lds.total, kernel.metadata.launch_lds_bytes)
                && *counted != u64::from(stated)
            {
                let name = &kernel.name;
                object.warnings.push(format!(
                    "the JSON says {stated} bytes of LDS for `{name}`, the buffers of the IR take {counted}: files of two compilations, or a Triton whose allocation is not known"
                ));
            }
        }
        named(path, kernels)
    }
}

/// Kernels with the file they were read from.
pub(super) fn named(path: &Path, kernels: Vec<KernelIr>) -> Vec<TritonIr> {
    let file = path.display().to_string();
    kernels.into_iter().map(|kernel| TritonIr { file: file.clone(), kernel }).collect()
}

/// The kernels of a file of Triton's cache.
fn read(bytes: &[u8], style: Option<ScratchStyle>) -> Result<Vec<KernelIr>, String> {
    let text = String::from_utf8_lossy(bytes);
    let dump = tritonir::read(&text).map_err(|error| error.to_string())?;
    Ok(dump.modules.last().map_or_else(Vec::new, |module| tritonir::kernels(module, style)))
}
