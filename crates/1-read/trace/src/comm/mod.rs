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

/// Reads a file of any of these kinds.
pub fn read(bytes: &[u8]) -> Result<CommFile, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('<') {
        return Topology::read(&text).map(CommFile::Topology);
    }
    if let Some(found) = Bandwidths::read(&text) {
        return Ok(CommFile::Bandwidths(found));
    }
    let log = CommLog::read(&text);
    match RcclTest::read(&text) {
        Some(test) => Ok(CommFile::Test(Box::new(test), Box::new(log))),
        None if log.lines > 0 => Ok(CommFile::Log(Box::new(log))),
        None => Err(Error::Unknown(
            "neither rccl-tests, an NCCL_DEBUG log, a topology, TransferBench nor rocm_bandwidth_test"
                .to_owned(),
        )),
    }
}
