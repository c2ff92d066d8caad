//! Real HIP programs, compiled here, on this library.
//!
//! The one idea to keep in mind: a program checks its own results and calls; its exit code is the number of checks that
//! failed. What the library says goes to standard error and is compared.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "tests compile and run programs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Names under which programs ask for the library.
const NAMES: [&str; 4] = ["libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"];

/// Files of the device libraries that Debian's package lacks: name, symbol, value.
const LACKING: [(&str, &str, u32); 3] = [
    ("oclc_isa_version_942", "__oclc_ISA_version", 9402),
    ("oclc_isa_version_950", "__oclc_ISA_version", 9500),
    ("oclc_abi_version_600", "__oclc_ABI_version", 600),
];

/// Programs: source, name, how it is compiled besides.
const PROGRAMS: [(&str, &str, &[&str]); 4] = [
    ("together.cpp", "together", &[]),
    ("session.cpp", "session", &[]),
    ("printing.cpp", "printing", &[]),
    ("printing.cpp", "printing-buffered", &["-mprintf-kind=buffered", "-DBUFFERED"]),
];

/// A folder with the library under its names and the compiled programs; `None` where the tools are missing.
fn prepared() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(prepare).as_deref()
}

fn prepare() -> Option<PathBuf> {
    let bitcode = Path::new("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode");
    let tools = ["/usr/bin/clang++-19", "/usr/bin/llvm-as-15", "/usr/include/hip/hip_runtime.h"];
    if let Some(missing) = tools.iter().map(Path::new).chain([bitcode]).find(|it| !it.exists()) {
        println!(
            "skipped: no {} (packages clang-19, llvm-15, libamdhip64-dev, rocm-device-libs)",
            missing.display()
        );
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hip-programs");
    std::fs::create_dir_all(folder.join("bitcode")).unwrap();
    for entry in std::fs::read_dir(bitcode).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.join("bitcode").join(path.file_name().unwrap())).unwrap();
    }
    for (name, symbol, value) in LACKING {
        let source = folder.join("bitcode").join(format!("{name}.ll"));
        let line = "= linkonce_odr protected local_unnamed_addr addrspace(4) constant i32";
        std::fs::write(&source, format!("@{symbol} {line} {value}, align 4\n")).unwrap();
        run(Command::new("llvm-as-15").arg(&source).arg("-o").arg(source.with_extension("bc")));
    }
    let library = library();
    for name in NAMES {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, link).unwrap();
    }
    for (source, program, more) in PROGRAMS {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
        run(Command::new("clang++-19")
            .args([
                "-w",
                "-x",
                "hip",
                "--offload-arch=gfx90a",
                "--offload-arch=gfx942",
                "--rocm-path=/usr",
                "-O3",
            ])
            .arg(format!("--rocm-device-lib-path={}", folder.join("bitcode").display()))
            .args(more)
            .arg(source)
            .arg("-o")
            .arg(folder.join(program))
            .arg("-lamdhip64"));
    }
    Some(folder)
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Builds the library and gives its path: tests do not link it, so cargo does not build it for them.
fn library() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let [_, built, target] = [1, 2, 3].map(|up| own.ancestors().nth(up).unwrap());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--target-dir"]).arg(target);
    if built.ends_with("release") {
        cargo.arg("--release");
    }
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    built.join(NAMES[0])
}

/// Runs a part of the first program on a GPU.
fn session(folder: &Path, gpu: &str, arguments: &[&str]) -> Output {
    program(folder, "session", gpu, arguments).output().unwrap()
}

/// A program on a GPU.
fn program(folder: &Path, name: &str, gpu: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(folder.join(name));
    command.args(arguments).env("LD_LIBRARY_PATH", folder).env("ROCKHOUND_GPU", gpu);
    command
}

#[test]
fn parts_pass_on_every_gpu_with_code() {
    let Some(folder) = prepared() else { return };
    for gpu in ["mi210", "mi300x"] {
        for part in ["copies", "reductions", "symbols", "queries", "bad"] {
            let output = session(folder, gpu, &[part]);
            assert_eq!(output.status.code(), Some(0), "{gpu} {part}: {output:?}");
        }
    }
}

