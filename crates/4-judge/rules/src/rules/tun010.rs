//! TUN010: configurations by size that are incomplete or contradictory.
//!
//! A look-up by size takes the first or nearest entry, and missing values come from elsewhere.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{FlawKind, Format, Shape, Tunings};
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "TUN010",
    title: "configurations by size that are incomplete or contradictory",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Checks configurations by number of tokens or rows (vLLM, SGLang, AITER's Triton files): sizes rise, there is an entry for small and large
ones and `any`, tiles are powers of two, `matrix_instr_nonkdim` is one the hardware has and fits into the tile.

## Why it is slow
vLLM takes the entry with the nearest number of tokens, without interpolation, so a ladder that begins at 64 gives a batch of 1 a tile
of 64. AITER asks for `M_LEQ_n` with n from 1, 4, 8, 16 to 8192, in that order, so an entry with another n is never taken unless the kernel has
bounds of its own; some kernels go through the file instead, where an entry behind a larger one is never taken. Without `any` or `M_GEQ_n` a
large M stops the kernel.

## Evidence
The entries and the settings named. A tile smaller than the matrix instruction computes rows that nobody needs.

## What to do
Tune the sizes that are missing: 1, 2, 4, 8 … tokens for decoding and 4096 and more for prefill. Sort the entries by size.

## Source
vLLM issue 52192 (2.35 % lost by a ladder without small sizes); AITER issue 2409 (shapes that fell to `any`: 18 instead of 3,000 TFLOP/s).
";

/// Tokens that decoding has, and that prefill has.
const SMALL: u64 = 4;
const LARGE: u64 = 4096;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|it| by_size(it.format)) {
        for flaw in &file.flaws {
            let severity = match flaw.kind {
                FlawKind::NotSorted | FlawKind::Contradiction | FlawKind::Unused => Severity::Warning,
                _ => continue,
            };
            let advice = "correct the entry and measure again";
            findings
                .push(RULE.finding(severity, flaw.text.clone(), advice).with_places([at(file, flaw.line)]));
        }
        if file.format != Format::AiterJson {
            ladder(file, &mut findings);
        }
    }
    outcome(findings)
}

fn by_size(format: Format) -> bool {
    matches!(format, Format::MoeJson | Format::BlockGemmJson | Format::AiterJson)
}

fn ladder(file: &Tunings<'_>, findings: &mut Vec<Finding>) {
    let tokens = file.rows.iter().filter_map(|row| match &row.shape {
        Ok(Shape::Moe(shape)) => Some(shape.tokens),
        _ => row.key.parse().ok(),
    });
    let tokens: Vec<u64> = tokens.collect();
    let (Some(least), Some(most)) = (tokens.iter().min(), tokens.iter().max()) else { return };
    for (missing, message) in [
        (*least > SMALL, format!("begins at {least} tokens: fewer take that entry")),
        (*most < LARGE, format!("ends at {most} tokens: more take that entry")),
    ] {
        if missing {
            let finding = RULE.finding(Severity::Info, message, "tune the sizes that the service has");
            findings.push(finding.with_places([at(file, 1)]));
        }
    }
}
