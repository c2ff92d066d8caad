//! Code objects compiled on the spot, read here and by LLVM's tools: both must say the same.

use std::collections::BTreeMap;
use std::path::Path;

use rockhound_codeobj::{Body, CodeObject, Kernel, LineTable, Target, read_text};
use testkit::{Scratch, needs, run};

const SOURCE: &str = include_str!("../sources/kernels.hip");

const HIP: [&str; 7] = [
    "-x",
    "hip",
    "--cuda-device-only",
    "-nogpulib",
    "-nogpuinc",
    "--no-gpu-bundle-output",
    "-Wno-everything",
];

fn compile(scratch: &Scratch, clang: &str, arch: &str, more: &[&str], output: &str) -> Vec<u8> {
    let source = scratch.write("kernels.hip", SOURCE.as_bytes());
    let arch = format!("--offload-arch={arch}");
    let output = scratch.path(output);
    let mut arguments = HIP.to_vec();
    arguments.extend([arch.as_str(), source.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    arguments.extend(more);
    run(clang, &arguments);
    std::fs::read(output).unwrap()
}

/// Numbers of the kernel descriptors, as LLVM writes them back in directives.
fn directives_of_llvm(object: &Path) -> BTreeMap<String, BTreeMap<String, u64>> {
    let text = run("llvm-objdump-22", &["-D", "-j", ".rodata", object.to_str().unwrap()]);
    let mut all = BTreeMap::new();
    let mut kernel: Option<(String, BTreeMap<String, u64>)> = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(".amdhsa_kernel"), Some(name)) => kernel = Some((name.to_owned(), BTreeMap::new())),
            (Some(".end_amdhsa_kernel"), _) => all.extend(kernel.take()),
            (Some(word), Some(value)) => {
                if let (Some((_, values)), Some(name), Ok(value)) =
                    (&mut kernel, word.strip_prefix(".amdhsa_"), value.parse())
                {
                    values.insert(name.to_owned(), value);
                }
            }
            _ => {}
        }
    }
    all
}

/// The same directives out of our descriptor.
fn directives_of(kernel: &Kernel) -> BTreeMap<&'static str, u64> {
    let d = kernel.descriptor.expect("a descriptor");
    BTreeMap::from([
        ("group_segment_fixed_size", d.lds_bytes.into()),
        ("private_segment_fixed_size", d.scratch_bytes.into()),
        ("kernarg_size", d.kernarg_bytes.into()),
        ("accum_offset", d.accum_offset.into()),
        ("tg_split", d.tg_split.into()),
        ("next_free_vgpr", d.vgprs_allocated.into()),
        ("float_round_mode_32", (d.float_mode & 3).into()),
        ("float_round_mode_16_64", (d.float_mode >> 2 & 3).into()),
        ("float_denorm_mode_32", (d.float_mode >> 4 & 3).into()),
        ("float_denorm_mode_16_64", (d.float_mode >> 6 & 3).into()),
        ("dx10_clamp", d.dx10_clamp.into()),
        ("ieee_mode", d.ieee_mode.into()),
        ("fp16_overflow", d.fp16_overflow.into()),
        ("system_sgpr_workgroup_id_x", (d.workgroup_id_mask & 1).into()),
        ("system_sgpr_workgroup_id_y", (d.workgroup_id_mask >> 1 & 1).into()),
        ("system_sgpr_workgroup_id_z", (d.workgroup_id_mask >> 2 & 1).into()),
        ("system_sgpr_workgroup_info", (d.workgroup_id_mask >> 3 & 1).into()),
        ("system_vgpr_workitem_id", (d.workitem_id_dims - 1).into()),
        ("system_sgpr_private_segment_wavefront_offset", d.private_segment.into()),
        ("enable_private_segment", d.private_segment.into()),
        ("user_sgpr_kernarg_segment_ptr", (d.properties >> 3 & 1).into()),
        ("user_sgpr_kernarg_preload_length", (d.kernarg_preload & 0x7f).into()),
        ("uses_dynamic_stack", d.dynamic_stack.into()),
    ])
}

fn check_descriptors(object: &CodeObject, path: &Path) -> usize {
    let theirs = directives_of_llvm(path);
    let mut compared = 0;
    assert_eq!(theirs.len(), object.kernels.len());
    for kernel in &object.kernels {
        let ours = directives_of(kernel);
        for (name, value) in &theirs[&kernel.name] {
            if let Some(our) = ours.get(name.as_str()) {
                assert_eq!(our, value, "{} {name}", kernel.name);
                compared += 1;
            }
        }
    }
    compared
}

