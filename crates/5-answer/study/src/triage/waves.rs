//! Waves of the debug agent's dumps: which instruction, which lanes, which address.

use super::runtime::near;
use super::window::window;
use super::{KernelCode, fact, incident, registers};
use system::fault::{AgentDump, AgentHeader, AgentInstruction, AgentWave, CodeObjectUri, FaultLog, Message};
use view::{Incident, NamedValue, SourceLine, TriageLine};

/// Instructions before the program counter that may have made a fault of memory.
const BACK: usize = 16;
/// Instructions shown around the place.
const AROUND: usize = 8;
/// The least a page holds, bytes.
const PAGE: u64 = 4096;
/// Waves of one dump that are told one by one.
const MOST_WAVES: usize = 16;

/// Incidents of the dumps of a log.
pub(super) fn dumps(log: &FaultLog, logs: &[FaultLog], code: &[KernelCode]) -> Vec<Incident> {
    let mut out = Vec::new();
    for dump in &log.dumps {
        let near = dump.page.and_then(|page| near(page, log, logs));
        let mut told = one(log, dump, code);
        for incident in &mut told {
            // Behind the page it belongs to.
            let at = incident.facts.iter().position(|it| it.name == "faulting page").map_or(0, |at| at + 1);
            incident.facts.splice(at..at, near.clone());
        }
        out.extend(told);
    }
    out
}

fn one(log: &FaultLog, dump: &AgentDump, code: &[KernelCode]) -> Vec<Incident> {
    if dump.waves.is_empty() {
        let (title, key) = header(&dump.header);
        return vec![incident(log, dump.line, title, key)];
    }
    // Waves that only ran when another one faulted say nothing.
    let told: Vec<&AgentWave> =
        dump.waves.iter().filter(|wave| wave.reasons.iter().any(|it| it != "NONE")).collect();
    let told = if told.is_empty() { dump.waves.iter().collect() } else { told };
    // A thousand waves of one kernel at one instruction are one incident.
    let mut alike: Vec<(&AgentWave, Vec<u64>)> = Vec::new();
    for wave in told {
        let same = |it: &&AgentWave| {
            it.pc == wave.pc
                && it.reasons == wave.reasons
                && it.function == wave.function
                && it.cut == wave.cut
        };
        match alike.iter_mut().find(|(it, _)| same(it)) {
            Some((_, others)) => others.push(wave.number),
            None => alike.push((wave, Vec::new())),
        }
    }
    let more = alike.len().saturating_sub(MOST_WAVES);
    let mut out: Vec<Incident> = alike
        .iter()
        .take(MOST_WAVES)
        .map(|(wave, others)| {
            let mut it = of_wave(log, dump, wave, code);
            if !others.is_empty() {
                let numbers: Vec<String> = others.iter().take(8).map(u64::to_string).collect();
                let dots = if others.len() > 8 { ", ..." } else { "" };
                let text = format!("{} more waves: {}{dots}", others.len(), numbers.join(", "));
                it.facts.push(fact("alike", text));
            }
            it
        })
        .collect();
    if let (Some(last), true) = (out.last_mut(), more > 0) {
        last.facts.push(fact("more", format!("{more} other waves of this dump stopped")));
    }
    out
}

fn header(header: &AgentHeader) -> (String, &str) {
    match header {
        AgentHeader::QueueError { status, text } => (format!("queue error {status}: {text}"), status),
        AgentHeader::SystemEvent { event, reasons } => {
            (format!("{event}: {}", reasons.join(", ")), "MEMORY_VIOLATION")
        }
        AgentHeader::Missing => ("the head of the dump is not in the log".to_owned(), ""),
    }
}

/// The runtime's status for a dump whose head is not in the log.
fn of_runtime(log: &FaultLog, dump: &AgentDump) -> Option<String> {
    if dump.header != AgentHeader::Missing {
        return None;
    }
    log.messages.iter().find_map(|it| match &it.message {
        Message::HipAbort { status, .. } | Message::QueueError { status, .. } if !status.is_empty() => {
            Some(format!("{status}, by the runtime's message in line {}", it.line))
        }
        _ => None,
    })
}

