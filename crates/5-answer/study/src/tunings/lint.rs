//! Mistakes in tuning databases.

use super::answer;
use rules::{TuneMachine, TuningEvidence};
use std::collections::BTreeSet;
use tunedb::Tunings;
use view::{Answer, NoteKind, Tuned};

/// Findings of all rules on tuning databases: files, the machine they are to be used on, and the names that a
/// catalogue lists.
pub fn lint(
    files: &[Tunings<'_>],
    machine: Option<&TuneMachine>,
    catalogue: Option<&BTreeSet<String>>,
) -> Answer<Tuned> {
    let evidence = TuningEvidence { files, machine, catalogue };
    let mut report = answer("lint", files);
    (report.findings, report.not_checked) = rules::check_tunings(&evidence);
    if report.findings.is_empty() && !files.is_empty() {
        let rows: usize = files.iter().map(|it| it.rows.len()).sum();
        let of_tunings = rules::all().iter().filter(|rule| rule.tuning_check().is_some()).count();
        let text = format!(
            "no findings: {} checked on {} in {}",
            view::counted(of_tunings - report.not_checked.len(), "rule"),
            view::counted(rows, "row"),
            view::counted(files.len(), "file")
        );
        report.note(NoteKind::Info, text);
    }
    report
}
