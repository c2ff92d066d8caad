//! Waves of a workgroup run as if at the same time: what one stores or loads, the others have loaded or stored before.

use crate::device::*;
use rockhound_emu::{Launch, Memory};

#[test]
fn all_waves_load_before_one_stores() {
    let sums = |t: u32| 4 * 1000 * ((t + 64) % 256) + 6;
    // (kernel, first words of its memory, words behind them as they must be after it)
    let unlike = |t: u32| 1000 * ((t + 64) % 256) + 28;
    let cases: [(&str, Vec<u32>, Vec<u32>); 4] = [
        ("shifts", vec![0; 256], (0..256).map(sums).collect()),
        ("stored_before", vec![0; 256], (0..256).map(sums).collect()),
        ("unlike", vec![0; 256], (0..256).map(unlike).collect()),
        ("follows", vec![2, 0, 40], vec![41, 0, 40]),
    ];
    for target in ["gfx90a", "gfx942", "gfx950"] {
        let Some(bytes) = compile("phases.hip", target) else { return };
        for (kernel, before, expected) in &cases {
            for threads in [1, 2] {
                let mut memory = Memory::new();
                let a = memory.allocate_with("a", &u32s(before.iter().copied()));
                let shape = Launch { threads, ..Launch::new([1, 1, 1], [256, 1, 1], 0) };
                let program = program(&bytes, kernel);
                launch_with(&program, &mut memory, shape, Arguments::default().u64(a)).unwrap();
                assert_eq!(read_u32s(&memory, a, expected.len()), *expected, "{kernel} on {target}");
            }
        }
    }
}

#[test]
fn overlapping_loads_into_the_lds_land_in_order() {
    let second = |at: usize| if at < 496 { (256 + at - 240) as u32 } else { 0 };
    let expected: Vec<_> = (0..512).map(|at| if at < 240 { at as u32 } else { second(at) }).collect();
    for target in ["gfx942", "gfx950"] {
        let Some(bytes) = compile("phases.hip", target) else { return };
        let program = program(&bytes, "overlapping");
        let mut memory = Memory::new();
        let a = memory.allocate_with("a", &u32s(0..512));
        let b = memory.allocate("b", 4 * 512);
        launch(&program, &mut memory, [1, 1, 1], [256, 1, 1], Arguments::default().u64(a).u64(b)).unwrap();
        assert_eq!(read_u32s(&memory, b, 512), expected, "{target}");
    }
}
