use super::*;
use crate::launch_file::{self, Contents, LaunchFile};
use crate::run::{self, Conditions, Emulate};
use crate::session::Progress;
use std::collections::BTreeMap;
use std::path::Path;

/// A kernel with the arguments `double *a, double *c, int n`.
const CODE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/vector_copy/vector_copy.gfx942.hsaco");
const BASE: u64 = 0x3000_0000_0000;

/// Memory by its address.
struct Memory(BTreeMap<u64, (Vec<u8>, Kind)>);

impl Device for Memory {
    fn allocation(&self, address: u64) -> Option<Allocation> {
        let (base, (bytes, kind)) = self.0.range(..=address).next_back()?;
        let bytes = bytes.len() as u64;
        (address - base < bytes).then_some(Allocation { base: *base, bytes, kind: *kind })
    }
    fn span(&self) -> Range<u64> {
        BASE..BASE + (1 << 32)
    }
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), String> {
        let at = self.allocation(address).ok_or("nothing is there")?;
        let start = (address - at.base) as usize;
        into.copy_from_slice(&self.0[&at.base].0[start..start + into.len()]);
        Ok(())
    }
    fn variable(&self, _: &str) -> Option<u64> {
        None
    }
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn doubles(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

fn wanted(folder: &Path, limit: u64) -> session::Capture {
    session::Capture { nth: 1, folder: folder.to_owned(), limit, ..session::Capture::default() }
}

/// Captures a launch whose arguments are these words; the kernel changes nothing but what `after` does.
fn capture(
    folder: &Path,
    limit: u64,
    values: &[u64],
    memory: &mut Memory,
    after: impl FnOnce(&mut Memory),
) -> Vec<String> {
    let image = std::fs::read(CODE).unwrap();
    let code = DeviceCodes::find(&image, "gfx942").unwrap();
    let symbol = codeobj::CodeObject::read(code.bytes()).unwrap().kernels[0].name.clone();
    let arguments = code.arguments(&symbol).unwrap();
    let dispatch = Dispatch {
        name: "copy",
        symbol: &symbol,
        code: code.bytes(),
        code_address: None,
        arguments: &arguments,
        values: &words(values),
        grid: [64, 1, 1],
        workgroup: [64, 1, 1],
        dynamic_lds: 0,
        cooperative: false,
        gpu: "mi300x",
        on: "a test",
        is_exact: true,
    };
    let mut capturer = Capturer::new(&wanted(folder, limit));
    let begun = capturer.next("copy", &symbol).unwrap().begin(&dispatch, memory).unwrap().unwrap();
    after(memory);
    assert!(capturer.next("copy", &symbol).is_none());
    begun.end(memory).unwrap()
}

#[test]
fn all_that_arguments_lead_to_is_captured() {
    let folder = tempfile::tempdir().unwrap();
    let [a, c, hidden, other] = [0, 1, 2, 3].map(|it| BASE + it * 0x10000);
    let mut memory = Memory(BTreeMap::from([
        // A pointer into the middle of memory that no argument names.
        (a, (words(&[0, hidden + 16, 7]), Kind::Managed)),
        (c, (vec![0; 512], Kind::Host)),
        (hidden, (vec![5; 40], Kind::Device)),
        (other, (vec![9; 8], Kind::Device)),
    ]));
    let change = |memory: &mut Memory| memory.0.get_mut(&c).unwrap().0.fill(1);
    let lacking = capture(folder.path(), 1 << 20, &[a + 8, c, 64], &mut memory, change);
    assert_eq!(lacking.len(), 1, "{lacking:?}");
    assert!(lacking[0].contains("managed"), "{lacking:?}");
    let file = LaunchFile::read(folder.path()).unwrap();
    assert_eq!(file.gpu.as_deref(), Some("mi300x"));
    let addresses: Vec<_> = file.parts().map(|it| it.address).collect();
    assert_eq!(addresses, [Some(a + 8), Some(c), None, Some(a), Some(hidden)]);
    let bytes: Vec<Vec<u8>> =
        file.contents().unwrap().iter().map(|it: &Contents| it.bytes().into_owned()).collect();
    assert_eq!(bytes[0], (a + 8).to_le_bytes());
    assert_eq!(bytes[1..3], [vec![0; 512], vec![64, 0, 0, 0]]);
    assert_eq!(bytes[3..], [memory.0[&a].0.clone(), vec![5; 40]]);
    let changed: Vec<bool> = file.parts().map(launch_file::Argument::is_expected).collect();
    assert_eq!(changed, [false, true, false, false, false]);
}

#[test]
fn what_is_not_captured_is_said() {
    let [a, b] = [BASE, BASE + 0x10000];
    for (values, limit, expected) in [
        ([a, b, 1], 1 << 20, &[][..]),
        ([a, 1 << 44, 1], 1 << 20, &["no memory that the runtime knows"]),
        ([a, b, 1], 600, &["the first 88 are captured"]),
        ([a, b, 1], 0, &["the first 0 are captured", "the first 0 are captured"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut memory =
            Memory(BTreeMap::from([(a, (vec![0; 512], Kind::Device)), (b, (vec![0; 512], Kind::Device))]));
        let lacking = capture(folder.path(), limit, &values, &mut memory, |_| {});
        assert_eq!(lacking.len(), expected.len(), "{limit}: {lacking:?}");
        for (text, part) in lacking.iter().zip(expected) {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn captures_that_are_cut_or_of_another_version_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut memory = Memory(BTreeMap::from([(BASE, (vec![7; 512], Kind::Device))]));
    capture(folder.path(), 1 << 20, &[BASE, 0, 1], &mut memory, |_| {});
    let path = folder.path().join("LAUNCH.toml");
    let whole = std::fs::read_to_string(&path).unwrap();
    let data = std::fs::read(folder.path().join("argument0.bin.zst")).unwrap();
    // (case, launch file, bytes of the data file)
    let place = folder.path().display().to_string();
    for (case, text, left) in [
        ("whole", whole.clone(), data.len()),
        ("version 2", whole.replace("version = 1", "version = 2"), data.len()),
        ("no version", whole.replace("version = 1", "format = 3"), data.len()),
        ("no last argument", whole[..whole.rfind("[[").unwrap()].to_owned(), data.len()),
        ("data cut by a byte", whole.clone(), data.len() - 1),
        ("no data", whole.clone(), 0),
    ] {
        std::fs::write(&path, &text).unwrap();
        std::fs::write(folder.path().join("argument0.bin.zst"), &data[..left]).unwrap();
        let read = LaunchFile::read(folder.path()).and_then(|it| it.contents().map(<[Contents]>::len));
        let found = read.as_ref().err().map(|it| format!("{it:#}")).unwrap_or_default();
        testkit::golden(&format!("capture: {case}"), &found.replace(&place, "FOLDER"));
        assert_eq!(read.is_ok(), text == whole && left == data.len(), "{found}");
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(LaunchFile::read(folder.path()).is_err());
    std::fs::remove_file(&path).unwrap();
    let error = LaunchFile::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("has no LAUNCH.toml"), "{error}");
}

/// A capture in the form of kerncap, of 64 elements.
fn kerncap(folder: &Path) {
    let image = std::fs::read(CODE).unwrap();
    let symbol = codeobj::CodeObject::read(&image).unwrap().kernels[0].name.clone();
    let [a, c] = [0u64, 1].map(|it| 0x7f12_3400_0000 + it * 0x20_0000);
    let write = |name: &str, contents: &[u8]| std::fs::write(folder.join(name), contents).unwrap();
    std::fs::create_dir_all(folder.join("memory")).unwrap();
    write("kernel.hsaco", &image);
    let json = format!(
        r#"{{"mangled_name": "{symbol}", "demangled_name": "copy", "agent_name": "gfx942", "isa_name": "amdgcn-amd-amdhsa--gfx942",
        "wavefront_size": 64, "grid": [64, 1, 1], "block": [64, 1, 1], "group_segment_size": 0, "private_segment_size": 0,
        "kernarg_size": 288, "dispatch_index": 0}}"#
    );
    write("dispatch.json", json.as_bytes());
    let mut segment = words(&[a, c, 64]);
    segment.resize(288, 0);
    write("kernarg.bin", &segment);
    let regions = [a, c].map(|it| {
        format!(r#"{{"base": {it}, "size": 512, "is_pool": true, "is_vmem": false, "contains_kernarg": false, "handle": 0, "access": 0}}"#)
    });
    write("memory_regions.json", format!(r#"{{"regions": [{}]}}"#, regions.join(", ")).as_bytes());
    write(&format!("memory/region_{a:x}.bin"), &doubles((0..64).map(|it| f64::from(it) + 0.5)));
    write(&format!("memory/region_{c:x}.bin"), &[0; 512]);
}

#[test]
fn captures_of_kerncap_run() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("capture");
    std::fs::create_dir(&place).unwrap();
    kerncap(&place);
    let emulate = Emulate {
        gpu: None,
        devices: 1,
        threads: 1,
        max_instructions: run::MOST_INSTRUCTIONS,
        check: Vec::new(),
        progress: Progress::Silent,
        repeats: false,
        virtual_time: None,
        autotune_limit: None,
    };
    for path in [folder.path().to_owned(), place.clone(), place.join("dispatch.json")] {
        let file = LaunchFile::read(&path).unwrap();
        let left = run::results(&file, &emulate, Conditions::default(), &crate::run::tests::Silent).unwrap();
        assert!(left.stopped.is_none(), "{:?}", left.stopped);
        let names: Vec<_> = left.buffers.iter().map(|it| (it.name.as_str(), it.element.name())).collect();
        assert_eq!(names, [("argument0", "f64"), ("argument1", "f64")]);
        assert_eq!(left.buffers[0].before, left.buffers[1].after);
    }
    let said = |error: anyhow::Error| format!("{error:#}").replace(&*place.to_string_lossy(), "FOLDER");
    for (name, contents) in [
        ("dispatch.json", "{\"mangled_name\": \"x\""),
        ("dispatch.json", "{}"),
        ("memory_regions.json", "{\"version\": 2}"),
        ("kernarg.bin", "short"),
        ("memory/region_7f1234000000.bin", "cut"),
        ("memory/region_7f1234000000.bin", ""),
        ("kernel.hsaco", "nothing"),
    ] {
        kerncap(&place);
        match contents {
            "" => std::fs::remove_file(place.join(name)).unwrap(),
            contents => std::fs::write(place.join(name), contents).unwrap(),
        }
        testkit::golden(&format!("{name} is {contents:?}"), &said(LaunchFile::read(&place).unwrap_err()));
    }
    std::fs::remove_file(place.join("dispatch.json")).unwrap();
    for name in ["metadata.json", "arg_0.bin"] {
        std::fs::write(place.join(name), "{}").unwrap();
    }
    testkit::golden("nothing but arguments", &said(LaunchFile::read(&place).unwrap_err()));
}
