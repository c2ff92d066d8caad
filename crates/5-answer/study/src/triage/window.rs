//! The instructions of a listing around the one at which a wave stopped.

use view::{Listing, TriageLine};

/// Up to `around` instructions on both sides of the one at `current`; `suspect` marks the one that may have
/// made the fault. `None` where the listing has no instruction at that address.
pub(super) fn window(
    listing: &Listing,
    current: u64,
    suspect: Option<u64>,
    around: usize,
) -> Option<Vec<TriageLine>> {
    let position = listing.lines.iter().position(|line| line.address == current)?;
    let lines = listing.lines.iter().skip(position.saturating_sub(around)).take(2 * around + 1);
    let line = |line: &view::ListingLine| TriageLine {
        address: line.address,
        text: line.text.clone(),
        current: line.address == current,
        suspect: suspect == Some(line.address),
        source: line.source.clone(),
        source_text: None,
        registers: None,
    };
    Some(lines.map(line).collect())
}
