//! Which lines dispatches find in the caches.

use clock::Acquire;
use serde::{Deserialize, Serialize};

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
