//! Facts that each output of the rocprof family has in its own way: GPUs of copies, launches, sums.

use rockhound_trace::{Error, Format, GpuKind, Timeline};
use rusqlite::{Connection, MAIN_DB};

fn read(name: &str, text: &str) -> Result<Timeline, Error> {
    rockhound_trace::read(name, &mut text.as_bytes())
}

#[test]
fn a_copy_to_the_host_belongs_to_its_gpu() {
    let csv = "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n\
        \"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",\"Agent 0\",\"Agent 4\",1,10,20\n\
        \"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",2,30,40\n\
        \"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_DEVICE\",\"Agent 4\",\"Agent 4\",3,50,60\n";
    let records = r#""strings": {"buffer_records": [{"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"]}]},
        "buffer_records": {"memory_copy": [
            {"kind": 0, "operation": 0, "start_timestamp": 10, "end_timestamp": 20, "src_agent_id": {"handle": 100}, "dst_agent_id": {"handle": 104}},
            {"kind": 0, "operation": 1, "start_timestamp": 30, "end_timestamp": 40, "src_agent_id": {"handle": 104}, "dst_agent_id": {"handle": 100}}]}"#;
    let agents = r#""agents": [{"id": {"handle": 100}, "node_id": 0, "type": 1}, {"id": {"handle": 104}, "node_id": 4, "type": 2, "name": "gfx942"}],"#;
    let json = |agents: &str| format!(r#"{{"rocprofiler-sdk-tool": [{{{agents}{records}}}]}}"#);
    for (name, text, device) in
        [("a.csv", csv.to_owned(), 4), ("a.json", json(agents), 4), ("a.json", json(""), 104)]
    {
        let it = read(name, &text).unwrap();
        let devices: Vec<u64> = it.gpu.queue.iter().map(|queue| it.queues[*queue as usize].device).collect();
        assert!(it.gpu.len() >= 2 && devices.iter().all(|it| *it == device), "{name}: {devices:?}");
    }
}

/// A call of 100 us that starts a copy, one that starts a kernel, and a barrier, of rocprof v1.
const VERSION1: &str = r#"{"traceEvents": [
    {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "CPU HIP API"}},
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "COPY"}},
    {"ph": "M", "pid": 10, "name": "process_name", "args": {"name": "GPU4"}},
    {"ph": "X", "name": "hipMemcpy", "pid": "2", "tid": "7", "ts": "1000", "dur": "100", "args": {"BeginNs": "1000000", "EndNs": "1100000", "args": "( dst(0x1) src(0x2) sizeBytes(4096) kind(1))"}},
    {"ph": "X", "name": "hipLaunchKernel", "pid": "2", "tid": "7", "ts": "1200", "dur": "10", "args": {"BeginNs": "1200000", "EndNs": "1210000", "args": "( kernel(f) )"}},
    {"ph": "X", "name": "CopyHostToDevice", "pid": "1", "tid": "0", "ts": "1060", "dur": "20", "args": {"BeginNs": "1060500", "EndNs": "1080500", "dev-id": "4", "queue-id": "0"}},
    {"ph": "X", "name": "f", "pid": "10", "tid": "1", "ts": "1220", "dur": "5", "args": {"BeginNs": "1220100", "EndNs": "1225100", "dev-id": "4", "queue-id": "0"}},
    {"ph": "X", "name": "<barrier packet>", "pid": "10", "tid": "1", "ts": "1300", "dur": "5", "args": {"BeginNs": "1300100", "EndNs": "1305100", "dev-id": "4", "queue-id": "0"}},
    {"ts": 1050, "ph": "s", "cat": "DataFlow", "id": 0, "pid": 2, "tid": 7, "name": "dep"},
    {"ts": 1060, "ph": "t", "cat": "DataFlow", "id": 0, "pid": 1, "tid": 0, "name": "dep"},
    {"ts": 1205, "ph": "s", "cat": "DataFlow", "id": 5, "pid": 2, "tid": 7, "name": "dep"},
    {"ts": 1220, "ph": "t", "cat": "DataFlow", "id": 5, "pid": 10, "tid": 1, "name": "dep"},
    {"ts": 9000, "ph": "s", "cat": "DataFlow", "id": 6, "pid": 2, "tid": 7, "name": "dep"}],
    "otherData": {"Agent1.Name": "EPYC", "Agent1.DeviceType": "CPU", "Agent5.Name": "gfx942", "Agent5.MarketingName": "AMDInstinctMI300A", "Agent5.DeviceType": "GPU", "Agent5.ComputeUnit": "228"}}"#;

