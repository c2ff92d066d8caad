//! ENV005: GEMM benchmarks whose operands stay in the cache.

use crate::{Check, HostEvidence, Judged, Rule};
use system::command::Kind;
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV005",
    title: "a GEMM benchmark without a rotating buffer",
    severity: Severity::Severe,
    page: PAGE,
    check: Check::Host(check),
};

const PAGE: &str = r"## What it does
Looks at `hipblaslt-bench` on the command line: `--rotating MIB` must be at least the last-level cache (`hipblaslt-rotating`).

## Why it is slow
It is about the number: operands that stay in the cache from one run to the next come at the cache's rate, and the GEMM looks faster than in
a program.

## Evidence
The option of the command, beside the last-level cache: 256 MiB on MI300X and MI350X.

## What to do
`hipblaslt-bench ... --rotating 256 --cold_iters 100 --iters 1000`; in `find_exact.py` the key `RotatingBuffer`.

## Source
The ROCm MI300X workload guide (hipBLASLt benchmarking; RotatingBuffer).
";

/// MiB of the last-level cache of MI300X and MI350X.
const CACHE_MIB: u64 = 256;

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "hipblaslt-rotating";
    let Some(stage) = evidence.command.and_then(|command| command.stage(Kind::HipblasltBench)) else {
        return Vec::new();
    };
    let rotating = stage.value(&["--rotating", "--rotating_buffer"]);
    let judged = match rotating.map(str::parse::<u64>) {
        None => Judged::fail(CHECK, "no --rotating: operands stay in the cache"),
        Some(Ok(size)) if size >= CACHE_MIB => Judged::pass(CHECK, format!("{size} MiB rotate")),
        Some(Ok(size)) => Judged::warn(
            CHECK,
            format!("--rotating {size} MiB is less than the last-level cache of {CACHE_MIB} MiB"),
        ),
        Some(Err(_)) => Judged::fail(CHECK, "--rotating takes a number of MiB"),
    };
    vec![judged.read("--rotating", rotating.unwrap_or("absent"))]
}
