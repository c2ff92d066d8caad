//! Page faults of the kernel's log; several GPUs of one job that fault at once are one incident.

use super::{FaultLog, fact, incident};
use sorting::Sort;
use system::fault::{Message, PageFault};
use view::{Incident, counted};

/// A fault with its log.
#[derive(Clone, Copy)]
struct Fault<'a> {
    log: &'a FaultLog,
    it: &'a PageFault,
}

/// Incidents, and the lines of runtime messages that they tell.
pub(super) fn incidents(logs: &[FaultLog]) -> (Vec<Incident>, Vec<(String, u32)>) {
    let faults: Vec<Fault<'_>> =
        logs.iter().flat_map(|log| log.page_faults.iter().map(move |it| Fault { log, it })).collect();
    let mut out = Vec::new();
    let mut told = Vec::new();
    let mut done = vec![false; faults.len()];
    for at in 0..faults.len() {
        if done[at] {
            continue;
        }
        let group: Vec<usize> = (at..faults.len())
            .filter(|other| !done[*other] && together(faults[at], faults[*other]))
            .collect();
        let gpus: std::collections::BTreeSet<&str> =
            group.iter().map(|at| faults[*at].it.bdf.as_str()).collect();
        if gpus.len() > 1 {
            group.iter().for_each(|at| done[*at] = true);
            let group: Vec<Fault<'_>> = group.iter().map(|at| faults[*at]).collect();
            out.push(of_group(&group, logs, &mut told));
        } else {
            done[at] = true;
            if !is_told(faults[at].it, logs) {
                out.push(alone(faults[at].log, faults[at].it));
            }
        }
    }
    (out, told)
}

/// Whether two faults are of one job at one time: the same program, within a minute.
fn together(a: Fault<'_>, b: Fault<'_>) -> bool {
    std::ptr::eq(a.log, b.log)
        && a.it.process.is_some()
        && a.it.process == b.it.process
        && match (seconds(&a.it.time), seconds(&b.it.time)) {
            (Some(a), Some(b)) => (a - b).abs() <= 60.0,
            _ => true,
        }
}

