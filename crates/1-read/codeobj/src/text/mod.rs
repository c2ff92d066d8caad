//! Assembly text: which lines are which kernel's, and what the directives say about it.
//!
//! One pass over the lines finds structure only; the instructions between the labels are read elsewhere. A
//! stream may hold several compilations, each begun by its target directive.

mod directives;
mod expression;

use sorting::Sort;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::demangle::Demangler;
use crate::metadata::{self, Document, KernelEntry};
use crate::text::directives::Directives;
use crate::text::expression::Symbols;
use crate::yaml::Yaml;
use crate::{Body, CodeObject, Function, Kernel, Metadata, ReadError, Target};

/// Reads assembly text for AMD GPUs: one code object per `.amdgcn_target` directive.
pub fn read_text(text: &str) -> Result<Vec<CodeObject>, ReadError> {
    let parts = split(text);
    let several = parts.len() > 1;
    let mut objects = Vec::with_capacity(parts.len());
    for (index, part) in parts.into_iter().enumerate() {
        let mut object = part.read()?;
        if several {
            object.origin = format!("part[{index}]");
        }
        objects.push(object);
    }
    if objects.iter().all(|object| object.kernels.is_empty() && object.functions.is_empty()) {
        return Err(ReadError::new(0, "assembly text without kernels")
            .hint("kernels have an `.amdhsa_kernel` block or an entry in `.amdgpu_metadata`"));
    }
    Ok(objects)
}

/// One compilation within the text.
struct Part<'a> {
    text: &'a str,
    start: Cursor,
}

/// A place at the start of a line.
#[derive(Clone, Copy)]
struct Cursor {
    /// Bytes from the start of the part.
    offset: usize,
    /// Bytes from the start of the file.
    position: u64,
    /// Number of the line in the file.
    line: usize,
}

impl Cursor {
    /// The line here, without its end; moves to the next one.
    fn next<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let rest = text.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let (length, line) = match rest.find('\n') {
            Some(end) => (end + 1, &rest[..end]),
            None => (rest.len(), rest),
        };
        self.offset += length;
        self.position += length as u64;
        self.line += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

/// Cuts the text where a target directive begins a new compilation, comments and directives before it
/// included.
fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut start = Cursor { offset: 0, position: 0, line: 0 };
    let mut cursor = start;
    // Where the comments and directives that end at the cursor begin.
    let mut prologue = start;
    let mut has_target = false;
    while let Some(line) = cursor.next(text) {
        if line.trim_start().starts_with(".amdgcn_target") {
            if has_target {
                parts.push(Part {
                    text: &text[start.offset..prologue.offset],
                    start: Cursor { offset: 0, ..start },
                });
                start = prologue;
            }
            has_target = true;
            prologue = cursor;
        } else if !is_prologue(line) {
            prologue = cursor;
        }
    }
    parts.push(Part { text: &text[start.offset..], start: Cursor { offset: 0, ..start } });
    parts
}

fn is_prologue(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || [";", "//", ".text", ".file"].iter().any(|start| line.starts_with(start))
}

/// Contents of the lines of a part, before names are resolved.
#[derive(Default)]
struct Outline<'a> {
    target: Option<Target>,
    version: u8,
    directives: Vec<Directives<'a>>,
    symbols: Symbols<'a>,
    /// Body by function name, in the order of lines.
    bodies: Vec<(&'a str, Range<usize>)>,
    kernels: HashSet<&'a str>,
    document: Document,
    warnings: Vec<String>,
}

impl<'a> Part<'a> {
    fn read(&self) -> Result<CodeObject, ReadError> {
        let mut outline = self.outline()?;
        let target = outline.target.take();
        let target = target.or_else(|| outline.document.target.as_deref().and_then(Target::parse));
        let target = target.unwrap_or_else(|| {
            outline.warnings.push("the text does not name its target".to_owned());
            Target { processor: "unknown".to_owned(), ..Target::default() }
        });
        if outline.version == 0 {
            outline.version = match outline.document.version {
                Some((1, minor @ 0..=2)) => minor as u8 + 3,
                _ => 0,
            };
        }
        let lines = self.start.line..self.end().line;
        Ok(outline.finish(target, lines))
    }

