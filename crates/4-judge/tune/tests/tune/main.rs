//! What the crate gives to others.

mod space;
