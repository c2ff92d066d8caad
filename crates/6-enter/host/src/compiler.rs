//! Compilers of this machine that may build code for a GPU, the device libraries, and declarations of HIP of our own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names the compiler to use; no other is tried then.
pub const OVERRIDE: &str = "ROCKHOUND_CLANG";

/// Major versions of clang whose names are looked for in `PATH`, newest first.
const VERSIONS: std::ops::RangeInclusive<u32> = 15..=30;

/// Declarations of the language's additions to C++, included before a source, so that neither ROCm nor its headers are needed.
pub const BUILTINS: &str = "rockhound_builtins.h";

/// Declarations of names that nothing else declares, for host code that is read and not run.
pub const ANY: &str = "rockhound_any.h";

/// Includes the common headers of C++.
pub const STANDARD: &str = "rockhound_standard.h";

/// Names and texts of [`BUILTINS`] and of HIP's headers that may be included besides.
pub const HEADERS: [(&str, &str); 41] = [
    (BUILTINS, include_str!("../data/headers/rockhound_builtins.h")),
    (ANY, include_str!("../data/headers/rockhound_any.h")),
    (STANDARD, include_str!("../data/headers/rockhound_standard.h")),
    ("hip/hip_runtime_api.h", include_str!("../data/headers/hip/hip_runtime_api.h")),
    ("hip/hip_runtime.h", include_str!("../data/headers/hip/hip_runtime.h")),
    ("hip/hip_cooperative_groups.h", include_str!("../data/headers/hip/hip_cooperative_groups.h")),
    ("hip/hip_fp16.h", include_str!("../data/headers/hip/hip_fp16.h")),
    ("hip/hip_bf16.h", include_str!("../data/headers/hip/hip_bf16.h")),
    ("hip/hip_fp8.h", include_str!("../data/headers/hip/hip_fp8.h")),
    ("hip/hip_bfloat16.h", include_str!("../data/headers/hip/hip_bfloat16.h")),
    ("hip/hip_version.h", include_str!("../data/headers/hip/hip_version.h")),
    ("hip/hip_complex.h", include_str!("../data/headers/hip/hip_complex.h")),
    ("hip/hip_math_constants.h", include_str!("../data/headers/hip/hip_math_constants.h")),
    ("hip/hip_vector_types.h", include_str!("../data/headers/hip/hip_vector_types.h")),
    // What a kernel needs of these is in the runtime's header; the rest is for host code.
    ("hip/channel_descriptor.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/device_functions.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/driver_types.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/hip_common.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/hip_ext.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/hip_hcc.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/hip_profile.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/hip_texture_types.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/library_types.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/math_functions.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/surface_types.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/texture_types.h", "#include <hip/hip_runtime.h>\n"),
    // Sources include parts of AMD's headers by name.
    ("hip/amd_detail/amd_device_functions.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_hip_atomic.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_hip_bf16.h", "#include <hip/hip_bf16.h>\n"),
    ("hip/amd_detail/amd_hip_bfloat16.h", "#include <hip/hip_bfloat16.h>\n"),
    ("hip/amd_detail/amd_hip_common.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_hip_complex.h", "#include <hip/hip_complex.h>\n"),
    ("hip/amd_detail/amd_hip_cooperative_groups.h", "#include <hip/hip_cooperative_groups.h>\n"),
    ("hip/amd_detail/amd_hip_fp16.h", "#include <hip/hip_fp16.h>\n"),
    ("hip/amd_detail/amd_hip_fp8.h", "#include <hip/hip_fp8.h>\n"),
    ("hip/amd_detail/amd_hip_runtime.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_hip_vector_types.h", "#include <hip/hip_vector_types.h>\n"),
    ("hip/amd_detail/amd_hip_unsafe_atomics.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_warp_sync_functions.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_math_functions.h", "#include <hip/hip_runtime.h>\n"),
    ("hip/amd_detail/amd_warp_functions.h", "#include <hip/hip_runtime.h>\n"),
];

