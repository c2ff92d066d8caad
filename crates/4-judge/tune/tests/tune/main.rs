//! Tests of the public interface.

mod landscape;
mod race;
mod search;
mod space;