#[test]
fn a_million_work_items_copy() {
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi300x", &["copies", "1048576"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn a_stray_store_ends_the_program_with_its_place() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi300x", &["stray"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(6), "{said}");
    for part in
        ["kernel stopped: store of 4 bytes at", "outside every allocation", "in `stray(int*)`", "lane 0"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_gpu_without_code_is_named_with_the_code_there_is() {
    let Some(folder) = prepared() else { return };
    let output = session(folder, "mi355x", &["copies"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0));
    assert!(said.contains("code for gfx90a, gfx942, and none for the emulated MI355X (gfx950)"), "{said}");
}

/// What the kernel `lines` prints.
fn lines() -> String {
    let line = |id: u32| {
        let name =
            ["a rather long text that does not fit into one packet of seven words", "odd"][id as usize % 2];
        let letter = char::from(b'a' + (id % 26) as u8);
        let number = if id == 0 { "0".to_string() } else { format!("{id:#x}") };
        format!("item {id} of {name}: {:6.2} {letter} {number}%\n", f64::from(id) * 0.5)
    };
    format!("begin\n{}end\n", (0..2500).map(line).collect::<String>())
}

#[test]
fn kernels_print_in_the_order_of_workgroups() {
    let Some(folder) = prepared() else { return };
    for name in ["printing", "printing-buffered"] {
        for (gpu, threads) in [("mi300x", "1"), ("mi300x", "2"), ("mi210", "4")] {
            let mut command = program(folder, name, gpu, &["lines"]);
            let output = command.env("ROCKHOUND_THREADS", threads).output().unwrap();
            assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
            assert!(
                output.stdout == lines().as_bytes(),
                "{name} {gpu}: {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    }
}

#[test]
fn failed_asserts_and_abort_end_the_program() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    let assertion = "void check(const int *): Device-side assertion `values[id] >= 0 && \"values are positive\"' failed.\n";
    for (part, stdout, stderr) in [
        (
            "assert",
            "begin\n",
            ["printing.cpp:", assertion, "in `check(int const*)`", "workgroup (2, 0, 0), wave 0"],
        ),
        (
            "abort",
            "begin\nitem 0 of a rather long text that does not fit into one packet of seven words:   0.00 a 0%\n",
            ["kernel stopped: trap 2: `abort`", "in `halt(int)`", "`s_trap 2`", "workgroup (0, 0, 0)"],
        ),
    ] {
        let output = program(folder, "printing", "mi300x", &[part]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
        for text in stderr {
            assert!(said.contains(text), "{text}: {said}");
        }
    }
}

#[test]
fn kernels_have_a_heap() {
    let Some(folder) = prepared() else { return };
    let output = program(folder, "printing", "mi300x", &["heap"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begin\nsum 32640\nend\n", "{output:?}");
}

#[test]
fn cooperative_launches_meet_or_say_that_they_cannot() {
    use std::os::unix::process::ExitStatusExt;
    let Some(folder) = prepared() else { return };
    // (part, what it prints, signal, what is said)
    let cases = [
        ("grid", "hipSuccess, 33 right\n", None, ""),
        ("counter", "hipSuccess, 33 right\n", None, ""),
        ("large", "hipErrorCooperativeLaunchTooLarge, 0 right\n", None, "100000 workgroups, but only "),
        ("plain", "", Some(6), "barrier of the whole grid in a launch that is not cooperative"),
        ("deadlock", "", Some(6), "deadlock: 32 of 33 waves wait for the rest of the grid, 1 have ended"),
        ("spin", "", Some(6), "deadlock: 3 of 4 waves wait for the rest of the grid, 1 have ended"),
    ];
    for gpu in ["mi300x", "mi210"] {
        for (part, stdout, signal, stderr) in cases {
            let output = program(folder, "together", gpu, &[part]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), signal, "{gpu} {part}: {said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{gpu} {part}: {said}");
            assert!(said.contains(stderr) && said.is_empty() == stderr.is_empty(), "{gpu} {part}: {said}");
        }
    }
}
