//! Sources of HIP kernels in place of compiled code: compiled for one target when they are first read.

mod diagnostics;
mod functions;
mod headers;
mod made;
mod options;
mod rounds;

use crate::compiler::{self, BUILTINS, HEADERS, Toolchain};
use anyhow::{Context, Result, bail};
use arch::Model;
use rounds::{End, LeftOut, ROUNDS, Rounds};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// The GPU for which sources are compiled where nothing names one.
pub const GPU: &str = "mi300x";
/// Endings of sources that are compiled.
const ENDINGS: [&str; 4] = ["hip", "cpp", "cu", "cc"];

/// File, time of its last change, target.
type Key = (PathBuf, Option<SystemTime>, String);

/// Code, or why there is none; who wants what is being compiled waits for it.
type Compiled = Arc<OnceLock<Result<Code, String>>>;

/// Compiled code of a source.
#[derive(Clone)]
pub(crate) struct Code {
    pub(crate) bytes: Arc<[u8]>,
    left_out: Arc<LeftOut>,
}

impl Code {
    /// Where the code comes from and what of the source it lacks, a sentence each.
    pub(crate) fn notes(&self) -> &[String] {
        &self.left_out.notes
    }

    /// Kernels that the source launches and that are not in the code, in one sentence.
    pub(crate) fn lost(&self) -> Option<String> {
        let kernels: Vec<String> = self.left_out.kernels.iter().map(|it| format!("`{it}`")).collect();
        let text =
            || format!("no code for {}: the types are in host code that was left out", kernels.join(", "));
        (!kernels.is_empty()).then(text)
    }
}

/// Code that this process compiled.
static COMPILED: Mutex<BTreeMap<Key, Compiled>> = Mutex::new(BTreeMap::new());

/// Whether a file is called as sources are.
pub(crate) fn is_source(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    ENDINGS.contains(&ending.as_str())
}

/// The code object of a source for a target; without one for the target of [`GPU`].
///
/// # Errors
/// If no compiler is found, or the source does not compile.
pub(crate) fn compiled(source: &Path, target: Option<&str>) -> Result<Code> {
    let name = source.display();
    let of_gpu = || Model::by_name(GPU).map(|it| it.target().name);
    let target = target.or_else(of_gpu).context("a source is compiled for a target")?;
    let about = std::fs::metadata(source).with_context(|| format!("cannot read `{name}`"))?;
    let full = std::path::absolute(source)?;
    let key = (full.clone(), about.modified().ok(), target.to_owned());
    let own = COMPILED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    let code = own.get_or_init(|| match compile(&full, source, target) {
        Ok((code, left_out)) => Ok(Code { bytes: code.into(), left_out: left_out.into() }),
        Err(error) => Err(format!("{error:#}")),
    });
    code.clone().map_err(anyhow::Error::msg)
}

fn compile(source: &Path, called: &Path, target: &str) -> Result<(Vec<u8>, LeftOut)> {
    let name = called.display();
    let Some(clang) = compiler::compilers().into_iter().next() else {
        bail!("`{name}` needs a compiler: none was found, `{}` names one", compiler::OVERRIDE);
    };
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let options::Options { options: own, note } = options::of(source);
    // Where ROCm is, what it says counts.
    let (mut why, mut lacks_rocm) = (String::new(), false);
    for (at, form) in forms(folder.path(), target)?.into_iter().enumerate() {
        let options = [form, own.clone()].concat();
        let folder = folder.path().join(at.to_string());
        // Without declarations of HIP nothing is known to be the host's.
        let rounds = if at == 1 { 1 } else { ROUNDS };
        match Rounds::new(&clang, &options, source, called, &folder).run(rounds)? {
            End::Code(code, mut left_out) => {
                left_out.notes.splice(0..0, note);
                return Ok((code, left_out));
            }
            End::Refused { errors, why: this } => {
                lacks_rocm |= at == 0 && errors.contains("cannot find ROCm");
                if at == 0 || lacks_rocm {
                    why = this;
                }
            }
        }
    }
    bail!("`{name}` does not compile: {why}")
}

/// Writes a file, with the folder that it is in.
fn write(path: &Path, text: &str) -> Result<()> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Options of the compiler: with ROCm; without its headers and its device library; with declarations of our own in their
/// place, which are written into the folder, as the compiler's usual C++ and as a newer one.
fn forms(folder: &Path, target: &str) -> Result<[Vec<OsString>; 4]> {
    let usual = |more: &[&str]| -> Vec<OsString> {
        let all = ["-x", "hip", "--cuda-device-only", "-O3", "-gline-tables-only", "--no-gpu-bundle-output"];
        let target = OsString::from(format!("--offload-arch={target}"));
        all.iter().chain(more).map(OsString::from).chain([target]).collect()
    };
    let headers = folder.join("headers");
    for (name, text) in HEADERS {
        write(&headers.join(name), text)?;
    }
    let none = ["-nogpulib", "-nogpuinc"];
    let mut own = usual(&none);
    // Extensions of PyTorch and what is written like them say by `USE_ROCM` that the GPU is AMD's.
    let macros = ["-D__HIPCC__=1", "-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1"];
    own.extend(["-fdeclspec"].into_iter().chain(macros).map(OsString::from));
    let libraries = Toolchain::candidates().into_iter().next();
    own.extend(libraries.map(|it| it.library_options(target)).unwrap_or_default());
    // Makefiles may have ROCm's `include/hip` itself on the path.
    own.extend(["-idirafter".into(), headers.join("hip").into_os_string()]);
    own.extend(["-I".into(), headers.into_os_string(), "-include".into(), BUILTINS.into()]);
    // Sources for CUDA that other headers turn into HIP do not include it.
    own.extend(["-include".into(), "hip/hip_runtime.h".into()]);
    let of_standard = |standard: &str| [&own[..], &[standard.into()]].concat();
    Ok([usual(&[]), usual(&none), of_standard("-std=gnu++17"), of_standard("-std=gnu++20")])
}
