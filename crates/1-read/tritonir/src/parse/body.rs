//! The inside of a function while it is read: names in scope, blocks, regions, operations.

use super::cursor::Cursor;
use super::types::Interner;
use super::{MOST_NESTED, attributes};
use crate::error::ReadError;
use crate::model::{Attribute, Function, Op, OpId, Parameter, Source, Value, ValueId};
use crate::split::Aliases;
use crate::types::{Element, Tensor, Type};
use std::collections::HashMap;

/// A function that is being read.
pub(super) struct Body<'a> {
    pub(super) ops: Vec<Op<'a>>,
    pub(super) values: Vec<Value<'a>>,
    pub(super) operand_list: Vec<Option<ValueId>>,
    pub(super) type_list: Vec<usize>,
    /// First value of a name, and how many it names.
    scope: HashMap<&'a str, (ValueId, usize)>,
    /// Shadowed names with their meaning outside of the region.
    hidden: Vec<(&'a str, Option<(ValueId, usize)>)>,
}

impl<'a> Body<'a> {
    pub(super) fn new() -> Self {
        Body {
            ops: Vec::new(),
            values: Vec::new(),
            operand_list: Vec::new(),
            type_list: Vec::new(),
            scope: HashMap::new(),
            hidden: Vec::new(),
        }
    }