    fn outline(&self) -> Result<Outline<'a>, ReadError> {
        let mut outline = Outline::default();
        let functions = self.functions();
        let mut open: Option<(&'a str, usize)> = None;
        let mut in_code = true;
        let mut cursor = self.start;
        loop {
            let number = cursor.line;
            let Some(line) = cursor.next(self.text) else { break };
            let close = |open: &mut Option<(&'a str, usize)>, outline: &mut Outline<'a>| {
                if let Some((name, start)) = open.take() {
                    outline.bodies.push((name, start..number));
                }
            };
            if let Some(label) = label(line) {
                if label.starts_with(".Lfunc_end") {
                    close(&mut open, &mut outline);
                } else if functions.contains(label) && in_code {
                    close(&mut open, &mut outline);
                    open = Some((label, number + 1));
                }
                continue;
            }
            let Some((directive, rest)) = directive(line) else { continue };
            match directive {
                ".amdgcn_target" => outline.target = Target::parse(unquote(rest)),
                ".hsa_code_object_isa" => outline.target = old_target(rest),
                ".hsa_code_object_version" => {
                    outline.version =
                        rest.split(',').next().and_then(|major| major.trim().parse().ok()).unwrap_or(0);
                }
                ".amdhsa_code_object_version" => outline.version = rest.parse().unwrap_or(0),
                ".amdhsa_kernel" => {
                    close(&mut open, &mut outline);
                    self.directives(&mut cursor, unquote(rest), &mut outline);
                }
                ".amdgpu_hsa_kernel" => {
                    outline.kernels.insert(unquote(rest));
                }
                ".amd_kernel_code_t" => {
                    self.end_of_block(&mut cursor, ".end_amd_kernel_code_t");
                    if let Some((_, start)) = &mut open {
                        *start = cursor.line;
                    }
                }
                ".amdgpu_metadata" | ".amd_amdgpu_hsa_metadata" => {
                    close(&mut open, &mut outline);
                    let start = cursor;
                    let closing = match directive {
                        ".amdgpu_metadata" => ".end_amdgpu_metadata",
                        _ => ".end_amd_amdgpu_hsa_metadata",
                    };
                    let end = self.end_of_block(&mut cursor, closing);
                    let yaml = &self.text[start.offset..end.offset];
                    merge(&mut outline.document, metadata::read(&mut Yaml::new(yaml, start.position))?);
                }
                ".set" => {
                    if let Some((name, formula)) = rest.split_once(',') {
                        outline.symbols.set(unquote(name.trim()), formula.trim());
                    }
                }
                ".size" => close(&mut open, &mut outline),
                ".text" => in_code = true,
                ".section" | ".rodata" | ".data" | ".bss" | ".pushsection" => {
                    in_code = unquote(rest).starts_with(".text");
                    if !in_code {
                        close(&mut open, &mut outline);
                    }
                }
                _ => {}
            }
        }
        if let Some((name, start)) = open {
            outline.bodies.push((name, start..cursor.line));
        }
        Ok(outline)
    }

    /// Names declared as functions anywhere in the text.
    fn functions(&self) -> HashSet<&'a str> {
        let mut functions = HashSet::new();
        for line in self.text.lines() {
            let Some((directive, rest)) = directive(line) else { continue };
            match directive {
                ".type" => {
                    if let Some((name, kind)) = rest.rsplit_once(',')
                        && matches!(
                            kind.trim(),
                            "@function" | "%function" | "STT_FUNC" | "@10" | "@AMDGPU_HSA_KERNEL"
                        )
                    {
                        functions.insert(unquote(name.trim()));
                    }
                }
                ".amdhsa_kernel" | ".amdgpu_hsa_kernel" => {
                    functions.insert(unquote(rest));
                }
                _ => {}
            }
        }
        functions
    }

    /// Reads an `.amdhsa_kernel` block and moves past it.
    fn directives(&self, cursor: &mut Cursor, name: &'a str, outline: &mut Outline<'a>) {
        let start = cursor.offset;
        let end = self.end_of_block(cursor, ".end_amdhsa_kernel");
        let values = self.text[start..end.offset]
            .lines()
            .filter_map(directive)
            .filter_map(|(directive, rest)| Some((directive.strip_prefix(".amdhsa_")?, rest)))
            .collect();
        outline.kernels.insert(name);
        outline.directives.push(Directives { name, values });
    }

