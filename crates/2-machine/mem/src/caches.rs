//! All caches of a GPU.
//!
//! Caches hold tags and counts. The caller orders the accesses, and a [`Timing`] sees each step of an access.

use crate::access::{AccessKind, Policy};
use crate::access_patterns::VectorAccess;
use crate::backend::Backend;
use crate::count::{FrontCounts, Tally};
use crate::l2::L2;
use crate::memory_owner::MemoryOwner;
use crate::place_predictor::PlacePredictor;
use crate::scalar::ScalarCaches;
use crate::shape::Shape;
use crate::timing::Timing;
use crate::translations::Translations;
use crate::vector_l1::{Progress, VectorL1};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Lines of the L2 that a dispatch finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Acquire {
    /// The lines that recordings of the target's profiler show.
    #[default]
    Recorded,
    /// The lines of the dispatch before, except lines that another XCD wrote back at its end.
    Kept,
    /// No lines.
    Invalidated,
}

/// Caches of a GPU. They keep lines between dispatches as the hardware does.
#[derive(Clone, Debug)]
pub struct Caches {
    shape: Shape,
    xcds: Vec<Xcd>,
    memory_owner: MemoryOwner,
    /// Lines written back at the end of the last dispatch, each with its XCD; empty on a GPU with one XCD.
    last_written: Vec<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Xcd {
    l2: L2,
    translations: Translations,
    predictor: PlacePredictor,
    units: Vec<VectorL1>,
    /// Compute units whose vector L1 was used since the last restart.
    used_units: Vec<usize>,
    shared: Vec<ScalarCaches>,
    front_counts: FrontCounts,
}

impl Caches {
    /// Empty caches.
    pub fn new(shape: &Shape) -> Caches {
        let xcd = Xcd {
            l2: L2::new(shape),
            translations: Translations::new(shape),
            predictor: PlacePredictor::default(),
            units: (0..shape.compute_units()).map(|_| VectorL1::new(shape)).collect(),
            used_units: Vec::new(),
            shared: (0..shape.scalar_caches()).map(|_| ScalarCaches::new(shape)).collect(),
            front_counts: FrontCounts::default(),
        };
        Caches {
            xcds: vec![xcd; shape.xcds],
            shape: shape.clone(),
            last_written: Vec::new(),
            memory_owner: MemoryOwner::new(Vec::new(), shape.arguments, Vec::new(), Vec::new()),
        }
    }

    /// Sizes of the caches.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Begins a dispatch; `arguments` is host memory of the runtime, `host` is host memory of the program, `small_pages` is
    /// memory in pages of the host's kernel. `acquire` says which lines of the L2 it finds.
    pub fn begin(
        &mut self,
        arguments: Vec<Range<u64>>,
        host: Vec<Range<u64>>,
        small_pages: Vec<Range<u64>>,
        acquire: Acquire,
    ) {
        let [l1, pages, scalar, l2] = self.shape.kept;
        let l2 = match acquire {
            Acquire::Recorded => l2,
            Acquire::Kept => true,
            Acquire::Invalidated => false,
        };
        if l2 {
            self.invalidate_others();
        }
        for xcd in &mut self.xcds {
            if !l2 {
                xcd.l2.clear();
            }
            xcd.l2.take_counts();
            xcd.l2.begin();
            xcd.front_counts = FrontCounts::default();
            // Looking at the caches of all compute units takes longer than a short kernel.
            if !pages {
                xcd.translations.clear();
            }
            xcd.used_units.drain(..).for_each(|unit| xcd.units[unit].restart(l1, pages));
            xcd.shared.iter_mut().for_each(|shared| shared.restart(scalar, self.shape.code_kept));
        }
        self.memory_owner = MemoryOwner::new(arguments, self.shape.arguments, host, small_pages);
    }

    /// Lines of a vector L1, and of a scalar cache.
    pub fn lines(&self) -> [usize; 2] {
        let (l1, scalar) = (self.shape.l1, self.shape.scalar);
        [l1.0 * l1.1, scalar.0 * scalar.1]
    }

    /// Marks a scalar cache as used by a wave in this dispatch.
    pub fn use_unit(&mut self, xcd: usize, shared: usize) {
        self.xcds[xcd].shared[shared].used = true;
    }

    /// Swaps an XCD's caches with the caches of a GPU of one XCD.
    pub fn exchange(&mut self, xcd: usize, other: &mut Caches) {
        if let (Some(here), Some(there)) = (self.xcds.get_mut(xcd), other.xcds.first_mut()) {
            std::mem::swap(here, there);
        }
    }

