//! Incidents of the messages of the HSA and HIP runtimes.

use super::nodes::Nodes;
use super::page_faults::{COPIES, is_copy, rights};
use super::{events, fact, incident};
use system::fault::{FaultLog, Message, PageFault, QueuedKernel, RuntimeMessage, nearest};
use view::{Incident, NamedValue, counted, listed};

/// Most kernels of a queue that are named.
const MOST_KERNELS: usize = 4;

/// Incidents of one log.
pub(super) fn incidents(log: &FaultLog, logs: &[FaultLog]) -> Vec<Incident> {
    let mut out = Vec::new();
    let mut faulted: Vec<u32> = Vec::new();
    let nodes = Nodes::of(logs);
    for (at, it) in log.messages.iter().enumerate() {
        // Every process that has the GPU open prints the message; a kernel is a fact of its fault.
        let is_again = log.messages[..at].iter().any(|other| same(&other.message, &it.message));
        if is_again || is_of_fault(&it.message, &log.messages) {
            continue;
        }
        let group = group(it, log, logs);
        if let Some(Message::MemoryFault { node, .. }) =
            group.first().filter(|(_, first)| first.line != it.line).map(|_| &it.message)
        {
            faulted.push(*node);
            continue;
        }
        let mut incident = message(log, it);
        if says_more(it) {
            incident.facts.push(fact("on its line", it.before.clone()));
        }
        match &it.message {
            Message::MemoryFault { node, address, .. } => {
                incident.facts.push(fact("GPU", nodes.words(*node)));
                incident.facts.extend(kernels_at(*address, &log.messages));
                incident.facts.extend(address_facts(*address, log, logs));
                // Advice for kernels does not fit a copy.
                if address.is_some_and(|it| in_kernel_log(it, logs).any(|(_, it)| is_copy(it))) {
                    incident.next = COPIES.map(str::to_owned).to_vec();
                }
                let (facts, next) = events::around(log, it.line, *node, &nodes);
                incident.facts.extend(facts);
                add_group(&mut incident, &group, log, &nodes);
                if it.is_of_openmp {
                    of_openmp(&mut incident, log, it.line);
                }
                incident.next.extend(next);
                faulted.push(*node);
            }
            Message::HardwareException { node, reason } => {
                incident.facts.push(fact("GPU", nodes.words(*node)));
                incident.consequence = reason == "GPU Hang" && faulted.contains(node);
            }
            Message::MemoryInUse { node, address, .. } => {
                incident.facts.push(fact("agent", nodes.words(*node)));
                incident.facts.push(fact("address", format!("{address:#x}")));
            }
            Message::KernelFault { gpu, address, kernel } => {
                incident.facts.extend(gpu.map(|gpu| fact("GPU", format!("{gpu} of HIP"))));
                incident.facts.push(fact("kernel", kernel.clone()));
                incident.facts.extend(address_facts(*address, log, logs));
            }
            // The newest runtimes stop the queue before they print the fault.
            Message::QueueError { queue: None, .. } => {
                incident.consequence = log.messages.iter().any(|it| is_fault(&it.message));
            }
            Message::QueueError { .. } => incident.consequence = !faulted.is_empty(),
            Message::HipAbort { kernels, .. } => {
                // A dump tells the wave that stopped the queue.
                incident.consequence = !faulted.is_empty() || log.dumps.iter().any(|it| !it.waves.is_empty());
                incident.facts.extend(queued(kernels));
            }
        }
        incident.facts.extend(repeats(log, it));
        out.push(incident);
    }
    out
}

fn is_fault(message: &Message) -> bool {
    matches!(message, Message::MemoryFault { .. } | Message::KernelFault { .. })
}

/// True for the same report of another process: queues have their own.
fn same(one: &Message, other: &Message) -> bool {
    one == other && !matches!(one, Message::QueueError { .. } | Message::HipAbort { .. })
}

/// True for the name of a kernel whose fault is a message of its own.
fn is_of_fault(message: &Message, all: &[RuntimeMessage]) -> bool {
    let Message::KernelFault { address: named, .. } = message else { return false };
    all.iter().any(|it| matches!(&it.message, Message::MemoryFault { address, .. } if fits(*named, *address)))
}

/// True for addresses that may be the same: people shorten what they paste.
fn fits(one: Option<u64>, other: Option<u64>) -> bool {
    one.is_none() || other.is_none() || one == other
}

