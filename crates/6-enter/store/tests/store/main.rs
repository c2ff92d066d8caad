//! The journal over both engines, and what breaks them.
#![allow(clippy::disallowed_methods, reason = "tests start servers and processes")]

mod contract;
mod engines;
mod kills;
mod recordings;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
