//! The same C functions compiled by the same clang for x86-64 and for each GPU; results must have the same bits.
//!
//! The functions are generated: arithmetic of every width, conversions, comparisons, shifts, bit operations,
//! packed types, division and square root, and the expansions of exponentials and logarithms. The latter may
//! differ by units in the last place. Any two NaNs are equal.

use crate::device::Arguments;
use crate::functions::{self, Function, Type, all};
use codeobj::CodeObject;
use rockhound_emu::{Hidden, Launch, Memory, Program, arguments, run};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use testkit::Random;

/// Inputs per function.
const INPUTS: usize = 10_240;

/// Edge values of a type.
fn edges(ty: Type) -> &'static [u64] {
    match ty {
        Type::F32 => &[
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x007f_ffff,
            0x0080_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x3f7f_ffff,
            0x3f80_0001,
            0x4b00_0000,
            0x4b7f_ffff,
            0x4f00_0000,
            0xcf00_0000,
            0x5f00_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x3f00_0000,
            0x4020_0000,
            0x7f00_0000,
            0x00ff_ffff,
        ],
        Type::F64 => &[
            0,
            1 << 63,
            1,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0xbff0_0000_0000_0000,
            0x3fef_ffff_ffff_ffff,
            0x4330_0000_0000_0000,
            0x41e0_0000_0000_0000,
            0x43e0_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0xffef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
            0x3fe0_0000_0000_0000,
            0x36a0_0000_0000_0000,
            0x47ef_ffff_f000_0000,
        ],
        Type::F16 => &[
            0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3bff, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
            0x7e00, 0x3800,
        ],
        _ => &[
            0,
            1,
            u64::MAX,
            0x80,
            0x7f,
            0x8000,
            0x7fff,
            0x8000_0000,
            0x7fff_ffff,
            1 << 63,
            u64::MAX >> 1,
            2,
            31,
            32,
            63,
            0xff,
            0xffff,
            0xffff_ffff,
            0x1_0000_0000,
            10,
        ],
    }
}

/// Inputs of a type: random bits, small numbers, edge values.
fn inputs(ty: Type, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let edges = edges(ty);
    let mut bytes = Vec::new();
    for index in 0..INPUTS {
        let bits = random.next();
        let value = match bits & 7 {
            0 | 1 => edges[(random.next() % edges.len() as u64) as usize],
            2 if matches!(ty, Type::F32) => {
                u64::from(((random.next() % 2000) as f32 / 16.0 - 60.0).to_bits())
            }
            2 if matches!(ty, Type::F64) => ((random.next() % 2000) as f64 / 16.0 - 60.0).to_bits(),
            2 => random.next() % 256,
            // Similar exponents, so that sums cancel.
            3 if matches!(ty, Type::F32) => random.next() & 0x83ff_ffff | 0x3c00_0000,
            3 if matches!(ty, Type::F64) => random.next() & 0x803f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000,
            _ => random.next(),
        };
        let _ = index;
        bytes.extend_from_slice(&value.to_le_bytes()[..ty.bytes()]);
    }
    bytes
}

fn device_source(functions: &[Function]) -> String {
    let mut text = String::from(functions::PRELUDE);
    for function in functions {
        let Function { name, from, to, body } = function;
        let _ = writeln!(
            text,
            "extern \"C\" __attribute__((global)) void {name}(const {f} *pa, const {f} *pb, const {f} *pc, {t} *po) {{\n  \
             unsigned i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();\n  \
             {f} a = pa[i], b = pb[i], c = pc[i]; po[i] = ({t})({body});\n}}",
            f = from.name(),
            t = to.name()
        );
    }
    text
}

fn host_source(functions: &[Function]) -> String {
    let mut text = String::from(functions::PRELUDE);
    text += "#include <stdio.h>\n#include <stdlib.h>\nstatic void *load(const char *name, unsigned size) { FILE *f = fopen(name, \"rb\"); \
             void *p = malloc(size); if (!f || fread(p, 1, size, f) != size) exit(2); fclose(f); return p; }\n";
    for Function { name, from, to, body } in functions {
        let _ = writeln!(
            text,
            "static void {name}() {{ const unsigned n = {INPUTS};\n  \
             {f} *pa = ({f}*)load(\"{f}.0\", n * sizeof({f})), *pb = ({f}*)load(\"{f}.1\", n * sizeof({f})), *pc = ({f}*)load(\"{f}.2\", n * sizeof({f}));\n  \
             {t} *po = ({t}*)malloc(n * sizeof({t}));\n  \
             for (unsigned i = 0; i < n; i++) {{ {f} a = pa[i], b = pb[i], c = pc[i]; po[i] = ({t})({body}); }}\n  \
             fwrite(po, sizeof({t}), n, stdout); free(pa); free(pb); free(pc); free(po); }}",
            f = from.name(),
            t = to.name()
        );
    }
    text += "int main() {\n";
    for function in functions {
        let _ = writeln!(text, "  {}();", function.name);
    }
    text + "}\n"
}

fn clang(folder: &Path, arguments: &[&str]) -> bool {
    if !testkit::needs(&["clang++-22"]) {
        return false;
    }
    let result = Command::new("clang++-22").args(arguments).current_dir(folder).output().unwrap();
    assert!(result.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&result.stderr));
    true
}

