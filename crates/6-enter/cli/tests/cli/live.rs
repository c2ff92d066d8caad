//! Triton programs as their users start them: unmodified, with arrays of NumPy and with tensors of torch.
//!
//! The one idea to keep in mind: the programs compare their results themselves; what is looked at here is what Rockhound adds.

use crate::run::{Ran, command, folder, root};
use std::path::Path;
use std::process::Stdio;

/// Runs `rockhound ARGS -- PYTHON SCRIPT`.
fn live(args: &[&str], python: &Path, script: &str) -> Ran {
    let script = root().join("crates/6-enter/cli/tests/live").join(script);
    let (python, script) = (python.display().to_string(), script.display().to_string());
    let all: Vec<&str> = args.iter().copied().chain(["--", &python, &script]).collect();
    let output = command(&all)
        .env("TRITON_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("triton-cache"))
        .env("TRITON_DEFAULT_FP_FUSION", "1")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Ran {
        code: output.status.code().expect("an exit code, no signal"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

#[test]
fn arrays_of_numpy_are_arguments_of_kernels() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    for gpu in ["mi300x", "mi355x", "mi210"] {
        let ran = live(&["run", "--gpu", gpu], &python, "vector_add.py");
        assert_eq!((ran.code, ran.stdout.trim()), (0, "sums equal NumPy's"), "{gpu}: {}", ran.stderr);
    }
}

#[test]
fn programs_with_torch_are_right() {
    let Some(python) = testkit::python(&["triton", "torch"]) else { return };
    for (script, said) in [
        ("vector_add_torch.py", "sums equal torch's"),
        ("softmax.py", "softmax equals torch's"),
        ("matmul.py", "product equals torch's"),
        ("layer_norm.py", "layer norm and its gradients equal torch's"),
        ("attention.py", "attention equals torch's"),
    ] {
        let ran = live(&["run"], &python, script);
        assert_eq!(ran.code, 0, "{script}: {}", ran.stderr);
        assert!(ran.stdout.contains(said), "{script}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn recordings_know_what_was_launched() {
    let Some(python) = testkit::python(&["triton", "numpy"]) else { return };
    let place = folder("live_recording");
    let output = place.display().to_string();
    let ran = live(&["profile", "-o", &output, "--overwrite"], &python, "vector_add.py");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let notes = std::fs::read_to_string(place.join("pmc_launches.jsonl")).expect("notes of launches");
    let note: serde_json::Value = serde_json::from_str(notes.lines().next().unwrap()).unwrap();
    assert_eq!(note["kernel"], "add_kernel");
    assert_eq!(note["configuration"][0], serde_json::json!(["BLOCK", 1024]));
    assert_eq!(note["arguments"][3], serde_json::json!({"name": "n", "type": "i32", "value": 98432}));
    assert_eq!(note["arguments"][0]["shape"], serde_json::json!([98432]));
}
