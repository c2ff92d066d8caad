//! File kinds, detected from the first bytes.
//!
//! Names and extensions are ignored.

use crate::bytes::u16_at;
use crate::elf;

pub(crate) const BUNDLE_MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(crate) const COMPRESSED_MAGIC: &[u8] = b"CCOB";
pub(crate) const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
pub(crate) const THIN_ARCHIVE_MAGIC: &[u8] = b"!<thin>\n";
pub(crate) const BITCODE_MAGIC: &[u8] = b"BC\xc0\xde";
pub(crate) const BITCODE_WRAPPER_MAGIC: &[u8] = b"\xde\xc0\x17\x0b";

/// Kind of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An AMD GPU code object in ELF.
    CodeObject,
    /// A program, library or object file for the host, which may hold code objects.
    Host,
    /// A static archive.
    Archive,
    /// An offload bundle, plain or compressed.
    Bundle,
    /// AMD GPU assembly text.
    Assembly,
    /// A JSON object, such as Triton's cache has for each code object.
    Json,
}

/// Tells what a file is from its beginning; `None` for what holds no code objects.
pub fn recognise(data: &[u8]) -> Option<Kind> {
    if data.starts_with(b"\x7fELF") {
        let gpu = u16_at(data, 18) == Some(elf::MACHINE_AMDGPU);
        return Some(if gpu { Kind::CodeObject } else { Kind::Host });
    }
    if data.starts_with(ARCHIVE_MAGIC) || data.starts_with(THIN_ARCHIVE_MAGIC) {
        return Some(Kind::Archive);
    }
    if data.starts_with(BUNDLE_MAGIC) || data.starts_with(COMPRESSED_MAGIC) {
        return Some(Kind::Bundle);
    }
    recognise_text(data)
}

/// Bytes looked at to tell assembly from other text; compilers put the target into the first lines, but
/// people put comments before it.
const TEXT_PROBE: usize = 256 * 1024;

fn recognise_text(data: &[u8]) -> Option<Kind> {
    let probe = &data[..data.len().min(TEXT_PROBE)];
    if probe.contains(&0) {
        return None;
    }
    if probe.trim_ascii_start().starts_with(b"{") {
        return Some(Kind::Json);
    }
    let directives: [&[u8]; 5] =
        [b".amdgcn_target", b".amdhsa_", b".amdgpu_metadata", b".amd_kernel_code_t", b".hsa_code_object"];
    let mut lines = probe.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    let assembly =
        lines.any(|line| line.starts_with(b".") && directives.iter().any(|word| line.starts_with(word)));
    assembly.then_some(Kind::Assembly)
}

/// Why a file that [`recognise`] does not know holds no GPU code, and what to do: forms of a program that
/// come before it.
pub(crate) fn not_yet_code(data: &[u8]) -> Option<(&'static str, &'static str)> {
    if data.starts_with(BITCODE_MAGIC) || data.starts_with(BITCODE_WRAPPER_MAGIC) {
        return Some((
            "LLVM bitcode, which is not compiled to instructions yet",
            "link it first: `clang++ --hip-link --offload-arch=TARGET` for objects of `-fgpu-rdc`, \
             `llc -mcpu=TARGET -filetype=obj` for a module of its own",
        ));
    }
    let probe = &data[..data.len().min(TEXT_PROBE)];
    if probe.contains(&0) {
        return None;
    }
    let mut lines = probe.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    if lines.clone().any(|line| IR_WORDS.iter().any(|word| line.starts_with(word))) {
        return Some((
            "LLVM IR as text, which is not compiled to instructions yet",
            "compile it first: `llc -mcpu=TARGET -filetype=obj`",
        ));
    }
    let source =
        lines.any(|line| SOURCE_WORDS.iter().any(|word| line.windows(word.len()).any(|part| part == *word)));
    source.then_some((
        "source text of a GPU program, which is not compiled yet",
        "compile it first: `hipcc --offload-arch=TARGET --genco -O3 FILE -o FILE.hsaco`, or give the program or library made of it",
    ))
}

/// How a line of LLVM IR begins that says whom it is for.
const IR_WORDS: [&[u8]; 2] = [b"target triple = \"amdgcn", b"source_filename = "];

/// Words that only sources of GPU programs have, HIP, CUDA and OpenCL.
const SOURCE_WORDS: [&[u8]; 9] = [
    b"__global__",
    b"__device__",
    b"__host__",
    b"__kernel ",
    b"hip/hip_",
    b"cuda_runtime",
    b"__attribute__((global))",
    b"blockIdx.",
    b"hipLaunchKernel",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings() {
        let mut elf = vec![0; 64];
        elf[..4].copy_from_slice(b"\x7fELF");
        let host = elf.clone();
        elf[18] = 224;
        let cases: &[(&[u8], Option<Kind>)] = &[
            (&elf, Some(Kind::CodeObject)),
            (&host, Some(Kind::Host)),
            (b"!<arch>\nfoo", Some(Kind::Archive)),
            (b"!<thin>\nfoo", Some(Kind::Archive)),
            (b"__CLANG_OFFLOAD_BUNDLE__", Some(Kind::Bundle)),
            (b"CCOB\x02\0", Some(Kind::Bundle)),
            (b"\t.text\n\t.amdgcn_target \"x\"\n", Some(Kind::Assembly)),
            (b"; .amdgcn_target in a comment\n", None),
            (b" {\"name\": 1}", Some(Kind::Json)),
            (b"\t.text\n\t.globl main\n", None),
            (b"\0\0.amdhsa_kernel", None),
            (b"", None),
        ];
        for (data, expected) in cases {
            assert_eq!(recognise(data), *expected, "{}", String::from_utf8_lossy(data));
        }
    }

    #[test]
    fn forms_before_code() {
        let cases: [(&[u8], &str); 8] = [
            (b"BC\xc0\xde\x35\x14", "LLVM bitcode"),
            (b"\xde\xc0\x17\x0b\0\0\0\0", "LLVM bitcode"),
            (b"; ModuleID = 'k'\ntarget triple = \"amdgcn-amd-amdhsa\"\n", "LLVM IR as text"),
            (b"#include <hip/hip_runtime.h>\nint main() {}\n", "source text"),
            (b"extern \"C\" __global__ void k() {}\n", "source text"),
            (b"__kernel void k(global float *a) {}\n", "source text"),
            (b"int main() { return 0; }\n", ""),
            (b"\0__global__", ""),
        ];
        for (data, expected) in cases {
            let found = not_yet_code(data).map_or("", |(what, _)| what);
            let begins = if expected.is_empty() { found.is_empty() } else { found.starts_with(expected) };
            assert!(begins, "{}: {found}", String::from_utf8_lossy(data));
        }
    }
}
