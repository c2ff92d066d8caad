//! Rules on communication, on the shared files and on made-up ones.

use rockhound_rules::{CommEvidence, check_comm};
use trace::comm::{CommFile, RcclTest};

fn read(path: &str) -> Option<CommFile> {
    let bytes = std::fs::read(testkit::shared(&format!("comm/{path}"))?).expect("a shared file");
    Some(trace::comm::read(&bytes).unwrap_or_else(|error| panic!("{path}: {error}")))
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
    trace::comm::read(text.as_bytes()).expect("a run")
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
