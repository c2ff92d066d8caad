use super::*;
use proptest::prelude::*;

fn ids(log: &LogText) -> Vec<(&str, u32, u32)> {
    log.events.iter().map(|it| (it.id(), it.line, it.times)).collect()
}

#[test]
fn messages_repeats_and_unknown_errors() {
    let text = "start\n(Worker_TP0 pid=1) INFO 02-24 02:39:34 [a.py:1] ok\n\
        [rank0]: RuntimeError: HIP error: invalid device function\n\
        [rank1]: RuntimeError: HIP error: invalid device function\n\
        FooError: 17 things at 0x12\nFooError: 18 things at 0x34\n\
        step 1: error rate 0.1\n 5%|# |\rBarError: late\nend\n";
    let log = Scan::text(text.as_bytes());
    assert_eq!(log.lines, 9);
    assert_eq!(ids(&log), [("hip-invalid-device-function", 3, 2), ("", 5, 2), ("", 8, 1)]);
    let writers: Vec<String> = log.events[0].writers.iter().map(Who::words).collect();
    assert_eq!(writers, ["rank 0", "rank 1"]);
    assert_eq!((log.events[0].last_line, log.last.as_str()), (4, "end"));
}

#[test]
fn fields_part_the_events_of_a_message() {
    let line = |rank: u32, sequence: u32, kind: &str| {
        format!(
            "[rank{rank}]:[E826 11:02:33.100 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={sequence}, OpType={kind}, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
        )
    };
    let log = Scan::text((line(0, 1204, "ALLREDUCE") + &line(1, 1203, "ALLGATHER")).as_bytes());
    let fields = |at: usize| log.events[at].fields.iter().map(|it| it.value.as_str()).collect::<Vec<_>>();
    assert_eq!(log.events.len(), 2);
    assert_eq!(fields(0)[..2], ["1204", "ALLREDUCE"]);
    assert_eq!(fields(1)[..2], ["1203", "ALLGATHER"]);
}

#[test]
fn activity_before_a_fault_is_kept_by_writer() {
    let text = "(Worker_TP0 pid=1) DEBUG 02-24 02:39:34 [c.py:1] Capturing a cudagraph on (num_tokens=32)\n\
        (Worker_TP3 pid=4) DEBUG 02-24 02:39:34 [c.py:1] Capturing a cudagraph on (num_tokens=32)\n\
        (Worker_TP3 pid=4) DEBUG 02-24 02:39:35 [c.py:1] Capturing a cudagraph on (num_tokens=16)\n\
        Memory access fault by GPU node-5 (Agent handle: 0x1) on address 0x7000. Reason: Unknown.\n";
    let log = Scan::text(text.as_bytes());
    let before: Vec<(String, &str)> =
        log.events[0].before.iter().map(|(who, text)| (who.words(), text.as_str())).collect();
    assert_eq!(
        before,
        [
            ("Worker_TP0, pid 1".to_owned(), "Capturing a cudagraph on (num_tokens=32)"),
            ("Worker_TP3, pid 4".to_owned(), "Capturing a cudagraph on (num_tokens=16)")
        ]
    );
    assert_eq!(log.kept.iter().map(|it| it.number).collect::<Vec<_>>(), [4]);
}

#[test]
fn blocks_are_kept_whole() {
    let text = "noise\nQueue error (HSA_STATUS_ERROR_EXCEPTION: x)\nwave_1: pc=0x1 (stopped, reason: TRAP)\nsystem registers:\n  exec: 1\n";
    let log = Scan::text(text.as_bytes());
    assert_eq!(log.kept.iter().map(|it| it.number).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

fn field<'l>(log: &'l LogText, id: &str, name: &str) -> Option<&'l str> {
    log.events.iter().find(|it| it.id() == id).and_then(|it| it.field(name))
}

