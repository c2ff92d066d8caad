//! Matrix products: tile, types, instruction.

use crate::context::{At, Context};
use crate::layout::Layout;
use crate::model::OpId;
use crate::types::Type;

/// A `tt.dot`.
#[derive(Clone, PartialEq, Debug)]
pub struct Dot {
    /// Position.
    pub at: At,
    /// M, N and K of the tile.
    pub mnk: [u64; 3],
    /// Types of the factors and of the sum: `f16`, `f16`, `f32`.
    pub elements: [String; 3],
    /// The instruction it becomes; `None` in TTIR and where the layout is not one of matrix instructions.
    pub instruction: Option<Instruction>,
    /// Neighbours along K per lane, of each factor.
    pub k_width: [u32; 2],
    /// Another product's result is a factor: a fused kernel.
    pub of_product: bool,
    /// Both factors are read from the LDS.
    pub from_lds: bool,
}

/// A matrix instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    /// 1 to 4: CDNA1 to CDNA4.
    pub version: u32,
    /// M and N.
    pub m: u32,
    /// N.
    pub n: u32,
    /// K, where the spelling has it.
    pub k: Option<u32>,
    /// Adjacent elements of a lane run along N.
    pub transposed: bool,
    /// Waves per dimension.
    pub waves: [u32; 2],
}

impl Instruction {
    /// `32x32x8`, or `32x32` where K is not written.
    pub fn shape(&self) -> String {
        match self.k {
            Some(k) => format!("{}x{}x{k}", self.m, self.n),
            None => format!("{}x{}", self.m, self.n),
        }
    }
}

impl Dot {
    /// Instructions of each wave.
    pub fn instructions_per_wave(&self) -> Option<u64> {
        let it = self.instruction.as_ref()?;
        let [m, n, k] = self.mnk;
        let along = |extent: u64, waves: u32, size: u32| {
            let covered = u64::from(waves) * u64::from(size);
            (covered > 0).then(|| extent.div_ceil(covered))
        };
        Some(along(m, it.waves[0], it.m)? * along(n, it.waves[1], it.n)? * along(k, 1, it.k?)?)
    }
}

pub(crate) fn dots(context: &Context<'_, '_>) -> Vec<Dot> {
    let both = context.function.named("dot").chain(context.function.named("dot_scaled"));
    both.filter_map(|op| dot(context, op)).collect()
}

fn dot(context: &Context<'_, '_>, op: OpId) -> Option<Dot> {
    let (module, function) = (context.module, context.function);
    let mut factors = module.operand_types(function, op).filter_map(Type::tensor);
    let (a, b) = (factors.next()?, factors.next()?);
    let sum = module.result_type(function, op).and_then(Type::tensor)?;
    let [.., m, n] = sum.shape.as_slice() else { return None };
    let k = a.shape.last()?;
    let instruction = match sum.layout.as_deref() {
        Some(Layout::Mfma { version, warps_per_cta, shape, transposed, .. }) => Some(Instruction {
            version: *version,
            m: *shape.first()?,
            n: *shape.get(1)?,
            k: shape.get(2).copied(),
            transposed: *transposed,
            waves: [*warps_per_cta.first()?, *warps_per_cta.get(1)?],
        }),
        _ => None,
    };
    let k_width = |layout: Option<&Layout>| match layout {
        Some(Layout::DotOperand { k_width, .. }) => *k_width,
        _ => 0,
    };
    let from_lds =
        (0..2).all(|at| context.definition(op, at).is_some_and(|it| context.short(it) == "local_load"));
    Some(Dot {
        from_lds,
        at: context.at(op),
        mnk: [*m, *n, *k],
        elements: [a.element.name.clone(), b.element.name.clone(), sum.element.name.clone()],
        instruction,
        k_width: [k_width(a.layout.as_deref()), k_width(b.layout.as_deref())],
        of_product: (0..2).any(|at| function.operand(op, at).is_some_and(|it| from_product(context, it))),
    })
}

/// A value is computed from a matrix product's result of the same iteration.
fn from_product(context: &Context<'_, '_>, value: usize) -> bool {
    let mut seen = vec![false; context.function.ops.len()];
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        let Some(op) = context.function.definition(value) else { continue };
        if seen.get(op).copied().unwrap_or(true) {
            continue;
        }
        if let Some(it) = seen.get_mut(op) {
            *it = true;
        }
        if matches!(context.short(op), "dot" | "dot_scaled") {
            return true;
        }
        open.extend(context.function.operands(op).iter().flatten());
    }
    false
}
