//! HIP sources in place of compiled code.

use super::companion::Companion;
use super::{Judged, Run, Watch};
use crate::Contents;
use crate::hip_source::{self, Code};
use crate::inputs::{Input, file_error};
use anyhow::Result;
use view::NoteKind;

impl<T: Send, W: Fn(Judged<'_, '_>) -> T + Sync, K: FnMut(T) -> Result<()>, P: Watch> Run<'_, T, W, K, P> {
    /// Compiles a HIP source for the targets that are asked for, or for one.
    pub(super) fn source(&mut self, input: &Input) -> std::io::Result<Result<()>> {
        let asked = self.selection.targets.iter().filter(|_| self.selection.explicit);
        let targets: Vec<Option<String>> = asked.map(|it| Some(it.processor.clone())).collect();
        for target in if targets.is_empty() { vec![None] } else { targets } {
            self.watch.compiles(&input.path.display().to_string());
            match hip_source::compiled(&input.path, target.as_deref()) {
                Ok(code) => {
                    let read =
                        self.contents(input, Contents::Owned(code.bytes.to_vec()), Companion::of(input));
                    if read.is_err() {
                        return Ok(read);
                    }
                    self.left_out(input, &code);
                }
                // The file is named in front of it.
                Err(error) => {
                    let name = format!("`{}` ", input.path.display());
                    let text = format!("{error:#}").replacen(&name, "", 1);
                    self.report(file_error(&input.path, text, ""));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Says where code comes from and what of its source it lacks.
    fn left_out(&mut self, input: &Input, code: &Code) {
        for note in code.notes() {
            self.note(NoteKind::Warning, format!("{}: {note}", input.path.display()));
        }
        if let Some(text) = code.lost() {
            let hint =
                "instantiate the kernel in the source, or name the folder of the missing headers in CPATH";
            self.report(file_error(&input.path, text, hint));
        }
    }
}
