//! Loops of two builds of a kernel, matched, and the work of one iteration of each.
//!
//! Compilers keep the order of loops; if the number of loops at a depth differs, only the loop with most work
//! is compared.

use view::{KernelCard, LoopCard, LoopComparison, LoopSide};

/// Matched loops that differ.
pub(super) fn compare(old: &KernelCard, new: &KernelCard) -> Vec<LoopComparison> {
    let deepest = old.loops.iter().chain(&new.loops).map(|it| it.depth).max().unwrap_or(0);
    let mut found: Vec<LoopComparison> = Vec::new();
    for depth in 1..=deepest {
        let at = |card: &'_ KernelCard| -> Vec<LoopCard> {
            card.loops.iter().filter(|it| it.depth == depth).cloned().collect()
        };
        let (old, new) = (at(old), at(new));
        let same = old.len() == new.len();
        let pairs: Vec<(&LoopCard, &LoopCard)> = match same {
            true => old.iter().zip(&new).collect(),
            false => heaviest(&old).zip(heaviest(&new)).into_iter().collect(),
        };
        for (old, new) in pairs {
            let (old, new) = (side(old), side(new));
            if !old.does_the_same(&new) {
                found.push(LoopComparison { depth, old, new });
            }
        }
    }
    found
}

/// The loop with most work.
fn heaviest(loops: &[LoopCard]) -> Option<&LoopCard> {
    // Matrix instructions take several times as long as others.
    loops.iter().max_by_key(|it| (it.instructions + 8 * it.mix.mfma, std::cmp::Reverse(it.id)))
}

fn side(it: &LoopCard) -> LoopSide {
    let bytes = |widths: &std::collections::BTreeMap<u32, u32>| {
        widths.iter().map(|(bytes, count)| u64::from(*bytes) * u64::from(*count)).sum()
    };
    LoopSide {
        id: it.id,
        instructions: it.instructions,
        mfma: it.mix.mfma,
        load_bytes: bytes(&it.load_widths),
        store_bytes: bytes(&it.store_widths),
        lds_bytes: bytes(&it.lds_widths),
        barriers: it.mix.barrier,
    }
}
