//! A recording equals the recorded events, wherever it is kept.

use super::*;
use crate::cursor::{Cursor, Event};
use crate::spill_store::tests::spill_store;
use crate::unique_access::UniqueAccess;
use crate::wave_stream::StreamWindow;
use arch::Model;

fn trace() -> Trace {
    let mut trace = Trace::new(&Shape::of(Model::by_name("mi300x").unwrap()));
    trace.begin();
    trace.wave();
    trace.wave();
    trace
}

fn rows(base: u64) -> [u64; 64] {
    std::array::from_fn(|lane| base + 8 * lane as u64)
}

#[test]
fn accesses_of_one_form_share_it() {
    let mut trace = trace();
    for (wave, base) in [(0, 0x7f00_0000_0000), (1, 0x7f00_0000_0200), (0, 0x10_0000), (0, 0x10_0040)] {
        trace.vector(wave, 3, Policy::plain(AccessKind::Load), &Lanes::new(&rows(base), u64::MAX, 8));
    }
    trace.barrier();
    trace.scalar(1, AccessKind::Load, 0x1000, 8);
    trace.scalar(1, AccessKind::Atomic, 0x0ff0, 4);
    let batch = trace.finish();
    let group = &batch.groups[0];
    let events = |wave: usize| -> Vec<Event> {
        let mut cursor = Cursor::default();
        std::iter::from_fn(|| cursor.next(&group.waves[wave].held)).collect()
    };
    let block = 0x7f00_0000_0000 / 128;
    let first = [Event::Vector(0, block), Event::Vector(0, 0x2000), Event::Vector(1, 0x2000), Event::Barrier];
    assert_eq!(events(0), first);
    let loads = [Event::Scalar(AccessKind::Load, 0x400, 2), Event::Scalar(AccessKind::Atomic, 0x3fc, 1)];
    assert_eq!(events(1), [&[Event::Vector(0, block + 4), Event::Barrier], &loads[..]].concat());
    // Four quads share a line.
    assert_eq!((group.lookups, batch.patterns.get(0).unwrap().lookups.len()), (64, 4));
}

#[test]
fn workgroups_without_streams_record_the_same_lines() {
    let samples = [Trace::begin, Trace::begin_without_streams].map(|begin: fn(&mut Trace)| {
        let mut trace = trace();
        begin(&mut trace);
        trace.wave();
        for step in 0..2000 {
            trace.run(0, 1, 2);
            let load = Policy::plain(AccessKind::Load);
            trace.vector(0, 3, load, &Lanes::new(&rows(0x100_0000 + 72 * step), u64::MAX, 8));
            trace.vector(0, 4, Policy::plain(AccessKind::Store), &Lanes::new(&rows(1 << 30), u64::MAX, 8));
            trace.scalar(0, AccessKind::Load, 0x200_0000 + 64 * step, 8);
            trace.lds(0, LdsAccess::default());
        }
        trace.barrier();
        let group = trace.finish().groups.remove(1);
        (group.waves[0].len(), group.read.clone())
    });
    let [(wanted, read), (unwanted, same)] = samples;
    assert!(wanted > 8000 && unwanted == 0, "{wanted} {unwanted}");
    assert!(read.lines().len() > 20 && read == same);
}

#[test]
fn the_memo_of_an_earlier_recording_changes_nothing() {
    let record = |slots: PatternMemo, first: u64| {
        let mut trace = trace();
        trace.begin_with(slots);
        for step in 0..500 {
            let at = 0x10_0000 + (first + step) % 100 * 72;
            trace.vector(0, 1, Policy::plain(AccessKind::Load), &Lanes::new(&rows(at), u64::MAX, 8));
            trace.vector(
                1,
                2,
                Policy::plain(AccessKind::Store),
                &Lanes::new(&rows(at), u64::MAX >> (step / 250), 4),
            );
            trace.vector(
                0,
                3,
                Policy::plain(AccessKind::Load),
                &Lanes::new(&rows(at + step % 3), u64::MAX, 2),
            );
        }
        (trace.take_memo(), trace.finish())
    };
    let (slots, _) = record(PatternMemo::default(), 0);
    let (after, alone) = (record(slots, 41).1, record(PatternMemo::default(), 41).1);
    assert_eq!((&after.groups, &after.patterns), (&alone.groups, &alone.patterns));
}

#[test]
fn inactive_lanes_do_not_make_a_form() {
    let mut trace = trace();
    let mut other = rows(0x1000);
    other[5] = 77;
    trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&rows(0x1000), !(1 << 5), 8));
    trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&other, !(1 << 5), 8));
    trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&other, 0, 8));
    assert_eq!(trace.finish().patterns.patterns.len(), 1);
}

/// Addresses that have nothing to do with each other.
fn random(state: &mut u64) -> [u64; 64] {
    std::array::from_fn(|_| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *state >> 24
    })
}

