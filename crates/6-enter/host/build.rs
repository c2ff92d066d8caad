//! Gives the build id of the HIP runtime library, and the library's build folder, to the crate that looks for
//! it.
//!
//! Nothing is built here; the library is built when a program first needs it and none is installed.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a build script talks to cargo")]

use std::path::Path;

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    build_id::set_build_id(Path::new(&folder));
    // `target/release/build/NAME/out`: the folder of the profile is three up.
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(&out));
    println!("cargo::rustc-env=ROCKHOUND_BUILD_DIR={}", profile.display());
}
