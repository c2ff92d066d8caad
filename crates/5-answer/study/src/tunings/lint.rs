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
        let of_tunings = rules::all().iter().filter(|rule| rule.tuning_check().is_some()).count();
        let text = format!(
            "no findings: {} checked on {} in {}",
            view::counted(of_tunings - report.not_checked.len(), "rule"),
            view::counted(rows, "row"),
            view::counted(evidence.files.len(), "file")
        );
        report.note(NoteKind::Info, text);
    }
    report
}