const TARGETS: [(&str, &str); 10] = [
    ("clang++-19", "gfx90a:xnack-"),
    ("clang++-19", "gfx942"),
    ("clang++-19", "gfx908:sramecc+:xnack-"),
    ("clang++-22", "gfx90a:sramecc-:xnack+"),
    ("clang++-22", "gfx942:xnack+"),
    ("clang++-22", "gfx950"),
    ("clang++-22", "gfx906"),
    ("clang++-22", "gfx1030"),
    ("clang++-22", "gfx1100"),
    ("clang++-22", "gfx9-4-generic"),
];

#[test]
fn descriptors_of_machine_code_and_of_text_equal_llvms() {
    if !needs(&["clang++-19", "clang++-22", "llvm-objdump-22", "ld.lld-19", "ld.lld-22"]) {
        return;
    }
    let mut compared = 0;
    for (clang, arch) in TARGETS {
        let scratch = Scratch::new("descriptors");
        let bytes = compile(&scratch, clang, arch, &["-O2"], "k.hsaco");
        let object = CodeObject::read(&bytes).unwrap();
        assert_eq!(object.target.to_string(), arch);
        assert_eq!(object.warnings, Vec::<String>::new());
        compared += check_descriptors(&object, &scratch.path("k.hsaco"));

        let text = compile(&scratch, clang, arch, &["-O2", "-S"], "k.s");
        let text = String::from_utf8(text).unwrap();
        let from_text = read_text(&text).unwrap();
        assert_eq!(from_text.len(), 1);
        let from_text = &from_text[0];
        assert_eq!(Some(&from_text.target), Target::parse(arch).as_ref(), "{arch}");
        assert_eq!(from_text.version, object.version, "{arch}");
        assert_eq!(from_text.warnings, Vec::<String>::new(), "{arch}");
        assert_eq!(from_text.kernels.len(), object.kernels.len());
        for kernel in &from_text.kernels {
            let linked = object.kernels.iter().find(|linked| linked.name == kernel.name).unwrap();
            let mut descriptor = linked.descriptor.unwrap();
            if arch == "gfx1100" {
                // The assembler adds the prefetch size, which depends on encoded lengths.
                descriptor.rsrc3 = 0;
            }
            assert_eq!(kernel.descriptor, Some(descriptor), "{arch} {}", kernel.name);
            assert_eq!(kernel.metadata, linked.metadata, "{arch} {}", kernel.name);
            assert_eq!(kernel.demangled, linked.demangled);
            check_body(&text, kernel);
        }
        let names = |object: &CodeObject| -> Vec<String> {
            let mut names: Vec<_> = object.functions.iter().map(|function| function.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(names(from_text), names(&object));
    }
    assert!(compared > 500, "{compared} directives compared");
}

/// The lines of a body begin after the label and hold the kernel's end, and no label of another function.
fn check_body(text: &str, kernel: &Kernel) {
    let Body::Text { lines } = &kernel.body else { panic!("{} has no lines", kernel.name) };
    let all: Vec<&str> = text.lines().collect();
    assert!(all[lines.start - 1].starts_with(&format!("{}:", kernel.name)), "{}", all[lines.start - 1]);
    let body = &all[lines.clone()];
    assert!(body.iter().any(|line| line.contains("s_endpgm")), "{}", kernel.name);
    assert!(
        !body.iter().any(|line| line.contains(".amdhsa") || line.contains(".section")),
        "{}",
        kernel.name
    );
    assert!(!body.iter().any(|line| line.contains("; @")), "{}", kernel.name);
}

#[test]
fn symbols_and_sizes_equal_readelfs() {
    if !needs(&["clang++-22", "llvm-readelf-22", "ld.lld-22"]) {
        return;
    }
    let scratch = Scratch::new("symbols");
    let bytes = compile(&scratch, "clang++-22", "gfx942", &["-O1"], "k.hsaco");
    let object = CodeObject::read(&bytes).unwrap();
    let table = run("llvm-readelf-22", &["-s", "-W", scratch.path("k.hsaco").to_str().unwrap()]);
    let mut functions = BTreeMap::new();
    for line in table.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, value, size, "FUNC", .., name] = words[..] {
            functions
                .insert(name.to_owned(), (u64::from_str_radix(value, 16).unwrap(), size.parse().unwrap()));
        }
    }
    let bodies = object.kernels.iter().map(|kernel| (&kernel.name, &kernel.body));
    let bodies = bodies.chain(object.functions.iter().map(|function| (&function.name, &function.body)));
    let ours: BTreeMap<String, (u64, usize)> = bodies
        .map(|(name, body)| match body {
            Body::Code { address, bytes } => (name.clone(), (*address, bytes.len())),
            other => panic!("{name}: {other:?}"),
        })
        .collect();
    assert!(ours.len() >= 6);
    assert_eq!(ours, functions);
}

