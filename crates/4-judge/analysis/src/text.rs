//! An assembly file as the source of several kernels.
//!
//! Kernels of one file share its `.file` table, so the file is split once and each kernel reads only its own
//! lines.

use isa::{Inst, Isa};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use view::SourceLine;

/// The lines of an assembly file.
pub struct TextFile<'a> {
    lines: Vec<&'a str>,
    files: OnceLock<HashMap<u32, String>>,
    /// Positions of lines that define.
    definitions: OnceLock<Vec<usize>>,
}

impl<'a> TextFile<'a> {
    /// Splits a file.
    pub fn new(text: &'a str) -> Self {
        TextFile { lines: text.lines().collect(), files: OnceLock::new(), definitions: OnceLock::new() }
    }

    /// Lines that define macros and constants, with their positions. Names with a point are what compilers
    /// note of each function.
    fn definitions(&self) -> &[usize] {
        self.definitions.get_or_init(|| {
            let mut in_macro = false;
            let mut defines = |line: &str| {
                let line = line.trim_start();
                let starts = line.starts_with(".macro");
                let of_macro = in_macro || starts;
                in_macro = of_macro && !line.starts_with(".endm");
                let named = [".set", ".equ"].iter().find_map(|directive| line.strip_prefix(directive));
                let name = named.and_then(|rest| rest.split(',').next());
                of_macro || name.is_some_and(|name| !name.contains('.'))
            };
            (0..).zip(&self.lines).filter(|(_, line)| defines(line)).map(|(at, _)| at).collect()
        })
    }

    /// The `.file` table: numbers and paths.
    fn files(&self, isa: Isa) -> &HashMap<u32, String> {
        self.files.get_or_init(|| {
            let table = self.lines.iter().copied().filter(|line| line.trim_start().starts_with(".file"));
            isa::text::parse_body(isa, table).files.into_iter().collect()
        })
    }
}

/// The body of one kernel in an assembly file.
#[derive(Default)]
pub(crate) struct TextBody {
    pub(crate) insts: Vec<Inst>,
    /// Line in the file of each instruction, from 1.
    pub(crate) lines: Vec<u32>,
    /// Source position of each instruction.
    pub(crate) sources: Vec<Option<SourceLine>>,
    /// Operands the linker fills in: instruction, and the symbol without its relocation suffix.
    pub(crate) symbols: Vec<(usize, String)>,
    /// Lines that cannot be read.
    pub(crate) unread: usize,
}

/// Errors told one by one; of the rest the lines are named.
const ERRORS_TOLD: usize = 20;
/// Lines named.
const LINES_NAMED: usize = 100;

/// Lists unreadable lines beyond the ones reported one by one.
fn more_lines(lines: impl ExactSizeIterator<Item = u32> + Clone) -> String {
    let count = lines.len();
    let which = view::noun_of(count, "line");
    let named: Vec<String> = lines.take(LINES_NAMED).map(|line| line.to_string()).collect();
    let rest = match count.saturating_sub(LINES_NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("{} that cannot be read: {which} {}{rest}", view::counted(count, "more line"), named.join(", "))
}

/// Reads the lines `range` of a file.
pub(crate) fn read(
    isa: Isa,
    file: &TextFile<'_>,
    range: Range<usize>,
    warnings: &mut Vec<String>,
) -> Option<TextBody> {
    let lines = file.lines.get(range.clone())?;
    let before: Vec<&str> =
        file.definitions().iter().take_while(|at| **at < range.start).map(|at| file.lines[*at]).collect();
    let parsed = isa::text::parse_body_after(isa, &before, lines.iter().copied());
    let first = u32::try_from(range.start).unwrap_or(u32::MAX);
    for error in parsed.errors.iter().take(ERRORS_TOLD) {
        let mut error = error.clone();
        error.line = error.line.saturating_add(first);
        warnings.push(error.to_string());
    }
    if let Some(more @ [_, ..]) = parsed.errors.get(ERRORS_TOLD..) {
        warnings
            .push(more_lines(more.iter().map(|error| error.line.saturating_add(first).saturating_add(1))));
    }
    let files = file.files(isa);
    let sources = (0u32..)
        .take(parsed.insts.len())
        .map(|inst| {
            let location = parsed.location_of(inst)?;
            let file =
                files.get(&location.file).cloned().or_else(|| parsed.file(location.file).map(str::to_owned));
            Some(SourceLine { file: file?, line: location.line, function: None })
        })
        .collect();
    let symbols = parsed
        .symbols
        .iter()
        .map(|symbol| {
            let name = symbol.text.split(['@', '+', '-']).next().unwrap_or_default().trim();
            (symbol.inst as usize, name.to_owned())
        })
        .collect();
    Some(TextBody {
        unread: parsed.errors.len(),
        lines: parsed.line_of.iter().map(|line| first.saturating_add(*line).saturating_add(1)).collect(),
        insts: parsed.insts,
        sources,
        symbols,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_line_is_named() {
        let text = |bad: usize| "  s_nop 0\n".to_owned() + &"  s_nothing s0\n".repeat(bad) + "  s_endpgm\n";
        let warnings = |bad: usize| {
            let (text, mut warnings) = (text(bad), Vec::new());
            let lines = text.lines().count();
            assert!(read(Isa::Gfx942, &TextFile::new(&text), 0..lines, &mut warnings).is_some());
            warnings
        };
        assert_eq!(warnings(20).len(), 20);
        let last = [21, 23, 130].map(|bad| warnings(bad).split_off(20));
        assert!(last.iter().all(|it| it.len() == 1), "{last:?}");
        testkit::golden("lines that cannot be read", &last.concat().join("\n"));
    }
}
