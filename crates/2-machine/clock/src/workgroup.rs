//! Workgroups of a dispatch, before and after they get a compute unit.

use mem::{AccessPatterns, Group, Sample};
use std::sync::Arc;

/// A workgroup that waits for a compute unit.
#[derive(Debug)]
pub(crate) struct PendingWorkgroup {
    pub(crate) group: Arc<Group>,
    pub(crate) patterns: Arc<AccessPatterns>,
    /// Memory of its streams, bytes.
    pub(crate) bytes: usize,
    /// By XCD: lines read by the workgroups of other XCDs since the one before, when one XCD represents
    /// several.
    pub(crate) read: Vec<(usize, Sample)>,
}

/// A workgroup on a compute unit.
#[derive(Debug)]
pub(crate) struct ResidentWorkgroup {
    pub(crate) group: Arc<Group>,
    pub(crate) patterns: Arc<AccessPatterns>,
    /// Memory of its streams, bytes.
    pub(crate) bytes: usize,
    /// Index of its compute unit.
    pub(crate) unit: u32,
    /// Index of its shader engine.
    pub(crate) engine: usize,
    /// Its slot on the compute unit.
    pub(crate) slot: u32,
    /// Names of its waves.
    pub(crate) waves: Vec<u32>,
    /// Waves that have not ended.
    pub(crate) running: u32,
    /// Waves that wait at the barrier.
    pub(crate) waiting: u32,
}
