//! Launches that no GPU would take.

use arch::Target;
use emu::Program;
use std::fmt;

/// Most work-items of a workgroup, whatever it was compiled for.
const MOST_ITEMS: u32 = 1024;

/// Sizes of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchSize {
    /// Work-items in each dimension.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension.
    pub workgroup: [u32; 3],
    /// LDS of a workgroup beyond the kernel's own, bytes.
    pub dynamic_lds: u32,
}

/// Why no GPU would take a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oversize {
    /// Grid or workgroup have no work-item.
    Empty,
    /// The grid has more work-items than can be counted.
    Grid,
    /// The workgroup has too many work-items.
    Workgroup {
        /// Work-items.
        items: u64,
        /// Most that are possible.
        most: u32,
    },
    /// The workgroup takes too much LDS, bytes.
    Lds {
        /// The kernel's own.
        fixed: u32,
        /// Asked for by the launch.
        dynamic: u32,
        /// Most that are possible.
        most: u32,
        /// Target of the GPU.
        target: &'static str,
    },
}

impl fmt::Display for Oversize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Oversize::Empty => write!(out, "is launched without work-items"),
            Oversize::Grid => write!(out, "is launched with too large a grid"),
            Oversize::Workgroup { items, most } => {
                let why = if *most < MOST_ITEMS {
                    "it was compiled for at most"
                } else {
                    "a workgroup has at most"
                };
                write!(out, "is launched with workgroups of {items} work-items, but {why} {most}")
            }
            Oversize::Lds { fixed, dynamic, most, target } => write!(
                out,
                "is launched with {} bytes of LDS ({fixed} of its own and {dynamic} dynamic), but a workgroup has at most {most} on {target}",
                u64::from(*fixed) + u64::from(*dynamic)
            ),
        }
    }
}

impl std::error::Error for Oversize {}

impl LaunchSize {
    /// Refuses sizes that no GPU of the target would take.
    pub fn check(&self, program: &Program, target: &Target) -> Result<(), Oversize> {
        let product =
            |sizes: [u32; 3]| sizes.iter().try_fold(1u64, |all, size| all.checked_mul(u64::from(*size)));
        let items = product(self.workgroup).unwrap_or(u64::MAX);
        if items == 0 || self.grid.contains(&0) {
            return Err(Oversize::Empty);
        }
        if product(self.grid).is_none() {
            return Err(Oversize::Grid);
        }
        let most = program.metadata.max_workgroup.unwrap_or(MOST_ITEMS).min(MOST_ITEMS);
        if items > u64::from(most) {
            return Err(Oversize::Workgroup { items, most });
        }
        let (fixed, dynamic) = (program.descriptor.lds_bytes, self.dynamic_lds);
        let most = target.lds.bytes_per_workgroup.value;
        if u64::from(fixed) + u64::from(dynamic) > u64::from(most) {
            return Err(Oversize::Lds { fixed, dynamic, most, target: target.name });
        }
        Ok(())
    }
}
