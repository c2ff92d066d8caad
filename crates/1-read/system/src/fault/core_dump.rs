//! Notes of core dumps: of the kernel and gdb (the host's threads), and of ROCr and rocgdb (GPUs and queues).
//!
//! Wave state is in the save areas of queues, which only a debugger decodes; the notes tell which GPU and
//! queue raised which exception, which thread got the signal, and which files were mapped. Sources: ELF
//! specification; Linux `include/uapi/linux/elf.h` and `kfd_ioctl.h`; ROCr `amd_core_dump`, note
//! `NT_AMDGPU_CORE_STATE`.

use crate::Error;

const TABLE: &str = include_str!("../../data/gpu-exceptions.tsv");
const PT_NOTE: u32 = 4;
const PT_LOAD: u32 = 1;
/// Segments, notes and files that are looked at.
const MOST: usize = 65_536;
/// State of GPUs, by the owner `AMDGPU`.
const CORE_STATE: u32 = 33;
/// State of a thread, of the process, the signal's details, and the mapped files, by the owner `CORE`.
const PRSTATUS: u32 = 1;
const PRPSINFO: u32 = 3;
const SIGINFO: u32 = 0x5349_4749;
const FILES: u32 = 0x4649_4c45;

/// An exception of the compute driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exception {
    /// Name without its prefix: `QUEUE_WAVE_MEMORY_VIOLATION`.
    pub name: &'static str,
    /// Meaning.
    pub meaning: &'static str,
    /// Next step.
    pub next: &'static str,
}

/// A GPU of the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreGpu {
    /// Number that the compute driver gave it.
    pub id: u32,
    /// PCI address: `0000:05:00.0`; `None` if the dump has none.
    pub bdf: Option<String>,
    /// Target: `gfx942`; `None` if the dump has none.
    pub target: Option<String>,
    /// Exceptions it raised.
    pub exceptions: Vec<Exception>,
}

/// A queue of the process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreQueue {
    /// Number.
    pub id: u32,
    /// Number of its GPU.
    pub gpu: u32,
    /// Exceptions it raised.
    pub exceptions: Vec<Exception>,
}

/// The signal that ended the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreSignal {
    /// Signal.
    pub number: i32,
    /// Address of an access, where the signal has one.
    pub address: Option<u64>,
}

/// Facts of the notes of a core dump.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CoreDump {
    /// Program, as the kernel shortens it, and its arguments.
    pub program: Option<String>,
    /// Process; 0 where the dump has none.
    pub process: u32,
    /// Threads of the host.
    pub threads: usize,
    /// Signal.
    pub signal: Option<CoreSignal>,
    /// Mapped files that hold code of GPUs as a rule: programs and libraries, each once.
    pub files: Vec<String>,
    /// True if the dump has a note on GPUs.
    pub has_gpus: bool,
    /// GPUs.
    pub gpus: Vec<CoreGpu>,
    /// Queues.
    pub queues: Vec<CoreQueue>,
    /// Bytes of memory in the dump.
    pub memory: u64,
    /// Unreadable parts, with reasons.
    pub problems: Vec<String>,
}

/// Whether bytes are a core dump: an ELF file of type 4.
pub fn is_core(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") && bytes.get(16..18) == Some(&[4, 0])
}

impl CoreDump {
    /// Reads the notes of a core dump. Truncation is a problem beside the remaining facts.
    ///
    /// # Errors
    /// Fails if a file is not a 64-bit little-endian core dump, or ends within its header.
    pub fn read(bytes: &[u8]) -> Result<CoreDump, Error> {
        if !is_core(bytes) || bytes.get(4..6) != Some(&[2, 1]) {
            return Err(Error::whole("no 64-bit core dump"));
        }
        let at = |offset: usize| number(bytes, offset, 8).and_then(|it| usize::try_from(it).ok());
        let (Some(table), Some(size), Some(count)) = (at(32), number(bytes, 54, 2), number(bytes, 56, 2))
        else {
            return Err(Error::at(bytes.len() as u64, "the dump ends within its head"));
        };
        let mut core = CoreDump::default();
        let (size, count) = (size as usize, (count as usize).min(MOST));
        for segment in 0..count {
            let head = segment.checked_mul(size).and_then(|it| it.checked_add(table));
            let Some(head) = head.and_then(|from| bytes.get(from..)?.get(..56)) else {
                core.problems
                    .push(format!("the dump ends within its segments: {segment} of {count} are there"));
                break;
            };
            let field = |offset| number(head, offset, 8).unwrap_or(0);
            let (offset, length) = (field(8), field(32));
            match number(head, 0, 4).map(|it| it as u32) {
                Some(PT_LOAD) => core.memory = core.memory.saturating_add(length),
                Some(PT_NOTE) => core.notes(bytes, offset, length),
                _ => {}
            }
        }
        Ok(core)
    }

