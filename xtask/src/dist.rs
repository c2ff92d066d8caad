//! A release archive: the command, the HIP runtime library, licences, manual pages, completions, an example.
//!
//! The archive is unpacked elsewhere and used before it counts as made.

use crate::portable::{self, Built, Layout, copy, mebibytes, succeed};
use crate::run::{root, target};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Files of the workspace that go along.
const FILES: [&str; 3] = ["README.md", "CHANGELOG.md", "docs/install.md"];

/// The example that the check profiles, and that a person can try.
const EXAMPLE: &str = "examples/vector_copy";

/// Layout of the archive.
const LAYOUT: Layout = Layout { command: "bin", library: "lib", shared: "", licences: "licenses" };

/// Builds, packs, unpacks, tries.
pub(crate) fn dist(arguments: &[String]) -> Result<()> {
    let profile = match arguments {
        [] => "dist",
        [option, profile] if option == "--profile" => profile.as_str(),
        _ => bail!("`dist` takes `--profile PROFILE` only"),
    };
    let built = portable::build(profile, portable::is_portable(profile))?;
    let name = format!("rockhound-{}-{}-linux", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    let folder = target().join("dist");
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
    println!(
        "{} ({:.1} MiB; needs glibc {}): unpacked elsewhere, profiles {EXAMPLE}",
        archive.display(),
        mebibytes(&archive)?,
        built.glibc()?
    );
    if !built.portable {
        println!("note: linked with the C library of this machine, so older systems cannot run it");
    }
    Ok(())
}

/// Puts everything in its place.
fn pack(built: &Built, stage: &Path) -> Result<()> {
    built.place(stage, &LAYOUT)?;
    for file in FILES {
        copy(&root().join(file), &stage.join(file))?;
    }
    for entry in std::fs::read_dir(root().join(EXAMPLE))? {
        let path = entry?.path();
        copy(&path, &stage.join(EXAMPLE).join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Unpacks the archive in a new folder and uses its contents.
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
    let page = unpacked.join("share/man/man1/rockhound-inspect.1");
    if !std::fs::read_to_string(&page).is_ok_and(|it| it.contains("rockhound-inspect")) {
        bail!("{} is no page of the manual", page.display());
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
