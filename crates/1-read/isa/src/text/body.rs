//! The lines of one function laid out as code: offsets, labels, data, source positions.
//!
//! Sizes do not depend on labels, so one pass gives every instruction its offset; operands that name labels
//! are kept with their text and filled in when all labels are known.

use super::cursor::Cursor;
use super::expand::{Expanded, expand};
use super::expression::{self, Value};
use super::{Problem, Statement, SymbolUse, TextError, cursor, read_line};
use crate::{Inst, Isa, Operand, decode_all};
use std::collections::HashMap;

/// Most bytes that data directives of one body may add.
pub(crate) const MOST_DATA: u64 = 1 << 20;

/// `s_nop 0`, which fills the space before an aligned instruction.
const NOP: u32 = 0xbf80_0000;

/// A label of the body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Name without colon.
    pub name: String,
    /// Byte offset.
    pub offset: u32,
}

/// An operand that only the linker knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolRef {
    /// Position of the instruction.
    pub inst: u32,
    /// Position of the operand.
    pub operand: u8,
    /// The expression as written.
    pub text: String,
}

/// A source position that holds from one instruction up to the next `Location`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// Position of the first instruction.
    pub inst: u32,
    /// Number of the file, as in `.file`.
    pub file: u32,
    /// Line, from 1; 0 for code without a source line.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
}

/// Code read from text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// Instructions, offsets counted from the first.
    pub insts: Vec<Inst>,
    /// Line of each instruction, counted from 0 in the lines given.
    pub line_of: Vec<u32>,
    /// Labels in the order of the text.
    pub labels: Vec<Label>,
    /// Operands that only the linker knows.
    pub symbols: Vec<SymbolRef>,
    /// Source positions from `.loc`, in code order.
    pub locations: Vec<Location>,
    /// Source files from `.file`: number and path.
    pub files: Vec<(u32, String)>,
    /// Lines that cannot be read; their instructions are missing.
    pub errors: Vec<TextError>,
    /// Bytes of code.
    pub size: u32,
}

impl Body {
    /// Source position of instruction `inst`.
    pub fn location_of(&self, inst: u32) -> Option<Location> {
        let at = self.locations.partition_point(|location| location.inst <= inst);
        at.checked_sub(1).map(|at| self.locations[at]).filter(|location| location.line != 0)
    }

    /// Path of source file `number`.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.iter().find(|(known, _)| *known == number).map(|(_, path)| path.as_str())
    }
}

/// An operand to fill in.
struct Open<'a> {
    inst: u32,
    operand: u8,
    line: u32,
    text: &'a str,
    span: SymbolUse,
}

struct Reader<'a> {
    isa: Isa,
    body: Body,
    constants: HashMap<&'a str, i64>,
    named: HashMap<&'a str, u32>,
    /// Places of labels such as `1:`: instructions before it, and the offset.
    numeric: HashMap<&'a str, Vec<(u32, u32)>>,
    open: Vec<Open<'a>>,
    /// Data since the last instruction, with the line it starts on.
    data: Vec<u8>,
    data_line: u32,
    data_total: u64,
    /// Lines belong to code, not to another section or a descriptor.
    in_code: bool,
    /// Inside `.amdhsa_kernel` or metadata: the directive that ends it.
    skip_to: Option<&'static str>,
}

/// Reads the lines of one function, or of one text section.
///
/// Other sections, kernel descriptors and metadata between the lines are passed over. A line that cannot be
/// read is an entry in [`Body::errors`] and takes no space.
pub fn parse_body<'a>(isa: Isa, lines: impl IntoIterator<Item = &'a str>) -> Body {
    parse_body_after(isa, &[], lines)
}

/// The same where lines before the function define macros and constants: those are known, and nothing else of
/// them counts.
pub fn parse_body_after<'a>(isa: Isa, before: &[&'a str], lines: impl IntoIterator<Item = &'a str>) -> Body {
    let Expanded { lines, errors } = expand(before, lines);
    let mut reader = Reader {
        isa,
        body: Body::default(),
        constants: HashMap::new(),
        named: HashMap::new(),
        numeric: HashMap::new(),
        open: Vec::new(),
        data: Vec::new(),
        data_line: 0,
        data_total: 0,
        in_code: true,
        skip_to: None,
    };
    reader.body.errors = errors;
    for line in before {
        reader.define(line);
    }
    for (number, line) in &lines {
        if let Err(mut error) = reader.line(*number, line) {
            error.line = *number;
            reader.body.errors.push(error);
        }
    }
    reader.flush();
    reader.resolve();
    reader.body
}

