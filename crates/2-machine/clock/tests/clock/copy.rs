//! A copy of doubles through the caches, compared with what was recorded of one on MI200 and MI300X.

use arch::Model;
use mem::{AccessKind, Count, Lanes, Policy, Tally, Trace};
use rockhound_clock::{Acquire, Gpu, Grid};
use std::sync::Arc;

const A: u64 = 0x7f00_0000_0000;
const C: u64 = 0x7f00_1000_0000;
const ARGUMENTS: u64 = 0x7e00_0000_0000;

/// Runs the copy: each wave loads its arguments, 64 doubles, and stores them.
fn copy(gpu: &mut Gpu, groups: u64, batch: u64) -> Tally {
    copy_of(gpu, Grid { groups, ..Grid::default() }, batch)
}

/// The same with more said of its grid.
fn copy_of(gpu: &mut Gpu, grid: Grid, batch: u64) -> Tally {
    let (groups, arguments) = (grid.groups, ARGUMENTS..ARGUMENTS + 64);
    let grid = Grid { groups_per_unit: 8, arguments: Vec::from([arguments]), entry: 0x4000, ..grid };
    gpu.begin(grid, Arc::new([]));
    let shape = gpu.shape().clone();
    for first in (0..groups).step_by(batch as usize) {
        let mut trace = Trace::new(&shape);
        for group in first..(first + batch).min(groups) {
            trace.begin();
            for wave in 0..4 {
                trace.wave();
                for (offset, bytes) in [(24, 4), (0, 8), (16, 8), (44, 4)] {
                    trace.scalar(wave, AccessKind::Load, ARGUMENTS + offset, bytes);
                }
                for (slot, base, kind) in [(0, A, AccessKind::Load), (1, C, AccessKind::Store)] {
                    let start = base + 8 * (256 * group + 64 * u64::from(wave));
                    let addresses = std::array::from_fn(|lane| start + 8 * lane as u64);
                    trace.vector(wave, slot, Policy::plain(kind), &Lanes::new(&addresses, u64::MAX, 8));
                }
            }
        }
        gpu.push(trace.finish());
    }
    let code = 0x4000..0x4070;
    gpu.finish(std::slice::from_ref(&code)).tally
}

#[test]
fn counts_are_as_recorded() {
    use Count::*;
    // What was recorded and does not vary. Code and arguments are read besides the copy's own lines.
    let cases = [
        (L1Read, [131_072, 65_536]),
        (L1Write, [131_072, 131_072]),
        (L1ReadRw, [131_072, 65_536]),
        (TranslationMiss, [832, 2432]),
        (ScalarMiss, [56, 160]),
        (ScalarDuplicate, [1680, 4800]),
        (ScalarHit, [63_800, 60_576]),
        (CodeMiss, [56, 160]),
        (CodeRequest, [168, 2880]),
        (L2Write, [131_072, 131_072]),
        (L2Nc, [56, 0]),
        (L2Uc, [0, 0]),
        (FabricRead128, [0, 65_536]),
        (FabricReadUncached, [0, 0]),
        (FabricWrite32, [0, 0]),
    ];
    for (column, model) in ["mi210", "mi300x"].into_iter().enumerate() {
        let mut gpu = Gpu::new(Model::by_name(model).unwrap());
        let tally = copy(&mut gpu, 4096, 8);
        for (count, request_type) in cases {
            assert_eq!(tally.get(count), request_type[column], "{model} {count:?}");
        }
        if model == "mi300x" {
            let cases = [
                (L2Read, 68_576),
                (L2Hit, 68_496),
                (L2Miss, 131_152),
                (FabricRead64, 152),
                (FabricWrite64, 131_072),
                (WritebackEvict, 0),
                (WritebackFlush, 65_536),
            ];
            for (count, request_type) in cases {
                assert_eq!(tally.get(count), request_type, "{model} {count:?}");
            }
        }
        let requests = [L2Read, L2Write, L2Atomic].map(|count| tally.get(count)).iter().sum::<u64>();
        assert_eq!(tally.get(L2Hit) + tally.get(L2Miss), requests);
        // Channels get the same share.
        let writes = (0..tally.channels()).map(|channel| tally.of_channel(L2Write, channel));
        assert!(writes.clone().min() == writes.max(), "{model}");
    }
}

