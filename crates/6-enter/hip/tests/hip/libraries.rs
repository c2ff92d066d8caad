//! Programs that call libraries which this machine lacks.

use crate::compiled;
use crate::profile::rockhound;
use host::session::{self, Reliance, Session};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program and the folder with the stand-ins that it is linked with; `None` where tools are missing.
fn program(name: &str, linked: &[&str]) -> Option<(PathBuf, PathBuf)> {
    let toolchain = compiled::toolchain()?;
    // Tests that run at once share the folder.
    let folder = format!("libraries-{name}");
    let libraries = compiled::once(&folder, || {
        let libraries = toolchain.empty(&folder);
        host::stand_ins::write(&libraries, |_| false).unwrap();
        libraries
    });
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/{name}.cpp"));
    let folder = format!("-L{}", libraries.display());
    let more: Vec<&str> = std::iter::once(folder.as_str()).chain(linked.iter().copied()).collect();
    // No kernel of its own: code for one target is enough.
    Some((toolchain.build(&source, name, &["gfx942"], &more)?, libraries))
}

fn run(program: &Path, libraries: &Path, session: &Path, part: &str) -> Output {
    let hip = compiled::toolchain().unwrap().folder();
    let mut command = compiled::in_session(hip, program, session);
    command.env("LD_LIBRARY_PATH", std::env::join_paths([hip, libraries]).unwrap()).arg(part);
    command.output().unwrap()
}

fn session(name: &str, gpu: &str) -> PathBuf {
    let folder = compiled::toolchain().unwrap().empty(name);
    Session { gpu: gpu.to_owned(), devices: 2, ..Session::default() }.write(&folder).unwrap();
    folder
}