    /// The notes of one segment.
    fn notes(&mut self, bytes: &[u8], offset: u64, length: u64) {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let Some(rest) = bytes.get(from..) else {
            return self.problems.push("the dump ends before its notes".to_owned());
        };
        let whole = usize::try_from(length).unwrap_or(usize::MAX);
        let mut rest = &rest[..rest.len().min(whole)];
        if rest.len() < whole {
            self.problems
                .push(format!("the dump ends within its notes: {} of {whole} bytes are there", rest.len()));
        }
        for _ in 0..MOST {
            let Some((owner, kind, body, after)) = note(rest) else { break };
            match (owner, kind) {
                (b"AMDGPU", CORE_STATE) => self.gpu_state(body),
                (b"CORE", PRSTATUS) => {
                    self.threads += 1;
                    // The first thread is the one that got the signal.
                    let signal = number(body, 12, 2).filter(|it| *it > 0);
                    if let (Some(signal), None) = (signal, self.signal) {
                        self.signal = Some(CoreSignal { number: signal as i32, address: None });
                    }
                }
                (b"CORE", PRPSINFO) => {
                    self.process = number(body, 24, 4).unwrap_or(0) as u32;
                    let field = |range| body.get(range).map(text).filter(|it| !it.is_empty());
                    self.program = field(56..136).or_else(|| field(40..56));
                }
                (b"CORE", SIGINFO) => {
                    let signal = number(body, 0, 4).unwrap_or(0) as u32 as i32;
                    // Bus errors and segmentation faults have an address.
                    let address = matches!(signal, 7 | 11).then(|| number(body, 16, 8)).flatten();
                    self.signal = Some(CoreSignal { number: signal, address });
                }
                (b"CORE", FILES) => self.mapped(body),
                _ => {}
            }
            rest = after;
        }
    }

    /// Names of mapped files, behind three numbers for each.
    fn mapped(&mut self, body: &[u8]) {
        let count = number(body, 0, 8).and_then(|it| usize::try_from(it).ok()).unwrap_or(0).min(MOST);
        let Some(names) = count.checked_mul(24).and_then(|it| body.get(16 + it..)) else {
            return self.problems.push("the list of mapped files breaks off".to_owned());
        };
        for name in names.split(|byte| *byte == 0).take(count).filter(|it| !it.is_empty()) {
            let name = String::from_utf8_lossy(name).into_owned();
            if !name.starts_with("/dev/") && !self.files.contains(&name) && self.files.len() < 4096 {
                self.files.push(name);
            }
        }
    }

