//! Head above the tables: the kind of trace, and its caveats.

use timeline::TimelineEvidence;
use view::{Input, Note, NoteKind, duration, thousands, thousands_of};

/// Facts of the head.
pub(super) fn facts(input: &mut Input, evidence: &TimelineEvidence<'_>) {
    let t = evidence.timeline;
    let used: Vec<String> = t
        .devices
        .iter()
        .take(1)
        .map(|d| {
            let mut text = if d.name.is_empty() { "not named".to_owned() } else { d.name.clone() };
            if !d.target.is_empty() {
                text += &format!(" ({})", d.target);
            }
            if d.compute_units > 0 {
                text += &format!(", {} CUs", d.compute_units);
            }
            if let Some(model) = evidence.model.filter(|_| d.name.is_empty()) {
                text += &format!(": taken for {}", model.name);
            }
            text
        })
        .collect();
    if let Some(gpu) = used.first() {
        let listed = match t.devices.len() {
            1 => String::new(),
            n => format!("; {n} listed, {} used", evidence.overviews.len()),
        };
        input.fact("GPU", format!("{gpu}{listed}"));
    }
    if let Some((rank, world)) = t.rank {
        let of_all = if world > 0 { format!(" of {world}") } else { String::new() };
        input.fact("rank", format!("{rank}{of_all}"));
    }
    let mut contents = Vec::new();
    let mut add = |n: usize, text: String| {
        if n > 0 {
            contents.push(text);
        }
    };
    let copies = (evidence.total.spans - evidence.total.kernels) as usize;
    let copy = if copies == 1 { "copy or fill" } else { "copies and fills" };
    add(evidence.total.kernels as usize, thousands_of(evidence.total.kernels, "kernel"));
    add(copies, format!("{} {copy}", thousands(copies as u64)));
    add(t.host.len(), thousands_of(t.host.len(), "span") + " on the host");
    let in_scopes = t.scopes.iter().filter(|it| it.kernel).count();
    add(in_scopes, thousands_of(in_scopes, "kernel"));
    add(t.scopes.len() - in_scopes, thousands_of(t.scopes.len() - in_scopes, "scope"));
    add(t.calls.len(), thousands_of(t.calls.len(), "sum") + " of calls");
    add(t.allocations.len(), thousands_of(t.allocations.len(), "allocation"));
    input.fact("contents", if contents.is_empty() { "nothing".to_owned() } else { contents.join(", ") });
    if evidence.total.span > 0 {
        let total = &evidence.total;
        let share = |ns: i64| 100.0 * ns as f64 / total.span as f64;
        let mut text = format!("{} from first to last GPU span", duration(total.span as f64));
        if evidence.overviews.len() > 1 {
            text += &format!(" of {} GPUs, added", evidence.overviews.len());
        }
        text += &format!("; busy {:.1} %, idle {:.1} %", share(total.busy), share(total.idle()));
        if total.exposed_communication > 0 {
            text += &format!(", exposed communication {:.1} %", share(total.exposed_communication));
        }
        input.fact("time", text);
    }
    if let Some(text) = profiler(evidence) {
        input.fact("profiler", text);
    }
    for (name, value) in &t.facts {
        if matches!(name.as_str(), "command" | "host" | "backend") {
            input.fact(name, value.clone());
        }
    }
}

