//! What is wrong with tuning databases.

use rules::TuningEvidence;
use view::TuneReport;

/// Findings of all rules on tuning databases.
pub fn lint(evidence: &TuningEvidence<'_>) -> TuneReport {
    let mut report = TuneReport::new("lint");
    (report.findings, report.not_checked) = rules::check_tunings(evidence);
    if report.findings.is_empty() {
        let rows: usize = evidence.files.iter().map(|it| it.rows.len()).sum();
        report.notes.push(format!("no findings in {} files with {rows} rows", evidence.files.len()));
    }
    report
}
