//! Tells the command which build of the HIP runtime library belongs to it, and where that is built.
//!
//! The one idea to keep in mind: nothing is built here; the command builds the library when it is first needed and
//! lies nowhere.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a build script talks to cargo")]

include!("../hip/build_id.rs");

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    set_build_id(&Path::new(&folder).join("../hip"));
    // `target/release/build/NAME/out`: the folder of the profile is three up.
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(&out));
    println!("cargo::rustc-env=ROCKHOUND_BUILD_DIR={}", profile.display());
}
