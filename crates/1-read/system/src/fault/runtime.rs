//! Messages of the ROCr and HIP runtimes.
//!
//! Source: ROCm/rocm-systems, rocr-runtime `core/runtime/runtime.cpp`, clr
//! `rocclr/device/rocm/rocdevice.cpp`.

use super::{address, count};

/// Reason why memory could not be accessed, in the order the runtime tests them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// No page, or one of the kernel.
    NotPresent,
    /// Store to a page that is read only.
    ReadOnly,
    /// Execution of a page that is data.
    NoExecute,
    /// Memory of the host only.
    HostOnly,
    /// Error of device memory.
    DramEcc,
    /// Error of a memory on the chip.
    SramEcc,
    /// The GPU was reset because it hung.
    Hang,
    /// The driver gave none.
    Unknown,
}

impl Reason {
    /// All, with the runtime's words.
    pub const ALL: [(Reason, &'static str); 8] = [
        (Reason::NotPresent, "Page not present or supervisor privilege"),
        (Reason::ReadOnly, "Write access to a read-only page"),
        (Reason::NoExecute, "Execute access to a page marked NX"),
        (Reason::HostOnly, "Host access only"),
        (Reason::DramEcc, "DRAM ECC failure"),
        (Reason::SramEcc, "SRAM ECC failure"),
        (Reason::Hang, "Generic hang recovery"),
        (Reason::Unknown, "Unknown"),
    ];

    fn of(text: &str) -> Option<Reason> {
        let text = text.trim();
        Reason::ALL.iter().find(|(_, words)| text.starts_with(words)).map(|(reason, _)| *reason)
    }

    /// The runtime's words.
    pub fn words(self) -> &'static str {
        Reason::ALL.iter().find(|(it, _)| *it == self).map_or("", |(_, words)| words)
    }
}

/// Content of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// `Memory access fault by GPU node-N`.
    MemoryFault {
        /// Node of the compute driver, not the index of HIP.
        node: u32,
        /// Start of the page; 0 for `(nil)`.
        address: u64,
        /// False where the runtime says that the address may be off.
        exact: bool,
        /// Reason.
        reason: Reason,
    },
    /// `HW Exception by GPU node-N`.
    HardwareException {
        /// Node of the compute driver.
        node: u32,
        /// `GPU Hang` or `ECC`.
        reason: String,
    },
    /// `Memory critical error by agent node-N`.
    MemoryInUse {
        /// Node of the compute driver.
        node: u32,
        /// Address.
        address: u64,
        /// Reason.
        reason: String,
    },
    /// `Queue at P inactivated due to async error:` with the status on the next line.
    QueueError {
        /// Queue.
        queue: u64,
        /// `HSA_STATUS_ERROR_...`.
        status: String,
        /// The runtime's words.
        text: String,
    },
    /// HIP: `Queue P aborting with error : STATUS: text code: 0x29`.
    HipAbort {
        /// Queue.
        queue: u64,
        /// `HSA_STATUS_ERROR_...`.
        status: String,
        /// The runtime's words.
        text: String,
        /// Code of the status.
        code: Option<u64>,
    },
}

/// A message and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeMessage {
    /// Line, 1-based.
    pub line: u32,
    /// Text before it on the line: the rank, a progress bar.
    pub before: String,
    /// Content.
    pub message: Message,
}

/// All messages of a text.
pub(super) fn read(lines: &[&str]) -> Vec<RuntimeMessage> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        for parse in [memory_fault, exception, in_use, hip_abort] {
            if let Some((start, message)) = parse(line) {
                found.push(RuntimeMessage {
                    line: count(at + 1),
                    before: line[..start].trim().to_owned(),
                    message,
                });
            }
        }
        if let Some((start, message)) = queue(line, next) {
            found.push(RuntimeMessage {
                line: count(at + 1),
                before: line[..start].trim().to_owned(),
                message,
            });
        }
    }
    found
}

/// Start of a phrase and the text after it.
fn after<'a>(line: &'a str, phrase: &str) -> Option<(usize, &'a str)> {
    let start = line.find(phrase)?;
    Some((start, &line[start + phrase.len()..]))
}

fn node(rest: &str) -> Option<u32> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn memory_fault(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "Memory access fault by GPU node-")?;
    let (_, place) = after(rest, "on address ")?;
    let (_, reason) = after(place, "Reason: ").unwrap_or((0, ""));
    let message = Message::MemoryFault {
        node: node(rest)?,
        address: address(place)?,
        exact: !place.contains("may not be exact address"),
        reason: Reason::of(reason).unwrap_or(Reason::Unknown),
    };
    Some((start, message))
}

fn exception(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "HW Exception by GPU node-")?;
    let (_, reason) = after(rest, "reason :")?;
    Some((start, Message::HardwareException { node: node(rest)?, reason: reason.trim().to_owned() }))
}

fn in_use(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "Memory critical error by agent node-")?;
    let (_, place) = after(rest, "on address ")?;
    let (_, reason) = after(place, "Reason: ").unwrap_or((0, ""));
    let reason = reason.trim().trim_end_matches('.').to_owned();
    Some((start, Message::MemoryInUse { node: node(rest)?, address: address(place)?, reason }))
}

fn queue(line: &str, next: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "Queue at ")?;
    let (place, _) = rest.split_once(" inactivated due to async error")?;
    let (status, text) = next.trim().split_once(':').unwrap_or((next.trim(), ""));
    let status = if status.starts_with("HSA_STATUS") { status.to_owned() } else { String::new() };
    Some((start, Message::QueueError { queue: address(place)?, status, text: text.trim().to_owned() }))
}

fn hip_abort(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "Queue ")?;
    let (place, rest) = rest.split_once(" aborting with error :")?;
    let (text, code) = rest.split_once(" code: ").map_or((rest, None), |(text, code)| (text, address(code)));
    let (status, text) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
    let message = Message::HipAbort {
        queue: address(place)?,
        status: status.to_owned(),
        text: text.trim().to_owned(),
        code,
    };
    Some((start, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_behind_other_text() {
        let lines = [
            " 41%|####  |Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f00(may not be exact address). Reason: Unknown.",
            "[rank3]: Memory access fault by GPU node-6 on address (nil). Reason: Write access to a read-only page.",
            "Memory access fault by GPU node-x",
        ];
        let found = read(&lines);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0].message,
            Message::MemoryFault { node: 4, address: 0x7f00, exact: false, reason: Reason::Unknown }
        );
        assert_eq!(
            found[1].message,
            Message::MemoryFault { node: 6, address: 0, exact: true, reason: Reason::ReadOnly }
        );
        assert_eq!((found[1].line, found[1].before.as_str()), (2, "[rank3]:"));
    }
}
