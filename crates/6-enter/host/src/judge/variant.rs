//! Variants of a kernel: launch files, or code and sources that a launch file runs.

use super::Question;
use crate::device_code::DeviceCode;
use crate::launch_file::{self, LaunchFile};
use crate::process::{self, Bounds};
use crate::tune::Shape;
use crate::{compiler, run, usage};
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Most seconds and MiB that a compiler may take.
const COMPILER: (f64, u64) = (300.0, 8 << 10);

/// Endings of sources that are compiled.
const SOURCES: [&str; 4] = ["hip", "cpp", "cu", "cc"];

/// A variant that can be launched.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Its own launch file, or the one given for all.
    launch: PathBuf,
    /// Code in place of the launch file's.
    code: Option<PathBuf>,
}

/// Name, path and form of a variant, and the variant or why there is none.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: &'static str,
    pub(super) variant: Result<Variant>,
}

/// The base and the candidates, in this order; compiled side by side.
pub(super) fn all(question: &Question<'_>, scratch: &Path) -> Vec<Named> {
    let paths: Vec<PathBuf> =
        std::iter::once(question.base.to_owned()).chain(question.candidates.iter().cloned()).collect();
    let one = |((at, path), name): ((usize, PathBuf), String)| {
        let (kind, variant) = of(question, &path, &scratch.join(at.to_string()));
        Named { name, path, kind, variant }
    };
    paths.par_iter().cloned().enumerate().zip(names(&paths)).map(one).collect()
}

/// The command line of a variant that is a program.
pub(super) fn command(question: &Question<'_>, path: &Path) -> Result<Vec<OsString>> {
    let full = std::path::absolute(path)?.into_os_string();
    let python = path.extension().is_some_and(|it| it == "py").then(|| question.python.to_owned());
    Ok(python.into_iter().chain([full]).chain(question.arguments.iter().cloned()).collect())
}

/// The names of the files, or the paths where two files have one name.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let file = |it: &PathBuf| it.file_name().map(|it| it.to_string_lossy().into_owned());
    let one = |it: &PathBuf| {
        let alone = paths.iter().filter(|other| file(other) == file(it)).count() == 1;
        file(it).filter(|_| alone).unwrap_or_else(|| it.display().to_string())
    };
    paths.iter().map(one).collect()
}

fn of(question: &Question<'_>, path: &Path, scratch: &Path) -> (&'static str, Result<Variant>) {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if ending == "toml" || path.is_dir() {
        return ("launch file", Ok(Variant { launch: path.to_owned(), code: None }));
    }
    let launch = || {
        question.launch.map(Path::to_owned).with_context(|| {
            format!(
                "`{}` needs a launch file with grid and arguments: `--launch LAUNCH.toml`; `rockhound launch-template` writes one",
                path.display()
            )
        })
    };
    if ending == "py" {
        let error = usage(
            format!("`{}` is a script, and the base is none", path.display()),
            "scripts are compared with scripts; `--launch` is for the code of kernels",
        );
        return ("Python script", Err(error));
    }
    if SOURCES.contains(&ending.as_str()) {
        let built = launch().and_then(|launch| {
            let code = compiled(question, path, &launch, scratch)?;
            Ok(Variant { launch, code: Some(code) })
        });
        return ("HIP source", built);
    }
    let variant = launch().and_then(|launch| Ok(Variant { launch, code: Some(std::path::absolute(path)?) }));
    ("code", variant)
}

/// Compiles a source for the GPU of the question or of the launch file.
fn compiled(question: &Question<'_>, source: &Path, launch: &Path, scratch: &Path) -> Result<PathBuf> {
    let name = source.display();
    let Some(clang) = compiler::compilers().into_iter().next() else {
        bail!("`{name}` needs a compiler: none was found, `{}` names one", compiler::OVERRIDE);
    };
    std::fs::create_dir_all(scratch).with_context(|| format!("cannot make `{}`", scratch.display()))?;
    let (text, launch) = launch_file::text(launch)?;
    let values = question.shapes.first().map_or(&[][..], |it| &it.values);
    let table = launch_file::rooted(&crate::tune::with_values(&text, values)?, &launch)?;
    let named = table.get("gpu").and_then(toml::Value::as_str).map(str::to_owned);
    let gpu = question.gpu.map(str::to_owned).or(named).unwrap_or_else(|| super::GPU.to_owned());
    let target = format!("--offload-arch={}", run::model(&gpu)?.target().name);
    let code = scratch.join("kernel.hsaco");
    // Without ROCm there are neither its headers nor its device library.
    let mut why = String::new();
    for more in [&[][..], &["-nogpulib", "-nogpuinc"]] {
        let mut words: Vec<&OsStr> = vec![clang.as_os_str()];
        let usual = [
            "-x",
            "hip",
            "--cuda-device-only",
            &target,
            "-O3",
            "-gline-tables-only",
            "--no-gpu-bundle-output",
        ];
        words.extend(usual.iter().chain(more).map(OsStr::new));
        words.extend([source.as_os_str(), "-o".as_ref(), code.as_os_str()]);
        let bounds = Bounds { seconds: COMPILER.0, memory_mib: COMPILER.1, ..Bounds::default() };
        let ended = process::program(&words, Path::new("."), &bounds);
        if ended.is_well() {
            return Ok(code);
        }
        let first = ended.errors.lines().find(|it| it.contains("error:")).map(str::to_owned);
        why = first.unwrap_or_else(|| ended.why());
    }
    bail!("`{name}` does not compile: {why}")
}

impl Variant {
    /// The launch of a shape: the table of its launch file, and the file as it is read from that.
    pub(super) fn launch(&self, shape: &Shape) -> Result<(String, LaunchFile)> {
        let (text, path) = launch_file::text(&self.launch)?;
        let text = crate::tune::with_values(&text, &shape.values)?;
        let rooted = launch_file::rooted(&text, &path);
        let mut table = match shape.values.is_empty() {
            true => rooted.context("`--shape NAME=VALUE` fills in values in braces")?,
            false => rooted?,
        };
        if let Some(code) = &self.code {
            table.insert("code".to_owned(), code.to_string_lossy().into_owned().into());
            // The only kernel of the code, whatever it is called there.
            let kernel = table.get("kernel").and_then(toml::Value::as_str);
            let read = DeviceCode::find(code, None)?;
            if kernel.is_some_and(|it| read.kernel(Some(it)).is_err()) && read.object.kernels.len() == 1 {
                table.remove("kernel");
            }
        }
        let text = table.to_string();
        let file = LaunchFile::of(&text, &path)?;
        Ok((text, file))
    }
}
