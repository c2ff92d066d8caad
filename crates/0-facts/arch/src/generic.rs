//! Generic targets: code that runs on several GPUs.
//!
//! Such code uses only what all of its GPUs have, so it is read as code for one of them. Source: the AMDGPU
//! back-end user guide, "Generic processors".

use crate::Target;

/// Generic targets with the targets their code runs on; the facts of the first with a data file are used.
const GENERIC: [(&str, &[&str]); 2] = [
    ("gfx9-generic", &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
    ("gfx9-4-generic", &["gfx942", "gfx940", "gfx941", "gfx950"]),
];

/// Names of the generic targets.
pub fn generic_targets() -> impl Iterator<Item = &'static str> {
    GENERIC.iter().map(|(name, _)| *name)
}

/// The targets that code for a generic one runs on; `None` for a target that is not generic.
pub fn runs_on(generic: &str) -> Option<&'static [&'static str]> {
    GENERIC.iter().find(|(name, _)| *name == generic).map(|(_, targets)| *targets)
}

/// Whether code for one target runs on another, features aside.
pub fn code_runs_on(code: &str, target: &str) -> bool {
    code == target || runs_on(code).is_some_and(|targets| targets.contains(&target))
}

impl Target {
    /// The target whose facts apply to code: its own target, or for generic code the first known target that
    /// runs it.
    pub fn of_code(processor: &str) -> Option<&'static Target> {
        let processor = processor.split(':').next().unwrap_or(processor);
        let shared = || runs_on(processor)?.iter().find_map(|name| Target::by_name(name));
        Target::by_name(processor).or_else(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_code_runs() {
        let cases = [
            ("gfx942", "gfx942", true),
            ("gfx942", "gfx950", false),
            ("gfx9-4-generic", "gfx942", true),
            ("gfx9-4-generic", "gfx950", true),
            ("gfx9-4-generic", "gfx90a", false),
            ("gfx9-generic", "gfx908", false),
            ("gfx9-generic", "gfx906", true),
        ];
        for (code, target, expected) in cases {
            assert_eq!(code_runs_on(code, target), expected, "{code} on {target}");
        }
    }

    #[test]
    fn facts_for_generic_code() {
        let name = |code| Target::of_code(code).map(|target| target.name);
        assert_eq!(name("gfx9-4-generic:xnack+"), Some("gfx942"));
        assert_eq!(name("gfx950"), Some("gfx950"));
        assert_eq!(name("gfx9-generic"), None);
    }
}
