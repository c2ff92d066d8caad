//! HIP programs compiled for the tests, and the library and command they run with.
//!
//! Everything is built once into one folder, programs by the script that users build the examples with; what
//! is newer than its source stays. HIP's header, most of what a compiler does for a program, is read once.
#![allow(dead_code, reason = "each test file uses a part")]

use host::session::{self, Record, Session};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

/// Names under which programs ask for the library.
const NAMES: [&str; 5] =
    ["libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7", "libhiprtc.so"];

/// Tools that compile programs, and further tools for programs of the newest target.
const NEEDED: [&str; 4] = [
    "/usr/bin/clang++-19",
    "/usr/bin/llvm-as-15",
    "/usr/include/hip/hip_runtime.h",
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
];
const NEWER: &str = "/usr/bin/clang++-22";

/// Programs: source, name, how it is compiled besides.
const PROGRAMS: [(&str, &str, &[&str]); 11] = [
    ("racing.cpp", "racing", &["-gline-tables-only"]),
    ("ending.cpp", "ending", &["-lpthread"]),
    ("together.cpp", "together", &[]),
    ("session.cpp", "session", &[]),
    ("graphs.cpp", "graphs", &[]),
    ("further.cpp", "further", &[]),
    ("refusing.cpp", "refusing", &[]),
    ("compiling.cpp", "compiling", &["-lhiprtc"]),
    ("launching.cpp", "launching", &[]),
    ("printing.cpp", "printing", &[]),
    ("printing.cpp", "printing-buffered", &["-mprintf-kind=buffered", "-DBUFFERED"]),
];

/// A folder with the library under its names and those programs; `None` where the tools are missing.
pub(crate) fn prepared() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<&'static Path>> = OnceLock::new();
    *FOLDER.get_or_init(|| {
        let toolchain = toolchain()?;
        at_once(&PROGRAMS, |(source, program, more)| {
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
            toolchain.build(&source, program, &["gfx90a", "gfx942"], more).unwrap();
        });
        Some(toolchain.folder())
    })
}

/// Does something for each of a list, for as many at once as there are cores: a compiler keeps one core busy.
fn at_once<T: Sync>(all: &[T], one: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(it) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    one(it);
                }
            });
        }
    });
}

/// Makes a file that tests share, once in this process; who asks for it meanwhile waits.
pub(crate) fn once(name: &str, make: impl FnOnce() -> PathBuf) -> PathBuf {
    static MADE: Mutex<BTreeMap<String, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let own = MADE.lock().unwrap().entry(name.to_owned()).or_default().clone();
    own.get_or_init(make).clone()
}

/// A folder with the library under its names, into which programs are compiled.
pub(crate) struct Toolchain {
    folder: PathBuf,
}

/// The toolchain; `None` (and a word about it) where tools are missing.
pub(crate) fn toolchain() -> Option<&'static Toolchain> {
    static TOOLCHAIN: OnceLock<Option<Toolchain>> = OnceLock::new();
    TOOLCHAIN.get_or_init(prepare).as_ref()
}

fn present(tools: &[&str]) -> bool {
    let missing = tools.iter().find(|tool| !Path::new(tool).exists());
    if let Some(missing) = missing {
        testkit::absent(
            missing,
            "`apt-get install clang-19 clang-tools-19 clang-22 llvm-15 libamdhip64-dev rocm-device-libs`",
        );
    }
    missing.is_none()
}

fn prepare() -> Option<Toolchain> {
    if !present(&NEEDED) {
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hip-programs");
    std::fs::create_dir_all(&folder).unwrap();
    let library = library();
    for name in NAMES {
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&library, link).unwrap();
    }
    Some(Toolchain { folder })
}

/// Builds the library and gives its path: tests do not link it, so cargo does not build it for them.
pub(crate) fn library() -> PathBuf {
    built("rockhound-hip", NAMES[0])
}

