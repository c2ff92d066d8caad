//! Waves of a workgroup take turns: what one stores, all others have loaded before.

use crate::device::*;
use rockhound_emu::{Launch, Memory};

#[test]
fn all_waves_load_before_one_stores() {
    let sums = |t: u32| 4 * 1000 * ((t + 64) % 256) + 6;
    // (kernel, first words of its memory, words behind them as they must be after it)
    let cases: [(&str, Vec<u32>, Vec<u32>); 2] = [
        ("shifts", vec![0; 256], (0..256).map(sums).collect()),
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
