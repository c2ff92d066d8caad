//! Output of `inspect`: one card per kernel, and the annotated listing.
//!
//! The field names here are the JSON schema. A rename is a new schema version.

use crate::{
    Finding, LineSamples, LineTrace, ListingSamples, ListingTrace, NotChecked, Place, SourceLine, TritonCard,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON written by `inspect --format json`.
pub const INSPECT_SCHEMA: &str = "rockhound.inspect/1";

/// Static facts of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelCard {
    /// File it was read from.
    pub file: String,
    /// Location in the file: bundle member, archive member; empty for a bare code object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// Processor with features: `gfx90a:sramecc+:xnack-`.
    pub target: String,
    /// Code-object version, 2 to 6; 0 when unknown.
    pub code_object_version: u8,
    /// Linker name.
    pub name: String,
    /// Demangled name.
    pub demangled: String,
    /// Source position of the kernel's first line, with debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Registers and memory.
    pub resources: Resources,
    /// Waves per SIMD and what limits them.
    pub occupancy: Option<OccupancyCard>,
    /// Code size in bytes, including called functions; absent for assembly text and for IR alone.
    pub code_bytes: Option<u64>,
    /// Number of instructions, each called function counted once, excluding the padding after the last
    /// `s_endpgm`; absent without code.
    pub instructions: Option<u32>,
    /// Bytes that decode to no instruction of the target, counted as instructions.
    pub unknown_instructions: Option<u32>,
    /// Static instruction mix of the kernel and the functions it calls; absent without code.
    pub mix: Option<Mix>,
    /// Global, flat and buffer loads of the whole kernel by bytes per lane.
    pub load_widths: BTreeMap<u32, u32>,
    /// Global, flat and buffer stores of the whole kernel by bytes per lane.
    pub store_widths: BTreeMap<u32, u32>,
    /// LDS accesses of the whole kernel by bytes per lane.
    pub lds_widths: BTreeMap<u32, u32>,
    /// Maximum number of live vector registers, with the instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
    /// Natural loops, outer before inner, in code order; loops of called functions follow the kernel's own.
    pub loops: Vec<LoopCard>,
    /// Facts from Triton's IR, found next to the code or given alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triton: Option<TritonCard>,
    /// The compiler's own messages, for a kernel that is read from the log of a build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<CompilerCard>,
    /// Arguments the programmer declared.
    pub arguments: Vec<ArgumentCard>,
    /// Hidden arguments used, by kind.
    pub hidden_arguments: Vec<String>,
    /// Functions called (by name where known).
    pub calls: Vec<String>,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// Rules that need evidence which is absent.
    pub not_checked: Vec<NotChecked>,
    /// Problems of the input that did not prevent the analysis.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl KernelCard {
    /// The name to show: demangled where there is one.
    pub fn display_name(&self) -> &str {
        if self.demangled.is_empty() { &self.name } else { &self.demangled }
    }

    /// The processor without features: `gfx90a` of `gfx90a:sramecc+`.
    pub fn processor(&self) -> &str {
        self.target.split(':').next().unwrap_or_default()
    }
}

/// Registers and memory of a kernel; `None` if the file lacks the value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "named after the metadata keys")]
pub struct Resources {
    /// Architectural VGPRs (without AGPRs).
    pub vgprs: Option<u32>,
    pub agprs: Option<u32>,
    /// VGPRs allocated per lane, AGPRs included where the file is unified.
    pub vgprs_allocated: Option<u32>,
    pub sgprs: Option<u32>,
    pub vgpr_spills: Option<u32>,
    pub sgpr_spills: Option<u32>,
    /// Static LDS, bytes.
    pub lds_bytes: Option<u32>,
    /// LDS at launch in bytes, including static LDS, if a companion file has it.
    pub launch_lds_bytes: Option<u32>,
    /// Scratch per lane, bytes.
    pub scratch_bytes: Option<u32>,
    pub dynamic_stack: bool,
    pub kernarg_bytes: Option<u32>,
    pub max_workgroup: Option<u32>,
    pub required_workgroup: Option<[u32; 3]>,
    pub wavefront_size: Option<u32>,
    /// Waves per workgroup the occupancy is computed for.
    pub waves_per_workgroup: Option<u32>,
}

