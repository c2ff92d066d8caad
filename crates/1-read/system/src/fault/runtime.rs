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
        /// Start of the page; 0 for `(nil)`. `None` where whoever pasted the line has shortened it.
        address: Option<u64>,
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
    /// `Memory Fault Error [host: H, GPU index: N, faulting addr: P, kernel: NAME]`, since ROCm 7.
    KernelFault {
        /// Index of HIP.
        gpu: Option<u32>,
        /// Start of the page.
        address: Option<u64>,
        /// Kernel.
        kernel: String,
    },
    /// `Queue at P inactivated due to async error:` with the status on the next line, or `Queue error - STATUS`.
    QueueError {
        /// Queue, where the message names it.
        queue: Option<u64>,
        /// `HSA_STATUS_ERROR_...`.
        status: String,
        /// The runtime's words.
        text: String,
    },
    /// HIP: `Queue P aborting with error : STATUS: text code: 0x29`; `Device::callbackQueue aborting with
    /// status: 0x100f` of older ones.
    HipAbort {
        /// Queue, where the message names it.
        queue: Option<u64>,
        /// `HSA_STATUS_ERROR_...`; empty for a code that is not known.
        status: String,
        /// The runtime's words.
        text: String,
        /// Code of the status.
        code: Option<u64>,
        /// Kernels of the queue that the lines below name, each once.
        kernels: Vec<QueuedKernel>,
    },
}

/// A kernel in a queue that HIP gave up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueuedKernel {
    /// Name, for the linker.
    pub name: String,
    /// Work-items of the grid, as written: `77824, 1, 1`.
    pub grid: Option<String>,
    /// Work-items of a workgroup.
    pub workgroup: Option<String>,
}

