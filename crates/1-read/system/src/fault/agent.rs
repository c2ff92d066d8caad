//! Dumps of the ROCr debug agent.
//!
//! Blocks begin with their titles and have no lengths, so a truncated dump is as good as a complete one up to
//! its end; the line of the end is kept.
//!
//! Source: ROCm/rocr_debug_agent, README.md and `docs/conceptual/user-guide.rst`.

use super::{address, count};
use std::collections::BTreeMap;

/// Waves kept of one dump; a GPU has fewer.
const MOST_WAVES: usize = 65_536;
/// Instructions kept of one wave.
const MOST_INSTRUCTIONS: usize = 4096;
/// Lanes of a wave.
const LANES: usize = 64;

/// Reason why the agent wrote the report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AgentHeader {
    /// `Queue error (STATUS: text)`.
    QueueError {
        /// `HSA_STATUS_ERROR_...`.
        status: String,
        /// The runtime's words.
        text: String,
    },
    /// `System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: reasons)`.
    SystemEvent {
        /// Event.
        event: String,
        /// Reasons.
        reasons: Vec<String>,
    },
    /// The log begins within a dump, or has only its disassembly.
    Missing,
}

/// One dump.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentDump {
    /// Line of the header, 1-based.
    pub line: u32,
    /// Reason of the report.
    pub header: AgentHeader,
    /// `Faulting page`.
    pub page: Option<u64>,
    /// Waves, in order.
    pub waves: Vec<AgentWave>,
    /// The line at which the dump is truncated.
    pub cut: Option<u32>,
}

/// One wave of a dump.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AgentWave {
    /// Number; 0 without a head.
    pub number: u64,
    /// The dump has the wave's first line, with its number and reasons.
    pub has_head: bool,
    /// Line of its head, 1-based.
    pub line: u32,
    /// Program counter.
    pub pc: u64,
    /// Entry of the kernel, with its name.
    pub entry: Option<(u64, String)>,
    /// Reasons for the stop: `MEMORY_VIOLATION`, `ASSERT_TRAP`, ...
    pub reasons: Vec<String>,
    /// System registers: `exec`, `vcc`, `status`, ...
    pub system: BTreeMap<String, u64>,
    /// Scalar registers by number.
    pub scalars: BTreeMap<u32, u32>,
    /// Vector registers by number: a value per lane.
    pub vectors: BTreeMap<u32, Vec<u32>>,
    /// Bytes of LDS shown.
    pub lds_bytes: u64,
    /// Function.
    pub function: Option<String>,
    /// URI of the code object.
    pub code_object: Option<String>,
    /// Load address range of the code object: first byte and the one after the last.
    pub loaded: Option<(u64, u64)>,
    /// Instructions around the place.
    pub instructions: Vec<AgentInstruction>,
    /// The dump broke off within this wave.
    pub cut: bool,
}

/// An instruction of a wave's disassembly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentInstruction {
    /// Address in memory.
    pub address: u64,
    /// Bytes from the function's begin.
    pub offset: Option<u64>,
    /// Text.
    pub text: String,
    /// True for the instruction after the arrow.
    pub current: bool,
    /// File of its source line.
    pub file: Option<String>,
    /// Source line.
    pub source_line: Option<u32>,
    /// Text of the source line.
    pub source_text: Option<String>,
}

impl AgentWave {
    /// Lanes at work.
    pub fn active_lanes(&self) -> Vec<usize> {
        let exec = self.system.get("exec").copied().unwrap_or(0);
        (0..LANES).filter(|lane| exec >> lane & 1 == 1).collect()
    }

    /// The 64-bit value of two vector registers in a lane: the address of a global access.
    pub fn pair(&self, low: u32, lane: usize) -> Option<u64> {
        let at = |number: u32| self.vectors.get(&number)?.get(lane).copied();
        Some(u64::from(at(low.checked_add(1)?)?) << 32 | u64::from(at(low)?))
    }

    /// The instruction after the arrow.
    pub fn current(&self) -> Option<&AgentInstruction> {
        self.instructions.iter().find(|it| it.current)
    }
}

/// State of the reader within a wave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Head,
    System,
    Scalar,
    Vector,
    Memory,
    Code,
    Done,
}

