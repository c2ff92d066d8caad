//! SYS005: collectives of a part of the board.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS005",
    title: "a collective of a part of the board's GPUs",
    severity: Severity::Warning,
    page: include_str!("sys005.md"),
    checks: &[
        Check::Host(super::jobs::collective_gpus),
        Check::Trace(|run| run.worst(super::traces::collective_gpus)),
        Check::Comm(super::traces::collective_gpus_of_tests),
    ],
    panels: &[],
};
