//! TRC003: many short element-wise kernels that could be one.
//!
//! Kernels that a compiler has fused are not reported.

use crate::traced::{lost, ms, percent};
use crate::{Check, Outcome, Rule};
use sorting::Sort;
use timeline::TimelineEvidence;
use timeline::category::is_triton;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC003",
    title: "many short element-wise kernels that could be one",
    severity: Severity::Warning,
    page: include_str!("trc003.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of all kernels, and of the GPU's time, from which it is reported.
const MUCH: [f64; 2] = [30.0, 5.0];
/// Mean duration of a kernel that is short, ns.
const SHORT: i64 = 20_000;
/// Categories that fuse with each other.
const FUSED: [&str; 4] = ["element-wise", "norm", "reduction", "softmax"];

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let single = evidence.kernels.iter().filter(|kernel| {
        FUSED.contains(&kernel.category)
            && !is_triton(evidence.text(kernel.name))
            && kernel.durations.mean() < SHORT as f64
    });
    let (mut count, mut time) = (0u64, 0i64);
    let mut operators: Vec<(&str, u64)> = Vec::new();
    for kernel in single {
        count += kernel.durations.count;
        time += kernel.durations.total;
        if let Some(operator) = kernel.operator.map(|name| evidence.text(name)) {
            match operators.iter_mut().find(|(name, _)| *name == operator) {
                Some(row) => row.1 += kernel.durations.count,
                None => operators.push((operator, kernel.durations.count)),
            }
        }
    }
    let of_kernels = 100.0 * count as f64 / evidence.total.kernels.max(1) as f64;
    let of_time = percent(time, evidence.gpu_time());
    if of_kernels < MUCH[0] || of_time < MUCH[1] {
        return Outcome::Silent;
    }
    operators.in_order_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
    let named: Vec<String> = operators.iter().take(4).map(|(name, n)| format!("{name} ×{n}")).collect();
    let finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "{count} of {} kernels are element-wise, norms or reductions of {} on average, {of_time:.1} % of the GPU's time",
                evidence.total.kernels,
                ms(time / i64::try_from(count.max(1)).unwrap_or(1))
            ),
            "fuse them: `torch.compile`, or one Triton kernel for each chain of operators",
        )
        .with_evidence("operators", if named.is_empty() { "not recorded".to_owned() } else { named.join(", ") });
    // Fused, at least one pass over memory stays.
    Outcome::Findings(vec![lost(finding, evidence, time / 2)])
}