impl<'a> Reader<'a> {
    /// Takes the value of a constant that a line before the function sets.
    fn define(&mut self, line: &'a str) {
        match read_line(self.isa, line, &|_| None).map(|parsed| parsed.statement) {
            Ok(Statement::Assignment(name, value)) => self.assign(name, value),
            Ok(Statement::Directive(".set" | ".equ", rest)) => {
                if let Some((symbol, value)) = rest.split_once(',') {
                    self.assign(symbol.trim_end(), value);
                }
            }
            _ => {}
        }
    }

    fn line(&mut self, number: u32, line: &'a str) -> Result<(), TextError> {
        if let Some(end) = self.skip_to {
            if line.trim_start().starts_with(end) {
                self.skip_to = None;
            }
            return Ok(());
        }
        if !self.in_code && !line.trim_start().starts_with('.') {
            return Ok(());
        }
        let constants = &self.constants;
        let parsed = read_line(self.isa, line, &|name| constants.get(name).copied());
        let parsed = match parsed {
            // What other sections hold is not ours to judge.
            Err(_) if !self.in_code => return Ok(()),
            other => other?,
        };
        if let Some(label) = parsed.label.filter(|_| self.in_code) {
            let offset = self.offset();
            if label.as_bytes()[0].is_ascii_digit() {
                let before = self.body.insts.len() as u32;
                self.numeric.entry(label).or_default().push((before, offset));
            } else {
                self.named.insert(label, offset);
                self.body.labels.push(Label { name: label.to_string(), offset });
            }
        }
        match parsed.statement {
            Statement::Blank => {}
            Statement::Assignment(name, value) => self.assign(name, value),
            Statement::Directive(name, rest) => {
                self.directive(number, name, rest).map_err(|problem| {
                    let at = line.find(name).unwrap_or(0) + name.len();
                    TextError::new(line, at, problem)
                })?;
            }
            Statement::Inst(parsed) => {
                if !self.data.is_empty() {
                    self.flush();
                }
                let mut inst = parsed.inst;
                inst.offset = self.body.size;
                shift_targets(&mut inst, self.body.size);
                if let Some((operand, span)) = parsed.symbol {
                    let at = self.body.insts.len() as u32;
                    self.open.push(Open { inst: at, operand, line: number, text: line, span });
                }
                self.push(inst, number);
            }
        }
        Ok(())
    }

    fn push(&mut self, inst: Inst, line: u32) {
        self.body.size = self.body.size.saturating_add(u32::from(inst.size));
        self.body.insts.push(inst);
        self.body.line_of.push(line);
    }

    /// Offset of what comes next.
    fn offset(&self) -> u32 {
        self.body.size.saturating_add(self.data.len() as u32)
    }

    /// Turns data since the last instruction into the instructions a decoder sees there.
    fn flush(&mut self) {
        let data = std::mem::take(&mut self.data);
        let base = self.body.size;
        for mut inst in decode_all(self.isa, &data) {
            inst.offset = inst.offset.saturating_add(base);
            shift_targets(&mut inst, base);
            self.push(inst, self.data_line);
        }
    }

    fn assign(&mut self, name: &'a str, value: &str) {
        let constants = &self.constants;
        let mut cursor = Cursor::new(value);
        let value = expression::read(&mut cursor, &|name| constants.get(name).copied());
        match value {
            Some(Value::Known(value)) => self.constants.insert(name, value),
            _ => self.constants.remove(name),
        };
    }

    fn directive(&mut self, line: u32, name: &'a str, rest: &'a str) -> Result<(), Problem> {
        match name {
            ".text" => self.in_code = true,
            ".section" | ".pushsection" => self.in_code = rest.trim_start_matches('"').starts_with(".text"),
            ".data" | ".bss" => self.in_code = false,
            ".popsection" | ".previous" => self.in_code = true,
            ".amdhsa_kernel" => self.skip_to = Some(".end_amdhsa_kernel"),
            ".amdgpu_metadata" => self.skip_to = Some(".end_amdgpu_metadata"),
            ".amd_kernel_code_t" => self.skip_to = Some(".end_amd_kernel_code_t"),
            ".set" | ".equ" => {
                if let Some((symbol, value)) = rest.split_once(',') {
                    self.assign(symbol.trim_end(), value);
                }
            }
            ".file" => {
                if let Some(file) = file_directive(rest) {
                    self.body.files.push(file);
                }
            }
            ".loc" if self.in_code => self.location(rest),
            _ if self.in_code => return self.data_directive(line, name, rest),
            _ => {}
        }
        Ok(())
    }

