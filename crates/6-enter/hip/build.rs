//! Gives the library its name and the version nodes that HIP programs ask for.
//!
//! Only the linker knows of versions; the code does not.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a build script talks to cargo")]

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so");
    println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={folder}/versions.map");
}
