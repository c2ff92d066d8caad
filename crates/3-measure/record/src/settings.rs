//! Settings of the recorder, as a value that the command writes and the HIP library reads.

use crate::cache_state::CacheState;
use crate::{Prediction, PredictionError, Recorder};
use arch::Model;
use clock::Detail;
use mem::SpillStore;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

    /// Whether dispatches get a modelled time; of sampled ones those whose sample is large enough.
    pub fn has_clock(&self) -> bool {
        !self.counters_only && (self.most_workgroups.is_none() || self.shares_xcds)
    }
}