#[test]
fn a_stream_does_not_grow_without_bound() {
    let mut trace = trace();
    let mut state = 1;
    while !trace.full() {
        trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&random(&mut state), u64::MAX, 4));
    }
    // Whatever comes then is counted.
    trace.run(0, 1, 2);
    trace.lds(0, LdsAccess::default());
    trace.barrier();
    trace.scalar(0, AccessKind::Load, 0x1000, 8);
    trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&random(&mut state), u64::MAX, 4));
    let batch = trace.finish();
    let bytes = batch.patterns.bytes() + batch.groups[0].bytes();
    assert!(batch.groups[0].dropped == 6 && bytes < MOST_PER_GROUP + (16 << 10), "{bytes}");
    assert!(batch.patterns.bytes() < MOST_PATTERNS);
}

#[test]
fn a_spilled_stream_has_no_bound() {
    let (spill_store, mut trace) = (spill_store(1 << 30), trace());
    trace.spill(Some(&spill_store));
    let mut state = 1;
    let mut most = 0;
    for _ in 0..300_000 {
        trace.run(0, 1, 2);
        trace.vector(0, 0, Policy::plain(AccessKind::Load), &Lanes::new(&random(&mut state), u64::MAX, 4));
        most = most.max(trace.taken);
    }
    assert!(most < 2 * STEP + FEW_PATTERNS, "{most}");
    let batch = trace.finish();
    let group = &batch.groups[0];
    assert!(group.dropped == 0 && group.waves[0].len() > MOST_PER_GROUP && group.bytes() < 1 << 20);
    assert!(spill_store.used() < group.waves[0].len() as u64 * 5 / 4);
}

/// An access: its slot, how many times its look-ups come, and these.
type Access = (u32, u32, Vec<i64>);

/// Events of the waves of a batch, with each access.
fn done(batch: &Batch) -> Vec<(Event, Option<Access>)> {
    let (mut all, mut unique) = (Vec::new(), UniqueAccess::default());
    for wave in batch.groups.iter().flat_map(|group| &group.waves) {
        let (mut cursor, mut window) = (Cursor::default(), StreamWindow::default());
        loop {
            let bytes = wave.resident_part(&window);
            let shared = match cursor.next(bytes) {
                Some(event @ Event::Vector(pattern, _)) => (event, batch.patterns.get(pattern)),
                Some(event @ Event::Unique(slot, at, _)) => {
                    assert!(unique.read(bytes, slot, at as usize));
                    (event, unique.access())
                }
                Some(event) => (event, None),
                None if window.advance(wave, &mut cursor) => continue,
                None => break,
            };
            let event = match shared.0 {
                Event::Vector(_, block) | Event::Unique(_, _, block) => Event::Vector(0, block),
                other => other,
            };
            let lookups = shared
                .1
                .map(|it| (it.slot, it.times, it.lookups.iter().map(|lookup| lookup.bits()).collect()));
            all.push((event, lookups));
        }
    }
    all
}

#[test]
fn results_do_not_depend_on_the_place_of_a_stream() {
    let record = |spill_store: Option<&Arc<SpillStore>>| {
        let mut trace = trace();
        trace.spill(spill_store);
        let mut state = 1;
        for group in 0..3 {
            for step in 0..3000u64 {
                let wave = step as u32 % 2;
                trace.run(wave, step as usize % 7, 2);
                let addresses = random(&mut state);
                let policy = Policy { bypass: step % 3 == 0, ..Policy::plain(AccessKind::Load) };
                trace.vector(wave, 0, policy, &Lanes::new(&addresses, u64::MAX, 4));
                // Each comes some times.
                let rows: [u64; 64] = std::array::from_fn(|lane| (step / 9 + 1) * 12 * lane as u64);
                trace.vector(
                    wave,
                    1,
                    Policy::plain(AccessKind::Store),
                    &Lanes::new(&rows, u64::MAX >> group, 4),
                );
                trace.scalar(wave, AccessKind::Load, step * 4, 4);
                trace.lds(wave, LdsAccess { slot: 2, cycles: 64, conflicts: step as u32 % 60 });
            }
            trace.barrier();
            trace.begin();
            trace.wave();
            trace.wave();
        }
        trace.finish()
    };
    let held = record(None);
    let (some, all) = (spill_store(1 << 20), spill_store(1 << 30));
    for spill_store in [some, all] {
        let spilled = record(Some(&spill_store));
        assert!(spilled.patterns.bytes() < held.patterns.bytes());
        assert!(spilled.groups.iter().any(|group| group.waves.iter().any(|wave| wave.pieces() > 9)));
        assert!(done(&spilled) == done(&held));
        let same =
            |of: fn(&Group) -> u64| spilled.groups.iter().zip(&held.groups).all(|(a, b)| of(a) == of(b));
        assert!(same(|group| group.lookups) && same(|group| group.dropped));
    }
}
