//! Releases: instructions after which other workgroups of the GPU see what a wave has written.
//!
//! Where each XCD has an L2, a release writes it back (`buffer_wbl2 sc1`). On GPUs with one L2 it is a wait for all vector memory
//! instructions. A `volatile` access and an atomic of workgroup scope have none of these before them.

use emu::Program;
use isa::{Bits, Inst};

/// By instruction: it is a release.
#[derive(Debug)]
pub(super) struct Releases(Vec<bool>);

impl Releases {
    pub(super) fn of(program: &Program) -> Releases {
        // GPUs whose instruction set tells the scopes by bits have several L2s.
        let has_scopes = program.isa.has_sc_bits();
        let is_release = |inst: &Inst| match inst.info().name {
            "buffer_wbl2" => !has_scopes || inst.mods.bits.contains(Bits::SC1),
            "s_waitcnt" => !has_scopes && inst.waits_for_vector_memory() == Some(0),
            _ => false,
        };
        Releases(program.instructions().iter().map(is_release).collect())
    }

    #[inline]
    fn is_release(&self, index: usize) -> bool {
        self.0.get(index).copied().unwrap_or(false)
    }
}

/// The last release of a wave. Instructions of a run are told before the first of them executes.
#[derive(Debug, Default)]
pub(super) struct LastRelease {
    /// Time of the last access before it.
    pub(super) time: u32,
    /// Releases of the run that goes on, in its order.
    ahead: Vec<usize>,
}

impl LastRelease {
    /// A run of instructions begins at a time: the one before is over.
    pub(super) fn begin(&mut self, releases: &Releases, run: std::ops::Range<usize>, now: u32) {
        if !self.ahead.is_empty() {
            self.time = now;
            self.ahead.clear();
        }
        self.ahead.extend(run.filter(|index| releases.is_release(*index)));
    }

    /// An instruction of the run makes an access; the last one before was at a time.
    pub(super) fn pass(&mut self, index: usize, before: u32) {
        if self.ahead.first().is_some_and(|release| *release < index) {
            self.time = before;
            self.ahead.retain(|release| *release >= index);
        }
    }
}
