//! Damaged input: cut off at every byte, changed at random. Nothing panics, and nothing broken is read in
//! silence.

use rockhound_trace::Timeline;
use view::NoteKind;

const CHROME: &str = r#"{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}],
"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.5, "dur": 20, "args": {"External id": 5, "Input Dims": [[2, 3], [3, 4]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 1, "tid": 1, "ts": 11, "dur": 2, "args": {"External id": 5, "correlation": 7, "grid": [1, 1, 1], "block": [64, 1, 1]}},
{"ph": "X", "cat": "kernel", "name": "gemm \u00e9 \"q\"", "pid": 2, "tid": 0, "ts": 20.001, "dur": 5.5, "args": {"External id": 5, "device": 0, "stream": 3, "correlation": 7, "grid": [1, 1, 1], "block": [64, 1, 1]}},
{"ph": "B", "name": "outer", "pid": 1, "tid": 2, "ts": 1}, {"ph": "E", "pid": 1, "tid": 2, "ts": 2},
{"ph": "E", "pid": 1, "tid": 9, "ts": 2}, {"ph": "B", "name": "open", "pid": 1, "tid": 3, "ts": 5},
{"ph": "X", "cat": "cpu_op", "name": "back", "pid": 1, "tid": 1, "ts": 50, "dur": -4},
{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}
]}"#;

const V3: &str = r#"{"rocprofiler-sdk-tool": [{"metadata": {"pid": 9, "node": {"hostname": "h"}, "command": ["a", "b"]},
"agents": [{"id": {"handle": 3}, "type": 2, "name": "gfx942", "product_name": "MI300X", "cu_count": 304, "node_id": 1}],
"kernel_symbols": [{"kernel_id": 4, "formatted_kernel_name": "copy", "kernel_name": "copy.kd"}],
"strings": {"buffer_records": [{"kind": "NONE", "operations": ["x"]}], "marker_api": [{"key": 2, "value": "m"}]},
"buffer_records": {"kernel_dispatch": [{"kind": 0, "operation": 0, "thread_id": 1, "correlation_id": {"internal": 8, "external": 0},
"start_timestamp": 100, "end_timestamp": 150, "dispatch_info": {"agent_id": {"handle": 3}, "queue_id": {"handle": 2}, "kernel_id": 4,
"workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 128, "y": 1, "z": 1}}, "stream_id": {"handle": 5}}],
"hip_api": [{"kind": 0, "operation": 0, "thread_id": 1, "correlation_id": {"internal": 8}, "start_timestamp": 90, "end_timestamp": 95}]}}]}"#;

const CSV: &str = "RPL: on\n\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\
\"KERNEL_DISPATCH\",\"Agent 4\",1,\"f(int, \"\"x\"\")\",1,100,150\n\"KERNEL_DISPATCH\",\"Agent 4\",1,\"g\",2,200,260\n";

const WALL: &str = "| LABEL | COUNT | DEPTH | METRIC | UNITS | SUM | MEAN | % SELF |\n|---|---|---|---|---|---|---|---|\n\
| |0>>> main | 1 | 0 | wall_clock | sec | 1.5 | 1.5 | 10.0 |\n| |0>>>   |_sub | 2 | 1 | wall_clock | sec | 0.5 | 0.25 | 100.0 |\n";

fn read(bytes: &[u8]) -> Result<Timeline, rockhound_trace::Error> {
    rockhound_trace::read("x", &mut &*bytes)
}