#[test]
fn lines_equal_symbolizers() {
    if !needs(&["clang++-22", "clang++-19", "llvm-symbolizer-22", "ld.lld-22", "ld.lld-19"]) {
        return;
    }
    let mut compared = 0;
    for (clang, flags) in [
        ("clang++-22", &["-g", "-O2", "-gdwarf-5"][..]),
        ("clang++-22", &["-gline-tables-only", "-O3"][..]),
        ("clang++-19", &["-g", "-O2", "-gdwarf-4"][..]),
    ] {
        let scratch = Scratch::new("lines");
        let bytes = compile(&scratch, clang, "gfx942", flags, "k.hsaco");
        let object = CodeObject::read(&bytes).unwrap();
        let table = LineTable::read(&bytes).unwrap();
        assert_eq!(table.absent(), None);
        for kernel in &object.kernels {
            let Body::Code { address, bytes } = &kernel.body else { panic!() };
            let end = address + bytes.len() as u64;
            let addresses: Vec<u64> = (*address..end).step_by(4).collect();
            let mut arguments =
                vec!["--obj".to_owned(), scratch.path("k.hsaco").to_str().unwrap().to_owned()];
            arguments.extend(addresses.iter().map(|address| format!("{address:#x}")));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let output = run("llvm-symbolizer-22", &arguments);
            let lines = table.lines(*address..end);
            for (address, theirs) in addresses.iter().zip(output.trim_end().split("\n\n")) {
                let ours: Vec<String> = table
                    .frames(*address)
                    .iter()
                    .map(|frame| {
                        format!("{}\n{}:{}:{}", frame.function, frame.file, frame.line, frame.column)
                    })
                    .collect();
                assert_eq!(ours.join("\n"), without_stray_columns(theirs), "{clang} {flags:?} {address:#x}");
                let row = lines.at(*address).unwrap();
                let innermost = table.frames(*address).remove(0);
                let expected = (innermost.file.as_str(), innermost.line, innermost.column);
                assert_eq!((lines.file(row), row.line, row.column), expected);
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared} addresses compared");
}

/// The symbolizer prints columns also where the compiler gives no line; they mean nothing then.
fn without_stray_columns(positions: &str) -> String {
    let line = |line: &str| match line.rsplit_once(':') {
        Some((place, _)) if place.ends_with(":0") => format!("{place}:0"),
        _ => line.to_owned(),
    };
    positions.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn code_without_debug_information_has_no_lines() {
    if !needs(&["clang++-22", "ld.lld-22"]) {
        return;
    }
    let scratch = Scratch::new("no-lines");
    let bytes = compile(&scratch, "clang++-22", "gfx942", &["-O1"], "k.hsaco");
    let table = LineTable::read(&bytes).unwrap();
    assert!(table.absent().is_some());
    assert!(table.frames(0).is_empty() && table.lines(0..u64::MAX).rows.is_empty());
}

#[test]
fn relocatable_code_objects_are_read() {
    if !needs(&["clang++-22", "ld.lld-22", "clang-22"]) {
        return;
    }
    let scratch = Scratch::new("relocatable");
    let linked = compile(&scratch, "clang++-22", "gfx90a", &["-O2"], "k.hsaco");
    compile(&scratch, "clang++-22", "gfx90a", &["-O2", "-S"], "k.s");
    let (source, output) = (scratch.path("k.s"), scratch.path("k.o"));
    let arguments = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-c"];
    let files = [source.to_str().unwrap(), "-o", output.to_str().unwrap()];
    run("clang-22", &[&arguments[..], &files[..]].concat());
    let relocatable = CodeObject::read(&std::fs::read(output).unwrap()).unwrap();
    let linked = CodeObject::read(&linked).unwrap();
    assert_eq!(relocatable.kernels.len(), linked.kernels.len());
    for kernel in &relocatable.kernels {
        let other = linked.kernels.iter().find(|other| other.name == kernel.name).unwrap();
        assert_eq!((kernel.descriptor, &kernel.metadata), (other.descriptor, &other.metadata));
        let (Body::Code { bytes, .. }, Body::Code { bytes: other, .. }) = (&kernel.body, &other.body) else {
            panic!()
        };
        assert_eq!(bytes.len(), other.len());
    }
}
