//! Facts in the IR of one kernel, as plain values for rules and for display.

use crate::access::{Access, Atomic, accesses};
use crate::context::{At, Context};
use crate::convert::{Exchange, exchange};
use crate::dot::{Dot, dots};
use crate::layout::Layout;
use crate::lds::{LdsAccount, lds};
use crate::loops::{Loop, loops};
use crate::model::{Function, Module, OpId};
use crate::style::ScratchStyle;
use crate::trips::{RoundTrips, round_trips};
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// The operations of one Python line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineOps {
    /// File.
    pub file: String,
    /// Line.
    pub source_line: u32,
    /// Operations with how often, in order of the text. Arithmetic and what only shapes a value is left out
    /// where something else is on the line.
    pub operations: Vec<(String, u32)>,
}

/// Form of the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Tensors without layouts.
    Ttir,
    /// Tensors with layouts.
    Ttgir,
    /// Lowered to the LLVM dialect of MLIR: no tensors are left.
    Llvm,
}

impl Form {
    /// `TTIR` or `TTGIR`.
    pub fn name(self) -> &'static str {
        match self {
            Form::Ttir => "TTIR",
            Form::Ttgir => "TTGIR",
            Form::Llvm => "the LLVM dialect, lowered from Triton's IR",
        }
    }
}

/// A change of layout.
#[derive(Clone, PartialEq, Debug)]
pub struct Conversion {
    /// Position.
    pub at: At,
    /// `64x64xf16`.
    pub shape: String,
    /// Kinds of the layouts: `amd_mfma`, `blocked`.
    pub kinds: (String, String),
    /// The source holds results of matrix instructions.
    pub from_mfma: bool,
    /// Implementation.
    pub exchange: Exchange,
    /// Store or atomic that the value reaches without more arithmetic.
    pub feeds_store: Option<Sink>,
    /// The value converted is a transposed one, or comes from the LDS: the IR operation that made it.
    pub of: Option<String>,
}

/// Final consumer of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sink {
    /// A store.
    Store,
    /// An atomic.
    Atomic,
}

/// A reduction.
#[derive(Clone, PartialEq, Debug)]
pub struct Reduction {
    /// Position.
    pub at: At,
    /// Dimension.
    pub axis: u32,
    /// Waves along it whose partial results meet in the LDS; 1 for none.
    pub waves: u64,
}

/// A `tt.trans`.
#[derive(Clone, PartialEq, Debug)]
pub struct Transpose {
    /// Position.
    pub at: At,
    /// Type of the operand: `64x64xf16`.
    pub shape: String,
    /// The operand is an LDS buffer, so the transpose costs address arithmetic only.
    pub of_buffer: bool,
    /// Its operand is a value read from memory without arithmetic between: `tt.load` or a buffer load.
    pub of_load: bool,
    /// The result reaches a matrix product without arithmetic between.
    pub to_dot: bool,
    /// The result, or a value computed from it, is a factor of a matrix product.
    pub reaches_dot: bool,
    /// A conversion through the LDS follows it.
    pub through_lds: bool,
    /// Its value is stored without arithmetic: the kernel transposes.
    pub to_store: bool,
}

/// One kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelIr {
    /// Name.
    pub name: String,
    /// TTIR or TTGIR.
    pub form: Form,
    /// `gfx942`, where the module says.
    pub processor: Option<String>,
    /// `hip` or `cuda`, where the module says.
    pub backend: Option<String>,
    /// Waves per workgroup.
    pub waves: Option<u32>,
    /// Position of the kernel's beginning.
    pub at: At,
    /// Parameters: name, type, divisibility in bytes or elements as Triton states it.
    pub parameters: Vec<(String, String, Option<i64>)>,
    /// Layouts defined by the module, by kind.
    pub layout_kinds: BTreeMap<String, u32>,
    /// Operations by name.
    pub operations: BTreeMap<String, u32>,
    /// Loops, outer before inner.
    pub loops: Vec<Loop>,
    /// Matrix products.
    pub dots: Vec<Dot>,
    /// Loads and stores of global memory.
    pub accesses: Vec<Access>,
    /// Changes of layout.
    pub conversions: Vec<Conversion>,
    /// Reductions.
    pub reductions: Vec<Reduction>,
    /// Transposes.
    pub transposes: Vec<Transpose>,
    /// Values that go through the LDS twice.
    pub round_trips: Vec<RoundTrips>,
    /// Atomics on global memory.
    pub atomics: Vec<Atomic>,
    /// LDS buffers.
    pub lds: LdsAccount,
    /// Python lines with their operations, by file and line.
    pub lines: Vec<LineOps>,
    /// `ttg.shared` of a module dumped after the allocation.
    pub stated_lds: Option<u64>,
}

