//! Libraries that stand in for libraries of ROCm, written for each run under their SONAMEs.
//!
//! Their work is done in the HIP runtime library; these files only carry the names. A library that the program
//! finds without Rockhound is not replaced.

mod elf;
mod tools;

pub(crate) use tools::{write as write_tools, write_topology};

use crate::Contents;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Libraries: name for linking, SONAMEs, where the names of their functions are.
const LIBRARIES: &str = include_str!("../../data/libraries/libraries.tsv");

/// Names of functions by file.
const FUNCTIONS: [(&str, &str); 21] = [
    ("rocblas", include_str!("../../data/libraries/rocblas.txt")),
    ("hipblas", include_str!("../../data/libraries/hipblas.txt")),
    ("hipblaslt", include_str!("../../data/libraries/hipblaslt.txt")),
    ("amd_smi", include_str!("../../data/libraries/amd_smi.txt")),
    ("drm", include_str!("../../data/libraries/drm.txt")),
    ("drm_amdgpu", include_str!("../../data/libraries/drm_amdgpu.txt")),
    ("numa", include_str!("../../data/libraries/numa.txt")),
    ("hipfft", include_str!("../../data/libraries/hipfft.txt")),
    ("hiprand", include_str!("../../data/libraries/hiprand.txt")),
    ("hipsolver", include_str!("../../data/libraries/hipsolver.txt")),
    ("hipsparse", include_str!("../../data/libraries/hipsparse.txt")),
    ("hsa", include_str!("../../data/libraries/hsa.txt")),
    ("miopen", include_str!("../../data/libraries/miopen.txt")),
    ("rccl", include_str!("../../data/libraries/rccl.txt")),
    ("rocfft", include_str!("../../data/libraries/rocfft.txt")),
    ("rocm_smi", include_str!("../../data/libraries/rocm_smi.txt")),
    ("rocprofiler-sdk", include_str!("../../data/libraries/rocprofiler-sdk.txt")),
    ("rocrand", include_str!("../../data/libraries/rocrand.txt")),
    ("rocsolver", include_str!("../../data/libraries/rocsolver.txt")),
    ("roctracer", include_str!("../../data/libraries/roctracer.txt")),
    ("roctx", include_str!("../../data/libraries/roctx.txt")),
];

/// A library that has a stand-in.
pub(crate) struct Library {
    /// Name for linking: `librocblas.so`.
    name: &'static str,
    /// Names that programs ask for, newest last.
    sonames: Vec<&'static str>,
    functions: &'static str,
    /// Names for linking of libraries that it brings along.
    needs: &'static str,
}

/// All of them.
pub(crate) fn libraries() -> impl Iterator<Item = Library> {
    let rows = LIBRARIES.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let mut cells = row.split('\t');
        let (name, sonames, file, needs) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        let functions = FUNCTIONS.iter().find(|it| it.0 == file)?.1;
        Some(Library { name, sonames: sonames.split(' ').collect(), functions, needs })
    })
}