/// Results of a kernel on the prepared inputs.
fn emulate(
    bytes: &[u8],
    object: &CodeObject,
    function: &Function,
    data: &[Vec<u8>; 3],
) -> Result<Vec<u8>, String> {
    let kernel = object.kernels.iter().find(|kernel| kernel.name == function.name).unwrap();
    let program = Program::new(bytes, object, kernel).unwrap();
    let mut memory = Memory::new();
    let mut explicit = Arguments::default();
    for part in data {
        explicit = explicit.u64(memory.allocate_with("in", part));
    }
    let length = INPUTS * function.to.bytes();
    let out = memory.allocate("out", length);
    explicit = explicit.u64(out);
    let mut launch = Launch { threads: 1, ..Launch::new([(INPUTS / 256) as u32, 1, 1], [256, 1, 1], 0) };
    launch.max_instructions = 1_000_000;
    let segment = arguments(&program, &launch, &Hidden::default(), &explicit.0);
    launch.kernarg = memory.allocate_with("kernarg", &segment);
    run(&program, &memory, &launch, || (), |()| ()).map_err(|fault| fault.to_string())?;
    Ok(memory.read(out, length).unwrap())
}

/// Distance in units in the last place; 0 for equal bits or two NaNs.
fn distance(ty: Type, left: u64, right: u64) -> u64 {
    let nan = |bits: u64| match ty {
        Type::F16 => bits & 0x7fff > 0x7c00,
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    };
    let half_nans = |shift: u32| (left >> shift & 0x7fff > 0x7c00) && (right >> shift & 0x7fff > 0x7c00);
    if left == right || (nan(left) && nan(right)) {
        return 0;
    }
    if matches!(ty, Type::Half2) {
        let equal = |shift: u32| left >> shift & 0xffff == right >> shift & 0xffff || half_nans(shift);
        return if equal(0) && equal(16) { 0 } else { u64::MAX };
    }
    if nan(left) || nan(right) || !matches!(ty, Type::F16 | Type::F32 | Type::F64) {
        return u64::MAX;
    }
    let ordered = |bits: u64| {
        let top = 1u64 << (8 * ty.bytes() - 1);
        if bits & top != 0 { -((bits & (top - 1)) as i64) } else { bits as i64 }
    };
    ordered(left).abs_diff(ordered(right))
}

fn values(bytes: &[u8], ty: Type) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(ty.bytes()).map(|chunk| {
        let mut wide = [0; 8];
        wide[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(wide)
    })
}

/// Differences between the host and a target.
fn compare(target: &str, functions: &[Function], folder: &Path, expected: &[u8]) -> Vec<String> {
    let output = format!("{target}.hsaco");
    let arch = format!("--offload-arch={target}");
    let device =
        ["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output", "-O2"];
    let mut arguments: Vec<&str> = device.to_vec();
    arguments.extend(["-ffp-contract=off", "-Wno-everything", &arch, "device.hip", "-o", &output]);
    assert!(clang(folder, &arguments));
    let bytes = std::fs::read(folder.join(&output)).unwrap();
    let object = CodeObject::read(&bytes).unwrap();
    let mut differing = Vec::new();
    let mut at = 0;
    for function in functions {
        let data = [0, 1, 2]
            .map(|index| std::fs::read(folder.join(format!("{}.{index}", function.from.name()))).unwrap());
        let result = emulate(&bytes, &object, function, &data);
        let length = INPUTS * function.to.bytes();
        let host = &expected[at..at + length];
        at += length;
        let found = match result {
            Ok(found) => found,
            Err(fault) => {
                differing.push(format!("{target} {}: {fault}", function.name));
                continue;
            }
        };
        let allowed = function.tolerance();
        let wrong = values(&found, function.to)
            .zip(values(host, function.to))
            .enumerate()
            .filter(|(_, (found, host))| distance(function.to, *found, *host) > allowed);
        let wrong: Vec<_> = wrong.collect();
        if let Some((index, (found, host))) = wrong.first() {
            let input = |part: &[u8]| values(part, function.from).nth(*index).unwrap();
            differing.push(format!(
                "{target} {}: {} of {INPUTS}; a = {:#x}, b = {:#x}, c = {:#x}: {found:#x}, host {host:#x}",
                function.name,
                wrong.len(),
                input(&data[0]),
                input(&data[1]),
                input(&data[2]),
            ));
        }
    }
    differing
}

#[test]
fn device_code_computes_what_the_host_computes() {
    let functions = all();
    assert!(functions.len() >= 200, "{}", functions.len());
    let folder = std::env::temp_dir().join(format!("rockhound-semantics-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("host.cpp"), host_source(&functions)).unwrap();
    std::fs::write(folder.join("device.hip"), device_source(&functions)).unwrap();
    for ty in Type::ALL {
        for index in 0..3 {
            std::fs::write(
                folder.join(format!("{}.{index}", ty.name())),
                inputs(ty, 1000 * index + ty as u64),
            )
            .unwrap();
        }
    }
    let host = [
        "-O1",
        "-fno-math-errno",
        "-mavx2",
        "-mfma",
        "-mf16c",
        "-ffp-contract=off",
        "-Xclang",
        "-ffloat16-excess-precision=none",
    ];
    let mut arguments: Vec<&str> = host.to_vec();
    arguments.extend(["-Wno-everything", "host.cpp", "-o", "host", "-lm"]);
    if !clang(&folder, &arguments) {
        return;
    }
    let result = Command::new(folder.join("host")).current_dir(&folder).output().unwrap();
    assert!(result.status.success());
    let mut differing = Vec::new();
    for target in ["gfx90a", "gfx942", "gfx950"] {
        differing.extend(compare(target, &functions, &folder, &result.stdout));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    println!("{} functions, {INPUTS} inputs each, 3 targets", functions.len());
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}
