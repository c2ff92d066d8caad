//! The `rockhound` command.
fn main() {}
