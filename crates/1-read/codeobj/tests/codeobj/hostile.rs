//! Damaged and hostile input: one clear error or a warning, no panic, little memory, little time.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::tools::fixture;
use rockhound_codeobj::{CodeObject, LineTable, ReadError, Wanted, apply_triton, read_text, recognise, scan};
use testkit::Random;

/// Puts everything through every reader; returns the kernels read and the errors.
fn read_all(data: &[u8]) -> (usize, Vec<ReadError>) {
    let mut kernels = 0;
    let mut errors = Vec::new();
    recognise(data);
    match scan(data, &Wanted::all()) {
        Err(error) => errors.push(error),
        Ok(found) => {
            for found in found {
                match found.and_then(|found| {
                    let object = found.read()?;
                    if let Ok(lines) = LineTable::read(&found.data) {
                        lines.frames(0x1a00);
                        lines.lines(0..u64::MAX);
                    }
                    Ok(object)
                }) {
                    Ok(object) => kernels += object.kernels.len(),
                    Err(error) => errors.push(error),
                }
            }
        }
    }
    for error in &errors {
        assert!(!error.what.is_empty() && !error.what.ends_with('.'), "{error}");
    }
    (kernels, errors)
}

#[test]
fn every_truncation_of_a_code_object() {
    for name in ["v2.hsaco", "v6.hsaco", "lines.hsaco", "stripped.hsaco"] {
        let whole = fixture(name);
        assert_eq!(read_all(&whole), (2, vec![]), "{name}");
        let mut with_error = 0;
        for length in 0..whole.len() {
            let (kernels, errors) = read_all(&whole[..length]);
            assert!(kernels <= 2 && errors.len() <= 1, "{name} cut at {length}: {errors:?}");
            with_error += errors.len();
            for error in errors {
                assert!(error.position <= whole.len() as u64, "{name} cut at {length}: {error}");
            }
        }
        // The section table ends the file, so that every cut is noticed; without one, cuts in unused parts
        // are not.
        assert!(
            with_error == whole.len() || name == "stripped.hsaco",
            "{name}: {with_error} of {}",
            whole.len()
        );
    }
}

#[test]
fn every_truncation_of_a_container() {
    for name in ["plain.hipfb", "zlib-v1.hipfb", "zstd-v2.hipfb", "zstd-v3.hipfb", "bsd.a"] {
        let whole = fixture(name);
        let (all, errors) = read_all(&whole);
        assert_eq!(errors, []);
        let step = if whole.len() > 10_000 { 37 } else { 1 };
        for length in (0..whole.len()).step_by(step) {
            let (kernels, errors) = read_all(&whole[..length]);
            assert!(kernels <= all, "{name} cut at {length}");
            assert!(
                kernels == all || !errors.is_empty() || length == 0,
                "{name} cut at {length}: nothing is said"
            );
        }
    }
    let text = String::from_utf8(fixture("clang22.s")).unwrap();
    for length in 0..text.len() {
        if let Ok(objects) = read_text(&text[..length]) {
            // A name that is cut counts as one more kernel.
            assert!(objects[0].kernels.len() <= 3);
        }
    }
}

#[test]
fn random_bytes_and_random_damage() {
    let mut random = Random(0x5eed);
    for _ in 0..2000 {
        let length = random.below(400);
        let mut data: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let starts: [&[u8]; 6] = [
            b"",
            b"\x7fELF\x02\x01",
            b"CCOB\x02\0\x01\0",
            b"__CLANG_OFFLOAD_BUNDLE__",
            b"!<arch>\n",
            b".amdhsa_kernel",
        ];
        let start = starts[random.below(starts.len())];
        data.splice(..start.len().min(data.len()), start.iter().copied());
        read_all(&data);
        let _ = read_text(&String::from_utf8_lossy(&data));
        if let Ok(mut object) = CodeObject::read(&fixture("v6.hsaco")) {
            let _ = apply_triton(&data, &mut object);
        }
    }
    for name in [
        "v2.hsaco",
        "v6.hsaco",
        "lines.hsaco",
        "stripped.hsaco",
        "plain.hipfb",
        "zlib-v2.hipfb",
        "zstd-v3.hipfb",
        "gnu.a",
    ] {
        let whole = fixture(name);
        for _ in 0..300 {
            let mut data = whole.clone();
            for _ in 0..=random.below(8) {
                // Headers and tables are where damage matters.
                let limit = if random.below(2) == 0 { 512.min(data.len()) } else { data.len() };
                let at = random.below(limit);
                data[at] = [0, 0xff, 0x7f, 0x80, random.next() as u8][random.below(5)];
            }
            read_all(&data);
        }
    }
    let text = fixture("clang22.s");
    for _ in 0..500 {
        let mut data = text.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(data.len());
            data[at] = b"\n \"(,.:;@{}[]&*\xff"[random.below(16)];
        }
        let _ = read_text(&String::from_utf8_lossy(&data));
    }
}