/// Builds a package as this test was built, and gives the path of a file of it. A file newer than all sources
/// stays: built alone, the package has other features of other crates than in the workspace, and most of them
/// would be built again.
pub(crate) fn built(package: &str, file: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let [_, built, target] = [1, 2, 3].map(|up| own.ancestors().nth(up).unwrap());
    let modified = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
    if modified(&built.join(file)).is_some_and(|file| file > newest_source()) {
        return built.join(file);
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", package, "--target-dir"]).arg(target);
    if built.ends_with("release") {
        cargo.arg("--release");
    }
    run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    built.join(file)
}

/// Modification time of the newest file that decides the compiled result of crates.
fn newest_source() -> SystemTime {
    fn visit(path: &Path, newest: &mut SystemTime) {
        let Ok(about) = std::fs::metadata(path) else { return };
        if about.is_dir() {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.filter(|it| it.file_name() != "tests").for_each(|it| visit(&it.path(), newest));
        } else if let Ok(time) = about.modified() {
            *newest = time.max(*newest);
        }
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut newest = SystemTime::UNIX_EPOCH;
    for part in ["crates", "Cargo.toml", "Cargo.lock"] {
        visit(&workspace.join(part), &mut newest);
    }
    newest
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("crates/LAYER/CRATE")
}

impl Toolchain {
    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Compiles a source file; `None` (and a word about it) where its targets need a tool that is missing.
    pub(crate) fn build(
        &self,
        source: &Path,
        name: &str,
        targets: &[&str],
        more: &[&str],
    ) -> Option<PathBuf> {
        if targets.contains(&"gfx950") && !present(&[NEWER]) {
            return None;
        }
        let script = root().join("examples/program.sh");
        let program = self.folder.join(name);
        let time = |path: &Path| std::fs::metadata(path).and_then(|it| it.modified()).ok();
        Some(once(name, || {
            if time(&program)
                .is_some_and(|built| [source, &script].iter().all(|from| time(from) < Some(built)))
            {
                return program;
            }
            let text = std::fs::read_to_string(source).unwrap();
            assert!(
                text.contains("#include <hip/hip_runtime.h>"),
                "{source:?} includes what is included here"
            );
            // Under another name until it is complete.
            let making = program.with_extension(format!("{}", std::process::id()));
            let mut build = Command::new(&script);
            build.arg("-o").arg(&making).arg(source).args(targets).args(more);
            build.arg(format!("-L{}", self.folder.display()));
            // A header compiled with other machine options is refused.
            if !more.iter().any(|it| it.starts_with("-m")) {
                build.arg("-include").arg(self.header(targets));
            }
            run(&mut build);
            std::fs::rename(making, &program).unwrap();
            program
        }))
    }

    /// A header that includes HIP's, precompiled for the host and for some targets: for their compiler, this
    /// time. A compiler takes the usable file from the folder beside the header, and refuses files of other
    /// versions.
    fn header(&self, targets: &[&str]) -> PathBuf {
        let name = format!("headers-{}", targets.join("-"));
        once(&name, || {
            let folder = self.empty(&name);
            let header = folder.join("hip.h");
            let compiled = folder.join("hip.h.gch");
            std::fs::create_dir(&compiled).unwrap();
            std::fs::write(&header, "#include <hip/hip_runtime.h>\n").unwrap();
            let host = (targets[0], "--cuda-host-only", "host");
            let devices = targets.iter().map(|target| (*target, "--cuda-device-only", *target));
            let jobs: Vec<_> = std::iter::once(host).chain(devices).collect();
            at_once(&jobs, |(target, side, name)| {
                let mut script = Command::new(root().join("examples/program.sh"));
                // Further outputs of the script serve the programs too.
                script.arg("-o").arg(&folder).arg(&header).args([target, side, "-fsyntax-only"]);
                run(script
                    .args(["-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang"])
                    .arg(compiled.join(name)));
            });
            header
        })
    }

    /// An empty folder.
    pub(crate) fn empty(&self, name: &str) -> PathBuf {
        let folder = self.folder.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A command that runs a program on a GPU and records into a folder.
    pub(crate) fn recording(&self, program: &Path, gpu: &str, folder: &Path) -> Command {
        recording(&self.folder, program, folder, Session { gpu: gpu.to_owned(), ..Session::default() })
    }
}

/// A command that runs a program in a session and records below the session's folder.
pub(crate) fn recording(libraries: &Path, program: &Path, folder: &Path, mut session: Session) -> Command {
    let record = session.record.take().unwrap_or_default();
    session.record = Some(Record { output: folder.join("workload"), ..record });
    session.write(folder).unwrap();
    in_session(libraries, program, folder)
}

/// A command that runs a program on a GPU, with the library in a folder.
pub(crate) fn on(libraries: &Path, program: &Path, gpu: &str) -> Command {
    with(libraries, program, &Session { gpu: gpu.to_owned(), ..Session::default() })
}

/// A command that runs a program in a session that leaves no files. Tests that run beside each other share
/// its folder.
pub(crate) fn with(libraries: &Path, program: &Path, session: &Session) -> Command {
    let mut hash = DefaultHasher::new();
    format!("{session:?}").hash(&mut hash);
    let folder = libraries.join("sessions").join(format!("{:016x}", hash.finish()));
    if !folder.exists() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let making = folder.with_extension(format!("{}-{made}", std::process::id()));
        std::fs::create_dir_all(&making).unwrap();
        session.write(&making).unwrap();
        if std::fs::rename(&making, &folder).is_err() {
            std::fs::remove_dir_all(&making).unwrap();
        }
    }
    in_session(libraries, program, &folder)
}

/// A command that runs a program in the session of a folder.
pub(crate) fn in_session(libraries: &Path, program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", libraries).env(session::VARIABLE, folder);
    command
}

/// Values of a counter or another column of a recording, by dispatch.
pub(crate) fn counter(folder: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(folder.join("pmc_perf.csv")).unwrap();
    // Kernel names are quoted, and none of these tests' names has a quote in it.
    let cells = |line: &str| -> Vec<String> {
        let parts = line.split('"').enumerate();
        let plain = parts
            .map(|(number, part)| if number % 2 == 0 { part.to_owned() } else { part.replace(',', ";") });
        plain.collect::<String>().split(',').map(str::to_owned).collect()
    };
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap());
    let column = header.iter().position(|it| it == name).unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|line| cells(line)[column].parse().unwrap()).collect()
}
