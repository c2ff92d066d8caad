//! Rules on communication, on the shared files and on made-up ones.

use rockhound_rules::{CommEvidence, check_comm};
use trace::comm::{CommFile, RcclTest};

fn read(path: &str) -> Option<CommFile> {
    let bytes = std::fs::read(testkit::shared(&format!("comm/{path}"))?).expect("a shared file");
    Some(trace::comm::read(&bytes).unwrap_or_else(|error| panic!("{path}: {error}")).remove(0))
}

fn fired(path: &str) -> Option<Vec<String>> {
    let files = [(path.to_owned(), read(path)?)];
    let (findings, _) = check_comm(&CommEvidence { files: &files });
    crate::words::are_well_said(&findings);
    Some(findings.iter().map(|f| format!("{} {}", f.rule, f.severity.as_str())).collect())
}

#[test]
fn every_file_is_judged_as_its_notes_say() {
    for (path, expected) in [
        ("rccl-tests/made-allreduce-8xmi300x.txt", &["COM004 info"][..]),
        ("rccl-tests/made-allreduce-8xmi300x-one-process-new-style.txt", &["COM003 warning"]),
        ("rccl-tests/made-allreduce-4xmi300x.txt", &["SYS005 info"]),
        ("rccl-tests/made-allreduce-slow-link.txt", &["COM002 severe"]),
        ("rccl-tests/made-allreduce-wrong-values.txt", &["COM001 severe"]),
        ("rccl-tests/made-allreduce-no-check.txt", &["COM001 info"]),
        ("rccl-tests/made-allreduce-2nodes-with-debug-lines.txt", &["COM005 warning"]),
        ("rccl-tests/made-allgather-8xmi300x.txt", &[]),
        ("rccl-tests/made-reducescatter-8xmi300x.txt", &[]),
        ("rccl-tests/made-alltoall-8xmi300x.txt", &[]),
        ("rccl-tests/made-broadcast-8xmi300x.txt", &[]),
        ("rccl-tests/made-sendrecv-8xmi300x.txt", &[]),
        ("rccl-tests/made-allreduce-cut.txt", &[]),
        ("nccl-debug/made-info-8xmi300x-good.log", &[]),
        ("transferbench/made-a2a-8xmi300x.txt", &[]),
        ("transferbench/made-a2a-slow-link-2-6.txt", &["COM002 severe"]),
        ("topology/topo_8p_940.xml", &[]),
    ] {
        let Some(found) = fired(path) else { return };
        assert_eq!(found, expected, "{path}");
    }
    let Some(bad) = fired("nccl-debug/made-info-8xmi300x-bad.log") else { return };
    for rule in ["COM005 severe", "COM005 warning", "COM007 warning"] {
        assert!(bad.iter().any(|it| it == rule), "{rule}: {bad:?}");
    }
    let Some(missing) = fired("nccl-debug/made-info-2nodes-rank-missing.log") else { return };
    assert!(missing.contains(&"COM006 severe".to_owned()), "{missing:?}");
}

/// A run of eight ranks with a bus bandwidth of `bus` GB/s at 8 GiB.
fn run(bus: f64, wrong: u64) -> CommFile {
    let mut text =
        String::from("# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8\n");
    for rank in 0..8 {
        text += &format!(
            "#  Rank {rank} Group 0 Pid {rank} on node device {rank} [0000:05:00] AMD Instinct MI300X\n"
        );
    }
    let algorithm = bus / 1.75;
    text += &format!(
        "8589934592 2147483648 float sum -1 47260 {algorithm} {bus} {wrong} 47269 {algorithm} {bus} 0\n\
         # Out of bounds values : {wrong} OK\n# Avg bus bandwidth : {bus}\n"
    );
    trace::comm::read(text.as_bytes()).expect("a run").remove(0)
}

