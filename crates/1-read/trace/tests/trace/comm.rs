//! Files on communication in the shared data, against the numbers of their notes.

use rockhound_trace::comm::{CommFile, NpkitDump, read};
use std::collections::BTreeMap;

fn file(path: &str) -> Option<CommFile> {
    let bytes = std::fs::read(testkit::shared(&format!("comm/{path}"))?).expect("a shared file");
    Some(read(&bytes).unwrap_or_else(|error| panic!("{path}: {error}")).remove(0))
}

#[test]
fn rccl_tests() {
    let Some(path) = testkit::shared("comm/rccl-tests/expected.json") else { return };
    let expected: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (name, want) in expected.as_object().unwrap() {
        let Some(CommFile::Test(test, _)) = file(&format!("rccl-tests/{name}")) else { panic!("{name}") };
        assert_eq!(test.collective.as_deref(), want["collective"].as_str(), "{name}");
        assert_eq!(Some(test.rank_count()), want["ranks"].as_u64(), "{name}");
        let rows = want.get("rows").or(want.get("whole_rows")).and_then(serde_json::Value::as_u64);
        assert_eq!(Some(test.rows.len() as u64), rows, "{name}");
        assert_eq!(test.average, want["avg_busbw"].as_f64(), "{name}");
        let Some(peak) = want.get("peak_busbw") else { continue };
        let (bus, bytes) = test.best().unwrap();
        assert_eq!((Some(bus), Some(bytes)), (peak.as_f64(), want["peak_size"].as_u64()), "{name}");
        assert_eq!(Some(test.wrong().unwrap_or(0)), want["wrong"].as_u64(), "{name}");
    }
}

#[test]
fn logs() {
    let Some(CommFile::Log(log)) = file("nccl-debug/made-info-8xmi300x-good.log") else { return };
    assert_eq!((log.ranks, log.completed, log.channels), (8, 8, 16));
    assert_eq!(log.connections.iter().map(|(way, n)| (way.as_str(), *n)).collect::<Vec<_>>()[0].1, 128);
    assert!(log.connections.keys().all(|way| way.starts_with("P2P/IPC")), "{:?}", log.connections);
    assert_eq!(log.settings["NCCL_MIN_NCHANNELS"], "112");
    assert_eq!(log.calls["AllReduce"], 24);
    let Some(CommFile::Log(log)) = file("nccl-debug/made-info-8xmi300x-bad.log") else { return };
    let counts: Vec<u64> = log.warnings.iter().map(|w| w.count).collect();
    assert_eq!((counts, log.channels), (vec![8, 1], 2));
    let Some(CommFile::Log(log)) = file("nccl-debug/made-info-2nodes-rank-missing.log") else { return };
    assert_eq!((log.missing_ranks(), log.completed), (vec![13], 0));
}