    /// Moves past the line of a closing directive, or to the end of the part; returns where that line begins.
    fn end_of_block(&self, cursor: &mut Cursor, closing: &str) -> Cursor {
        loop {
            let here = *cursor;
            match cursor.next(self.text) {
                Some(line) if !line.trim_start().starts_with(closing) => {}
                _ => return here,
            }
        }
    }

    fn end(&self) -> Cursor {
        let mut cursor = self.start;
        while cursor.next(self.text).is_some() {}
        cursor
    }
}

fn merge(into: &mut Document, from: Document) {
    into.kernels.extend(from.kernels);
    into.target = into.target.take().or(from.target);
    into.version = into.version.or(from.version);
}

impl<'a> Outline<'a> {
    /// Brings bodies, directives and metadata together by name.
    fn finish(mut self, target: Target, lines: Range<usize>) -> CodeObject {
        let entries: Vec<KernelEntry> = std::mem::take(&mut self.document.kernels);
        let mut metadata: HashMap<String, Metadata> = HashMap::with_capacity(entries.len());
        let mut order = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = entry.linker_name().to_owned();
            order.push(name.clone());
            if metadata.insert(name.clone(), entry.metadata).is_some() {
                order.pop();
                self.warnings.push(format!("kernel `{name}` is twice in the metadata"));
            }
        }
        let mut descriptors = HashMap::new();
        for directives in &self.directives {
            let mut unknown = Vec::new();
            let descriptor = directives::descriptor(directives, &target, &mut self.symbols, &mut unknown);
            unknown.in_order();
            unknown.dedup();
            for name in unknown {
                self.warnings.push(format!(
                    "kernel `{}`: the value of `.amdhsa_{name}` is not known",
                    directives.name
                ));
            }
            descriptors.insert(directives.name, descriptor);
        }
        let mut kernels = Vec::new();
        let mut functions = Vec::new();
        let mut seen = HashSet::new();
        let mut demangler = Demangler::new();
        let named: HashSet<&str> = order.iter().map(String::as_str).collect();
        let mut add = |name: &str, body: Body, kernels: &mut Vec<Kernel>| {
            kernels.push(Kernel {
                demangled: demangler.name(name),
                name: name.to_owned(),
                body,
                descriptor: descriptors.get(name).copied(),
                metadata: metadata.remove(name).unwrap_or_default(),
            });
        };
        for (name, lines) in self.bodies {
            if !seen.insert(name) {
                self.warnings.push(format!("`{name}` is defined twice"));
                continue;
            }
            let body = Body::Text { lines };
            if self.kernels.contains(name) || named.contains(name) {
                add(name, body, &mut kernels);
            } else {
                functions.push(Function { name: name.to_owned(), body });
            }
        }
        let mut rest: Vec<&str> =
            self.kernels.iter().copied().chain(order.iter().map(String::as_str)).collect();
        rest.in_order();
        rest.dedup();
        for name in rest {
            if !seen.contains(name) {
                self.warnings.push(format!("kernel `{name}` has no code"));
                add(name, Body::Absent, &mut kernels);
            }
        }
        CodeObject {
            origin: String::new(),
            target,
            version: self.version,
            lines,
            kernels,
            functions,
            formats: Vec::new(),
            warnings: self.warnings,
        }
    }
}

/// The target of code-object version 2: major, minor, stepping, and names.
fn old_target(text: &str) -> Option<Target> {
    let mut numbers = text.split(',').map(|number| number.trim().parse().ok());
    Target::from_version(numbers.next()??, numbers.next()??, numbers.next()??)
}

/// The label a line begins with.
fn label(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(quoted) = line.strip_prefix('"') {
        let (name, rest) = quoted.split_once('"')?;
        return rest.trim_start().starts_with(':').then_some(name);
    }
    let end = line.find(|letter: char| !(letter.is_alphanumeric() || "._$@".contains(letter)))?;
    (end > 0 && line[end..].trim_start().starts_with(':')).then(|| &line[..end])
}

/// A directive and what follows it, without comments.
fn directive(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    if !line.starts_with('.') {
        return None;
    }
    let line = without_comment(line);
    let end = line.find(|letter: char| letter.is_whitespace()).unwrap_or(line.len());
    Some((&line[..end], line[end..].trim()))
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let bytes = line.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b';' if !quoted => return &line[..at],
            b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => return &line[..at],
            _ => {}
        }
    }
    line
}

/// A name or section without quotes and what follows it.
fn unquote(text: &str) -> &str {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => text,
    }
}
