//! Core dumps as incidents: exceptions of a queue or a GPU, or the signal if the note on GPUs has no fault.

use super::{fact, incident, signal};
use system::fault::{CoreDump, CoreGpu, Exception, FaultLog};
use view::{Incident, NamedValue};

/// Mapped files named at most.
const MOST_FILES: usize = 12;

/// Incidents of a core dump, queues before GPUs.
pub(super) fn incidents(log: &FaultLog, core: &CoreDump) -> Vec<Incident> {
    let mut out = Vec::new();
    for queue in &core.queues {
        for exception in &queue.exceptions {
            let title = format!("queue {} of {}: {}", queue.id, gpu_words(core, queue.gpu), exception.name);
            out.push(raised(log, core, title, exception));
        }
    }
    let by_queue = !out.is_empty();
    for gpu in &core.gpus {
        for exception in &gpu.exceptions {
            let title = format!("{}: {}", gpu_words(core, gpu.id), exception.name);
            let mut incident = raised(log, core, title, exception);
            // A GPU raises what one of its queues raised.
            incident.consequence = by_queue;
            out.push(incident);
        }
    }
    if out.is_empty() {
        out.push(host(log, core));
    }
    out
}

fn raised(log: &FaultLog, core: &CoreDump, title: String, exception: &Exception) -> Incident {
    let mut incident = incident(log, 0, title, "");
    exception.meaning.clone_into(&mut incident.meaning);
    incident.next = vec![exception.next.to_owned(), debugger(log)];
    incident.facts = facts(core);
    incident
}

/// The signal of the host, where no GPU reports a fault.
fn host(log: &FaultLog, core: &CoreDump) -> Incident {
    let title = match core.signal {
        Some(it) => {
            format!("core dump: the process ended by signal {}{}", it.number, signal(i64::from(it.number)))
        }
        None => "core dump without a signal: taken of a running process".to_owned(),
    };
    let mut incident = incident(log, 0, title, "");
    incident.meaning = match (core.has_gpus, core.problems.is_empty()) {
        (true, true) => "no queue and no GPU of the dump raised an exception: the fault is the host program's".to_owned(),
        (true, false) => "what is left of the note on GPUs names no exception".to_owned(),
        (false, _) => "the dump has no note on GPUs, so it says nothing of them: the kernel's own dumps have none, ROCr and rocgdb write \
                       them".to_owned(),
    };
    incident.facts = facts(core);
    incident.next = vec![debugger(log)];
    incident
}

/// Wave registers are in the queues' save areas, whose layout the debugger knows.
fn debugger(log: &FaultLog) -> String {
    format!(
        "waves, registers and source lines: rocgdb PROGRAM {} and in it `info threads`, `lane`, `x/8i $pc-24`",
        log.file
    )
}

fn gpu_words(core: &CoreDump, id: u32) -> String {
    let named = core.gpus.iter().enumerate().find(|(_, it)| it.id == id);
    let Some((at, CoreGpu { bdf, target, .. })) = named else {
        return format!("GPU {id} of the compute driver");
    };
    let words: Vec<&str> = [bdf, target].into_iter().flatten().map(String::as_str).collect();
    match words.is_empty() {
        true => format!("GPU {at}"),
        false => format!("GPU {at} ({})", words.join(", ")),
    }
}

fn facts(core: &CoreDump) -> Vec<NamedValue> {
    let mut facts = Vec::new();
    if let Some(program) = &core.program {
        let process = if core.process > 0 { format!(", process {}", core.process) } else { String::new() };
        facts.push(fact("program", format!("{program}{process}")));
    }
    if let Some(it) = core.signal {
        let address = it.address.map_or_else(String::new, |it| format!(", the host's access to {it:#x}"));
        facts.push(fact("signal", format!("{}{}{address}", it.number, signal(i64::from(it.number)))));
    }
    if core.has_gpus {
        let busy = core.queues.iter().filter(|it| !it.exceptions.is_empty()).count();
        facts.push(fact(
            "GPUs",
            format!("{}, with {} queues, {busy} of them with a fault", core.gpus.len(), core.queues.len()),
        ));
    }
    if core.threads > 0 {
        facts.push(fact("threads of the host", core.threads.to_string()));
    }
    facts.push(fact("memory in the dump", format!("{:.1} MiB", core.memory as f64 / f64::from(1 << 20))));
    // Programs and libraries are what GPU code comes from; data files are many.
    let code: Vec<&str> = core
        .files
        .iter()
        .map(String::as_str)
        .filter(|it| {
            !it.starts_with("/usr/lib")
                && !it.starts_with("/lib")
                && !it.ends_with(".mo")
                && !it.contains("/locale/")
        })
        .collect();
    if !code.is_empty() {
        let more = code.len().saturating_sub(MOST_FILES);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        facts.push(fact(
            "mapped files",
            format!("{}{more}", code.iter().take(MOST_FILES).copied().collect::<Vec<_>>().join(", ")),
        ));
    }
    facts.extend(core.problems.iter().map(|it| fact("not read", it.clone())));
    facts
}
