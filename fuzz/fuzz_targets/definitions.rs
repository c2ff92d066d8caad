//! Any text as a definitions file: definitions or errors with places in the text, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metrics::{Definitions, Evaluation, Settings, table};
use std::collections::BTreeMap;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines = text.lines().count();
    let definitions = match Definitions::built_in().clone().with(&[("fuzz", text)]) {
        Ok(d) => d,
        Err(errors) => {
            assert!(errors.0.iter().all(|e| e.file != "fuzz" || (1..=lines).contains(&e.line)));
            return;
        }
    };
    let Ok(compiled) = definitions.compile("gfx90a") else { return };
    let csv = b"Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,a,1,9,5\n".to_vec();
    let folder = BTreeMap::from([("pmc_perf.csv".to_string(), csv)]);
    let Ok(w) = workload::read(&folder, &workload::Options::default()) else { return };
    let e = Evaluation::new(&compiled, &w, vec![0], Settings::default());
    for t in definitions.tables() {
        for row in table(&definitions, t, &e, Settings::default()).rows {
            // Whatever is computed is a number or a reason.
            assert!(row.cells.iter().flatten().flatten().all(|v| v.is_finite()));
        }
    }
});
