//! The clock of matrix work in a recording.

use crate::compile::compile;
use rockhound_record::{Job, Provenance, Recorder, Settings};

fn run(bytes: &[u8], gpu: &str, steps: i32) -> Recorder {
    const GROUPS: u32 = 304;
    let settings = Settings { lifts_limits: true, ..Settings::default() };
    let mut recorder = settings.recorder(arch::Model::by_name(gpu).unwrap(), None).unwrap();
    let mut job = Job::find(bytes, None).unwrap();
    let out = job.memory.allocate("out", 4 * 256 * GROUPS as usize).to_le_bytes();
    job.give([&out[..], &steps.to_le_bytes()]);
    job.run(&mut recorder, [GROUPS, 1, 1], [256, 1, 1]).unwrap();
    recorder
}

#[test]
fn a_recording_says_which_clock_matrix_work_had() {
    let Some(bytes) = compile("clang++-19", "matrix.hip", "gfx942", &[]) else { return };
    let time = |recorder: &Recorder| recorder.dispatches()[0].time.as_ref().unwrap().nanoseconds;
    let provenance = Provenance { name: "a".into(), command: "a".into(), emulator: "test".into() };
    // GPU, steps, whether the time has the lower clock.
    for (gpu, steps, lowered) in
        [("mi300x", 400, true), ("mi300x", 0, false), ("mi300x@2100", 400, false), ("mi300a", 400, false)]
    {
        let recorder = run(&bytes, gpu, steps);
        let notes = recorder.notes();
        assert_eq!(notes.iter().any(|it| it.contains("MHz")), lowered, "{gpu} {steps}: {notes:?}");
        let workload = workload::read(&recorder.files(&provenance), &workload::Options::default()).unwrap();
        let held = workload.machine.text("matrix_sclk");
        assert_eq!(held, lowered.then_some("1250"), "{gpu} {steps}");
    }
    let [usual, highest] = ["mi300x", "mi300x@2100"].map(|gpu| run(&bytes, gpu, 400));
    let longer = time(&usual) / time(&highest);
    assert!((1.3..2100.0 / 1250.0).contains(&longer), "{longer}");
    // Predictions have the same clock, but for infinite issue, which needs no matrix unit.
    let predicted = |recorder: &Recorder, name: &str| {
        let all = &recorder.dispatches()[0].predicted;
        all.iter().find(|it| it.name == name).unwrap().nanoseconds
    };
    assert_eq!(predicted(&usual, "barriers"), time(&usual));
    assert_eq!(predicted(&usual, "issue"), predicted(&highest, "issue"));
}
