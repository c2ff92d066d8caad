//! The values that reading gives: modules, functions, operations, values.
//!
//! Operations of a function are in one list in text order; an operation is followed by the operations of its
//! regions. So a loop's body is a range of the list.

use crate::split::Aliases;
use crate::types::Type;
use std::ops::Range;

/// Index of an operation in its function.
pub type OpId = usize;
/// Index of a value in its function.
pub type ValueId = usize;

/// All modules of a text, in its order.
#[derive(Clone, Debug, Default)]
pub struct Dump<'a> {
    /// At least one.
    pub modules: Vec<Module<'a>>,
}

/// The header of a module in a dump of compiler passes: `// -----// IR Dump Before Canonicalizer
/// (canonicalize) …`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass<'a> {
    /// The dump was made after the pass.
    pub after: bool,
    /// Name of the pass: `TritonGPUCoalesce`.
    pub name: &'a str,
    /// Its name on the command line of the compiler: `tritongpu-coalesce`.
    pub argument: Option<&'a str>,
}

/// One module.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    /// The pass it was dumped before or after; absent in files of Triton's cache.
    pub pass: Option<Pass<'a>>,
    /// Line of the text it begins at, from 1.
    pub line: u32,
    /// Its attributes.
    pub attributes: Vec<Attribute<'a>>,
    /// Its functions.
    pub functions: Vec<Function<'a>>,
    /// Every type of the module, each once.
    pub types: Vec<Type>,
    /// `#name` and `!name` with their meaning.
    pub aliases: Aliases<'a>,
}

/// `name = value`, or a name alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// Name, without quotes.
    pub name: &'a str,
    /// Text of the value; empty if absent.
    pub value: &'a str,
}

/// One function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Name without `@`.
    pub name: &'a str,
    /// It is a kernel: `tt.func public`, or a `llvm.func` that can be launched.
    pub public: bool,
    /// Line of the text, from 1.
    pub line: u32,
    /// Parameters with their attributes.
    pub parameters: Vec<Parameter<'a>>,
    /// Operations in the order of the text.
    pub ops: Vec<Op<'a>>,
    /// Values in the order of their definitions.
    pub values: Vec<Value<'a>>,
    /// Operands of all operations; [`Op::operands`] is a range of them. `None` if nothing of the name is
    /// defined before it.
    pub(crate) operand_list: Vec<Option<ValueId>>,
    /// Types of operands and results as written; ranges in [`Op`].
    pub(crate) type_list: Vec<usize>,
    /// Text of the location.
    pub location: &'a str,
}

/// One parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter<'a> {
    /// Its value.
    pub value: ValueId,
    /// `tt.divisibility`, `tt.pointer_range` and others.
    pub attributes: Vec<Attribute<'a>>,
}

/// Origin of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Parameter of the function.
    Parameter(usize),
    /// Result of an operation.
    Result(OpId, usize),
    /// Argument of a block of an operation's region.
    Block {
        /// The operation with the region; `None` in the function's own blocks.
        of: Option<OpId>,
        /// Block, counted over the operation's regions.
        block: usize,
        /// Position among the block's arguments.
        index: usize,
    },
}

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// Name without `%`.
    pub name: &'a str,
    /// Definition.
    pub source: Source,
    /// Index of its type in [`Module::types`]; `None` if the text does not say.
    pub ty: Option<usize>,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Op<'a> {
    /// Full name as written: `ttg.local_alloc`, `triton_gpu.local_alloc`.
    pub name: &'a str,
    /// Line of the text, from 1.
    pub line: u32,
    /// The operation whose region contains it.
    pub parent: Option<OpId>,
    /// Block within the parent's regions (or the function's).
    pub block: usize,
    /// Loops and conditions around it.
    pub depth: u32,
    /// One past the last operation of its regions.
    pub end: OpId,
    /// Text between name and types: `%a, %b, inputPrecision = tf32`.
    pub text: &'a str,
    /// Attributes and properties.
    pub attributes: Vec<Attribute<'a>>,
    pub(crate) operands: Range<usize>,
    pub(crate) operand_types: Range<usize>,
    pub(crate) result_types: Range<usize>,
    /// Values it defines.
    pub results: Range<ValueId>,
    /// Arguments of its blocks, in order of blocks.
    pub block_arguments: Vec<ValueId>,
    /// Start values of what a loop carries, in the order of the block's arguments: of `scf.for` the counter's
    /// first.
    pub initial: Vec<Option<ValueId>>,
    /// Text of the location.
    pub location: &'a str,
}

impl<'a> Op<'a> {
    /// Name without dialect: `local_alloc`.
    pub fn short(&self) -> &'a str {
        self.name.split_once('.').map_or(self.name, |(_, rest)| rest)
    }

    /// Dialect: `ttg`.
    pub fn dialect(&self) -> &'a str {
        self.name.split_once('.').map_or("", |(dialect, _)| dialect)
    }

    /// Value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|it| it.name == name).map(|it| it.value)
    }

    /// Value of a whole-number attribute, its type stripped: 128 of `end = 128 : i32`.
    pub fn number(&self, name: &str) -> Option<i64> {
        number(self.attribute(name)?)
    }
}

