//! Functions that a kernel calls, directly or indirectly.
//!
//! A called function runs on the kernel's registers, so its code belongs to the kernel's card and listing;
//! its flow graph, addresses and source lines are separate.

use crate::calls;
use crate::code::{Code, Recent};
use crate::source::{Source, source_of};
use crate::text::{self, TextBody};
use codeobj::{Body, CodeObject, Function};
use isa::Isa;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use view::{Place, SourceLine};

/// Functions of a kernel that are read, at most.
const MOST_FUNCTIONS: usize = 64;
/// Instructions of them, at most.
const MOST_INSTRUCTIONS: usize = 200_000;

/// A function that is called, with its code.
pub struct Callee {
    /// Symbol name.
    pub name: String,
    /// Its instructions and what follows from them alone.
    pub code: Arc<Code>,
    /// Calls in it.
    pub calls: Vec<calls::Call>,
    address: u64,
    text: TextBody,
}

/// Finds and reads the functions behind `calls`, in the order in which they are met.
pub(crate) fn gather<'a>(
    isa: Isa,
    object: &CodeObject,
    source: Source<'a>,
    calls: &[calls::Call],
    recent: &mut Recent<'a>,
) -> Vec<Callee> {
    if calls.iter().all(|call| call.callee.is_none()) {
        return Vec::new();
    }
    let by_name: HashMap<&str, &Function> =
        object.functions.iter().map(|function| (function.name.as_str(), function)).collect();
    let mut seen: HashSet<String> = HashSet::new();
    let mut open: Vec<String> = calls.iter().rev().filter_map(|call| call.callee.clone()).collect();
    let mut found: Vec<Callee> = Vec::new();
    let mut instructions = 0;
    while let Some(name) = open.pop() {
        if found.len() == MOST_FUNCTIONS || instructions > MOST_INSTRUCTIONS || !seen.insert(name.clone()) {
            continue;
        }
        let Some(callee) = by_name.get(name.as_str()).and_then(|it| read(isa, object, source, it, recent))
        else {
            continue;
        };
        instructions += callee.code.insts.len();
        open.extend(callee.calls.iter().rev().filter_map(|call| call.callee.clone()));
        found.push(callee);
    }
    found
}

fn read<'a>(
    isa: Isa,
    object: &CodeObject,
    source: Source<'a>,
    function: &Function,
    recent: &mut Recent<'a>,
) -> Option<Callee> {
    let (code, address, text) = match (&function.body, source) {
        (Body::Code { address, bytes }, Source::Binary { data, .. }) => {
            (recent.function(isa, *address, data.get(bytes.clone())?), *address, TextBody::default())
        }
        (Body::Text { lines }, Source::Text { file }) => {
            let mut body = text::read(isa, file, lines.clone(), &mut Vec::new())?;
            (Arc::new(Code::of(std::mem::take(&mut body.insts))), 0, body)
        }
        _ => return None,
    };
    let calls = calls::find(&code.insts, address, object, &text.symbols);
    Some(Callee { name: function.name.clone(), code, calls, address, text })
}

impl Callee {
    /// Address of an instruction within the code object; `None` for text.
    pub fn address(&self, inst: usize) -> Option<u64> {
        let offset = self.code.insts.get(inst)?.offset;
        self.text.lines.is_empty().then(|| self.address + u64::from(offset))
    }

    /// Line of an instruction in the assembly text, 1-based; `None` for machine code.
    pub fn text_line(&self, inst: usize) -> Option<u32> {
        self.text.lines.get(inst).copied()
    }

    /// Text of an instruction as the disassembler prints it.
    pub fn text(&self, isa: Option<Isa>, inst: usize) -> String {
        match (isa, self.code.insts.get(inst)) {
            (Some(isa), Some(inst)) => inst.text(isa),
            _ => String::new(),
        }
    }

    /// Source position of an instruction, innermost inlined function first.
    pub(crate) fn source_line(&self, source: Source<'_>, inst: usize) -> Option<SourceLine> {
        match source {
            Source::Text { .. } => self.text.sources.get(inst).cloned().flatten(),
            Source::Binary { lines, .. } => source_of(lines?, self.address(inst)?),
        }
    }

    /// Position of an instruction, for messages.
    pub(crate) fn place(&self, isa: Option<Isa>, source: Source<'_>, inst: usize) -> Place {
        Place {
            address: self.address(inst),
            instruction: Some(self.text(isa, inst)).filter(|text| !text.is_empty()),
            text_line: self.text_line(inst),
            source: self.source_line(source, inst),
            in_loop: None,
        }
    }
}
