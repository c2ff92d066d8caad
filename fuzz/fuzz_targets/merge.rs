//! Any two tuning files merged. A result of lines that were read is not read back by the command, so it is here.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use study::tunings::{MergeOptions, merge};

const NAMES: [&str; 3] =
    ["tunableop_results0.csv", "a8w8_blockscale_tuned_gemm.csv", "gfx942130.HIP.fdb.txt"];

fuzz_target!(|data: &[u8]| {
    let (a, b) = match data.iter().position(|it| *it == 0xff) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, data),
    };
    for name in NAMES {
        let (Ok(a), Ok(b)) = (tunedb::read(name, a), tunedb::read(name, b)) else { continue };
        for force in [false, true] {
            let options = MergeOptions { force, ..MergeOptions::default() };
            let Ok(merged) = merge(&[a.clone(), b.clone()], &options) else { continue };
            if !merged.verbatim {
                continue;
            }
            let kept = |it: &tunedb::Tunings<'_>| -> BTreeSet<String> {
                let spoiled = |row: &&tunedb::Row<'_>| it.spoiled(row.line).is_none();
                it.rows.iter().filter(spoiled).map(|row| row.key.to_string()).collect()
            };
            let mut keys = kept(&a);
            keys.extend(kept(&b));
            if keys.is_empty() {
                continue;
            }
            let back = tunedb::read(name, &merged.bytes).expect("lines that were read are read again");
            assert_eq!(kept(&back), keys);
            assert_eq!(back.rows.len(), keys.len());
        }
    }
});