fn of_wave(log: &FaultLog, dump: &AgentDump, wave: &AgentWave, code: &[KernelCode]) -> Incident {
    let kernel = wave.entry.as_ref().map(|(_, name)| name.clone()).or_else(|| wave.function.clone());
    let reasons = wave.reasons.join(" and ");
    let name = kernel.as_deref().unwrap_or("an unknown kernel");
    let title = if wave.has_head {
        format!("wave {} of {name} stopped: {reasons}", wave.number)
    } else {
        format!("a wave of {name} stopped")
    };
    let mut it = incident(log, wave.line, title, wave.reasons.first().map_or("", String::as_str));
    let (title, _) = header(&dump.header);
    it.facts.push(fact("report", of_runtime(log, dump).unwrap_or(title)));
    it.facts.push(fact(
        "kernel",
        kernel.unwrap_or_else(|| {
            "unknown: the program counter is in no code object that the agent knows".to_owned()
        }),
    ));
    it.facts.push(fact("program counter", place(wave)));
    if let Some(source) = wave.current().and_then(source) {
        let text = wave
            .current()
            .and_then(|it| it.source_text.clone())
            .map_or_else(String::new, |it| format!(": {it}"));
        it.facts.push(fact("source", format!("{}:{}{text}", source.file, source.line)));
    }
    let lanes = wave.active_lanes();
    if wave.has_head {
        it.facts.push(fact("lanes at work", format!("{} of 64: {}", lanes.len(), super::ranges(&lanes))));
    } else {
        it.meaning = NO_HEAD.to_owned();
    }
    if let Some(page) = dump.page {
        it.facts.push(fact("faulting page", format!("{page:#x}")));
    }
    let suspect = if is_memory(wave) { find_access(wave, dump.page, &lanes) } else { None };
    if let Some((_, facts)) = &suspect {
        it.facts.extend(facts.iter().cloned());
    }
    let suspect = suspect.map(|(address, _)| address);
    it.facts.extend(registers(wave));
    add_code(&mut it, wave, suspect, code);
    if wave.cut {
        it.facts.push(fact("dump", "breaks off within this wave: registers after this are not in it"));
    }
    it
}

/// Explanation of a wave of which only the disassembly is in the log.
const NO_HEAD: &str = "the log has only the disassembly of the wave, without its reason and registers; unless memory was precise, the \
                       access is before the instruction shown";

fn place(wave: &AgentWave) -> String {
    let offset = wave.current().and_then(|it| it.offset).map_or_else(String::new, |it| format!(" (+{it})"));
    let text = wave.current().map_or_else(String::new, |it| format!(": {}", it.text));
    format!("{:#x}{offset}{text}", wave.pc)
}

fn source(it: &AgentInstruction) -> Option<SourceLine> {
    Some(SourceLine { file: it.file.clone()?, line: it.source_line?, function: None })
}

fn is_memory(wave: &AgentWave) -> bool {
    wave.reasons.iter().any(|it| it == "MEMORY_VIOLATION" || it == "ADDRESS_ERROR")
}

/// Marks the last access at or before the program counter of a listing from a code object, where the dump
/// shows none.
fn mark_nearest(it: &mut Incident) {
    let Some(current) = it.code.iter().position(|line| line.current) else { return };
    let Some(line) = it.code[..=current].iter_mut().rev().find(|line| is_access(&line.text)) else { return };
    line.suspect = true;
    let text = format!(
        "{:#x}: {}; the nearest at or before the program counter, by the code object",
        line.address, line.text
    );
    it.facts.push(fact("access", text));
}

fn is_access(text: &str) -> bool {
    ["global_", "flat_", "buffer_", "scratch_", "ds_", "s_load", "s_store", "s_buffer"]
        .iter()
        .any(|it| text.starts_with(it))
}

/// The access that made a fault: the nearest at or before the program counter whose address of a lane is in
/// the page; where registers or page are not known, the nearest access at all.
fn find_access(wave: &AgentWave, page: Option<u64>, lanes: &[usize]) -> Option<(u64, Vec<NamedValue>)> {
    let current = wave.instructions.iter().position(|it| it.current)?;
    let before = wave.instructions[..=current].iter().rev().take(BACK).filter(|it| is_access(&it.text));
    let before: Vec<&AgentInstruction> = before.collect();
    let told = |it: &AgentInstruction| {
        let offset = it.offset.map_or_else(|| format!("{:#x}", it.address), |offset| format!("+{offset}"));
        let at = if it.current {
            "at the program counter"
        } else {
            "before the program counter, which had gone on"
        };
        format!("{offset}: {} ({at})", it.text)
    };
    for it in &before {
        let Some(page) = page else { break };
        let hit: Vec<usize> = lanes
            .iter()
            .copied()
            .filter(|lane| {
                addresses(wave, &it.text, *lane)
                    .into_iter()
                    .any(|at| (page..page.saturating_add(PAGE)).contains(&at))
            })
            .collect();
        if let Some(first) = hit.first() {
            let address = addresses(wave, &it.text, *first)
                .into_iter()
                .find(|at| (page..page.saturating_add(PAGE)).contains(at))?;
            return Some((
                it.address,
                vec![
                    fact("access", told(it)),
                    fact(
                        "lanes in the page",
                        format!(
                            "{} ({} lanes); lane {first} at {address:#x}",
                            super::ranges(&hit),
                            hit.len()
                        ),
                    ),
                ],
            ));
        }
    }
    let nearest = before.first()?;
    let why = if page.is_some() {
        "its address is not in the registers of the dump any more"
    } else {
        "the dump names no page"
    };
    Some((nearest.address, vec![fact("access", format!("{}; {why}: at or before", told(nearest)))]))
}

