//! The journal over both engines, and what breaks them.

mod contract;
mod engines;
mod kills;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
