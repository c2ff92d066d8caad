//! Scopes with the work done in them, where a profile counts operations and bytes.

use crate::names::Name;
use serde::{Deserialize, Serialize};

/// Bits of the element types whose operations are counted apart; 0 is for operations of an unnamed type.
pub const WIDTHS: [u32; 5] = [8, 16, 32, 64, 0];

/// A scope, a function or a kernel of a profile with sums; numbers are its own, without the scopes within it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScopeSum {
    /// Name.
    pub name: Name,
    /// Row of the scope around it.
    pub parent: Option<u32>,
    /// True for a kernel.
    pub kernel: bool,
    /// GPU as the profile numbers it.
    pub device: Option<u64>,
    /// Executions, of kernels.
    pub calls: u64,
    /// Time on the GPU, ns.
    pub time_ns: Option<f64>,
    /// GPU clock cycles.
    pub cycles: Option<f64>,
    /// Floating-point operations by the bits of their type, in the order of [`WIDTHS`].
    pub operations: [f64; 5],
    /// Bytes moved.
    pub bytes: Option<f64>,
}

impl ScopeSum {
    /// One without numbers.
    pub fn new(name: Name, parent: Option<u32>) -> ScopeSum {
        ScopeSum {
            name,
            parent,
            kernel: false,
            device: None,
            calls: 0,
            time_ns: None,
            cycles: None,
            operations: [0.0; 5],
            bytes: None,
        }
    }
}
