//! What holds for every reader of recordings: a workload or an error, what is written reads back, nothing panics.

use std::collections::BTreeMap;
use workload::{Options, merge, read, write};

/// Reads the data as one of these files; of several the first byte chooses. `beside` are good files next to it, of which one
/// of the same name gives way.
pub fn check(files: &[&str], beside: &[(&str, &[u8])], data: &[u8]) {
    let (name, rest) = match files {
        [one] => (*one, data),
        _ => {
            let Some((first, rest)) = data.split_first() else { return };
            (files[usize::from(*first) % files.len()], rest)
        }
    };
    let mut folder = BTreeMap::new();
    for (name, bytes) in beside {
        folder.insert(name.to_string(), bytes.to_vec());
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
    // What is written holds what was recorded, and recordings of one machine can be merged.
    let merged = merge(vec![("0".to_string(), w.clone()), ("1".to_string(), w.clone())]).unwrap();
    assert_eq!(merged.dispatches.len(), 2 * rows);
    assert!(merged.counters.iter().all(|c| c.values.len() == 2 * rows));
    if let Ok(back) = read(&write(&w), &options) {
        assert_eq!(back.dispatches.len(), rows);
    }
}
