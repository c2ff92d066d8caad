//! The wave events of a dispatch, kept as a file, so that further predictions need no second run.
//!
//! A file is a compressed sequence of pieces, each preceded by its length: the head of the dispatch, the
//! batches of its workgroups in the order of the grid, and the code that ran. Instructions are not stored:
//! they come from the code object that the recording keeps.

use crate::clocks::{self, Clock, Predicted};
use crate::prediction::Prediction;
use arch::{Model, Resources};
use clock::{Acquire, Detail, Grid, Order};
use mem::{Batch, BatchReader, BatchWriter, SpillStore, Unreadable};
use probe::Table;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// First bytes of the file, inside the compression: the number changes with what follows.
const MAGIC: &[u8; 16] = b"rockhound.ev/7\r\n";
/// Bytes of it before the number.
const NAME: usize = 13;
/// First bytes of what is compressed.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Compression level: the fastest, which still reduces files to a tenth.
const LEVEL: i32 = 1;
/// Most bytes of a piece that are read.
const MOST_PIECE: u32 = 1 << 29;
/// Most bytes of an instruction, including padding before it.
const MOST_INSTRUCTION: u64 = 64;
/// Most compressed bytes that are kept of a dispatch.
const MOST_KEPT: usize = 1 << 30;
/// Largest number of workgroups per compute unit accepted.
const MOST_GROUPS_PER_UNIT: u32 = 64;

/// Why a file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EventsError {
    /// It is cut off or damaged.
    #[error("{0}")]
    Broken(&'static str),
    /// Another version wrote it.
    #[error("it was written by {0}, whose streams this version does not read")]
    Version(String),
    /// Neither memory nor the temporary folder has room for its streams, or spilled data could not be read
    /// back.
    #[error("{0}")]
    Room(&'static str),
    /// Unknown GPU.
    #[error("it is of a GPU `{0}` that nothing is known of")]
    Gpu(String),
}

/// Description of a dispatch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Version that wrote it.
    pub version: String,
    /// GPU, as [`Model::by_name`] knows it.
    pub model: String,
    /// Kernel's linker name.
    pub symbol: String,
    /// Hash of its code object.
    pub code: String,
    /// Two representative XCDs may be simulated for all.
    share: bool,
    groups: u64,
    groups_per_unit: u32,
    scratch: u64,
    arguments: Vec<(u64, u64)>,
    host: Vec<(u64, u64)>,
    small_pages: Vec<(u64, u64)>,
    entry: u64,
    released: bool,
    acquire: Acquire,
    asked: Asked,
}

/// Resources of a workgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Asked {
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    lds_bytes: u32,
    waves_per_workgroup: u32,
}

impl Head {
    fn resources(&self) -> Resources {
        let Asked { vgprs, agprs, sgprs, lds_bytes, waves_per_workgroup } = self.asked;
        Resources { vgprs, agprs, sgprs, lds_bytes, waves_per_workgroup }
    }
}

fn ends(ranges: &[Range<u64>]) -> Vec<(u64, u64)> {
    ranges.iter().map(|it| (it.start, it.end)).collect()
}

fn ranges(ends: &[(u64, u64)]) -> Vec<Range<u64>> {
    ends.iter().map(|&(start, end)| start..end).collect()
}

/// The version of this program: streams refer to its numbering of instructions.
fn version() -> String {
    format!("rockhound {}", env!("CARGO_PKG_VERSION"))
}

/// Writes the file of a dispatch.
pub(crate) struct Writer {
    out: Option<zstd::stream::write::Encoder<'static, Vec<u8>>>,
    batches: BatchWriter,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("kept", &self.out.is_some()).finish_non_exhaustive()
    }
}

