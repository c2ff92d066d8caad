//! Sources of HIP kernels in place of compiled code: compiled for one target when they are first read.

use crate::compiler::{self, BUILTINS, HEADERS, Toolchain};
use crate::process::{self, Bounds};
use anyhow::{Context, Result, bail};
use arch::Model;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// The GPU for which sources are compiled where nothing names one.
pub const GPU: &str = "mi300x";
/// Most seconds and MiB that a compiler may take.
const COMPILER: (f64, u64) = (300.0, 8 << 10);
/// Endings of sources that are compiled.
const ENDINGS: [&str; 4] = ["hip", "cpp", "cu", "cc"];

/// File, time of its last change, target.
type Key = (PathBuf, Option<SystemTime>, String);

/// Code, or why there is none; who wants what is being compiled waits for it.
type Compiled = Arc<OnceLock<Result<Arc<[u8]>, String>>>;

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
pub(crate) fn compiled(source: &Path, target: Option<&str>) -> Result<Arc<[u8]>> {
    let name = source.display();
    let of_gpu = || Model::by_name(GPU).map(|it| it.target().name);
    let target = target.or_else(of_gpu).context("a source is compiled for a target")?;
    let about = std::fs::metadata(source).with_context(|| format!("cannot read `{name}`"))?;
    let full = std::path::absolute(source)?;
    let key = (full.clone(), about.modified().ok(), target.to_owned());
    let own = COMPILED.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
    let code = own.get_or_init(|| match compile(&full, target) {
        Ok(code) => Ok(code.into()),
        Err(error) => Err(format!("{error:#}")),
    });
    code.clone().map_err(anyhow::Error::msg)
}

fn compile(source: &Path, target: &str) -> Result<Vec<u8>> {
    let name = source.display();
    let Some(clang) = compiler::compilers().into_iter().next() else {
        bail!("`{name}` needs a compiler: none was found, `{}` names one", compiler::OVERRIDE);
    };
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let code = folder.path().join("kernel.hsaco");
    // Where ROCm is, what it says counts.
    let (mut why, mut lacks_rocm) = (String::new(), false);
    for (at, form) in forms(folder.path(), target)?.iter().enumerate() {
        let mut words: Vec<&OsStr> = vec![clang.as_os_str()];
        words.extend(form.iter().map(OsString::as_os_str));
        words.extend([source.as_os_str(), "-o".as_ref(), code.as_os_str()]);
        let bounds = Bounds { seconds: COMPILER.0, memory_mib: COMPILER.1, ..Bounds::default() };
        let ended = process::program(&words, Path::new("."), &bounds);
        if ended.is_well() {
            return std::fs::read(&code).with_context(|| format!("cannot read `{}`", code.display()));
        }
        let first = ended.errors.lines().find(|it| it.contains("error:")).map(str::to_owned);
        lacks_rocm |= at == 0 && ended.errors.contains("cannot find ROCm");
        if at == 0 || lacks_rocm {
            why = first.unwrap_or_else(|| ended.why());
        }
    }
    let hint =
        if lacks_rocm { "; there is no ROCm here, so a source has kernels and no host code" } else { "" };
    bail!("`{name}` does not compile: {why}{hint}")
}

/// Options of the compiler: with ROCm; without its headers and its device library; with declarations of our own in their
/// place, which are written into the folder.
fn forms(folder: &Path, target: &str) -> Result<[Vec<OsString>; 3]> {
    let usual = |more: &[&str]| -> Vec<OsString> {
        let all = ["-x", "hip", "--cuda-device-only", "-O3", "-gline-tables-only", "--no-gpu-bundle-output"];
        let target = OsString::from(format!("--offload-arch={target}"));
        all.iter().chain(more).map(OsString::from).chain([target]).collect()
    };
    let headers = folder.join("headers");
    for (name, text) in HEADERS {
        let path = headers.join(name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&path, text))
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let none = ["-nogpulib", "-nogpuinc"];
    let mut own = usual(&none);
    own.extend(["-std=c++17", "-fdeclspec", "-D__HIPCC__=1", "-D__HIP_PLATFORM_AMD__=1"].map(OsString::from));
    let libraries = Toolchain::candidates().into_iter().next();
    own.extend(libraries.map(|it| it.library_options(target)).unwrap_or_default());
    own.extend(["-I".into(), headers.into_os_string(), "-include".into(), BUILTINS.into()]);
    Ok([usual(&[]), usual(&none), own])
}
