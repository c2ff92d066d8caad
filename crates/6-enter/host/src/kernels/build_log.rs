//! Kernels of a build's log: the compiler printed their resources.

use super::batch::{Code, HELD_KERNELS, Opened};
use super::companion::Companion;
use super::{Run, Watch};
use crate::Contents;
use crate::inputs::Input;
use crate::kernels::Judged;
use analysis::{Built, TextFile};
use anyhow::Result;
use codeobj::{Body, CodeObject, Kernel, Metadata, ReadError, Target};
use logs::{BuildCounts, BuildLog, BuiltKernel};
use std::io::Read;
use view::{CompilerCard, SourceLine, counted};

/// Bytes of a log read at once.
const PIECE: usize = 4 << 20;
/// Bytes at the beginning of standard input that tell what it is.
const HEAD: usize = 1 << 20;

impl<T: Send, W: Fn(Judged<'_, '_>) -> T + Sync, K: FnMut(T) -> Result<()>, P: Watch> Run<'_, T, W, K, P> {
    /// Reads text that is neither assembly nor IR as the log of a build, or says what it is instead.
    pub(super) fn build_log(&mut self, name: &str, contents: &Contents) -> Result<Result<(), ReadError>> {
        let bytes = contents.bytes();
        let mut log = BuildLog::default();
        for piece in bytes.chunks(PIECE) {
            log.feed(piece);
            let kernels = log.take();
            self.built(name, &kernels)?;
            contents.release();
        }
        self.end_of_log(name, log, contents)
    }

    /// Standard input, which may be a log of any size.
    pub(super) fn standard_input(&mut self, input: &Input) -> std::io::Result<Result<()>> {
        let mut source = std::io::stdin().lock();
        let mut head = Vec::new();
        source.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        let is_log = codeobj::recognise(&head).is_none()
            && !tritonir::recognise(&head)
            && memchr::memchr(0, &head).is_none()
            && head.len() == HEAD;
        if !is_log {
            source.read_to_end(&mut head)?;
            return Ok(self.contents(input, Contents::Owned(head), Companion::of(input)));
        }
        let name = input.name();
        let mut log = BuildLog::default();
        log.feed(&head);
        let mut piece = Vec::new();
        loop {
            piece.clear();
            if source.by_ref().take(PIECE as u64).read_to_end(&mut piece)? == 0 {
                break;
            }
            log.feed(&piece);
            let kernels = log.take();
            if let Err(error) = self.built(&name, &kernels) {
                return Ok(Err(error));
            }
        }
        Ok(self.end_of_log(&name, log, &Contents::Owned(head)).map(|result| {
            if let Err(error) = result {
                self.report(super::as_file_error(&name, &error));
            }
        }))
    }

    fn end_of_log(
        &mut self,
        name: &str,
        log: BuildLog,
        contents: &Contents,
    ) -> Result<Result<(), ReadError>> {
        let (kernels, counts) = log.finish();
        self.built(name, &kernels)?;
        if counts.kernels == 0 {
            // Neither code nor a log: the reader of code says what it is.
            return self.binary(name, contents, &Companion::default());
        }
        self.watch.say(&format!("note: {name}: {}", summary(&counts)));
        Ok(Ok(()))
    }

    /// Judges kernels of a log.
    fn built(&mut self, name: &str, kernels: &[BuiltKernel]) -> Result<()> {
        let file = TextFile::new("");
        for group in kernels.chunks(HELD_KERNELS) {
            let mut opened = Vec::with_capacity(group.len());
            for kernel in group {
                let mut assumptions = Vec::new();
                if kernel.target_by_order {
                    assumptions.push("the targets of the command in their order".to_owned());
                }
                let stated = kernel.target.as_deref().and_then(Target::parse);
                let target = match (stated, self.selection.explicit, &self.selection.targets[..]) {
                    (Some(target), ..) => target,
                    (None, true, [only]) => {
                        assumptions.push(format!("target {only}: the log names none, `--arch` does"));
                        only.clone()
                    }
                    _ => Target { processor: "unknown".to_owned(), ..Target::default() },
                };
                if self.selection.explicit && !self.selection.wanted.accepts(&target) {
                    self.objects += 1;
                    self.passed_over.insert(target.to_string());
                    continue;
                }
                let said = CompilerCard {
                    line: kernel.line,
                    last_line: kernel.last_line,
                    waves_per_simd: kernel.waves_per_simd,
                    diagnostics: kernel.diagnostics.clone(),
                };
                let source = kernel.source.as_ref().map(|(file, line)| SourceLine {
                    file: file.clone(),
                    line: *line,
                    function: None,
                });
                let built = Some(Built { source, assumptions, said });
                let object = object(kernel, target);
                opened.push(Opened { file: name, object, code: Code::Text(&file), ir: Vec::new(), built });
            }
            self.judge(&opened, 0)?;
        }
        Ok(())
    }
}

/// What was read, in one line.
fn summary(counts: &BuildCounts) -> String {
    let mut text = format!(
        "log of a build, {}: {} about resources of {}",
        counted(counts.lines, "line"),
        counted(counts.used, "line"),
        counted(counts.kernels, "kernel")
    );
    if counts.without_target > 0 {
        text += &format!(
            "; no command names the target of {}: `--arch TARGET` gives their occupancy",
            counts.without_target
        );
    }
    if counts.nameless > 0 {
        text +=
            &format!("; {} before the name of their kernel are not used", counted(counts.nameless, "line"));
    }
    if counts.formulas > 0 {
        text +=
            &format!("; {} are formulas of the compiler and not numbers", counted(counts.formulas, "value"));
    }
    if !counts.labels.is_empty() {
        let labels: Vec<&str> = counts.labels.iter().map(String::as_str).collect();
        text += &format!("; not used: {}", labels.join(", "));
    }
    text
}

/// A code object without code, of one kernel.
fn object(kernel: &BuiltKernel, target: Target) -> CodeObject {
    let unified =
        arch::Target::of_code(&target.processor).is_some_and(|target| target.registers.unified.value);
    let metadata = Metadata {
        // Metadata counts both kinds together where they share a file.
        vgprs: kernel.vgprs.map(|it| if unified { it.saturating_add(kernel.agprs.unwrap_or(0)) } else { it }),
        agprs: kernel.agprs,
        sgprs: kernel.sgprs,
        vgpr_spills: kernel.vgpr_spills,
        sgpr_spills: kernel.sgpr_spills,
        lds_bytes: kernel.lds_bytes,
        scratch_bytes: kernel.scratch_bytes,
        dynamic_stack: kernel.dynamic_stack,
        ..Metadata::default()
    };
    CodeObject {
        origin: String::new(),
        target,
        version: 0,
        lines: 0..0,
        kernels: vec![Kernel {
            name: kernel.name.clone(),
            demangled: codeobj::demangle(&kernel.name),
            body: Body::Absent,
            descriptor: None,
            metadata,
        }],
        functions: Vec::new(),
        formats: Vec::new(),
        warnings: Vec::new(),
    }
}
