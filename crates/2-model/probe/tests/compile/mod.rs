//! Compiles device code for one GPU.

use std::path::Path;
use std::process::Command;

/// The code of a source of `tests/sources`, or `None` (and a word about it) where the compiler is missing.
pub(crate) fn compile(compiler: &str, source: &str, target: &str, more: &[&str]) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let output = std::env::temp_dir().join(format!("probe-{}-{source}-{target}.hsaco", std::process::id()));
    let result = Command::new(compiler)
        .args(["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output", "-O3"])
        .arg(format!("--offload-arch={target}"))
        .args(more)
        .arg(folder.join(source))
        .arg("-o")
        .arg(&output)
        .output();
    let Ok(result) = result else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no {compiler}");
        println!("skipped: no {compiler}");
        return None;
    };
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let bytes = std::fs::read(&output).unwrap();
    std::fs::remove_file(output).unwrap();
    Some(bytes)
}
