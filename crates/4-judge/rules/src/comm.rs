//! Evidence of rules on communication: outputs of tests, debug logs, topologies, copies between GPUs.
//!
//! Bandwidth is judged at large sizes and latency at small ones, never by an average over both.

use arch::fabric::Board;
use trace::comm::{Bandwidths, CommFile, CommLog, RcclTest};
use view::{Place, SourceLine};

/// Files on one machine's communication.
pub struct CommEvidence<'a> {
    /// Files with what they are called.
    pub files: &'a [(String, CommFile)],
}

/// Bytes from which bandwidth counts.
pub(crate) const LARGE: u64 = 64 << 20;
/// Bytes up to which only latency counts.
pub(crate) const SMALL: u64 = 4096;

impl<'a> CommEvidence<'a> {
    /// Outputs of rccl-tests.
    pub fn tests(&self) -> impl Iterator<Item = (&'a str, &'a RcclTest)> + '_ {
        self.files.iter().filter_map(|(name, file)| match file {
            CommFile::Test(test, _) => Some((name.as_str(), &**test)),
            _ => None,
        })
    }

    /// Debug logs, those between the lines of tests too.
    pub fn logs(&self) -> impl Iterator<Item = (&'a str, &'a CommLog)> + '_ {
        self.files.iter().filter_map(|(name, file)| match file {
            CommFile::Test(_, log) | CommFile::Log(log) if log.lines > 0 => Some((name.as_str(), &**log)),
            _ => None,
        })
    }

    /// Copies between devices.
    pub fn bandwidths(&self) -> impl Iterator<Item = (&'a str, &'a Bandwidths)> + '_ {
        self.files.iter().filter_map(|(name, file)| match file {
            CommFile::Bandwidths(it) => Some((name.as_str(), it)),
            _ => None,
        })
    }
}

/// The board that a test ran on, by the name of its GPUs.
pub fn board(test: &RcclTest) -> Option<&'static Board> {
    test.ranks.iter().find_map(|(_, _, gpu)| Board::of(gpu))
}

/// The bus bandwidth that large sizes of a test reach on a good machine, GB/s, and what it is.
pub fn expected_bus(test: &RcclTest) -> Option<(f64, f64, &'static str)> {
    let board = board(test)?;
    let ranks = test.rank_count();
    if test.hosts().len() > 1 {
        return None;
    }
    match test.collective.as_deref()? {
        "sendrecv" => board.link.map(|(low, high)| (low, high, "one link")),
        "all_reduce" if ranks == board.gpus => {
            board.bus.map(|(low, high)| (low, high, "all links of the board"))
        }
        _ if ranks == board.gpus => {
            board.to_peers(ranks - 1).map(|(low, high)| (low, high, "all links of a GPU"))
        }
        _ => None,
    }
}

/// A line of a file.
pub(crate) fn place(file: &str, line: u32) -> Place {
    let source = SourceLine { file: file.to_owned(), line, function: None };
    Place { source: Some(source), ..Place::default() }
}

/// `64 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 && b % (1 << 30) == 0 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}
