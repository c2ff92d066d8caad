//! Math library calls on emulated GPUs against the host's, within the limits that the device library states.

use crate::compiled::{self, toolchain};
use std::path::Path;

#[test]
fn the_math_library_is_within_its_limits() {
    let Some(toolchain) = toolchain() else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/math.cpp");
    for (gpu, targets) in
        [("mi210", &["gfx90a", "gfx942"][..]), ("mi300x", &["gfx90a", "gfx942"]), ("mi355x", &["gfx950"])]
    {
        let name = format!("math-{}", targets.join("-"));
        let Some(program) = toolchain.build(&source, &name, targets, &[]) else { continue };
        let output = compiled::on(toolchain.folder(), &program, gpu).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{gpu}\n{said}");
        let beyond: Vec<&str> = said.lines().filter(|line| !line.starts_with("within")).collect();
        assert!(beyond.is_empty() && output.status.success(), "{gpu}: {}\n{output:?}", beyond.join("\n"));
        assert!(said.lines().count() >= 70, "{said}");
    }
}
