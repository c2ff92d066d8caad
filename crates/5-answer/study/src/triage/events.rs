//! Messages of logs: what ended the job as incidents, the rest as events; what follows from what.

use super::nodes::Nodes;
use super::{FaultLog, fact, memory};
use logs::{Event, Kind, Message as Row, Who};
use sorting::Sort;
use system::fault::Message;
use view::{Incident, NamedValue, TriageEvent, counted, listed};

/// Most writers that are named.
const MOST_WRITERS: usize = 8;
/// Longest title of an incident, characters.
const MOST_TITLE: usize = 160;

/// Messages that are already incidents: the readers of runtime messages, dumps and reports of
/// the emulator know more about them.
const TOLD: [&str; 10] = [
    "gpu-memory-fault",
    "gpu-exception",
    "memory-critical",
    "kernel-fault",
    "queue-error",
    "queue-status",
    "queue-abort",
    "queue-abort-code",
    "emulator-fault",
    "omp-memory-fault",
];

/// Time-outs of PyTorch's watchdog: one incident over all ranks, made by `ranks`.
pub(super) const WATCHDOG: &str = "watchdog-timeout";

/// State of a rank's collectives when it timed out.
pub(super) const WATCHDOG_STATE: &str = "watchdog-state";

/// An event with its log.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) log: &'a FaultLog,
    pub(super) event: &'a Event,
}

/// All events of all logs, in their order.
pub(super) fn all(logs: &[FaultLog]) -> Vec<Place<'_>> {
    logs.iter().flat_map(|log| log.text.events.iter().map(move |event| Place { log, event })).collect()
}

/// Splits events into incidents and the rest.
pub(super) fn split(places: &[Place<'_>]) -> (Vec<Incident>, Vec<TriageEvent>) {
    let mut incidents = Vec::new();
    let mut events = Vec::new();
    for place in places {
        if is_part(place) {
            continue;
        }
        let Some(row) = place.event.message else {
            events.push(event(place, "unknown", places));
            continue;
        };
        if is_told(place) || row.id == WATCHDOG || is_of_watchdog(place, places) || is_end(place, places) {
            continue;
        }
        match row.kind {
            Kind::Fault => incidents.push(incident(place, row, places)),
            Kind::Fail => events.push(event(place, "fail", places)),
            Kind::Warn => events.push(event(place, "warn", places)),
            Kind::Info | Kind::Activity => {}
        }
    }
    (incidents, events)
}

/// True for a message of which a reader has made an incident. One that no reader understands is an incident
/// of the table.
fn is_told(place: &Place<'_>) -> bool {
    let (log, lines) = (place.log, place.event.line..=place.event.last_line);
    TOLD.contains(&place.event.id())
        && (log.messages.iter().any(|it| lines.contains(&it.line))
            || log.emulated.iter().any(|it| lines.contains(&it.line)))
}

/// True for a line of a report that is an incident: the head of a dump, the status after a queue's error.
fn is_part(place: &Place<'_>) -> bool {
    let line = place.event.line;
    let is_status_below = |it: &Message| matches!(it, Message::QueueError { queue: Some(_), .. });
    place.log.messages.iter().any(|it| line == it.line || line == it.line + 1 && is_status_below(&it.message))
        || place.log.dumps.iter().any(|it| line == it.line)
        || place.log.stops.iter().any(|it| (it.line..=it.last_line).contains(&line))
}

/// True for a line that says nothing beside another message of its log: how a process ended, the head of a block.
fn is_end(place: &Place<'_>, places: &[Place<'_>]) -> bool {
    let Some(row) = place.event.message.filter(|row| row.ends) else { return false };
    let log = place.log;
    let is_said = |it: &Place<'_>| match &row.follows[..] {
        [] => it.event.message.is_some_and(|other| other.kind == Kind::Fault && !other.ends),
        causes => causes.iter().any(|id| id == it.event.id()),
    };
    let has_fault = !log.page_faults.is_empty() || !log.stops.is_empty() || !log.dumps.is_empty();
    (row.follows.is_empty() && has_fault) || places.iter().any(|it| std::ptr::eq(it.log, log) && is_said(it))
}

/// True for the state of a rank whose time-outs are an incident.
fn is_of_watchdog(place: &Place<'_>, places: &[Place<'_>]) -> bool {
    place.event.id() == WATCHDOG_STATE && places.iter().any(|it| it.event.id() == WATCHDOG)
}

fn incident(place: &Place<'_>, row: &Row, places: &[Place<'_>]) -> Incident {
    let it = place.event;
    let mut facts = vec![fact("message", row.id.clone())];
    facts.extend(it.fields.iter().map(|field| NamedValue::new(field.name.clone(), field.value.clone())));
    facts.extend(memory::of_others(it));
    facts.extend(about(it));
    // The writer's own, as other ranks do other work.
    let own = it.before.iter().rev().find(|(who, _)| it.writers.first().is_some_and(|it| it == who));
    facts.extend(own.map(|(_, text)| fact("doing before", text.clone())));
    let cause = cause(place, places);
    if let Some(cause) = &cause {
        facts.push(fact("follows from", cause.clone()));
    }
    Incident {
        file: place.log.file.clone(),
        line: it.line,
        title: shortened(&it.text),
        consequence: cause.is_some(),
        meaning: row.meaning.clone(),
        facts,
        code: Vec::new(),
        code_from: String::new(),
        next: row.next.clone(),
    }
}

