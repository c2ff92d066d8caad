//! Compares all dumps of `../shared/triton-ir` with the fact files next to them, which other tools computed.

use rockhound_tritonir::{Form, KernelIr, ScratchStyle, kernels, read};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The only kernel of a file.
fn kernel(path: &Path, style: Option<ScratchStyle>) -> KernelIr {
    let text = text(path);
    let dump = read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(dump.modules.len(), 1, "{}", path.display());
    let mut found = kernels(&dump.modules[0], style);
    assert_eq!(found.len(), 1, "{}", path.display());
    found.remove(0)
}

fn number(facts: &Value, key: &str) -> u64 {
    facts[key].as_u64().unwrap_or_else(|| panic!("{key} of {}", facts["file"]))
}

fn strings(facts: &Value, key: &str) -> Vec<String> {
    let list = facts[key].as_array().unwrap_or_else(|| panic!("{key}"));
    list.iter().map(|it| it.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn facts_of_3_6() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    let facts: BTreeMap<String, Value> =
        serde_json::from_str(&text(&folder.join("facts-3.6.0.json"))).expect("facts");
    assert_eq!(facts.len(), 40);
    for (name, facts) in &facts {
        let path = folder.join(format!("3.6.0/{name}.ttgir"));
        let it = kernel(&path, None);
        assert_eq!(it.form, Form::Ttgir, "{name}");
        assert_eq!(it.lds.total, Ok(number(facts, "lds_bytes")), "{name}: {:#?}", it.lds);
        assert_eq!(it.waves.map(u64::from), Some(number(facts, "num_warps")), "{name}");
        assert_eq!(it.conversions.len() as u64, number(facts, "convert_layout"), "{name}");
        let through: Vec<String> = it
            .conversions
            .iter()
            .filter(|it| it.exchange.through_lds())
            .map(|it| format!("{} {}", it.at.source_line, it.shape))
            .collect();
        assert_eq!(through.len() as u64, number(facts, "convert_layout_through_lds"), "{name}: {through:?}");
        assert_eq!(it.reductions.len() as u64, number(facts, "reduce"), "{name}");
        let over_waves = it.reductions.iter().filter(|it| it.waves > 1).count();
        assert_eq!(over_waves as u64, number(facts, "reduce_through_lds"), "{name}");
        assert_eq!(it.loops.len() as u64, number(facts, "loops"), "{name}");
        let mut buffers: Vec<String> = it
            .lds
            .buffers
            .iter()
            .filter(|it| it.purpose == rockhound_tritonir::Purpose::Allocation)
            .map(|it| it.shape.clone())
            .collect();
        assert_eq!(buffers.len() as u64, number(facts, "local_alloc"), "{name}");
        let mut expected = strings(facts, "buffers");
        // The facts have each shape once.
        buffers.sort();
        buffers.dedup();
        expected.sort();
        assert_eq!(buffers, expected, "{name}");
        for (op, count) in facts["ops"].as_object().expect("ops") {
            let found = it.operations.get(op).copied().unwrap_or(0);
            assert_eq!(u64::from(found), count.as_u64().unwrap(), "{name}: {op}");
        }
        let kinds: BTreeMap<String, u32> = facts["layout_kinds"]
            .as_object()
            .expect("kinds")
            .iter()
            .map(|(kind, count)| (kind.replace("#ttg.", ""), count.as_u64().unwrap_or(0) as u32))
            .collect();
        assert_eq!(it.layout_kinds, kinds, "{name}");
        for dot in &it.dots {
            let instruction = dot.instruction.as_ref().expect(name);
            let shape = format!("instrShape = [{}]", instruction.shape().replace('x', ", "));
            let known = strings(facts, "mfma_layouts");
            assert!(known.iter().any(|it| it.contains(&shape)), "{name}: {shape} in {known:?}");
        }
    }
}

#[test]
fn lds_equals_the_json_in_every_version() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    let mut compared = 0;
    for version in ["3.2.0", "3.4.0", "3.6.0", "3.9.0"] {
        for (name, bytes) in testkit::files(&folder.join(version)) {
            let Some(stem) = name.strip_suffix(".json") else { continue };
            let json: Value = serde_json::from_slice(&bytes).expect("JSON");
            let shared = json["shared"].as_u64().expect("shared");
            let path = folder.join(version).join(format!("{stem}.ttgir"));
            let told = ScratchStyle::of_version(version);
            for style in [told, None] {
                let it = kernel(&path, style);
                assert_eq!(it.lds.total, Ok(shared), "{version}/{stem}: {:#?}", it.lds);
                assert_eq!(it.processor.as_deref(), json["arch"].as_str(), "{version}/{stem}");
            }
            // The form before layouts has the same operations on memory, and no buffers.
            let ttir = kernel(&folder.join(version).join(format!("{stem}.ttir")), None);
            assert_eq!(ttir.form, Form::Ttir, "{version}/{stem}");
            assert!(ttir.lds.buffers.is_empty(), "{version}/{stem}");
            compared += 1;
        }
    }
    assert_eq!(compared, 65);
}

