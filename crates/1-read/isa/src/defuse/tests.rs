//! Definitions and uses on small code, and reaching definitions against a search over single steps.

use super::*;
use crate::RegFile;
use crate::cfg::Flow;
use proptest::prelude::*;

/// One instruction: how control goes on, registers read, registers written.
#[derive(Clone, Debug)]
struct Step(Flow, Vec<u16>, Vec<u16>);

fn v(first: u16) -> RegRange {
    RegRange::new(RegFile::Vgpr, first, 1)
}

fn build(steps: &[Step]) -> (Cfg, DefUse) {
    let cfg = Cfg::from_flow(steps.len(), |i| steps[i].0, |i| i as u32);
    let visit = |list: &[u16], f: &mut dyn FnMut(RegRange)| list.iter().for_each(|&r| f(v(r)));
    let defuse = DefUse {
        uses: Index::build(steps.len(), |i, f| visit(&steps[i].1, f)),
        defs: Index::build(steps.len(), |i, f| visit(&steps[i].2, f)),
    };
    (cfg, defuse)
}

fn loop_code() -> Vec<Step> {
    vec![
        Step(Flow::Next, vec![], vec![1]),     // 0: v1 =
        Step(Flow::Next, vec![], vec![2]),     // 1: v2 =
        Step(Flow::Next, vec![1], vec![3]),    // 2: v3 = v1      loop
        Step(Flow::Next, vec![3], vec![1, 4]), // 3: v1, v4 = v3
        Step(Flow::Next, vec![4, 2], vec![3]), // 4: v3 = v4, v2
        Step(Flow::Branch(2), vec![3], vec![]),
        Step(Flow::End, vec![1], vec![]),
    ]
}

#[test]
fn questions_inside_a_block() {
    let (cfg, defuse) = build(&loop_code());
    assert_eq!(defuse.last_def_before(&cfg, 4, v(3)), Some(2));
    assert_eq!(defuse.last_def_before(&cfg, 2, v(3)), None);
    assert_eq!(defuse.last_def_before(&cfg, 4, v(2)), None);
    assert_eq!(defuse.last_def_before(&cfg, 5, RegRange::new(RegFile::Vgpr, 1, 4)), Some(4));
    assert_eq!(defuse.next_def_after(&cfg, 2, v(3)), Some(4));
    assert_eq!(defuse.next_def_after(&cfg, 4, v(3)), None);
    assert_eq!(defuse.next_use_after(&cfg, 2, v(3)), Some(3));
    assert_eq!(defuse.uses_within_block(&cfg, 2, v(3)), [3]);
    assert_eq!(defuse.uses_within_block(&cfg, 4, v(3)), [5]);
    assert_eq!(defuse.uses_within_block(&cfg, 3, RegRange::new(RegFile::Vgpr, 1, 4)), [4]);
    assert_eq!(defuse.defs_of(v(3)), [2, 4]);
    assert_eq!(defuse.uses_of(RegRange::new(RegFile::Vgpr, 1, 2)), [2, 4, 6]);
}

#[test]
fn questions_across_blocks() {
    let (cfg, defuse) = build(&loop_code());
    let reaching = |inst, r, within| defuse.reaching(&cfg, inst, v(r), within);
    assert_eq!(reaching(2, 1, None), Reaching { defs: vec![0, 3], from_outside: false });
    assert_eq!(reaching(2, 1, Some(0)), Reaching { defs: vec![3], from_outside: true });
    assert_eq!(reaching(4, 2, None).single(), Some(1));
    assert_eq!(reaching(4, 2, Some(0)), Reaching { defs: vec![], from_outside: true });
    assert_eq!(reaching(6, 1, None).single(), Some(3));
    assert_eq!(reaching(1, 7, None), Reaching { defs: vec![], from_outside: true });
    assert_eq!(reaching(99, 7, None).single(), None);
}

/// Definitions of `r` before `at` by walking single steps backwards.
fn search(steps: &[Step], at: usize, r: u16) -> Reaching {
    let count = steps.len() as i32;
    let nexts = |i: i32| match steps[i as usize].0 {
        Flow::Next | Flow::BranchIndirect => vec![i + 1],
        Flow::Branch(target) => vec![i + 1, target],
        Flow::Jump(target) => vec![target],
        Flow::Indirect | Flow::End => vec![],
    };
    let mut result = Reaching::default();
    let mut seen = vec![false; steps.len()];
    let mut work = vec![at as i32];
    while let Some(i) = work.pop() {
        let preds: Vec<i32> = (0..count).filter(|&p| nexts(p).contains(&i)).collect();
        result.from_outside |= i == 0 || preds.is_empty();
        for p in preds {
            if steps[p as usize].2.contains(&r) {
                result.defs.push(p as u32);
            } else if !std::mem::replace(&mut seen[p as usize], true) {
                work.push(p);
            }
        }
    }
    result.defs.sort_unstable();
    result.defs.dedup();
    result
}

fn any_step(count: i32) -> impl Strategy<Value = Step> {
    let flow = prop_oneof![
        5 => Just(Flow::Next),
        2 => (-1..count + 1).prop_map(Flow::Jump),
        4 => (-1..count + 1).prop_map(Flow::Branch),
        1 => Just(Flow::End),
    ];
    let registers = || prop::collection::vec(0..3u16, 0..2);
    (flow, registers(), registers()).prop_map(|(flow, reads, writes)| Step(flow, reads, writes))
}

proptest! {
    #[test]
    fn reaching_definitions_meet_the_definition(steps in (1..20i32).prop_flat_map(|n| prop::collection::vec(any_step(n), n as usize))) {
        let (cfg, defuse) = build(&steps);
        for i in 0..steps.len() {
            for r in 0..3 {
                prop_assert_eq!(defuse.reaching(&cfg, i as u32, v(r), None), search(&steps, i, r), "v{} before {}", r, i);
            }
        }
    }
}