/// The kernels that HIP names for a fault.
fn kernels_at(at: Option<u64>, all: &[RuntimeMessage]) -> Vec<NamedValue> {
    let mut facts: Vec<NamedValue> = Vec::new();
    for it in all {
        let Message::KernelFault { gpu, address, kernel } = &it.message else { continue };
        let named = fact("kernel", kernel.clone());
        if !fits(*address, at) || facts.contains(&named) {
            continue;
        }
        facts.push(named);
        facts.extend(gpu.map(|gpu| fact("index of HIP", gpu.to_string())));
    }
    facts
}

/// Kernels of a queue that HIP gave up; the one that stopped it is among them.
fn queued(kernels: &[QueuedKernel]) -> Vec<NamedValue> {
    let words = |it: &QueuedKernel| match (&it.grid, &it.workgroup) {
        (Some(grid), Some(workgroup)) => {
            format!("{}, grid {grid} in workgroups of {workgroup} work-items", it.name)
        }
        _ => it.name.clone(),
    };
    let name = if kernels.len() == 1 { "kernel" } else { "kernel in the queue" };
    let mut facts: Vec<_> = kernels.iter().take(MOST_KERNELS).map(|it| fact(name, words(it))).collect();
    if kernels.len() > MOST_KERNELS {
        let rest: Vec<&str> = kernels[MOST_KERNELS..].iter().map(|it| it.name.as_str()).collect();
        facts.push(fact("others in the queue", listed(&rest, "and")));
    }
    facts
}

fn repeats(log: &FaultLog, it: &RuntimeMessage) -> Option<NamedValue> {
    let mut all = log.messages.iter().filter(|other| same(&other.message, &it.message));
    let times = all.clone().count();
    let last = all.next_back()?.line;
    (times > 1).then(|| fact("repeats", format!("{times} times, the last in line {last}")))
}

fn message(log: &FaultLog, it: &RuntimeMessage) -> Incident {
    match &it.message {
        Message::MemoryFault { node, address, reason, exact } => {
            let page = page(*address);
            let sure = if *exact { "" } else { " (the runtime is not sure of the address)" };
            incident(
                log,
                it.line,
                format!("memory access fault by GPU node {node}, {page}{sure}: {}", reason.words()),
                reason.words(),
            )
        }
        Message::HardwareException { node, reason } => {
            incident(log, it.line, format!("hardware exception of GPU node {node}: {reason}"), reason)
        }
        Message::MemoryInUse { node, reason, .. } => {
            incident(log, it.line, format!("critical memory error of node {node}: {reason}"), reason)
        }
        Message::KernelFault { address, kernel, .. } => {
            let title = format!("memory access fault of kernel {kernel}, {}", page(*address));
            incident(log, it.line, title, "HSA_STATUS_ERROR_MEMORY_FAULT")
        }
        Message::QueueError { queue, status, text } => {
            incident(log, it.line, titled(&format!("{} stopped", named(*queue)), status, text), status)
        }
        Message::HipAbort { queue, status, text, .. } => {
            incident(log, it.line, titled(&format!("HIP ends {}", named(*queue)), status, text), status)
        }
    }
}

fn page(address: Option<u64>) -> String {
    match address {
        Some(0) => "a null pointer".to_owned(),
        Some(address) => format!("page {address:#x}"),
        None => "page not in the log".to_owned(),
    }
}

fn named(queue: Option<u64>) -> String {
    queue.map_or_else(|| "a queue".to_owned(), |it| format!("queue {it:#x}"))
}

/// The parts of a title that a message has.
fn titled(head: &str, status: &str, text: &str) -> String {
    let parts = [head, status, text].into_iter().filter(|it| !it.is_empty());
    parts.collect::<Vec<_>>().join(": ")
}

/// True if the text before a message is more than a time and a place in the source.
fn says_more(it: &RuntimeMessage) -> bool {
    let prefixes = logs::entry(&format!("{} ", it.before));
    let is_prefix = prefixes.text.is_empty() && prefixes.who.is_unknown();
    !it.is_of_openmp && !it.before.is_empty() && !is_prefix
}

/// Lines between faults of several GPUs that are one event.
const TOGETHER: u32 = 50;

/// Values that the faults of one group share: reason, null or not, certainty.
fn kind_of(it: &RuntimeMessage) -> Option<(&'static str, bool, bool)> {
    let Message::MemoryFault { address, exact, reason, .. } = &it.message else { return None };
    Some((reason.words(), *address == Some(0), *exact))
}

