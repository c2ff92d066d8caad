//! Search for our shared libraries: the HIP runtime, and the one that captures launches on a GPU.
//!
//! Only a file with the marker of this build is used; others are named and skipped. A command installed
//! without its library builds the library from its sources, once, and keeps it.

use crate::run::report::Reporter;
use crate::{CAPTURE_LIBRARY_MARK, Contents, HIP_LIBRARY_MARK};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library of ours.
struct Library {
    /// Name for people.
    what: &'static str,
    /// File name.
    name: &'static str,
    /// Package that builds it, and the folder of its sources.
    package: &'static str,
    sources: &'static str,
    mark: &'static str,
}

const HIP: Library = Library {
    what: "HIP runtime library",
    name: "libamdhip64.so",
    package: "rockhound-hip",
    sources: "hip",
    mark: HIP_LIBRARY_MARK,
};

const CAPTURE: Library = Library {
    what: "library that captures launches",
    name: "librockhound_capture.so",
    package: "rockhound-capture",
    sources: "capture",
    mark: CAPTURE_LIBRARY_MARK,
};

/// Folder where cargo put this program: `target/release`.
const BUILD_FOLDER: &str = env!("ROCKHOUND_BUILD_DIR");

/// Available libraries.
pub struct Libraries {
    /// The one of this build.
    pub own: Option<PathBuf>,
    /// Others in the same places.
    pub others: Vec<PathBuf>,
}

/// Looks for the HIP runtime in all places.
pub fn look() -> Libraries {
    HIP.look()
}

/// The HIP runtime of this build, which is built if there is none.
///
/// # Errors
/// Says where it was looked for, and why it cannot be built.
pub fn find(reporter: &dyn Reporter) -> Result<PathBuf> {
    HIP.find(reporter)
}

/// The library of this build that captures launches, which is built if there is none.
///
/// # Errors
/// Says where it was looked for, and why it cannot be built.
pub(crate) fn find_capture(reporter: &dyn Reporter) -> Result<PathBuf> {
    CAPTURE.find(reporter)
}

/// The files with the name of the HIP runtime in all places.
pub fn files() -> impl Iterator<Item = PathBuf> {
    HIP.files()
}

impl Library {
    fn look(&self) -> Libraries {
        let mut libraries = Libraries { own: None, others: Vec::new() };
        for path in self.files() {
            if self.is_ours(&path) {
                libraries.own = Some(path.canonicalize().unwrap_or(path));
                break;
            }
            libraries.others.push(path);
        }
        libraries
    }

    fn find(&self, reporter: &dyn Reporter) -> Result<PathBuf> {
        let Libraries { own, others } = self.look();
        if let Some(path) = own {
            return Ok(if is_installed() && path.starts_with(BUILD_FOLDER) {
                self.keep(&path)
            } else {
                path
            });
        }
        self.build(reporter).map_err(|why| {
        let mut message =
            format!("the {} of this build of rockhound {} is nowhere", self.what, env!("CARGO_PKG_VERSION"));
        for other in others {
            message += &format!("\n  {} is of another build", other.display());
        }
        message += &format!("\n  {why:#}");
        message += "\nhint: the wheel (`pip install rockhound`) and the release archive have command and library; in the workspace, `cargo build --release` makes both";
        anyhow!(message)
    })
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let name = self.name;
        folders().into_iter().map(move |folder| folder.join(name)).filter(|path| path.is_file())
    }

    /// Copies the library to a folder where later runs find it even when the sources are gone; without such a
    /// folder it stays.
    fn keep(&self, path: &Path) -> PathBuf {
        let copy = || {
            let folder = cache()?;
            std::fs::create_dir_all(&folder).ok()?;
            let (next, place) = (folder.join(format!(".{}.new", std::process::id())), folder.join(self.name));
            std::fs::copy(path, &next).ok()?;
            std::fs::rename(&next, &place).ok()?;
            Some(place)
        };
        copy().unwrap_or_else(|| path.to_owned())
    }

    /// Builds the library from the sources of this program.
    fn build(&self, reporter: &dyn Reporter) -> Result<PathBuf> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(self.sources);
        if !sources.join("Cargo.toml").exists() {
            return Err(anyhow!("the sources it is made of are gone ({})", sources.display()));
        }
        let folder = Path::new(BUILD_FOLDER);
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        reporter.say(&format!("building the {} from {} (once)", self.what, sources.display()));
        let mut cargo = Command::new("cargo");
        cargo.args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            self.package,
            "--profile",
            profile,
            "--manifest-path",
        ]);
        cargo.arg(sources.join("Cargo.toml")).arg("--target-dir").arg(folder.parent().unwrap_or(folder));
        // Standard output belongs to the program that will run.
        let output = cargo.output().context("`cargo` cannot be started to build it")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(anyhow!("it cannot be built: {}", said.trim()));
        }
        let path = folder.join(self.name);
        if !self.is_ours(&path) {
            return Err(anyhow!(
                "the sources in {} have changed since this command was built: build it again",
                sources.display()
            ));
        }
        Ok(if is_installed() { self.keep(&path) } else { path })
    }

    /// True if a file has the marker.
    fn is_ours(&self, path: &Path) -> bool {
        let Ok(contents) = Contents::open(path) else { return false };
        memchr::memmem::find(contents.bytes(), self.mark.as_bytes()).is_some()
    }
}

/// Beside the program, in `../lib`, in the build folder, and in the folder where an earlier run kept it.
fn folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(beside) = beside() {
        folders.extend([beside.clone(), beside.join("../lib"), beside.join("../lib/rockhound")]);
        // Test programs are one folder deeper.
        folders.push(beside.join(".."));
    }
    folders.push(PathBuf::from(BUILD_FOLDER));
    folders.extend(cache());
    folders
}

/// Folder of this program.
fn beside() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.canonicalize().ok()?.parent()?.to_owned())
}

/// True if this program is not at the path where cargo built it.
fn is_installed() -> bool {
    beside().is_some_and(|it| !it.starts_with(BUILD_FOLDER))
}

/// Folder for the library of this build alone.
fn cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("rockhound").join(HIP_LIBRARY_MARK.trim_end_matches('\0')))
}
