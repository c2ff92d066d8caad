//! Search of tuning spaces: the fastest configuration of a kernel with few runs.
//!
//! [`Space`] holds the valid configurations, [`Search`] proposes which to run next and is told the results. It starts
//! no process: whoever runs configurations asks, runs and tells.

pub mod landscape;
pub mod race;
mod random;
mod search;
mod space;
mod value;

pub use random::Random;
pub use search::{Asked, Knobs, Prior, Search, Settings, Strategy, Told, extended};
pub use space::{Id, Limits, Neighbourhood, Parameter, Removed, Space, SpaceError};
pub use value::Value;