#[test]
fn lines_that_follow_a_message_add_its_values() {
    let text = "[  1.000001] BUG: unable to handle kernel NULL pointer dereference at 0000000000000000\n\
        [  1.000002] IP: wave_control+0x12/0x60 [amdgpu]\n\
        [  1.000003] Oops: 0000 [#1] SMP NOPTI\n\
        [  1.000004] CPU: 17 PID: 7520 Comm: a.out Tainted: G\n\
        [  2.000000] {1}[Hardware Error]: event severity: recoverable\n\
        [  2.000000] {1}[Hardware Error]:   section_type: PCIe error\n\
        [  2.000000] {1}[Hardware Error]:   device_id: 0000:54:01.0\n\
        [  2.000000] {1}[Hardware Error]:   slot: 19\n";
    let log = Scan::text(text.as_bytes());
    let oops = |name: &str| field(&log, "kernel-oops", name);
    assert_eq!((oops("function"), oops("module")), (Some("wave_control"), Some("amdgpu")));
    assert_eq!((oops("process"), oops("pid")), (Some("a.out"), Some("7520")));
    let apei = |name: &str| field(&log, "apei-severity", name);
    assert_eq!((apei("section"), apei("slot")), (Some("PCIe error"), Some("19")));
    assert_eq!(apei("device"), Some("0000:54:01.0"));

    let text = "cxil_map: write error\n[node1:07] *** An error occurred in MPI_Irecv\n\
        [node1:07] *** reported by process [19,28]\n\
        [node1:07] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n";
    let log = Scan::text(text.as_bytes());
    assert_eq!(ids(&log), [("cxi-map", 1, 1), ("mpi-error", 2, 1)]);
    assert_eq!(field(&log, "mpi-error", "call"), Some("MPI_Irecv"));
    // Lines of another writer add nothing.
    let text =
        "1: terminate called after throwing an instance of 'E'\n2:   what():  other\n1:   what():  text\n";
    assert_eq!(field(&Scan::text(text.as_bytes()), "terminate-called", "what"), Some("text"));
}

#[test]
fn numbers_of_tests_are_no_ranks() {
    let lines = "26: free(): invalid pointer\n";
    let writer = |text: &str| Scan::text(text.as_bytes()).events[0].writers[0].words();
    assert_eq!(writer(lines), "rank 26");
    for more in ["26/28 Test #26: halo ....***Failed   0.41 sec\n", "      Start 26: halo\n"] {
        assert_eq!(writer(&format!("{lines}{more}")), "test 26", "{more}");
    }
}

#[test]
fn machine_checks_are_counted_by_cpu_and_bank() {
    let line = |cpu: u32, bank: u32, kind: &str| {
        format!(
            "[    9.000001] [Hardware Error]: CPU:{cpu} (0:0:0) MC{bank}_STATUS[Over|{kind}|MiscV|-|-]: 0xa\n"
        )
    };
    let text = line(7, 60, "CE") + &line(7, 60, "CE") + &line(8, 60, "CE") + &line(7, 1, "UE");
    let found = Scan::text(text.as_bytes());
    assert_eq!(ids(&found), [("mce-corrected", 1, 2), ("mce-corrected", 3, 1), ("mce-uncorrected", 4, 1)]);
    let text = "[    9.000001] [Hardware Error]: Corrected error, no action required.\n";
    assert!(Scan::text(text.as_bytes()).events.is_empty());
}

const PIECES: &[&str] = &[
    "[ 12.000001] amdgpu 0000:05:00.0: amdgpu: GPU reset begin!. Source:  4\n",
    "0: RuntimeError: HIP error: invalid device function\n",
    "Memory access fault by GPU node-5 (Agent handle: 0x1) on address 0x7000. Reason: Unknown.\n",
    "Queue error (HSA_STATUS_ERROR_EXCEPTION: x)\r\n",
    " 5%|# |\r 6%|# |\n",
    "\x1b[31mFooError: \x1b[0m9\n",
    "Decode batch. #running-req: 12\n",
    "text\n",
    "terminate called after throwing an instance of 'E'\n",
    "  what():  text\n",
    "3/9 Test #3: x ....***Failed 1 sec\n",
    "cut off",
];

proptest! {
    #[test]
    fn pieces_do_not_matter(rows in prop::collection::vec(0..PIECES.len(), 0..40), size in 1usize..200) {
        let text: String = rows.iter().map(|at| PIECES[*at]).collect();
        let mut scan = Scan::new();
        text.as_bytes().chunks(size).for_each(|piece| scan.feed(piece));
        prop_assert_eq!(scan.finish(), Scan::text(text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let log = Scan::text(&bytes);
        prop_assert_eq!(log.bytes, bytes.len() as u64);
    }
}
