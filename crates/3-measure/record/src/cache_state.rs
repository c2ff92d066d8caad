//! Lines that dispatches find in the caches.

use clock::Acquire;
use serde::{Deserialize, Serialize};

/// Lines that dispatches find in the caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// The lines that dispatches find under the vendor's profiler, as the target's recordings show.
    #[default]
    Profiled,
    /// No lines: all caches are empty.
    Cold,
    /// The L2 keeps its lines from dispatch to dispatch, except lines that another XCD wrote.
    Warm,
    /// As [`CacheState::Warm`], and copies from the host invalidate the lines, as without a profiler.
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

    /// Meaning, as a phrase.
    pub fn words(self) -> &'static str {
        CacheState::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.2)
    }

    /// Lines of the L2 that a dispatch finds; `copied` if the host has copied since the dispatch before.
    pub(crate) fn acquire(self, copied: bool) -> Acquire {
        match self {
            CacheState::Profiled => Acquire::Recorded,
            CacheState::Cold => Acquire::Invalidated,
            CacheState::AsRun if copied => Acquire::Invalidated,
            CacheState::AsRun | CacheState::Warm => Acquire::Kept,
        }
    }
}
