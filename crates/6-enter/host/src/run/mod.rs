//! Running things and recording what they do.

mod set;

pub use set::keep_set;
