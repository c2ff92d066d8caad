//! Clocks of predictions, which run in parallel with the clock of the recording.
//!
//! Each clock reads the same streams in the same order and shares no state, so results do not depend on
//! threads.

use crate::prediction::Prediction;
use arch::{Model, Resources};
use clock::{Detail, Gpu, Grid, Op, Rates, Wanted};
use mem::Batch;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Scope;

/// Batches queued for a clock before the program blocks.
const WAITING: usize = 2;

/// A prediction with its simulated GPU, which keeps its caches from one dispatch to the next.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(crate) prediction: Prediction,
    gpu: Option<Gpu>,
    rates: Rates,
    /// The current dispatch cannot run with this change: it leaves nothing in the caches.
    misfit: bool,
    /// Reasons why dispatches could not.
    misfits: BTreeSet<String>,
}

/// Predicted time of one dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicted {
    /// As in files: `l2`, `vgpr=96`.
    pub name: String,
    /// For people.
    pub title: String,
    /// A limit of the GPU is lifted; otherwise something is changed.
    pub lifted: bool,
    /// Nanoseconds.
    pub nanoseconds: f64,
    /// Workgroups ran out of order, for lack of memory.
    pub hurried: bool,
}

impl Clock {
    /// The next dispatch finds empty caches.
    pub(crate) fn empty_caches(&mut self) {
        self.gpu = None;
    }

    pub(crate) fn new(prediction: Prediction, base: &'static Model) -> Clock {
        let rates = prediction.rates(base);
        Clock { gpu: None, rates, prediction, misfit: false, misfits: BTreeSet::new() }
    }

    /// A dispatch begins.
    pub(crate) fn begin(
        &mut self,
        base: &'static Model,
        detail: Detail,
        grid: &Grid,
        asked: &Resources,
        ops: &Arc<[Op]>,
    ) {
        let grid = match self.prediction.grid(base, grid, asked) {
            Ok(grid) => grid,
            Err(reason) => {
                self.misfits.insert(format!("{}: {reason}", self.prediction.name));
                self.misfit = true;
                return;
            }
        };
        self.misfit = false;
        let gpu = self.gpu.get_or_insert_with(|| {
            let mut gpu = self.prediction.gpu(base);
            gpu.set_detail(detail);
            gpu
        });
        gpu.begin(grid, ops.clone());
    }

    /// Workgroups whose streams it reads.
    pub(crate) fn wanted(&self) -> Option<Arc<Wanted>> {
        self.gpu.as_ref().filter(|_| !self.misfit).map(Gpu::wanted)
    }

    /// The GPU, where it runs the dispatch.
    fn running(&mut self) -> Option<&mut Gpu> {
        self.gpu.as_mut().filter(|_| !self.misfit)
    }

    fn finish(&mut self, code: &[Range<u64>]) -> Option<Predicted> {
        let outcome = self.running()?.finish(code);
        let Prediction { name, title, ideal_limit, .. } = &self.prediction;
        Some(Predicted {
            name: name.clone(),
            title: title.clone(),
            lifted: ideal_limit.is_some(),
            nanoseconds: self.rates.dispatch_nanoseconds(&outcome),
            hurried: outcome.hurried,
        })
    }
}

/// Predictions that failed for some dispatch, with reasons: `waves_per_eu=1: a workgroup of 16 waves does not
/// fit`.
pub(crate) fn misfits(clocks: &[Clock]) -> Vec<String> {
    clocks.iter().flat_map(|it| &it.misfits).cloned().collect()
}

/// Threads of a launch that says how many, or none in particular.
pub(crate) fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        asked => asked,
    }
}

/// Clocks for each thread.
fn share(clocks: usize, asked: usize) -> usize {
    clocks.div_ceil(threads(asked).clamp(1, clocks.max(1))).max(1)
}

/// Spawns one thread per clock; each receives workgroups in order through the returned sender.
pub(crate) fn follow<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    clocks: &'env mut [Clock],
    threads: usize,
) -> Vec<SyncSender<Batch>> {
    let share = share(clocks.len(), threads);
    let start = |clocks: &'env mut [Clock]| {
        let (sender, receiver) = sync_channel::<Batch>(WAITING);
        scope.spawn(move || {
            for batch in receiver {
                clocks.iter_mut().filter_map(Clock::running).for_each(|gpu| gpu.push(batch.clone()));
            }
        });
        sender
    };
    clocks.chunks_mut(share).map(start).collect()
}

/// Results of each clock at the end of a dispatch.
pub(crate) fn finish(clocks: &mut [Clock], threads: usize, code: &[Range<u64>]) -> Vec<Predicted> {
    let share = share(clocks.len(), threads);
    let mut all: Vec<Option<Predicted>> = vec![None; clocks.len()];
    std::thread::scope(|scope| {
        for (clocks, all) in clocks.chunks_mut(share).zip(all.chunks_mut(share)) {
            scope.spawn(move || {
                for (clock, found) in clocks.iter_mut().zip(all) {
                    *found = clock.finish(code);
                }
            });
        }
    });
    all.into_iter().flatten().collect()
}
