//! The parts of a GPU that accesses pass, one for all compute units.
//!
//! The one idea to keep in mind: these are tags and counts; who comes when is settled by whoever drives them, and what
//! happens to an access is told to a [`Follow`]er step by step.

use crate::access::{Kind, Lookup, Policy};
use crate::count::{Before, Channel, Count, Tally};
use crate::l2::L2;
use crate::places::Places;
use crate::scalar::Shared;
use crate::shape::Shape;
use crate::vector::{Follow, Path, Progress, VectorL1};
use std::ops::Range;

/// The caches of a GPU, which keep between dispatches what the hardware keeps.
#[derive(Clone, Debug)]
pub struct Caches {
    shape: Shape,
    xcds: Vec<Xcd>,
    places: Places,
}

#[derive(Clone, Debug)]
struct Xcd {
    l2: L2,
    units: Vec<VectorL1>,
    shared: Vec<Shared>,
    before: Before,
}

impl Caches {
    /// The caches of a GPU, all empty.
    pub fn new(shape: &Shape) -> Caches {
        let xcd = Xcd {
            l2: L2::new(shape),
            units: (0..shape.compute_units()).map(|_| VectorL1::new(shape)).collect(),
            shared: (0..shape.scalar_caches()).map(|_| Shared::new(shape)).collect(),
            before: Before::default(),
        };
        Caches {
            xcds: vec![xcd; shape.xcds],
            shape: shape.clone(),
            places: Places::new(Vec::new(), shape.host),
        }
    }

    /// The parts of the GPU.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A dispatch begins; `host` is memory of the host.
    pub fn begin(&mut self, host: Vec<Range<u64>>) {
        let [l1, pages, scalar, l2] = self.shape.kept;
        for xcd in &mut self.xcds {
            if !l2 {
                xcd.l2.clear();
            }
            xcd.l2.take_counts();
            xcd.l2.begin();
            xcd.before = Before::default();
            xcd.units.iter_mut().for_each(|unit| unit.restart(l1, pages));
            xcd.shared.iter_mut().for_each(|shared| shared.restart(scalar, self.shape.code_kept));
        }
        self.places = Places::new(host, self.shape.host);
    }

    /// Places of lines of a compute unit's vector L1, and of a scalar cache.
    pub fn lines(&self) -> [usize; 2] {
        let (l1, scalar) = (self.shape.l1, self.shape.scalar);
        [l1.0 * l1.1, scalar.0 * scalar.1]
    }

    /// A wave runs on a compute unit of an XCD, which shares this scalar cache.
    pub fn use_unit(&mut self, xcd: usize, shared: usize) {
        self.xcds[xcd].shared[shared].used = true;
    }

    /// Accesses that are in no stream.
    pub fn dropped(&mut self, accesses: u64) {
        self.xcds[0].before.add(Count::Dropped, accesses);
    }

    /// Look-ups of an access of a compute unit, as many as can be done; how many that are. The others come again.
    #[inline]
    pub fn look_ups<F: Follow>(
        &mut self,
        (xcd, unit): (usize, usize),
        (policy, lookups, block): (Policy, &[Lookup], u64),
        progress: &mut Progress,
        follow: &mut F,
    ) -> usize {
        let Xcd { l2, units, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, before, follow };
        units[unit].look_ups(policy, lookups, block, progress, &mut path)
    }

    /// An access has made all its look-ups.
    pub fn end<F: Follow>(&mut self, xcd: usize, policy: Policy, progress: &mut Progress, follow: &mut F) {
        let Xcd { l2, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, before, follow };
        VectorL1::end(policy, progress, &mut path);
    }

    /// A scalar access of `dwords` from a dword address on.
    pub fn scalar<F: Follow>(
        &mut self,
        (xcd, shared): (usize, usize),
        kind: Kind,
        dword: u64,
        dwords: u64,
        follow: &mut F,
    ) {
        let Xcd { l2, shared: caches, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, before, follow };
        caches[shared].access(kind, dword, dwords, &mut path);
    }

    /// The dispatch ends. `code` are the addresses of the instructions that ran, as ranges in order; `stands` gives for each
    /// XCD the one that stands for it, where not all were followed; `written` is told what goes back to memory at the end: the
    /// XCD, the line and its bytes. Returns counts of all, and those of each XCD that stands for itself.
    pub fn finish(
        &mut self,
        code: &[Range<u64>],
        stands: Option<&[usize]>,
        mut written: impl FnMut(usize, u64, u32),
    ) -> (Tally, Vec<Tally>) {
        let mut each: Vec<(Before, Vec<Channel>)> = Vec::with_capacity(self.xcds.len());
        for (number, Xcd { l2, shared, before: counts, .. }) in self.xcds.iter_mut().enumerate() {
            let followed = stands.is_none_or(|stands| stands.get(number) == Some(&number));
            for shared in shared.iter_mut().filter(|shared| shared.used && followed) {
                let (shape, places) = (&self.shape, &self.places);
                shared.fetch(code, &mut Path { shape, places, l2, before: counts, follow: &mut () });
            }
            if self.shape.written_back && followed {
                l2.flush(|line, bytes| written(number, line, bytes));
            }
            each.push((counts.clone(), l2.take_counts()));
        }
        let mut before = Before::default();
        let mut channels = Vec::new();
        for number in 0..each.len() {
            let (counts, of_channels) = &each[stands.map_or(number, |stands| stands[number])];
            before.merge(counts);
            channels.extend_from_slice(of_channels);
        }
        let single = |number: &usize| stands.is_some_and(|stands| stands[*number] == *number);
        let singles =
            (0..each.len()).filter(single).map(|it| Tally::new(each[it].0.clone(), each[it].1.clone()));
        (Tally::new(before, channels), singles.collect())
    }

    /// Whether the first of these instructions is in the instruction cache.
    pub fn has_code(&self, (xcd, shared): (usize, usize), address: u64) -> bool {
        self.xcds[xcd].shared[shared].has_code(address, &self.shape)
    }
}