/// Addresses that a lane's access may have, by the registers: pairs of vector registers, and a scalar pair
/// with a vector offset.
fn addresses(wave: &AgentWave, text: &str, lane: usize) -> Vec<u64> {
    let operands: Vec<&str> = text.split([' ', ',']).filter(|it| !it.is_empty()).skip(1).collect();
    let offset = operands.iter().find_map(|it| it.strip_prefix("offset:")?.parse::<i64>().ok()).unwrap_or(0);
    let pair = |it: &str, letter: char| {
        let (first, last) = it.strip_prefix(letter)?.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        (last == first.checked_add(1)?).then_some(first)
    };
    let mut out: Vec<u64> = operands.iter().filter_map(|it| wave.pair(pair(it, 'v')?, lane)).collect();
    for base in operands.iter().filter_map(|it| pair(it, 's')) {
        let scalar = |number: u32| wave.scalars.get(&number).copied();
        let Some((low, high)) = scalar(base).zip(base.checked_add(1).and_then(scalar)) else { continue };
        let base = u64::from(high) << 32 | u64::from(low);
        let singles = operands.iter().filter_map(|it| it.strip_prefix('v')?.parse::<u32>().ok());
        out.extend(
            singles.filter_map(|it| Some(base.wrapping_add(u64::from(*wave.vectors.get(&it)?.get(lane)?)))),
        );
    }
    out.iter().map(|it| it.wrapping_add_signed(offset)).collect()
}

/// The most informative registers: masks, state, and the number of registers.
fn registers(wave: &AgentWave) -> Vec<NamedValue> {
    let mut words: Vec<String> = ["exec", "vcc", "m0", "status", "trapsts"]
        .iter()
        .filter_map(|name| Some(format!("{name} {:x}", wave.system.get(*name)?)))
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    words.push(format!(
        "{} SGPRs, {} VGPRs, {} bytes of LDS in the dump",
        wave.scalars.len(),
        wave.vectors.len(),
        wave.lds_bytes
    ));
    vec![fact("registers", words.join(", "))]
}

/// Instructions around the location: from the code object if found, else from the dump.
fn add_code(it: &mut Incident, wave: &AgentWave, suspect: Option<u64>, code: &[KernelCode]) {
    let uri = wave.code_object.as_deref().and_then(CodeObjectUri::parse);
    if let Some(uri) = &uri {
        it.facts.push(fact(
            "code object",
            format!("{}; saved as {}", uri.uri, system::fault::saved_name(&uri.uri)),
        ));
    }
    let base = wave.loaded.map(|(first, _)| first);
    let of_kernel = |it: &&KernelCode| Some(it.kernel.as_str()) == wave.function.as_deref();
    let found = code
        .iter()
        .filter(of_kernel)
        .find(|it| uri.as_ref().is_some_and(|uri| uri.may_be(&it.file_name) || Some(it.size) == uri.size));
    // A program that holds the kernel is as good, if the instruction is where the dump has it.
    let found = found.or_else(|| {
        code.iter().filter(of_kernel).find(|it| {
            base.is_some_and(|base| {
                it.listing.lines.iter().any(|line| Some(line.address) == wave.pc.checked_sub(base))
            })
        })
    });
    if let (Some(found), Some(base)) = (found, base) {
        let at = wave.pc.saturating_sub(base);
        let suspect_at = suspect.and_then(|it| it.checked_sub(base));
        if let Some(lines) = window(&found.listing, at, suspect_at, AROUND) {
            it.code = lines;
            it.code_from = found.file.clone();
            if suspect.is_none() && is_memory(wave) {
                mark_nearest(it);
            }
            registers::beside(&mut it.code, wave);
            return;
        }
    }
    let Some(position) = wave.instructions.iter().position(|it| it.current) else { return };
    let first = position.saturating_sub(AROUND);
    let mut last: Option<u32> = None;
    it.code = wave.instructions[first..]
        .iter()
        .take(2 * AROUND + 1)
        .map(|line| {
            let new = line.source_line != last;
            last = line.source_line;
            TriageLine {
                address: line.address,
                text: line.text.clone(),
                current: line.current,
                suspect: suspect == Some(line.address),
                source: if new { source(line) } else { None },
                source_text: if new { line.source_text.clone() } else { None },
                registers: None,
            }
        })
        .collect();
    it.code_from = "the dump".to_owned();
    registers::beside(&mut it.code, wave);
}
