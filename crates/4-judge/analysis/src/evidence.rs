//! One kernel as evidence: what the code object says, its instructions, their flow, and the GPU's facts.
//!
//! A kernel read from machine code and one read from assembly text end up as the same [`KernelEvidence`];
//! only [`Source`] knows the difference, and only [`KernelEvidence::place`] asks it.

use crate::built::Built;
use crate::callees::Callee;
use crate::code::{Code, Recent};
use crate::ir::TritonIr;
use crate::shapes::{self, Shaped};
use crate::source::{Source, source_of};
use crate::text::{self, TextBody};
use crate::{callees, calls, resources};
use affine::{Addresses, Entry};
use codeobj::{Body, CodeObject, Kernel};
use isa::Isa;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use view::{Place, Resources, SourceLine};

/// Everything the rules and the card need to know of one kernel.
pub struct KernelEvidence<'a> {
    /// The code object it belongs to.
    pub object: &'a CodeObject,
    /// The kernel as the code object describes it.
    pub kernel: &'a Kernel,
    /// Facts of the target; `None` for a target that is not supported.
    pub target: Option<&'static arch::Target>,
    /// What limits the resident waves; known for more targets than the other facts.
    pub residency: Option<arch::Residency>,
    /// Instruction set; `None` for a target that is not supported.
    pub isa: Option<Isa>,
    /// Registers and memory.
    pub resources: Resources,
    /// Instructions and what follows from them alone.
    code: Arc<Code>,
    /// Waves per SIMD; `None` when the target or the registers are not known.
    pub occupancy: Option<arch::Occupancy>,
    /// Assumptions of the occupancy, as phrases.
    pub assumptions: Vec<String>,
    /// Calls in code order.
    pub calls: Vec<calls::Call>,
    /// Functions called directly or indirectly, as far as they are known by name.
    pub callees: Vec<Callee>,
    /// Size of the code in bytes, padding included; 0 for text.
    pub code_bytes: u64,
    /// Defects that did not stop the reading.
    pub warnings: Vec<String>,
    /// Triton's IR of the kernel, if known.
    pub ir: Option<&'a TritonIr>,
    /// Messages of the compiler, for a kernel known from the log of a build.
    pub built: Option<&'a Built>,
    /// Cycles for which a wave keeps vector units, memory path and LDS busy; worked out by the rule that
    /// first asks.
    pub busy: OnceLock<[f64; 3]>,
    /// There is code and no instruction in it, so nothing to judge.
    pub is_empty: bool,
    addresses: OnceLock<Arc<Addresses>>,
    shaped: OnceLock<Vec<Shaped>>,
    address: u64,
    source: Source<'a>,
    text: TextBody,
}

/// Warning for a kernel without an instruction.
const EMPTY: &str = "empty: the compiler left no instruction of this kernel for this target";

/// If more than one line in this many is unreadable, the rest is not used as evidence.
const MOST_UNREAD: usize = 50;

impl<'a> KernelEvidence<'a> {
    /// Number of unreadable lines of the text, if it is too high for the rest to be evidence of the kernel's
    /// behaviour.
    pub fn unread_lines(&self) -> Option<usize> {
        (self.text.unread * MOST_UNREAD > self.insts.len()).then_some(self.text.unread)
    }

    /// Reads the body of `kernel` and works out everything else.
    ///
    /// A body that cannot be read (an unsupported target, a range outside the file, text with unknown
    /// instructions) gives evidence without those instructions, and a warning.
    pub fn gather(object: &'a CodeObject, kernel: &'a Kernel, source: Source<'a>) -> Self {
        Self::gather_next(object, kernel, source, &mut Recent::default())
    }

    /// As `gather`, but reuses code that the previous kernels have in common.
    pub fn gather_next(
        object: &'a CodeObject,
        kernel: &'a Kernel,
        source: Source<'a>,
        recent: &mut Recent<'a>,
    ) -> Self {
        let target = arch::Target::of_code(&object.target.processor);
        let isa = Isa::for_processor(&object.target.processor);
        let mut warnings = Vec::new();
        let mut text = TextBody::default();
        let mut address = 0;
        let mut code_bytes = 0;
        let mut found = None;
        match (isa, &kernel.body, source) {
            (None, _, _) => warnings.push(format!(
                "instructions of `{}` are not decoded: the target is not supported",
                object.target.processor
            )),
            (Some(isa), Body::Code { address: start, bytes }, Source::Binary { data, .. }) => {
                address = *start;
                match data.get(bytes.clone()) {
                    Some(code) => {
                        code_bytes = code.len() as u64;
                        found = Some(recent.code(isa, code));
                    }
                    None => warnings.push(format!("code of `{}` is outside the file", kernel.name)),
                }
            }
            (Some(isa), Body::Text { lines }, Source::Text { file }) => {
                match text::read(isa, file, lines.clone(), &mut warnings) {
                    Some(body) => {
                        text = body;
                        found = Some(Arc::new(Code::of(std::mem::take(&mut text.insts))));
                    }
                    None => warnings.push(format!("code of `{}` is outside the file", kernel.name)),
                }
            }
            (Some(_), Body::Absent, _) => warnings.push(format!("no code for `{}` in the file", kernel.name)),
            (Some(_), _, _) => warnings.push(format!(
                "code of `{}` and its file are not of one kind, machine code or text",
                kernel.name
            )),
        }
        let is_empty = warnings.is_empty() && found.as_ref().is_some_and(|code| code.insts.is_empty());
        let code = found.unwrap_or_default();
        let resources = resources::gather(kernel, target, &code.insts);
        let residency = arch::Residency::of_code(&object.target.processor, resources.wavefront_size);
        let (occupancy, mut assumptions) =
            residency.map_or_else(Default::default, |it| resources::occupancy(kernel, it, &resources));
        assumptions.extend(stand_in(object, target));
        if is_empty {
            warnings.push(EMPTY.to_owned());
        }
        let calls = calls::find(&code.insts, address, object, &text.symbols);
        let callees = isa.map_or_else(Vec::new, |isa| callees::gather(isa, object, source, &calls, recent));
        KernelEvidence {
            object,
            kernel,
            target,
            residency,
            isa,
            resources,
            code,
            occupancy,
            assumptions,
            calls,
            callees,
            code_bytes,
            warnings,
            ir: None,
            built: None,
            busy: OnceLock::new(),
            is_empty,
            addresses: OnceLock::new(),
            shaped: OnceLock::new(),
            address,
            source,
            text,
        }
    }