    pub(super) fn finish(
        self,
        name: &'a str,
        public: bool,
        line: u32,
        parameters: Vec<Parameter<'a>>,
        location: &'a str,
    ) -> Function<'a> {
        let Body { ops, values, operand_list, type_list, .. } = self;
        Function { name, public, line, parameters, ops, values, operand_list, type_list, location }
    }

    /// The value of `%name` or `%name#2`, if one is in scope.
    pub(super) fn look_up(&self, name: &str, index: usize) -> Option<ValueId> {
        let &(first, count) = self.scope.get(name)?;
        (index < count).then_some(first + index)
    }

    /// `count` new values of one name; `source` by index.
    pub(super) fn define(
        &mut self,
        name: &'a str,
        count: usize,
        source: impl Fn(usize) -> Source,
    ) -> ValueId {
        let first = self.values.len();
        self.values.extend((0..count).map(|index| Value { name, source: source(index), ty: None }));
        let before = self.scope.insert(name, (first, count));
        self.hidden.push((name, before));
        first
    }

    /// `%name: type {attributes} loc(…)` of a function or block.
    pub(super) fn argument(
        &mut self,
        cursor: &mut Cursor<'a>,
        aliases: &Aliases<'a>,
        interner: &mut Interner<'a>,
        source: Source,
    ) -> Result<(ValueId, Vec<Attribute<'a>>), ReadError> {
        cursor.bump();
        let name = cursor.word();
        let value = self.define(name, 1, |_| source);
        cursor.spaces();
        let mut found = Vec::new();
        if cursor.take(":") {
            cursor.spaces();
            let ty = ty(cursor)?;
            if let Some(it) = self.values.get_mut(value) {
                it.ty = Some(interner.intern(ty, aliases));
            }
        }
        loop {
            cursor.spaces();
            match cursor.peek() {
                Some(b'{') => found = attributes(cursor.bracket()?),
                Some(b'l') if cursor.take("loc") => {
                    cursor.bracket()?;
                }
                _ => return Ok((value, found)),
            }
        }
    }

    /// Passes over a type, attributes or a location.
    pub(super) fn skip_type(&self, cursor: &mut Cursor<'a>) -> Result<(), ReadError> {
        if cursor.peek() == Some(b'{') {
            return cursor.bracket().map(|_| ());
        }
        let start = cursor.at;
        ty(cursor)?;
        if cursor.at == start {
            return Err(cursor.error("neither a type nor the end of a list"));
        }
        Ok(())
    }

    /// The blocks of a region after its `{`, and the `}`. Gives how many blocks it has.
    pub(super) fn region(
        &mut self,
        cursor: &mut Cursor<'a>,
        aliases: &Aliases<'a>,
        interner: &mut Interner<'a>,
        of: Option<OpId>,
        first_block: usize,
    ) -> Result<usize, ReadError> {
        let depth = of.and_then(|it| self.ops.get(it)).map_or(0, |it| it.depth + 1);
        if depth > MOST_NESTED {
            return Err(cursor.error(format!("regions nest deeper than {MOST_NESTED}")));
        }
        let outside = self.entered();
        let mut block = first_block;
        let mut any = false;
        loop {
            cursor.blank();
            match cursor.peek() {
                None => return Err(cursor.error("the text ends within a region")),
                Some(b'}') => break cursor.bump(),
                Some(b'^') => {
                    block += usize::from(any);
                    self.block_head(cursor, aliases, interner, of, block)?;
                }
                Some(_) => op(self, cursor, aliases, interner, of, block)?,
            }
            any = true;
        }
        self.leave(outside);
        Ok(block + 1 - first_block)
    }

    /// Number of definitions so far, for [`Self::leave`].
    pub(super) fn entered(&self) -> usize {
        self.hidden.len()
    }

    /// Gives names the meanings they had at [`Self::entered`].
    pub(super) fn leave(&mut self, entered: usize) {
        while self.hidden.len() > entered {
            match self.hidden.pop() {
                Some((name, Some(before))) => self.scope.insert(name, before),
                Some((name, None)) => self.scope.remove(name),
                None => None,
            };
        }
    }

    /// `^bb1(%a: i32 loc(…), …):`.
    fn block_head(
        &mut self,
        cursor: &mut Cursor<'a>,
        aliases: &Aliases<'a>,
        interner: &mut Interner<'a>,
        of: Option<OpId>,
        block: usize,
    ) -> Result<(), ReadError> {
        cursor.bump();
        cursor.word();
        if cursor.take("(") {
            let mut index = 0;
            loop {
                cursor.blank();
                match cursor.peek() {
                    Some(b')') => break cursor.bump(),
                    Some(b',') => cursor.bump(),
                    Some(b'%') => {
                        let source = Source::Block { of, block, index };
                        let (value, _) = self.argument(cursor, aliases, interner, source)?;
                        if let Some(op) = of.and_then(|of| self.ops.get_mut(of)) {
                            op.block_arguments.push(value);
                        }
                        index += 1;
                    }
                    _ => return Err(cursor.error("the arguments of a block do not end")),
                }
            }
        }
        cursor.spaces();
        if !cursor.take(":") {
            return Err(cursor.error("no `:` after a block's name"));
        }
        Ok(())
    }
}

/// The text of one type: a name with `!` or without, and the `<…>` after it.
pub(super) fn ty<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, ReadError> {
    let start = cursor.at;
    cursor.take("!");
    cursor.word();
    if cursor.peek() == Some(b'<') {
        cursor.bracket()?;
    }
    Ok(cursor.slice(start, cursor.at))
}

/// Parts of an operation after its name.
#[derive(Default)]
struct Tail<'a> {
    operands: Vec<Option<ValueId>>,
    operand_types: Vec<usize>,
    result_types: Vec<usize>,
    attributes: Vec<Attribute<'a>>,
    location: &'a str,
    /// End of the text before types and regions.
    text_end: Option<usize>,
    blocks: usize,
    /// Names a loop gives to what it carries, with the start values.
    carried: Vec<(&'a str, Option<ValueId>)>,
    carried_defined: bool,
}