/// Statuses of HSA that old messages give as numbers.
const STATUSES: [(u64, &str); 7] = [
    (0x29, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION"),
    (0x2a, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"),
    (0x2b, "HSA_STATUS_ERROR_MEMORY_FAULT"),
    (0x1000, "HSA_STATUS_ERROR"),
    (0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"),
    (0x100f, "HSA_STATUS_ERROR_INVALID_ISA"),
    (0x1016, "HSA_STATUS_ERROR_EXCEPTION"),
];

/// Most lines below HIP's message that name kernels, and most lines over which a name is wrapped.
const MOST_QUEUED: usize = 40;
const MOST_WRAPPED: usize = 4;

/// A message and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeMessage {
    /// Line, 1-based.
    pub line: u32,
    /// Text before it on the line: the rank, a progress bar.
    pub before: String,
    /// True for a message of the OpenMP offload runtime.
    pub is_of_openmp: bool,
    /// Content.
    pub message: Message,
}

/// All messages of a text.
pub(super) fn read(lines: &[&str]) -> Vec<RuntimeMessage> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let below = &lines[at + 1..];
        if let Some((start, message)) = openmp_fault(line) {
            let before = line[..start].trim().to_owned();
            found.push(RuntimeMessage { line: count(at + 1), before, is_of_openmp: true, message });
            continue;
        }
        let of_line = [memory_fault(line), exception(line), in_use(line), queue_status(line)];
        let of_block = [queue(line, next), hip_abort(line, below), kernel_fault(line, below)];
        for (start, message) in of_line.into_iter().chain(of_block).flatten() {
            let before = line[..start].trim().to_owned();
            found.push(RuntimeMessage { line: count(at + 1), before, is_of_openmp: false, message });
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
    let (_, place) = after(rest, "on address ").unwrap_or((0, rest));
    let (_, reason) = after(place, "Reason: ").unwrap_or((0, ""));
    let message = Message::MemoryFault {
        node: node(rest)?,
        address: address(place),
        exact: !place.contains("may not be exact address"),
        reason: Reason::of(reason).unwrap_or(Reason::Unknown),
    };
    Some((start, message))
}

/// LLVM's plugin: `Memory access fault by GPU 2 (agent 0x1) at virtual address 0x7f00. Reasons: a, b`.
fn openmp_fault(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "emory access fault by GPU ")?;
    let (_, place) = after(rest, "at virtual address ")?;
    let (_, reasons) = after(place, "Reasons: ").unwrap_or((0, ""));
    let message = Message::MemoryFault {
        node: node(rest)?,
        address: address(place),
        exact: true,
        reason: Reason::of(reasons).unwrap_or(Reason::Unknown),
    };
    // The first letter is in either case.
    Some((start.saturating_sub(1), message))
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
    Some((start, Message::QueueError { queue: Some(address(place)?), status, text: text.trim().to_owned() }))
}

/// `Queue error - HSA_STATUS_ERROR_MEMORY_FAULT`, since ROCm 7.
fn queue_status(line: &str) -> Option<(usize, Message)> {
    let (start, rest) = after(line, "Queue error - ")?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (status, text) = rest.split_at(end);
    let text = text.trim_start_matches([':', ' ']).trim().to_owned();
    let message = Message::QueueError { queue: None, status: status.to_owned(), text };
    status.starts_with("HSA_STATUS").then_some((start, message))
}

fn hip_abort(line: &str, below: &[&str]) -> Option<(usize, Message)> {
    let (end, rest) = after(line, " aborting with ")?;
    let start = line[..end].rfind("Queue ").or_else(|| line[..end].rfind("Device::callbackQueue"))?;
    let queue = line[start..end].strip_prefix("Queue ").and_then(address);
    let kernels = queued(below);
    let message = match rest.strip_prefix("error :") {
        Some(rest) => {
            let (text, code) =
                rest.split_once(" code: ").map_or((rest, None), |(text, code)| (text, address(code)));
            let (status, text) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
            let (status, text) = (status.to_owned(), text.trim().to_owned());
            Message::HipAbort { queue, status, text, code, kernels }
        }
        None => {
            let code = address(rest.strip_prefix("status:")?)?;
            let status = STATUSES.iter().find(|(it, _)| *it == code).map_or("", |(_, name)| *name);
            let text = format!("status {code:#x}");
            Message::HipAbort { queue, status: status.to_owned(), text, code: Some(code), kernels }
        }
    };
    Some((start, message))
}

/// Kernels that HIP lists below its message, a block each.
fn queued(below: &[&str]) -> Vec<QueuedKernel> {
    const PARTS: [&str; 9] = [
        "VGPU",
        "Dispatch Header",
        "grid=[",
        "private_seg_size=",
        "kernel_obj=",
        "completion_signal=",
        "rptr=",
        "kernarg_address=",
        "group_seg_size=",
    ];
    let mut kernels: Vec<QueuedKernel> = Vec::new();
    let mut is_new = false;
    for line in below.iter().take(MOST_QUEUED).map(|it| it.trim()) {
        if let Some((_, name)) = after(line, "Kernel Name: ") {
            is_new = !kernels.iter().any(|it| it.name == name);
            if is_new {
                kernels.push(QueuedKernel { name: name.to_owned(), grid: None, workgroup: None });
            }
        } else if !PARTS.iter().any(|it| line.starts_with(it)) {
            break;
        }
        if let Some(kernel) = kernels.last_mut().filter(|it| is_new && it.grid.is_none()) {
            kernel.grid = sizes(line, "grid=[");
            kernel.workgroup = sizes(line, "workgroup=[");
        }
    }
    kernels
}

fn sizes(line: &str, name: &str) -> Option<String> {
    let (_, rest) = after(line, name)?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn kernel_fault(line: &str, below: &[&str]) -> Option<(usize, Message)> {
    let (start, first) = after(line, "Memory Fault Error [")?;
    // Whoever pastes it wraps long names.
    let mut text = first.trim().to_owned();
    for more in below.iter().take(MOST_WRAPPED).map(|it| it.trim()) {
        if text.ends_with(']') || more.is_empty() {
            break;
        }
        text.push(' ');
        text.push_str(more);
    }
    let (_, kernel) = after(&text, "kernel: ")?;
    let kernel = kernel.strip_suffix(']').unwrap_or(kernel).trim().to_owned();
    let gpu = after(&text, "GPU index: ").and_then(|(_, it)| node(it));
    let address = after(&text, "faulting addr: ").and_then(|(_, it)| address(it));
    (!kernel.is_empty()).then_some((start, Message::KernelFault { gpu, address, kernel }))
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
            "Memory access fault by GPU node-8 ... Reason: Unknown.",
        ];
        let found = read(&lines);
        assert_eq!(found.len(), 3);
        assert_eq!(
            found[0].message,
            Message::MemoryFault { node: 4, address: Some(0x7f00), exact: false, reason: Reason::Unknown }
        );
        assert_eq!(
            found[1].message,
            Message::MemoryFault { node: 6, address: Some(0), exact: true, reason: Reason::ReadOnly }
        );
        assert_eq!(
            found[2].message,
            Message::MemoryFault { node: 8, address: None, exact: true, reason: Reason::Unknown }
        );
        assert_eq!((found[1].line, found[1].before.as_str()), (2, "[rank3]:"));
    }

    #[test]
    fn faults_of_openmp() {
        for (text, node, address, reason) in [
            (
                "AMDGPU fatal error 1: Memory access fault by GPU 3 (agent 0x12) at virtual address 0x7f00. Reasons: Write access to a read-only page",
                3,
                Some(0x7f00),
                Reason::ReadOnly,
            ),
            (
                "OFFLOAD ERROR: memory access fault by GPU 1 (agent 0x5) at virtual address (nil). Reasons: Page not present or supervisor privilege, Host access only",
                1,
                Some(0),
                Reason::NotPresent,
            ),
        ] {
            let found = read(&[text]);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(
                found[0].message,
                Message::MemoryFault { node, address, exact: true, reason },
                "{text}"
            );
            assert!(found[0].is_of_openmp && found[0].before.ends_with(':'), "{text}");
        }
    }

    /// Messages of one line with what is below it.
    fn only(text: &str) -> Message {
        let lines: Vec<&str> = text.lines().collect();
        let mut found = read(&lines);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0).message
    }

    #[test]
    fn kernels_are_named_by_newer_runtimes() {
        for (text, gpu, address, kernel) in [
            (
                ":0:rocdevice.cpp            :3678: 11 us:  Memory Fault Error [host: n1, GPU index: 3, faulting addr: 0x7f7d37c00000, kernel: void f<(type)12, 2>(int const*, int*)]",
                Some(3),
                Some(0x7f7d_37c0_0000),
                "void f<(type)12, 2>(int const*, int*)",
            ),
            (
                "Memory Fault Error [GPU index: 1, faulting addr: 0x7f48ef14c000,\n  kernel: a_long_name]\nnext",
                Some(1),
                Some(0x7f48_ef14_c000),
                "a_long_name",
            ),
            ("Memory Fault Error [... kernel: _Zcut...]", None, None, "_Zcut..."),
        ] {
            assert_eq!(only(text), Message::KernelFault { gpu, address, kernel: kernel.to_owned() });
        }
        assert!(read(&["Memory Fault Error [host: n1]"]).is_empty());
    }

    #[test]
    fn aborts_of_every_generation() {
        let kernel = |name: &str, grid: &str| QueuedKernel {
            name: name.to_owned(),
            grid: Some(grid.to_owned()),
            workgroup: Some("256, 1, 1".to_owned()),
        };
        let block = |name: &str| {
            format!(
                "Kernel Name: {name}\nVGPU=0x1 SWq=0x2, HWq=0x3, id=1\n\tDispatch Header = 0xb02 (type=2)\n\tgrid=[77824, 1, 1], workgroup=[256, 1, 1]\n\trptr=3, wptr=5\n"
            )
        };
        let text = format!(
            ":0:rocdevice.cpp :3675: 2 us:  Callback: Queue 0x7ee7 aborting with error : HSA_STATUS_ERROR_MEMORY_FAULT: no page. code: 0x2b\n{}{}{}Aborted\nKernel Name: later\n",
            block("one"),
            block("one"),
            block("two")
        );
        let Message::HipAbort { queue, status, code, kernels, .. } = only(&text) else { panic!() };
        assert_eq!(
            (queue, code, status.as_str()),
            (Some(0x7ee7), Some(0x2b), "HSA_STATUS_ERROR_MEMORY_FAULT")
        );
        assert_eq!(kernels, [kernel("one", "77824, 1, 1"), kernel("two", "77824, 1, 1")]);
        for (text, status) in [
            (
                ":0:rocdevice.cpp :2614: 2 us: Device::callbackQueue aborting with error : HSA_STATUS_ERROR_MEMORY_FAULT: x. code: 0x2b",
                "HSA_STATUS_ERROR_MEMORY_FAULT",
            ),
            ("Device::callbackQueue aborting with status: 0x100f", "HSA_STATUS_ERROR_INVALID_ISA"),
            (
                "Callback: Queue [address] aborting with error : HSA_STATUS_ERROR_EXCEPTION: x",
                "HSA_STATUS_ERROR_EXCEPTION",
            ),
        ] {
            let Message::HipAbort { queue: None, status: read, .. } = only(text) else { panic!("{text}") };
            assert_eq!(read, status, "{text}");
        }
        let Message::QueueError { queue: None, status, .. } =
            only("Warning: Queue error - HSA_STATUS_ERROR_MEMORY_FAULT")
        else {
            panic!()
        };
        assert_eq!(status, "HSA_STATUS_ERROR_MEMORY_FAULT");
    }
}
