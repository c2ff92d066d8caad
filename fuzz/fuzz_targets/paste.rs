//! Any bytes as a report: its parts, the machine it tells of, its command, and the answer on all of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logs::Scan;
use system::fault::FaultLog;
use system::{Machine, Tree, paste};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let report = paste::split("x", &text);
    assert!(report.log.lines().count() <= text.lines().count());
    Machine::read(&Tree::new("x"), &report.documents);
    let log = FaultLog::of_text("x", Scan::text(report.log.as_bytes()));
    let mut answer = study::triage::triage(std::slice::from_ref(&log), &[]);
    study::triage::add_report(&mut answer, &log, &report);
    if let Some(command) = report.job() {
        command.communicates();
        command.in_its_environment();
    }
});