/// 4 of `4 : i32`.
pub(crate) fn number(text: &str) -> Option<i64> {
    text.split(':').next()?.trim().parse().ok()
}

impl<'a> Function<'a> {
    /// Operands of an operation; `None` for names that nothing defines before it.
    pub fn operands(&self, op: OpId) -> &[Option<ValueId>] {
        self.ops.get(op).and_then(|op| self.operand_list.get(op.operands.clone())).unwrap_or_default()
    }

    /// Operand of an operation.
    pub fn operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        self.operands(op).get(index).copied().flatten()
    }

    /// First result of an operation.
    pub fn result(&self, op: OpId) -> Option<ValueId> {
        let results = &self.ops.get(op)?.results;
        (!results.is_empty()).then_some(results.start)
    }

    /// Operations of an operation's regions, nested ones included.
    pub fn inside(&self, op: OpId) -> Range<OpId> {
        self.ops.get(op).map_or(0..0, |it| op + 1..it.end.max(op + 1))
    }

    /// The operation whose result the value is.
    pub fn definition(&self, value: ValueId) -> Option<OpId> {
        match self.values.get(value)?.source {
            Source::Result(op, _) => Some(op),
            _ => None,
        }
    }

    /// Operations of this name without dialect.
    pub fn named<'s>(&'s self, short: &'s str) -> impl Iterator<Item = OpId> + 's {
        (0..self.ops.len()).filter(move |&at| self.ops.get(at).is_some_and(|op| op.short() == short))
    }

    /// Innermost loop around an operation.
    pub(crate) fn enclosing_loop(&self, op: OpId) -> Option<OpId> {
        let mut at = self.ops.get(op)?.parent;
        while let Some(parent) = at {
            let it = self.ops.get(parent)?;
            if it.is_loop() {
                return Some(parent);
            }
            at = it.parent;
        }
        None
    }
}

impl Op<'_> {
    /// True for a loop with a region.
    pub(crate) fn is_loop(&self) -> bool {
        matches!(self.name, "scf.for" | "scf.while")
    }
}

impl<'a> Module<'a> {
    /// Value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|it| it.name == name).map(|it| it.value)
    }

    /// Value of an attribute of Triton's GPU dialect, under each name of the dialect.
    pub(crate) fn gpu_attribute(&self, name: &str) -> Option<&'a str> {
        let of = |dialect: &str| {
            let rest = |it: &&Attribute<'a>| {
                it.name.strip_prefix(dialect).and_then(|it| it.strip_prefix('.')) == Some(name)
            };
            self.attributes.iter().find(rest).map(|it| it.value)
        };
        of("ttg").or_else(|| of("triton_gpu"))
    }

    /// Whole number of an attribute of Triton's GPU dialect.
    pub(crate) fn gpu_number(&self, name: &str) -> Option<i64> {
        number(self.gpu_attribute(name)?)
    }

    /// `hip:gfx942` or `cuda:90`, where the module says.
    pub fn target(&self) -> Option<&'a str> {
        self.gpu_attribute("target").map(|it| it.trim_matches('"'))
    }

    /// Processor of AMD it is compiled for: `gfx942`.
    pub fn processor(&self) -> Option<&'a str> {
        self.target().and_then(|it| it.strip_prefix("hip:"))
    }

    /// Waves per workgroup; `None` before layouts are assigned.
    pub fn waves(&self) -> Option<u32> {
        self.gpu_number("num-warps").and_then(|it| u32::try_from(it).ok())
    }

    /// Type of a value.
    pub fn type_of(&self, function: &Function<'_>, value: ValueId) -> Option<&Type> {
        self.types.get(function.values.get(value)?.ty?)
    }

    /// Types written for the operands of an operation.
    pub fn operand_types<'s>(
        &'s self,
        function: &'s Function<'_>,
        op: OpId,
    ) -> impl Iterator<Item = &'s Type> {
        let range = function.ops.get(op).map_or(0..0, |op| op.operand_types.clone());
        function.type_list.get(range).unwrap_or_default().iter().filter_map(|it| self.types.get(*it))
    }

    /// Types written for the results of an operation.
    pub(crate) fn result_types<'s>(
        &'s self,
        function: &'s Function<'_>,
        op: OpId,
    ) -> impl Iterator<Item = &'s Type> {
        let range = function.ops.get(op).map_or(0..0, |op| op.result_types.clone());
        function.type_list.get(range).unwrap_or_default().iter().filter_map(|it| self.types.get(*it))
    }

    /// Type of an operation's first result, or the only type written.
    pub fn result_type(&self, function: &Function<'_>, op: OpId) -> Option<&Type> {
        let value = function.result(op)?;
        self.type_of(function, value)
    }

    /// Type of an operand.
    pub(crate) fn operand_type(&self, function: &Function<'_>, op: OpId, index: usize) -> Option<&Type> {
        self.type_of(function, function.operand(op, index)?)
    }

    /// The kernels: functions that can be launched.
    pub fn kernels(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions.iter().filter(|it| it.public)
    }
}
