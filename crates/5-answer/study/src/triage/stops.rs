//! Waves that a debugger found stopped: kernel, place, workgroup and lane.

use super::{FaultLog, fact, incident};
use system::fault::WaveStop;
use view::{Incident, TriageLine};

/// Incidents of the stops of a log.
pub(super) fn incidents(log: &FaultLog) -> Vec<Incident> {
    log.stops.iter().map(|it| of_wave(log, it)).collect()
}

/// Reason of the table for a signal: the debugger makes signals of the GPU's exceptions.
fn reason(signal: &str) -> &'static str {
    match signal {
        "SIGSEGV" | "SIGBUS" => "MEMORY_VIOLATION",
        "SIGILL" => "ILLEGAL_INSTRUCTION",
        "SIGTRAP" | "SIGABRT" => "ASSERT_TRAP",
        _ => "",
    }
}

fn of_wave(log: &FaultLog, it: &WaveStop) -> Incident {
    let name = it.function.as_deref().unwrap_or("an unknown kernel");
    let at = it.source.as_ref().map_or_else(String::new, |it| format!(" at {it}"));
    let title = format!("wave {} of {name}{at} stopped: {} ({})", it.wave, it.signal, it.words);
    let mut incident = incident(log, it.line, title, reason(&it.signal));
    let is_memory = matches!(it.signal.as_str(), "SIGSEGV" | "SIGBUS");
    if it.signal == "SIGFPE" {
        "an operation of the GPU raised an enabled exception of floating-point or integer arithmetic"
            .clone_into(&mut incident.meaning);
    }
    incident.facts.push(fact("kernel", name));
    if let Some(source) = &it.source {
        let text = it.source_text.as_ref().map_or_else(String::new, |it| format!(": {it}"));
        incident.facts.push(fact("source", format!("{source}{text}")));
    }
    let mut place: Vec<String> = Vec::new();
    place.extend(it.workgroup.as_ref().map(|it| format!("workgroup ({it})")));
    place.extend(it.work_item.as_ref().map(|it| format!("work-item ({it})")));
    place.extend(it.lane.map(|it| format!("lane {it}, the one the debugger selected")));
    if !place.is_empty() {
        incident.facts.push(fact("place", place.join(", ")));
    }
    let instruction = it.instruction.as_ref().map_or_else(String::new, |it| format!(": {it}"));
    if let Some(pc) = it.pc {
        incident.facts.push(fact("program counter", format!("{pc:#x}{instruction}")));
        "the debugger".clone_into(&mut incident.code_from);
        incident.code.extend(it.instruction.as_ref().map(|text| TriageLine {
            address: pc,
            text: text.clone(),
            current: true,
            suspect: false,
            source: None,
            source_text: None,
            registers: None,
        }));
    }
    if let Some(uri) = &it.code_object {
        incident.facts.push(fact("code object", uri.clone()));
    }
    let (what, command) = if is_memory {
        ("accesses of memory", "set amdgpu precise-memory on")
    } else {
        ("exceptions of arithmetic", "set amdgpu precise-alu-exceptions on")
    };
    if is_memory || it.signal == "SIGFPE" {
        let text =
            format!("imprecise unless `{command}` was given before the run: the cause is at or before it");
        incident.facts.push(fact("certainty", text));
        incident.next = vec![format!("{command}, then run again: {what} stop at their own instruction")];
    }
    incident.next.push("in the debugger: `lane`, `info registers`, `x/8i $pc-24`".to_owned());
    incident
}
