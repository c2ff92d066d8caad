//! TUN025: measured products whose strides fall on few channels.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use tunedb::{Format, Row, Tunings};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN025",
    title: "products were measured with strides that are multiples of 512 bytes",
    severity: Severity::Info,
    page: include_str!("tun025.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Distance of rows in bytes whose multiples use few channels.
const BAD: u64 = 512;
/// Bytes of both factors that one L2 cache keeps.
const SMALL: u64 = 4_000_000;
/// Products that are named.
const NAMED: usize = 3;

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let files = evidence.files.iter().filter(|it| it.format == Format::BenchOutput);
    outcome(files.filter_map(one).collect())
}

fn one(file: &Tunings<'_>) -> Option<Finding> {
    let hot: Vec<&Row<'_>> = file.rows.iter().filter(|row| is_hot(row)).collect();
    let words: Vec<String> =
        hot.iter().take(NAMED).filter_map(|row| row.shape.as_ref().ok()).map(ToString::to_string).collect();
    let first = hot.first()?;
    let message = format!(
        "{} of {} in TN with strides that are multiples of {BAD} bytes: {}",
        counted(hot.len(), "row"),
        file.rows.len(),
        words.join("; ")
    );
    let found = RULE.finding(Severity::Info, message, "measure with rows padded by 256 bytes, too");
    Some(found.with_places([at(file, first.line)]))
}

fn is_hot(row: &Row<'_>) -> bool {
    let is_tn = row.layout.as_deref().is_ok_and(|it| it.eq_ignore_ascii_case("TN"));
    let element = row.types.as_deref().ok().and_then(tunedb::element);
    let shape = row.shape.as_ref().ok().and_then(|it| it.gemm());
    let (Some(element), Some(shape), true) = (element, shape, is_tn) else { return false };
    let Some([a, b, ..]) = shape.leading else { return false };
    let strides = [a, b].map(|it| element.bytes_of(u64::from(it)));
    let bytes = strides[0]
        .saturating_mul(u64::from(shape.m))
        .saturating_add(strides[1].saturating_mul(u64::from(shape.n)));
    strides.iter().all(|it| *it > 0 && it.is_multiple_of(BAD)) && bytes > SMALL && shape.m.min(shape.n) >= 16
}
