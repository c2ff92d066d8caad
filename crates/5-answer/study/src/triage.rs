//! `triage`: faults of all inputs as incidents, the cause before its consequences.
//!
//! A hang after a memory fault is not a second fault, and the program counter is past the faulting access
//! unless memory was precise; the report states both and guesses neither.

mod core_dump;
mod events;
mod memory;
mod nodes;
mod page_faults;
mod ranks;
mod registers;
mod report;
mod runtime;
mod stops;
#[cfg(test)]
mod tests;
mod waves;
mod window;

pub use report::add_report;
use system::fault::{FaultLog, meaning};
use view::{Answer, Incident, Incidents, Input, Listing, NamedValue, NoteKind, TRIAGE_SCHEMA, counted};
use window::window;

/// Code of a kernel that was found beside a dump.
#[derive(Clone, Debug)]
pub struct KernelCode {
    /// File it was read from.
    pub file: String,
    /// File name without folders.
    pub file_name: String,
    /// Size of the file, bytes.
    pub size: u64,
    /// Kernel, demangled.
    pub kernel: String,
    /// Its instructions; addresses are relative to the code object.
    pub listing: Listing,
}

/// Answers for logs, with the code found beside them.
pub fn triage(logs: &[FaultLog], code: &[KernelCode]) -> Answer<Incidents> {
    let mut incidents: Vec<Incident> = Vec::new();
    let (of_kernel, told) = page_faults::incidents(logs);
    for log in logs {
        let is_told = |it: &Incident| told.iter().any(|(file, line)| *file == it.file && *line == it.line);
        incidents.extend(runtime::incidents(log, logs).into_iter().filter(|it| !is_told(it)));
        incidents.extend(waves::dumps(log, logs, code));
        incidents.extend(stops::incidents(log));
        incidents.extend(log.core.iter().flat_map(|it| core_dump::incidents(log, it)));
        incidents.extend(log.emulated.iter().map(|it| emulated(log, it, code)));
    }
    incidents.extend(of_kernel);
    let places = events::all(logs);
    let (mut of_messages, mut events) = events::split(&places);
    // A fault of the GPU explains the errors that programs report after it.
    let is_gpu_fault = !incidents.is_empty();
    of_messages.iter_mut().filter(|it| is_gpu_fault && is_report(it)).for_each(|it| it.consequence = true);
    incidents.extend(ranks::incident(&places));
    incidents.extend(of_messages);
    events.sort_by_key(|it| ["fail", "warn", "unknown"].iter().position(|word| *word == it.severity));
    let mut notes = Vec::new();
    for log in logs {
        notes.push(bounds(log).unwrap_or_else(|| read_as(log)));
        notes.extend(log.dumps.iter().filter_map(|dump| {
            Some(format!(
                "{}: the dump of line {} breaks off at line {}; what is before is whole",
                log.file, dump.line, dump.cut?
            ))
        }));
        notes.extend(log.exit_codes.iter().filter(|(code, _)| *code < 0).map(|(code, line)| {
            format!("{}:{line}: a process ended by signal {}{}", log.file, -code, signal(-code))
        }));
    }
    // Stable: what follows stays behind what came first, and inputs in their order.
    incidents.sort_by_key(|it| it.consequence);
    let next = next(&incidents);
    let mut answer = Answer::new(TRIAGE_SCHEMA, Incidents { incidents, events, machines: Vec::new(), next });
    let input = |log: &FaultLog| Input {
        used: if log.core.is_some() { "notes".to_owned() } else { counted(log.text.lines, "line") },
        not_used: not_used(log),
        ..Input::new(&log.file, &log.file, if log.core.is_some() { "core dump" } else { "log" })
    };
    answer.inputs = logs.iter().map(input).collect();
    notes.into_iter().for_each(|text| answer.note(NoteKind::Info, text));
    answer
}

/// Scope of the search of a log without any message.
fn bounds(log: &FaultLog) -> Option<String> {
    log.is_empty().then(|| {
        format!(
            "{}: none of {} and no line that looks like an error in {}",
            log.file,
            counted(logs::messages().len(), "known message"),
            counted(log.text.lines, "line")
        )
    })
}

/// Kinds of text that a log was taken for, and its number of lines.
fn read_as(log: &FaultLog) -> String {
    let of_kernel = |it: &logs::Event| it.message.is_some_and(|row| row.kernel);
    let of_stop = |it: &logs::Event| log.stops.iter().any(|stop| stop.line == it.line);
    let of_program = |it: &logs::Event| it.message.is_some_and(|row| !row.kernel) && !of_stop(it);
    let events = &log.text.events;
    let parts: Vec<&str> = [
        (log.core.is_some(), "the notes of a core dump"),
        (!log.dumps.is_empty(), "a dump of the debug agent"),
        (!log.stops.is_empty(), "a session of a debugger"),
        (!log.emulated.is_empty(), "a report of the emulator"),
        (!log.page_faults.is_empty() || events.iter().any(of_kernel), "the log of the kernel"),
        (!log.messages.is_empty() || events.iter().any(of_program), "the output of a program"),
    ]
    .into_iter()
    .filter_map(|(is, name)| is.then_some(name))
    .collect();
    let parts = if parts.is_empty() { vec!["a log"] } else { parts };
    let size =
        if log.core.is_some() { String::new() } else { format!(", {}", counted(log.text.lines, "line")) };
    format!("{}: read as {}{size}", log.file, view::listed(&parts, "and"))
}

/// Parts of a log that were left out.
fn not_used(log: &FaultLog) -> Vec<String> {
    let mut parts = Vec::new();
    if log.text.not_kept > 0 {
        parts.push(format!(
            "{} of dumps and allocations: more than 48 MiB of them",
            counted(log.text.not_kept, "line")
        ));
    }
    if log.text.not_listed > 0 {
        parts.push(format!(
            "{} that look like errors: more than 200 different ones",
            counted(log.text.not_listed, "line")
        ));
    }
    parts
}

