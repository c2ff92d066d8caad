//! HIP programs compiled for the tests, and the library and command they run with.
//!
//! The one idea to keep in mind: everything is built once into one folder; what is newer than its source stays.

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
const PROGRAMS: [(&str, &str, &[&str]); 6] = [
    ("racing.cpp", "racing", &["-gline-tables-only"]),
    ("ending.cpp", "ending", &["-lpthread"]),
    ("together.cpp", "together", &[]),
    ("session.cpp", "session", &[]),
    ("printing.cpp", "printing", &[]),
    ("printing.cpp", "printing-buffered", &["-mprintf-kind=buffered", "-DBUFFERED"]),
];

/// A folder with the library under its names and the compiled programs; `None` where the tools are missing.
pub(crate) fn prepared() -> Option<&'static Path> {
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
        let changed = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
        if changed(&folder.join(program)) > changed(&source) {
            continue;
        }
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

pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Builds the library and gives its path: tests do not link it, so cargo does not build it for them.
pub(crate) fn library() -> PathBuf {
    built("rockhound-hip", NAMES[0])
}

/// Builds a package as this test was built, and gives the path of a file of it.
pub(crate) fn built(package: &str, file: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let [_, built, target] = [1, 2, 3].map(|up| own.ancestors().nth(up).unwrap());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--target-dir"]).arg(target);
    if built.ends_with("release") {
        cargo.arg("--release");
    }
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    built.join(file)
}