/// Writers, time, repeats and activity of an event.
pub(super) fn about(it: &Event) -> Vec<NamedValue> {
    let mut facts = Vec::new();
    if !it.writers.is_empty() {
        facts.push(fact("written by", writers(&it.writers)));
    }
    if let Some(time) = &it.time {
        facts.push(fact("time", time.clone()));
    }
    if it.times > 1 {
        let others = match it.variants {
            0 => String::new(),
            count => format!(", with {} of its values", counted(count + 1, "set")),
        };
        facts.push(fact("repeats", format!("{} times, the last in line {}{others}", it.times, it.last_line)));
    }
    facts
}

/// Text of an event with the values of the lines that follow it.
fn with_values(it: &Event) -> String {
    let mut text = it.text.clone();
    for field in &it.fields {
        if !it.text.contains(&field.value) {
            let name = if field.name == "what" { String::new() } else { format!("{} ", field.name) };
            text.push_str(&format!("; {name}{}", field.value));
        }
    }
    text
}

fn writers(writers: &[Who]) -> String {
    let names: Vec<String> = writers.iter().take(MOST_WRITERS).map(Who::words).collect();
    let more = writers.len().saturating_sub(MOST_WRITERS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", names.join("; "))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_TITLE {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MOST_TITLE).collect();
    format!("{} …", cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head))
}

fn event(place: &Place<'_>, severity: &'static str, places: &[Place<'_>]) -> TriageEvent {
    let it = place.event;
    TriageEvent {
        file: place.log.file.clone(),
        line: it.line,
        id: it.id().to_owned(),
        severity,
        device: it.device.clone(),
        time: it.time.clone(),
        times: it.times,
        text: with_values(it),
        fields: it
            .fields
            .iter()
            .map(|field| NamedValue::new(field.name.clone(), field.value.clone()))
            .collect(),
        writers: it.writers.iter().map(Who::words).collect(),
        follows: cause(place, places),
        meaning: it.message.map_or_else(String::new, |row| row.meaning.clone()),
        next: it.message.map_or_else(Vec::new, |row| row.next.clone()),
    }
}

/// The earlier message that one follows from: the first of its causes, on the same device where both name
/// one. Files have no common clock, so an earlier file counts as earlier.
fn cause(place: &Place<'_>, places: &[Place<'_>]) -> Option<String> {
    let causes = &place.event.message?.follows;
    let is_cause = |it: &&Place<'_>| {
        let same_log = std::ptr::eq(it.log, place.log);
        let same_device = it.event.device.is_none()
            || place.event.device.is_none()
            || it.event.device == place.event.device;
        causes.iter().any(|id| id == it.event.id())
            && same_device
            && (!same_log || it.event.line < place.event.line)
    };
    // Causes are listed with the root first.
    let mut found: Vec<&Place<'_>> = places.iter().filter(is_cause).collect();
    found.in_order_by_key(|it| causes.iter().position(|id| id == it.event.id()));
    let first = found.first()?;
    Some(format!("{} of {}:{}", first.event.id(), first.log.file, first.event.line))
}

/// Facts about the process whose GPU faulted: its writer, the worker that died, what it was doing.
pub(super) fn around(log: &FaultLog, line: u32, node: u32, nodes: &Nodes) -> (Vec<NamedValue>, Vec<String>) {
    let mut facts = Vec::new();
    let mut next = Vec::new();
    let Some(fault) = log.text.events.iter().find(|it| TOLD.contains(&it.id()) && covers(it, line)) else {
        return (facts, next);
    };
    if fault.line == line && !fault.writers.is_empty() {
        facts.push(fact("written by", writers(&fault.writers)));
    }
    let died: Vec<&Event> = log.text.events.iter().filter(|it| it.id() == "vllm-worker-died").collect();
    let index = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        name[name.len() - digits..].parse::<u32>().ok()
    };
    let dead = died.iter().find_map(|it| Some((it, index(it.field("worker")?)?)));
    let gpus = nodes.gpus(node);
    let worker = dead.map(|(_, index)| index).or_else(|| gpus.first().copied());
    if let Some((it, index)) = dead {
        let fits = if gpus.contains(&index) {
            format!(", which is GPU {index}: node {node} on a machine of {} CPU nodes", node - index)
        } else {
            String::new()
        };
        let name = it.field("worker").unwrap_or_default();
        facts.push(fact("worker", format!("{name} died (line {}){fits}", it.line)));
    }
    // The activity of the worker on that GPU, else the latest of any.
    let of_worker = fault.before.iter().rev().find(|(who, _)| {
        let index = who.worker_index().or(who.rank);
        index.is_some() && index == worker
    });
    if let Some((who, text)) = of_worker.or(fault.before.last()) {
        let by = if who.is_unknown() { String::new() } else { format!("{}: ", who.words()) };
        facts.push(fact("doing before", format!("{by}{text}")));
        if text.to_ascii_lowercase().contains("captur") {
            next.push(
                "run without graphs to see whether the captured launches are at fault: --enforce-eager (vLLM), --disable-cuda-graph (SGLang)"
                    .to_owned(),
            );
        }
    }
    let others: Vec<String> = fault
        .before
        .iter()
        .filter(|(who, _)| Some(who) != of_worker.map(|(who, _)| who) && !who.is_unknown())
        .map(|(who, _)| who.words())
        .collect();
    if of_worker.is_some() && !others.is_empty() {
        facts.push(fact("others at work", listed(&others, "and")));
    }
    (facts, next)
}

/// True if a line is one of the event's occurrences, as far as that is known.
fn covers(event: &Event, line: u32) -> bool {
    (event.line..=event.last_line).contains(&line)
}
