//! The assembly reader against LLVM: reading text gives what decoding the assembled bytes gives.

use rockhound_isa::text::{Body, parse_body};
use rockhound_isa::{Isa, decode_all};
use std::path::{Path, PathBuf};
use testkit::run;

/// A folder for one test, emptied.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder below target");
    folder
}

/// The bytes of `.text` that llvm-mc makes of an assembly file.
fn assemble(processor: &str, source: &Path) -> Vec<u8> {
    let (object, code) = (source.with_extension("o"), source.with_extension("bin"));
    let text = |path: &Path| path.to_str().expect("paths below target are text").to_string();
    let cpu = format!("-mcpu={processor}");
    run(
        "llvm-mc-22",
        &["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", &text(source), "-o", &text(&object)],
    );
    run("llvm-objcopy-22", &["-O", "binary", "-j", ".text", &text(&object), &text(&code)]);
    std::fs::read(code).expect("objcopy wrote it")
}

/// Fails on the first instructions that differ, with the lines they come from.
fn compare(name: &str, isa: Isa, text: &str, body: &Body, code: &[u8]) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(body.errors, [], "{name}");
    let decoded = decode_all(isa, code);
    let mut wrong = Vec::new();
    for (i, (read, right)) in body.insts.iter().zip(&decoded).enumerate() {
        let linked_later = body.symbols.iter().any(|symbol| symbol.inst == i as u32);
        if read != right && !linked_later {
            wrong.push(format!(
                "{}\n  text {read:?}\n  code {right:?}",
                lines[body.line_of[i] as usize].trim()
            ));
        }
        if read.size != right.size {
            break;
        }
    }
    let shown = wrong.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{name}: {} of {} instructions differ:\n{shown}", wrong.len(), decoded.len());
    assert_eq!(body.insts.len(), decoded.len(), "{name}");
    assert_eq!(body.size as usize, code.len(), "{name}");
}

fn isa_of(processor: &str) -> Isa {
    Isa::for_processor(processor).expect("a target of the tables")
}

const PROCESSORS: [&str; 3] = ["gfx90a", "gfx942", "gfx950"];

#[test]
fn compiled_kernels_read_as_they_decode() {
    if !testkit::needs(&["clang++-22", "llvm-mc-22"]) {
        return;
    }
    let folder = scratch("compiled");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/compute.hip");
    for processor in PROCESSORS {
        for level in ["-O0", "-O1", "-O3"] {
            let target = folder.join(format!("{processor}{level}.s"));
            let arch = format!("--offload-arch={processor}");
            let output = target.to_str().expect("paths below target are text");
            let flags =
                ["-x", "hip", "--cuda-device-only", &arch, "-nogpulib", "-nogpuinc", level, "-g", "-S"];
            run("clang++-22", &[&flags[..], &[source, "-o", output]].concat());
            let text = std::fs::read_to_string(&target).expect("the compiler wrote it");
            let isa = isa_of(processor);
            let body = parse_body(isa, text.lines());
            let code = assemble(processor, &target);
            compare(output, isa, &text, &body, &code);
            assert!(body.insts.len() > 500, "{} instructions", body.insts.len());
            assert!(body.locations.len() > 100 && !body.files.is_empty());
        }
    }
}

/// Every line of a file of hand-written syntax, for the processors its first line names.
#[test]
fn written_lines_read_as_they_assemble() {
    if !testkit::needs(&["llvm-mc-22"]) {
        return;
    }
    let folder = scratch("written");
    let cases = [
        ("every.s", include_str!("../lines/every.s"), &PROCESSORS[..]),
        ("preprocessed.s", include_str!("../lines/preprocessed.s"), &PROCESSORS[..]),
        ("gfx90a.s", include_str!("../lines/gfx90a.s"), &["gfx90a"]),
        ("gfx942.s", include_str!("../lines/gfx942.s"), &["gfx942"]),
        ("gfx950.s", include_str!("../lines/gfx950.s"), &["gfx950"]),
    ];
    for (name, text, processors) in cases {
        for processor in processors {
            let source = folder.join(format!("{processor}-{name}"));
            let isa = isa_of(processor);
            std::fs::write(&source, text).expect("a file below target");
            compare(
                &format!("{name} for {processor}"),
                isa,
                text,
                &parse_body(isa, text.lines()),
                &assemble(processor, &source),
            );
        }
    }
}
