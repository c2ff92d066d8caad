//! Any bytes as the output of a tool, an archive, an environment, a command, and a log of faults.
#![no_main]

use libfuzzer_sys::fuzz_target;
use system::command::{Command, split};
use system::fault::FaultLog;
use system::{InductorCode, Machine, Tree, is_archive, read_archive, recognize};

fuzz_target!(|data: &[u8]| {
    if is_archive(data) {
        if let Ok((tree, _)) = read_archive("x", data) {
            let (documents, _) = tree.documents();
            Machine::read(&tree, &documents);
        }
    } else if let Ok(document) = recognize("x", data) {
        Machine::read(&Tree::new("x"), &[document]);
    }
    let files = [("a.py", data), ("b.best_config", data), ("fxgraph/a/b/c", data)];
    let _ = InductorCode::of_folder("x", files.into_iter()).as_environment();
    let log = FaultLog::read("x", data).unwrap();
    for wave in log.dumps.iter().flat_map(|dump| &dump.waves) {
        assert!(wave.active_lanes().len() <= 64);
    }
    Command::parse(&split(&String::from_utf8_lossy(data)));
});
