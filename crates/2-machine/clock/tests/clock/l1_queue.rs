//! Room for accesses of vector memory between issue and answer.

use arch::Model;
use mem::{AccessKind, Count, Lanes, Policy, Trace};
use rockhound_clock::{Gpu, Grid, NO_SLOT, Op, Outcome, Rates, Stall, Unit};

/// Units of an MI210.
const UNITS: u64 = 104;

/// `waves_per_unit` waves on each compute unit make eight accesses each, of `bytes` by every lane, to
/// separate lines.
fn stream(kind: AccessKind, bytes: u64, waves_per_unit: u64) -> Outcome {
    let model = Model::by_name("mi210").unwrap();
    let mut gpu = Gpu::with_rates(model, &Rates::of(model));
    let wait = Op::new(Unit::Wait { vector: 0, other: 0 }, 0);
    let mut ops: Vec<Op> = (0..8).map(|slot| Op { slot, ..Op::new(Unit::Memory, 4) }).collect();
    ops.extend([wait, Op { slot: NO_SLOT, ..Op::new(Unit::End, 4) }]);
    let groups = UNITS * waves_per_unit;
    gpu.begin(Grid { groups, groups_per_unit: waves_per_unit as u32, ..Grid::default() }, ops.into());
    let mut trace = Trace::new(gpu.shape());
    for group in 0..groups {
        trace.begin();
        trace.wave();
        trace.run(0, 0, 10);
        for slot in 0..8 {
            let first = (8 * group + u64::from(slot)) * 64 * bytes;
            let addresses: [u64; 64] = std::array::from_fn(|lane| first + lane as u64 * bytes);
            trace.vector(0, slot, Policy::plain(kind), &Lanes::new(&addresses, u64::MAX, bytes as u32));
        }
    }
    gpu.push(trace.finish());
    gpu.finish(&[])
}

/// Instructions of vector memory under way on each unit, on average.
fn under_way(outcome: &Outcome) -> f64 {
    outcome.under_way.vector as f64 / outcome.waves_end as f64 / UNITS as f64
}

#[test]
fn waves_wait_to_issue_where_there_is_no_room() {
    // Lines by an access: 4 and 8. Recorded are 66 to 81 loads of 4 bytes and 42 of 8 where memory holds
    // kernels up all the time.
    for (kind, bytes, most) in
        [(AccessKind::Load, 4, 64 + 16), (AccessKind::Load, 8, 32 + 16), (AccessKind::Store, 8, 16 + 8)]
    {
        let [few, many] = [1, 32].map(|waves| stream(kind, bytes, waves));
        assert!(under_way(&few) < 8.0, "{kind:?} {bytes}: {}", under_way(&few));
        assert_eq!(few.stalled(Stall::Issue), 0, "{kind:?} {bytes}");
        let mean = under_way(&many);
        assert!(mean > 0.5 * f64::from(most) && mean < f64::from(most), "{kind:?} {bytes}: {mean}");
        assert!(many.stalled(Stall::Issue) > many.wave_cycles / 4, "{kind:?} {bytes}");
    }
}

#[test]
fn halves_of_a_line_stay_two_requests_where_the_first_had_to_wait() {
    // By bytes of a lane: the requests for a pair of halves beyond the first. Where memory holds kernels up
    // all the time 0.11 to 0.13 are recorded of 8 bytes, none of 4, whose halves are looked up in cycles that
    // follow each other.
    let more = |bytes: u64, waves: u64| {
        let outcome = stream(AccessKind::Load, bytes, waves);
        let pairs = outcome.tally.get(Count::L1Read) / 2;
        assert_eq!(pairs, 8 * UNITS * waves * bytes / 2);
        (outcome.tally.get(Count::L2Read) - pairs) as f64 / pairs as f64
    };
    for (bytes, waves, range) in
        [(4, 1, 0.0..0.001), (8, 1, 0.0..0.001), (4, 32, 0.0..0.001), (8, 32, 0.05..0.2)]
    {
        let found = more(bytes, waves);
        assert!(range.contains(&found), "{bytes} bytes, {waves} waves: {found}");
    }
}
