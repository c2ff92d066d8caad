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
        report.note(NoteKind::Info, format!("no findings in {} files with {rows} rows", files.len()));
    }
    report
}
