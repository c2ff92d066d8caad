//! Two builds compared, kernel by kernel.

use view::{Comparison, KernelCard, UsageError};

/// The differences between two builds; `renamed` are kernels under other names, old and new.
pub fn compare(
    old: &[KernelCard],
    new: &[KernelCard],
    renamed: &[(String, String)],
) -> Result<Comparison, UsageError> {
    for (from, to) in renamed {
        for (name, side, cards) in [(from, "old", old), (to, "new", new)] {
            if !cards.iter().any(|card| card.name == *name || card.demangled == *name) {
                return Err(UsageError::new(
                    format!("`--match`: the {side} build has no kernel `{name}`"),
                    "give linker names or whole demangled names, as `rockhound inspect --format csv` lists them",
                ));
            }
        }
    }
    Ok(analysis::compare(old, new, renamed))
}