/// All dumps of a text.
pub(super) fn read(lines: &[&str]) -> Vec<AgentDump> {
    let mut dumps: Vec<AgentDump> = Vec::new();
    let mut block = Block::Done;
    let mut source = Source::default();
    for (at, line) in lines.iter().enumerate() {
        if let Some(header) = header(line) {
            dumps.push(AgentDump { line: count(at + 1), header, page: None, waves: Vec::new(), cut: None });
            block = Block::Done;
            continue;
        }
        if line.trim_start().starts_with("Disassembly for function ")
            && (block == Block::Done || dumps.last().is_none_or(|it| it.waves.is_empty()))
        {
            if dumps.is_empty() {
                let header = AgentHeader::Missing;
                dumps.push(AgentDump {
                    line: count(at + 1),
                    header,
                    page: None,
                    waves: Vec::new(),
                    cut: None,
                });
            }
            if let Some(dump) = dumps.last_mut().filter(|it| it.waves.len() < MOST_WAVES) {
                dump.waves.push(AgentWave { line: count(at + 1), ..AgentWave::default() });
            }
            source = Source::default();
        }
        let Some(dump) = dumps.last_mut() else { continue };
        if let Some(page) = line.trim().strip_prefix("Faulting page:") {
            dump.page = address(page);
            continue;
        }
        if let Some(mut wave) = wave_head(line) {
            if dump.waves.len() < MOST_WAVES {
                wave.line = count(at + 1);
                dump.waves.push(wave);
            }
            block = Block::Head;
            source = Source::default();
            continue;
        }
        let Some(wave) = dump.waves.last_mut() else { continue };
        block = step(wave, block, line, &mut source);
    }
    for dump in &mut dumps {
        // Without head and instructions a title says nothing.
        dump.waves.retain(|it| it.has_head || it.current().is_some());
        for wave in dump.waves.iter_mut().filter(|it| !it.has_head) {
            wave.pc = wave.current().map_or(0, |it| it.address);
        }
    }
    dumps.retain(|it| it.header != AgentHeader::Missing || !it.waves.is_empty());
    // Only the end of the text can cut a dump.
    if let (Some(dump), true) = (
        dumps.last_mut(),
        matches!(block, Block::System | Block::Scalar | Block::Vector | Block::Memory | Block::Code),
    ) {
        let ends = lines.iter().rev().find(|line| !line.trim().is_empty());
        if !ends.is_some_and(|line| line.contains("Aborted") || line.contains("End of disassembly")) {
            dump.cut = Some(count(lines.len()));
            if let Some(wave) = dump.waves.last_mut() {
                wave.cut = true;
            }
        }
    }
    dumps
}

fn header(line: &str) -> Option<AgentHeader> {
    if let Some((_, rest)) = line.split_once("Queue error (") {
        let (status, text) = rest.trim_end().strip_suffix(')').unwrap_or(rest).split_once(':')?;
        return status
            .starts_with("HSA_")
            .then(|| AgentHeader::QueueError { status: status.to_owned(), text: text.trim().to_owned() });
    }
    let (_, rest) = line.split_once("System event (")?;
    let (event, reasons) = rest.trim_end().strip_suffix(')').unwrap_or(rest).split_once(':')?;
    let reasons = reasons.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect();
    event.starts_with("HSA_").then(|| AgentHeader::SystemEvent { event: event.to_owned(), reasons })
}

/// `wave_1: pc=0x.. (kernel_code_entry=0x.. <symbol>) (stopped, reason: A|B)`.
fn wave_head(line: &str) -> Option<AgentWave> {
    let (number, rest) = line.trim().strip_prefix("wave_")?.split_once(": pc=")?;
    let entry = rest.split_once("(kernel_code_entry=").and_then(|(_, entry)| {
        let (place, name) = entry.split_once('<')?;
        Some((address(place)?, name.split_once(">)").map_or(name, |(name, _)| name).to_owned()))
    });
    let reasons = rest.rsplit_once("(stopped, reason: ").map_or("", |(_, it)| it.trim_end_matches(')'));
    Some(AgentWave {
        number: number.parse().ok()?,
        has_head: true,
        pc: address(rest)?,
        entry,
        reasons: reasons.split('|').map(str::to_owned).filter(|it| !it.is_empty()).collect(),
        ..AgentWave::default()
    })
}

fn step(wave: &mut AgentWave, block: Block, line: &str, source: &mut Source) -> Block {
    let text = line.trim();
    if let Some(function) = text.strip_prefix("Disassembly for function ") {
        wave.function = Some(function.trim_end_matches(':').to_owned());
        return Block::Code;
    }
    match text {
        "system registers:" => return Block::System,
        "scalar registers:" => return Block::Scalar,
        "vector registers:" => return Block::Vector,
        "Local memory content:" => return Block::Memory,
        "End of disassembly." => return Block::Done,
        "Disassembly:" => return Block::Code,
        _ => {}
    }
    match block {
        Block::System => system_registers(wave, text),
        Block::Scalar => scalar_registers(wave, text),
        Block::Vector => vector_register(wave, text),
        Block::Memory => memory(wave, text),
        Block::Code => code(wave, text, source),
        Block::Head | Block::Done => {}
    }
    block
}

/// Words `name: hex`, several a line.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    (0..words.len().saturating_sub(1))
        .filter_map(move |at| Some((words[at].strip_suffix(':')?, words[at + 1])))
}