    /// GPUs and queues, whose entries have the sizes that the note says.
    fn gpu_state(&mut self, body: &[u8]) {
        self.has_gpus = true;
        let version = number(body, 0, 8).unwrap_or(0);
        if version != 1 {
            return self.problems.push(format!("the note on GPUs is of version {version}, 1 is known"));
        }
        let size = |at: usize| number(body, at, 4).map_or(0, |it| it as usize);
        let runtime = number(body, 16, 8).map_or(0, |it| usize::try_from(it).unwrap_or(usize::MAX));
        let (gpus, gpu_size, queues, queue_size) = (size(24), size(28), size(32), size(36));
        let aligned = |length: usize| length.checked_next_multiple_of(8);
        let begin = aligned(runtime).and_then(|it| it.checked_add(40));
        let middle = gpus.checked_mul(gpu_size).and_then(aligned).and_then(|it| it.checked_add(begin?));
        let (Some(begin), Some(middle)) = (begin, middle) else {
            return self.problems.push("the note on GPUs names sizes that it cannot have".to_owned());
        };
        for at in 0..gpus.min(1024) {
            let Some(entry) = body.get(begin + at * gpu_size..).and_then(|it| it.get(..gpu_size)) else {
                return self
                    .problems
                    .push(format!("the note on GPUs breaks off: {at} of {gpus} GPUs are there"));
            };
            let word = |at: usize| number(entry, at, 4).map_or(0, |it| it as u32);
            let location = Some(word(60)).filter(|it| *it > 0);
            self.gpus.push(CoreGpu {
                id: word(56),
                bdf: location.map(|it| {
                    format!("{:04x}:{:02x}:{:02x}.{}", it >> 16, it >> 8 & 0xff, it >> 3 & 31, it & 7)
                }),
                target: Some(word(84)).filter(|it| *it > 0).map(target),
                exceptions: exceptions(number(entry, 0, 8).unwrap_or(0)),
            });
        }
        for at in 0..queues.min(MOST) {
            let Some(entry) = body.get(middle + at * queue_size..).and_then(|it| it.get(..queue_size)) else {
                return self
                    .problems
                    .push(format!("the note on GPUs breaks off: {at} of {queues} queues are there"));
            };
            let word = |at: usize| number(entry, at, 4).map_or(0, |it| it as u32);
            let exceptions = exceptions(number(entry, 0, 8).unwrap_or(0));
            self.queues.push(CoreQueue { id: word(40), gpu: word(44), exceptions });
        }
    }
}

/// A little-endian number of up to 8 bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.get(..length)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// The text up to the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// Owner, kind and body of a note, and the remaining bytes.
type Note<'a> = (&'a [u8], u32, &'a [u8], &'a [u8]);

/// The first note.
fn note(bytes: &[u8]) -> Option<Note<'_>> {
    let [name, body, kind] = [0, 4, 8].map(|at| number(bytes, at, 4));
    let (name, body, kind) = (name? as usize, body? as usize, kind? as u32);
    let rest = &bytes[12..];
    let owner = rest.get(..name)?;
    let owner = owner.strip_suffix(b"\0").unwrap_or(owner);
    let rest = rest.get(name.checked_next_multiple_of(4)?..)?;
    // The last body may be cut; what is there of it is read.
    let whole = rest.get(..body).unwrap_or(rest);
    let after = rest.get(body.checked_next_multiple_of(4)?..).unwrap_or_default();
    Some((owner, kind, whole, after))
}

/// `gfx942` of the driver's number 90402; the step is a hexadecimal digit.
fn target(version: u32) -> String {
    format!("gfx{}{}{:x}", version / 10_000, version / 100 % 100, version % 100)
}