impl Writer {
    /// A dispatch begins.
    pub(crate) fn new(
        model: &Model,
        table: &Table,
        symbol: &str,
        (grid, asked): (&Grid, &Resources),
        detail: Detail,
    ) -> Writer {
        let head = Head {
            version: version(),
            model: model.key(),
            symbol: symbol.to_string(),
            code: table.code().map_or_else(String::new, |code| code.hash().to_string()),
            share: detail == Detail::Share,
            groups: grid.groups,
            groups_per_unit: grid.groups_per_unit,
            scratch: grid.scratch,
            arguments: ends(&grid.arguments),
            host: ends(&grid.host),
            small_pages: ends(&grid.small_pages),
            entry: grid.entry,
            released: grid.released,
            acquire: grid.acquire,
            asked: Asked {
                vgprs: asked.vgprs,
                agprs: asked.agprs,
                sgprs: asked.sgprs,
                lds_bytes: asked.lds_bytes,
                waves_per_workgroup: asked.waves_per_workgroup,
            },
        };
        let out = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).ok();
        let mut writer = Writer { out, batches: BatchWriter::default() };
        writer.put(MAGIC);
        writer.piece(&postcard::to_stdvec(&head).unwrap_or_default());
        writer
    }

    /// Appends the events of the next workgroups.
    pub(crate) fn push(&mut self, batch: &Batch) {
        if self.out.is_some() {
            let mut batches = std::mem::take(&mut self.batches);
            batches.write(batch, |bytes| self.piece(bytes));
            self.batches = batches;
        }
    }

    /// Ends the dispatch. Returns the file; `None` if it would be too large.
    pub(crate) fn finish(mut self, code: &[Range<u64>]) -> Option<Vec<u8>> {
        self.piece(&[]);
        let code: Vec<(u64, u64)> = code.iter().map(|it| (it.start, it.end)).collect();
        self.piece(&postcard::to_stdvec(&code).unwrap_or_default());
        self.out.take()?.finish().ok()
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.put(&(bytes.len() as u32).to_le_bytes());
        self.put(bytes);
        if bytes.len() > MOST_PIECE as usize {
            self.out = None;
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        let Some(out) = &mut self.out else { return };
        if out.write_all(bytes).is_err() || out.get_ref().len() > MOST_KEPT {
            self.out = None;
        }
    }
}

/// A kept dispatch of which only the head has been read.
pub struct Events<'b> {
    /// Its description.
    pub head: Head,
    input: zstd::stream::read::Decoder<'static, std::io::BufReader<&'b [u8]>>,
}

impl std::fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("head", &self.head).finish_non_exhaustive()
    }
}

impl<'b> Events<'b> {
    /// Reads the head.
    pub fn read(bytes: &'b [u8]) -> Result<Events<'b>, EventsError> {
        let foreign = EventsError::Broken("it is no file of events");
        if bytes.is_empty() {
            return Err(EventsError::Broken("it is empty"));
        }
        if bytes.iter().zip(FRAME).any(|(found, frame)| *found != frame) {
            return Err(foreign);
        }
        let mut input = zstd::stream::read::Decoder::new(bytes).map_err(|_| foreign.clone())?;
        // A frame of this program needs no more.
        input.window_log_max(27).map_err(|_| foreign.clone())?;
        let mut magic = [0; MAGIC.len()];
        // What is compressed and ends before it says what it is was cut off.
        input.read_exact(&mut magic).map_err(|_| cut())?;
        if magic != *MAGIC {
            let other = magic[..NAME] == MAGIC[..NAME];
            return Err(if other { EventsError::Version("another version".to_string()) } else { foreign });
        }
        let head = piece(&mut input)?;
        let head: Head = postcard::from_bytes(&head).map_err(|_| cut())?;
        if head.version != version() {
            return Err(EventsError::Version(head.version));
        }
        Ok(Events { head, input })
    }
}

/// The file is truncated or damaged.
fn cut() -> EventsError {
    EventsError::Broken("it is cut off or damaged")
}

/// The next piece.
fn piece(input: &mut impl Read) -> Result<Vec<u8>, EventsError> {
    let mut length = [0; 4];
    input.read_exact(&mut length).map_err(|_| cut())?;
    let length = u32::from_le_bytes(length);
    if length > MOST_PIECE {
        return Err(cut());
    }
    // As much memory as there are bytes, whatever the length says.
    let mut bytes = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut bytes).map_err(|_| cut())?;
    if bytes.len() < length as usize { Err(cut()) } else { Ok(bytes) }
}

