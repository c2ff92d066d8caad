//! Shared parts of the tests: oracles that may be absent, compiled kernels, golden files, files in memory,
//! scratch folders, random numbers.
//!
//! An absent oracle skips its test with a line that says how to get it, and fails it where `CI` is `true`.
//! Only [`absent`] decides that.

mod golden;
pub mod postgres;
pub mod slurm;

pub use golden::{golden, golden_file};

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Reports a missing oracle: fails under `CI=true`, prints `skipped: …` elsewhere.
///
/// # Panics
/// Where the variable `CI` is `true`.
pub fn absent(needs: &str, install: &str) {
    let text = format!("needs {needs}, install with {install}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{text}");
    println!("skipped: {text}");
}

/// Reports inputs that a test reads only where somebody asks for it, since they are large: hundreds of
/// megabytes.
pub fn not_asked_for(needs: &str, how: &str) {
    println!("skipped: needs {needs}, {how}");
}

/// Whether a program is found: by `PATH`, or at its path.
fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Path::new(name).is_file() && name.contains('/')
        || std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Debian package that holds a program.
fn package(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    match name.rsplit_once('-') {
        Some((tool, version)) if tool.starts_with("clang-offload") => format!("clang-tools-{version}"),
        Some((tool, version)) if tool.starts_with("clang") => format!("clang-{version}"),
        Some(("ld.lld", version)) => format!("lld-{version}"),
        Some((_, version)) if version.bytes().all(|it| it.is_ascii_digit()) => format!("llvm-{version}"),
        _ if name == "script" => "bsdutils".to_owned(),
        _ if ["srun", "sbatch", "scontrol"].contains(&name) => "slurm-client".to_owned(),
        _ => name.to_owned(),
    }
}

/// Whether all programs are installed; the first missing one is reported as [`absent`].
///
/// # Panics
/// Where one is missing under `CI=true`.
pub fn needs(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|it| !is_program(it));
    if let Some(program) = missing {
        absent(program, &format!("`apt-get install {}`", package(program)));
    }
    missing.is_none()
}

/// A Python that has some modules: the one that `ROCKHOUND_PYTHON` names, the one of `cargo xtask setup`, or
/// the system's. `None`, reported as [`absent`], if none of these has them.
///
/// # Panics
/// If no Python has them under `CI=true`.
pub fn python(modules: &[&str]) -> Option<PathBuf> {
    let found = find_python(modules);
    if found.is_none() {
        absent(&format!("a Python with {}", modules.join(" and ")), "`cargo xtask setup`");
    }
    found
}

/// A Python that has Triton and torch. `None`, with a message, if there is none, even under `CI=true`: the
/// CPU build of torch is on a separate package index, which not every machine reaches. Programs with arrays
/// of NumPy test the same launches everywhere.
pub fn python_with_torch() -> Option<PathBuf> {
    let found = find_python(&["triton", "torch"]);
    if found.is_none() {
        eprintln!(
            "skipped: no Python with torch; `cargo xtask setup` installs it where download.pytorch.org is reached"
        );
    }
    found
}

fn find_python(modules: &[&str]) -> Option<PathBuf> {
    let named = std::env::var_os("ROCKHOUND_PYTHON").map(PathBuf::from);
    let candidates = named.into_iter().chain([root().join("target/python/bin/python"), "python3".into()]);
    let ask = format!("import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {modules:?})))");
    let has_all = |python: &PathBuf| {
        Command::new(python).args(["-c", &ask]).output().is_ok_and(|it| it.status.success())
    };
    candidates.into_iter().find(has_all)
}

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository")
}

/// A file or folder of the project's shared data, which forks do not have: below `ROCKHOUND_SHARED`, else below
/// `../shared`. `None` with a line that says so if it is absent.
///
/// # Panics
/// If `ROCKHOUND_SHARED` is set and what it promises is absent.
pub fn shared(what: &str) -> Option<PathBuf> {
    let promised = std::env::var_os("ROCKHOUND_SHARED").map(PathBuf::from);
    let path = promised.clone().unwrap_or_else(|| root().join("../shared")).join(what);
    if path.exists() {
        return Some(path);
    }
    assert!(promised.is_none(), "ROCKHOUND_SHARED is set, and `{}` is absent", path.display());
    println!("skipped: needs `{what}` of the project's shared data: ROCKHOUND_SHARED names its folder");
    None
}