/// Every kernel of a module.
pub fn kernels(module: &Module<'_>, style: Option<ScratchStyle>) -> Vec<KernelIr> {
    let style = style.unwrap_or_else(|| ScratchStyle::of_spelling(module));
    module.kernels().map(|function| kernel(module, function, style)).collect()
}

fn kernel(module: &Module<'_>, function: &Function<'_>, style: ScratchStyle) -> KernelIr {
    let context = Context::new(module, function);
    let mut operations: BTreeMap<String, u32> = BTreeMap::new();
    for op in &function.ops {
        match operations.get_mut(op.name) {
            Some(count) => *count += 1,
            None => drop(operations.insert(op.name.to_owned(), 1)),
        }
    }
    let mut layout_kinds = BTreeMap::new();
    for (name, text) in &module.aliases {
        if !name.starts_with("#loc")
            && let Some(layout) = Layout::read(text, &module.aliases)
        {
            *layout_kinds.entry(layout.kind().to_owned()).or_default() += 1;
        }
    }
    let mut lds = lds(module, function, style);
    for buffer in &mut lds.buffers {
        buffer.at = context.at(buffer.op);
    }
    let location = module.function_location(function);
    let frame = location.kernel_line();
    KernelIr {
        name: function.name.to_owned(),
        form: form(module, function),
        processor: module.processor().map(str::to_owned),
        backend: module.target().map(|it| it.split(':').next().unwrap_or_default().to_owned()),
        waves: module.waves(),
        at: At {
            line: function.line,
            op: "tt.func".to_owned(),
            file: frame.map_or_else(String::new, |it| it.file.to_owned()),
            source_line: frame.map_or(0, |it| it.line),
            in_loop: None,
        },
        parameters: parameters(module, function),
        layout_kinds,
        operations,
        loops: loops(&context),
        dots: dots(&context),
        accesses: accesses(&context),
        conversions: conversions(&context, style),
        reductions: reductions(&context),
        transposes: transposes(&context, style),
        round_trips: round_trips(&context, style),
        atomics: crate::access::atomics(&context),
        lds,
        lines: lines(&context),
        stated_lds: module.gpu_number("shared").and_then(|it| u64::try_from(it).ok()),
    }
}

/// Form of a function.
fn form(module: &Module<'_>, function: &Function<'_>) -> Form {
    let has = |dialect: &str| function.ops.iter().any(|op| op.dialect() == dialect);
    let layouts = module.types.iter().any(|it| it.tensor().is_some_and(|it| it.layout.is_some()));
    if has("llvm") && !has("tt") {
        Form::Llvm
    } else if layouts || module.waves().is_some() {
        Form::Ttgir
    } else {
        Form::Ttir
    }
}

fn lines(context: &Context<'_, '_>) -> Vec<LineOps> {
    let mut lines: BTreeMap<(String, u32), Vec<(String, u32)>> = BTreeMap::new();
    for op in 0..context.function.ops.len() {
        let at = context.at(op);
        if at.source_line == 0 {
            continue;
        }
        let list = lines.entry((at.file, at.source_line)).or_default();
        match list.iter_mut().find(|(name, _)| *name == at.op) {
            Some((_, times)) => *times += 1,
            None => list.push((at.op, 1)),
        }
    }
    let shapes = |name: &str| {
        matches!(name.split('.').next(), Some("arith" | "scf" | "cf" | "rocdl"))
            || matches!(name, "tt.splat" | "tt.broadcast" | "tt.expand_dims" | "tt.make_range" | "tt.addptr")
    };
    let line = |((file, source_line), mut operations): ((String, u32), Vec<(String, u32)>)| {
        if operations.iter().any(|(name, _)| !shapes(name)) {
            operations.retain(|(name, _)| !shapes(name));
        }
        LineOps { file, source_line, operations }
    };
    lines.into_iter().map(line).collect()
}

fn parameters(module: &Module<'_>, function: &Function<'_>) -> Vec<(String, String, Option<i64>)> {
    let describe = |it: &crate::model::Parameter<'_>| {
        let name = function.values.get(it.value).map_or("", |it| it.name).to_owned();
        let ty = match module.type_of(function, it.value) {
            Some(Type::Pointer(element)) => format!("*{}", element.name),
            Some(Type::Scalar(element)) => element.name.clone(),
            Some(Type::Other(text)) => text.clone(),
            Some(Type::Tensor(it) | Type::Memory(it)) => it.text.clone(),
            None => String::new(),
        };
        let divisible = it.attributes.iter().find(|it| it.name == "tt.divisibility");
        (name, ty, divisible.and_then(|it| crate::model::number(it.value)))
    };
    function.parameters.iter().map(describe).collect()
}

