//! `triton`: compiles the Triton kernels of `examples/triton` and computes their expected results.
//!
//! Committed kernels run without Triton; this task is for changes of a kernel. Line tables name the folder of
//! the source, so that is a fixed one.

use crate::run;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Folder to which the source is copied, so that outputs are the same everywhere.
const FOLDER: &str = "/tmp/rockhound-triton";

/// Runs the script with the Python that has Triton: the argument, or `python3`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let python = arguments.first().map_or("python3", String::as_str);
    if run::output(python, &["-c", "import numpy, triton"]).is_none() {
        bail!(
            "`{python}` has no triton or no numpy\nhint: pip install triton==3.6.0 numpy, or name another Python"
        );
    }
    let place = run::root().join("examples/triton");
    std::fs::create_dir_all(FOLDER).with_context(|| format!("cannot make {FOLDER}"))?;
    let script = Path::new(FOLDER).join("kernels.py");
    std::fs::copy(place.join("kernels.py"), &script).context("cannot copy kernels.py")?;
    let cache = format!("TRITON_CACHE_DIR={FOLDER}/cache");
    run::run("env", &[&cache, python, &script.to_string_lossy(), &place.to_string_lossy()])
}
