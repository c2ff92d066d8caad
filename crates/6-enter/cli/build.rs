//! Gives the command the facts of its build that `--version --verbose` prints.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a build script talks to cargo")]

use std::path::Path;

fn main() {
    let folder = variable("CARGO_MANIFEST_DIR");
    // `target/release/build/NAME/out`: the folder of the profile is three up.
    let out = variable("OUT_DIR");
    let profile = Path::new(&out).ancestors().nth(3).unwrap_or(Path::new(&out));
    println!("cargo::rustc-env=ROCKHOUND_BUILD_DIR={}", profile.display());
    println!("cargo::rustc-env=ROCKHOUND_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=ROCKHOUND_FEATURES={}", features());
    println!("cargo::rustc-env=ROCKHOUND_COMMIT={}", commit(&folder));
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Optional parts that are compiled in.
fn features() -> String {
    let names =
        std::env::vars().filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()));
    let mut names: Vec<String> =
        names.filter(|name| name != "default").map(|name| name.replace('_', "-")).collect();
    names.sort();
    names.join(", ")
}

/// The commit, if a release is built or the sources are a package. Asking git would recompile the command at
/// every commit.
fn commit(folder: &str) -> String {
    println!("cargo::rerun-if-env-changed=ROCKHOUND_COMMIT");
    let given = variable("ROCKHOUND_COMMIT");
    if !given.is_empty() {
        return given;
    }
    let packaged =
        std::fs::read_to_string(Path::new(folder).join(".cargo_vcs_info.json")).unwrap_or_default();
    let hash = packaged.split("\"sha1\": \"").nth(1).and_then(|rest| rest.split('"').next());
    hash.map_or_else(String::new, |hash| hash.chars().take(12).collect())
}
