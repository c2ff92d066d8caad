//! Modelled times of unrecorded launches.
//!
//! Benchmarks and autotuners of Python programs compare times, and the duration of the emulation says nothing
//! about a GPU; the timing model follows such launches, and only its result is kept.

use anyhow::Result;
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use probe::Table;
use record::{CacheState, Recorder, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The clock.
#[derive(Debug)]
pub(crate) struct Times {
    recorder: Recorder,
    /// The program is kept with its table, so that its address stays its own.
    tables: BTreeMap<usize, (Arc<Program>, Arc<Table>)>,
}

impl Times {
    /// Times of launches on a GPU.
    pub(crate) fn new(model: &'static Model) -> Times {
        let mut recorder = Recorder::new(model);
        let settings = Settings { shares_xcds: true, caches: CacheState::AsRun, ..Settings::default() };
        if let Ok(configured) = settings.recorder(model, Some(host::spill::store())) {
            recorder = configured;
        }
        Times { recorder, tables: BTreeMap::new() }
    }

    /// The next launch finds empty caches.
    pub(crate) fn empty_caches(&mut self) {
        self.recorder.empty_caches();
    }

    /// Runs a kernel; returns its nanoseconds if known.
    pub(crate) fn run(
        &mut self,
        program: &Arc<Program>,
        memory: &Memory,
        launch: &Launch<'_>,
    ) -> Result<(Summary, Option<f64>), Box<Fault>> {
        let entry = self.tables.entry(Arc::as_ptr(program).addr());
        let (_, table) = entry.or_insert_with(|| (program.clone(), Arc::new(Table::new(program))));
        let (summary, time) = self.recorder.time(program, table, memory, launch)?;
        Ok((summary, time.map(|it| it.nanoseconds)))
    }
}
