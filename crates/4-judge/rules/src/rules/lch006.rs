//! LCH006: kernel arguments in host memory.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "LCH006",
    title: "kernel arguments are read from host memory",
    severity: Severity::Warning,
    page: include_str!("lch006.md"),
    checks: &[
        Check::Host(super::jobs::kernel_arguments),
        Check::Trace(|run| run.worst(super::traces::kernel_arguments)),
    ],
    panels: &[6, 7],
};
