//! Liveness against its definition: some path reads the register before any write.

use super::*;
use crate::cfg::Flow;
use proptest::prelude::*;

/// One instruction: how control goes on, registers read, registers written.
#[derive(Clone, Debug)]
struct Step(Flow, Vec<u16>, Vec<u16>);

impl Effects for Step {
    fn reads(&self, visit: impl FnMut(RegRange)) -> Implicit {
        self.1.iter().map(|&r| v(r)).for_each(visit);
        Implicit::empty()
    }

    fn writes(&self, visit: impl FnMut(RegRange)) -> Implicit {
        self.2.iter().map(|&r| v(r)).for_each(visit);
        Implicit::empty()
    }
}

/// An instruction that only reads.
struct Reads(Vec<RegRange>);

impl Effects for Reads {
    fn reads(&self, visit: impl FnMut(RegRange)) -> Implicit {
        self.0.iter().copied().for_each(visit);
        Implicit::empty()
    }

    fn writes(&self, _: impl FnMut(RegRange)) -> Implicit {
        Implicit::empty()
    }
}

fn v(first: u16) -> RegRange {
    RegRange::new(RegFile::Vgpr, first, 1)
}

fn build(steps: &[Step]) -> (Cfg, Liveness) {
    let cfg = Cfg::from_flow(steps.len(), |i| steps[i].0, |i| i as u32);
    let live = Liveness::of_effects(steps, &cfg);
    (cfg, live)
}

/// Whether register `r` is live before `at`, by search.
fn live_by_search(steps: &[Step], at: usize, r: u16) -> bool {
    let mut seen = vec![false; steps.len()];
    let mut work = vec![at as i32];
    while let Some(i) = work.pop() {
        let Some(Step(flow, reads, writes)) = usize::try_from(i).ok().and_then(|i| steps.get(i)) else {
            continue;
        };
        if std::mem::replace(&mut seen[i as usize], true) {
            continue;
        }
        if reads.contains(&r) {
            return true;
        }
        if writes.contains(&r) {
            continue;
        }
        match *flow {
            Flow::Next | Flow::BranchIndirect => work.push(i + 1),
            Flow::Branch(target) => work.extend([i + 1, target]),
            Flow::Jump(target) => work.push(target),
            Flow::Indirect | Flow::End => {}
        }
    }
    false
}

#[test]
fn a_loop_keeps_its_inputs_alive() {
    // v0, v1 come in; v2 is set each iteration; v1 counts; v3 is used after the loop.
    let steps = [
        Step(Flow::Next, vec![], vec![3]),
        Step(Flow::Next, vec![0], vec![2]),
        Step(Flow::Next, vec![2, 1], vec![1]),
        Step(Flow::Branch(1), vec![], vec![]),
        Step(Flow::Next, vec![3], vec![]),
        Step(Flow::End, vec![], vec![]),
    ];
    let (_, live) = build(&steps);
    let counts: Vec<u16> = live.before.iter().map(|live| live.vgprs).collect();
    assert_eq!(counts, [2, 3, 4, 3, 1, 0]);
    assert_eq!(live.peak(), Some(2));
}

#[test]
fn files_are_counted_apart() {
    let cfg = Cfg::from_flow(2, |i| if i == 0 { Flow::Next } else { Flow::End }, |i| i as u32);
    let ranges = [
        RegRange::new(RegFile::Vgpr, 254, 4),
        RegRange::new(RegFile::Agpr, 0, 16),
        RegRange::new(RegFile::Sgpr, 8, 4),
        RegRange::new(RegFile::Vcc, 0, 2),
    ];
    let live = Liveness::of_effects(&[Reads(ranges.to_vec()), Reads(Vec::new())], &cfg);
    assert_eq!(live.before, [Live { vgprs: 2, agprs: 16, sgprs: 4 }, Live::default()]);
    assert_eq!(live.before[0].vectors(), 18);
    assert_eq!(Liveness::default().peak(), None);
}

fn any_step(count: i32) -> impl Strategy<Value = Step> {
    let flow = prop_oneof![
        4 => Just(Flow::Next),
        2 => (-1..count + 1).prop_map(Flow::Jump),
        4 => (-1..count + 1).prop_map(Flow::Branch),
        1 => Just(Flow::End),
        1 => Just(Flow::Indirect),
    ];
    let registers = || prop::collection::vec(0..4u16, 0..3);
    (flow, registers(), registers()).prop_map(|(flow, reads, writes)| Step(flow, reads, writes))
}

proptest! {
    #[test]
    fn random_code_meets_the_definition(steps in (1..20i32).prop_flat_map(|n| prop::collection::vec(any_step(n), n as usize))) {
        let (_, live) = build(&steps);
        for i in 0..steps.len() {
            let expected = (0..4).filter(|&r| live_by_search(&steps, i, r)).count();
            prop_assert_eq!(usize::from(live.before[i].vgprs), expected, "before {}", i);
        }
    }
}
