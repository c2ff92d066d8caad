//! MAT006: a benchmark on zeros or small integers.
//!
//! The values in a tensor determine the power of a matrix product.

use crate::traced::benchmarked;
use crate::{Check, Outcome, Rule};
use timeline::TimelineEvidence;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "MAT006",
    title: "a benchmark on zeros or small integers",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Trace(|run| run.worst(check))],
    panels: &[10, 11],
};

const PAGE: &str = r"## What it does
Fires when at least 80 % of a trace's GPU time is one matrix product, called at least 20 times, and the operators that made its inputs
fill with zeros, ones or integers, and none draws random floats.

## Why it is slow
It is too fast: bits that do not change take less power, so the GPU clocks higher. Zeros run up to 20 % faster than random
floats, integers up to 10 %.

## Evidence
Operators in the trace that make tensors: `aten::zeros`, `aten::ones`, `aten::randint` beside `aten::randn`, `aten::rand`.

## What to do
Benchmark on random floats of the distribution the model has: `torch.randn`, `--initialization trig_float` or `norm_dist` of hipBLASLt's
bench.

## Source
The tuning guide on benchmarking matrix products: input values change power and with it the clock.
";

/// Operators that fill tensors with values that flatter a benchmark, and operators that do not.
const FLATTER: [&str; 7] = [
    "aten::zeros",
    "aten::zero_",
    "aten::ones",
    "aten::fill_",
    "aten::full",
    "aten::randint",
    "aten::arange",
];
const RANDOM: [&str; 5] =
    ["aten::randn", "aten::rand", "aten::normal_", "aten::uniform_", "aten::randn_like"];

fn check(evidence: &TimelineEvidence<'_>) -> Outcome {
    let Some(it) = benchmarked(evidence) else { return Outcome::Silent };
    let named = |list: &[&'static str]| -> Vec<&'static str> {
        let has = |name: &&&str| evidence.operators.iter().any(|op| evidence.text(op.name) == **name);
        list.iter().filter(has).copied().collect()
    };
    let (flatter, random) = (named(&FLATTER), named(&RANDOM));
    if !random.is_empty() {
        return Outcome::Silent;
    }
    if flatter.is_empty() {
        return Outcome::needs("the operators that made the inputs");
    }
    let p = &it.product;
    let finding = RULE
        .finding(
            Severity::Info,
            format!(
                "the inputs of the benchmarked product {} × {} × {} come of {}: zeros and integers run up to 20 % and 10 % faster",
                p.m, p.n, p.k, flatter.join(", ")
            ),
            "benchmark on random floats (`torch.randn`)",
        )
        .with_evidence("calls", it.durations.count);
    Outcome::Findings(vec![finding])
}