/// Folders of device libraries that need no variable to be found.
const LIBRARIES: [&str; 3] =
    ["/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", "/usr/amdgcn/bitcode"];

/// The device libraries: math functions, and calls to the host.
const BITCODE: [&str; 2] = ["ocml.bc", "ockl.bc"];

/// Tools that code for a GPU is built with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Toolchain {
    /// The program `clang++`.
    pub clang: PathBuf,
    /// Folder of the device libraries.
    pub libraries: Option<PathBuf>,
}

/// Compilers, ROCm's first, then the newest.
pub fn compilers() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os(OVERRIDE) {
        return vec![PathBuf::from(path)];
    }
    let folder = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let rocm = folder("ROCM_PATH").unwrap_or_else(|| PathBuf::from("/opt/rocm"));
    let mut all: Vec<PathBuf> = folder("HIP_CLANG_PATH").into_iter().map(|it| it.join("clang++")).collect();
    all.extend(["llvm/bin/clang++", "lib/llvm/bin/clang++"].map(|it| rocm.join(it)));
    let names = std::iter::once("amdclang++".to_string())
        .chain(VERSIONS.rev().map(|version| format!("clang++-{version}")))
        .chain(["clang++".to_string()]);
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&search).collect();
    all.extend(names.filter_map(|name| folders.iter().map(|it| it.join(&name)).find(|it| it.exists())));
    all.retain(|path| path.exists());
    all
}

impl Toolchain {
    /// All that may be there, best first.
    pub fn candidates() -> Vec<Toolchain> {
        let libraries = libraries();
        let mut all = Vec::new();
        for clang in compilers() {
            if libraries.is_some() {
                all.push(Toolchain { clang: clang.clone(), libraries: libraries.clone() });
            }
            all.push(Toolchain { clang, libraries: None });
        }
        all
    }

    /// Options that link the device libraries into the code.
    pub fn library_options(&self, processor: &str) -> Vec<OsString> {
        let Some(folder) = &self.libraries else { return Vec::new() };
        let mut options = vec![
            "-DROCKHOUND_DEVICE_LIBRARIES".into(),
            format!("-DROCKHOUND_ISA_VERSION={}", isa_version(processor)).into(),
        ];
        for file in BITCODE {
            let option = |text: &str| [OsString::from("-Xclang"), text.into()];
            options.extend(option("-mlink-builtin-bitcode"));
            options.extend(["-Xclang".into(), folder.join(file).into_os_string()]);
        }
        options
    }
}

/// Folder of the device libraries.
fn libraries() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = match std::env::var_os("HIP_DEVICE_LIB_PATH") {
        // As for the vendor's: this one and no other.
        Some(named) => vec![PathBuf::from(named)],
        None => {
            let rocm = std::env::var_os("ROCM_PATH").map(|it| Path::new(&it).join("amdgcn/bitcode"));
            rocm.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect()
        }
    };
    folders.into_iter().find(|folder| BITCODE.iter().all(|file| folder.join(file).exists()))
}

/// The number by which device libraries know a processor: `gfx90a` is 9010.
fn isa_version(processor: &str) -> u32 {
    let digits = processor.trim_start_matches("gfx");
    let (major, rest) = digits.split_at(digits.len().saturating_sub(2));
    let digit = |at: usize| rest.chars().nth(at).and_then(|it| it.to_digit(16)).unwrap_or(0);
    major.parse().unwrap_or(0) * 1000 + digit(0) * 100 + digit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_numbers() {
        for (processor, number) in [
            ("gfx908", 9008),
            ("gfx90a", 9010),
            ("gfx942", 9402),
            ("gfx950", 9500),
            ("gfx1100", 11000),
            ("", 0),
        ] {
            assert_eq!(isa_version(processor), number, "{processor}");
        }
    }
}
