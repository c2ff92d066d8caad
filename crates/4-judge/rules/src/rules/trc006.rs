//! TRC006: a matrix product far below the peak, or slower than a tuning file's result.
//!
//! A product too small to fill the GPU is small, not slow.

use crate::traced::{TraceEvidence, TunedProducts, lost, needs_model, needs_shapes, percent, short};
use crate::{Check, Outcome, Rule};
use arch::Unit;
use timeline::TimelineEvidence;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TRC006",
    title: "a matrix product far below the peak or its tuning",
    severity: Severity::Warning,
    page: include_str!("trc006.md"),
    checks: &[Check::Trace(check)],
    panels: &[],
};

/// Percent of the GPU's time from which it is reported, and percent of the peak below which a product is slow.
const LIMITS: [f64; 2] = [5.0, 30.0];
/// Smallest size that can fill a GPU.
const LARGE: u64 = 256;

/// Percent of the GPU's time from which a tuned product is reported, and how much longer than its tuning
/// it takes.
const TUNED: (f64, f64) = (1.0, 1.2);

fn check(run: &TraceEvidence<'_>) -> Outcome {
    run.worst(|evidence| {
        let tuned = below_tunings(evidence, &run.tuned);
        match below_peak(evidence) {
            Outcome::Findings(mut found) => {
                found.extend(tuned);
                Outcome::Findings(found)
            }
            other if tuned.is_empty() => other,
            _ => Outcome::Findings(tuned),
        }
    })
}

/// Products that take longer than with the fastest kernel that a file of tunings knows.
fn below_tunings(evidence: &TimelineEvidence<'_>, tuned: &TunedProducts) -> Vec<Finding> {
    let slow = evidence.products.iter().filter_map(|it| {
        let best = tuned.get(it)?;
        let time = percent(it.durations.total, evidence.gpu_time());
        let own = it.durations.mean() / 1e3;
        (time >= TUNED.0 && own > best.us * TUNED.1).then_some((it, best, own, time))
    });
    let findings = slow.map(|(it, best, own, time)| {
        let p = &it.product;
        let text = format!(
            "the product {} × {} × {} ({}, {}) takes {own:.1} us, {} has a kernel of {:.1} us, {:.2} times as fast, for {time:.1} % of the GPU's time",
            p.m, p.n, p.k, p.data_type, p.layout, best.place, best.us, own / best.us
        );
        let advice = "see that the library reads the file of tunings and that its versions match (`rockhound tunedb lint FILE`)";
        let finding = RULE
            .finding(Severity::Warning, text, advice)
            .with_evidence("calls", it.durations.count)
            .with_evidence("kernel", short(evidence.text(it.kernel)))
            .with_evidence("tuned kernel", short(&best.kernel));
        let saved = it.durations.total as f64 * (1.0 - best.us / own);
        lost(finding, evidence, saved.max(0.0) as i64)
    });
    findings.collect()
}

fn below_peak(evidence: &TimelineEvidence<'_>) -> Outcome {
    if needs_shapes(evidence) {
        return Outcome::needs("operators with shapes (`record_shapes=True`)");
    }
    let Some(model) = evidence.model else {
        return if evidence.products.is_empty() { Outcome::Silent } else { needs_model(evidence) };
    };
    let slow = evidence.products.iter().filter_map(|it| {
        let time = percent(it.durations.total, evidence.gpu_time());
        let peak = model.peak_tera_ops(Unit::Matrix, it.element()?)?;
        let rate = it.tera_ops()?;
        let p = &it.product;
        let large = p.m.min(p.n).min(p.k) >= LARGE;
        (large && time >= LIMITS[0] && rate < peak * LIMITS[1] / 100.0).then_some((it, time, rate, peak))
    });
    let findings = slow.map(|(it, time, rate, peak)| {
        let p = &it.product;
        let share = 100.0 * rate / peak;
        let finding = RULE
            .finding(
                Severity::Warning,
                format!(
                    "the product {} × {} × {} ({}, {}) reaches {rate:.0} of {peak:.0} Tflop/s, {share:.1} %, in {time:.1} % of the GPU's time",
                    p.m, p.n, p.k, p.data_type, p.layout
                ),
                "tune it with TunableOp or hipBLASLt (`rockhound trace --untuned FILE` lists products), or pad its sizes",
            )
            .with_evidence("calls", it.durations.count)
            .with_evidence("kernel", short(evidence.text(it.kernel)));
        // A tuned product seldom passes 70 % of the dense peak.
        let saved = it.durations.total as f64 * (1.0 - rate / (0.7 * peak));
        lost(finding, evidence, saved.max(0.0) as i64)
    });
    Outcome::from_findings(findings.collect())
}
