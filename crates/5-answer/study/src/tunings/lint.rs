//! Mistakes in tuning databases.

use super::answer;
use rules::TuningEvidence;
use view::{Answer, NoteKind, Tuned};

/// Findings of all rules on tuning databases.
pub fn lint(evidence: &TuningEvidence<'_>) -> Answer<Tuned> {
    let mut report = answer("lint", evidence.files.iter());
    (report.findings, report.not_checked) = rules::check_tunings(evidence);
    if report.findings.is_empty() && !evidence.files.is_empty() {
        let rows: usize = evidence.files.iter().map(|it| it.rows.len()).sum();
        report
            .note(NoteKind::Info, format!("no findings in {} files with {rows} rows", evidence.files.len()));
    }
    report
}
