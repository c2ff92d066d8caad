//! Reports that the reference printed, read in place of the recordings that they are of.

use rockhound_metrics::{Compiled, Definitions, Evaluation, Settings};
use std::collections::BTreeMap;
use view::Average;
use workload::{Options, Workload};

fn read(files: &BTreeMap<String, Vec<u8>>) -> Workload {
    workload::read(files, &Options::default()).expect("a recording")
}

fn evaluated<'a>(definitions: &'a Compiled, of: &'a Workload) -> Evaluation<'a> {
    let rows = (0..of.dispatches.len() as u32).collect();
    let settings = Settings { average: Average::Dispatches, ..Settings::default() };
    Evaluation::new(definitions, of, rows, settings)
}

/// The reference computes it otherwise; see the test of its every cell.
const OTHERWISE: &str = "wave.occupancy";

/// A printed report gives the values of its recording, to the decimals that were printed.
#[test]
fn a_printed_report_gives_the_values_of_its_recording() {
    let Some(shared) = testkit::shared("oracle") else { return };
    let shared = shared.parent().expect("the folder of the shared data");
    for (name, least) in [("MI200", 200), ("MI300X_A1", 150)] {
        let text = std::fs::read(shared.join(format!("oracle/text/vcopy_{name}.txt"))).expect("the report");
        let printed = read(&BTreeMap::from([("report.txt".to_owned(), text)]));
        let recorded = read(&testkit::files(&shared.join("workloads/vcopy").join(name)));
        assert_eq!(printed.machine.target(), recorded.machine.target(), "{name}");
        assert_eq!(printed.dispatches.len(), recorded.dispatches.len(), "{name}");
        let definitions = Definitions::built_in();
        let compiled = definitions.compile(printed.machine.target().expect("a target")).expect("definitions");
        let (a, b) = (evaluated(&compiled, &printed), evaluated(&compiled, &recorded));
        let mut equal = 0;
        let mut wrong = Vec::new();
        for metric in definitions.metrics() {
            let (Ok(a), Ok(b)) = (a.value(&metric.id), b.value(&metric.id)) else { continue };
            let difference = (a - b).abs();
            equal += usize::from(difference <= 0.0051 + 1e-9 * b.abs());
            // Quotients of means are no means of quotients.
            if metric.id != OTHERWISE && difference > 0.0051 + 0.03 * b.abs() {
                wrong.push(format!("{} {a} {b}", metric.id));
            }
        }
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        assert!(equal >= least, "{name}: {equal}");
    }
}
