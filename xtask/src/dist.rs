//! A release archive: the command, the HIP runtime library, licences, manual page, completions, an example.
//!
//! The one idea to keep in mind: what is packed is unpacked elsewhere and used before the archive counts as made.

use crate::run::{root, run};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the workspace that go along.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// The example that the check profiles, and that a person can try.
const EXAMPLE: &str = "examples/vector_copy";

/// What the command prints, and where that belongs.
const PRINTED: [(&[&str], &str); 4] = [
    (&["man"], "share/man/man1/rockhound.1"),
    (&["completions", "bash"], "share/bash-completion/completions/rockhound"),
    (&["completions", "zsh"], "share/zsh/site-functions/_rockhound"),
    (&["completions", "fish"], "share/fish/vendor_completions.d/rockhound.fish"),
];

/// Builds, packs, unpacks, tries.
pub(crate) fn dist(arguments: &[String]) -> Result<()> {
    let profile = match arguments {
        [] => "dist",
        [option, profile] if option == "--profile" => profile.as_str(),
        _ => bail!("`dist` takes `--profile PROFILE` only"),
    };
    let packages = ["--package", "rockhound", "--package", "rockhound-hip"];
    run("cargo", &[&["build", "--locked", "--profile", profile][..], &packages].concat())?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let built = target.join(if profile == "dev" { "debug" } else { profile });
    let name = format!("rockhound-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = target.join("dist");
    let stage = folder.join(&name);
    let _ = std::fs::remove_dir_all(&stage);
    pack(&built, &stage)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    // The same sources give the same archive.
    let same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    let mut tar = Command::new("tar");
    tar.args(same).arg("-I").arg("gzip -n").arg("-cf").arg(&archive).arg("-C").arg(&folder).arg(&name);
    succeed(&mut tar)?;
    check(&archive, &name)?;
    let bytes = std::fs::metadata(&archive)?.len();
    println!(
        "{} ({:.1} MiB): unpacked elsewhere, profiles {EXAMPLE}",
        archive.display(),
        bytes as f64 / 1048576.0
    );
    Ok(())
}

/// Puts everything in its place.
fn pack(built: &Path, stage: &Path) -> Result<()> {
    let copy = |from: &Path, to: &str| -> Result<()> {
        let to = stage.join(to);
        std::fs::create_dir_all(to.parent().unwrap_or(stage))?;
        std::fs::copy(from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        Ok(())
    };
    copy(&built.join("rockhound"), "bin/rockhound")?;
    copy(&built.join("libamdhip64.so"), "lib/libamdhip64.so")?;
    for file in FILES {
        copy(&root().join(file), file)?;
    }
    for entry in std::fs::read_dir(root().join(EXAMPLE))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        copy(&path, &format!("{EXAMPLE}/{name}"))?;
    }
    for (arguments, place) in PRINTED {
        let place = stage.join(place);
        std::fs::create_dir_all(place.parent().unwrap_or(stage))?;
        std::fs::write(&place, succeed(Command::new(stage.join("bin/rockhound")).args(arguments))?)?;
    }
    Ok(())
}

/// Unpacks the archive in a folder of its own and uses what is in it.
fn check(archive: &Path, name: &str) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("rockhound-dist-{}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let checked = check_in(&folder, archive, name);
    std::fs::remove_dir_all(&folder)?;
    checked
}

fn check_in(folder: &Path, archive: &Path, name: &str) -> Result<()> {
    succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(folder))?;
    let unpacked = folder.join(name);
    let command = || {
        let mut command = Command::new(unpacked.join("bin/rockhound"));
        command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
        command
    };
    let launch = unpacked.join(EXAMPLE).join("LAUNCH.toml");
    let report = succeed(command().arg("profile").arg(launch).arg("-o").arg(folder.join("recording")))?;
    if !String::from_utf8_lossy(&report).contains("Speed-of-Light") {
        bail!("the unpacked command wrote no report");
    }
    // Programs get the library as this variable says.
    let found = succeed(command().args(["run", "--", "sh", "-c", "readlink -f \"$TRITON_LIBHIP_PATH\""]))?;
    let expected = unpacked.join("lib/libamdhip64.so").canonicalize()?;
    if Path::new(String::from_utf8_lossy(&found).trim()) != expected {
        bail!(
            "the unpacked command uses {} for {}",
            String::from_utf8_lossy(&found).trim(),
            expected.display()
        );
    }
    // A library of another build is none.
    let library = unpacked.join("lib/libamdhip64.so");
    let mut bytes = std::fs::read(&library)?;
    let mark = b"rockhound-hip-";
    let at: Vec<usize> =
        bytes.windows(mark.len()).enumerate().filter(|(_, it)| it == mark).map(|(at, _)| at).collect();
    at.iter().for_each(|&at| bytes[at + mark.len()] ^= 1);
    std::fs::write(&library, bytes)?;
    let found = succeed(command().args(["run", "--", "sh", "-c", "readlink -f \"$TRITON_LIBHIP_PATH\""]))?;
    if Path::new(String::from_utf8_lossy(&found).trim()) == expected {
        bail!("the command uses a library of another build");
    }
    Ok(())
}

/// Runs a program and gives what it printed.
fn succeed(command: &mut Command) -> Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
