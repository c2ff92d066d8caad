//! SYS007: collectives that wait in the queues of kernels.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS007",
    title: "collectives share hardware queues with kernels",
    severity: Severity::Warning,
    page: include_str!("sys007.md"),
    checks: &[
        Check::Host(super::jobs::hardware_queues),
        Check::Trace(|run| run.worst(super::traces::streams)),
    ],
    panels: &[],
};
