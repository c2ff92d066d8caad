//! Assembly text in LLVM's AMDGPU syntax to the same [`Inst`] values that decoding the assembled bytes gives.
//!
//! Reading goes in stages, one file each. A line is a label, a directive or an instruction ([`cursor`],
//! [`expression`]); an instruction is operands and modifiers as written ([`operand`], [`modifiers`],
//! [`names`]); an encoding that takes them turns them into an [`Inst`] ([`form`]); a body lays instructions
//! out and resolves labels ([`body`]), after macros, conditions and block comments are carried out
//! ([`expand`]).
//!
//! Three things text does not say, and how they are read: an operand that only the linker knows
//! (`f@rel32@lo+4`) becomes `Literal(0)`, as in an unlinked object, and is listed in [`Body::symbols`]; a
//! literal whose value has an inline constant reads as that constant unless written `lit(…)`; unused bits of
//! an encoding are zero.

mod body;
mod constant;
mod cursor;
mod expand;
mod expression;
mod form;
mod modifiers;
mod names;
mod operand;

pub use body::{Body, Label, Location, SymbolRef, parse_body, parse_body_after};

use crate::{Inst, Isa};
use cursor::Cursor;
use expression::Symbols;

/// Problem of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// no instruction of the target has this name
    #[error("no instruction of the target has this name")]
    UnknownMnemonic,
    /// the instruction has no form with this suffix
    #[error("the instruction has no form with this suffix")]
    UnknownForm,
    /// an operand is missing
    #[error("an operand is missing")]
    MissingOperand,
    /// more operands than the instruction takes
    #[error("more operands than the instruction takes")]
    TooManyOperands,
    /// not an operand
    #[error("not an operand")]
    BadOperand,
    /// the instruction does not take this operand here
    #[error("the instruction does not take this operand here")]
    WrongOperand,
    /// the register has the wrong width for the instruction
    #[error("the register has the wrong width for the instruction")]
    WrongWidth,
    /// no such register
    #[error("no such register")]
    BadRegister,
    /// not a number
    #[error("not a number")]
    BadNumber,
    /// the number is out of range
    #[error("the number is out of range")]
    OutOfRange,
    /// something else is expected
    #[error("`{0}` is expected")]
    Expected(&'static str),
    /// unknown name
    #[error("unknown name")]
    UnknownName,
    /// the instruction does not take this modifier
    #[error("the instruction does not take this modifier")]
    WrongModifier,
    /// a label that nothing defines
    #[error("no such label")]
    UnknownLabel,
    /// macros and repetitions write more lines than a body may have
    #[error("macros and repetitions write too many lines, or call themselves without end")]
    TooManyLines,
    /// directives ask for more bytes than a body may have
    #[error("the data is larger than {} bytes", body::MOST_DATA)]
    TooMuchData,
}

/// A line that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {}, column {column}: {problem}: `{near}`", line + 1)]
pub struct TextError {
    /// Position of the line among those given, from 0.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The problem.
    pub problem: Problem,
    /// The text there, cut short.
    pub near: String,
}

impl TextError {
    fn new(text: &str, at: usize, problem: Problem) -> TextError {
        let rest = text.get(at..).unwrap_or_default().trim();
        let near = rest.split([' ', '\t', ',']).next().unwrap_or_default();
        TextError { line: 0, column: at as u32 + 1, problem, near: near.chars().take(40).collect() }
    }
}

/// An expression with an open symbol: a byte range of the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolUse {
    /// First byte.
    pub from: u32,
    /// Byte after the last.
    pub to: u32,
}

/// An instruction of one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsedInst {
    /// The instruction, at offset 0.
    pub inst: Inst,
    /// Operand whose value depends on a symbol, and the position of the expression; the operand is
    /// `Target(0)` or `Literal(0)` meanwhile.
    pub symbol: Option<(u8, SymbolUse)>,
}

/// Statement of a line, after its label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statement<'a> {
    /// Nothing.
    Blank,
    /// A directive: its name with the point, and the text after it.
    Directive(&'a str, &'a str),
    /// A symbol set to the value of an expression.
    Assignment(&'a str, &'a str),
    /// An instruction.
    Inst(ParsedInst),
}

/// One line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsedLine<'a> {
    /// The label before the statement, without colon.
    pub label: Option<&'a str>,
    /// The statement.
    pub statement: Statement<'a>,
}

/// Reads one line.
pub fn parse_line<'a>(isa: Isa, line: &'a str) -> Result<ParsedLine<'a>, TextError> {
    read_line(isa, line, &|_| None)
}

fn read_line<'a>(isa: Isa, line: &'a str, symbols: Symbols<'_>) -> Result<ParsedLine<'a>, TextError> {
    let code = cursor::without_comment(line);
    let mut cursor = Cursor::new(code);
    let mut label = None;
    loop {
        let Some(first) = cursor.next_visible() else {
            return Ok(ParsedLine { label, statement: Statement::Blank });
        };
        let at = cursor.at();
        if first.is_ascii_digit() {
            // `1:` is a label that may be defined again.
            let digits = cursor.decimal().map(|_| cursor.since(at));
            if digits.is_none() || label.is_some() || !cursor.take(b':') {
                return Err(TextError::new(code, at, Problem::UnknownMnemonic));
            }
            label = digits;
            continue;
        }
        // `#` lines come from the C preprocessor.
        if first == b'#' && label.is_none() {
            return Ok(ParsedLine { label, statement: Statement::Blank });
        }
        let name = cursor.name();
        let statement = match cursor.peek() {
            _ if name.is_empty() => return Err(TextError::new(code, at, Problem::UnknownMnemonic)),
            Some(b':') if label.is_none() => {
                cursor.take(b':');
                label = Some(name);
                continue;
            }
            _ if name.starts_with('.') && cursor.next_visible() != Some(b'=') => {
                Statement::Directive(name, cursor.rest().trim())
            }
            _ if cursor.next_visible() == Some(b'=') => {
                cursor.take(b'=');
                Statement::Assignment(name, cursor.rest().trim())
            }
            _ => {
                let inst = form::instruction(isa, name, &mut cursor, symbols);
                Statement::Inst(inst.map_err(|(at_operand, problem)| {
                    let at = at_operand.unwrap_or(if problem == Problem::UnknownMnemonic {
                        at
                    } else {
                        cursor.at()
                    });
                    TextError::new(code, at, problem)
                })?)
            }
        };
        return Ok(ParsedLine { label, statement });
    }
}
