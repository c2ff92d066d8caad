//! ENV005: GEMM benchmarks whose operands stay in the cache.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV005",
    title: "a GEMM benchmark without a rotating buffer",
    severity: Severity::Severe,
    page: include_str!("env005.md"),
    checks: &[
        Check::Host(super::jobs::rotating_buffer),
        Check::Trace(|run| run.worst(super::traces::rotating_buffer)),
    ],
    panels: &[],
};
