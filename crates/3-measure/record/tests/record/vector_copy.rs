//! Counters of a vector copy, compared with the recorded ones of MI200 and MI300X.

use crate::compile::compile;
use emu::{Hidden, Launch};
use probe::{Basis, Value, registry};
use rockhound_record::{Job, Provenance, Recorder, Settings};

const N: u32 = 1_048_576;

/// Runs the copy on a GPU and returns the recorder.
fn run(bytes: &[u8], model: &str, threads: usize) -> Recorder {
    let mut job = Job::find(bytes, None).unwrap();
    let values: Vec<u8> = (0..N).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let a = job.memory.allocate_with("a", &values);
    let [b, c] = [("b", 8), ("c", values.len())].map(|(name, bytes)| job.memory.allocate(name, bytes));
    let ([a, b, at], [n, one]) = ([a, b, c].map(u64::to_le_bytes), [N, 1].map(u32::to_le_bytes));
    job.give([&a[..], &b, &at, &n, &one]);
    let launch = Launch { threads, ..Launch::new([N / 256, 1, 1], [256, 1, 1], 0) };
    let mut launch = job.launch(launch, &Hidden::default());
    launch.released = true;
    let mut recorder = Recorder::new(arch::Model::by_name(model).unwrap());
    // As often as was recorded: the first run, after copies from the host, finds its code in no cache.
    for _ in 0..3 {
        recorder.run(&job.name, &job.program, &job.table, &job.memory, &launch).unwrap();
        launch.released = false;
    }
    assert_eq!(job.memory.read(c, values.len()).unwrap(), values);
    recorder
}

/// The recording of a GPU, or `None` (and a word about it) where it is not there.
fn recording(name: &str) -> Option<workload::Workload> {
    let folder = testkit::shared(&format!("workloads/vcopy/{name}"))?;
    let files = testkit::files(&folder);
    Some(workload::read(&files, &workload::Options::default()).unwrap())
}

/// Recorded values of a counter, one per dispatch; `None` if it was not recorded.
fn recorded(workload: &workload::Workload, name: &str) -> Vec<Option<f64>> {
    let counters = &workload.counters;
    // Recordings of older generations spell the port without a number.
    let older = name.replace("TCC_EA0_", "TCC_EA_");
    if older != name && workload.machine.text("gpu_arch") == Some("gfx90a") {
        return recorded(workload, &older);
    }
    match counters.get(name).or_else(|| counters.get(&format!("{name}_sum"))) {
        Some(counter) => counter.values.iter().collect(),
        None => {
            let instances = counters.instances(name);
            let rows = if instances.is_empty() { 0 } else { workload.dispatches.len() };
            (0..rows).map(|row| instances.iter().map(|counter| counter.values.get(row)).sum()).collect()
        }
    }
}

/// Modelled counters, and how far they may be from recorded ones, as a part of the largest.
const MODELLED: [(&str, f64); 12] = [
    ("TCC_MISS", 0.001),
    ("TCC_EA0_RDREQ", 0.0015),
    ("TCC_EA0_WRREQ", 0.05),
    ("TCC_WRITEBACK", 0.05),
    ("TCC_NORMAL_WRITEBACK", 0.05),
    ("TCC_ALL_TC_OP_WB_WRITEBACK", 0.12),
    ("TCC_REQ", 0.02),
    ("TCC_RW_REQ", 0.02),
    ("TCC_READ", 0.04),
    ("TCC_HIT", 0.04),
    ("TCP_UTCL1_TRANSLATION_HIT", 0.025),
    ("TCP_UTCL1_TRANSLATION_MISS", 0.12),
];

#[test]
fn counters_equal_the_recorded_ones() {
    for (target, model, name) in [("gfx90a", "mi250x", "MI200"), ("gfx942", "mi300x", "MI300X_A1_rocpd")] {
        let Some(bytes) = compile("clang++-19", "vector_copy.hip", target, &[]) else { return };
        let Some(newer) = recording(name) else { return };
        // Some of what the code alone decides is only in an older recording.
        let Some(older) = recording(if target == "gfx942" { "MI300X_A1" } else { name }) else { return };
        let recorder = run(&bytes, model, 0);
        let (mut wrong, mut beyond) = (Vec::new(), Vec::new());
        let (mut same, mut not_recorded) = (0, Vec::new());
        for (number, dispatch) in recorder.dispatches().iter().enumerate() {
            for (counter, value) in dispatch.counters.iter() {
                let Value::Known(value) = value else { continue };
                // What a rule claims to rest on is so.
                let rule = registry().rule(counter, target).unwrap();
                let recorded = match recorded(&newer, counter) {
                    found if found.iter().any(Option::is_some) => found,
                    _ => recorded(&older, counter),
                };
                if rule.basis == Basis::Modelled {
                    let bound = MODELLED.iter().find(|it| it.0 == *counter);
                    if let (Some((_, bound)), Some(Some(want))) = (bound, recorded.get(number)) {
                        let error = (*value as f64 - want).abs();
                        if error > *bound * recorded[0].unwrap_or(*want).max(*want) {
                            beyond.push(format!("{counter}[{number}]: {value}, recorded {want}"));
                        }
                    }
                    continue;
                }
                let Some(want) = recorded.get(number).copied().flatten() else {
                    not_recorded.push(*counter);
                    continue;
                };
                if want == *value as f64 {
                    same += 1;
                } else {
                    wrong.push(format!("{counter}[{number}]: {value}, recorded {want}"));
                }
                assert!(rule.basis != Basis::Zero || want == 0.0, "{counter}");
            }
        }
        not_recorded.sort_unstable();
        not_recorded.dedup();
        assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
        assert!(beyond.is_empty(), "{name}: {}", beyond.join("\n"));
        println!("{name}: {same} values equal the recording, not recorded: {}", not_recorded.join(" "));
        assert!(same >= 380, "{same}");
        let dispatch = &recorder.dispatches()[0];
        let d = &newer.dispatches;
        let got = [dispatch.arch_vgprs, dispatch.accum_vgprs, dispatch.sgprs, dispatch.lds, dispatch.scratch];
        let want = [&d.arch_vgpr, &d.accum_vgpr, &d.sgpr, &d.lds, &d.scratch];
        assert_eq!(got.map(|value| Some(f64::from(value))), want.map(|column| column.get(0)), "{name}");
    }
}