/// Writes all libraries for which `exists` says that the program has none.
///
/// # Errors
/// A folder that cannot be written.
pub fn write(folder: &Path, exists: impl Fn(&str) -> bool) -> Result<()> {
    // The code in them is for these processors, as ROCm is.
    if !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for library in libraries() {
        let functions: Vec<&str> = library.functions.lines().collect();
        let newest = |name| libraries().find(|it| it.name == name).and_then(|it| it.sonames.last().copied());
        let needs: Vec<&str> = library.needs.split(' ').filter_map(newest).collect();
        let missing: Vec<&str> = library.sonames.iter().copied().filter(|it| !exists(it)).collect();
        for soname in &missing {
            let path = folder.join(soname);
            std::fs::write(&path, elf::library(soname, &functions, &needs))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if let Some(newest) = missing.last().filter(|_| !exists(library.name)) {
            let link = folder.join(library.name);
            std::os::unix::fs::symlink(newest, &link)
                .with_context(|| format!("cannot make {}", link.display()))?;
        }
    }
    Ok(())
}

/// Where a program finds libraries by itself.
pub(crate) struct Places {
    folders: Vec<PathBuf>,
    /// The dynamic linker's cache of the machine.
    cache: Option<Contents>,
}

/// The dynamic linker's cache.
const CACHE: &str = "/etc/ld.so.cache";
/// Folders that it searches in any case.
const FOLDERS: [&str; 5] =
    ["/lib64", "/usr/lib64", "/usr/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"];

impl Places {
    /// Places of the environment and the machine, and further folders of the program, of which those that
    /// begin with `$ORIGIN` are relative to its own.
    pub(crate) fn new(program: &Path, further: &[&str]) -> Places {
        let own =
            program.canonicalize().ok().and_then(|it| Some(it.parent()?.to_owned())).unwrap_or_default();
        let environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let further = further.iter().flat_map(|it| it.split(':')).filter(|it| !it.is_empty()).map(|folder| {
            let rest = folder.strip_prefix("$ORIGIN").or_else(|| folder.strip_prefix("${ORIGIN}"));
            rest.map_or_else(|| PathBuf::from(folder), |rest| own.join(rest.trim_start_matches('/')))
        });
        let folders = std::env::split_paths(&environment)
            .filter(|it| !it.as_os_str().is_empty())
            .chain(further)
            .chain(FOLDERS.map(PathBuf::from))
            .collect();
        Places { folders, cache: Contents::open(Path::new(CACHE)).ok() }
    }

    /// True if a library is in one of them.
    pub(crate) fn have(&self, name: &str) -> bool {
        let cached = self.cache.as_ref().is_some_and(|cache| {
            memchr::memmem::find(cache.bytes(), format!("/{name}\0").as_bytes()).is_some()
        });
        cached || self.folders.iter().any(|folder| folder.join(name).exists())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_has_names_of_functions_and_each_function_once() {
        let mut sonames = std::collections::BTreeSet::new();
        for library in libraries() {
            let mut functions: Vec<&str> = library.functions.lines().collect();
            assert!(!functions.is_empty() && functions.iter().all(|it| !it.is_empty()), "{}", library.name);
            let all = functions.len();
            functions.sort_unstable();
            functions.dedup();
            assert_eq!(functions.len(), all, "{}", library.name);
            let brings: Vec<&str> = library.needs.split(' ').filter(|it| !it.is_empty()).collect();
            assert!(brings.iter().all(|name| libraries().any(|it| it.name == *name)), "{}", library.name);
            let own = library.sonames.iter().all(|it| it.starts_with(library.name) && sonames.insert(*it));
            assert!(own, "{}", library.name);
        }
        let rows = LIBRARIES.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(libraries().count(), rows);
    }

    #[test]
    fn libraries_of_the_program_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), |name| name == "librocblas.so.4").unwrap();
        for (name, expected) in
            [("librocblas.so.4", false), ("librocblas.so.5", true), ("libhipblas.so", true)]
        {
            assert_eq!(folder.path().join(name).exists(), expected, "{name}");
        }
        let program = folder.path().join("program");
        std::fs::write(&program, "").unwrap();
        std::fs::create_dir(folder.path().join("own")).unwrap();
        std::fs::write(folder.path().join("own/libmade.so.1"), "").unwrap();
        for (further, expected) in [(vec![], false), (vec!["/nowhere:$ORIGIN/own"], true)] {
            assert_eq!(Places::new(&program, &further).have("libmade.so.1"), expected, "{further:?}");
        }
    }

    #[test]
    fn the_dynamic_linker_and_the_tools_read_a_library() {
        if !testkit::needs(&["llvm-readelf-22"]) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libsome.so.3");
        std::fs::write(&path, elf::library("libsome.so.3", &["first", "second_one"], &["libother.so.2"]))
            .unwrap();
        let output = std::process::Command::new("llvm-readelf-22")
            .args(["-d", "--dyn-syms"])
            .arg(&path)
            .output()
            .unwrap();
        let (said, wrong) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(wrong, "");
        for part in [
            "[libsome.so.3]",
            "[libamdhip64.so]",
            "[libother.so.2]",
            "first",
            "second_one",
            "rockhound_library_call",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}
