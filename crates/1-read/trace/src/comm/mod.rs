//! Output of communication tools: rccl-tests, debug logs of RCCL and NCCL, topologies, TransferBench, NPKit.
//!
//! Output of several programs is interleaved in one file, so each reader picks the lines it knows, anywhere
//! in the text.

mod bandwidth;
mod log;
mod npkit;
mod tests;
mod topology;

pub use bandwidth::{BandwidthMatrix, Bandwidths, SizeBandwidth, Transfer};
pub use log::{Channels, CommLog, Warning};
pub use npkit::{NpkitDump, NpkitEvent, NpkitSpan};
pub use tests::{Measured, RcclTest, TestRow};
pub use topology::{Net, Topology, TopologyGpu, Xgmi};

use crate::error::Error;
use std::borrow::Cow;

/// A file on communication.
#[derive(Clone, Debug)]
pub enum CommFile {
    /// Output of rccl-tests, with the debug lines between.
    Test(Box<RcclTest>, Box<CommLog>),
    /// A debug log.
    Log(Box<CommLog>),
    /// A topology.
    Topology(Topology),
    /// TransferBench or rocm_bandwidth_test.
    Bandwidths(Bandwidths),
    /// A folder that NPKit dumped.
    Npkit(NpkitDump),
}

/// Reads a file of any of these kinds; of several runs of rccl-tests in one file each is one.
pub fn read(bytes: &[u8]) -> Result<Vec<CommFile>, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('<') {
        return Topology::read(&text).map(|it| vec![CommFile::Topology(it)]);
    }
    let text = without_prefixes(&text);
    if let Some(found) = Bandwidths::read(&text) {
        return Ok(vec![CommFile::Bandwidths(found)]);
    }
    let mut log = Some(CommLog::read(&text));
    let tests = RcclTest::read_all(&text);
    if !tests.is_empty() {
        // Debug lines are told with the first run.
        let with_log = |test| CommFile::Test(Box::new(test), Box::new(log.take().unwrap_or_default()));
        return Ok(tests.into_iter().map(with_log).collect());
    }
    match log.take().filter(|log| log.lines > 0) {
        Some(log) => Ok(vec![CommFile::Log(Box::new(log))]),
        None => Err(Error::Unknown(
            "neither rccl-tests, an NCCL_DEBUG log, a topology, TransferBench nor rocm_bandwidth_test"
                .to_owned(),
        )),
    }
}

/// Text without the tags `[3]` that Intel's launcher puts before each piece that a rank writes, also within a
/// line; `None` if not all lines begin with one.
fn without_tags(text: &str) -> Option<String> {
    let tag = |line: &str| {
        let (rank, _) = line.strip_prefix('[')?.split_once(']')?;
        (!rank.is_empty() && rank.bytes().all(|it| it.is_ascii_digit())).then(|| format!("[{rank}]"))
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek()?;
    if !lines.take(200).all(|line| tag(line).is_some()) {
        return None;
    }
    let plain = |line: &str| tag(line).map_or_else(|| line.to_owned(), |tag| line.replace(&tag, ""));
    Some(text.lines().map(plain).collect::<Vec<_>>().join("\n"))
}

/// Lines without the prefixes of launchers and containers; other lines stay as they are, since tables have
/// columns.
fn without_prefixes(text: &str) -> Cow<'_, str> {
    if let Some(plain) = without_tags(text) {
        return plain.into();
    }
    let is_prefixed = |line: &str| {
        line.trim_start().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '[' | '(' | '{'))
            || line.contains(" | ")
    };
    if !text.lines().take(200).any(|line| is_prefixed(line) && !logs::entry(line).who.is_unknown()) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let entry = logs::entry(line);
        let has = entry.who.rank.is_some() || entry.who.worker.is_some() || entry.who.unit.is_some();
        out.push_str(if has { &entry.text } else { line });
        out.push('\n');
    }
    out.into()
}
