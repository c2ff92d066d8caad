//! TIL005: strides that fall on few channels.

use crate::{Check, LaunchEvidence, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "TIL005",
    title: "a stride is a multiple of 512 bytes",
    severity: Severity::Warning,
    page: include_str!("til005.md"),
    checks: &[Check::Launch(check)],
    panels: &[11],
};

/// Distance of rows that is to be avoided.
const BAD: u64 = 512;
/// Bytes of factors and result that one L2 cache keeps.
const SMALL: f64 = 4e6;
/// Row padding in the guide.
const PAD_BYTES: u64 = 256;

fn check(evidence: &LaunchEvidence<'_>) -> Outcome {
    let Some(it) = evidence.gemm else {
        return Outcome::needs("the shape and the tile of the matrix product");
    };
    let operands = it.problem.operands;
    let strides = it.problem.stride_bytes();
    // Rows of a tile along the dimension that is not the fastest.
    let rows = [
        if operands.left_along_k() { it.tile.m } else { it.tile.k },
        if operands.right_along_k() { it.tile.n } else { it.tile.k },
    ];
    let extents = [
        if operands.left_along_k() { it.problem.m } else { it.problem.k },
        if operands.right_along_k() { it.problem.n } else { it.problem.k },
    ];
    let hot: Vec<usize> = (0..2)
        .filter(|at| {
            strides[*at].is_multiple_of(BAD) && rows[*at].min(extents[*at]) >= 16 && strides[*at] > 0
        })
        .collect();
    if evidence.model.xcds.value < 2 || hot.is_empty() || it.bytes.memory < SMALL {
        return Outcome::Silent;
    }
    let both = operands == gemm::Operands::Tn && hot.len() == 2;
    let bits = u64::from(it.problem.element.bits());
    let describe = |at: &usize| {
        let name = if *at == 0 { "left" } else { "right" };
        format!("the {name} factor {} bytes", strides[*at])
    };
    let list: Vec<String> = hot.iter().map(describe).collect();
    let severity = if both { Severity::Warning } else { Severity::Info };
    let padded: Vec<String> = hot
        .iter()
        .map(|at| {
            format!("{} = {}", if *at == 0 { "lda" } else { "ldb" }, (strides[*at] + PAD_BYTES) * 8 / bits)
        })
        .collect();
    Outcome::Findings(vec![
        RULE.finding(
            severity,
            format!(
                "rows are a multiple of {BAD} bytes apart ({}): {}",
                operands.name().to_uppercase(),
                list.join(", ")
            ),
            format!("pad the rows: {}", padded.join(", ")),
        )
        .with_evidence("stride of the left factor", format!("{} bytes", strides[0]))
        .with_evidence("stride of the right factor", format!("{} bytes", strides[1])),
    ])
}
