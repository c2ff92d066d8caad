//! LDS layout of conversions, by compiler version.

use crate::model::{Function, Module};

/// LDS layout that the compiler uses for a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScratchStyle {
    /// Padded rows: Triton 3.4 and older.
    Padded,
    /// Swizzled without padding: newer.
    Swizzled,
}

impl ScratchStyle {
    /// Style by the compiler version in the IR's JSON file: `3.6.0`, `3.9.0+git…`.
    pub fn of_version(version: &str) -> Option<ScratchStyle> {
        let mut numbers = version.split(['.', '+']).map_while(|it| it.parse::<u32>().ok());
        let version = (numbers.next()?, numbers.next()?);
        Some(if version < (3, 5) { ScratchStyle::Padded } else { ScratchStyle::Swizzled })
    }

    /// By the spelling: new compilers name values as Python does, call AMD's dialect `amdg` and write
    /// `version = 3` of matrix layouts.
    pub(crate) fn of_spelling(module: &Module<'_>) -> ScratchStyle {
        let new_layouts = module.aliases.values().any(|it| it.contains("amd_mfma<{version = "));
        let new_dialect = |it: &Function<'_>| it.ops.iter().any(|op| op.dialect() == "amdg");
        if new_layouts || module.functions.iter().any(new_dialect) {
            return ScratchStyle::Swizzled;
        }
        let old_names = |it: &Function<'_>| {
            !it.parameters.is_empty()
                && it.parameters.iter().all(|it2| {
                    let name = it.values.get(it2.value).map_or("", |it| it.name);
                    name.strip_prefix("arg").is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
                })
        };
        let old_dialect =
            |it: &Function<'_>| it.ops.iter().any(|op| matches!(op.dialect(), "triton_gpu" | "amdgpu"));
        let old = module.attributes.iter().any(|it| it.name.starts_with("triton_gpu."))
            || module.functions.iter().any(|it| old_names(it) || old_dialect(it));
        if old { ScratchStyle::Padded } else { ScratchStyle::Swizzled }
    }
}