#[test]
fn the_written_folder_does_not_depend_on_threads_and_reads_back() {
    let Some(bytes) = compile("clang++-19", "vector_copy.hip", "gfx942", &[]) else { return };
    let provenance = Provenance { name: "copy".into(), command: "copy".into(), emulator: "test".into() };
    let files = run(&bytes, "mi300x", 1).files(&provenance);
    assert_eq!(files, run(&bytes, "mi300x", 2).files(&provenance));
    let workload = workload::read(&files, &workload::Options::default()).unwrap();
    let errors = workload.problems.iter().filter(|problem| problem.kind == workload::NoteKind::Error);
    assert_eq!(errors.count(), 0, "{:?}", workload.problems);
    assert_eq!(workload.machine.text("emulated_by"), Some("test"));
    assert_eq!(workload.counters.get("SQ_WAVES").unwrap().values.get(0), Some(16384.0));
    assert_eq!(workload.counters.get("TCP_TOTAL_CACHE_ACCESSES_sum").unwrap().values.get(0), Some(524_288.0));
    let instructions = String::from_utf8(files[workload::INSTRUCTIONS_FILE].clone()).unwrap();
    let load = instructions.lines().find(|line| line.contains("global_load_dwordx2")).unwrap();
    assert!(load.contains(",16384,1048576,16384,1048576,262144,65536,,,,"), "{load}");
    // A wave waits for its arguments, then for what it loaded.
    let columns: Vec<&str> = workload::INSTRUCTIONS_HEADER.split(',').collect();
    let memory = columns.iter().rev().position(|name| *name == "Stall_Memory").unwrap();
    let waits = instructions.lines().filter(|line| line.contains("s_waitcnt vmcnt(0)"));
    let waited = |line: &str| line.rsplit(',').nth(memory).unwrap().parse::<u64>().unwrap();
    assert!(waits.map(waited).all(|cycles| cycles > 16384 * 500), "{instructions}");
}

#[test]
fn a_sample_that_fills_the_gpu_has_times() {
    let Some(bytes) = compile("clang++-19", "vector_copy.hip", "gfx90a", &[]) else { return };
    const LARGE: u32 = 8 * N;
    let run = |most_workgroups: Option<u64>| {
        let mut job = Job::find(&bytes, None).unwrap();
        let [a, b, c] = [8 * LARGE as usize, 8, 8 * LARGE as usize]
            .map(|bytes| job.memory.allocate("buffer", bytes).to_le_bytes());
        let [n, one] = [LARGE, 1].map(u32::to_le_bytes);
        job.give([&a[..], &b, &c, &n, &one]);
        let settings =
            Settings { most_workgroups, shares_xcds: most_workgroups.is_some(), ..Settings::default() };
        let mut recorder = settings.recorder(arch::Model::by_name("mi210").unwrap(), None).unwrap();
        job.run(&mut recorder, [LARGE / 256, 1, 1], [256, 1, 1]).unwrap();
        recorder
    };
    let time = |recorder: &Recorder| recorder.dispatches()[0].time.as_ref().map(|it| it.nanoseconds);
    let counter = |recorder: &Recorder, name: &str| {
        let dispatch = &recorder.dispatches()[0];
        dispatch.counters.iter().find(|it| it.0 == name).and_then(|it| it.1.known()).unwrap() as f64
    };
    let (whole, sample, small) = (run(None), run(Some(8000)), run(Some(100)));
    let off = |some: f64, all: f64| (some - all).abs() / all;
    let (all, some) = (time(&whole).unwrap(), time(&sample).unwrap());
    assert!(off(some, all) < 0.05, "{some} {all}");
    for (name, most) in [("SQ_WAVES", 0.0), ("TCC_MISS", 0.02), ("TCC_EA0_WRREQ", 0.02)] {
        let (some, all) = (counter(&sample, name), counter(&whole, name));
        assert!(off(some, all) <= most, "{name} {some} {all}");
    }
    let followed = sample.dispatches()[0].followed.unwrap();
    assert_eq!((followed.followed, followed.workgroups), (8000 - 64, u64::from(LARGE / 256)));
    let said = |recorder: &Recorder, what: &str| recorder.notes().iter().any(|it| it.contains(what));
    assert!(said(&sample, "7936 of 32768 workgroups"), "{:?}", sample.notes());
    // Too few to fill the GPU: the counts are there, and the note says how many would do.
    assert_eq!((time(&small), counter(&small, "SQ_WAVES")), (None, counter(&whole, "SQ_WAVES")));
    assert!(said(&small, "`--sample-workgroups 4224`"), "{:?}", small.notes());
}