/// Reads an operation with its regions and adds it to the function.
pub(super) fn op<'a>(
    body: &mut Body<'a>,
    cursor: &mut Cursor<'a>,
    aliases: &Aliases<'a>,
    interner: &mut Interner<'a>,
    parent: Option<OpId>,
    block: usize,
) -> Result<(), ReadError> {
    let line = cursor.line;
    let results = results(cursor)?;
    let name = match cursor.peek() {
        Some(b'"') => cursor.string()?.trim_matches('"'),
        _ => cursor.word(),
    };
    if name.is_empty() || !name.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return Err(cursor.error("neither an operation nor the end of a region"));
    }
    let id = body.ops.len();
    let depth = parent.and_then(|it| body.ops.get(it)).map_or(0, |it| it.depth + 1);
    body.ops.push(Op {
        name,
        line,
        parent,
        block,
        depth,
        end: id + 1,
        text: "",
        attributes: Vec::new(),
        operands: 0..0,
        operand_types: 0..0,
        result_types: 0..0,
        results: 0..0,
        block_arguments: Vec::new(),
        initial: Vec::new(),
        location: "",
    });
    let start = cursor.at;
    let mut reader = Reader { body, cursor, aliases, interner, id };
    let mut tail = Tail::default();
    reader.tail(&mut tail)?;
    let text_end = tail.text_end.unwrap_or(cursor.at);
    let text = cursor.slice(start, text_end).trim();
    close(body, interner, id, text, tail, &results);
    Ok(())
}