/// A made Perfetto trace: a track, a kernel that names its own length, a counter.
fn perfetto() -> Vec<u8> {
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }
    // Fields above 15 take two bytes of key.
    fn long(number: u32, bytes: &[u8]) -> Vec<u8> {
        let key = number << 3 | 2;
        [&[key as u8 | 0x80, (key >> 7) as u8, bytes.len() as u8], bytes].concat()
    }
    let annotation =
        |name: &str, value: u8| field(4, &[&[24, value][..], &field(10, name.as_bytes())].concat());
    let track = long(60, &[&[8, 4][..], &field(2, b"GPU")].concat());
    let begin = [
        &annotation("begin_ns", 50)[..],
        &annotation("delta_ns", 20),
        &annotation("kernel_id", 3),
        &[72, 1, 88, 4],
        &long(23, b"copy"),
    ]
    .concat();
    let packets = [
        track,
        [&[64, 50][..], &field(11, &begin)].concat(),
        [&[64, 90][..], &field(11, &[72, 2, 88, 4])].concat(),
    ];
    packets.iter().flat_map(|packet| field(1, packet)).collect()
}

#[test]
fn whole_files_are_read_whole() {
    let t = read(CHROME.as_bytes()).unwrap();
    assert_eq!((t.gpu.len(), t.gpu.start[0], t.gpu.duration(0)), (1, 20_001, 5_500));
    assert_eq!(t.names.get(t.gpu.name[0]), "gemm é \"q\"");
    assert_eq!(t.rank, Some((1, 2)));
    let warnings: Vec<String> = t.problems.iter().map(|it| it.text.clone()).collect();
    for part in ["1 `E` events", "1 spans on the host end before", "1 `B` events never end"] {
        assert!(warnings.iter().any(|w| w.contains(part)), "{part}: {warnings:?}");
    }
    let t = read(V3.as_bytes()).unwrap();
    assert_eq!((t.gpu.len(), t.host.len(), t.gpu.grid[0]), (1, 1, [2, 1, 1]));
    let t = read(CSV.as_bytes()).unwrap();
    assert_eq!((t.gpu.len(), t.names.get(t.gpu.name[0])), (2, "f(int, \"x\")"));
    let t = read(WALL.as_bytes()).unwrap();
    assert_eq!((t.calls.len(), t.calls[1].depth, t.calls[1].total_ns), (2, 1, 0.5e9));
    let t = read(&perfetto()).unwrap();
    assert_eq!((t.gpu.len(), t.gpu.start[0], t.gpu.duration(0)), (1, 50, 20), "{t:?}");
}

