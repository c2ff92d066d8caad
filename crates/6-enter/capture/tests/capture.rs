//! The library as a file: the functions that it intercepts, and its mark. Its work is tested with programs, in
//! `crates/6-enter/hip/tests/hip/capture.rs`.
#![allow(clippy::disallowed_methods, reason = "a test reads files")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The library that was built for this test.
fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("librockhound_capture.so")
}

#[test]
fn it_has_the_functions_of_the_runtime_and_no_others() {
    let bytes = std::fs::read(library()).unwrap();
    let has = |name: &str| bytes.windows(name.len()).any(|it| it == name.as_bytes());
    assert!(has("rockhound-capture-"), "the mark by which the command finds it");
    let hip = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hip/src/api");
    let runtime: String = std::fs::read_dir(hip)
        .unwrap()
        .filter_map(|it| std::fs::read_to_string(it.unwrap().path()).ok())
        .collect();
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api.rs")).unwrap();
    let words = source.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let names: BTreeSet<&str> =
        words.filter(|it| ["hip", "__hip", "_Z"].iter().any(|begin| it.starts_with(begin))).collect();
    assert!(names.len() > 40, "{names:?}");
    for name in names {
        assert!(has(&format!("{name}\0")), "{name} is not exported");
        assert!(runtime.contains(name), "{name} is no function of the runtime");
    }
}
