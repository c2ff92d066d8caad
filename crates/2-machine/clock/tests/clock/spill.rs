//! Streams that memory has no room for: nothing comes of where they are.

use arch::Model;
use mem::{
    AccessKind, Batch, BatchReader, BatchWriter, InMemory, Lanes, LdsAccess, Policy, SpillStore, Trace,
};
use rockhound_clock::{Detail, Gpu, Grid, Op, Outcome, Unit};
use std::sync::Arc;

/// A depot for streams that may take no memory.
fn spill_store(reads: Option<usize>) -> Arc<SpillStore> {
    let backing = InMemory::new(usize::MAX).failing_after(reads.unwrap_or(usize::MAX));
    Arc::new(SpillStore::with_budget(Box::new(backing), 1 << 30, 0))
}

const GROUPS: u64 = 96;
const WAVES: u32 = 4;

/// Instructions of a trip of a loop: all that leaves events, with a barrier.
fn ops() -> Arc<[Op]> {
    let memory = |slot| Op { slot, ..Op::new(Unit::Memory, 4) };
    let ops = [
        Op::new(Unit::Scalar, 4),
        memory(0),
        Op::new(Unit::ScalarMemory, 4),
        memory(1),
        Op { slot: 2, ..Op::new(Unit::Lds, 4) },
        Op::new(Unit::Vector, 4),
        memory(3),
        Op::new(Unit::Wait { vector: 2, other: 0 }, 4),
        Op::new(Unit::Barrier, 4),
        Op::new(Unit::Branch, 4),
        Op::new(Unit::End, 4),
    ];
    ops.into()
}

/// Batches of workgroups, a few of which iterate the loop far more often than others.
fn batches(spill_store: Option<&Arc<SpillStore>>) -> Vec<Batch> {
    let shape = Gpu::new(Model::by_name("mi300x").unwrap()).shape().clone();
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 40 & !3
    };
    let batch = |first: u64| {
        let mut trace = Trace::new(&shape);
        trace.spill(spill_store);
        for group in first..first + 8 {
            trace.begin();
            (0..WAVES).for_each(|_| trace.wave());
            let trips = if group % 40 == 0 { 600 } else { 30 };
            for trip in 0..trips {
                for wave in 0..WAVES {
                    trace.run(wave, 0, 10);
                    let far = std::array::from_fn(|_| random());
                    trace.vector(wave, 0, Policy::plain(AccessKind::Load), &Lanes::new(&far, u64::MAX, 4));
                    trace.scalar(wave, AccessKind::Load, 0x1000 * group + 64 * trip, 16);
                    let near = std::array::from_fn(|lane| ((0x400 + group) << 12) + 8 * (trip + lane as u64));
                    trace.vector(
                        wave,
                        1,
                        Policy::plain(AccessKind::Store),
                        &Lanes::new(&near, u64::MAX >> wave, 8),
                    );
                    trace.lds(wave, LdsAccess { slot: 2, cycles: 64, conflicts: trip as u32 % 60 });
                    let odd = std::array::from_fn(|_| random() | 1);
                    trace.vector(
                        wave,
                        3,
                        Policy::plain(AccessKind::Atomic),
                        &Lanes::new(&odd, 0xff << (trip % 50), 4),
                    );
                }
            }
            (0..WAVES).for_each(|wave| trace.run(wave, 10, 1));
        }
        trace.finish()
    };
    (0..GROUPS).step_by(8).map(batch).collect()
}

/// Outcome of the batches; `held` bytes may be held before waves run early.
fn outcome(batches: impl IntoIterator<Item = Batch>, detail: Detail, held: usize) -> Outcome {
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    gpu.set_detail(detail);
    gpu.set_most_held_bytes(held);
    gpu.begin(Grid { groups: GROUPS, groups_per_unit: 2, ..Grid::default() }, ops());
    batches.into_iter().for_each(|batch| gpu.push(batch));
    gpu.finish(&[])
}

#[test]
fn results_do_not_depend_on_the_place_of_streams() {
    for detail in [Detail::Full, Detail::Share] {
        let spill_store = spill_store(None);
        let held = outcome(batches(None), detail, usize::MAX);
        let away = batches(Some(&spill_store));
        let whole: usize =
            away.iter().flat_map(|it| &it.groups).flat_map(|it| &it.waves).map(|it| it.len()).sum();
        assert!(spill_store.used() > whole as u64 / 2, "{} of {whole}", spill_store.used());
        assert!(held.waves_end > 10_000 && !held.hurried);
        assert_eq!(outcome(away, detail, usize::MAX), held);
        assert!(!spill_store.take_unreadable());
    }
}

#[test]
fn streams_written_and_read_back_give_the_same_result() {
    let (first, second) = (spill_store(None), spill_store(None));
    let (mut writer, mut reader) = (BatchWriter::default(), BatchReader::new(ops().len(), Some(&second)));
    let read: Vec<Batch> = batches(Some(&first))
        .iter()
        .map(|batch| {
            let mut pieces = Vec::new();
            writer.write(batch, |piece| pieces.push(piece.to_vec()));
            let mut pieces = pieces.into_iter();
            let bytes = pieces.next().unwrap();
            reader.read(&bytes, || pieces.next()).unwrap()
        })
        .collect();
    assert!(second.used() > 0);
    assert_eq!(outcome(read, Detail::Full, usize::MAX), outcome(batches(None), Detail::Full, usize::MAX));
}

#[test]
fn waves_need_not_run_early_with_spilled_streams() {
    let held = 1 << 20;
    assert!(outcome(batches(None), Detail::Full, held).hurried);
    let spill_store = spill_store(None);
    assert!(!outcome(batches(Some(&spill_store)), Detail::Full, held).hurried);
}

#[test]
fn a_stream_that_is_lost_ends_the_wave_and_is_said() {
    let spill_store = spill_store(Some(50));
    let cut = outcome(batches(Some(&spill_store)), Detail::Full, usize::MAX);
    assert!(spill_store.take_unreadable());
    assert!(cut.waves_end < outcome(batches(None), Detail::Full, usize::MAX).waves_end);
}
