//! Small graphs by hand, and random graphs against the definitions.

use super::*;
use proptest::prelude::*;

/// Builds the graph of instructions of 4 bytes each; targets are positions.
pub(crate) fn graph(flows: &[Flow]) -> Cfg {
    let scaled = |i: usize| match flows[i] {
        Flow::Jump(target) => Flow::Jump(target.saturating_mul(4)),
        Flow::Branch(target) => Flow::Branch(target.saturating_mul(4)),
        other => other,
    };
    Cfg::from_flow(flows.len(), scaled, |i| i as u32 * 4)
}

/// One flow per word: `.` next, `j3` jump, `b3` branch, `i` indirect, `bi` branch indirect, `e` end.
fn flows(text: &str) -> Vec<Flow> {
    let flow = |word: &str| match word {
        "." => Flow::Next,
        "e" => Flow::End,
        "i" => Flow::Indirect,
        "bi" => Flow::BranchIndirect,
        _ if word.starts_with('j') => Flow::Jump(word[1..].parse().unwrap()),
        _ => Flow::Branch(word[1..].parse().unwrap()),
    };
    text.split_whitespace().map(flow).collect()
}

/// `first..end->succs` per block, then `header(blocks)` per loop with its parent, `!` when irreducible.
fn describe(cfg: &Cfg) -> (String, String) {
    let blocks = (0..cfg.blocks.len() as u32).map(|b| {
        let range = &cfg.blocks[b as usize].insts;
        format!("{}..{}->{:?}", range.start, range.end, cfg.succs(b))
    });
    let loops = (0..cfg.loops.len() as u32).map(|id| {
        let found = &cfg.loops[id as usize];
        let blocks: Vec<u32> = cfg.loop_blocks(id).collect();
        let mark = if found.irreducible { "!" } else { "" };
        let parent = found.parent.map_or(String::new(), |p| format!("<{p}"));
        format!("{}{mark}{blocks:?}{:?}{parent}", found.header, found.latches)
    });
    (blocks.collect::<Vec<_>>().join(" "), loops.collect::<Vec<_>>().join(" "))
}

#[test]
fn small_graphs() {
    let cases = [
        ("nothing", "", "", ""),
        ("straight", ". . e", "0..3->[]", ""),
        ("if", ". b3 . e", "0..2->[1, 2] 2..3->[2] 3..4->[]", ""),
        ("branch to next is one edge", "b1 e", "0..1->[1] 1..2->[]", ""),
        ("one block loop", ". . b1 e", "0..1->[1] 1..3->[2, 1] 3..4->[]", "1[1][1]"),
        ("loop at the entry", "b0 e", "0..1->[1, 0] 1..2->[]", "0[0][0]"),
        (
            "nested",
            ". . . b2 b1 e",
            "0..1->[1] 1..2->[2] 2..4->[3, 2] 4..5->[4, 1] 5..6->[]",
            "1[1, 2, 3][3] 2[2][2]<0",
        ),
        (
            "two latches make one loop",
            ". b3 j0 . b0 e",
            "0..2->[1, 2] 2..3->[0] 3..5->[3, 0] 5..6->[]",
            "0[0, 1, 2][1, 2]",
        ),
        ("two loops in a row", "b0 b1 e", "0..1->[1, 0] 1..2->[2, 1] 2..3->[]", "0[0][0] 1[1][1]"),
        (
            "two entries",
            "b3 . . . b1 e",
            "0..1->[1, 3] 1..3->[3] 3..5->[4, 1] 5..6->[]"
                .replace("3]", "2]")
                .replace("[4, 1]", "[3, 1]")
                .leak(),
            "1![1, 2][2]",
        ),
        ("call falls through", ". . e", "0..3->[]", ""),
        ("indirect", "b2 i . e", "0..1->[1, 2] 1..2->[] 2..4->[]", ""),
        ("indirect branch", "bi . e", "0..1->[1] 1..3->[]", ""),
        ("outside", "b99 j-5", "0..1->[1] 1..2->[]", ""),
        (
            "rotated loop with its exit in the middle",
            "j2 . b4 j1 e",
            "0..1->[2] 1..2->[2] 2..3->[3, 4] 3..4->[1] 4..5->[]",
            "2[1, 2, 3][1]",
        ),
        (
            "dead code does not make a loop irreducible",
            "j3 . j4 . b3 e",
            "0..1->[2] 1..3->[3] 3..4->[3] 4..5->[4, 2] 5..6->[]",
            "2[2, 3][3]",
        ),
    ];
    for (name, text, blocks, loops) in cases {
        let cfg = graph(&flows(text));
        assert_eq!(describe(&cfg), (blocks.to_string(), loops.to_string()), "{name}");
    }
}

#[test]
fn what_is_unknown_is_said() {
    assert!(graph(&flows("i e")).has_indirect);
    assert!(graph(&flows("bi e")).has_indirect);
    assert!(graph(&flows("b7 e")).has_outside);
    let plain = graph(&flows("b1 e"));
    assert!(!plain.has_indirect && !plain.has_outside);
}

