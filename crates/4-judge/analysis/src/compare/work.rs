//! Work of a kernel as far as its card tells: instructions, bytes, widths.
//!
//! A loop is weighted with its assumed number of iterations, so that code outside of loops does not hide a
//! loss inside a loop; counts are compared per byte moved or per matrix instruction, since an unrolled loop
//! does more per iteration.

use std::collections::BTreeMap;
use view::{KernelCard, Mix};

/// Assumed iterations of a loop, since code does not tell.
const ITERATIONS: f64 = 16.0;
/// Depth from which on loops count no more.
const MOST_DEPTH: u32 = 5;

/// Accesses of one kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Accesses {
    pub(super) count: f64,
    pub(super) bytes: f64,
}

impl Accesses {
    fn add(&mut self, widths: &BTreeMap<u32, u32>, times: f64) {
        for (bytes, count) in widths {
            self.count += f64::from(*count) * times;
            self.bytes += f64::from(*bytes) * f64::from(*count) * times;
        }
    }

    /// Bytes per lane of an access, on average.
    pub(super) fn width(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.bytes / self.count)
    }
}

/// Work of one wave.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Work {
    pub(super) instructions: f64,
    pub(super) matrix: f64,
    pub(super) loads: Accesses,
    pub(super) stores: Accesses,
    pub(super) lds: Accesses,
}

impl Work {
    /// Work of a whole kernel; `None` without code.
    pub(super) fn of(card: &KernelCard) -> Option<Work> {
        let mix = card.mix.as_ref()?;
        let mut work = Work::default();
        work.add(mix, [&card.load_widths, &card.store_widths, &card.lds_widths], 1.0);
        for it in &card.loops {
            // The whole kernel counted it once already.
            let times = ITERATIONS.powi(it.depth.min(MOST_DEPTH) as i32) - 1.0;
            work.add(&it.mix, [&it.load_widths, &it.store_widths, &it.lds_widths], times);
        }
        Some(work)
    }

    fn add(&mut self, mix: &Mix, [loads, stores, lds]: [&BTreeMap<u32, u32>; 3], times: f64) {
        self.instructions += f64::from(mix.total()) * times;
        self.matrix += f64::from(mix.mfma) * times;
        self.loads.add(loads, times);
        self.stores.add(stores, times);
        self.lds.add(lds, times);
    }

    /// Instructions for each byte per lane that is loaded or stored, of memory or LDS.
    pub(super) fn per_byte(&self) -> Option<f64> {
        let bytes = self.loads.bytes + self.stores.bytes + self.lds.bytes;
        (bytes > 0.0).then(|| self.instructions / bytes)
    }

    /// Instructions for each matrix instruction.
    pub(super) fn per_matrix(&self) -> Option<f64> {
        (self.matrix > 0.0).then(|| self.instructions / self.matrix)
    }
}