/// Seconds of a time since boot, or since midnight of a time of day.
fn seconds(time: &str) -> Option<f64> {
    if let Ok(seconds) = time.parse() {
        return Some(seconds);
    }
    let clock = time.split([' ', 'T']).find(|it| it.len() >= 8 && it.as_bytes()[2] == b':')?;
    let mut parts = clock.splitn(3, ':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let rest = parts.next()?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    Some(hours * 3_600.0 + minutes * 60.0 + rest[..end].parse::<f64>().ok()?)
}

fn of_group(group: &[Fault<'_>], logs: &[FaultLog], told: &mut Vec<(String, u32)>) -> Incident {
    let first = group[0];
    let mut gpus: Vec<&str> = group.iter().map(|it| it.it.bdf.as_str()).collect();
    gpus.dedup();
    let mut sorted = gpus.clone();
    sorted.in_order();
    sorted.dedup();
    let process = first.it.process.as_deref().unwrap_or("one program");
    let mut incident = incident(
        first.log,
        first.it.line,
        format!(
            "page faults of {} in {process}, first of GPU {}",
            counted(sorted.len(), "GPU"),
            first.it.bdf
        ),
        "MEMORY_VIOLATION",
    );
    incident.meaning = DRIVER.to_owned();
    if !first.it.time.is_empty() {
        incident.facts.push(fact("time", first.it.time.clone()));
    }
    for Fault { log, it } in group {
        let place = it.address.map_or_else(|| "page not in the log".to_owned(), |it| format!("page {it:#x}"));
        let mut words = vec![place];
        words.push(if it.cut { "the block breaks off".to_owned() } else { rights(it, false) });
        if it.times > 1 {
            words.push(format!("reported {} times", it.times));
        }
        words.push(format!("{}:{}", log.file, it.line));
        for (other, line, node) in messages_of(it, logs) {
            words.push(format!("the runtime's message in {other}:{line} calls it node {node}"));
            told.push((other.to_owned(), line));
        }
        incident.facts.push(fact(&format!("GPU {}", it.bdf), words.join(", ")));
    }
    let mut causes: Vec<&str> = group.iter().filter_map(|it| it.it.client.as_deref()).collect();
    causes.in_order();
    causes.dedup();
    incident.next = if causes.iter().all(|it| it.starts_with("SDMA")) && !causes.is_empty() {
        COPIES.map(str::to_owned).to_vec()
    } else {
        vec![
            format!("look at GPU {} first: the others may only have followed", first.it.bdf),
            "several GPUs of one job at once: look at exchanged buffers and at sizes that depend on the rank (expert or tensor parallel)".to_owned(),
        ]
    };
    incident
}

const DRIVER: &str = "the driver reports an access to memory that is not mapped, or without the right";

/// Advice for faults of the DMA engine.
pub(super) const COPIES: [&str; 2] = [
    "a copy faulted, not a kernel: look at source, destination and size of hipMemcpy and of copies between GPUs, and at buffers freed while a copy was under way",
    "HSA_ENABLE_SDMA=0 COMMAND copies by kernels: if the fault stays, addresses are wrong; if it goes, look at the engine and PCI Express",
];

/// Messages of the runtime with the address of a page fault: file, line, node.
fn messages_of<'a>(it: &PageFault, logs: &'a [FaultLog]) -> Vec<(&'a str, u32, u32)> {
    let messages = logs.iter().flat_map(|log| log.messages.iter().map(move |message| (log, message)));
    messages
        .filter_map(|(log, message)| match message.message {
            Message::MemoryFault { node, address, .. } if address.is_some() && address == it.address => {
                Some((log.file.as_str(), message.line, node))
            }
            _ => None,
        })
        .collect()
}

/// True if a page fault of the kernel's log is reported with a message of the runtime.
fn is_told(it: &PageFault, logs: &[FaultLog]) -> bool {
    it.address.is_some() && !messages_of(it, logs).is_empty()
}

/// Name and number of a fault's process.
fn process(it: &PageFault) -> Option<String> {
    let name = it.process.as_ref()?;
    Some(it.pid.map_or_else(|| name.clone(), |pid| format!("{name} {pid}")))
}

/// True if a DMA engine did the access.
pub(super) fn is_copy(it: &PageFault) -> bool {
    it.client.as_deref().is_some_and(|it| it.starts_with("SDMA"))
}

/// Fields of a page fault as words; with its GPU if asked for.
pub(super) fn rights(it: &PageFault, with_gpu: bool) -> String {
    let mut words = if with_gpu { vec![format!("GPU {}", it.bdf)] } else { Vec::new() };
    words.extend(process(it).map(|it| format!("process {it}")));
    words.push(match it.rw {
        Some(0) => "load".to_owned(),
        Some(_) => "store".to_owned(),
        None => "load or store unknown".to_owned(),
    });
    if let Some(client) = &it.client {
        let unit = match client.as_str() {
            "TCP" => " (vector L1: a vector access of a kernel)",
            "SQC (inst)" | "SQC inst" => " (instruction fetch)",
            "SQC (data)" | "SQC data" => " (scalar access of a kernel)",
            "CPC" | "CPF" | "CPG" => " (the command processor: a packet or its arguments)",
            name if name.starts_with("SDMA") => " (a copy by the DMA engine)",
            _ => "",
        };
        words.push(format!("by {client}{unit}"));
    }
    if it.mapping_error == Some(1) {
        words.push("no mapping".to_owned());
    }
    if it.walker_error.is_some_and(|it| it != 0) {
        words.push("the page table is damaged".to_owned());
    }
    if let Some(faults) = it.permission_faults.filter(|it| *it != 0) {
        words.push(format!("rights missing {faults:#x}"));
    }
    if it.more_faults == Some(1) {
        words.push("more faults followed".to_owned());
    }
    words.join(", ")
}

fn alone(log: &FaultLog, it: &PageFault) -> Incident {
    let place = it.address.map_or_else(|| "address not in the log".to_owned(), |it| format!("page {it:#x}"));
    let retry = match it.retry {
        Some(true) => ", retried",
        Some(false) => ", not retried",
        None => "",
    };
    let is_copy = is_copy(it);
    let of = if is_copy { "a copy of GPU" } else { "GPU" };
    let hub = if it.hub.is_empty() { String::new() } else { format!(" in {}", it.hub) };
    let mut incident = incident(
        log,
        it.line,
        format!("page fault of {of} {}{hub}: {place}{retry}", it.bdf),
        "MEMORY_VIOLATION",
    );
    incident.meaning = DRIVER.to_owned();
    incident.next = if is_copy {
        COPIES.map(str::to_owned).to_vec()
    } else {
        vec!["look for the runtime's message of this address in the program's output".to_owned()]
    };
    if it.cut {
        incident.facts.push(fact("block", "breaks off: its fields are not in the log"));
        if let Some(process) = process(it) {
            incident.facts.push(fact("process", process));
        }
    } else {
        incident.facts.push(fact("fields", rights(it, true)));
    }
    if it.headless {
        incident.facts.push(fact("block", "its first line, with hub and process, is not in the log"));
    }
    if it.times > 1 {
        incident.facts.push(fact("repeats", format!("{} equal reports: the access was retried", it.times)));
    }
    if !it.time.is_empty() {
        incident.facts.push(fact("time", it.time.clone()));
    }
    incident
}