/// Equal faults of several GPUs of one log, near each other, with the one given; alone where it has none.
fn group<'l>(it: &'l RuntimeMessage, log: &'l FaultLog, logs: &[FaultLog]) -> Vec<(u32, &'l RuntimeMessage)> {
    let mut group: Vec<(u32, &RuntimeMessage)> = Vec::new();
    let Some(kind) = kind_of(it) else { return group };
    for other in log.messages.iter().filter(|other| kind_of(other) == Some(kind)) {
        let Message::MemoryFault { node, address, .. } = other.message else { continue };
        // The kernel's log groups its faults by process and time.
        let is_in_kernel_log = address.is_some_and(|it| in_kernel_log(it, logs).next().is_some());
        if is_in_kernel_log || group.iter().any(|(known, _)| *known == node) {
            continue;
        }
        if group.last().is_some_and(|(_, last)| other.line.saturating_sub(last.line) > TOGETHER) {
            if group.iter().any(|(_, member)| member.line >= it.line) {
                break;
            }
            group.clear();
        }
        group.push((node, other));
    }
    if group.iter().any(|(_, member)| member.line == it.line) { group } else { Vec::new() }
}

/// Adds the faults of other GPUs to the first of a group.
fn add_group(incident: &mut Incident, group: &[(u32, &RuntimeMessage)], log: &FaultLog, nodes: &Nodes) {
    let [_, others @ ..] = group else { return };
    if others.is_empty() {
        return;
    }
    incident.title.push_str(&format!("; {} with it", counted(others.len(), "more GPU")));
    for (node, it) in others {
        let Message::MemoryFault { address, .. } = it.message else { continue };
        let place = format!("{}, {}:{}", page(address), log.file, it.line);
        let gpus: Vec<String> = nodes.gpus(*node).iter().map(|it| format!("GPU {it}")).collect();
        let gpu = if gpus.is_empty() { String::new() } else { format!(", {} of HIP", gpus.join(" or ")) };
        incident.facts.push(fact(&format!("node {node}"), format!("{place}{gpu}")));
    }
    incident.next.push(
        "several GPUs of one job at once: look at the first, at exchanged buffers and at sizes that depend on the rank (expert or tensor parallel)"
            .to_owned(),
    );
}

/// Adds the target region of a fault and the OpenMP runtime's settings that find its memory.
fn of_openmp(incident: &mut Incident, log: &FaultLog, line: u32) {
    let near = log.regions.iter().filter(|it| it.line.abs_diff(line) <= TOGETHER);
    for region in near.take(MOST_KERNELS) {
        incident.facts.push(fact("kernel", region.kernel.clone()));
        let place = region.source_line.map_or_else(String::new, |it| format!(", line {it} of its source"));
        incident.facts.push(fact("target region", format!("of {}{place}", region.function)));
    }
    let advice = [
        "OFFLOAD_TRACK_ALLOCATION_TRACES=true COMMAND says which allocation is at the address, and whether it was freed",
        "OFFLOAD_TRACK_NUM_KERNEL_LAUNCH_TRACES=8 COMMAND names the last target regions; LIBOMPTARGET_INFO=-1 their mappings: a pointer without a map clause is an address of the host",
    ];
    incident.next.splice(0..0, advice.map(str::to_owned));
}

fn address_facts(address: Option<u64>, log: &FaultLog, logs: &[FaultLog]) -> Vec<NamedValue> {
    let mut facts = Vec::new();
    let Some(address) = address else { return facts };
    if address == 0 {
        facts.push(fact(
            "address",
            "(nil): a pointer that was never set, or an access with a small offset from it",
        ));
    } else {
        facts.push(fact(
            "address",
            format!("{address:#x}, the start of the page: the access is within 4 KiB or more after it"),
        ));
        facts.push(
            near(address, log, logs).unwrap_or_else(|| {
                fact("near", "unknown: the log names no allocations (AMD_LOG_LEVEL=3 does)")
            }),
        );
        for (kernel_log, it) in in_kernel_log(address, logs) {
            facts.push(fact("kernel log", format!("{}:{}: {}", kernel_log.file, it.line, rights(it, true))));
        }
    }
    facts
}

/// Page faults of the kernel's log at an address.
fn in_kernel_log(address: u64, logs: &[FaultLog]) -> impl Iterator<Item = (&FaultLog, &PageFault)> {
    let all = logs.iter().flat_map(|log| log.page_faults.iter().map(move |it| (log, it)));
    all.filter(move |(_, it)| it.address == Some(address))
}

/// Location of an address among the allocations of its log, or of another log of the job.
pub(super) fn near(address: u64, log: &FaultLog, logs: &[FaultLog]) -> Option<NamedValue> {
    let own = nearest(&log.allocations, address);
    let of_others = || {
        let mut others = logs.iter().filter(|it| it.file != log.file);
        others.find_map(|it| Some(format!("{}, by {}", nearest(&it.allocations, address)?, it.file)))
    };
    own.or_else(of_others).map(|text| fact("near", text))
}
