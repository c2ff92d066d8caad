//! The framework operator that launched each dispatch of a recording, from a trace of the same program.
//!
//! Two runs of one program launch a kernel equally often in the same order, so the nth dispatch of a kernel
//! is the nth span of that name; if the counts differ, no dispatch of that kernel is matched.

use ::timeline::Links;
use analysis::workload::Subject;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, Timeline};
use workload::plain_kernel_name;

/// The operator of each dispatch, by row; `None` if unknown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Operators {
    /// By row of the recording.
    pub of_row: Vec<Option<String>>,
    /// Kernels that the trace launches another number of times: name, dispatches, spans.
    pub unequal: Vec<(String, usize, usize)>,
}

/// Matches the dispatches of a recording with the spans of a trace.
pub(crate) fn operators(subject: &Subject, timeline: &Timeline) -> Operators {
    let links = Links::of(timeline);
    let mut spans: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut in_order: Vec<usize> =
        (0..timeline.gpu.len()).filter(|at| timeline.gpu.kind[*at] == GpuKind::Kernel).collect();
    in_order.in_order_by_key(|at| timeline.gpu.start[*at]);
    for at in in_order {
        spans.entry(short(timeline.names.get(timeline.gpu.name[at]))).or_default().push(at);
    }
    let w = &subject.workload;
    let mut rows: HashMap<&str, Vec<usize>> = HashMap::new();
    for row in 0..w.dispatches.len() {
        rows.entry(short(w.kernel_of(row))).or_default().push(row);
    }
    let mut out = Operators { of_row: vec![None; w.dispatches.len()], unequal: Vec::new() };
    for (kernel, rows) in rows {
        let Some(spans) = spans.get(kernel) else { continue };
        if spans.len() != rows.len() {
            out.unequal.push((kernel.to_owned(), rows.len(), spans.len()));
            continue;
        }
        for (row, span) in rows.into_iter().zip(spans) {
            let operator =
                links.operator_of(*span).map(|at| timeline.names.get(timeline.host.name[at]).to_owned());
            out.of_row[row] = operator;
        }
    }
    out.unequal.in_order();
    out
}

/// A kernel's name without its arguments and return type, which profilers write in several ways.
fn short(name: &str) -> &str {
    let name = plain_kernel_name(name);
    let name = name.strip_prefix("void ").unwrap_or(name);
    // Parentheses within a template's arguments belong to the name.
    let mut depth = 0i32;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth <= 0 && at > 0 => return name[..at].trim_end(),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use view::Wanted;

    /// A trace in which operators launch kernels one after another.
    fn traced(launches: &[(&str, &str)]) -> Timeline {
        let mut events = Vec::new();
        for (at, (operator, kernel)) in launches.iter().enumerate() {
            let (id, ts) = (at + 1, 100 * at);
            let args = format!(r#""args":{{"External id":{id},"correlation":{id},"device":0,"stream":7}}"#);
            for (category, name, thread, start) in [
                ("cpu_op", *operator, 1, ts),
                ("cuda_runtime", "hipLaunchKernel", 1, ts + 10),
                ("kernel", *kernel, 7, ts + 20),
            ] {
                events.push(format!(
                    r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":1,"tid":{thread},"ts":{start},"dur":30,{args}}}"#
                ));
            }
        }
        let text = format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(","));
        trace::read("a.json", &mut text.as_bytes()).unwrap()
    }

    fn recorded(kernels: &[&str]) -> Subject {
        let mut csv = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n".to_owned();
        for (at, kernel) in kernels.iter().enumerate() {
            csv += &format!("{at},\"{kernel}\",{},{},1\n", 100 * at, 100 * at + 50);
        }
        let files = BTreeMap::from([("pmc_perf.csv".to_owned(), csv.into_bytes())]);
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        Subject {
            name: String::new(),
            path: String::new(),
            rows: (0..kernels.len() as u32).collect(),
            workload,
            filled: Vec::new(),
            selection: String::new(),
            wanted: Wanted::default(),
        }
    }

    #[test]
    fn the_nth_dispatch_of_a_kernel_is_the_nth_span() {
        let trace = traced(&[
            ("aten::mm", "void gemm<float>(float*)"),
            ("aten::add", "elementwise(float*)"),
            ("aten::mul", "elementwise(float*)"),
            ("aten::sum", "reduce(float*)"),
        ]);
        let own = |list: &[Option<&str>]| list.iter().map(|it| it.map(str::to_owned)).collect::<Vec<_>>();
        // Kernels of different streams may be recorded in another order.
        let found = operators(
            &recorded(&[
                "elementwise(float*)",
                "gemm<float>(float*) [clone .kd]",
                "elementwise(float*)",
                "copy",
            ]),
            &trace,
        );
        assert_eq!(found.of_row, own(&[Some("aten::add"), Some("aten::mm"), Some("aten::mul"), None]));
        assert_eq!(found.unequal, []);
        // Another number of launches is another run.
        let found = operators(&recorded(&["reduce(float*)", "reduce(float*)"]), &trace);
        assert_eq!(found.of_row, own(&[None, None]));
        assert_eq!(found.unequal, [("reduce".to_owned(), 2, 1)]);
    }

    #[test]
    fn names_of_kernels_meet() {
        for (name, expected) in [
            ("void add<float>(float*, int) [clone .kd]", "add<float>"),
            ("add<float>(float*, int)", "add<float>"),
            ("gemm.kd", "gemm"),
            ("void f<(anonymous namespace)::G>(int)", "f<(anonymous namespace)::G>"),
            ("(anonymous)", "(anonymous)"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