/// The exceptions of a mask that report a fault.
fn exceptions(mask: u64) -> Vec<Exception> {
    let rows = TABLE.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let known = rows.filter_map(|line| {
        let mut fields = line.split('\t');
        let number: u32 = fields.next()?.parse().ok()?;
        let (name, meaning, next) = (fields.next()?, fields.next()?, fields.next()?);
        Some((number, Exception { name, meaning, next }))
    });
    known.filter(|(number, _)| mask >> (number - 1) & 1 == 1).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn a_note(owner: &str, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend((owner.len() as u32 + 1).to_le_bytes());
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(padded([owner.as_bytes(), b"\0"].concat()));
        out.extend(padded(body.to_vec()));
        out
    }

    fn put(body: &mut [u8], at: usize, bytes: &[u8]) {
        body[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn gpu_note() -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(1u64.to_le_bytes());
        body.extend([1u32, 14].map(u32::to_le_bytes).concat());
        body.extend(20u64.to_le_bytes());
        body.extend([1u32, 120, 2, 64].map(u32::to_le_bytes).concat());
        body.resize(body.len() + 24, 0);
        let mut gpu = vec![0; 120];
        put(&mut gpu, 0, &(1u64 << 32).to_le_bytes());
        put(&mut gpu, 56, &[51u32, 0x0500].map(u32::to_le_bytes).concat());
        put(&mut gpu, 84, &90402u32.to_le_bytes());
        body.extend(gpu);
        for (id, mask) in [(3u32, 0u64), (4, 1 << 4 | 1 << 30)] {
            let mut queue = vec![0; 64];
            put(&mut queue, 0, &mask.to_le_bytes());
            put(&mut queue, 40, &[id, 51].map(u32::to_le_bytes).concat());
            body.extend(queue);
        }
        body
    }

    /// A dump with one segment of notes and one of memory.
    fn made() -> Vec<u8> {
        let mut thread = vec![0; 336];
        put(&mut thread, 12, &6u16.to_le_bytes());
        let mut process = vec![0; 136];
        put(&mut process, 24, &4242u32.to_le_bytes());
        put(&mut process, 40, b"python3");
        put(&mut process, 56, b"python3 train.py --fast");
        let mut signal = vec![0; 128];
        put(&mut signal, 0, &11u32.to_le_bytes());
        put(&mut signal, 16, &0x7f00_1000u64.to_le_bytes());
        let mut files = [2u64, 4096, 1, 2, 0, 2, 3, 0].map(u64::to_le_bytes).concat();
        files.extend(b"/opt/app/libkernels.so\0/opt/app/libkernels.so\0");
        let notes = [
            a_note("CORE", PRSTATUS, &thread),
            a_note("CORE", PRPSINFO, &process),
            a_note("CORE", SIGINFO, &signal),
            a_note("CORE", FILES, &files),
            a_note("CORE", PRSTATUS, &thread),
            a_note("AMDGPU", CORE_STATE, &gpu_note()),
        ]
        .concat();
        let mut out = b"\x7fELF\x02\x01\x01".to_vec();
        out.resize(64, 0);
        put(&mut out, 16, &[4, 0]);
        put(&mut out, 32, &64u64.to_le_bytes());
        put(&mut out, 54, &56u16.to_le_bytes());
        put(&mut out, 56, &2u16.to_le_bytes());
        for (kind, length) in [(PT_NOTE, notes.len() as u64), (PT_LOAD, 8192)] {
            let mut head = vec![0; 56];
            put(&mut head, 0, &kind.to_le_bytes());
            put(&mut head, 8, &176u64.to_le_bytes());
            put(&mut head, 32, &length.to_le_bytes());
            out.extend(head);
        }
        out.extend(notes);
        out
    }

    #[test]
    fn notes_of_host_and_gpus() {
        let core = CoreDump::read(&made()).unwrap();
        assert_eq!(core.program.as_deref(), Some("python3 train.py --fast"));
        assert_eq!((core.process, core.threads, core.memory), (4242, 2, 8192));
        assert_eq!(core.signal, Some(CoreSignal { number: 11, address: Some(0x7f00_1000) }));
        assert_eq!(core.files, ["/opt/app/libkernels.so"]);
        let gpu = &core.gpus[0];
        assert_eq!(
            (gpu.id, gpu.bdf.as_deref(), gpu.target.as_deref()),
            (51, Some("0000:05:00.0"), Some("gfx942"))
        );
        assert_eq!(gpu.exceptions[0].name, "DEVICE_MEMORY_VIOLATION");
        let raised: Vec<(u32, usize)> = core.queues.iter().map(|it| (it.id, it.exceptions.len())).collect();
        assert_eq!(raised, [(3, 0), (4, 1)], "a new queue is no fault");
        assert_eq!(core.queues[1].exceptions[0].name, "QUEUE_WAVE_MEMORY_VIOLATION");
        assert_eq!(core.problems, [""; 0]);
    }

    #[test]
    fn targets_by_the_drivers_number() {
        for (version, name) in [(90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110001, "gfx1101")]
        {
            assert_eq!(target(version), name);
        }
    }

    #[test]
    fn cut_and_changed_dumps() {
        let whole = made();
        for end in 0..whole.len() {
            match CoreDump::read(&whole[..end]) {
                Ok(core) => assert!(!core.problems.is_empty(), "{end}"),
                Err(error) => assert!(end < 64 && !error.what.is_empty(), "{end}"),
            }
        }
        let mut seed = 28u64;
        for _ in 0..4000 {
            let mut bytes = whole.clone();
            for _ in 0..4 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = (seed >> 33) as usize % bytes.len();
                bytes[at] = (seed >> 20) as u8;
            }
            let _ = CoreDump::read(&bytes);
        }
    }
}
