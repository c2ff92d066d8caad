//! Every kind of container of `fixtures/containers`, against a description that was read by eye.

use std::fmt::Write as _;
use std::path::Path;

use crate::tools::fixture;
use rockhound_codeobj::{
    Body, CodeObject, Descriptor, Target, Wanted, apply_triton, read_text, recognise, scan,
};

/// Everything that a file gives, in lines.
fn describe(name: &str) -> String {
    let data = fixture(name);
    let mut out = format!("## {name}: {:?}\n", recognise(&data));
    if name.ends_with(".s") {
        for object in read_text(std::str::from_utf8(&data).unwrap()).unwrap() {
            describe_object(&object, &mut out);
        }
        return out;
    }
    let found = match scan(&data, &Wanted::all()) {
        Ok(found) => found,
        Err(error) => {
            writeln!(out, "{error}\nhint: {}", error.hint).unwrap();
            return out;
        }
    };
    for found in found {
        match found {
            Err(error) => writeln!(out, "{error}\nhint: {}", error.hint).unwrap(),
            Ok(found) => {
                let (origin, target, position, size) =
                    (&found.origin, &found.target, found.position, found.data.len());
                writeln!(out, "# `{origin}` `{target}` at {position:#x}: {size} bytes").unwrap();
                let object = found.read().unwrap();
                if name.ends_with(".hsaco") {
                    describe_object(&object, &mut out);
                } else {
                    let names: Vec<_> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                    writeln!(out, "{} version {} {names:?}", object.target, object.version).unwrap();
                }
            }
        }
    }
    out
}

fn describe_object(object: &CodeObject, out: &mut String) {
    writeln!(
        out,
        "{} version {} lines {:?} {:?}",
        object.target, object.version, object.lines, object.warnings
    )
    .unwrap();
    for kernel in &object.kernels {
        writeln!(out, "  kernel {} {}", kernel.name, place(&kernel.body)).unwrap();
        describe_descriptor(kernel.descriptor, out);
        let m = &kernel.metadata;
        writeln!(
            out,
            "    metadata: {:?} vgprs, {:?} agprs, {:?} sgprs, spills {:?} {:?}, lds {:?}, scratch {:?}, kernarg {:?}, workgroup {:?} {:?}, wave {:?}, {:?}",
            m.vgprs,
            m.agprs,
            m.sgprs,
            m.vgpr_spills,
            m.sgpr_spills,
            m.lds_bytes,
            m.scratch_bytes,
            m.kernarg_bytes,
            m.max_workgroup,
            m.required_workgroup,
            m.wavefront_size,
            m.language
        )
        .unwrap();
        for a in &m.arguments {
            writeln!(
                out,
                "    {:>3}+{} {} `{}` `{}` {} {} const {} restrict {}",
                a.offset,
                a.size,
                a.kind,
                a.type_name,
                a.name,
                a.address_space,
                a.access,
                a.is_const,
                a.is_restrict
            )
            .unwrap();
        }
    }
    for function in &object.functions {
        writeln!(out, "  function {} {}", function.name, place(&function.body)).unwrap();
    }
}

fn place(body: &Body) -> String {
    match body {
        Body::Code { address, bytes } => {
            format!("at {address:#x} in bytes {:#x}..{:#x}", bytes.start, bytes.end)
        }
        Body::Text { lines } => format!("in lines {}..{}", lines.start, lines.end),
        Body::Absent => "without code".to_owned(),
    }
}

fn describe_descriptor(descriptor: Option<Descriptor>, out: &mut String) {
    let Some(d) = descriptor else {
        out.push_str("    no descriptor\n");
        return;
    };
    writeln!(
        out,
        "    descriptor: {} vgprs from {}, {} sgprs, lds {}, scratch {}, kernarg {}, user {}, rsrc {:x} {:x} {:x}, properties {:x}",
        d.vgprs_allocated,
        d.accum_offset,
        d.sgprs_allocated,
        d.lds_bytes,
        d.scratch_bytes,
        d.kernarg_bytes,
        d.user_sgprs,
        d.rsrc1,
        d.rsrc2,
        d.rsrc3,
        d.properties
    )
    .unwrap();
}

const FILES: [&str; 22] = [
    "v2.hsaco",
    "v3.hsaco",
    "v4.hsaco",
    "v5.hsaco",
    "v6.hsaco",
    "lines.hsaco",
    "other.hsaco",
    "stripped.hsaco",
    "plain.hipfb",
    "zlib-v1.hipfb",
    "zlib-v2.hipfb",
    "zstd-v2.hipfb",
    "zstd-v3.hipfb",
    "bitcode.hipfb",
    "host.so",
    "gnu.a",
    "bsd.a",
    "thin.a",
    "clang15-v2.s",
    "clang15.s",
    "clang19.s",
    "clang22.s",
];

#[test]
fn all_containers() {
    let actual: String = FILES.iter().map(|name| describe(name)).collect();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/containers.txt");
    testkit::golden_file(golden, &actual);
}

#[test]
fn the_same_code_whatever_the_container() {
    let plain: Vec<Vec<u8>> = objects("plain.hipfb", &Wanted::all());
    assert_eq!(plain, [fixture("v5.hsaco"), fixture("v6.hsaco"), fixture("other.hsaco")]);
    for name in ["zlib-v1.hipfb", "zlib-v2.hipfb", "zstd-v2.hipfb", "zstd-v3.hipfb"] {
        assert_eq!(objects(name, &Wanted::all()), plain, "{name}");
    }
    for name in ["host.so", "gnu.a", "bsd.a"] {
        assert_eq!(
            objects(name, &Wanted::all()),
            plain.iter().cycle().take(12).cloned().collect::<Vec<_>>(),
            "{name}"
        );
    }
}