fn database() -> Vec<u8> {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE TABLE HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT, \"Index\" INTEGER);
         INSERT INTO HIP VALUES (1000000, 1100000, 7, 7, 'hipMemcpy', '( dst(0x1) sizeBytes(4096) kind(1))', 4), (1200000, 1210000, 7, 7, 'hipLaunchKernel', '', 8);
         CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, \"Index\" INTEGER);
         INSERT INTO OPS VALUES (1220100, 1225100, 4, 0, 'f', 8), (1300100, 1305100, 4, 0, '<barrier packet>', 9);
         CREATE TABLE COPY (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, \"Index\" INTEGER);
         INSERT INTO COPY VALUES (1060500, 1080500, 4, 0, 'CopyHostToDevice', 4);",
    )
    .unwrap();
    db.serialize(MAIN_DB).unwrap().to_vec()
}

#[test]
fn calls_of_version_1_start_what_they_name() {
    let json = read("results.json", VERSION1).unwrap();
    let db = rockhound_trace::read("results.db", &mut &*database()).unwrap();
    for it in [&json, &db] {
        let call = |name: &str| {
            let at = (0..it.host.len()).find(|at| it.names.get(it.host.name[*at]) == name).unwrap();
            it.host.correlation[at]
        };
        assert_eq!((it.gpu.len(), it.host.len(), it.problems.len()), (2, 2, 1), "{:?}", it.problems);
        for at in 0..2 {
            let (started, size) = match it.gpu.kind[at] {
                GpuKind::Copy => ("hipMemcpy", Some(4096)),
                _ => ("hipLaunchKernel", None),
            };
            assert!(call(started) != 0 && it.gpu.correlation[at] == call(started), "{started}");
            assert_eq!(it.detail(&it.gpu.get(at)).and_then(|it| it.bytes), size);
        }
    }
    let gpu = &json.devices[..];
    assert_eq!((gpu.len(), gpu[0].id, gpu[0].target.as_str(), gpu[0].compute_units), (1, 4, "gfx942", 228));
}

#[test]
fn tables_say_which_tool_wrote_them() {
    for (name, text, format, calls) in [
        (
            "pmc_kernel_top.csv",
            "Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\nf,2,300.5,150.25,1,100\n",
            Format::Stats,
            1,
        ),
        (
            "pmc_kernel_top.csv",
            "Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n\"f\",2,300,150,1,100\n",
            Format::Stats,
            1,
        ),
        (
            "results.stats.csv",
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"f\",2,300,150,50\n\"<barrier packet>\",9,300,3,50\n",
            Format::Stats,
            1,
        ),
        (
            "hip.csv",
            "Domain,Function,Start_Timestamp,End_Timestamp,Correlation_ID\nHIP_API,hipMalloc,1,2,3\n",
            Format::Rocprofv2Csv,
            0,
        ),
        (
            "hip.csv",
            "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp\nHIP_API,hipMalloc,1,2,3,4,5\n",
            Format::Rocprofv3Csv,
            0,
        ),
    ] {
        let it = read(name, text).unwrap();
        assert_eq!((it.format, it.calls.len()), (format, calls), "{text}");
        assert!(it.calls.iter().all(|sum| sum.domain == "kernels" && sum.calls == 2), "{text}");
    }
}

#[test]
fn arrays_of_anything_are_no_traces() {
    let many = format!("[{}{{\"ph\": \"X\"}}]", "{\"a\": 1},".repeat(5000));
    for (text, is_trace) in [
        (r#"[{"test_name": "latency", "GPU": "MI300X"}]"#, false),
        (r#"[{"file": "rank0.json.gz", "batch_size": 32}]"#, false),
        (r#"[1, 2, 3]"#, false),
        (&many, false),
        (r#"[{"a": 1}, {"ph": "X", "ts": 1, "dur": 2, "name": "f"}"#, true),
    ] {
        let found = read("a.json", text);
        assert_eq!(found.is_ok(), is_trace, "{found:?}");
        assert!(is_trace || matches!(found, Err(Error::Unknown(_))), "{found:?}");
    }
}

/// Every cut and every changed byte is read or refused.
#[test]
fn damaged_files_of_version_1() {
    let db = database();
    for end in 0..VERSION1.len() {
        let _ = read("results.json", &VERSION1[..end]);
    }
    for at in (0..db.len()).step_by(61) {
        let _ = rockhound_trace::read("results.db", &mut &db[..at]);
        let mut changed = db.clone();
        changed[at] ^= 0x55;
        let _ = rockhound_trace::read("results.db", &mut &*changed);
    }
    for (from, to) in [
        ("\"id\": 0", "\"id\": 18446744073709551615"),
        ("1060", "-1"),
        ("9000", "9e300"),
        ("Agent5", "Agent99999999999999999999"),
    ] {
        let _ = read("results.json", &VERSION1.replace(from, to));
    }
}
