//! Real libraries, when they are there: kernels, names and registers against what LLVM's tools read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rockhound_codeobj::{Body, Metadata, Target, Wanted, scan};
use testkit::{Scratch, needs, run};

/// Folder with unpacked packages.
fn library(path: &str, install: &str) -> Option<PathBuf> {
    let root =
        std::env::var_os("ROCKHOUND_REAL").map_or_else(|| PathBuf::from("/opt/rh/real"), PathBuf::from);
    let path = root.join(path);
    if path.is_file() {
        return Some(path);
    }
    // Hundreds of megabytes: asked for on the machines that have them, never a failure elsewhere.
    testkit::not_asked_for(&path.display().to_string(), &format!("install with {install}"));
    None
}

/// One kernel's numbers in the notes that `llvm-readelf --notes` prints.
type Notes = BTreeMap<String, BTreeMap<String, String>>;

fn notes_of_llvm(object: &Path) -> Notes {
    let text = run("llvm-readelf-22", &["--notes", object.to_str().unwrap()]);
    let mut kernels = Notes::new();
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut finish = |fields: &mut BTreeMap<String, String>| {
        if let Some(name) = fields.get(".symbol") {
            kernels.insert(name.trim_end_matches(".kd").to_owned(), std::mem::take(fields));
        }
        fields.clear();
    };
    for line in text.lines() {
        let Some(line) = line.strip_prefix("  - ").or_else(|| line.strip_prefix("    ")) else { continue };
        if line.starts_with(' ') {
            continue;
        }
        if text_begins_kernel(line, &fields) {
            finish(&mut fields);
        }
        if let Some((key, value)) = line.split_once(':') {
            fields.insert(key.to_owned(), value.trim().trim_matches('\'').to_owned());
        }
    }
    finish(&mut fields);
    kernels
}

/// A key that is there already belongs to the next kernel.
fn text_begins_kernel(line: &str, fields: &BTreeMap<String, String>) -> bool {
    line.split_once(':').is_some_and(|(key, _)| fields.contains_key(key))
}

fn our_fields(name: &str, metadata: &Metadata) -> BTreeMap<String, String> {
    let numbers = [
        (".vgpr_count", metadata.vgprs),
        (".agpr_count", metadata.agprs),
        (".sgpr_count", metadata.sgprs),
        (".vgpr_spill_count", metadata.vgpr_spills),
        (".sgpr_spill_count", metadata.sgpr_spills),
        (".group_segment_fixed_size", metadata.lds_bytes),
        (".private_segment_fixed_size", metadata.scratch_bytes),
        (".kernarg_segment_size", metadata.kernarg_bytes),
        (".kernarg_segment_align", metadata.kernarg_align),
        (".max_flat_workgroup_size", metadata.max_workgroup),
        (".wavefront_size", metadata.wavefront_size),
    ];
    let mut fields: BTreeMap<String, String> = numbers
        .iter()
        .filter_map(|(key, value)| Some(((*key).to_owned(), value.as_ref()?.to_string())))
        .collect();
    fields.insert(".symbol".to_owned(), format!("{name}.kd"));
    fields
}

/// Compares every `step`-th code object of a library; returns how many kernels were equal.
fn compare(library: &Path, wanted: &Wanted, step: usize) -> usize {
    let data = std::fs::read(library).unwrap();
    let scratch = Scratch::new("real");
    let mut kernels = 0;
    for found in scan(&data, wanted).unwrap().step_by(step) {
        let found = found.unwrap();
        let object = found.read().unwrap();
        assert_eq!(object.warnings, Vec::<String>::new(), "{}", object.origin);
        let path = scratch.write("object", &found.data);
        let notes = notes_of_llvm(&path);
        assert_eq!(notes.len(), object.kernels.len(), "{}", object.origin);
        let symbols = run("llvm-readelf-22", &["-s", "-W", path.to_str().unwrap()]);
        let places: BTreeMap<&str, (&str, &str)> = symbols
            .lines()
            .filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
                [_, value, size, "FUNC", .., name] => Some((name, (value, size))),
                _ => None,
            })
            .collect();
        for kernel in &object.kernels {
            let theirs = &notes[&kernel.name];
            for (key, value) in our_fields(&kernel.name, &kernel.metadata) {
                assert_eq!(Some(&value), theirs.get(&key), "{} {key}", kernel.name);
            }
            assert!(kernel.metadata.vgprs.is_some() && kernel.descriptor.is_some(), "{}", kernel.name);
            let Body::Code { address, bytes } = &kernel.body else { panic!("{} has no code", kernel.name) };
            let (value, size) = places[kernel.name.as_str()];
            assert_eq!(
                (*address, bytes.len().to_string().as_str()),
                (u64::from_str_radix(value, 16).unwrap(), size)
            );
            kernels += 1;
        }
    }
    kernels
}

fn only(target: &str) -> Wanted {
    Wanted::targets(vec![Target::parse(target).unwrap()])
}

fn step() -> usize {
    // Every code object takes minutes, since the other tool prints as text: `ROCKHOUND_ALL=1` asks for it.
    if std::env::var_os("ROCKHOUND_ALL").is_some() { 1 } else { 7 }
}

#[test]
fn onnxruntime() {
    let path = "onnxruntime_rocm/onnxruntime/capi/libonnxruntime_providers_rocm.so";
    let Some(path) = library(path, "pip download --no-deps onnxruntime-rocm==1.22.2.post3") else { return };
    if !needs(&["llvm-readelf-22"]) {
        return;
    }
    for target in ["gfx90a", "gfx942"] {
        let kernels = compare(&path, &only(target), step());
        println!("{target}: {kernels} kernels equal");
        assert!(if step() == 1 { kernels == 10_211 } else { kernels > 100 }, "{kernels}");
    }
}

#[test]
fn cupy() {
    let path = "cupy_rocm_7_0/cupy/cuda/thrust.cpython-311-x86_64-linux-gnu.so";
    let Some(path) = library(path, "pip download --no-deps cupy-rocm-7-0==14.2.0") else { return };
    if !needs(&["llvm-readelf-22"]) {
        return;
    }
    let kernels = compare(&path, &only("gfx942"), 1);
    println!("{kernels} kernels equal");
    assert!(kernels > 500, "{kernels}");
}

#[test]
fn bitsandbytes_compressed() {
    if !needs(&["llvm-readelf-22"]) {
        return;
    }
    for (name, expected) in [("rocm64", 175), ("rocm72", 175)] {
        let path = format!("bitsandbytes/bitsandbytes/libbitsandbytes_{name}.so");
        let Some(path) = library(&path, "pip download --no-deps bitsandbytes==0.50.2") else { return };
        assert_eq!(compare(&path, &only("gfx942"), 1), expected, "{name}");
    }
}

#[test]
fn rocsparse_is_read_in_seconds() {
    let path = "rocsparse/usr/lib/x86_64-linux-gnu/librocsparse.so.0.1";
    let Some(path) = library(path, "apt-get download librocsparse0") else { return };
    if std::env::var_os("ROCKHOUND_ALL").is_none() {
        testkit::not_asked_for("ROCKHOUND_ALL=1", "since it reads 1.3 GB");
        return;
    }
    let data = std::fs::read(path).unwrap();
    let started = std::time::Instant::now();
    let found = scan(&data, &only("gfx90a")).unwrap();
    let kernels: usize = found.map(|found| found.unwrap().read().unwrap().kernels.len()).sum();
    println!("{kernels} kernels in {:?}", started.elapsed());
    assert_eq!(kernels, 25_182);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
