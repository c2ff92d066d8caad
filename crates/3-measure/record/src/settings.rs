//! Settings of the recorder, as a value that the command writes and the HIP library reads.

use crate::{Prediction, PredictionError, Recorder};
use arch::Model;
use clock::{Acquire, Detail};
use mem::SpillStore;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Lines that dispatches find in the caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// As under the vendor's profiler, whose packets between dispatches invalidate what the target's recordings
    /// show.
    #[default]
    Profiled,
    /// Nothing: all caches are empty.
    Cold,
    /// The L2 keeps its lines from dispatch to dispatch, except lines that another XCD has written.
    Warm,
    /// As without a profiler: the L2 keeps its lines, and copies from the host invalidate them.
    AsRun,
}

impl CacheState {
    /// Every state with its name and its meaning.
    pub const ALL: [(CacheState, &'static str, &'static str); 4] = [
        (CacheState::Profiled, "profiled", "as under the vendor's profiler"),
        (CacheState::Cold, "cold", "empty before every dispatch"),
        (CacheState::Warm, "warm", "the L2 keeps its lines"),
        (CacheState::AsRun, "as-run", "the L2 keeps its lines until the host copies"),
    ];

    /// State by its name.
    pub fn by_name(name: &str) -> Option<CacheState> {
        CacheState::ALL.iter().find(|it| it.1 == name).map(|it| it.0)
    }

    /// Name.
    pub fn name(self) -> &'static str {
        CacheState::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    /// Lines of the L2 that a dispatch finds; `copied` after copies from the host.
    pub(crate) fn acquire(self, copied: bool) -> Acquire {
        match self {
            CacheState::Profiled => Acquire::Recorded,
            CacheState::AsRun if copied => Acquire::Invalidated,
            CacheState::AsRun | CacheState::Warm => Acquire::Kept,
            CacheState::Cold => Acquire::Invalidated,
        }
    }
}

/// Settings of the recorder; by default it records completely, with caches and times, on all XCDs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Most workgroups of each launch that run, as samples of all; `None` runs all.
    pub most_workgroups: Option<u64>,
    /// Predicts the time of each dispatch with one limit removed at a time.
    pub lifts_limits: bool,
    /// Changes to predict, as users write them: `vgpr=96`.
    pub what_if: Vec<String>,
    /// Keeps wave events, so that predictions can be made without another run.
    pub keeps_events: bool,
    /// Models neither caches nor times.
    pub counters_only: bool,
    /// Lines that dispatches find in the caches.
    pub caches: CacheState,
    /// Simulates two representative XCDs if simulating all would take long.
    pub shares_xcds: bool,
}

impl Settings {
    /// The requested predictions, on a GPU.
    pub fn predictions(&self, model: &'static Model) -> Result<Vec<Prediction>, PredictionError> {
        if self.lifts_limits || !self.what_if.is_empty() {
            Prediction::possible(model)?;
        }
        let mut all = if self.lifts_limits { Prediction::lifts() } else { Vec::new() };
        for text in &self.what_if {
            all.push(Prediction::parse(text, model)?);
        }
        Ok(all)
    }

    /// A recorder with these settings. Streams that do not fit into memory go to `spill_store`.
    pub fn recorder(
        &self,
        model: &'static Model,
        spill_store: Option<Arc<SpillStore>>,
    ) -> Result<Recorder, PredictionError> {
        let mut recorder = Recorder::new(model);
        recorder.sample(self.most_workgroups.unwrap_or(0));
        recorder.predict(self.predictions(model)?);
        if let Some(spill_store) = spill_store {
            recorder.spill_to(spill_store);
        }
        if self.shares_xcds {
            recorder.detail(Detail::Share);
        }
        recorder.caches(self.caches);
        if self.keeps_events {
            recorder.keep_events();
        }
        if self.counters_only {
            recorder.count_only();
        }
        Ok(recorder)
    }

    /// Whether dispatches get a modelled time.
    pub fn has_clock(&self) -> bool {
        !self.counters_only && self.most_workgroups.is_none()
    }
}
