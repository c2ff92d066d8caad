//! Who runs the kernels: an emulated GPU, or one of this machine.

use crate::error::Error;

/// Runs kernels of the code object for a GPU.
pub trait Device {
    /// Runs one to completion and returns its time in nanoseconds.
    ///
    /// # Errors
    /// Fails if the device cannot run it.
    fn run(&mut self, launch: &Launch<'_>) -> Result<f64, Error>;

    /// Smallest difference in time of two launches that the device resolves, in nanoseconds.
    fn least_nanoseconds(&self) -> f64;

    /// Number of measurements of a rate.
    fn repeats(&self) -> usize;

    /// Whether caches keep their contents between launches.
    fn keeps_caches(&self) -> bool;
}

/// One launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch<'a> {
    /// Kernel.
    pub kernel: &'a str,
    /// Bytes of each buffer.
    pub sizes: Vec<u64>,
    /// Workgroups.
    pub groups: u64,
    /// Work-items of a workgroup.
    pub threads: u64,
    /// Arguments.
    pub given: Vec<Given>,
}

/// A value for an argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Where a buffer of the launch begins.
    Buffer(usize),
    /// An address.
    Address(u64),
    /// A number.
    Integer(u32),
    /// A factor in the kernel's element type: near 1, or small.
    Factor,
}

impl Given {
    /// Its bytes, with the addresses of buffers; a kernel takes as many as its argument has.
    pub fn bytes(self, buffers: &[u64]) -> Vec<u8> {
        match self {
            Given::Buffer(at) => buffers.get(at).copied().unwrap_or(0).to_le_bytes().to_vec(),
            Given::Address(address) => address.to_le_bytes().to_vec(),
            Given::Integer(value) => value.to_le_bytes().to_vec(),
            Given::Factor => vec![0x3c; 8],
        }
    }
}