/// Stores what was gathered, and defines the results.
fn close<'a>(
    body: &mut Body<'a>,
    interner: &mut Interner<'a>,
    id: OpId,
    text: &'a str,
    tail: Tail<'a>,
    results: &[(&'a str, usize)],
) {
    let operands = body.operand_list.len();
    body.operand_list.extend(&tail.operands);
    let types = body.type_list.len();
    body.type_list.extend(&tail.operand_types);
    let between = body.type_list.len();
    body.type_list.extend(&tail.result_types);
    let first = body.values.len();
    let mut index = 0;
    for &(name, count) in results {
        let base = index;
        body.define(name, count, |at| Source::Result(id, base + at));
        index += count;
    }
    let name = body.ops.get(id).map_or("", |op| op.name);
    let inferred = result_types(name, index, &tail, interner);
    for (value, ty) in body.values.iter_mut().skip(first).zip(inferred) {
        value.ty = Some(ty);
    }
    let end = body.ops.len();
    if let Some(op) = body.ops.get_mut(id) {
        op.end = end;
        op.text = text;
        op.attributes = tail.attributes;
        op.operands = operands..operands + tail.operands.len();
        op.operand_types = types..between;
        op.result_types = between..between + tail.result_types.len();
        op.results = first..first + index;
        op.location = tail.location;
        op.initial = tail.carried.iter().map(|(_, initial)| *initial).collect();
    }
}

/// `%a, %b:4 = `.
fn results<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(&'a str, usize)>, ReadError> {
    /// Maximum number of results of an operation; protects against malformed texts.
    const MOST: usize = 4096;
    let mut results = Vec::new();
    while cursor.peek() == Some(b'%') {
        cursor.bump();
        let name = cursor.word();
        let count =
            if cursor.take(":") { cursor.word().parse().ok().filter(|it| *it <= MOST) } else { Some(1) };
        let count = count.ok_or_else(|| cursor.error(format!("`%{name}:` is not followed by a count")))?;
        results.push((name, count));
        cursor.spaces();
        if cursor.take(",") {
            cursor.spaces();
        } else if cursor.take("=") {
            cursor.spaces();
            break;
        } else {
            return Err(cursor.error(format!("no `=` after `%{name}`")));
        }
    }
    Ok(results)
}

/// Types of the results: as written after an arrow, else what the operation's written types mean.
fn result_types(name: &str, results: usize, tail: &Tail<'_>, interner: &mut Interner<'_>) -> Vec<usize> {
    if !tail.result_types.is_empty() || results == 0 {
        return tail.result_types.clone();
    }
    let written = &tail.operand_types;
    let (Some(&first), Some(&last)) = (written.first(), written.last()) else { return Vec::new() };
    match name {
        "arith.select" => vec![last],
        "arith.cmpi" | "arith.cmpf" => {
            let condition = Element { name: "i1".to_owned(), pointer: false };
            let ty = match interner.types.get(first) {
                Some(Type::Tensor(it)) => Type::Tensor(with_element(it, condition)),
                _ => Type::Scalar(condition),
            };
            vec![interner.add(ty)]
        }
        "tt.load" => {
            let ty = match interner.types.get(first) {
                Some(Type::Tensor(it)) => Type::Tensor(with_element(it, pointed_to(&it.element))),
                Some(Type::Pointer(it)) => Type::Scalar(pointed_to(it)),
                _ => return vec![first],
            };
            vec![interner.add(ty)]
        }
        _ if results == 1 => vec![first],
        _ if written.len() == results => written.clone(),
        _ => Vec::new(),
    }
}

fn pointed_to(element: &Element) -> Element {
    Element { name: element.name.clone(), pointer: false }
}

fn with_element(tensor: &Tensor, element: Element) -> Tensor {
    let extents = tensor.shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
    let text = format!("{extents}x{}", element.name);
    Tensor { element, text, ..tensor.clone() }
}

struct Reader<'r, 'a> {
    body: &'r mut Body<'a>,
    cursor: &'r mut Cursor<'a>,
    aliases: &'r Aliases<'a>,
    interner: &'r mut Interner<'a>,
    id: OpId,
}

impl<'a> Reader<'_, 'a> {
    /// Everything after the operation's name.
    fn tail(&mut self, tail: &mut Tail<'a>) -> Result<(), ReadError> {
        let mut depth = 0u32;
        loop {
            self.cursor.spaces();
            let Some(byte) = self.cursor.peek() else { return Ok(()) };
            match byte {
                b'\n' if depth == 0 => return Ok(()),
                b'/' if self.cursor.peek_at(1) == Some(b'/') => self.cursor.skip_line(),
                b'%' => self.operand(tail)?,
                b'"' => {
                    self.cursor.string()?;
                }
                b'{' if (Cursor { at: self.cursor.at + 1, ..*self.cursor }).at_line_end() => {
                    self.ends_text(tail);
                    self.cursor.bump();
                    self.region(tail)?;
                }
                b'{' => {
                    let text = self.cursor.bracket()?;
                    if depth == 0 {
                        tail.attributes.extend(attributes(text));
                    }
                }
                b'<' => {
                    let properties = self.cursor.peek_at(1) == Some(b'{');
                    let text = self.cursor.bracket()?;
                    if properties {
                        tail.attributes.extend(attributes(text));
                    }
                }
                b'(' | b'[' => {
                    depth += 1;
                    self.cursor.bump();
                }
                b')' | b']' | b'}' if depth == 0 => return Ok(()),
                b')' | b']' => {
                    depth -= 1;
                    self.cursor.bump();
                }
                b':' if depth == 0 => {
                    self.ends_text(tail);
                    self.cursor.bump();
                    if !self.cursor.take(":") {
                        self.types(tail, false)?;
                    }
                }
                b'-' if depth == 0 && self.cursor.peek_at(1) == Some(b'>') => {
                    self.ends_text(tail);
                    self.cursor.skip(2);
                    self.types(tail, true)?;
                }
                b'l' if depth == 0 && self.cursor.rest().starts_with("loc(") => {
                    self.ends_text(tail);
                    self.cursor.skip(3);
                    tail.location = self.cursor.bracket()?;
                }
                _ if self.cursor.word().is_empty() => self.cursor.bump(),
                _ => {}
            }
        }
    }

    fn ends_text(&self, tail: &mut Tail<'a>) {
        tail.text_end.get_or_insert(self.cursor.at);
    }

    /// `%a`, `%a#2`, or `%a = %b`: a name for what a loop carries.
    fn operand(&mut self, tail: &mut Tail<'a>) -> Result<(), ReadError> {
        self.cursor.bump();
        let name = self.cursor.word();
        let mut index = 0;
        if self.cursor.take("#") {
            let digits = self.cursor.word();
            index = digits.parse().map_err(|_| self.cursor.error(format!("`%{name}#` needs a number")))?;
        }
        let before = *self.cursor;
        self.cursor.spaces();
        if self.cursor.take("= %") {
            let of = self.cursor.word();
            let index = if self.cursor.take("#") { self.cursor.word().parse().unwrap_or(0) } else { 0 };
            let initial = self.body.look_up(of, index);
            tail.carried.push((name, initial));
            tail.operands.push(initial);
            return Ok(());
        }
        *self.cursor = before;
        tail.operands.push(self.body.look_up(name, index));
        Ok(())
    }

    fn region(&mut self, tail: &mut Tail<'a>) -> Result<(), ReadError> {
        let entered = self.body.entered();
        let names_hidden = !tail.carried.is_empty() && !tail.carried_defined;
        if names_hidden {
            tail.carried_defined = true;
            self.carried(tail);
        }
        let id = self.id;
        let first = tail.blocks;
        tail.blocks += self.body.region(self.cursor, self.aliases, self.interner, Some(id), first)?;
        self.body.leave(entered);
        Ok(())
    }

    /// Defines loop-carried values as arguments of the loop's block. The first value of a `scf.for` is the
    /// counter; its type follows the colon.
    fn carried(&mut self, tail: &Tail<'a>) {
        let counted = self.body.ops.get(self.id).is_some_and(|op| op.name == "scf.for");
        let mut defined = Vec::with_capacity(tail.carried.len());
        for (index, (name, _)) in tail.carried.iter().enumerate() {
            let of = Some(self.id);
            let value = self.body.define(name, 1, |_| Source::Block { of, block: 0, index });
            let ty = match (counted, index) {
                (true, 0) => {
                    tail.operand_types.first().copied().or_else(|| self.type_of(tail.carried.first()?.1?))
                }
                (true, _) => tail.result_types.get(index - 1).copied(),
                (false, _) => tail.operand_types.get(index).copied(),
            };
            if let Some(it) = self.body.values.get_mut(value) {
                it.ty = ty;
            }
            defined.push(value);
        }
        if let Some(op) = self.body.ops.get_mut(self.id) {
            op.block_arguments = defined;
        }
    }

    fn type_of(&self, value: ValueId) -> Option<usize> {
        self.body.values.get(value)?.ty
    }

    /// A list of types after `:` or `->`; types after an arrow or `to` are result types.
    fn types(&mut self, tail: &mut Tail<'a>, mut of_results: bool) -> Result<(), ReadError> {
        let mut depth = 0u32;
        loop {
            self.cursor.spaces();
            let Some(byte) = self.cursor.peek() else { return Ok(()) };
            match byte {
                b',' | b'*' => self.cursor.bump(),
                b'(' | b'[' => {
                    depth += 1;
                    self.cursor.bump();
                }
                b')' | b']' if depth > 0 => {
                    depth -= 1;
                    self.cursor.bump();
                }
                b'\n' if depth > 0 => self.cursor.bump(),
                b'-' if self.cursor.peek_at(1) == Some(b'>') => {
                    self.cursor.skip(2);
                    of_results = true;
                }
                b'l' if self.cursor.rest().starts_with("loc(") => return Ok(()),
                b'!' | b'<' | b'a'..=b'z' | b'A'..=b'Z' => {
                    let text = ty(self.cursor)?;
                    match text {
                        "to" => of_results = true,
                        "" | "!" => return Err(self.cursor.error("a type without a name")),
                        _ => {
                            let index = self.interner.intern(text, self.aliases);
                            let list =
                                if of_results { &mut tail.result_types } else { &mut tail.operand_types };
                            list.push(index);
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }
}
