//! Files of TensileLite and Composable Kernel: a configuration is a space that is counted, output of a benchmark a
//! recorded space for each problem.

use crate::args::Tune;
use anyhow::{Result, anyhow};
use std::path::Path;
use study::tunings::Tunings;
use view::{Answer, FileError, NoteKind, Searches, counted};

/// Problems of a file that are searched.
const MOST_PROBLEMS: usize = 8;

/// Describes a configuration of TensileLite; false if the file is something else.
pub(super) fn described(
    args: &Tune,
    path: &Path,
    file: &Tunings<'_>,
    answer: &mut Answer<Searches>,
) -> Result<bool> {
    if !study::tunings::is_configuration(file) {
        return Ok(false);
    }
    study::tunings::describe_configuration(answer, file, args.gpu.as_deref()).map_err(|it| {
        anyhow!(
            "{}{}",
            it.message,
            if it.hint.is_empty() { String::new() } else { format!("\nhint: {}", it.hint) }
        )
    })?;
    let name = path.display().to_string();
    answer.errors.push(FileError {
        error: "it describes a space, and nothing to run".to_owned(),
        hint: Some(format!(
            "TensileLite runs it: `Tensile/bin/Tensile {} OUT`; then search OUT's results",
            view::shell_word(&name)
        )),
        file: name,
    });
    Ok(true)
}

/// The recorded spaces of a file: its own, or one for each problem of a benchmark's output.
pub(super) fn problems<'f>(file: &Tunings<'f>, answer: &mut Answer<Searches>) -> Vec<Tunings<'f>> {
    let Some(mut all) = study::tunings::recorded_spaces(file) else { return vec![file.clone()] };
    if all.len() > MOST_PROBLEMS {
        let left = counted(all.len() - MOST_PROBLEMS, "problem");
        answer.note(
            NoteKind::Warning,
            format!("the first {MOST_PROBLEMS} problems are searched, {left} left out"),
        );
        all.truncate(MOST_PROBLEMS);
    }
    all
}
