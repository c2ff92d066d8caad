//! Source positions: `loc(…)` and the aliases of it.

use crate::model::{Function, Module, OpId};
use crate::split::Aliases;
use crate::split::{closing, commas, string, within};

/// Maximum number of names and calls that a location may chain.
const MOST_STEPS: u32 = 32;

/// A position in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// File as the compiler wrote it.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 0.
    pub column: u32,
}

/// Source position of an operation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location<'a> {
    /// Positions, the innermost first: a line of Triton's library, and the line of the kernel that calls it.
    pub frames: Vec<Frame<'a>>,
    /// Name of the Python variable it is assigned to (Triton 3.6 and newer).
    pub name: Option<&'a str>,
}

impl<'a> Location<'a> {
    /// The line of the kernel itself: calls of library functions are left.
    pub fn kernel_line(&self) -> Option<&Frame<'a>> {
        self.frames.last()
    }
}

impl<'a> Module<'a> {
    /// The location of an operation.
    pub fn location(&self, function: &Function<'a>, op: OpId) -> Location<'a> {
        function.ops.get(op).map_or_else(Location::default, |op| locate(op.location, &self.aliases))
    }

    /// The location of a function.
    pub fn function_location(&self, function: &Function<'a>) -> Location<'a> {
        locate(function.location, &self.aliases)
    }
}

/// The location that a text within `loc(…)` means.
pub(crate) fn locate<'a>(text: &'a str, aliases: &Aliases<'a>) -> Location<'a> {
    let mut location = Location::default();
    let mut steps = MOST_STEPS;
    follow(text, aliases, &mut location, &mut steps);
    location
}

fn follow<'a>(text: &'a str, aliases: &Aliases<'a>, into: &mut Location<'a>, steps: &mut u32) {
    let Some(left) = steps.checked_sub(1) else { return };
    *steps = left;
    let text = text.trim();
    let text = text.strip_prefix("loc").unwrap_or(text);
    let text = within(text, '(', ')').unwrap_or(text).trim();
    if text.starts_with('#') {
        if let Some(meaning) = aliases.get(text) {
            follow(meaning, aliases, into, steps);
        }
    } else if let Some(rest) = text.strip_prefix("callsite") {
        let inner = within(rest, '(', ')').unwrap_or_default();
        if let Some((callee, caller)) = at_call(inner) {
            follow(callee, aliases, into, steps);
            follow(caller, aliases, into, steps);
        }
    } else if let Some(rest) = text.strip_prefix("fused") {
        // A fused location is represented by its first position.
        let list = rest.find('[').and_then(|open| within(rest.get(open..)?, '[', ']'));
        if let Some(first) = list.and_then(|it| commas(it).next()) {
            follow(first, aliases, into, steps);
        }
    } else if text.starts_with('"') {
        let Some(end) = string(text) else { return };
        let quoted = text.get(1..end - 1).unwrap_or_default();
        let rest = text.get(end..).unwrap_or_default();
        if let Some(position) = rest.strip_prefix(':') {
            let mut numbers = position.splitn(2, ':');
            let mut number = || numbers.next().and_then(leading_number);
            if let Some(line) = number() {
                into.frames.push(Frame { file: quoted, line, column: number().unwrap_or(0) });
            }
        } else {
            into.name.get_or_insert(quoted);
            if let Some(inner) = closing(rest).and_then(|end| rest.get(1..end - 1)) {
                follow(inner, aliases, into, steps);
            }
        }
    }
}

/// `22` of `22 to :30`.
fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// `A at B`, the ` at ` outside of brackets and strings.
fn at_call(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0u32;
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'(' | b'[' | b'<' => depth += 1,
            b')' | b']' | b'>' => depth = depth.saturating_sub(1),
            b'"' => at += string(text.get(at..)?)? - 1,
            b' ' if depth == 0 && text.get(at..)?.starts_with(" at ") => {
                return Some((text.get(..at)?, text.get(at + 4..)?));
            }
            _ => {}
        }
        at += 1;
    }
    None
}