#[test]
fn a_second_dispatch_misses_all_but_its_code() {
    let mut gpu = Gpu::new(Model::by_name("mi210").unwrap());
    let first = copy(&mut gpu, 4096, 8);
    let second = copy(&mut gpu, 4096, 8);
    for count in [Count::L2Miss, Count::TranslationMiss, Count::ScalarMiss, Count::Evict] {
        assert!(second.get(count) > 0 && first.get(count).abs_diff(second.get(count)) < 8, "{count:?}");
    }
    assert_eq!(second.get(Count::CodeRequest), 0);
    // As recorded, another GPU keeps no code, but what is translated.
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    let (first, second) = (copy(&mut gpu, 4096, 8), copy(&mut gpu, 4096, 8));
    for (count, request_type) in [(Count::CodeRequest, [2880, 2880]), (Count::TranslationMiss, [2432, 0])] {
        assert_eq!([first.get(count), second.get(count)], request_type, "{count:?}");
    }
}

#[test]
fn lines_visible_to_the_host_are_written_back() {
    use Count::*;
    let (groups, half_lines) = (4096, 131_072);
    for model in ["mi210", "mi300x"] {
        let mut gpu = Gpu::new(Model::by_name(model).unwrap());
        for released in [true, false, true] {
            let tally = copy_of(&mut gpu, Grid { groups, released, ..Grid::default() }, 8);
            let [written, early, late] =
                [FabricWrite64, WritebackEvict, WritebackFlush].map(|count| tally.get(count));
            // An MI200, which has one L2, leaves lines dirty, half of those that it keeps at least.
            let all = released || model == "mi300x";
            assert_eq!(all, written == half_lines, "{model}: {written}");
            assert_eq!(2 * (early + late), written, "{model}");
            assert_eq!(all, late > 0, "{model}: {late}");
            assert!(early + late <= half_lines / 2 && early <= half_lines / 2 - 16_384 * u64::from(!all));
        }
    }
}

#[test]
fn lines_that_are_only_read_stay_in_a_kept_l2() {
    // 4 MiB are read and 4 MiB are written: both fit into the L2s of all XCDs.
    let (groups, lines) = (2048, 32_768);
    for (acquire, read) in [(Acquire::Recorded, lines), (Acquire::Invalidated, lines), (Acquire::Kept, 0)] {
        let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
        copy(&mut gpu, groups, 8);
        let tally = copy_of(&mut gpu, Grid { groups, acquire, ..Grid::default() }, 8);
        assert_eq!(tally.get(Count::FabricRead128), read, "{acquire:?}");
    }
}

#[test]
fn a_line_that_another_xcd_wrote_is_read_again() {
    // The first and the last dispatch read the same lines on XCD 0. A dispatch between them writes the lines
    // on XCD 1.
    let read = |writes: bool| {
        let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
        let mut dispatch = |groups: u64, from: u64, kind: AccessKind| {
            gpu.begin(
                Grid { groups, groups_per_unit: 8, acquire: Acquire::Kept, ..Grid::default() },
                Arc::new([]),
            );
            let mut trace = Trace::new(&gpu.shape().clone());
            for group in 0..groups {
                trace.begin();
                trace.wave();
                if group == from {
                    let addresses = std::array::from_fn(|lane| A + 8 * lane as u64);
                    trace.vector(0, 0, Policy::plain(kind), &Lanes::new(&addresses, u64::MAX, 8));
                }
            }
            gpu.push(trace.finish());
            gpu.finish(&[]).tally.get(Count::FabricRead128)
        };
        assert_eq!(dispatch(1, 0, AccessKind::Load), 4);
        if writes {
            dispatch(2, 1, AccessKind::Store);
        }
        dispatch(1, 0, AccessKind::Load)
    };
    assert_eq!([read(false), read(true)], [0, 4]);
}

#[test]
fn only_the_order_of_workgroups_counts() {
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    let first = copy(&mut gpu, 4097, 1);
    let mut gpu = Gpu::new(Model::by_name("mi300x").unwrap());
    assert_eq!(first, copy(&mut gpu, 4097, 100));
}
