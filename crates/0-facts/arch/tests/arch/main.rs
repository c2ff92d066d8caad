//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "runs clang on generated kernels")]

mod data;
mod llvm;
mod occupancy;
