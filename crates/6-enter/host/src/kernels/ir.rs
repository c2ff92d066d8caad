//! Kernels of Triton's IR without code: of a file that was named, or of a log with dumps of the compiler's
//! passes.

use super::batch::{Code, Opened};
use super::companion::{Companion, named};
use super::{Run, Watch};
use crate::kernels::Judged;
use analysis::TextFile;
use anyhow::Result;
use codeobj::{Argument, Body, CodeObject, Kernel, Metadata, Target};
use std::path::Path;
use tritonir::{Dump, KernelIr, Module};
use view::FileError;

impl<T: Send, W: Fn(Judged<'_, '_>) -> T + Sync, K: FnMut(T) -> Result<()>, P: Watch> Run<'_, T, W, K, P> {
    /// Judges the kernels of a text.
    pub(super) fn ir(&mut self, name: &str, bytes: &[u8], companion: &Companion) -> Result<()> {
        let text = String::from_utf8_lossy(bytes);
        let dump = match tritonir::read(&text) {
            Ok(dump) => dump,
            Err(error) => {
                let hint = Some(error.hint.clone()).filter(|hint| !hint.is_empty());
                self.report(FileError { file: name.to_owned(), error: error.to_string(), hint });
                return Ok(());
            }
        };
        let chosen = match self.selection.pass.choose(&dump) {
            Ok(chosen) => chosen,
            Err((error, hint)) => {
                self.report(FileError { file: name.to_owned(), error, hint: Some(hint) });
                return Ok(());
            }
        };
        let foreign = chosen.iter().filter_map(|it| it.target()).find(|it| !it.starts_with("hip:"));
        if let Some(target) = foreign {
            let error = format!("IR for `{target}`, which is no AMD GPU");
            let hint = "compile for a target such as `hip:gfx942`".to_owned();
            self.report(FileError { file: name.to_owned(), error, hint: Some(hint) });
            return Ok(());
        }
        let file = TextFile::new("");
        let mut opened = Vec::new();
        for module in chosen {
            let kernels = tritonir::kernels(module, companion.style());
            let target = module
                .processor()
                .map(str::to_owned)
                .or_else(|| companion.processor())
                .and_then(|it| Target::parse(&it));
            let target =
                target.unwrap_or_else(|| Target { processor: "unknown".to_owned(), ..Target::default() });
            if self.selection.explicit && !self.selection.wanted.accepts(&target) {
                self.passed_over.insert(target.to_string());
                continue;
            }
            let mut object = object(module, target, &kernels);
            // The JSON's own LDS comes before the sum of ours.
            drop(companion.apply(&mut object));
            let ir = named(Path::new(name), kernels);
            opened.push(Opened { file: name, object, code: Code::Text(&file), ir, built: None });
        }
        if opened.iter().all(|it| it.object.kernels.is_empty()) {
            let error = "no kernel in the IR".to_owned();
            self.report(FileError { file: name.to_owned(), error, hint: None });
            return Ok(());
        }
        self.judge(&opened, bytes.len())
    }
}

/// Modules to read from a text with several.
#[derive(Clone, Default)]
pub enum PassChoice {
    /// The last module of each kernel: the compiler's final result.
    #[default]
    Last,
    /// Every one.
    All,
    /// Dumps before or after a pass whose name or argument contains this.
    Named(String),
}

impl PassChoice {
    /// Parses an option: `all`, or part of a pass's name.
    pub fn of(text: Option<&str>) -> PassChoice {
        match text {
            None => PassChoice::Last,
            Some("all") => PassChoice::All,
            Some(name) => PassChoice::Named(name.to_lowercase()),
        }
    }

