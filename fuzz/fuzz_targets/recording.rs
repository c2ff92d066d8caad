//! What holds for every reader of recordings: a workload or an error, what is written reads back, nothing panics.

use std::collections::BTreeMap;
use workload::{Options, read, write};

/// Reads the data as one of these files; of several the first byte chooses. `beside` is a good file next to it.
pub fn check(files: &[&str], beside: Option<(&str, &str)>, data: &[u8]) {
    let (name, rest) = match files {
        [one] => (*one, data),
        _ => {
            let Some((first, rest)) = data.split_first() else { return };
            (files[usize::from(*first) % files.len()], rest)
        }
    };
    let mut folder = BTreeMap::new();
    if let Some((name, text)) = beside {
        folder.insert(name.to_string(), text.as_bytes().to_vec());
    }
    folder.insert(name.to_string(), rest.to_vec());
    let options = Options { max_unpacked: 1 << 24 };
    let Ok(w) = read(&folder, &options) else { return };
    let rows = w.dispatches.len();
    assert!(w.counters.iter().all(|c| c.values.len() == rows));
    for row in 0..rows {
        let _ = w.kernel_of(row);
        let _ = w.dispatches.duration(row);
    }
    if let Ok(back) = read(&write(&w), &options) {
        assert_eq!(back.dispatches.len(), rows);
    }
}
