//! Rooflines of several recordings, with kernels lettered through all of them.

use analysis::WorkloadEvidence;
use analysis::roofline_chart;
use analysis::workload::Subject;
use metrics::Compiled;
use view::{ROOFLINE_SCHEMA, Rooflines, WorkloadRoofline};

/// The `top` kernels of most time of each recording, on the levels and types named; all levels and the types that a machine
/// has ceilings of where none is named.
pub fn rooflines(
    compiled: &[&Compiled],
    subjects: &[Subject],
    levels: &[&str],
    types: &[&str],
    top: usize,
) -> Rooflines {
    let mut workloads = Vec::new();
    for (subject, compiled) in subjects.iter().zip(compiled) {
        let kernels = WorkloadEvidence::gather(compiled, &subject.workload, &subject.rows);
        let mut chart = roofline_chart::chart(&kernels, top);
        roofline_chart::count_integers(&mut chart, &kernels, types);
        roofline_chart::restrict(&mut chart, levels, types);
        workloads.push(WorkloadRoofline {
            name: subject.name.clone(),
            path: subject.path.clone(),
            roofline: chart,
        });
    }
    roofline_chart::letter(workloads.iter_mut().map(|it| &mut it.roofline));
    Rooflines { schema: ROOFLINE_SCHEMA, workloads }
}