/// True for a message by which a program reports what happened to its GPU before.
fn is_report(it: &Incident) -> bool {
    const REPORTS: [&str; 5] =
        ["hip-illegal-access", "hip-launch-failure", "hsa-exception", "hsa-aperture", "hip-assert"];
    it.facts.iter().any(|fact| fact.name == "message" && REPORTS.contains(&fact.value.as_str()))
}

fn signal(number: i64) -> &'static str {
    match number {
        6 => " (abort: the runtime ends the program after a fault)",
        7 => " (bus error)",
        9 => " (killed, often for want of memory)",
        11 => " (segmentation fault of the host program)",
        _ => "",
    }
}

/// Ascending numbers: `0-31, 40`; `none` without any.
fn ranges(numbers: &[usize]) -> String {
    let mut out: Vec<String> = Vec::new();
    for run in numbers.chunk_by(|one, next| one + 1 == *next) {
        match run {
            [only] => out.push(only.to_string()),
            [first, .., last] => out.push(format!("{first}-{last}")),
            [] => {}
        }
    }
    if out.is_empty() { "none".to_owned() } else { out.join(", ") }
}

fn fact(name: &str, value: impl Into<String>) -> NamedValue {
    NamedValue::new(name, value)
}

fn incident(log: &FaultLog, line: u32, title: String, reason: &str) -> Incident {
    let known = meaning(reason);
    Incident {
        file: log.file.clone(),
        line,
        title,
        consequence: false,
        meaning: known.map_or_else(String::new, |(text, _)| text.to_owned()),
        facts: Vec::new(),
        code: Vec::new(),
        code_from: String::new(),
        next: known.map(|(_, next)| next.to_owned()).into_iter().collect(),
    }
}

/// Explanation of a report of the emulator.
const EMULATED: &str = "reported by the emulator: the access is exact";

/// Instructions shown before and behind the one of the emulator's report.
const AROUND: usize = 6;

fn emulated(log: &FaultLog, it: &system::fault::EmulatorFault, code: &[KernelCode]) -> Incident {
    let mut incident = incident(log, it.line, format!("kernel {} stopped: {}", it.kernel, it.cause), "");
    incident.meaning = EMULATED.to_owned();
    incident.facts = vec![
        fact("kernel", it.kernel.clone()),
        fact("instruction", format!("{:#x}: {}", it.address, it.instruction)),
        fact("lane", it.place.clone()),
    ];
    let around = |code: &KernelCode| window(&code.listing, it.address, Some(it.address), AROUND);
    let named = |code: &&KernelCode| {
        code.kernel == it.kernel
            || code.kernel.strip_prefix(&it.kernel).is_some_and(|rest| rest.starts_with('('))
    };
    if let Some((code, lines)) = code.iter().filter(named).find_map(|code| Some((code, around(code)?))) {
        incident.code = lines;
        incident.code_from.clone_from(&code.file);
        if let Some(source) =
            incident.code.iter().find(|line| line.current).and_then(|line| line.source.clone())
        {
            incident.facts.push(fact("source", format!("{}:{}", source.file, source.line)));
        }
    }
    incident
}

/// True if an access to memory outside the program caused an incident.
fn is_memory(it: &Incident) -> bool {
    const SIGNS: [&str; 6] = [
        "memory access fault",
        "page fault of GPU",
        "MEMORY_VIOLATION",
        "MEMORY_FAULT",
        "APERTURE",
        "outside every allocation",
    ];
    SIGNS.iter().any(|sign| it.title.contains(sign)) && !it.title.contains("ECC")
}

/// True for a fault of a kernel, whose place is to be found; messages of the table have their own advice.
fn is_of_gpu(it: &Incident) -> bool {
    !it.facts.iter().any(|fact| fact.name == "message")
}

/// Commands that find out more.
fn next(incidents: &[Incident]) -> Vec<String> {
    if incidents.is_empty() {
        return Vec::new();
    }
    // The emulator has named kernel, instruction, lane and address; settings of the hardware's runtime would
    // add nothing.
    if !incidents.iter().any(is_of_gpu) {
        return Vec::new();
    }
    if incidents.iter().all(|it| it.meaning == EMULATED) {
        return vec![
            "find races and reads of unwritten memory too: rockhound run --check races,uninit -- COMMAND"
                .to_owned(),
        ];
    }
    let mut next = Vec::new();
    if incidents.iter().filter(|it| is_of_gpu(it)).all(|it| it.code.is_empty()) {
        let is_named = incidents.iter().any(|it| it.facts.iter().any(|fact| fact.name == "kernel"));
        let found = if is_named { "instruction" } else { "kernel" };
        next.push(format!(
            "name the {found}: HSA_TOOLS_LIB=librocm-debug-agent.so.2 HSA_ENABLE_DEBUG=1 \
             ROCM_DEBUG_AGENT_OPTIONS=\"--all -p --save-code-objects=code-objects -o debug-agent.txt\" COMMAND"
        ));
    }
    // Hardware errors, asserts and wrong instructions have nothing to do with allocations.
    if incidents.iter().any(is_memory) {
        next.push("let overruns leave their allocations: PYTORCH_NO_HIP_MEMORY_CACHING=1 HSA_DISABLE_FRAGMENT_ALLOCATOR=1 COMMAND".to_owned());
    }
    next.push("find the launch: AMD_SERIALIZE_KERNEL=3 COMMAND".to_owned());
    next.push(
        "find the access without a GPU, to the lane: rockhound run --check races,uninit -- COMMAND"
            .to_owned(),
    );
    next
}