/// Clocks of predictions on kept dispatches: caches keep their contents from one to the next as when the
/// program runs.
#[derive(Debug)]
pub struct Replay {
    model: &'static Model,
    clocks: Vec<Clock>,
    threads: usize,
    spill_store: Option<Arc<SpillStore>>,
}

impl Replay {
    /// Predictions on a GPU, on the given number of threads; 0 means one per core.
    pub fn new(model: &'static Model, predictions: Vec<Prediction>, threads: usize) -> Replay {
        let clocks = predictions.into_iter().map(|it| Clock::new(it, model)).collect();
        Replay { model, clocks, threads, spill_store: None }
    }

    /// Spills streams that do not fit into memory to this store.
    pub fn spill_to(&mut self, spill_store: Arc<SpillStore>) {
        self.spill_store = Some(spill_store);
    }

    /// The GPU of a kept dispatch.
    pub fn model(head: &Head) -> Result<&'static Model, EventsError> {
        Model::by_name(&head.model).ok_or_else(|| EventsError::Gpu(head.model.clone()))
    }

    /// Predictions that are impossible for a kept dispatch, by name, with the reason.
    pub fn misfits(&self, head: &Head) -> Vec<(&str, String)> {
        let asked = head.resources();
        let of = |it: &Clock| it.prediction.groups_per_unit(self.model, &asked).err();
        self.clocks.iter().filter_map(|it| Some((it.prediction.name.as_str(), of(it)?))).collect()
    }

    /// Predicted times of the next dispatch, without the predictions that are impossible for it; `table`
    /// belongs to its kernel.
    pub fn run(&mut self, events: Events<'_>, table: &Table) -> Result<Vec<Predicted>, EventsError> {
        let Events { head, mut input } = events;
        let asked = head.resources();
        let grid = Grid {
            groups: head.groups,
            groups_per_unit: head.groups_per_unit.clamp(1, MOST_GROUPS_PER_UNIT),
            scratch: head.scratch,
            arguments: ranges(&head.arguments),
            host: ranges(&head.host),
            small_pages: ranges(&head.small_pages),
            entry: head.entry,
            order: Order::default(),
            released: head.released,
            acquire: head.acquire,
        };
        let detail = if head.share { Detail::Share } else { Detail::Full };
        for clock in &mut self.clocks {
            clock.begin(self.model, detail, &grid, &asked, &table.ops());
        }
        let mut batches = BatchReader::new(table.ops().len(), self.spill_store.as_ref());
        let clocks = &mut self.clocks[..];
        let code: Result<Vec<u8>, EventsError> = std::thread::scope(|scope| {
            let ends = clocks::follow(scope, clocks, self.threads);
            let mut groups = 0;
            loop {
                let bytes = piece(&mut input)?;
                if bytes.is_empty() {
                    break piece(&mut input);
                }
                let broken = EventsError::Broken("a stream refers to what is not there");
                let batch = batches.read(&bytes, || piece(&mut input).ok()).map_err(|error| match error {
                    Unreadable::Broken => broken.clone(),
                    Unreadable::NoSpace => {
                        EventsError::Room("neither memory nor the temporary folder has room for its streams")
                    }
                })?;
                groups += batch.groups.len() as u64;
                // A dispatch of which something is dropped is not kept.
                if groups > grid.groups || batch.groups.iter().any(|group| group.dropped > 0) {
                    break Err(broken);
                }
                for end in &ends {
                    // A thread that is gone has panicked, which the scope hands on.
                    let _ = end.send(batch.clone());
                }
            }
        });
        let code: Vec<(u64, u64)> = postcard::from_bytes(&code?).map_err(|_| cut())?;
        let bytes = code.iter().map(|&(start, end)| end.saturating_sub(start));
        if bytes.fold(0, u64::saturating_add) > table.ops().len() as u64 * MOST_INSTRUCTION {
            return Err(cut());
        }
        let code: Vec<Range<u64>> = code.into_iter().map(|(start, end)| start..end).collect();
        let predicted = clocks::finish(&mut self.clocks, self.threads, &code);
        if self.spill_store.as_ref().is_some_and(|spill_store| spill_store.take_unreadable()) {
            return Err(EventsError::Room(
                "what was put away in the temporary folder could not be read again",
            ));
        }
        Ok(predicted)
    }
}