/// All files below a folder by their path in it, with `/` between folders.
///
/// # Panics
/// Where the folder or a file cannot be read.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let entries = std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()));
        for path in entries.map(|entry| entry.expect("an entry of a folder").path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let name =
                    path.strip_prefix(folder).expect("below the folder").to_string_lossy().into_owned();
                let bytes =
                    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.insert(name, bytes);
            }
        }
    }
    found
}

/// Runs a program that must succeed and returns its standard output.
///
/// # Panics
/// Where it cannot be started or fails.
pub fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Code object of a HIP source without headers and device library, for one GPU; `None`, reported as
/// [`absent`], without the compiler.
///
/// # Panics
/// Where the source does not compile, or the compiler is missing under `CI=true`.
pub fn compile(compiler: &str, source: &Path, target: &str, more: &[&str]) -> Option<Vec<u8>> {
    if !needs(&[compiler]) {
        return None;
    }
    let scratch = Scratch::new("compile");
    let output = scratch.path("code.hsaco");
    let arch = format!("--offload-arch={target}");
    let (source, to) = (source.to_string_lossy(), output.to_string_lossy());
    let fixed =
        ["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output", "-O3"];
    run(compiler, &[&fixed[..], &["-Wno-everything", &arch], more, &[&*source, "-o", &*to]].concat());
    Some(std::fs::read(output).expect("the compiler writes its output"))
}

/// A folder of one test, removed when dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder below the system's temporary folder.
    ///
    /// # Panics
    /// Where it cannot be made.
    pub fn new(name: &str) -> Scratch {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unique = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("rockhound-{name}-{}-{unique}", std::process::id()));
        // A process of the same number may have left one.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        Scratch(folder)
    }

    /// Path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in it and returns its path.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn write(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Pseudo-random numbers (SplitMix64), the same in every run.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    #[allow(clippy::should_implement_trait, reason = "an endless sequence needs no `Option`")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// A number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_programs() {
        for (program, expected) in [
            ("clang++-22", "clang-22"),
            ("/usr/bin/clang++-19", "clang-19"),
            ("clang-offload-bundler-22", "clang-tools-22"),
            ("ld.lld-22", "lld-22"),
            ("llvm-mc-22", "llvm-22"),
            ("tmux", "tmux"),
            ("script", "bsdutils"),
        ] {
            assert_eq!(package(program), expected, "{program}");
        }
    }

    #[test]
    fn needs_shared_data_that_is_nowhere() {
        if std::env::var_os("TESTKIT_ABSENT").is_some() {
            assert_eq!(shared("no-such-folder"), None);
        }
    }

    #[test]
    fn shared_data_is_needed_where_it_is_promised() {
        for (promised, passes) in [(None, true), (Some("/nowhere"), false)] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "tests::needs_shared_data_that_is_nowhere", "--nocapture"]);
            command.env("CI", "true").env("TESTKIT_ABSENT", "1").env_remove("ROCKHOUND_SHARED");
            command.envs(promised.map(|folder| ("ROCKHOUND_SHARED", folder)));
            assert_eq!(command.output().unwrap().status.success(), passes, "{promised:?}");
        }
    }

    /// Starts this test program on one hidden test, with `CI` as given.
    fn skipping(ci: &str) -> (bool, String) {
        let own = std::env::current_exe().unwrap();
        let mut command = Command::new(own);
        command.args(["--exact", "tests::needs_a_program_that_is_nowhere", "--nocapture"]);
        let output = command.env("CI", ci).env("TESTKIT_ABSENT", "1").output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn needs_a_program_that_is_nowhere() {
        if std::env::var_os("TESTKIT_ABSENT").is_some() {
            assert!(!needs(&["no-such-program-22"]));
            assert_eq!(compile("no-such-compiler-22", Path::new("none.hip"), "gfx942", &[]), None);
        }
    }

    #[test]
    fn an_absent_oracle_skips_here_and_fails_under_ci() {
        let (passed, text) = skipping("false");
        assert!(passed && text.contains("skipped: needs no-such-program-22, install with"), "{text}");
        let (passed, text) = skipping("true");
        assert!(!passed && text.contains("needs no-such-program-22, install with"), "{text}");
    }
}
