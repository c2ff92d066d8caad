//! Files of the rocprof family of profilers, read into typed rows.
//!
//! [`results`] reads rocprofv3's JSON, [`rocpd`] its SQLite databases and [`agents`] its tables of agents. A
//! reader gives each row to a function and keeps none, so memory does not grow with the file. What a row means
//! for a recording or a timeline is up to the caller.
//!
//! ```
//! use rockhound_rocprof::results::{List, Row, read};
//!
//! let text = br#"{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [
//!   {"start_timestamp": 10, "end_timestamp": 30, "dispatch_info": {"dispatch_id": 1, "kernel_id": 4}}]}}]}"#;
//! let mut times = Vec::new();
//! let found = read(&mut &text[..], &[List::Kernel], &mut |row| {
//!     if let Row::Record(it) = row {
//!         times.push((it.kernel, it.start, it.end));
//!     }
//! });
//! assert_eq!((found, times), (Ok(true), vec![(Some(4), Some(10), Some(30))]));
//! ```

pub mod agents;
pub mod database;
pub mod json;
pub mod results;
pub mod rocpd;
