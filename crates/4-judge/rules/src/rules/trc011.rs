//! TRC011: attention that runs as separate kernels.

use crate::traced::{lost, ms, percent};
use crate::{Check, Outcome, Rule};
use timeline::{TimelineEvidence, by_category, unfused_attention};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TRC011",
    title: "attention that runs as separate kernels",
    severity: Severity::Warning,
    page: include_str!("trc011.md"),
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[],
};

/// Percent of the GPU's time from which it is reported.
const MUCH: f64 = 10.0;

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let softmax = by_category(&evidence.kernels).iter().find(|row| row.0 == "softmax").map_or(0, |row| row.1);
    if !evidence.links.has_operators {
        // Without operators nobody knows which products are batched.
        return match percent(softmax, evidence.gpu_time()) >= MUCH {
            true => Outcome::needs("operators in the trace"),
            false => Outcome::Silent,
        };
    }
    let it = unfused_attention(evidence.timeline, &evidence.links);
    let share = percent(it.total(), evidence.gpu_time());
    if it.count == 0 || share < MUCH {
        return Outcome::Silent;
    }
    let between = it.softmax + it.others;
    let mut finding = RULE
        .finding(
            Severity::Warning,
            format!(
                "attention runs as batched products around a softmax, {} times: {share:.1} % of the GPU's time, {:.1} % in softmax and what is between",
                it.count,
                percent(between, evidence.gpu_time())
            ),
            "use fused attention: `scaled_dot_product_attention` with `is_causal` in place of a mask, or flash attention of AITER or CK",
        )
        .with_evidence("softmax", ms(it.softmax))
        .with_evidence("other kernels between", ms(it.others))
        .with_evidence("batched products", ms(it.products));
    if let Some(sum) = evidence.products.iter().find(|sum| sum.product.batch > 1) {
        let p = &sum.product;
        let text = format!("{} × {} × {} × {}, {}", p.batch, p.m, p.n, p.k, ms(sum.durations.total));
        finding = finding.with_evidence("most time of one size", text);
    }
    Outcome::Findings(vec![lost(finding, evidence, between)])
}