fn put(data: &mut [u8], at: usize, value: u64) {
    data[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Where a section header of the fixture begins, by the section's type.
fn section_header(data: &[u8], kind: u32) -> usize {
    let table = u64::from_le_bytes(data[40..48].try_into().unwrap()) as usize;
    (table..data.len()).step_by(64).find(|&at| data[at + 4..at + 8] == kind.to_le_bytes()).unwrap()
}

#[test]
fn what_each_kind_of_damage_is_called() {
    let good = fixture("v6.hsaco");
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut data = good.clone();
        change(&mut data);
        read_all(&data).1.first().map(ToString::to_string).unwrap_or_default()
    };
    let note = section_header(&good, 7);
    let note_start = u64::from_le_bytes(good[note + 24..note + 32].try_into().unwrap()) as usize;
    let host = fixture("host.so");
    let said = [
        damaged(&|data| data[0] = 0),
        damaged(&|data| data[4] = 1),
        damaged(&|data| data[58] = 1),
        damaged(&|data| put(data, 40, !0xff)),
        damaged(&|data| data[60..62].copy_from_slice(&[0xff, 0xff])),
        damaged(&|data| data[note_start + 20] = 0xc1),
        damaged(&|data| data[note_start + 20] = 0),
        damaged(&|data| {
            data[note_start + 21..note_start + 26].copy_from_slice(&[0xdb, 0xff, 0xff, 0xff, 0xff])
        }),
    ];
    let mut wrong = good.clone();
    wrong[18..20].copy_from_slice(&host[18..20]);
    let wrong = CodeObject::read(&wrong).unwrap_err().to_string();
    testkit::golden("damaged files", &[&said.join("\n"), wrong.as_str()].join("\n"));
}

#[test]
fn symbols_that_lie_are_warned_about() {
    let good = fixture("v6.hsaco");
    let table = section_header(&good, 2);
    let start = u64::from_le_bytes(good[table + 24..table + 32].try_into().unwrap()) as usize;
    let size = u64::from_le_bytes(good[table + 32..table + 40].try_into().unwrap()) as usize;
    let first = CodeObject::read(&good).unwrap().kernels[0].clone();
    let rockhound_codeobj::Body::Code { address, .. } = first.body else { panic!() };
    let symbol = (start..start + size)
        .step_by(24)
        .find(|&at| {
            good[at + 4] & 0xf == 2
                && u64::from_le_bytes(good[at + 8..at + 16].try_into().unwrap()) == address
        })
        .unwrap();
    for (name, field, value) in [
        ("no size", 16, 0),
        ("a size beyond the section", 16, u64::MAX),
        ("a size beyond the next symbol", 16, 0x200),
        ("an address beyond the file", 8, u64::MAX),
        ("an address before the section", 8, 0),
    ] {
        let mut data = good.clone();
        put(&mut data, symbol + field, value);
        let object = CodeObject::read(&data).unwrap();
        testkit::golden(name, &object.warnings.join("\n"));
        assert_eq!(object.kernels.len(), 2);
    }
    // A name that is not UTF-8, in the table of names only: the metadata still knows the right one.
    let mut data = good.clone();
    let text = b"\0first.kd\0";
    let positions: Vec<usize> =
        (0..data.len() - text.len()).filter(|&at| data[at..].starts_with(text)).collect();
    assert!(!positions.is_empty());
    for at in positions {
        data[at + 1] = 0xff;
    }
    let object = CodeObject::read(&data).unwrap();
    testkit::golden("a name that is not UTF-8", &object.warnings.join("\n"));
}

/// A kernel that the compiler found unreachable has no size; the code at its address belongs to the next
/// function.
#[test]
fn empty_kernels_get_nobody_elses_code() {
    let good = fixture("v6.hsaco");
    let kernels = CodeObject::read(&good).unwrap().kernels;
    let place = |kernel: &rockhound_codeobj::Kernel| match &kernel.body {
        rockhound_codeobj::Body::Code { address, bytes } => (*address, bytes.clone()),
        body => panic!("{body:?}"),
    };
    let ((first, _), (second, second_bytes)) = (place(&kernels[0]), place(&kernels[1]));
    let symbols: Vec<usize> = [2, 11]
        .into_iter()
        .map(|kind| section_header(&good, kind))
        .flat_map(|header| {
            let number = |at: usize| u64::from_le_bytes(good[at..at + 8].try_into().unwrap()) as usize;
            let start = number(header + 24);
            (start..start + number(header + 32)).step_by(24)
        })
        .filter(|&at| good[at + 4] & 0xf == 2)
        .filter(|&at| u64::from_le_bytes(good[at + 8..at + 16].try_into().unwrap()) == first)
        .collect();
    assert!(!symbols.is_empty());
    // Where the first kernel's symbol is put, and whether it is empty there: a symbol alone reaches to the
    // next one.
    for (value, empty) in [(second, true), (first, false)] {
        let mut data = good.clone();
        for symbol in &symbols {
            put(&mut data, symbol + 8, value);
            put(&mut data, symbol + 16, 0);
        }
        let object = CodeObject::read(&data).unwrap();
        let of = |name: &str| place(object.kernels.iter().find(|kernel| kernel.name == name).unwrap());
        assert_eq!(of("first").1.is_empty(), empty, "{value:#x}: {:?}", of("first"));
        assert_eq!(of(&kernels[1].name), (second, second_bytes.clone()));
        let said = object.warnings.iter().any(|have| have.contains("`first`"));
        assert_eq!(said, !empty, "{:?}", object.warnings);
    }
}

fn bundle(entries: &[(u64, u64, &str)], length: usize) -> Vec<u8> {
    let mut data = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    data.extend((entries.len() as u64).to_le_bytes());
    for (offset, size, id) in entries {
        for number in [*offset, *size, id.len() as u64] {
            data.extend(number.to_le_bytes());
        }
        data.extend(id.bytes());
    }
    data.resize(length.max(data.len()), 0);
    data
}

fn compressed(version: u16, method: u16, claimed: u64, frame: &[u8]) -> Vec<u8> {
    let mut data = b"CCOB".to_vec();
    data.extend(version.to_le_bytes());
    data.extend(method.to_le_bytes());
    data.extend((32 + frame.len() as u64).to_le_bytes());
    data.extend(claimed.to_le_bytes());
    data.extend([0; 8]);
    data.extend(frame);
    data
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

const ID: &str = "hipv4-amdgcn-amd-amdhsa--gfx942";

#[test]
fn bundles_that_lie() {
    let far = u64::MAX - 5;
    let mut long_id = bundle(&[(4096, 100, ID)], 8192);
    put(&mut long_id, 48, 4 << 30);
    let mut total = compressed(3, 1, 100, b"x");
    put(&mut total, 8, 4 << 30);
    let cases = [
        bundle(&[(4096, 1 << 40, ID)], 8192),
        bundle(&[(far, 100, ID)], 8192),
        bundle(&[(8, 100, ID)], 8192),
        bundle(&[(4096, 100, ID)], 8192),
        [b"__CLANG_OFFLOAD_BUNDLE__".as_slice(), &[0xff; 8]].concat(),
        b"__CLANG_OFFLOAD_BUNDLE__\x01".to_vec(),
        compressed(9, 1, 100, b"x"),
        compressed(3, 7, 100, b"x"),
        compressed(3, 1, 100, b"no frame"),
        long_id,
        total,
    ];
    let mut said = String::new();
    for data in cases {
        let (kernels, errors) = read_all(&data);
        assert_eq!((kernels, errors.len()), (0, 1), "{errors:?}");
        said += &format!("{}\n", errors[0]);
    }
    testkit::golden("bundles", &said);
}

#[test]
fn entries_that_share_bytes_are_read_once() {
    let object = fixture("v6.hsaco");
    let entries = vec![(65536, object.len() as u64, ID); 500];
    let mut data = bundle(&entries, 65536);
    data.extend(&object);
    let (kernels, errors) = read_all(&data);
    // The scan gives a file up after a hundred errors.
    assert_eq!((kernels, errors.len()), (0, 100));
    let mut data = bundle(&entries[..2], 65536);
    data.extend(&object);
    let (kernels, errors) = read_all(&data);
    assert_eq!((kernels, errors.len()), (2, 1));
}

/// Peak memory of this process, in bytes.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Files of a few kilobytes that unfold to gigabytes, or claim to.
#[test]
fn bombs_cost_neither_memory_nor_time() {
    let started = Instant::now();
    // 2 GiB of zeros behind a good table: the entry holds no code object, which its first bytes tell.
    let mut plain = bundle(&[(4096, (2 << 30) - 4096, ID)], 4096);
    let head_of_bomb = plain.clone();
    plain.resize(64 << 20, 0);
    let claim = compressed(3, 0, 2 << 30, &zlib(&plain));
    let mut said = Vec::new();
    said.extend(read_all(&claim).1);

    // The same with a real ELF header in front: the ratio gives it away.
    let mut plain = head_of_bomb;
    plain.extend(&fixture("v6.hsaco")[..64]);
    plain.resize(64 << 20, 0);
    let frame = zlib(&plain);
    let ratio = compressed(3, 0, 2 << 30, &frame);
    said.extend(read_all(&ratio).1);

    // The same in zstd, and with a table that claims a code object beyond the claimed size.
    let frame = zstd::bulk::compress(&plain, 19).unwrap();
    said.extend(read_all(&compressed(3, 1, 2 << 30, &frame)).1);
    said.extend(read_all(&compressed(3, 1, 4096, &frame)).1);

    // A claim of exabytes, and a window of gigabytes.
    let (_, errors) = read_all(&compressed(3, 1, u64::MAX, &frame));
    assert!(!errors.is_empty());
    let wide_window = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    said.extend(read_all(&compressed(3, 1, 4096, &wide_window)).1);
    let said: String = said.iter().map(|it| format!("{it}\nhint: {}\n", it.hint)).collect();
    testkit::golden("bombs", &said);

    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    // The test itself holds 64 MiB of zeros and their copies.
    if let Some(peak) = peak_memory() {
        assert!(peak < 400 << 20, "{peak} bytes");
    }
}

/// Metadata that names a hundred thousand things in a few bytes each.
#[test]
fn metadata_that_multiplies_is_refused() {
    let mut note = b"\x81\xaeamdhsa.kernels\xdd\x00\x0f\x42\x40".to_vec();
    note.extend(std::iter::repeat_n(0x80, 1_000_000));
    let error = CodeObject::read(&with_note(&note)).unwrap_err();
    assert!(error.what.contains(" 100000 "), "{error}");

    let mut note = b"\x81\xaeamdhsa.kernels\x91\x81\xa5.args\xdd\x00\x1e\x84\x80".to_vec();
    note.extend(std::iter::repeat_n(0x80, 2_000_000));
    let error = CodeObject::read(&with_note(&note)).unwrap_err();
    assert!(error.what.contains(" 1000000 "), "{error}");

    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n";
    let text = format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.amdgpu_metadata\n---\n{bomb}...\n.end_amdgpu_metadata\n"
    );
    assert!(read_text(&text).unwrap_err().what.contains("alias"));
}

/// A code object without sections whose note segment holds `metadata`.
fn with_note(metadata: &[u8]) -> Vec<u8> {
    let mut data = fixture("v6.hsaco")[..64].to_vec();
    put(&mut data, 32, 64);
    put(&mut data, 40, 0);
    data[54..64].copy_from_slice(&[56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
    let mut segment = [0; 56];
    segment[0] = 4;
    put(&mut segment, 8, 120);
    let padded = metadata.len().next_multiple_of(4);
    put(&mut segment, 32, 20 + padded as u64);
    data.extend(segment);
    for number in [7, metadata.len() as u32, 32] {
        data.extend(number.to_le_bytes());
    }
    data.extend(b"AMDGPU\0\0");
    data.extend(metadata);
    data.resize(120 + 20 + padded, 0);
    data
}

#[test]
fn a_small_note_is_read_from_its_segment() {
    let note = b"\x81\xaeamdhsa.kernels\x91\x82\xa5.name\xa1k\xab.vgpr_count\xcc\xa0";
    let object = CodeObject::read(&with_note(note)).unwrap();
    assert_eq!(object.kernels[0].name, "k");
    assert_eq!(object.kernels[0].metadata.vgprs, Some(160));
    assert_eq!(object.warnings.len(), 2, "no descriptor, no code: {:?}", object.warnings);
}