/// Fields and packets of other versions of Perfetto are passed over, whatever their type.
#[test]
fn unknown_fields_of_perfetto() {
    let key = |number: u64, kind: u64| varint(number << 3 | kind);
    let unknown = [
        [key(99, 0), varint(u64::MAX)].concat(),
        [key(96, 1), vec![7; 8]].concat(),
        [key(98, 5), vec![7; 4]].concat(),
        [key(97, 2), varint(3), vec![7; 3]].concat(),
    ]
    .concat();
    // Packets of `perfetto()` are shorter than 128 bytes: a key, a length of one byte, the packet.
    let made = perfetto();
    let mut text = Vec::new();
    let mut rest = made.as_slice();
    while let [first, length, packets @ ..] = rest {
        let (packet, after) = packets.split_at(usize::from(*length));
        let longer = [&unknown[..], packet, &unknown].concat();
        // A packet of nothing known, one of nothing, and the file's own unknown field.
        for packet in [&longer[..], &unknown, &[]] {
            text.push(*first);
            text.extend(varint(packet.len() as u64));
            text.extend_from_slice(packet);
        }
        // Numbers beyond those in use tell other files apart, and only where a file begins.
        text.extend([&unknown[..], &key(1 << 20, 0), &[1]].concat());
        rest = after;
    }
    let (t, own) = (read(&text).unwrap(), read(&made).unwrap());
    assert_eq!(format!("{:?}", t.gpu), format!("{:?}", own.gpu));
    assert!(t.problems.iter().all(|it| it.kind != NoteKind::Error), "{:?}", t.problems);
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// Clocks that go back: spans whose records are in any order, and starts before those above them.
#[test]
fn clocks_that_go_back() {
    let event = |name: &str, ts: &str, dur: &str| {
        format!(
            "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{name}\",\"ts\":{ts},\"dur\":{dur},\"args\":{{\"device\":0,\"stream\":0}}}}"
        )
    };
    let events = [
        event("late", "900", "10"),
        event("early", "-5.5", "2"),
        event("backwards", "100", "-30"),
        event("far", "9.3e15", "1"),
        event("huge", "1e300", "1"),
    ];
    let t = read(format!("[{}]", events.join(",")).as_bytes()).unwrap();
    assert!((0..t.gpu.len()).all(|at| t.gpu.end[at] >= t.gpu.start[at]), "{:?}", t.gpu);
    let start = |name: &str| {
        (0..t.gpu.len()).find(|at| t.names.get(t.gpu.name[*at]) == name).map(|at| t.gpu.start[at])
    };
    assert_eq!((start("late"), start("early")), (Some(900_000), Some(-5_500)));
    assert_eq!(start("backwards"), Some(100_000));
    assert!(t.problems.iter().any(|it| it.text.contains("end before")), "{:?}", t.problems);
}

/// A truncated file is reported, or is refused; a table may end after any row.
#[test]
fn cut_off_files_say_where_they_end() {
    for (text, from) in
        [(CHROME, CHROME.find("traceEvents").unwrap() + 200), (V3, V3.find("hip_api").unwrap())]
    {
        for end in 0..text.trim_end().len() {
            match read(&text.as_bytes()[..end]) {
                Err(_) => assert!(end < from + 200, "{end}: the events before are lost"),
                Ok(t) => {
                    let error = t.problems.iter().find(|p| p.kind == NoteKind::Error);
                    assert!(
                        error.is_some_and(|p| p.text.starts_with("byte ") || p.text.starts_with("line ")),
                        "{end}: read in silence"
                    );
                }
            }
        }
    }
    let perfetto = perfetto();
    for end in 0..perfetto.len() {
        let _ = read(&perfetto[..end]);
    }
    for text in [CSV, WALL] {
        for end in 0..text.len() {
            let _ = read(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn changed_bytes_do_no_harm() {
    let mut random = testkit::Random(27);
    let perfetto = perfetto();
    for base in [CHROME.as_bytes(), V3.as_bytes(), CSV.as_bytes(), WALL.as_bytes(), &perfetto] {
        for _ in 0..1_500 {
            let mut bytes = base.to_vec();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = random.next() as u8,
                    1 => {
                        bytes.remove(at);
                    }
                    _ => bytes.insert(at, b"[]{}\",:0-\\\xff"[random.below(11)]),
                }
            }
            if let Ok(t) = read(&bytes) {
                assert!((0..t.gpu.len()).all(|at| t.gpu.end[at] >= t.gpu.start[at]));
                assert!((0..t.host.len()).all(|at| t.host.end[at] >= t.host.start[at]));
                assert!(t.host.thread.iter().all(|row| (*row as usize) < t.threads.len().max(1)));
            }
        }
    }
}

#[test]
fn many_processes_and_long_names() {
    let long = "n".repeat(10_000);
    let mut text = String::from("[");
    for at in 0..100_000 {
        let name = if at == 5 { &long } else { "f" };
        text +=
            &format!("{{\"ph\":\"X\",\"name\":\"{name}\",\"pid\":{at},\"tid\":{at},\"ts\":{at},\"dur\":1}},");
    }
    // An array needs no closing bracket.
    let t = read(text.as_bytes()).unwrap();
    assert_eq!((t.host.len(), t.threads.len()), (100_000, 100_000));
    assert!(t.problems.is_empty(), "{:?}", t.problems);
    assert!(t.names.find(&long).is_some());
}

#[test]
fn what_is_no_trace_is_refused() {
    for (text, part) in [
        ("", "empty"),
        ("{}", "traceEvents"),
        ("{\"a\": 1}", "traceEvents"),
        ("hello", "header"),
        ("a,b\n1,2\n", "header"),
        ("Name,X\n", "columns"),
        ("SQLite format 3\0rubbish", "database"),
    ] {
        let error = read(text.as_bytes()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}
