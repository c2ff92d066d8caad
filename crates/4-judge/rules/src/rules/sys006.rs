//! SYS006: several GPUs driven by one process.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS006",
    title: "one process drives several GPUs",
    severity: Severity::Warning,
    page: include_str!("sys006.md"),
    checks: &[
        Check::Host(super::jobs::gpus_per_process),
        Check::Trace(|run| run.worst(super::traces::gpus_per_process)),
        Check::Comm(super::traces::gpus_per_process_of_tests),
    ],
    panels: &[],
};
