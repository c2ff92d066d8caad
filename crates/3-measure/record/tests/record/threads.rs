//! Results and recordings are the same bytes on any number of threads, and every time.

use crate::compile::compile;
use emu::{Hidden, Launch};
use rockhound_record::{Job, Provenance, Recorder};
use std::collections::BTreeMap;

/// Memory contents after the run, and the recording's files.
fn run(bytes: &[u8], workgroups: u32, threads: usize) -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
    const N: u32 = 5000;
    let mut job = Job::find(bytes, None).unwrap();
    let values: Vec<u8> =
        (0..N).flat_map(|i| (1.0 / (1.0 + (i * 7919 % 1009) as f32)).to_le_bytes()).collect();
    let input = job.memory.allocate_with("in", &values);
    let output = job.memory.allocate("out", 4096);
    let [a, b, c, d] = [output, output + 64, output + 128, input].map(u64::to_le_bytes);
    job.give([&a[..], &b, &c, &d, &N.to_le_bytes()]);
    let launch = Launch { threads, ..Launch::new([workgroups, 1, 1], [64, 1, 1], 0) };
    let launch = job.launch(launch, &Hidden::default());
    let mut recorder = Recorder::new(arch::Model::by_name("mi300x").unwrap());
    recorder.run(&job.name, &job.program, &job.table, &job.memory, &launch).unwrap();
    let provenance = Provenance { name: "sums".into(), command: "sums".into(), emulator: "test".into() };
    (job.memory.read(output, 4096).unwrap(), recorder.files(&provenance))
}

#[test]
fn sums_of_floats_and_counters_do_not_depend_on_threads() {
    let Some(bytes) = compile("clang++-22", "sums.hip", "gfx942", &["-munsafe-fp-atomics"]) else { return };
    for workgroups in [5, 16] {
        let expected = run(&bytes, workgroups, 1);
        let first = f32::from_le_bytes(expected.0[..4].try_into().unwrap());
        let seen = f32::from_le_bytes(expected.0[132..136].try_into().unwrap());
        assert!(first > seen && seen > 1.0, "{first} {seen}");
        for round in 0..25 {
            for threads in [1, 2, 3] {
                let found = run(&bytes, workgroups, threads);
                assert!(found == expected, "{workgroups} workgroups, {threads} threads, round {round}");
            }
        }
    }
}