/// The profiler's cost on the host, if that is worth a word.
fn profiler(evidence: &TimelineEvidence<'_>) -> Option<String> {
    let cost = &evidence.profiler;
    // Below a hundredth of the span nobody would trace otherwise.
    if cost.total() * 100 < evidence.total.span.max(1) {
        return None;
    }
    let of = |(n, ns): (u64, i64), what: &str| {
        (n > 0 && ns > 0).then(|| format!("{} of {}", thousands_of(n, what), duration(ns as f64)))
    };
    let overhead = (cost.overhead.0 > 0)
        .then(|| format!("{} in its buffers and other work", duration(cost.overhead.1 as f64)));
    let parts = [
        of(cost.operators, "operator"),
        of(cost.python, "Python call").map(|text| text + " (`with_stack`)"),
        of(cost.launches, "launch").map(|text| text + " beyond 3 us"),
        overhead,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let total = duration(cost.total() as f64);
    Some(format!("costs the host about {total}: {}", parts.join(", ")))
}

/// Caveats of the numbers.
pub(super) fn notes(notes: &mut Vec<Note>, evidence: &TimelineEvidence<'_>, name: Option<&str>) {
    let mut add = |kind: NoteKind, text: String| {
        let text = name.map_or_else(|| text.clone(), |name| format!("{name}: {text}"));
        notes.push(Note { kind, text });
    };
    let problems = &evidence.timeline.problems;
    for (at, problem) in problems.iter().enumerate() {
        // Files of a folder have the same caveats.
        if problems[..at].contains(problem) {
            continue;
        }
        add(problem.kind, problem.text.clone());
    }
    let (kernels, others) = evidence.stale;
    if let Some(linked) = &evidence.linked {
        let copies = if others > 0 { format!(" and {others} copies or fills") } else { String::new() };
        let without = linked.idle_percent().map_or_else(String::new, |p| {
            format!("; without them idle is {p:.2} % of {}", duration(linked.span as f64))
        });
        add(
            NoteKind::Info,
            format!(
                "{kernels} of {} kernels{copies} ran in the trace and were launched before it began; they are counted{without}",
                thousands(evidence.total.kernels)
            ),
        );
    }
    let launched = evidence.launched;
    if let Some(text) = silence(evidence) {
        add(text.0, text.1);
    }
    if evidence.is_capture() && evidence.total.spans > 0 {
        add(
            NoteKind::Warning,
            format!(
                "{} of {} launches have no kernel in the trace: a graph was captured. Idle time says nothing here",
                launched.without_kernel, launched.calls
            ),
        );
    }
    if launched.replayed > 0 {
        add(
            NoteKind::Info,
            format!(
                "{} kernels were replayed by {} graph launches; they have no operator, grid or block of their own",
                launched.replayed, launched.graphs
            ),
        );
    }
    if evidence.total.kernels > 0 && !evidence.links.has_launches {
        add(NoteKind::Info, "no launches recorded: why the GPU was idle is not known".to_owned());
    }
    if evidence.total.kernels > 0 && !evidence.links.has_operators && is_kineto(evidence) {
        let text = "no operators recorded: tables by operator, shape and Python line cannot be made";
        add(NoteKind::Info, text.to_owned());
    }
}

fn is_kineto(evidence: &TimelineEvidence<'_>) -> bool {
    evidence.timeline.format == ::trace::Format::Kineto
}

/// What to say of calls of the host alone, by the tool; `None` for PyTorch's profiler and unknown ones.
fn only_calls(format: ::trace::Format) -> Option<&'static str> {
    use ::trace::Format as F;
    Some(match format {
        F::Rocprofv3Csv | F::Rocprofv3Json | F::Rocpd | F::Rocprofv2Csv => {
            "only calls of the host's API (4.1): kernels are in another table of the run, `*_kernel_trace.csv`, or were not recorded (`--kernel-trace`)"
        }
        F::Rocprofv1Json | F::Rocprofv1Csv | F::Rocprofv1Database => {
            "only calls of the host's API (4.1): kernels were not recorded (`rocprof --hip-trace` records both)"
        }
        _ => return None,
    })
}

/// Names what a timeline without kernels lacks: launches whose kernels were not recorded, operators without a GPU, or
/// everything.
fn silence(evidence: &TimelineEvidence<'_>) -> Option<(NoteKind, String)> {
    let t = evidence.timeline;
    if evidence.total.spans > 0 || !t.scopes.is_empty() {
        return None;
    }
    let on_gpu = |it: &::trace::CallSum| {
        ["kernel", "KERNEL", "memory cop", "MEMORY_COPY"].iter().any(|word| it.domain.contains(word))
            || evidence.text(it.name) == "KERNEL_DISPATCH"
    };
    let has_sums = t.calls.iter().any(on_gpu);
    if let Some(text) = only_calls(t.format).filter(|_| !has_sums && !t.host.is_empty()) {
        return Some((NoteKind::Warning, text.to_owned()));
    }
    let calls = evidence.launched.calls;
    if calls > 0 {
        let launches = thousands_of(calls, "launch");
        return Some((
            NoteKind::Warning,
            format!(
                "{launches} and no kernel: times on the GPU are unknown. The profiler recorded no GPU activity: another profiler or a debugger held it, the trace was stopped before the GPU was done (synchronise first), the PyTorch build has no roctracer or rocprofiler-sdk, or ProfilerActivity.CUDA was not asked for"
            ),
        ));
    }
    if has_sums {
        return None;
    }
    if t.host.is_empty() && !t.calls.is_empty() {
        return Some((
            NoteKind::Info,
            "sums of calls on the host, no kernel among them: for kernels use `rocprofv3 --stats --kernel-trace`".to_owned(),
        ));
    }
    if !t.host.is_empty() {
        return Some((
            NoteKind::Warning,
            "no launch and no kernel: only work of the host was recorded (ProfilerActivity.CUDA asks for the GPU's)"
                .to_owned(),
        ));
    }
    t.allocations
        .is_empty()
        .then(|| (NoteKind::Error, "a timeline without a single span that is read".to_owned()))
}
