//! ENV005: GEMM benchmarks whose operands stay in the cache.

use crate::{Check, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV005",
    title: "a GEMM benchmark without a rotating buffer",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[
        Check::Host(super::jobs::rotating_buffer),
        Check::Trace(|run| run.worst(super::traces::rotating_buffer)),
    ],
    panels: &[],
};

const PAGE: &str = r"## What it does
Looks at `hipblaslt-bench` on the command line: `--rotating MIB` must be at least the last-level cache (`hipblaslt-rotating`).
Of a timeline it fires where at least 80 % of
the GPU's time is one matrix product, called 20 times or more, whose operands together are smaller than that cache.

## Why it is slow
It is about the number: operands that stay in the cache from one run to the next come at the cache's rate, and the GEMM looks faster than in
a program.

## Evidence
The option of the command, beside the last-level cache: 256 MiB on MI300X and MI350X.
A timeline's product with the bytes of its operands.

## What to do
`hipblaslt-bench ... --rotating 256 --cold_iters 100 --iters 1000`; in `find_exact.py` the key `RotatingBuffer`.

## Source
The ROCm MI300X workload guide (hipBLASLt benchmarking; RotatingBuffer).
";
