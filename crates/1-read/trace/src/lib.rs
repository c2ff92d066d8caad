#![doc = include_str!("../README.md")]

mod chrome;
mod column;
pub mod comm;
mod error;
mod foreign;
mod format;
mod index;
mod names;
mod perfetto;
mod proton;
mod rocprofv1;
mod rocprofv3;
mod row_text;
mod scopes;
mod sqlite;
mod table;
mod timeline;
mod torch_table;
mod wallclock;
pub mod write;

pub use error::Error;
pub use foreign::{Foreign, foreign};
pub use names::{Name, Names};
pub use scopes::WIDTHS;
pub use timeline::{
    Allocation, CallSum, Collective, CounterSum, Detail, Device, Format, GpuKind, GpuSpan, GpuSpans,
    HostKind, HostSpan, HostSpans, Queue, ScopeSum, Shapes, Thread, Timeline,
};
pub use view::{Note, NoteKind};

use std::io::{Chain, Cursor, Read};

/// Number of bytes examined to detect the file type.
const HEAD: usize = 4096;
/// Number of bytes of a text among which a table's header may be.
const TEXT_HEAD: usize = 1 << 16;
/// Bytes of a log in which a table is looked for.
const SEARCHED: u64 = 256 << 20;
/// Bytes a database or protobuf may unpack to.
const LARGEST: u64 = 8 << 30;

/// Reads a trace of any kind, plain or gzip-compressed. `name` is the file's: it selects the kind of a
/// statistics table.
pub fn read(name: &str, input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut timeline = unpacked(name, input)?;
    timeline.note_backwards();
    Ok(timeline)
}

fn unpacked(name: &str, input: &mut dyn Read) -> Result<Timeline, Error> {
    let (head, mut input) = peek(input, HEAD)?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = flate2::read::MultiGzDecoder::new(input);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let (head, mut input) = peek(&mut unpacked, HEAD)?;
        return by_content(name, &head, &mut input);
    }
    by_content(name, &head, &mut input)
}

/// GPUs that rocprofv3's table of agents lists, `*_agent_info.csv`; none if it is damaged.
pub fn gpus(table: &[u8]) -> Vec<Device> {
    let agents = rocprof::agents::table(table).unwrap_or_default();
    agents.iter().filter(|it| it.is_gpu).map(rocprofv3::json::device).collect()
}

/// True if an input begins like a timeline with events: JSON, a database, Perfetto. Does not classify tables.
pub fn may_be_trace(input: &mut dyn Read) -> bool {
    let Ok((mut head, mut input)) = peek(input, HEAD) else { return false };
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = flate2::read::MultiGzDecoder::new(&mut input);
        let Ok((inner, _)) = peek(&mut unpacked, HEAD) else { return false };
        head = inner;
    }
    let mut text = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    let json = match text.next() {
        Some(b'{') => true,
        Some(b'[') => matches!(text.next(), None | Some(b'{')),
        _ => false,
    };
    json || rocprof::database::is_database(&head) || perfetto::is_trace(&head)
}

type Peeked<'r> = Chain<Cursor<Vec<u8>>, &'r mut dyn Read>;

/// The first bytes, and the input with them.
fn peek(input: &mut dyn Read, bytes: usize) -> Result<(Vec<u8>, Peeked<'_>), Error> {
    let mut head = Vec::new();
    // A truncated input is read as far as it goes.
    let _ = input.take(bytes as u64).read_to_end(&mut head);
    if head.is_empty() {
        return Err(Error::Empty);
    }
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

fn by_content(name: &str, head: &[u8], input: &mut dyn Read) -> Result<Timeline, Error> {
    if rocprof::database::is_database(head) {
        return sqlite::read(&all(input));
    }
    if let Some(what) = foreign(name, head) {
        return Err(Error::Foreign(what));
    }
    // The key of a packet is also a line end, but no text has a packet's fields behind it.
    if perfetto::is_trace(head) {
        return perfetto::read(&all(input));
    }
    let first = head.iter().copied().find(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    match first {
        b'{' if has("\"rocprofiler-sdk-tool\"") => rocprofv3::json::read(input),
        b'{' if has("\"timemory\"") || has("\"rocprofiler-systems\"") => wallclock::json(input),
        b'[' if proton::is(head) => proton::read(input),
        b'{' | b'[' => chrome::read(input),
        _ if proton::is_packed(head) => Err(Error::Foreign(PACKED)),
        _ => {
            let (begin, mut input) = peek(input, TEXT_HEAD)?;
            text(name, &begin, &mut input)
        }
    }
}

/// Tables in text, also behind other lines of a log.
fn text(name: &str, begin: &[u8], input: &mut dyn Read) -> Result<Timeline, Error> {
    if rocprofv3::summary::is(begin) {
        return rocprofv3::summary::read(&String::from_utf8_lossy(&all(input)));
    }
    if wallclock::is_table(begin) {
        return wallclock::text(name, &String::from_utf8_lossy(&all(input)));
    }
    if torch_table::is(begin) {
        return torch_table::read(input);
    }
    if !table::begins(begin) {
        return torch_table::read(&mut input.take(SEARCHED));
    }
    rocprofv3::csv::read(name, input)
}

/// Proton's MessagePack.
const PACKED: Foreign = Foreign {
    what: "a Proton profile in MessagePack",
    instead: "write it as JSON: `proton.finalize()` or `output_format=\"hatchet\"`",
};

fn all(input: &mut dyn Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The parser of the bytes reports truncation.
    let _ = input.take(LARGEST).read_to_end(&mut bytes);
    bytes
}

/// Whether an environment variable steers a GPU's runtime or libraries; others may hold secrets and are not
/// kept.
pub(crate) fn steers(name: &str) -> bool {
    const PREFIXES: [&str; 14] = [
        "HIP_",
        "HSA_",
        "ROCR_",
        "GPU_MAX_HW_QUEUES",
        "NCCL_",
        "RCCL_",
        "TORCH_NCCL_",
        "PYTORCH_TUNABLEOP_",
        "PYTORCH_MIOPEN_",
        "MIOPEN_",
        "HIPBLASLT_",
        "TRITON_",
        "AMD_LOG",
        "TORCHINDUCTOR_",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