    fn location(&mut self, rest: &str) {
        let mut cursor = Cursor::new(rest);
        let mut next = || {
            cursor.next_visible();
            cursor.decimal()
        };
        let Some((file, line)) = next().zip(next()) else { return };
        let column = next().unwrap_or(0);
        // Data before it has become instructions when the next instruction comes.
        if !self.data.is_empty() {
            self.flush();
        }
        let location = Location { inst: self.body.insts.len() as u32, file, line, column };
        match self.body.locations.last_mut() {
            Some(last) if last.inst == location.inst => *last = location,
            _ => self.body.locations.push(location),
        }
    }

    /// Directives that put bytes into the code; others say nothing about it.
    fn data_directive(&mut self, line: u32, name: &str, rest: &str) -> Result<(), Problem> {
        let width = match name {
            ".long" | ".int" | ".4byte" => 4,
            ".short" | ".hword" | ".2byte" => 2,
            ".byte" | ".1byte" => 1,
            ".quad" | ".8byte" => 8,
            ".p2align" | ".align" | ".balign" | ".p2alignl" | ".p2alignw" | ".balignl" | ".balignw" => {
                return self.align(line, name, rest);
            }
            ".fill" | ".zero" | ".skip" | ".space" => return self.fill(line, name, rest),
            _ => return Ok(()),
        };
        let mut cursor = Cursor::new(rest);
        loop {
            // An open symbol is zero in an unlinked object.
            let value = match self.value(&mut cursor)? {
                Value::Known(value) => value,
                Value::Open => 0,
            };
            self.add(line, 1, &value.to_le_bytes()[..width])?;
            if !cursor.take(b',') {
                break;
            }
        }
        if cursor.next_visible().is_some() { Err(Problem::BadNumber) } else { Ok(()) }
    }

    fn value(&self, cursor: &mut Cursor<'_>) -> Result<Value, Problem> {
        expression::read(cursor, &|name| self.constants.get(name).copied()).ok_or(Problem::BadNumber)
    }

