//! Tables as `trace` and `comm` build and compare them.

pub(crate) mod compare;
pub(crate) mod rows;