    /// The modules, or an error with a hint.
    fn choose<'d, 'a>(&self, dump: &'d Dump<'a>) -> Result<Vec<&'d Module<'a>>, (String, String)> {
        match self {
            PassChoice::All => Ok(dump.modules.iter().collect()),
            PassChoice::Last => {
                let later = |at: usize, module: &Module<'_>| {
                    let of_later = dump.modules.iter().skip(at + 1).flat_map(Module::kernels);
                    let names: Vec<&str> = of_later.map(|it| it.name).collect();
                    module.kernels().all(|it| names.contains(&it.name))
                };
                // Once Triton's own operations are lowered, nothing of them is left to say.
                let speaks = |module: &Module<'_>| {
                    module.kernels().any(|it| it.ops.iter().any(|op| op.dialect() == "tt"))
                };
                let speaking: Vec<usize> =
                    (0..dump.modules.len()).filter(|at| speaks(&dump.modules[*at])).collect();
                let last = |at: &usize| {
                    let module = &dump.modules[*at];
                    let after =
                        speaking.iter().filter(|it| *it > at).flat_map(|it| dump.modules[*it].kernels());
                    let names: Vec<&str> = after.map(|it| it.name).collect();
                    !module.kernels().all(|it| names.contains(&it.name))
                };
                let chosen: Vec<&Module<'a>> =
                    speaking.iter().filter(|at| last(at)).map(|at| &dump.modules[*at]).collect();
                if !chosen.is_empty() {
                    return Ok(chosen);
                }
                let all = dump.modules.iter().enumerate();
                Ok(all.filter(|(at, module)| !later(*at, module)).map(|(_, module)| module).collect())
            }
            PassChoice::Named(wanted) => {
                let matches = |it: &&Module<'_>| {
                    it.pass.is_some_and(|pass| {
                        pass.name.to_lowercase().contains(wanted)
                            || pass.argument.is_some_and(|it| it.to_lowercase().contains(wanted))
                    })
                };
                let chosen: Vec<&Module<'a>> = dump.modules.iter().filter(matches).collect();
                if chosen.is_empty() {
                    let mut names: Vec<&str> =
                        dump.modules.iter().filter_map(|it| it.pass).map(|it| it.name).collect();
                    names.dedup();
                    let hint = match names.as_slice() {
                        [] => "it has no dumps of passes: record it with MLIR_ENABLE_DUMP=1".to_owned(),
                        some => format!("it has {}", some.join(", ")),
                    };
                    return Err((format!("no dump of a pass `{wanted}`"), hint));
                }
                Ok(chosen)
            }
        }
    }
}

/// A code object without code, for kernels known from IR only.
fn object(module: &Module<'_>, target: Target, kernels: &[KernelIr]) -> CodeObject {
    let origin = module.pass.map_or_else(String::new, |pass| {
        format!("{} {} (line {})", if pass.after { "after" } else { "before" }, pass.name, module.line)
    });
    let kernel = |it: &KernelIr| Kernel {
        name: it.name.clone(),
        demangled: it.name.clone(),
        body: Body::Absent,
        descriptor: None,
        metadata: Metadata {
            launch_lds_bytes: match (it.form, &it.lds.total) {
                (tritonir::Form::Ttgir, Ok(bytes)) => u32::try_from(*bytes).ok(),
                _ => None,
            },
            launch_waves: it.waves,
            arguments: it.parameters.iter().map(argument).collect(),
            ..Metadata::default()
        },
    };
    CodeObject {
        origin,
        target,
        version: 0,
        lines: 0..0,
        kernels: kernels.iter().map(kernel).collect(),
        functions: Vec::new(),
        formats: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A parameter; Triton passes pointers and numbers of these types by value.
fn argument((name, ty, _): &(String, String, Option<i64>)) -> Argument {
    let pointer = ty.starts_with('*') || ty.starts_with("!llvm.ptr");
    let size = match ty.as_str() {
        _ if pointer => 8,
        name => arch::ElementType::by_name(name).map_or(4, |it| it.bits().div_ceil(8)),
    };
    Argument {
        name: name.clone(),
        type_name: ty.clone(),
        size,
        kind: if pointer { "global_buffer" } else { "by_value" }.to_owned(),
        ..Argument::default()
    }
}
