//! Reports of faults: messages of the runtime, dumps of the debug agent, kernel logs, the emulator's own.
//!
//! These texts occur amid others, behind progress bars and in the output of many ranks, so each is searched
//! for in every line; a truncated report is kept up to its end and marked as truncated.

mod agent;
mod allocations;
mod core_dump;
mod debugger;
mod dmesg;
mod emulator;
mod openmp;
mod reasons;
mod runtime;
mod uri;

pub use agent::{AgentDump, AgentHeader, AgentInstruction, AgentWave};
pub use allocations::{Allocation, nearest};
pub use core_dump::{CoreDump, CoreGpu, CoreQueue, CoreSignal, Exception, is_core};
pub use debugger::WaveStop;
pub use dmesg::PageFault;
pub use emulator::EmulatorFault;
pub use openmp::TargetRegion;
pub use reasons::meaning;
pub use runtime::{Message, QueuedKernel, Reason, RuntimeMessage};
pub use uri::{CodeObjectUri, saved_name, size_and_offset};

use crate::Error;
use logs::{LogText, Scan};

/// Everything about faults in one text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FaultLog {
    /// File.
    pub file: String,
    /// Messages and unknown errors, number of lines.
    pub text: LogText,
    /// Messages of the runtimes, in order.
    pub messages: Vec<RuntimeMessage>,
    /// Dumps of the debug agent, in order.
    pub dumps: Vec<AgentDump>,
    /// Waves that a debugger found stopped by a signal.
    pub stops: Vec<WaveStop>,
    /// Target regions that the OpenMP runtime names.
    pub regions: Vec<TargetRegion>,
    /// Page faults in the kernel's log, in order; repeats are counted.
    pub page_faults: Vec<PageFault>,
    /// Faults of the emulator.
    pub emulated: Vec<EmulatorFault>,
    /// Allocations that a log of the HIP runtime names.
    pub allocations: Vec<Allocation>,
    /// Exit codes of processes that a launcher reports, with their line.
    pub exit_codes: Vec<(i64, u32)>,
    /// Notes of a core dump, where the file is one.
    pub core: Option<CoreDump>,
}

impl FaultLog {
    /// Reads a text, or the notes of a core dump.
    ///
    /// # Errors
    /// The core dump has no whole head.
    pub fn read(file: &str, bytes: &[u8]) -> Result<FaultLog, Error> {
        if is_core(bytes) {
            let core = Some(CoreDump::read(bytes)?);
            return Ok(FaultLog { file: file.to_owned(), core, ..FaultLog::default() });
        }
        Ok(FaultLog::of_text(file, Scan::text(bytes)))
    }

    /// Reports of a log that was read piece by piece.
    pub fn of_text(file: &str, text: LogText) -> FaultLog {
        let lines: Vec<&str> = text.kept.iter().map(|it| it.text.as_str()).collect();
        // Readers number the lines they are given; in the file these are others.
        let number = |line: &mut u32| {
            let at = (*line as usize).saturating_sub(1);
            *line = text.kept.get(at).map_or(*line, |it| it.number);
        };
        let mut log = FaultLog { file: file.to_owned(), ..FaultLog::default() };
        log.messages = runtime::read(&lines);
        log.messages.iter_mut().for_each(|it| number(&mut it.line));
        log.dumps = agent::read(&lines);
        for dump in &mut log.dumps {
            number(&mut dump.line);
            dump.cut.iter_mut().for_each(number);
            dump.waves.iter_mut().for_each(|it| number(&mut it.line));
        }
        log.stops = debugger::read(&lines);
        for stop in &mut log.stops {
            number(&mut stop.line);
            number(&mut stop.last_line);
        }
        log.regions = openmp::read(&lines);
        log.regions.iter_mut().for_each(|it| number(&mut it.line));
        log.page_faults = dmesg::read(&lines);
        log.page_faults.iter_mut().for_each(|it| number(&mut it.line));
        log.emulated = emulator::read(&lines);
        log.emulated.iter_mut().for_each(|it| number(&mut it.line));
        log.allocations = allocations::read(&lines);
        for it in &mut log.allocations {
            number(&mut it.line);
            it.freed.iter_mut().for_each(number);
        }
        log.exit_codes = exit_codes(&lines);
        log.exit_codes.iter_mut().for_each(|(_, line)| number(line));
        log.text = text;
        log
    }

    /// True if it contains no fault and no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
            && self.dumps.is_empty()
            && self.page_faults.is_empty()
            && self.stops.is_empty()
            && self.text.events.is_empty()
            && self.emulated.is_empty()
            && self.core.is_none()
    }
}

fn exit_codes(lines: &[&str]) -> Vec<(i64, u32)> {
    let codes = lines.iter().enumerate().filter_map(|(at, line)| {
        let (_, rest) = line.split_once("exitcode")?;
        let number = rest.trim_start_matches([' ', ':', '\t']);
        let end = number.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(number.len());
        Some((number[..end].parse().ok()?, count(at + 1)))
    });
    codes.collect()
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

/// A number in hexadecimal with `0x`, or `(nil)`.
fn address(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.starts_with("(nil)") {
        return Some(0);
    }
    let hex = text.strip_prefix("0x")?;
    let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
    u64::from_str_radix(&hex[..end], 16).ok()
}