    /// The kernel was made by Triton, as far as a companion file or IR says.
    pub fn is_triton(&self) -> bool {
        self.ir.is_some() || self.kernel.metadata.num_stages.is_some()
    }

    /// Addresses of the memory instructions; computed on first use.
    pub fn addresses(&self) -> &Addresses {
        self.addresses.get_or_init(|| {
            let packed = self.isa.is_none_or(Isa::packs_work_items);
            self.code.addresses(Entry::of(self.kernel, packed))
        })
    }

    /// Addresses in workgroups of each usual shape; empty if the code object tells the shape.
    pub fn usual_shapes(&self) -> &[Shaped] {
        self.shaped.get_or_init(|| {
            let packed = self.isa.is_none_or(Isa::packs_work_items);
            let entry = Entry::of(self.kernel, packed);
            if entry.tells_shape() || self.insts.is_empty() {
                return Vec::new();
            }
            let of = |(shape, size): &(&'static str, [u32; 3])| Shaped {
                shape,
                addresses: self.code.evaluate(&entry.with_workgroup(*size)),
            };
            shapes::usual(entry.max_workgroup).iter().map(of).collect()
        })
    }

    /// Address of an instruction within the code object; `None` for text.
    pub fn address(&self, inst: usize) -> Option<u64> {
        match self.source {
            Source::Binary { .. } => self.insts.get(inst).map(|i| self.address + u64::from(i.offset)),
            Source::Text { .. } => None,
        }
    }

    /// Line of an instruction in the assembly text, 1-based; `None` for machine code.
    pub fn text_line(&self, inst: usize) -> Option<u32> {
        self.text.lines.get(inst).copied()
    }

    /// Source position of an instruction, innermost inlined function first.
    pub fn source_line(&self, inst: usize) -> Option<SourceLine> {
        match self.source {
            Source::Text { .. } => self.text.sources.get(inst).cloned().flatten(),
            Source::Binary { lines, .. } => source_of(lines?, self.address(inst)?),
        }
    }

    /// Position of an instruction of a called function, for messages.
    pub fn place_in(&self, callee: &Callee, inst: usize) -> Place {
        callee.place(self.isa, self.source, inst)
    }

    /// Source position of an instruction in the kernel itself: of the call where the instruction is of an
    /// inlined function.
    pub fn kernel_line(&self, inst: usize) -> Option<SourceLine> {
        match self.source {
            Source::Text { .. } => self.source_line(inst),
            Source::Binary { lines, .. } => {
                let frame = lines?.frames(self.address(inst)?).into_iter().next_back()?;
                let known = !frame.file.is_empty() && frame.line > 0;
                known.then_some(SourceLine { file: frame.file, line: frame.line, function: None })
            }
        }
    }

    /// Text of an instruction as the disassembler prints it.
    pub fn text(&self, inst: usize) -> String {
        // Most instructions fit.
        let mut text = String::with_capacity(48);
        if let (Some(isa), Some(inst)) = (self.isa, self.insts.get(inst)) {
            inst.write_text(isa, &mut text);
        }
        text
    }

    /// Number of the innermost loop around an instruction, from 1 as on the card.
    pub fn loop_number(&self, inst: usize) -> Option<u32> {
        self.cfg.loop_of(u32::try_from(inst).ok()?).map(|id| id + 1)
    }

    /// Position of an instruction, for messages.
    pub fn place(&self, inst: usize) -> Place {
        Place {
            address: self.address(inst),
            instruction: Some(self.text(inst)).filter(|text| !text.is_empty()),
            text_line: self.text_line(inst),
            source: self.source_line(inst),
            in_loop: self.loop_number(inst),
        }
    }
}

/// The GPU whose facts represent all targets of generic code.
fn stand_in(object: &CodeObject, target: Option<&arch::Target>) -> Option<String> {
    arch::runs_on(&object.target.processor)?;
    Some(format!("a GPU of target {}, one of those that the code runs on", target?.name))
}

impl Deref for KernelEvidence<'_> {
    type Target = Code;

    fn deref(&self) -> &Code {
        &self.code
    }
}
