//! TUN003: times that contradict their own rate.
//!
//! Time and rate of a row follow from each other, so a row whose two disagree was not measured as written.

use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use sorting::Sort;
use tunedb::{Format, Row, Tunings};
use view::{Finding, Severity, counted};

pub(crate) const RULE: Rule = Rule {
    id: "TUN003",
    title: "times that contradict their own rate",
    severity: Severity::Warning,
    page: include_str!("tun003.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

/// Relative difference, and what rounding to one decimal adds.
const RELATIVE: f64 = 0.02;
const ROUNDING: f64 = 0.06;

/// Rows from which on one factor is a mistake of the column and not of its rows.
const SAME: usize = 5;

/// A row whose stated rate is not the one that sizes and time give.
struct Contradiction<'f, 'a> {
    row: &'f Row<'a>,
    computed: f64,
    stated: f64,
}

impl Contradiction<'_, '_> {
    fn factor(&self) -> f64 {
        self.stated / self.computed
    }

    fn has(&self, factor: f64) -> bool {
        (self.factor() / factor - 1.0).abs() < RELATIVE
    }
}

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        // Rate and time of these are one number.
        if matches!(file.format, Format::Logic | Format::TensileData) {
            continue;
        }
        let mut found: Vec<Contradiction<'_, '_>> = file.rows.iter().filter_map(contradiction).collect();
        if let Some(factor) = common_factor(&found) {
            let (of_column, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|it| it.has(factor));
            findings.push(column(file, factor, &of_column));
            found = others;
        }
        findings.extend(found.iter().map(|it| single(file, it)));
    }
    outcome(findings)
}

fn contradiction<'f, 'a>(row: &'f Row<'a>) -> Option<Contradiction<'f, 'a>> {
    let (flop, us, stated) = (row.flop()?, row.time_us.ok()?, row.tera_flops().ok()?);
    let computed = flop / us / 1e6;
    ((computed - stated).abs() > ROUNDING + RELATIVE * computed).then_some(Contradiction {
        row,
        computed,
        stated,
    })
}

/// The factor between stated and computed rate that most of the rows share.
fn common_factor(found: &[Contradiction<'_, '_>]) -> Option<f64> {
    let mut factors: Vec<f64> = found.iter().map(Contradiction::factor).collect();
    factors.in_order_by(f64::total_cmp);
    let middle = *factors.get(factors.len() / 2)?;
    let same = found.iter().filter(|it| it.has(middle)).count();
    let far = !(0.67..1.5).contains(&middle);
    (far && same >= SAME && 2 * same > found.len()).then_some(middle)
}

fn column(file: &Tunings<'_>, factor: f64, rows: &[Contradiction<'_, '_>]) -> Finding {
    let message = format!(
        "{} with a rate of {factor:.3} times the one that sizes and time give: the column of rates is wrong, not the times",
        counted(rows.len(), "row"),
    );
    let advice = "use the times: merges and look-ups do; correct the program that wrote the column of rates";
    RULE.finding(Severity::Warning, message, advice)
        .with_evidence("ratio", format!("{:.2}", 1.0 / factor))
        .with_places(rows.iter().map(|it| at(file, it.row.line)))
}

fn single(file: &Tunings<'_>, it: &Contradiction<'_, '_>) -> Finding {
    let shape = it.row.shape.as_ref().map(ToString::to_string).unwrap_or_default();
    let us = it.row.time_us.unwrap_or_default();
    let message = format!("{shape} in {us} us is {:.2} TFLOP/s; the row says {}", it.computed, it.stated);
    RULE.finding(Severity::Warning, message, "measure again, or do not merge by this time")
        .with_evidence("ratio", format!("{:.2}", it.computed / it.stated))
        .with_places([at(file, it.row.line)])
}
