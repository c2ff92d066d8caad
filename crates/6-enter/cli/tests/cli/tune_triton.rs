//! `tune`: space files whose configurations become kernels of Triton.

use crate::run::{Ran, command, folder, root, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A Python with Triton; without one the test says that it skips.
fn python() -> Option<PathBuf> {
    testkit::python(&["triton"])
}

/// Adds 1 to the first `n` numbers, `step` apart, with a heuristic that gives the block.
const SCRIPT: &str = "import triton
import triton.language as tl

@triton.heuristics({'TWICE': lambda args: args['BLOCK'] * 2})
@triton.jit
def add(x, y, n, step, scale, BLOCK: tl.constexpr, TWICE: tl.constexpr):
    at = tl.program_id(0) * TWICE + tl.arange(0, TWICE)
    value = tl.load(x + at * step, mask=at < n, other=0.0)
    tl.store(y + at * step, value * scale, mask=at < n)
";

const SPACE: &str = "gpu = \"mi300x\"
[parameters]
BLOCK = [32, 64]
num_warps = [1, 2]
[start]
num_warps = 2
[run.triton]
python = \"PYTHON\"
file = \"add.py\"
kernel = \"add\"
grid = [\"-(-n // (2 * BLOCK))\"]
[[argument]]
name = \"x\"
type = \"f32\"
shape = [\"n\", \"step\"]
initial = \"random\"
[[argument]]
name = \"y\"
type = \"f32\"
shape = [\"n * step\"]
[[argument]]
name = \"scale\"
value = 0.5
[[shapes]]
n = 1
step = 16
[[shapes]]
n = 100
step = 1
";

fn searched(name: &str, script: &str, space: &str, args: &[&str]) -> (Ran, Value) {
    let dir = folder(name);
    std::fs::write(dir.join("add.py"), script).unwrap();
    std::fs::write(dir.join("tune.toml"), space).unwrap();
    let ran = in_folder(&dir, &[&["tune", "tune.toml", "--format", "json"], args].concat());
    let value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    (ran, value)
}

fn in_folder(dir: &Path, args: &[&str]) -> Ran {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("triton-cache");
    let mut command = command(args);
    command.current_dir(dir).env("TRITON_CACHE_DIR", cache).output().expect("the program starts").into()
}

#[test]
fn each_shape_has_its_own_specialisation() {
    let Some(python) = python() else { return };
    let space = SPACE.replace("PYTHON", &python.display().to_string());
    let (ran, value) = searched("tune-triton", SCRIPT, &space, &["--strategy", "exhaustive"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    let search = &value["searches"][0];
    assert_eq!((&search["tried"], &search["failed"]), (&4.into(), &0.into()), "{search}");
    // 16 numbers of the first shape and 100 of the second, in two buffers each.
    assert!(search["proof"].to_string().contains("232 elements"), "{search}");
    let config = search["outputs"][0]["value"].as_str().unwrap();
    assert!(config.starts_with("triton.Config({\"BLOCK\": ") && config.contains(", num_warps="), "{config}");
}

#[test]
fn a_kernel_beyond_the_lds_is_rejected() {
    let Some(python) = python() else { return };
    let space = std::fs::read_to_string(root().join("examples/tune/matmul.toml")).unwrap();
    let constraint = space.lines().find(|it| it.contains("<= 65536")).unwrap();
    let start = "BLOCK_M = 64\nBLOCK_N = 64\nBLOCK_K = 64\nnum_warps = 4\nnum_stages = 2";
    let large = "BLOCK_M = 256\nBLOCK_N = 256\nBLOCK_K = 128\nnum_warps = 8\nnum_stages = 2";
    let run = format!("[run.triton]\npython = {:?}", python.display().to_string());
    let space = space.replace(constraint, "").replace(start, large).replace("[run.triton]", &run);
    let script = std::fs::read_to_string(root().join("examples/tune/matmul.py")).unwrap();
    let dir = folder("tune-triton-lds");
    std::fs::write(dir.join("matmul.py"), script).unwrap();
    std::fs::write(dir.join("tune.toml"), space).unwrap();
    let ran = in_folder(&dir, &["tune", "tune.toml", "--budget", "1", "--no-inspect"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("131072 of 65536"), "{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn what_no_configuration_can_run_is_refused_before_the_search() {
    let Some(python) = python() else { return };
    let python = python.display().to_string();
    for (name, from, to, said) in [
        ("kernel", "kernel = \"add\"", "kernel = \"sub\"", "`sub`"),
        ("file", "file = \"add.py\"", "file = \"sub.py\"", "sub.py"),
        ("argument", "name = \"scale\"", "name = \"z\"", "`z`"),
        ("value", "[[argument]]\nname = \"scale\"\nvalue = 0.5\n", "", "`scale`"),
        ("parameter", "num_warps = [1, 2]", "num_warps = [1, 2]\nTILE = [1]", "`TILE`"),
        ("name", "2 * BLOCK", "2 * TILE", "`TILE`"),
        ("python", "PYTHON", "no-such-python", "no-such-python"),
        ("triton", "PYTHON", "PLAIN", "Triton"),
        ("gpu", "gpu = \"mi300x\"", "", "name one"),
        ("grid", "grid = [\"-(-n // (2 * BLOCK))\"]", "grid = []", "grid"),
        ("type", "type = \"f32\"\nshape = [\"n\"", "type = \"f33\"\nshape = [\"n\"", "`f33`"),
        ("key", "initial = \"random\"", "starts = \"random\"", "starts"),
        ("both", "value = 0.5", "value = 0.5\nshape = [1]", "either"),
        ("build", "[run.triton]", "[build]\ncommand = \"true\"\n[run.triton]", "remove `[build]`"),
    ] {
        let space = SPACE.replace(from, to);
        assert_ne!(space, SPACE, "{name}");
        // Without site packages there is no Triton.
        let dir = folder(&format!("tune-triton-plain-{name}"));
        let plain = dir.join("python");
        std::fs::write(&plain, format!("#!/bin/sh\nexec {python:?} -S \"$@\"\n")).unwrap();
        std::fs::set_permissions(&plain, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let space = space.replace("PYTHON", &python).replace("PLAIN", &plain.display().to_string());
        let (ran, value) = searched(&format!("tune-triton-{name}"), SCRIPT, &space, &["--budget", "1"]);
        assert!(ran.code == 1 || ran.code == 64, "{name}: {} {}", ran.code, ran.stderr);
        assert!(value.is_null() && ran.stderr.contains(said), "{name}: {}\n{}", ran.stderr, ran.stdout);
    }
}

#[test]
fn a_script_gives_a_first_space_file() {
    let dir = folder("tune-triton-init");
    std::fs::copy(root().join("examples/tune/matmul.py"), dir.join("matmul.py")).unwrap();
    let ran = run_in(&dir, &["tune", "--init", "matmul.py"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file: toml::Table = toml::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> =
        file["argument"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let parameters: Vec<&String> = file["parameters"].as_table().unwrap().keys().collect();
    assert_eq!(parameters.len(), 4 + 5, "{parameters:?}");
}

#[test]
fn shapes_are_timed_on_the_emulated_gpu() {
    let Some(python) = python() else { return };
    let python = python.display().to_string();
    let dir = folder("tune-triton-shapes");
    std::fs::write(dir.join("list.csv"), "M,N,K\n16,256,512\n").unwrap();
    let args =
        ["tune", "gemm", "--shapes", "list.csv", "--for", "sglang", "--block", "128,128", "--tiles", "1"];
    let emulated = [&args[..], &["--clock", "emulated", "--format", "json", "--python"]].concat();
    let ran = in_folder(&dir, &[&emulated[..], &[python.as_str()]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    let table = &value["tables"][0];
    let columns = table["columns"].as_array().unwrap();
    let place = columns.iter().position(|it| it["key"] == "emulated_us").unwrap();
    let time = table["rows"][0]["cells"][place].as_f64().unwrap_or_else(|| panic!("{table}"));
    assert!((1.0..100.0).contains(&time), "{table}");
    let ran = in_folder(&dir, &[&emulated[..], &["no-such-python"]].concat());
    assert!(ran.code == 1 && ran.stderr.contains("no-such-python"), "{}", ran.stderr);
}
