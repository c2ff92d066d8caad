//! What the crate gives to others.

mod landscape;
mod race;
mod search;
mod space;