#[test]
fn positions_find_their_block_and_loop() {
    let cfg = graph(&flows(". . . b2 b1 e"));
    let found: Vec<_> = (0..6).map(|i| (cfg.block_of(i), cfg.loop_of(i), cfg.depth_of(i))).collect();
    let expected =
        [(0, None, 0), (1, Some(0), 1), (2, Some(1), 2), (2, Some(1), 2), (3, Some(0), 1), (4, None, 0)];
    assert_eq!(found, expected);
    assert_eq!(cfg.block_of(1000), 4);
    assert_eq!(cfg.loop_insts(0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(cfg.loop_own_insts(0).collect::<Vec<_>>(), [1, 4]);
    assert_eq!(cfg.innermost_loops().collect::<Vec<_>>(), [1]);
    assert_eq!(Cfg::default().block_of(3), 0);
    assert_eq!(Cfg::default().loop_of(3), None);
}

#[test]
fn long_and_hostile_graphs_end_soon() {
    let size = 200_000;
    let ladder: Vec<Flow> = (0..size).map(|i| Flow::Branch(size - 1 - i)).collect();
    let nest: Vec<Flow> =
        (0..size).map(|i| if i < size / 2 { Flow::Next } else { Flow::Branch(size - 1 - i) }).collect();
    let noise: Vec<Flow> = (0..size).map(|i| Flow::Branch((i as i64 * 7919 % size as i64) as i32)).collect();
    for flows in [ladder, nest, noise] {
        let cfg = graph(&flows);
        assert!(!cfg.loops.is_empty());
        assert_eq!(cfg.order().len(), cfg.blocks.len());
    }
}

fn any_flow(count: i32) -> impl Strategy<Value = Flow> {
    prop_oneof![
        3 => Just(Flow::Next),
        2 => (-1..count + 1).prop_map(Flow::Jump),
        4 => (-1..count + 1).prop_map(Flow::Branch),
        1 => Just(Flow::End),
    ]
}

/// Blocks reachable from `from` without passing `without`.
fn reach(cfg: &Cfg, from: u32, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) != without && !std::mem::replace(&mut seen[block as usize], true) {
            work.extend(cfg.succs(block));
        }
    }
    seen
}

proptest! {
    #[test]
    fn random_graphs_meet_the_definitions(flows in (1..24i32).prop_flat_map(|n| prop::collection::vec(any_flow(n), n as usize))) {
        let cfg = graph(&flows);
        let count = cfg.blocks.len() as u32;
        let alive = reach(&cfg, 0, None);
        for a in (0..count).filter(|&a| alive[a as usize]) {
            let without = reach(&cfg, 0, Some(a));
            for b in (0..count).filter(|&b| alive[b as usize]) {
                prop_assert_eq!(cfg.dominates(a, b), !without[b as usize], "{} dominates {}", a, b);
            }
        }
        // Natural loops: every edge to a dominator makes its target a header, whose body is what reaches the
        // latch without passing the header.
        for header in (0..count).filter(|&b| alive[b as usize]) {
            let latches: Vec<u32> =
                cfg.preds(header).iter().copied().filter(|&p| alive[p as usize] && cfg.dominates(header, p)).collect();
            if latches.is_empty() {
                continue;
            }
            let found = cfg.loops.iter().position(|one| one.header == header);
            prop_assert!(found.is_some(), "no loop at {}", header);
            let id = found.unwrap_or(0) as u32;
            let mut sorted = latches.clone();
            sorted.sort_unstable();
            let one = &cfg.loops[id as usize];
            if one.irreducible {
                // A second way into a larger cycle with the same header: both are one loop.
                prop_assert!(sorted.iter().all(|latch| one.latches.contains(latch)));
                continue;
            }
            prop_assert_eq!(&one.latches, &sorted);
            for block in (0..count).filter(|&b| alive[b as usize]) {
                let from = reach(&cfg, block, Some(header));
                let natural = block == header
                    || cfg.dominates(header, block) && latches.iter().any(|&l| from[l as usize]);
                prop_assert_eq!(cfg.loop_contains(id, block), natural, "loop {} block {}", header, block);
            }
        }
        for (id, one) in cfg.loops.iter().enumerate().filter(|(_, one)| alive[one.header as usize]) {
            let dominated = cfg.loop_blocks(id as u32).all(|b| !alive[b as usize] || cfg.dominates(one.header, b));
            prop_assert_eq!(one.irreducible, !dominated);
            if let Some(parent) = one.parent {
                prop_assert!((parent as usize) < id);
                prop_assert_eq!(one.depth, cfg.loops[parent as usize].depth + 1);
                prop_assert!(cfg.loop_contains(parent, one.header));
            }
        }
        // A block is in some loop exactly when it can come back to itself.
        for block in 0..count {
            let cyclic = cfg.succs(block).iter().any(|&next| reach(&cfg, next, None)[block as usize]);
            prop_assert_eq!(cfg.blocks[block as usize].innermost.is_some(), cyclic, "block {}", block);
        }
    }
}
