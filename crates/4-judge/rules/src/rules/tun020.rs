//! TUN020: files without rows.

use crate::tunings::{TuningEvidence, at, has_keys, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Detail, Format, Tunings};
use view::{Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN020",
    title: "files without rows",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Finds files that their library loads and that hold no row: versions or a header only.

## Why it is slow
The file is accepted, nothing is reported, and every problem takes its default kernel, as if nothing had been tuned.

## Evidence
The versions or the header that are there, and that no other line is.

## What to do
For TunableOp, in the order of how often it is the reason:
* Tuning was off: results are written with PYTORCH_TUNABLEOP_ENABLED=1 and PYTORCH_TUNABLEOP_TUNING=1. With PYTORCH_TUNABLEOP_RECORD_UNTUNED=1
  problems go to the untuned file and none is tuned; use it in a run of its own with tuning off.
* The process ended hard (a signal, `os._exit`, a worker that its server kills): versions of PyTorch that write at the end lose all rows. Call
  `torch.cuda.tunable.write_file()` before the end.
* Every process writes its own file: look at those of the other ranks.
* No product reaches TunableOp: AITER, Triton and quantized layers call no `torch.mm`. `PYTORCH_TUNABLEOP_VERBOSE=1` says which do.

## Source
PyTorch issue 142403; PyTorch, `aten/src/ATen/cuda/tunable/README.md`.
";

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files.iter().filter(|file| is_empty(file)) {
        let head = match file.versions.len() {
            0 => "a header".to_owned(),
            versions => counted(versions, "version"),
        };
        let message = format!("no row, only {head}: every problem takes the default kernel");
        let advice = match file.format {
            Format::TunableOp => {
                "set PYTORCH_TUNABLEOP_ENABLED=1 and PYTORCH_TUNABLEOP_TUNING=1 without PYTORCH_TUNABLEOP_RECORD_UNTUNED, call \
                 `torch.cuda.tunable.write_file()` before the process ends, and look at the files of other ranks; \
                 `rockhound explain TUN020` has more reasons"
            }
            _ => "tune, or remove the file: the loader reads it and finds nothing",
        };
        findings.push(RULE.finding(Severity::Warning, message, advice).with_places([at(file, 1)]));
    }
    outcome(findings)
}

fn is_empty(file: &Tunings<'_>) -> bool {
    // A logic file without sizes may have solutions for all of them.
    let serves_all = matches!(&file.detail, Detail::Logic(logic) if !logic.solutions.is_empty());
    file.rows.is_empty() && file.flaws.iter().all(|it| !it.spoils_row) && has_keys(file.format) && !serves_all
}