fn system_registers(wave: &mut AgentWave, text: &str) {
    for (name, value) in pairs(text) {
        if let Ok(value) = u64::from_str_radix(value, 16) {
            wave.system.insert(name.to_owned(), value);
        }
    }
}

fn scalar_registers(wave: &mut AgentWave, text: &str) {
    for (name, value) in pairs(text) {
        let number = name.strip_prefix('s').and_then(|it| it.parse().ok());
        if let (Some(number), Ok(value)) = (number, u32::from_str_radix(value, 16)) {
            wave.scalars.insert(number, value);
        }
    }
}

/// `v0: [0] hex [1] hex ...`.
fn vector_register(wave: &mut AgentWave, text: &str) {
    let Some((name, lanes)) = text.split_once(':') else { return };
    let Some(number) = name.strip_prefix('v').and_then(|it| it.parse().ok()) else { return };
    let words: Vec<&str> = lanes.split_whitespace().collect();
    // A lane that is cut off has fewer digits, and is none.
    let values = words.chunks(2).take(LANES).filter_map(|pair| {
        let [_, value] = pair else { return None };
        (value.len() == 8).then(|| u32::from_str_radix(value, 16).ok()).flatten()
    });
    wave.vectors.insert(number, values.collect());
}

/// `0x0020: word word ...`: four bytes each.
fn memory(wave: &mut AgentWave, text: &str) {
    if let Some((place, words)) = text.split_once(':')
        && address(place).is_some()
    {
        wave.lds_bytes += 4 * words.split_whitespace().filter(|it| it.len() == 8).count() as u64;
    }
}

/// The source line that instructions below it come from.
#[derive(Default)]
struct Source {
    file: Option<String>,
    line: Option<u32>,
    text: Option<String>,
}

fn code(wave: &mut AgentWave, text: &str, source: &mut Source) {
    if let Some(uri) = text.strip_prefix("code object:") {
        wave.code_object = Some(uri.trim().to_owned());
        return;
    }
    if let Some(range) = text.strip_prefix("loaded at:") {
        let (first, last) = range.trim().trim_matches(['[', ']']).split_once('-').unwrap_or_default();
        wave.loaded = address(first).zip(address(last));
        return;
    }
    let (current, instruction) = match text.strip_prefix("=>") {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    if instruction.starts_with("0x") {
        if let Some(mut instruction) = one_instruction(instruction) {
            instruction.current = current;
            instruction.file.clone_from(&source.file);
            instruction.source_line = source.line;
            instruction.source_text.clone_from(&source.text);
            if wave.instructions.len() < MOST_INSTRUCTIONS {
                wave.instructions.push(instruction);
            }
        }
    } else if let Some(file) = text.strip_suffix(':').filter(|it| it.contains(['/', '.'])) {
        *source = Source { file: Some(file.to_owned()), ..Source::default() };
    } else {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if let Ok(line) = text[..digits].parse() {
            source.line = Some(line);
            source.text = Some(text[digits..].trim().to_owned()).filter(|it| !it.is_empty());
        }
    }
}

/// `0xADDR <+OFF>:    text`.
fn one_instruction(text: &str) -> Option<AgentInstruction> {
    let place = address(text)?;
    let (head, body) = text.split_once(':')?;
    let offset =
        head.split_once("<+").and_then(|(_, it)| it.split_once('>')).and_then(|(it, _)| it.parse().ok());
    Some(AgentInstruction {
        address: place,
        offset,
        text: body.trim().to_owned(),
        current: false,
        file: None,
        source_line: None,
        source_text: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disassembly_without_the_head_of_its_wave() {
        let text = "Disassembly for function scan<int>(int*, unsigned long):\n\
            code object: file:///opt/libx.so#offset=4096&size=512\n\
            loaded at: [0x7f0000004000-0x7f0000005000]\n\
            \u{20}=> 0x7f0000004130 <+48>:    s_waitcnt lgkmcnt(0)\n\
            0x7f0000004134 <+52>:    s_mov_b32 s9, s8\n\
            End of disassembly.\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines);
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].header, found[0].cut), (&AgentHeader::Missing, None));
        let wave = &found[0].waves[0];
        assert_eq!(
            (wave.has_head, wave.pc, wave.loaded),
            (false, 0x7f00_0000_4130, Some((0x7f00_0000_4000, 0x7f00_0000_5000)))
        );
        assert_eq!(wave.function.as_deref(), Some("scan<int>(int*, unsigned long)"));
        assert_eq!(wave.current().map(|it| it.text.as_str()), Some("s_waitcnt lgkmcnt(0)"));
        assert_eq!(wave.code_object.as_deref(), Some("file:///opt/libx.so#offset=4096&size=512"));
    }
}
