//! From text to [`Dump`]: finds modules, their aliases and passes.
//!
//! The printed form of MLIR is read, of which only what all operations have in common is relied on: an
//! operation ends with its line, a region begins with `{` at the end of a line, types follow a colon. So
//! operations nobody told us of are read too.

mod body;
mod cursor;
mod types;

use crate::error::ReadError;
use crate::model::{Attribute, Dump, Function, Module, Parameter, Pass, Source};
use crate::split::Aliases;
use crate::split::{commas, first, within};
use body::Body;
use cursor::Cursor;
use types::Interner;

/// Maximum nesting depth of regions.
const MOST_NESTED: u32 = 64;
/// First words of a dump of a compiler pass.
const HEADER: &str = "// -----// IR Dump ";

/// Reads TTIR or TTGIR text, or a log with dumps of the compiler's passes.
///
/// # Errors
/// Fails if the text has no module, or if a module ends too early.
pub fn read(text: &str) -> Result<Dump<'_>, ReadError> {
    let mut cursor = Cursor { text, at: 0, line: 1 };
    let mut dump = Dump::default();
    let mut pending = Pending::default();
    while let Some(byte) = cursor.peek() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => cursor.bump(),
            b'#' | b'!' => alias(&mut cursor, &mut pending, &mut dump),
            b'/' => {
                let start = cursor.at;
                cursor.skip_line();
                if let Some(pass) = header(cursor.slice(start, cursor.at)) {
                    pending = Pending { pass: Some(pass), ..Pending::default() };
                }
            }
            _ => {
                let (start, word) = (cursor, cursor.word());
                let generic = start.rest().starts_with("\"builtin.module\"");
                if generic {
                    return Err(start
                        .error("a module in MLIR's generic form")
                        .hint("print it without `--mlir-print-op-generic`"));
                }
                match word {
                    "module" | "builtin.module" => {
                        let module = module(&mut cursor, std::mem::take(&mut pending), true)?;
                        dump.modules.push(module);
                    }
                    "tt.func" => {
                        cursor = start;
                        let module = module(&mut cursor, std::mem::take(&mut pending), false)?;
                        dump.modules.push(module);
                    }
                    // Lines of a log between the dumps.
                    _ => cursor.skip_line(),
                }
            }
        }
    }
    if dump.modules.is_empty() {
        let hint = "TTIR and TTGIR begin with `module` after some lines of `#name = …`";
        return Err(ReadError::new(cursor.line, "no module of Triton's IR in it").hint(hint));
    }
    Ok(dump)
}

/// Whether a text may be one for [`read`], by its beginning.
pub fn recognise(bytes: &[u8]) -> bool {
    const ENOUGH: usize = 64 << 10;
    let head = bytes.get(..bytes.len().min(ENOUGH)).unwrap_or_default();
    let has = |what: &str| memchr::memmem::find(head, what.as_bytes()).is_some();
    if memchr::memchr(0, head).is_some() {
        return false;
    }
    let function = has("tt.func ") || has("llvm.func @");
    has(HEADER) || (function && has("module")) || head.starts_with(b"tt.func ")
}

/// Pass and aliases read before a module begins.
#[derive(Default)]
struct Pending<'a> {
    pass: Option<Pass<'a>>,
    aliases: Aliases<'a>,
}

/// `#mma = #ttg.amd_mfma<…>`. Location aliases may follow their module.
fn alias<'a>(cursor: &mut Cursor<'a>, pending: &mut Pending<'a>, dump: &mut Dump<'a>) {
    let start = cursor.at;
    cursor.skip_line();
    let line = cursor.slice(start, cursor.at);
    let Some((name, meaning)) = line.split_once(" = ") else { return };
    let (name, meaning) = (name.trim(), meaning.trim());
    if pending.aliases.is_empty()
        && pending.pass.is_none()
        && name.starts_with("#loc")
        && let Some(last) = dump.modules.last_mut()
        && !last.aliases.contains_key(name)
    {
        last.aliases.insert(name, meaning);
        return;
    }
    pending.aliases.insert(name, meaning);
}

/// `// -----// IR Dump Before TritonGPUCoalesce (tritongpu-coalesce) ('builtin.module' operation) //-----
/// //`.
fn header(line: &str) -> Option<Pass<'_>> {
    let rest = line.strip_prefix(HEADER)?;
    let (when, rest) = rest.split_once(' ')?;
    let after = match when {
        "Before" => false,
        "After" => true,
        _ => return None,
    };
    let (name, rest) = rest.split_once(' ')?;
    let argument = rest.strip_prefix('(').and_then(|it| it.split_once(')')).map(|(it, _)| it);
    Some(Pass { after, name, argument: argument.filter(|it| !it.starts_with('\'')) })
}