#[test]
fn offsets_and_lifetimes_equal_the_compilers_own() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    let mut compared = 0;
    for (name, bytes) in testkit::files(&folder.join("3.6.0-allocated")) {
        if !name.ends_with(".ttgir") {
            continue;
        }
        let allocated = String::from_utf8(bytes).expect("text");
        let dump = read(&allocated).unwrap_or_else(|error| panic!("{name}: {error}"));
        let theirs = kernels(&dump.modules[0], None).remove(0);
        assert!(theirs.lds.allocated, "{name}");
        assert_eq!(theirs.lds.total.clone().ok(), theirs.stated_lds, "{name}");
        let ours = kernel(&folder.join("3.6.0").join(&name), None);
        let list = |it: &KernelIr| {
            let mut list: Vec<(String, u64, u64)> =
                it.lds.buffers.iter().map(|it| (it.shape.clone(), it.bytes, it.offset)).collect();
            list.sort();
            list
        };
        assert_eq!(list(&ours), list(&theirs), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 8);
}

#[test]
fn facts_of_other_versions() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    let table = text(&folder.join("facts-other-versions.tsv"));
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [version, file, lds, _, mfma, conversions, allocs, _, cond, buffer, copies] = cells[..] else {
            panic!("{row}")
        };
        let it =
            kernel(&folder.join(version).join(format!("{file}.ttgir")), ScratchStyle::of_version(version));
        let count = |name: &str| {
            let all = it.operations.iter().filter(|(op, _)| op.ends_with(name));
            all.map(|(_, count)| *count).sum::<u32>().to_string()
        };
        assert_eq!(it.lds.total.clone().map(|it| it.to_string()), Ok(lds.to_owned()), "{row}");
        assert_eq!(it.conversions.len().to_string(), conversions, "{row}");
        assert_eq!(count(".local_alloc"), allocs, "{row}");
        assert_eq!(count(".cond_barrier"), cond, "{row}");
        let buffer_ops: u32 = it
            .operations
            .iter()
            .filter(|(op, _)| matches!(op.rsplit('.').next(), Some("buffer_load" | "buffer_store")))
            .map(|(_, count)| *count)
            .sum();
        assert_eq!(buffer_ops.to_string(), buffer, "{row}");
        assert_eq!(count(".buffer_load_to_local"), copies, "{row}");
        if let Some(dot) = it.dots.first() {
            let shape = dot.instruction.as_ref().expect(row).shape().replace('x', ", ");
            assert!(mfma.starts_with(&shape), "{row}: {shape}");
        }
        rows += 1;
    }
    assert_eq!(rows, 25);
}

#[test]
fn pipelines_as_built() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    // File, iterations ahead of the product, slots per buffer, ping-pong.
    for (file, ahead, slots, ping_pong) in [
        ("3.6.0/matmul-128x128x64-w4-s1.gfx942", 0, 1, false),
        ("3.6.0/matmul-128x128x64-w4-s2.gfx942", 1, 1, false),
        ("3.6.0/matmul-128x128x64-w4-s2-nobuffer.gfx942", 1, 1, false),
        ("3.6.0/matmul-128x128x32-w4-s3.gfx942", 2, 2, false),
        ("3.6.0/matmul-256x256x64-w8-s2.gfx942", 1, 1, true),
        ("3.6.0/matmul-128x128x64-w4-s2-unaligned.gfx942", 0, 1, false),
        ("3.6.0/matmul-128x128x64-w4-s3-async.gfx950", 2, 3, false),
        ("3.9.0/matmul-128x128x64-w4-s2.gfx950", 1, 2, false),
        ("3.2.0/matmul-128x128x64-w4-s2.gfx942", 1, 1, false),
        ("3.4.0/matmul-256x256x64-w8-s2.gfx942", 1, 1, true),
    ] {
        let it = kernel(&folder.join(format!("{file}.ttgir")), None);
        let main = it.loops.iter().find(|it| it.dots > 0).expect(file);
        assert_eq!(main.prefetch(), Some(ahead), "{file}: {main:#?}");
        assert_eq!(main.ping_pong, ping_pong, "{file}");
        assert!(it.lds.buffers.iter().all(|it| it.slots == slots), "{file}: {:#?}", it.lds);
    }
}

#[test]
fn widths_and_instructions() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    for (file, width, per_wave) in [
        ("3.6.0/matmul-128x128x64-w4-s2.gfx942", 16, Some(32)),
        ("3.6.0/matmul-128x128x64-w4-s2-unaligned.gfx942", 2, Some(32)),
        ("3.6.0/matmul-128x128x64-w4-s3-async.gfx950", 16, Some(16)),
        ("3.2.0/matmul-128x128x64-w4-s2.gfx942", 16, None),
    ] {
        let it = kernel(&folder.join(format!("{file}.ttgir")), None);
        assert_eq!(it.accesses[0].width, Some(width), "{file}: {:#?}", it.accesses[0]);
        assert_eq!(it.dots[0].instructions_per_wave(), per_wave, "{file}");
        assert_eq!(it.dots[0].mnk, [128, 128, 64]);
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p rockhound-tritonir -- --ignored --nocapture"]
fn time_of_190_kilobytes() {
    let Some(folder) = testkit::shared("triton-ir") else { return };
    let one = text(&folder.join("3.6.0/attention-64x32-d64-w4-s2.gfx942.ttgir"));
    let mut all = String::new();
    while all.len() < 190 << 10 {
        all.push_str(&one);
    }
    for what in ["parsed", "parsed and summed up"] {
        let mut best = std::time::Duration::MAX;
        for _ in 0..50 {
            let start = std::time::Instant::now();
            let dump = read(&all).expect("readable");
            if what != "parsed" {
                let found: usize = dump.modules.iter().map(|it| kernels(it, None).len()).sum();
                assert_eq!(found, dump.modules.len());
            }
            best = best.min(start.elapsed());
        }
        println!("{} bytes {what} in {best:?}", all.len());
    }
}
