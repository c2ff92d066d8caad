//! Recordings and the journal over both engines, and what breaks them.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "tests start servers and processes, which say what they did"
)]

mod answers;
mod contract;
mod engines;
mod kills;
mod recordings;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
