//! The counters `s_waitcnt` waits for, as rules see them.

pub(crate) use analysis::waits::{NO_LDS_WAIT, wait};
