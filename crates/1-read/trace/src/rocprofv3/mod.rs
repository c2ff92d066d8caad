//! rocprofv3: JSON of a process, CSV of a process.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod summary;
