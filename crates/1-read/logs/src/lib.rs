//! Logs of GPU jobs as events.
//!
//! A log mixes the lines of many processes, each behind the prefixes of its launcher, container and logger.
//! [`entry`] takes the prefixes off a line and keeps them as fields: who wrote it, when, at which level.
//! [`Scan`] reads a log of any size piece by piece, recognises the messages of `data/`, and lists lines that
//! look like errors and match no message, so that nothing is passed over in silence.

mod build;
mod clean;
mod hip_errors;
mod json_line;
mod message;
mod pieces;
mod prefix;
mod scan;
mod search;
mod table;
mod unknown;

pub use build::{BuildCounts, BuildLog, BuiltKernel};
pub use message::{Field, Kind, Message};
pub use prefix::{Entry, Level, Who, entry};
pub use scan::{Event, Kept, LogText, SAMPLED, Scan};
pub use search::{Found, Search};
pub use table::messages;
pub use unknown::looks_like_error;