fn conversions(context: &Context<'_, '_>, style: ScratchStyle) -> Vec<Conversion> {
    let (module, function) = (context.module, context.function);
    let of = |op: OpId| {
        let from = module.operand_types(function, op).next().and_then(Type::tensor)?;
        let to = module.result_types(function, op).next().and_then(Type::tensor);
        let kind = |it: Option<&crate::types::Tensor>| {
            it.and_then(|it| it.layout.as_deref()).map_or("unknown", Layout::kind).to_owned()
        };
        Some(Conversion {
            at: context.at(op),
            shape: from.text.clone(),
            kinds: (kind(Some(from)), kind(to)),
            from_mfma: from.layout.as_deref().is_some_and(|it| matches!(it, Layout::Mfma { .. })),
            exchange: exchange(module, function, op, style),
            feeds_store: sink(context, op),
            of: context.definition(op, 0).and_then(|it| function.ops.get(it)).map(|it| it.name.to_owned()),
        })
    };
    function.named("convert_layout").filter_map(of).collect()
}

/// Final consumer of a value, through casts and changes of layout only.
fn sink(context: &Context<'_, '_>, op: OpId) -> Option<Sink> {
    const MOST: usize = 16;
    let mut at = op;
    for _ in 0..MOST {
        let mut users = context.users_of(at);
        let next = users.next()?;
        if users.next().is_some() {
            return None;
        }
        match context.short(next) {
            "store" | "buffer_store" => return Some(Sink::Store),
            "atomic_rmw" | "buffer_atomic_rmw" => return Some(Sink::Atomic),
            "truncf" | "extf" | "fp_to_fp" | "bitcast" | "convert_layout" | "reshape" => at = next,
            _ => return None,
        }
    }
    None
}

fn reductions(context: &Context<'_, '_>) -> Vec<Reduction> {
    let (module, function) = (context.module, context.function);
    let of = |op: OpId| {
        let it = function.ops.get(op)?;
        let axis = u32::try_from(it.number("axis")?).ok()?;
        let source = module.operand_types(function, op).find_map(Type::tensor)?;
        let bases = source.layout.as_deref().and_then(|it| crate::linear::linear(it, &source.shape));
        let waves = bases.map_or(1, |it| it.waves_along(axis as usize));
        Some(Reduction { at: context.at(op), axis, waves })
    };
    function
        .named("reduce")
        .filter(|op| function.ops.get(*op).is_some_and(|it| it.dialect() == "tt"))
        .filter_map(of)
        .collect()
}

fn transposes(context: &Context<'_, '_>, style: ScratchStyle) -> Vec<Transpose> {
    let (module, function) = (context.module, context.function);
    let of = |op: OpId| {
        let ty =
            module.operand_types(function, op).next().or_else(|| module.operand_type(function, op, 0))?;
        let (Type::Tensor(it) | Type::Memory(it)) = ty else { return None };
        let through = |op: OpId| {
            context.short(op) == "convert_layout" && exchange(module, function, op, style).through_lds()
        };
        Some(Transpose {
            at: context.at(op),
            shape: it.text.clone(),
            of_buffer: matches!(ty, Type::Memory(_)),
            of_load: before(context, op),
            to_dot: after(context, op, PASSES_ON),
            reaches_dot: after(context, op, &[]),
            through_lds: context.users_of(op).any(through),
            to_store: sink(context, op).is_some(),
        })
    };
    let both = function.named("trans").chain(function.named("memdesc_trans"));
    both.filter_map(of).collect()
}

/// Operations that only pass a value on.
const PASSES_ON: &[&str] = &[
    "convert_layout",
    "local_alloc",
    "local_load",
    "memdesc_index",
    "memdesc_subview",
    "memdesc_trans",
    "trans",
];

/// True if a value is loaded without arithmetic between.
fn before(context: &Context<'_, '_>, op: OpId) -> bool {
    let mut at = op;
    for _ in 0..PASSES_ON.len() {
        let Some(definition) = context.definition(at, 0) else { return false };
        match context.short(definition) {
            "load" | "buffer_load" => return true,
            short if PASSES_ON.contains(&short) => at = definition,
            _ => return false,
        }
    }
    false
}

/// True if a value reaches a matrix product through only the operations in `between`; through any if the list
/// is empty.
fn after(context: &Context<'_, '_>, op: OpId, between: &[&str]) -> bool {
    let mut seen = BTreeSet::from([op]);
    let mut open: Vec<OpId> = vec![op];
    while let Some(at) = open.pop() {
        for user in context.users_of(at) {
            match context.short(user) {
                "dot" | "dot_scaled" => return true,
                short if (between.is_empty() || between.contains(&short)) && seen.insert(user) => {
                    open.push(user)
                }
                _ => {}
            }
        }
    }
    false
}