    fn add(&mut self, line: u32, repeat: u64, bytes: &[u8]) -> Result<(), Problem> {
        let more = repeat.saturating_mul(bytes.len() as u64);
        self.data_total = self.data_total.saturating_add(more);
        if self.data_total > MOST_DATA {
            self.data_total -= more.min(self.data_total);
            return Err(Problem::TooMuchData);
        }
        if self.data.is_empty() {
            self.data_line = line;
        }
        for _ in 0..repeat {
            self.data.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// The known numbers of a list; an empty place is `None`.
    fn numbers(&self, rest: &str) -> Result<[Option<i64>; 3], Problem> {
        let mut cursor = Cursor::new(rest);
        let mut all = [None; 3];
        for slot in &mut all {
            if !matches!(cursor.next_visible(), None | Some(b',')) {
                *slot = match self.value(&mut cursor)? {
                    Value::Known(value) => Some(value),
                    Value::Open => return Err(Problem::UnknownName),
                };
            }
            if !cursor.take(b',') {
                break;
            }
        }
        Ok(all)
    }

    fn align(&mut self, line: u32, name: &str, rest: &str) -> Result<(), Problem> {
        let [Some(amount), value, most] = self.numbers(rest)? else { return Err(Problem::BadNumber) };
        let amount = match name {
            ".balign" | ".balignl" | ".balignw" | ".align" => u64::try_from(amount).unwrap_or(0).max(1),
            _ => 1u64.checked_shl(u32::try_from(amount).unwrap_or(64)).unwrap_or(0),
        };
        if !(1..=1 << 16).contains(&amount) {
            return Err(Problem::OutOfRange);
        }
        let past = u64::from(self.offset()) % amount;
        let gap = if past == 0 { 0 } else { amount - past };
        if gap == 0 || most.is_some_and(|most| most > 0 && gap > most as u64) {
            return Ok(());
        }
        // Code is filled with `s_nop`, and what is too small for one with zero bytes before it.
        let (pattern, width) = match (value, name.as_bytes().last()) {
            (None, _) => (NOP, 4),
            (Some(value), Some(b'l')) => (value as u32, 4),
            (Some(value), Some(b'w')) => (value as u32, 2),
            (Some(value), _) => (value as u32, 1),
        };
        self.add(line, gap % width as u64, &[0])?;
        self.add(line, gap / width as u64, &pattern.to_le_bytes()[..width])
    }

    fn fill(&mut self, line: u32, name: &str, rest: &str) -> Result<(), Problem> {
        let [Some(count), second, third] = self.numbers(rest)? else { return Err(Problem::BadNumber) };
        let count = u64::try_from(count).map_err(|_| Problem::OutOfRange)?;
        if name != ".fill" {
            return self.add(line, count, &[second.unwrap_or(0) as u8]);
        }
        let size =
            usize::try_from(second.unwrap_or(1)).ok().filter(|size| *size <= 8).ok_or(Problem::OutOfRange)?;
        // Only four bytes of the pattern count.
        let pattern = u64::from(third.unwrap_or(0) as u32).to_le_bytes();
        self.add(line, count, &pattern[..size])
    }

    /// Fills operands that name labels.
    fn resolve(&mut self) {
        for open in std::mem::take(&mut self.open) {
            let span = open.span.from as usize..open.span.to as usize;
            let Some(text) = open.text.get(span.clone()) else { continue };
            // A place in the code moves with the code; a difference of places does not.
            let at = |base: i64| {
                let symbols = |name: &str| match self.constants.get(name) {
                    Some(value) => Some(*value),
                    None => self.place(name, open.inst).map(|place| base + i64::from(place)),
                };
                match expression::read(&mut Cursor::new(text), &symbols) {
                    Some(Value::Known(value)) => Some(value),
                    _ => None,
                }
            };
            let (here, moved) = (at(0), at(1 << 40));
            let inst = &mut self.body.insts[open.inst as usize];
            let Some(slot) = inst.operands.get_mut(usize::from(open.operand)) else { continue };
            match (slot, here, moved) {
                (slot @ Operand::Target(_), Some(here), _) => {
                    *slot = Operand::Target(here.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32);
                }
                (slot @ Operand::Literal(_), Some(here), Some(moved)) if here == moved => {
                    *slot = Operand::Literal(here as u32);
                }
                (slot, ..) => {
                    if matches!(slot, Operand::Target(_)) && !text.contains('@') {
                        let mut error = TextError::new(open.text, span.start, Problem::UnknownLabel);
                        error.line = open.line;
                        self.body.errors.push(error);
                    }
                    let text = text.to_string();
                    self.body.symbols.push(SymbolRef { inst: open.inst, operand: open.operand, text });
                }
            }
        }
        self.body.errors.sort_by_key(|error| error.line);
    }

    /// Offset of a label, as seen from an instruction.
    fn place(&self, name: &str, inst: u32) -> Option<u32> {
        if let Some(place) = self.named.get(name) {
            return Some(*place);
        }
        if let Some(places) = name.strip_suffix('b').and_then(|digits| self.numeric.get(digits)) {
            let after = places.partition_point(|(before, _)| *before <= inst);
            return after.checked_sub(1).map(|at| places[at].1);
        }
        let places = name.strip_suffix('f').and_then(|digits| self.numeric.get(digits))?;
        let after = places.partition_point(|(before, _)| *before <= inst);
        places.get(after).map(|(_, offset)| *offset)
    }
}

/// Moves branch targets with the instruction.
fn shift_targets(inst: &mut Inst, by: u32) {
    for operand in &mut inst.operands {
        if let Operand::Target(target) = operand {
            *target = target.saturating_add_unsigned(by);
        }
    }
}

/// Number and path of `.file 1 "dir" "name" md5 …`; `.file "name"` without a number names no line-table file.
pub(crate) fn file_directive(rest: &str) -> Option<(u32, String)> {
    let mut cursor = Cursor::new(cursor::without_comment(rest));
    cursor.next_visible();
    let number = cursor.decimal()?;
    cursor.next_visible();
    let first = cursor.quoted()?;
    cursor.next_visible();
    Some(match cursor.quoted() {
        Some(name) if name.starts_with('/') => (number, name.to_string()),
        Some(name) => (number, format!("{}/{name}", first.trim_end_matches('/'))),
        None => (number, first.to_string()),
    })
}

#[cfg(test)]
mod tests;
