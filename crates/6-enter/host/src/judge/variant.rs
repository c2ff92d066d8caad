//! Variants of a kernel: launch files, or code and sources that a launch file runs.

use super::Question;
use crate::device_code::DeviceCode;
use crate::launch_file::{self, LaunchFile};
use crate::tune::Shape;
use crate::{hip_source, run, usage};
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A variant that can be launched.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Its own launch file, or the one given for all.
    launch: PathBuf,
    /// Code in place of the launch file's.
    code: Option<PathBuf>,
    /// Target of a source.
    target: Option<&'static str>,
    /// Where the code of a source comes from, and what of the source it lacks.
    pub(super) notes: Vec<String>,
}

/// Name, path and form of a variant, and the variant or why there is none.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: &'static str,
    pub(super) variant: Result<Variant>,
}

/// The base and the candidates, in this order; compiled side by side.
pub(super) fn all(question: &Question<'_>) -> Vec<Named> {
    let paths: Vec<PathBuf> =
        std::iter::once(question.base.to_owned()).chain(question.candidates.iter().cloned()).collect();
    let one = |(path, name): (PathBuf, String)| {
        let (kind, variant) = of(question, &path);
        Named { name, path, kind, variant }
    };
    paths.par_iter().cloned().zip(names(&paths)).map(one).collect()
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

fn of(question: &Question<'_>, path: &Path) -> (&'static str, Result<Variant>) {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if ending == "toml" || path.is_dir() {
        return (
            "launch file",
            Ok(Variant { launch: path.to_owned(), code: None, target: None, notes: Vec::new() }),
        );
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
    let code = || std::path::absolute(path).map(Some);
    if hip_source::is_source(path) {
        let built = launch().and_then(|launch| {
            let target = Some(target(question, &launch)?);
            let notes = DeviceCode::find(path, target)?.notes;
            Ok(Variant { launch, code: code()?, target, notes })
        });
        return ("HIP source", built);
    }
    let variant =
        launch().and_then(|launch| Ok(Variant { launch, code: code()?, target: None, notes: Vec::new() }));
    ("code", variant)
}

/// The target of a question, of its GPU or of the launch file's.
fn target(question: &Question<'_>, launch: &Path) -> Result<&'static str> {
    let (text, launch) = launch_file::text(launch)?;
    let values = question.shapes.first().map_or(&[][..], |it| &it.values);
    let table = launch_file::rooted(&crate::braces::with_values(&text, values)?, &launch)?;
    let named = table.get("gpu").and_then(toml::Value::as_str).map(str::to_owned);
    let gpu = question.gpu.map(str::to_owned).or(named).unwrap_or_else(|| hip_source::GPU.to_owned());
    Ok(run::model(&gpu)?.target().name)
}

impl Variant {
    /// The launch of a shape: the table of its launch file, and the file as it is read from that.
    pub(super) fn launch(&self, shape: &Shape) -> Result<(String, LaunchFile)> {
        let (text, path) = launch_file::text(&self.launch)?;
        let text = crate::braces::with_values(&text, &shape.values)?;
        let mut table = launch_file::rooted(&text, &path)?;
        if let Some(code) = &self.code {
            table.insert("code".to_owned(), code.to_string_lossy().into_owned().into());
            // The only kernel of the code, whatever it is called there.
            let kernel = table.get("kernel").and_then(toml::Value::as_str);
            let read = DeviceCode::find(code, self.target)?;
            if kernel.is_some_and(|it| read.kernel(Some(it)).is_err()) && read.object.kernels.len() == 1 {
                table.remove("kernel");
            }
        }
        let text = table.to_string();
        let file = LaunchFile::of(&text, &path)?;
        Ok((text, file))
    }
}
