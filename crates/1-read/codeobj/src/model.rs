//! A code object: target, kernels, their descriptors and metadata.
//!
//! An ELF file, a bundle member and an assembly file all become the same [`CodeObject`]; only [`Body`]
//! differs, which is machine code in one case and lines of text in the other.

use std::ops::Range;

/// State of a target feature such as xnack or sramecc.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Feature {
    /// The GPU does not have it, or the file does not say.
    #[default]
    Unspecified,
    /// Runs with the feature on or off.
    Any,
    /// Built for the feature on.
    On,
    /// Built for the feature off.
    Off,
}

/// The target a code object was built for, for example `gfx90a:sramecc+:xnack-`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Target {
    /// Processor, for example `gfx942`; `unknown-0x…` when the ELF machine flag is not in the table.
    pub processor: String,
    /// Page-fault replay.
    pub xnack: Feature,
    /// ECC in registers and memories.
    pub sramecc: Feature,
}

/// One code object: what one GPU target gets from one compilation.
#[derive(Clone, Debug)]
pub struct CodeObject {
    /// How it was reached inside the file: `.hip_fatbin[3]`, `archive member foo.o`; empty for a bare file.
    pub origin: String,
    /// Target.
    pub target: Target,
    /// Code-object version, 2 to 6; 0 when the file does not say.
    pub version: u8,
    /// Lines of the file that belong to this compilation, for assembly text; empty for machine code.
    pub lines: Range<usize>,
    /// Kernels in the order of their addresses (ELF) or lines (text).
    pub kernels: Vec<Kernel>,
    /// Device functions that are not kernels.
    pub functions: Vec<Function>,
    /// Texts of `printf` that device code names by a number: `0:0:NUMBER,TEXT`, as the compiler writes them.
    pub formats: Vec<String>,
    /// Problems that did not prevent the reading.
    pub warnings: Vec<String>,
}

/// A function that kernels call.
#[derive(Clone, Debug)]
pub struct Function {
    /// Symbol name.
    pub name: String,
    /// Where its code is.
    pub body: Body,
}

/// Where the instructions are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// Machine code: virtual address, and byte range within the code object's bytes, which is empty for a
    /// function without instructions.
    Code {
        /// Virtual address of the first byte.
        address: u64,
        /// Byte range within the code object.
        bytes: Range<usize>,
    },
    /// Assembly text: line range (0-based, end exclusive) within the file.
    Text {
        /// Lines of the body, from the one after the function label.
        lines: Range<usize>,
    },
    /// The file names the kernel and holds no code for it.
    Absent,
}

/// One kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Linker name, without `.kd`.
    pub name: String,
    /// Demangled name; equal to `name` where it is not mangled.
    pub demangled: String,
    /// Where its instructions are.
    pub body: Body,
    /// Fields of the 64-byte kernel descriptor or the `.amdhsa_` directives.
    pub descriptor: Option<Descriptor>,
    /// Registers, memory sizes and arguments from the metadata note.
    pub metadata: Metadata,
}

/// Fields of the kernel descriptor, decoded for the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Descriptor {
    /// Static LDS in bytes.
    pub lds_bytes: u32,
    /// Scratch per lane in bytes.
    pub scratch_bytes: u32,
    /// Kernel arguments in bytes.
    pub kernarg_bytes: u32,
    /// Allocated vector registers, AGPRs included where the file is unified (granulated).
    pub vgprs_allocated: u32,
    /// Allocated scalar registers (granulated); 0 where the target always gives all.
    pub sgprs_allocated: u32,
    /// First AGPR within the unified file (gfx90a and later), else 0.
    pub accum_offset: u32,
    /// `compute_pgm_rsrc1`
    pub rsrc1: u32,
    /// `compute_pgm_rsrc2`
    pub rsrc2: u32,
    /// `compute_pgm_rsrc3`
    pub rsrc3: u32,
    /// `kernel_code_properties`
    pub properties: u16,
    /// `kernarg_preload`: dwords and offset.
    pub kernarg_preload: u16,
    /// Scratch, dispatch pointer and further user SGPRs in total.
    pub user_sgprs: u8,
    /// Which of work-group ids x, y, z and info are given in SGPRs: bits 0 to 3.
    pub workgroup_id_mask: u8,
    /// Work-item id dimensions in VGPRs: 1 to 3.
    pub workitem_id_dims: u8,
    /// Kernel uses a stack of unknown size (calls through pointers, recursion).
    pub dynamic_stack: bool,
    /// Whether a private segment is enabled.
    pub private_segment: bool,
    /// Threadgroup split mode.
    pub tg_split: bool,
    /// MODE: IEEE.
    pub ieee_mode: bool,
    /// MODE: DX10_CLAMP.
    pub dx10_clamp: bool,
    /// MODE: FP16_OVFL.
    pub fp16_overflow: bool,
    /// MODE: rounding bits (4) and denormal bits (4) as in FLOAT_MODE.
    pub float_mode: u8,
}

/// One kernel argument.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Argument {
    /// Name in the source; may be empty.
    pub name: String,
    /// Type name in the source; may be empty.
    pub type_name: String,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// `by_value`, `global_buffer`, `hidden_block_count_x`, …
    pub kind: String,
    /// `global`, `local`, …; may be empty.
    pub address_space: String,
    /// `read_only`, `write_only`, `read_write`; may be empty.
    pub access: String,
    /// Declared `const` pointee.
    pub is_const: bool,
    /// Declared `__restrict__`.
    pub is_restrict: bool,
}

impl Argument {
    /// Added by the compiler, not by the programmer.
    pub fn is_hidden(&self) -> bool {
        self.kind.starts_with("hidden_")
    }
}

/// Values of the metadata note; `None` if it omits them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Metadata {
    /// VGPRs used, AGPRs included where the file is unified.
    pub vgprs: Option<u32>,
    /// AGPRs used.
    pub agprs: Option<u32>,
    /// SGPRs used, VCC and the like included.
    pub sgprs: Option<u32>,
    /// VGPRs spilled.
    pub vgpr_spills: Option<u32>,
    /// SGPRs spilled.
    pub sgpr_spills: Option<u32>,
    /// Static LDS in bytes.
    pub lds_bytes: Option<u32>,
    /// LDS given at launch as a companion file says (Triton's `shared`), bytes.
    pub launch_lds_bytes: Option<u32>,
    /// Waves per workgroup as a companion file says (Triton's `num_warps`).
    pub launch_waves: Option<u32>,
    /// Pipeline stages as a companion file says (Triton's `num_stages`).
    pub num_stages: Option<u32>,
    /// Scratch per lane in bytes.
    pub scratch_bytes: Option<u32>,
    /// Kernel arguments in bytes.
    pub kernarg_bytes: Option<u32>,
    /// Kernarg alignment in bytes.
    pub kernarg_align: Option<u32>,
    /// Largest workgroup the kernel may be launched with, work-items.
    pub max_workgroup: Option<u32>,
    /// `reqd_work_group_size`
    pub required_workgroup: Option<[u32; 3]>,
    /// Lanes per wave.
    pub wavefront_size: Option<u32>,
    /// Stack of unknown size.
    pub dynamic_stack: Option<bool>,
    /// Source language.
    pub language: Option<String>,
    /// Kernel kind (`normal`, `init`, `fini`).
    pub kind: Option<String>,
    /// Launches use uniform workgroups.
    pub uniform_workgroup: Option<bool>,
    /// Arguments in order, hidden ones included.
    pub arguments: Vec<Argument>,
}

impl Metadata {
    /// The arguments that a caller gives, in order.
    pub fn given(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| !argument.is_hidden())
    }
}
