//! The Python wheel: module, command and HIP library in one package.
//!
//! The command is a native program in the folder of commands, and finds the library in `../lib/rockhound`, so
//! that neither Python's start nor its search for packages is in the way.

use crate::portable::{self, Layout, mebibytes, succeed};
use crate::run::{output, root};
use crate::{elf, tools};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Layout below the folder of a virtual environment: `data` of a wheel is that folder, `scripts` its `bin`.
const LAYOUT: Layout = Layout {
    command: "scripts",
    library: "data/lib/rockhound",
    shared: "data",
    licences: "data/share/doc/rockhound",
};

/// The crate with the module.
const MODULE: &str = "crates/6-enter/python";

/// Largest wheel, MiB.
const LARGEST: f64 = 25.0;

/// Oldest Python that the module is for.
const OLDEST: u32 = 9;

/// Builds the wheel, and tests it.
pub(crate) fn wheel(arguments: &[String]) -> Result<()> {
    let (mut profile, mut test) = ("dist", false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), rest.len()) {
            ("--test", _) => test = true,
            ("--profile", 1..) => profile = rest.next().map_or(profile, String::as_str),
            _ => bail!("`wheel` takes `--test` and `--profile PROFILE`"),
        }
    }
    let bin = match tools::folder(&tools::WHEEL) {
        Ok(bin) => bin,
        Err(error) if test && std::env::var_os("CI").is_none() => {
            eprintln!("skipped: the wheel needs maturin: {error:#}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let portable = portable::is_portable(profile);
    let built = portable::build(profile, portable)?;
    let folder = root().join("target/wheel");
    let _ = std::fs::remove_dir_all(&folder);
    built.place(&folder.join("rockhound.data"), &LAYOUT)?;

    let mut maturin = Command::new(bin.join("maturin"));
    tools::first_in_path(&mut maturin, &bin);
    maturin
        .args(["build", "--quiet", "--profile", profile, "--manifest-path"])
        .arg(root().join(MODULE).join("Cargo.toml"));
    maturin.arg("--out").arg(&folder).current_dir(root());
    let (major, minor) = elf::OLDEST_GLIBC;
    if portable {
        maturin.args(["--zig", "--compatibility", &format!("manylinux_{major}_{minor}")]);
    } else {
        maturin.args(["--compatibility", "linux"]);
    }
    eprintln!("$ maturin build --profile {profile}");
    succeed(&mut maturin)?;
    let wheel = only_wheel(&folder)?;
    check(&wheel, &folder.join("unpacked"), portable)?;
    let size = mebibytes(&wheel)?;
    println!("{} ({size:.1} MiB; command and library need glibc {})", wheel.display(), built.glibc()?);
    if !portable {
        println!("note: linked with the C library of this machine, so it is for this machine");
    } else if profile == "dist" && size > LARGEST {
        // Other profiles are quick to build, and large.
        bail!("the wheel has more than {LARGEST} MiB");
    }
    if test {
        // The index refuses a wheel whose page it cannot show.
        let bin = tools::folder(&tools::METADATA)?;
        succeed(Command::new(bin.join("twine")).args(["check", "--strict"]).arg(&wheel))?;
        self::test(&wheel, &folder, &bin, profile != "dev")?;
    }
    Ok(())
}

fn only_wheel(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let mut wheels = entries.filter(|path| path.extension().is_some_and(|it| it == "whl"));
    wheels.next().with_context(|| format!("maturin put no wheel into {}", folder.display()))
}

/// Checks the contents of the wheel.
fn check(wheel: &Path, folder: &Path, portable: bool) -> Result<()> {
    succeed(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))?;
    let data = format!("rockhound-{}.data", env!("CARGO_PKG_VERSION"));
    let parts = [
        format!("{data}/scripts/rockhound"),
        format!("{data}/data/lib/rockhound/libamdhip64.so"),
        format!("{data}/data/lib/rockhound/librockhound_capture.so"),
        "rockhound/_rockhound.abi3.so".to_owned(),
    ];
    let paths: Vec<PathBuf> = parts.iter().map(|it| folder.join(it)).collect();
    for path in &paths {
        elf::needs(path)?;
    }
    for file in ["rockhound/py.typed", "rockhound/_rockhound.pyi"] {
        if !folder.join(file).is_file() {
            bail!("{} lacks `{file}`", wheel.display());
        }
    }
    if portable {
        elf::check(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Installs the wheel in new environments and uses it there, with the newest Python beside packages of data
/// frames if asked.
fn test(wheel: &Path, folder: &Path, bin: &Path, frames: bool) -> Result<()> {
    let pythons = pythons();
    if pythons.is_empty() {
        bail!("no Python 3.{OLDEST} or later\nhint: install python3");
    }
    for (at, (minor, python)) in pythons.iter().enumerate() {
        let home = folder.join(format!("env-3.{minor}"));
        succeed(Command::new(python).args(["-m", "venv"]).arg(&home))?;
        let install = |packages: &[&str]| {
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            succeed(Command::new(home.join("bin/python")).args(pip).args(packages))
        };
        let start = std::time::Instant::now();
        install(&["--no-index", &wheel.to_string_lossy()])?;
        let seconds = start.elapsed().as_secs_f64();
        if frames && at + 1 == pythons.len() {
            install(&["pandas", "polars"])?;
        }
        let mut tests = Command::new(home.join("bin/python"));
        tests
            .args(["-m", "unittest", "--quiet", "test_wheel", "test_commands", "test_documents", "test_docs"])
            .current_dir(root().join(MODULE).join("tests"));
        // The installed package is the one tested.
        tests
            .env_remove("PYTHONPATH")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("ROCKHOUND_EXAMPLES", root().join("examples"));
        succeed(&mut tests)?;
        println!("Python 3.{minor}: installed in {seconds:.1} s, tests pass");
    }
    if let Some((minor, _)) = pythons.last() {
        let mut mypy = Command::new(bin.join("mypy"));
        mypy.args(["--strict", "--no-incremental", "--python-executable"]);
        mypy.arg(folder.join(format!("env-3.{minor}/bin/python"))).arg("tests/typed_use.py").arg("rockhound");
        succeed(mypy.current_dir(root().join(MODULE)))?;
        println!("types: mypy --strict finds nothing");
    }
    Ok(())
}

/// The oldest Python that the module supports and the newest release, if installed here.
fn pythons() -> Vec<(u32, PathBuf)> {
    let named = (OLDEST..=20).map(|minor| PathBuf::from(format!("python3.{minor}")));
    let mut all: Vec<PathBuf> = named.chain([PathBuf::from("python3")]).collect();
    // pyenv keeps versions that no name in PATH leads to.
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let versions = pyenv
        .into_iter()
        .flat_map(|it| std::fs::read_dir(it.join("versions")).into_iter().flatten().flatten());
    all.extend(versions.map(|entry| entry.path().join("bin/python3")));
    let mut found: Vec<(u32, PathBuf)> = all
        .into_iter()
        .filter_map(|python| {
            let script = "import sys, venv, ensurepip; print(sys.version_info.minor)";
            let minor = output(&python.to_string_lossy(), &["-c", script])?.trim().parse().ok()?;
            Some((minor, python))
        })
        .filter(|(minor, _)| *minor >= OLDEST)
        .collect();
    found.sort();
    found.dedup_by_key(|(minor, _)| *minor);
    let last = found.len().saturating_sub(1);
    let mut at = 0;
    found.retain(|_| {
        at += 1;
        at == 1 || at == last + 1
    });
    found
}
