//! Rarely used instructions, through compiler builtins; results are compared with the host's computation.

use crate::device::*;
use rockhound_emu::Memory;

const WAVE: [u32; 3] = [64, 1, 1];
const ONE: [u32; 3] = [1, 1, 1];

#[test]
fn tiles_are_read_column_by_column() {
    let Some(bytes) = compile("cdna4.hip", "gfx950") else { return };
    // Element k of lane m is element m of row k; the rows of a group of 16 lanes are consecutive.
    let expected = |per_lane: usize, lane: usize, k: usize| lane / 16 * 16 * per_lane + 16 * k + lane % 16;
    let mut memory = Memory::new();
    let out = memory.allocate("out", 64 * 8);
    launch(&program(&bytes, "turn16"), &mut memory, ONE, WAVE, Arguments::default().u64(out)).unwrap();
    let found = memory.read(out, 64 * 8).unwrap();
    for lane in 0..64 {
        for k in 0..4 {
            let at = 2 * (4 * lane + k);
            let found = usize::from(u16::from_le_bytes([found[at], found[at + 1]]));
            assert_eq!(found, expected(4, lane, k), "lane {lane}, element {k}");
        }
    }
    launch(&program(&bytes, "turn8"), &mut memory, ONE, WAVE, Arguments::default().u64(out)).unwrap();
    let found = memory.read(out, 64 * 8).unwrap();
    for lane in 0..64 {
        for k in 0..8 {
            assert_eq!(
                usize::from(found[8 * lane + k]),
                expected(8, lane, k) & 0xff,
                "lane {lane}, element {k}"
            );
        }
    }
}

#[test]
fn six_bits_hold_what_they_can() {
    let Some(bytes) = compile("cdna4.hip", "gfx950") else { return };
    let mut memory = Memory::new();
    // Multiples of an eighth up to 7.5, times 4; the scale of 4 brings all into the format's range.
    let values: Vec<f32> = (0..2048).map(|n| 4.0 * ((n * 37 % 121) as f32 / 8.0 - 7.5)).collect();
    let input = memory.allocate_with("in", &f32s(values.iter().copied()));
    let out = memory.allocate("out", 4 * 2048);
    let arguments = Arguments::default().u64(input).u64(out).u32(4f32.to_bits());
    launch(&program(&bytes, "there_and_back"), &mut memory, ONE, WAVE, arguments).unwrap();
    let found = read_f32s(&memory, out, 2048);
    for lane in 0..64 {
        for n in 0..32 {
            // The two halves of the input alternate in the packed numbers.
            let value = values[32 * lane + n / 2 + 16 * (n % 2)] / 4.0;
            // Unit in the last place: an eighth below 2, a quarter below 4, a half above.
            let unit = match value.abs() {
                x if x < 2.0 => 0.125,
                x if x < 4.0 => 0.25,
                _ => 0.5,
            };
            let expected = 4.0 * ((value / unit).round_ties_even() * unit).clamp(-7.5, 7.5);
            assert_eq!(found[32 * lane + n], expected, "lane {lane}, number {n}: {value}");
        }
    }
}

#[test]
fn four_sums_at_a_time() {
    for target in ["gfx90a", "gfx942", "gfx950"] {
        let Some(bytes) = compile("cdna4.hip", target) else { return };
        let mut memory = Memory::new();
        let windows: Vec<u64> = (0..64u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let references: Vec<u32> = (0..64u32).map(|n| n.wrapping_mul(0x85eb_ca6b) & 0xff00_ffff).collect();
        let added: Vec<u32> = (0..256).map(|n| n * 1000).collect();
        let window = memory
            .allocate_with("window", &windows.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
        let reference = memory.allocate_with("reference", &u32s(references.iter().copied()));
        let sums = memory.allocate_with("sums", &u32s(added.iter().copied()));
        let arguments = Arguments::default().u64(window).u64(reference).u64(sums);
        launch(&program(&bytes, "sums"), &mut memory, ONE, WAVE, arguments).unwrap();
        let found = read_u32s(&memory, sums, 256);
        for lane in 0..64 {
            let bytes = windows[lane].to_le_bytes();
            for sum in 0..4 {
                let difference: u32 = references[lane]
                    .to_le_bytes()
                    .iter()
                    .enumerate()
                    .filter(|(_, reference)| **reference != 0)
                    .map(|(at, reference)| u32::from(bytes[sum + at].abs_diff(*reference)))
                    .sum();
                assert_eq!(
                    found[4 * lane + sum],
                    added[4 * lane + sum] + difference,
                    "{target} {lane} {sum}"
                );
            }
        }
    }
}

#[test]
fn typed_buffers_convert_on_the_way() {
    for target in ["gfx90a", "gfx942", "gfx950"] {
        let Some(bytes) = compile("cdna4.hip", target) else { return };
        let mut memory = Memory::new();
        let values: Vec<u8> = (0..=255).collect();
        let input = memory.allocate_with("in", &values);
        let output = memory.allocate("out", 512);
        let arguments = Arguments::default().u64(input).u64(output);
        launch(&program(&bytes, "formats"), &mut memory, ONE, WAVE, arguments).unwrap();
        let found = memory.read(output, 512).unwrap();
        // 0, 1/255, 51/255 = 0.2, 1 as f16.
        for (value, half) in [(0usize, 0u16), (1, 0x1c04), (51, 0x3266), (255, 0x3c00)] {
            let got = u16::from_le_bytes([found[2 * value], found[2 * value + 1]]);
            assert_eq!(got, half, "{target} {value}: {got:#x}");
        }
    }
}
