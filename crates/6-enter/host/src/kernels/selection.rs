//! Which kernels of the inputs are wanted.

use super::PassChoice;
use crate::usage;
use analysis::workload::kernel_pattern;
use anyhow::Result;
use codeobj::{Target, Wanted};
use regex::Regex;
use std::collections::BTreeSet;

/// The target of `--arch`: as the compiler writes it, or that of a model.
pub(crate) fn target(arch: &str) -> Result<Target> {
    let of_model = || Target::parse(::arch::Model::by_name(arch)?.target().name);
    Target::parse(arch).or_else(of_model).ok_or_else(|| {
        usage(
            format!("`--arch {arch}` is no target"),
            "write it as the compiler does, for example `gfx942` or `gfx90a:xnack-`, or name a GPU: `mi300x`",
        )
    })
}

/// Filter of kernels.
pub struct Selection {
    name: Option<Regex>,
    pub(super) wanted: Wanted,
    /// The targets wanted, by name.
    pub(super) targets: Vec<Target>,
    /// `--arch` was given.
    pub(super) explicit: bool,
    /// The names that a recording has; none means all.
    pub(super) recorded: Option<BTreeSet<String>>,
    /// Choice among several modules of IR in one text.
    pub(super) pass: PassChoice,
}

impl Selection {
    /// Kernels whose name matches `kernel`, in code for the targets `arch`; without those, every supported
    /// one.
    pub fn new(kernel: Option<&str>, arch: &[String]) -> Result<Self> {
        let name = match kernel {
            None => None,
            Some(pattern) => Some(kernel_pattern(pattern).map_err(|error| {
                usage(
                    format!("`--kernel {pattern}` is no regular expression: {error}"),
                    "put a backslash before brackets and stars that stand for themselves",
                )
            })?),
        };
        let mut targets = Vec::new();
        for arch in arch {
            targets.push(target(arch)?);
        }
        let explicit = !targets.is_empty();
        if !explicit {
            targets
                .extend(::arch::Target::names().chain(::arch::generic_targets()).filter_map(Target::parse));
        }
        Ok(Selection {
            name,
            wanted: Wanted::targets(targets.clone()),
            targets,
            explicit,
            recorded: None,
            pass: PassChoice::Last,
        })
    }

    /// Chooses the dumps to read from a log of compiler passes: one pass, or `all`.
    pub fn pass(self, pass: Option<&str>) -> Self {
        Selection { pass: PassChoice::of(pass), ..self }
    }

    /// Only kernels of these names, in code for this target.
    pub fn recorded(self, names: BTreeSet<String>, target: Option<&str>) -> Self {
        let target = target.filter(|_| !self.explicit).and_then(Target::parse);
        let wanted = target.map_or(self.wanted, |target| Wanted::targets(vec![target]));
        Selection { wanted, recorded: Some(names), ..self }
    }

    /// True if a kernel has a wanted name, and one that is recorded.
    pub(super) fn accepts(&self, kernel: &codeobj::Kernel) -> bool {
        let recorded =
            |names: &BTreeSet<String>| names.contains(&kernel.name) || names.contains(&kernel.demangled);
        self.recorded.as_ref().is_none_or(recorded) && self.matches(kernel)
    }

    /// True if a kernel has a wanted name.
    pub(super) fn matches(&self, kernel: &codeobj::Kernel) -> bool {
        self.name.as_ref().is_none_or(|name| name.is_match(&kernel.name) || name.is_match(&kernel.demangled))
    }
}