#[test]
fn topologies() {
    for (name, gpus, links, nets, target, units) in [
        ("topo_8p_940", 8, 56, 8, "gfx942", 304),
        ("topo_8p_940vm", 8, 56, 8, "gfx942", 304),
        ("topo_4p_940", 4, 12, 4, "940", 228),
        ("topo_8p_90a", 8, 24, 1, "910", 104),
        ("topo_8p6l", 8, 48, 1, "908", 120),
        ("topo_16p1h", 16, 56, 8, "910", 104),
        ("topo_8p_rome_4nics", 8, 24, 4, "908", 120),
    ] {
        let Some(CommFile::Topology(it)) = file(&format!("topology/{name}.xml")) else { return };
        assert_eq!((it.gpus.len(), it.links(), it.nets.len()), (gpus, links, nets), "{name}");
        assert_eq!((it.gpus[0].target.as_str(), it.gpus[0].compute_units), (target, units), "{name}");
    }
    for text in ["<system>", "<system><a></b></system>", "<x></x>", "<!-- ", "<system a"] {
        assert!(read(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn copies() {
    let Some(CommFile::Bandwidths(p2p)) = file("transferbench/transferbench-p2p-8gpu.txt") else { return };
    let averages: Vec<f64> = p2p.averages.iter().map(|(_, v)| *v).collect();
    assert_eq!(averages[..4], [22.23, 16.35, 23.77, 37.74]);
    assert_eq!(
        (p2p.averages[3].0.as_str(), p2p.averages[7].0.as_str()),
        ("GPU->GPU, unidirectional", "GPU->GPU, bidirectional")
    );
    let Some(CommFile::Bandwidths(pairs)) = file("transferbench/rocm-bandwidth-test-bidirectional.txt")
    else {
        return;
    };
    let matrix = &pairs.matrices[0];
    assert_eq!((pairs.matrices.len(), matrix.rows.len(), matrix.columns.len()), (1, 10, 10));
    assert_eq!(
        (matrix.rows[2].0.as_str(), matrix.rows[2].1[3], matrix.rows[9].1[9]),
        ("device 2", Some(101.458), None)
    );
    let Some(CommFile::Bandwidths(a2a)) = file("transferbench/made-a2a-slow-link-2-6.txt") else { return };
    let matrix = &a2a.matrices[0];
    assert_eq!((matrix.rows.len(), matrix.columns.len(), matrix.rows[2].1[6]), (8, 8, Some(23.412)));
    assert_eq!(matrix.rows[0].1[0], None, "N/A");
    let Some(CommFile::Bandwidths(tests)) = file("transferbench/made-tests.txt") else { return };
    assert_eq!((tests.transfers.len(), tests.transfers[4].gb_per_s), (6, 60.973));
    let Some(CommFile::Bandwidths(sizes)) = file("transferbench/rocm-bandwidth-test-unidirectional.txt")
    else {
        return;
    };
    assert_eq!(sizes.sizes.last().map(|s| (s.bytes, s.mean)), Some((512 << 20, 28.675)));
}

#[test]
fn npkit() {
    let Some(folder) = testkit::shared("comm/npkit") else { return };
    let table = std::fs::read_to_string(folder.join("events.tsv")).unwrap();
    let table: BTreeMap<u8, &'static str> = table
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(id, name)| Some((id.parse().ok()?, &*Box::leak(name.to_owned().into_boxed_str()))))
        .collect();
    let files = testkit::files(&folder.join("made-dump"));
    let dump = NpkitDump::read(&files, &|kind| table.get(&kind).copied()).unwrap();
    let cpu = dump.spans.iter().filter(|span| span.cpu).count();
    assert_eq!((dump.spans.len(), cpu, dump.unpaired), (344, 24, 0));
    let first = dump.spans.iter().map(|span| span.start_us).fold(f64::INFINITY, f64::min);
    assert!((first - 500_000_002.0).abs() < 0.01, "{first}");
    let send = dump.spans.iter().find(|span| span.kind.contains("NET_SEND") && span.bytes == 65_536).unwrap();
    assert!((f64::from(send.bytes) / (send.end_us - send.start_us) / 1e3 - 21.845).abs() < 0.01);
}

#[test]
fn damaged_files_do_no_harm() {
    let text = "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1\n# Rank 0 Pid 1 on h device 0 [0] X\n\
         1024 256 float sum -1 16 0.06 0.1 0 16 0.06 0.1 0\nh:1:2 [0] NCCL INFO Channel 00/02 : 0 1\n\
         SRC\\DST GPU 00 GPU 01 STotal\nGPU 00 N/A 45.0 1\n<system><gpu dev=\"1\"><xgmi count='2'/></gpu></system>\n";
    let mut random = testkit::Random(5);
    for round in 0..3000 {
        let mut bytes = text.as_bytes().to_vec();
        bytes.rotate_left(if round % 3 == 0 { text.find('<').unwrap() } else { 0 });
        for _ in 0..=random.below(5) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, b"<>/\"=|:-\n "[random.below(10)]),
            }
        }
        let _ = read(&bytes);
    }
}

/// Two ranks, a row of each form.
const DEVICES: &str = "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)\n#   Rank  0 Pid  1 on a device  0 [0x00] AMD Instinct MI250X\n#   Rank  1 Pid  2 on b device  0 [0x00] AMD Instinct MI250X\n";

#[test]
fn old_tests_of_one_root() {
    let row = "   134217728      33554432   float       0   9100.1   14.75   14.75    N/A   9093.2   14.76   14.76    N/A\n";
    let head = "#       size         count    type    root     time   algbw   busbw  error     time   algbw   busbw  error\n";
    let files = read(format!("{DEVICES}{head}{row}").as_bytes()).unwrap();
    let [CommFile::Test(test, _)] = &files[..] else { panic!("{files:?}") };
    assert_eq!((test.collective.as_deref(), test.rows[0].root), (Some("broadcast"), 0));
}

#[test]
fn tags_of_launchers_within_lines() {
    let rows = "[0]      1048576        262144     float     sum      -1[0]    1626.5    0.64    1.24      0[0]    2302.3    0.46    0.87      0\n";
    let tagged: String = DEVICES.lines().map(|line| format!("[0] {line}\n")).collect();
    let files = read(format!("{tagged}\n{rows}").as_bytes()).unwrap();
    let [CommFile::Test(test, _)] = &files[..] else { panic!("{files:?}") };
    assert_eq!((test.rank_count(), test.rows.len(), test.rows[0].out_of_place.time_us), (2, 1, 1626.5));
}