/// A module after its name, or a function without one around it.
fn module<'a>(cursor: &mut Cursor<'a>, pending: Pending<'a>, wrapped: bool) -> Result<Module<'a>, ReadError> {
    let mut module = Module {
        pass: pending.pass,
        line: cursor.line,
        attributes: Vec::new(),
        functions: Vec::new(),
        types: Vec::new(),
        aliases: pending.aliases,
    };
    let mut interner = Interner::default();
    if wrapped {
        module_head(cursor, &mut module)?;
    }
    loop {
        let start = *cursor;
        cursor.blank();
        match cursor.peek() {
            None if wrapped => return Err(cursor.error("the text ends within a module")),
            None => break,
            Some(b'}') if wrapped => {
                cursor.bump();
                cursor.spaces();
                if cursor.take("loc(") {
                    cursor.skip_line();
                }
                break;
            }
            _ => {}
        }
        let here = *cursor;
        match cursor.word() {
            "tt.func" | "func.func" | "llvm.func" => {
                let function = function(cursor, &module.aliases, &mut interner)?;
                module.functions.push(function);
            }
            "" => return Err(here.error("neither a function nor the end of the module")),
            _ if !wrapped => {
                *cursor = start;
                break;
            }
            // A declaration other than a function: `llvm.mlir.global`.
            _ => cursor.skip_line(),
        }
    }
    module.types = interner.types;
    Ok(module)
}

/// `@name attributes {…} {`.
fn module_head<'a>(cursor: &mut Cursor<'a>, module: &mut Module<'a>) -> Result<(), ReadError> {
    loop {
        cursor.spaces();
        match cursor.peek() {
            Some(b'@') => {
                cursor.bump();
                cursor.word();
            }
            Some(b'{') => {
                let inside = Cursor { at: cursor.at + 1, ..*cursor };
                if inside.at_line_end() {
                    cursor.bump();
                    return Ok(());
                }
                module.attributes = attributes(cursor.bracket()?);
            }
            Some(b'a'..=b'z') => {
                cursor.word();
            }
            _ => return Err(cursor.error("no `{` after `module`")),
        }
    }
}

/// The attributes of `{a = 1, b}`, also with `<` and `>` around.
fn attributes(text: &str) -> Vec<Attribute<'_>> {
    let text = within(text, '<', '>').unwrap_or(text);
    let part = |part| {
        let (name, value) = first(part, b'=');
        Attribute { name: name.trim().trim_matches('"'), value: value.unwrap_or_default().trim() }
    };
    commas(within(text, '{', '}').unwrap_or_default()).map(part).collect()
}

/// A function after its `tt.func`.
fn function<'a>(
    cursor: &mut Cursor<'a>,
    aliases: &Aliases<'a>,
    interner: &mut Interner<'a>,
) -> Result<Function<'a>, ReadError> {
    let line = cursor.line;
    let mut public = true;
    let name = loop {
        cursor.spaces();
        if cursor.take("@") {
            break if cursor.peek() == Some(b'"') {
                cursor.string()?.trim_matches('"')
            } else {
                cursor.word()
            };
        }
        match cursor.word() {
            "" => return Err(cursor.error("a function without a name")),
            "private" => public = false,
            _ => {}
        }
    };
    let mut body = Body::new();
    let mut parameters = Vec::new();
    if !cursor.take("(") {
        return Err(cursor.error(format!("no parameters after the name of function `{name}`")));
    }
    loop {
        cursor.blank();
        match cursor.peek() {
            Some(b')') => break cursor.bump(),
            Some(b',') => cursor.bump(),
            Some(b'%') => {
                let source = Source::Parameter(parameters.len());
                let (value, attributes) = body.argument(cursor, aliases, interner, source)?;
                parameters.push(Parameter { value, attributes });
            }
            // A declaration has types only.
            Some(b'!' | b'a'..=b'z' | b'{' | b'<') => body.skip_type(cursor)?,
            _ => return Err(cursor.error(format!("the parameters of function `{name}` do not end"))),
        }
    }
    let mut location = "";
    loop {
        cursor.spaces();
        match cursor.peek() {
            None | Some(b'\n') => break,
            Some(b'{') if (Cursor { at: cursor.at + 1, ..*cursor }).at_line_end() => {
                cursor.bump();
                body.region(cursor, aliases, interner, None, 0)?;
            }
            Some(b'{' | b'(' | b'<') => {
                cursor.bracket()?;
            }
            Some(b'l') if cursor.rest().starts_with("loc(") => {
                cursor.skip(3);
                location = cursor.bracket()?;
            }
            Some(_) if cursor.word().is_empty() => cursor.bump(),
            Some(_) => {}
        }
    }
    Ok(body.finish(name, public, line, parameters, location))
}
