//! A dispatch as its launch describes it.

use mem::Acquire;
use std::ops::Range;

/// Launch parameters of a dispatch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Grid {
    /// Workgroups.
    pub groups: u64,
    /// Workgroups that fit on a compute unit at a time.
    pub groups_per_unit: u32,
    /// Scratch of a wave, bytes.
    pub scratch: u64,
    /// Host memory of the runtime: kernel arguments and packets.
    pub arguments: Vec<Range<u64>>,
    /// Host memory of the program.
    pub host: Vec<Range<u64>>,
    /// Memory in pages of the host's kernel.
    pub small_pages: Vec<Range<u64>>,
    /// Address of the first instruction.
    pub entry: u64,
    /// Assignment of workgroups to XCDs.
    pub order: Order,
    /// Lines of the L2 that the dispatch finds.
    pub acquire: Acquire,
    /// The dispatch ends with a release to the host: the L2 writes back its dirty lines.
    pub released: bool,
}

/// Assignment of a grid's workgroups to XCDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Round robin over the XCDs, as the hardware does.
    #[default]
    Round,
    /// Consecutive workgroups to each XCD, as a kernel does that swizzles its workgroup numbers.
    Blocks,
}

impl Order {
    /// XCD of a workgroup of the grid.
    pub(crate) fn xcd(self, group: u64, groups: u64, xcds: u64) -> u64 {
        match self {
            Order::Round => group % xcds,
            // The first XCDs get one more workgroup if the grid does not divide.
            Order::Blocks => {
                let (each, more) = (groups / xcds, groups % xcds);
                let large = more * (each + 1);
                match group < large {
                    true => group / (each + 1),
                    false => more + (group - large) / each.max(1),
                }
            }
        }
    }
}