/// Occupancy of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OccupancyCard {
    /// Waves per SIMD.
    pub waves_per_simd: f64,
    /// Waves per compute unit.
    pub waves_per_cu: u32,
    /// Most the GPU holds.
    pub max_waves_per_simd: u32,
    /// Limiter of the occupancy: `VGPR`, `LDS`, …, `wave slots` if no resource limits it.
    pub limiter: String,
    /// Assumptions made: "workgroup of 1024 (max_flat_workgroup_size)".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<String>,
    /// Reasons for a figure that other tools print differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Next boundary per resource: the reduction that gains waves.
    pub next: Vec<OccupancyStep>,
    /// If several resources limit equally: the reductions of each that together gain waves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<OccupancyStep>,
}

/// Messages of a compiler about a kernel, in the log of a build.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompilerCard {
    /// First line of the log about the kernel.
    pub line: u32,
    /// Last line of the log about the kernel.
    pub last_line: u32,
    /// Waves per SIMD by the compiler's calculation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waves_per_simd: Option<u32>,
    /// Warnings and errors as printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
}

/// "Shed 4 VGPRs for 3 waves."
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OccupancyStep {
    /// Resource: `VGPR`, `LDS`, …
    pub resource: String,
    /// How much of it to shed.
    pub shed: u32,
    /// Unit: `registers`, `bytes`, `waves`.
    pub unit: String,
    /// Waves per SIMD then, with all else unchanged.
    pub waves_per_simd: f64,
}

/// Counts of instructions by unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "named after the instruction classes")]
pub struct Mix {
    pub valu: u32,
    pub mfma: u32,
    pub salu: u32,
    pub smem: u32,
    pub vmem_load: u32,
    pub vmem_store: u32,
    pub vmem_atomic: u32,
    pub lds: u32,
    pub branch: u32,
    pub wait: u32,
    pub barrier: u32,
    pub message: u32,
    pub control: u32,
    pub unknown: u32,
}

impl Mix {
    /// Every class with its key and its displayed name, in the order shown.
    pub fn classes(&self) -> [(&'static str, &'static str, u32); 14] {
        [
            ("valu", "VALU", self.valu),
            ("mfma", "MFMA", self.mfma),
            ("salu", "SALU", self.salu),
            ("smem", "SMEM", self.smem),
            ("vmem_load", "load", self.vmem_load),
            ("vmem_store", "store", self.vmem_store),
            ("vmem_atomic", "atomic", self.vmem_atomic),
            ("lds", "LDS", self.lds),
            ("branch", "branch", self.branch),
            ("wait", "wait", self.wait),
            ("barrier", "barrier", self.barrier),
            ("message", "message", self.message),
            ("control", "control", self.control),
            ("unknown", "unknown", self.unknown),
        ]
    }

    /// Instructions of all classes.
    pub fn total(&self) -> u32 {
        self.classes().iter().map(|(_, _, count)| count).sum()
    }
}

/// Register pressure at its peak.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pressure {
    /// Live architectural VGPRs at the peak.
    pub live_vgprs: u32,
    /// Live AGPRs there.
    pub live_agprs: u32,
    /// Where.
    pub at: Place,
}

/// One loop.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopCard {
    /// Number, from 1.
    pub id: u32,
    /// Nesting depth, from 1.
    pub depth: u32,
    /// Enclosing loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The called function that contains it; absent in the kernel's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Address (or text line) range.
    pub place: Place,
    /// Instructions per iteration, inner loops excluded.
    pub instructions: u32,
    /// Mix per iteration, inner loops excluded.
    pub mix: Mix,
    /// Global, flat and buffer loads by bytes per lane: `{"16": 4, "4": 2}`.
    pub load_widths: BTreeMap<u32, u32>,
    /// Global, flat and buffer stores by bytes per lane.
    pub store_widths: BTreeMap<u32, u32>,
    /// LDS accesses by bytes per lane.
    pub lds_widths: BTreeMap<u32, u32>,
    /// Wait pattern in order: `["vmcnt(0)", "lgkmcnt(2)"]`.
    pub waits: Vec<String>,
}

