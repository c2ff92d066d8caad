//! The parts of a GPU that accesses pass, one for all compute units.
//!
//! The one idea to keep in mind: these are tags and counts; who comes when is settled by whoever drives them, and what
//! happens to an access is told to a [`Follow`]er step by step.

use crate::access::{Kind, Policy};
use crate::asks::Guesses;
use crate::count::{Before, Tally};
use crate::forms::Shared;
use crate::l2::L2;
use crate::places::Places;
use crate::scalar;
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
    guesses: Guesses,
    units: Vec<VectorL1>,
    shared: Vec<scalar::Shared>,
    before: Before,
}

impl Caches {
    /// The caches of a GPU, all empty.
    pub fn new(shape: &Shape) -> Caches {
        let xcd = Xcd {
            l2: L2::new(shape),
            guesses: Guesses::default(),
            units: (0..shape.compute_units()).map(|_| VectorL1::new(shape)).collect(),
            shared: (0..shape.scalar_caches()).map(|_| scalar::Shared::new(shape)).collect(),
            before: Before::default(),
        };
        Caches {
            xcds: vec![xcd; shape.xcds],
            shape: shape.clone(),
            places: Places::new(Vec::new(), shape.arguments, Vec::new()),
        }
    }

    /// The parts of the GPU.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// A dispatch begins; `arguments` are memory of the host that the runtime uses, `host` is what the program has there.
    pub fn begin(&mut self, arguments: Vec<Range<u64>>, host: Vec<Range<u64>>) {
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
        self.places = Places::new(arguments, self.shape.arguments, host);
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

    /// An XCD changes places with the only one of another GPU.
    pub fn exchange(&mut self, xcd: usize, other: &mut Caches) {
        if let (Some(here), Some(there)) = (self.xcds.get_mut(xcd), other.xcds.first_mut()) {
            std::mem::swap(here, there);
        }
    }

    /// Look-ups of an access of a compute unit at a block of the L2's lines, as many as can be done; says whether all are. If not,
    /// it comes again and goes on.
    #[inline]
    pub fn look_ups<F: Follow>(
        &mut self,
        (xcd, unit): (usize, usize),
        (access, block): (&Shared<'_>, u64),
        progress: &mut Progress,
        follow: &mut F,
    ) -> bool {
        let Xcd { l2, guesses, units, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, guesses, before, follow };
        units[unit].look_ups(access, block, progress, &mut path)
    }

    /// An access has made all its look-ups.
    pub fn end<F: Follow>(&mut self, xcd: usize, policy: Policy, progress: &mut Progress, follow: &mut F) {
        let Xcd { l2, guesses, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, guesses, before, follow };
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
        let Xcd { l2, guesses, shared: caches, before, .. } = &mut self.xcds[xcd];
        let mut path = Path { shape: &self.shape, places: &self.places, l2, guesses, before, follow };
        caches[shared].access(kind, dword, dwords, &mut path);
    }

    /// The dispatch ends. `code` are the addresses of the instructions that ran, as ranges in order; `released` says that the host is
    /// to see what was written; `written` is told what goes back to memory at the end: the line and its bytes.
    pub fn finish(
        &mut self,
        code: &[Range<u64>],
        released: bool,
        mut written: impl FnMut(u64, u32),
    ) -> Tally {
        let mut sum = Before::default();
        let mut channels = Vec::new();
        for Xcd { l2, guesses, shared, before, .. } in &mut self.xcds {
            for shared in shared.iter_mut().filter(|shared| shared.used) {
                let (shape, places) = (&self.shape, &self.places);
                shared.fetch(code, &mut Path { shape, places, l2, guesses, before, follow: &mut () });
            }
            if released || self.shape.written_back {
                l2.flush(&mut written);
            }
            before.settle();
            sum.merge(before);
            channels.extend(l2.take_counts());
        }
        Tally::new(sum, channels)
    }

    /// Whether the first of these instructions is in the instruction cache.
    pub fn has_code(&self, (xcd, shared): (usize, usize), address: u64) -> bool {
        self.xcds[xcd].shared[shared].has_code(address, &self.shape)
    }
}