#[test]
fn thresholds() {
    for (bus, wrong, expected) in
        [(315.0, 0, &[][..]), (280.0, 0, &["COM002"]), (315.0, 3, &["COM001"]), (305.0, 0, &[])]
    {
        let files = [("run".to_owned(), run(bus, wrong))];
        let (findings, _) = check_comm(&CommEvidence { files: &files });
        crate::words::are_well_said(&findings);
        let rules: Vec<&str> = findings.iter().map(|f| f.rule).collect();
        assert_eq!(rules, expected, "{bus} {wrong}");
    }
    let CommFile::Test(test, _) = run(100.0, 0) else { panic!("a test") };
    let test: &RcclTest = &test;
    assert_eq!((test.rank_count(), test.processes(), test.best()), (8, 8, Some((100.0, 8_589_934_592))));
}

/// A run of four nodes whose sizes of 2 and 4 MiB take longer than 8 MiB, with `prefix` before each line.
fn collapsing(prefix: &str, old: bool) -> String {
    let mut lines = vec!["# nThread 1 nGpus 1 minBytes 1048576".to_owned()];
    for rank in 0..4 {
        lines.push(format!(
            "#  Rank {rank} Group 0 Pid {rank} on node{rank} device 0 [0xd1] AMD Instinct MI250X"
        ));
    }
    let root = if old { "" } else { "-1" };
    lines.push(format!("# size count type redop {} time algbw busbw", if old { "" } else { "root" }));
    for (bytes, time) in [(1u64 << 20, 900.0), (2 << 20, 70_248.0), (4 << 20, 70_412.0), (8 << 20, 1_012.2)] {
        let rate = bytes as f64 / time / 1e3;
        let wrong = if old { "0e+00" } else { "0" };
        lines.push(format!(
            "{bytes} {} float none {root} {time} {rate:.2} {rate:.2} {wrong} {time} {rate:.2} {rate:.2} {wrong}",
            bytes / 4
        ));
    }
    lines.push("# Out of bounds values : 0 OK".to_owned());
    lines.iter().map(|line| format!("{prefix}{line}\n")).collect()
}

#[test]
fn a_range_that_collapses_whatever_is_in_front_of_the_lines() {
    for prefix in [
        "",
        " 0: ",
        "[1,0]<stdout>:",
        "[1,0]<stdout>: ",
        "trainer-0  | ",
        "2025-09-09T02:30:20.123456789Z stdout F 0: ",
    ] {
        for old in [false, true] {
            let mut runs = trace::comm::read(collapsing(prefix, old).as_bytes()).expect(prefix);
            let files = [("run".to_owned(), runs.remove(0))];
            let CommFile::Test(test, _) = &files[0].1 else { panic!("a test") };
            assert_eq!(
                (test.rows.len(), test.hosts().len(), test.wrong()),
                (4, 4, Some(0)),
                "{prefix:?} {old}"
            );
            let (findings, _) = check_comm(&CommEvidence { files: &files });
            let collapsed: Vec<usize> =
                findings.iter().filter(|it| it.rule == "COM004").map(|it| it.places.len()).collect();
            assert_eq!(collapsed, [2], "{prefix:?} {old}: {findings:?}");
        }
    }
}

#[test]
fn runs_of_one_file_are_parted() {
    let text = collapsing("", false) + &collapsing("", false);
    assert_eq!(trace::comm::read(text.as_bytes()).expect("two runs").len(), 2);
}

#[test]
fn logs_of_one_rank_each_are_judged_together() {
    let log = |rank: u64| {
        let text = format!(
            "node:9:9 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 3 cudaDev 0 busId 5000 - Init START\n\
             node:9:9 [0] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 3 cudaDev 0 busId 5000 - Init COMPLETE\n"
        );
        (format!("log{rank}"), trace::comm::read(text.as_bytes()).expect("a log").remove(0))
    };
    for (ranks, expected) in [(vec![0], 0), (vec![0, 1, 2], 0), (vec![0, 2], 1)] {
        let files: Vec<_> = ranks.iter().map(|rank| log(*rank)).collect();
        let (findings, _) = check_comm(&CommEvidence { files: &files });
        let missing = findings.iter().filter(|it| it.rule == "COM006").count();
        assert_eq!(missing, expected, "{ranks:?}: {findings:?}");
    }
}
