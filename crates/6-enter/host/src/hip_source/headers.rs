//! Headers beside a source, in the folders of its project.

use sorting::Sort;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Most entries of folders that are looked at.
const MOST: usize = 40_000;
/// Folders above a source's own that are searched where no repository begins.
const ABOVE: usize = 1;

/// Headers, or their first folders, of libraries that only the host calls and that many name in quotes.
const HOST_LIBRARIES: [&str; 21] = [
    "mpi.h",
    "omp.h",
    "numa.h",
    "hdf5.h",
    "netcdf.h",
    "papi.h",
    "cblas.h",
    "lapacke.h",
    "mkl.h",
    "fftw3.h",
    "hwloc.h",
    "likwid.h",
    "silo.h",
    "caliper",
    "adiak",
    "gtest",
    "rccl",
    "roctracer",
    "rocblas",
    "hipblas",
    "rocprofiler",
];

/// Whether a header is of a library that only the host calls.
pub(super) fn is_of_host_library(name: &str) -> bool {
    HOST_LIBRARIES.contains(&name.split('/').next().unwrap_or(name))
}

/// Folders of the project in which a header is found under a name such as `detail/a.h`, sorted.
pub(super) fn folders_with(name: &str, source: &Path) -> Vec<PathBuf> {
    let Some(own) = source.parent() else { return Vec::new() };
    let repository = own.ancestors().find(|it| it.join(".git").exists());
    let root = repository.or_else(|| own.ancestors().nth(ABOVE)).unwrap_or(own);
    // A project has a folder of its own.
    if root.parent().is_none() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        if folder.join(name).is_file() {
            found.push(folder.clone());
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !is_hidden && entry.file_type().is_ok_and(|it| it.is_dir()) {
                folders.push_back(entry.path());
            }
        }
        // Of a part it is not known whether the header is there once.
        if seen > MOST {
            return Vec::new();
        }
    }
    found.in_order();
    found
}
