//! Any bytes as rocprofv3's JSON and as a table of agents. Rows of a document that is cut are those of the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rocprof::results::{List, read};

fn rows(bytes: &[u8]) -> (Vec<String>, bool) {
    let lists = [&List::TIMED[..], &List::SAMPLES].concat();
    let mut all = Vec::new();
    let read = read(&mut &*bytes, &lists, &mut |row| all.push(format!("{row:?}")));
    (all, read.is_ok())
}

fuzz_target!(|data: &[u8]| {
    let (whole, _) = rows(data);
    let (cut, _) = rows(&data[..data.len() / 2]);
    assert_eq!(cut[..], whole[..cut.len()]);
    let _ = rocprof::agents::table(data);
});