/// One argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "named after the metadata keys")]
pub struct ArgumentCard {
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub offset: u32,
    pub size: u32,
    pub kind: String,
}

/// The annotated disassembly of one kernel.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Listing {
    /// Kernel name.
    pub kernel: String,
    /// The addresses are lines of assembly text.
    pub text_lines: bool,
    /// Totals of a recording for the whole kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<ListingRun>,
    /// Totals of the program counter samples for the whole kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<ListingSamples>,
    /// Totals of a thread trace for the whole kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<ListingTrace>,
    /// Lines in code order.
    pub lines: Vec<ListingLine>,
}

impl Listing {
    /// True if it lists only instructions from samples or traces, because the code object is missing.
    pub fn measured_only(&self) -> bool {
        self.samples.as_ref().is_some_and(|it| it.sampled_only)
            || self.trace.as_ref().is_some_and(|it| it.traced_only)
    }
}

/// One instruction of a listing.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListingLine {
    /// Address, or line of the text.
    pub address: u64,
    /// Instruction text.
    pub text: String,
    /// Label before the instruction (branch target).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Source position when it differs from the line before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Depth of loops around it.
    pub loop_depth: u32,
    /// Live VGPRs and AGPRs before it.
    pub live_vgprs: u32,
    /// Live AGPRs before it.
    pub live_agprs: u32,
    /// This is the peak of pressure.
    pub peak: bool,
    /// Rules with a finding here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<&'static str>,
    /// Recorded execution of the instruction; absent if it never ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<LineRun>,
    /// Program counter samples at the instruction; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<LineSamples>,
    /// Thread trace of the instruction; absent if no traced wave ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<LineTrace>,
}

impl ListingLine {
    /// An instruction of which only address and text are known.
    pub fn new(address: u64, text: impl Into<String>) -> ListingLine {
        ListingLine {
            address,
            text: text.into(),
            label: None,
            source: None,
            loop_depth: 0,
            live_vgprs: 0,
            live_agprs: 0,
            peak: false,
            findings: Vec::new(),
            run: None,
            samples: None,
            trace: None,
        }
    }
}

/// Sums over a kernel's dispatches, for its listing.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListingRun {
    /// Dispatches summed.
    pub dispatches: u64,
    /// Instructions issued by waves, including called functions.
    pub issued: u64,
    /// Of these, in code outside the listing: functions called.
    pub elsewhere: u64,
    /// Wait reasons of its waves, most time first; empty if time was not modelled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitShare>,
}

/// Wait reason of a kernel's waves.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitShare {
    /// The reason, as in [`LineStall`].
    pub why: String,
    /// Percent of all cycles that waves of the kernel waited.
    pub share: f64,
}

/// Execution of one instruction, summed over the dispatches.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineRun {
    /// Executions by waves.
    pub count: u64,
    /// Percent of all instructions issued.
    pub share: f64,
    /// Active lanes, average over the executions.
    pub lanes: f64,
    /// Vector memory: different cache lines that one access of a wave touches, average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_per_access: Option<f64>,
    /// LDS: cycles lost to conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_cycles: Option<u64>,
    /// LDS: cycles of the accesses, including conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lds_cycles: Option<u64>,
    /// Reason for which waves waited before it, if time was modelled and they waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<LineStall>,
}

/// Waits of waves before an instruction.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineStall {
    /// Cycles, average over the executions.
    pub cycles: f64,
    /// Percent of all cycles that waves of the kernel waited.
    pub share: f64,
    /// The reason of most of them.
    pub why: String,
}