    /// Looks up the lines of an access, counted from a block of L2 lines. Returns false if the access is
    /// suspended; a later call continues.
    #[inline]
    pub fn look_up_access<F: Timing>(
        &mut self,
        (xcd, unit): (usize, usize),
        (access, block): (&VectorAccess<'_>, u64),
        progress: &mut Progress,
        timing: &mut F,
    ) -> bool {
        let Xcd { l2, translations, predictor, units, used_units, front_counts, .. } = &mut self.xcds[xcd];
        let mut backend = Backend {
            shape: &self.shape,
            memory_owner: &self.memory_owner,
            l2,
            translations,
            predictor,
            front_counts,
            timing,
        };
        if !std::mem::replace(&mut units[unit].used, true) {
            used_units.push(unit);
        }
        units[unit].look_up_access(access, block, progress, &mut backend)
    }

    /// Ends an access after its last look-up.
    pub fn end<F: Timing>(&mut self, xcd: usize, policy: Policy, progress: &mut Progress, timing: &mut F) {
        let Xcd { l2, translations, predictor, front_counts, .. } = &mut self.xcds[xcd];
        let mut backend = Backend {
            shape: &self.shape,
            memory_owner: &self.memory_owner,
            l2,
            translations,
            predictor,
            front_counts,
            timing,
        };
        VectorL1::end(policy, progress, &mut backend);
    }

    /// Does a scalar access of `dwords` from a dword address on.
    pub fn scalar<F: Timing>(
        &mut self,
        (xcd, shared): (usize, usize),
        kind: AccessKind,
        dword: u64,
        dwords: u64,
        timing: &mut F,
    ) {
        let Xcd { l2, translations, predictor, shared: caches, front_counts, .. } = &mut self.xcds[xcd];
        let mut backend = Backend {
            shape: &self.shape,
            memory_owner: &self.memory_owner,
            l2,
            translations,
            predictor,
            front_counts,
            timing,
        };
        caches[shared].access(kind, dword, dwords, &mut backend);
    }

    /// Ends the dispatch. `code` holds the addresses of the executed instructions, as ordered ranges;
    /// `released` makes writes visible to the host; `written` gets each line written back at the end: its
    /// XCD, the line and its bytes.
    pub fn finish(
        &mut self,
        code: &[Range<u64>],
        released: bool,
        mut written: impl FnMut(usize, u64, u32),
    ) -> Tally {
        let mut sum = FrontCounts::default();
        let mut channels = Vec::new();
        let (mut last_written, is_shared) = (Vec::new(), self.xcds.len() > 1);
        for (number, Xcd { l2, translations, predictor, shared, front_counts, .. }) in
            self.xcds.iter_mut().enumerate()
        {
            for shared in shared.iter_mut().filter(|shared| shared.used) {
                let (shape, memory_owner) = (&self.shape, &self.memory_owner);
                shared.fetch(
                    code,
                    &mut Backend {
                        shape,
                        memory_owner,
                        l2,
                        translations,
                        predictor,
                        front_counts,
                        timing: &mut (),
                    },
                );
            }
            if released || self.shape.written_back {
                l2.flush(|line, bytes| {
                    written(number, line, bytes);
                    if is_shared {
                        last_written.push((number, line));
                    }
                });
            }
            front_counts.sum_by_memory_type();
            sum.merge(front_counts);
            channels.extend(l2.take_counts());
        }
        self.last_written = last_written;
        Tally::new(sum, channels)
    }

    /// Counts of the dispatch so far.
    pub fn tally(&self) -> Tally {
        let mut sum = FrontCounts::default();
        let mut channels = Vec::new();
        for Xcd { l2, front_counts, .. } in &self.xcds {
            let mut front_counts = front_counts.clone();
            front_counts.sum_by_memory_type();
            sum.merge(&front_counts);
            channels.extend(l2.counts());
        }
        Tally::new(sum, channels)
    }

    /// Invalidates the copies that other XCDs hold of the lines written back at the end of the last dispatch.
    fn invalidate_others(&mut self) {
        let written = std::mem::take(&mut self.last_written);
        for (number, xcd) in self.xcds.iter_mut().enumerate() {
            for &(writer, line) in &written {
                if writer != number {
                    xcd.l2.invalidate(line);
                }
            }
        }
    }

    /// True if the instruction cache has the line of an address.
    pub fn has_code(&self, (xcd, shared): (usize, usize), address: u64) -> bool {
        self.xcds[xcd].shared[shared].has_code(address, &self.shape)
    }
}