#[test]
fn transforms_random_numbers_and_gpus_are_as_they_must_be() {
    let linked = [
        "-lhipfft",
        "-lrocfft",
        "-lhiprand",
        "-lhsa-runtime64",
        "-lrocm_smi64",
        "-lamd_smi",
        "-lroctx64",
        "-lMIOpen",
    ];
    let Some((program, libraries)) = program("others", &linked) else { return };
    for gpu in ["mi100", "mi300x"] {
        let session = session("session-others", gpu);
        for part in ["transforms", "native", "random", "presence"] {
            let output = run(&program, &libraries, &session, part);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn programs_may_ask_for_versions_of_functions() {
    let Some(toolchain) = compiled::toolchain() else { return };
    let folder = toolchain.empty("versioned");
    let (vendor, ours) = (folder.join("vendor"), folder.join("ours"));
    std::fs::create_dir_all(&vendor).unwrap();
    host::stand_ins::write(&ours, |_| false).unwrap();
    let write = |name: &str, text: &str| std::fs::write(vendor.join(name), text).unwrap();
    write("library.c", "int miopenCreate(void **handle) { return 99; }");
    write("versions", "MIOPEN_HIP_1 { global: miopenCreate; local: *; };");
    write(
        "program.c",
        "int miopenCreate(void **); int main() { void *handle = 0; return miopenCreate(&handle) || !handle; }",
    );
    let compile = |words: &[&str]| {
        let done = Command::new("clang-22").current_dir(&vendor).args(words).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let soname = "-Wl,-soname,libMIOpen.so.1";
    compile(&[
        "-shared",
        "-fPIC",
        "library.c",
        "-Wl,--version-script,versions",
        soname,
        "-o",
        "libMIOpen.so.1",
    ]);
    compile(&["program.c", "-L.", "-l:libMIOpen.so.1", "-o", "program"]);
    let session = session("session-versioned", "mi300x");
    let output = run(&vendor.join("program"), &ours, &session, "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn systems_of_equations_are_solved() {
    let Some((program, libraries)) = program("solvers", &["-lrocsolver", "-lrocblas", "-lhipsolver"]) else {
        return;
    };
    for gpu in ["mi210", "mi300x"] {
        let session = session("session-solvers", gpu);
        let output = run(&program, &libraries, &session, "");
        assert_eq!(output.status.code(), Some(0), "{gpu}: {output:?}");
    }
}

#[test]
fn sparse_matrices_are_multiplied_converted_and_sorted() {
    let Some((program, libraries)) = program("sparse", &["-lhipsparse"]) else { return };
    let parts = ["generic", "older", "sorts", "vectors", "dense", "triangles", "refused"];
    // Without instructions that add floating-point numbers in memory the first part has other code.
    for (gpu, parts) in [("mi100", &parts[..1]), ("mi300x", &parts)] {
        let session = session("session-sparse", gpu);
        for part in parts {
            let output = run(&program, &libraries, &session, part);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn layers_of_neural_nets_are_right() {
    let Some((program, libraries)) = program("layers", &["-lMIOpen"]) else { return };
    for gpu in ["mi100", "mi355x"] {
        let session = session("session-layers", gpu);
        for part in ["convolutions", "images", "tensors", "fusion", "refused"] {
            let output = run(&program, &libraries, &session, part);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn collectives_join_the_devices_of_a_process() {
    let Some((program, libraries)) = program("collectives", &["-lrccl", "-lpthread"]) else { return };
    for gpu in ["mi210", "mi300x"] {
        let session = session("session-collectives", gpu);
        for part in ["reductions", "copies", "messages", "threads", "refused"] {
            let output = run(&program, &libraries, &session, part);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn products_vectors_and_epilogues_are_right_on_every_gpu() {
    let linked = ["-lrocblas", "-lhipblas", "-lhipblaslt"];
    let Some((program, libraries)) = program("blas", &linked) else { return };
    for gpu in ["mi100", "mi210", "mi300x", "mi355x"] {
        let session = session("libraries-session", gpu);
        for part in ["products", "types", "batches", "vectors", "shapes", "epilogues"] {
            let output = run(&program, &libraries, &session, part);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
        let relied = session::reliances(&session).unwrap();
        for function in ["rocblas_sgemm", "hipblasGemmEx", "hipblasLtMatmul", "rocblas_dtrsm"] {
            assert!(relied.contains(&Reliance::StoodIn { function: function.to_owned() }), "{relied:?}");
        }
    }

    let session = session("libraries-refused", "mi300x");
    let output = run(&program, &libraries, &session, "refused");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(said.contains("`rocblas_strmm` returned status 2, not supported"), "{said}");
    let refused =
        |it: &Reliance| matches!(it, Reliance::NotSupported { function, .. } if function == "rocblas_strmm");
    assert!(session::reliances(&session).unwrap().iter().any(refused));
}

#[test]
fn the_command_finds_them_and_reports_what_a_run_relied_on() {
    let linked = ["-lrocblas", "-lhipblas", "-lhipblaslt"];
    let Some((program, _)) = program("blas", &linked) else { return };
    let report = compiled::toolchain().unwrap().empty("libraries-report").with_extension("json");
    let mut command = rockhound();
    command.args(["run", "--gpu", "mi300x", "--report"]).arg(&report).arg("--").arg(&program);
    for (part, stood_in, not_supported) in [("vectors", "rocblas_sdot", ""), ("refused", "", "rocblas_strmm")]
    {
        let output = Command::new(command.get_program())
            .args(command.get_args())
            .arg(part)
            .env_remove("LD_LIBRARY_PATH")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{part}: {said}");
        let written: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        assert_eq!(
            (&written["schema"], &written["emulated"]),
            (&"rockhound.fidelity/1".into(), &true.into())
        );
        let has = |list: &str, name: &str| {
            let named = |it: &Value| it.as_str() == Some(name) || it["function"] == name;
            name.is_empty() || written[list].as_array().unwrap().iter().any(named)
        };
        assert!(has("stood_in", stood_in) && has("not_supported", not_supported), "{part}: {written}");
        assert!(said.contains(stood_in) && said.contains(not_supported), "{part}: {said}");
    }
}
