//! Any bytes as a log, whole and in two pieces, and what follows from it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logs::Scan;
use system::fault::FaultLog;

fuzz_target!(|data: &[u8]| {
    let Some((&at, text)) = data.split_first() else { return };
    let whole = Scan::text(text);
    let (first, second) = text.split_at(text.len() * usize::from(at) / 256);
    let mut scan = Scan::new();
    scan.feed(first);
    scan.feed(second);
    let parts = scan.finish();
    assert_eq!(parts.lines, whole.lines);
    assert_eq!(parts.bytes, whole.bytes);
    let ids = |log: &logs::LogText| -> Vec<String> { log.events.iter().map(|it| it.id().to_owned()).collect() };
    assert_eq!(ids(&parts), ids(&whole));
    for line in String::from_utf8_lossy(text).lines().take(100) {
        let entry = logs::entry(line);
        for message in logs::messages() {
            let _ = message.read(&entry);
        }
    }
    let answer = study::triage::triage(&[FaultLog::of_text("x", whole)], &[]);
    assert!(answer.part.incidents.iter().all(|it| it.line > 0 && !it.title.is_empty()));
});
