//! Modelled times of launches that nobody records.
//!
//! Benchmarks and autotuners of Python programs compare times, and how long the emulation takes says nothing
//! about a GPU; the clock runs beside such launches, and what it says is all that is kept.

use anyhow::Result;
use arch::Model;
use emu::{Fault, Launch, Memory, Program, Summary};
use probe::Table;
use record::{Recorder, Settings};
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
        let settings = Settings { shares_xcds: true, ..Settings::default() };
        if let Ok(configured) = settings.recorder(model, Some(host::spill::store())) {
            recorder = configured;
        }
        Times { recorder, tables: BTreeMap::new() }
    }

    /// The next launch finds empty caches.
    pub(crate) fn empty_caches(&mut self) {
        self.recorder.empty_caches();
    }

    /// Runs a kernel; nanoseconds where they are known.
    pub(crate) fn run(
        &mut self,
        program: &Arc<Program>,
        memory: &Memory,
        launch: &Launch<'_>,
    ) -> Result<(Summary, Option<f64>), Box<Fault>> {
        let entry = self.tables.entry(Arc::as_ptr(program).addr());
        let (_, table) = entry.or_insert_with(|| (program.clone(), Arc::new(Table::new(program))));
        self.recorder.time(program, table, memory, launch)
    }
}