/// Some runtimes embed code objects in the constants of a program, without a separate section.
#[test]
fn code_objects_among_constants_are_found() {
    let mut data = fixture("host.so");
    let plain: Vec<Vec<u8>> = objects("plain.hipfb", &Wanted::all());
    let renamed: Vec<usize> =
        (0..data.len()).filter(|at| data[*at..].starts_with(b".hip_fatbin\0")).collect();
    for at in renamed {
        data[at..at + 11].copy_from_slice(b".rodata.gpu");
    }
    let found: Vec<_> = scan(&data, &Wanted::all()).unwrap().map(|found| found.unwrap()).collect();
    assert!(found.iter().all(|found| found.origin.starts_with(".rodata.gpu[")), "{found:?}");
    assert!(found.iter().all(|found| !found.is_registered()), "a program loads these itself");
    let bytes: Vec<Vec<u8>> = found.iter().map(|found| found.data.to_vec()).collect();
    assert!(!bytes.is_empty() && bytes.chunks(plain.len()).all(|chunk| chunk == plain));
    // Something that begins like a code object and is none, and one that is cut short.
    let host = scan(&data, &Wanted::all()).unwrap().next().unwrap().unwrap();
    let at = host.position as usize;
    data[at + 40..at + 48].fill(0xff);
    assert!(scan(&data, &Wanted::all()).unwrap().all(|found| found.is_ok()));
}

fn objects(name: &str, wanted: &Wanted) -> Vec<Vec<u8>> {
    scan(&fixture(name), wanted).unwrap().map(|found| found.unwrap().data.into_owned()).collect()
}

#[test]
fn only_wanted_targets_are_given() {
    let cases: [(&[&str], usize); 7] = [
        (&["gfx942"], 4),
        (&["gfx90a"], 4),
        (&["gfx90a:xnack-"], 4),
        (&["gfx90a:xnack+"], 0),
        (&["gfx942", "gfx1030"], 8),
        (&["gfx908"], 0),
        (&[], 12),
    ];
    let data = fixture("host.so");
    for (targets, expected) in cases {
        let wanted = Wanted::targets(targets.iter().map(|target| Target::parse(target).unwrap()).collect());
        let mut found = scan(&data, &wanted).unwrap();
        assert_eq!(found.by_ref().count(), expected, "{targets:?}");
        let passed_over: Vec<&str> = found.passed_over().collect();
        assert_eq!(
            passed_over.contains(&"gfx942"),
            expected < 12 && !targets.contains(&"gfx942"),
            "{passed_over:?}"
        );
    }
    let bare = fixture("v6.hsaco");
    let wanted = Wanted::targets(vec![Target::parse("gfx90a").unwrap()]);
    assert_eq!(scan(&bare, &wanted).unwrap().count(), 0);
}

/// Output of a compiler that dumps several kernels.
#[test]
fn a_stream_of_compilations_is_cut_apart() {
    let (one, two) = (fixture("clang19.s"), fixture("clang22.s"));
    let (one, two) = (String::from_utf8(one).unwrap(), String::from_utf8(two).unwrap());
    let head = "// -----// AMDGCN Dump //----- //\n";
    let stream = format!("{head}{one}{head}{two}{head}{one}");
    let objects = read_text(&stream).unwrap();
    let seen: Vec<(String, String, usize)> = objects
        .iter()
        .map(|object| (object.origin.clone(), object.target.to_string(), object.kernels.len()))
        .collect();
    let expected = [("part[0]", "gfx942", 2), ("part[1]", "gfx950", 2), ("part[2]", "gfx942", 2)];
    assert_eq!(
        seen,
        expected.map(|(origin, target, kernels)| (origin.to_owned(), target.to_owned(), kernels))
    );
    let lines: Vec<&str> = stream.lines().collect();
    for object in &objects {
        assert_eq!(lines[object.lines.start], head.trim_end());
        for kernel in &object.kernels {
            let Body::Text { lines: body } = &kernel.body else { panic!() };
            assert!(lines[body.start - 1].starts_with(&format!("{}:", kernel.name)));
            assert!(object.lines.start < body.start && body.end < object.lines.end);
        }
    }
    assert_eq!(objects[0].kernels[0].descriptor, objects[2].kernels[0].descriptor);
}

#[test]
fn launch_facts_of_triton() {
    let mut object = CodeObject::read(&fixture("v6.hsaco")).unwrap();
    apply_triton(br#"{"name": "second", "shared": 16384, "num_warps": 8, "num_stages": 2}"#, &mut object)
        .unwrap();
    let facts = |name: &str| {
        let metadata = &object.kernels.iter().find(|kernel| kernel.name == name).unwrap().metadata;
        (metadata.launch_lds_bytes, metadata.launch_waves, metadata.num_stages)
    };
    assert_eq!(facts("second"), (Some(16384), Some(8), Some(2)));
    assert_eq!(facts("first"), (None, None, None));

    apply_triton(br#"{"name": "absent", "num_warps": 1}"#, &mut object).unwrap();
    assert!(object.warnings.len() == 1 && object.warnings[0].contains("`absent`"), "{:?}", object.warnings);
    for json in ["{\"name\":\n nonsense}", "{}", ""] {
        let error = apply_triton(json.as_bytes(), &mut object).unwrap_err();
        testkit::golden(&format!("Triton's {json:?}"), &error.to_string());
    }
}
