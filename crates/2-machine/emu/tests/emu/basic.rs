//! Small kernels compiled by clang for every target; results are compared with the host's computation.

use crate::device::*;
use rockhound_emu::{Cause, Launch, Memory};

const TARGETS: [&str; 3] = ["gfx90a", "gfx942", "gfx950"];

/// Compiles for every target and runs a test on each.
fn on_all(test: impl Fn(&[u8])) {
    for target in TARGETS {
        let Some(bytes) = compile("basic.hip", target) else { return };
        println!("{target}");
        test(&bytes);
    }
}

#[test]
fn copy_stops_at_the_end() {
    on_all(|bytes| {
        let program = program(bytes, "copy");
        let mut memory = Memory::new();
        let n = 1000;
        let a = memory.allocate_with("a", &f32s((0..n).map(|i| i as f32)));
        let b = memory.allocate("b", 4 * n as usize);
        let arguments = Arguments::default().u64(a).u64(b).u32(n);
        let (summary, _) = launch(&program, &mut memory, [4, 1, 1], [256, 1, 1], arguments).unwrap();
        assert_eq!((summary.workgroups, summary.waves), (4, 16));
        assert_eq!(read_f32s(&memory, b, n as usize), (0..n).map(|i| i as f32).collect::<Vec<_>>());
    });
}

#[test]
fn daxpy_is_fused() {
    on_all(|bytes| {
        let program = program(bytes, "daxpy");
        let mut memory = Memory::new();
        let n = 777usize;
        let xs: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
        let ys: Vec<f64> = (0..n).map(|i| 1.0 / (i as f64 + 1.0)).collect();
        let x = memory.allocate_with("x", &f64s(xs.iter().copied()));
        let y = memory.allocate_with("y", &f64s(ys.iter().copied()));
        let arguments = Arguments::default().f64(1.7).u64(x).u64(y).u32(n as u32);
        launch(&program, &mut memory, [4, 1, 1], [256, 1, 1], arguments).unwrap();
        let expected: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| x.mul_add(1.7, *y)).collect();
        assert_eq!(read_f64s(&memory, y, n), expected);
    });
}

#[test]
fn lds_and_barriers_reduce() {
    on_all(|bytes| {
        let program = program(bytes, "reduce");
        let mut memory = Memory::new();
        let values: Vec<u32> = (0..2048u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let input = memory.allocate_with("in", &u32s(values.iter().copied()));
        let out = memory.allocate("out", 32);
        let arguments = Arguments::default().u64(input).u64(out);
        launch(&program, &mut memory, [8, 1, 1], [256, 1, 1], arguments).unwrap();
        let sum = |part: &[u32]| part.iter().fold(0u32, |sum, v| sum.wrapping_add(*v));
        assert_eq!(read_u32s(&memory, out, 8), values.chunks(256).map(sum).collect::<Vec<_>>());
    });
}

#[test]
fn atomics_count() {
    on_all(|bytes| {
        let program = program(bytes, "histogram");
        let mut memory = Memory::new();
        let data: Vec<u8> = (0..5000u32).map(|i| ((i * i) >> 3) as u8).collect();
        let input = memory.allocate_with("in", &data);
        let bins = memory.allocate("bins", 1024);
        let arguments = Arguments::default().u64(input).u64(bins).u32(5000);
        launch(&program, &mut memory, [4, 1, 1], [256, 1, 1], arguments).unwrap();
        let mut expected = vec![0; 256];
        data.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
        assert_eq!(read_u32s(&memory, bins, 256), expected);
    });
}

#[test]
fn two_dimensions_transpose() {
    on_all(|bytes| {
        let program = program(bytes, "transpose");
        let mut memory = Memory::new();
        let n = 64usize;
        let input = memory.allocate_with("in", &f32s((0..n * n).map(|i| i as f32)));
        let out = memory.allocate("out", 4 * n * n);
        let arguments = Arguments::default().u64(input).u64(out).u32(n as u32);
        launch(&program, &mut memory, [4, 4, 1], [16, 16, 1], arguments).unwrap();
        let expected: Vec<f32> = (0..n * n).map(|i| (i % n * n + i / n) as f32).collect();
        assert_eq!(read_f32s(&memory, out, n * n), expected);
    });
}

#[test]
fn divergent_loops_end() {
    on_all(|bytes| {
        let program = program(bytes, "steps");
        let mut memory = Memory::new();
        let out = memory.allocate("out", 4 * 512);
        launch(&program, &mut memory, [2, 1, 1], [256, 1, 1], Arguments::default().u64(out)).unwrap();
        let steps = |mut v: u64| {
            let mut steps = 0;
            while v != 1 {
                v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
                steps += 1;
            }
            steps
        };
        assert_eq!(read_u32s(&memory, out, 512), (1..=512).map(steps).collect::<Vec<u32>>());
    });
}

#[test]
fn scratch_belongs_to_the_lane() {
    on_all(|bytes| {
        let program = program(bytes, "scratch");
        let mut memory = Memory::new();
        let order: Vec<u32> = (0..32).map(|k| (k * 7 + 3) % 32).collect();
        let input = memory.allocate_with("order", &u32s(order.iter().copied()));
        let out = memory.allocate("out", 4 * 128);
        launch(&program, &mut memory, [1, 1, 1], [128, 1, 1], Arguments::default().u64(input).u64(out))
            .unwrap();
        let expected = (0..128u32).map(|i| {
            let mut values = [0u32; 32];
            (0..32).for_each(|k| values[order[k as usize] as usize] = k * i);
            (0..32).fold(0u32, |sum, k| sum.wrapping_mul(31).wrapping_add(values[(k + i) as usize & 31]))
        });
        assert_eq!(read_u32s(&memory, out, 128), expected.collect::<Vec<_>>());
    });
}

#[test]
fn generic_pointers_reach_all_spaces() {
    on_all(|bytes| {
        let program = program(bytes, "generic");
        let mut memory = Memory::new();
        let values: Vec<u32> = (0..64).map(|i| i * 5 + 1).collect();
        let input = memory.allocate_with("in", &u32s(values.iter().copied()));
        let out = memory.allocate("out", 256);
        launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], Arguments::default().u64(input).u64(out))
            .unwrap();
        let all: u32 = values.iter().sum();
        let expected = (0..64).map(|t| {
            let own: u32 = (0..8).map(|k| values[(t + k) & 63]).sum();
            (all + 3000 * all).wrapping_add(own.wrapping_mul(1_000_000))
        });
        assert_eq!(read_u32s(&memory, out, 64), expected.collect::<Vec<_>>());
    });
}

#[test]
fn order_of_workgroups_is_fixed_where_it_matters() {
    on_all(|bytes| {
        let tickets = program(bytes, "tickets");
        let sum = program(bytes, "float_sum");
        let mut results = Vec::new();
        for threads in [1, 2, 5] {
            let mut memory = Memory::new();
            let counter = memory.allocate("counter", 4);
            let out = memory.allocate("out", 4 * 4096);
            let total = memory.allocate("total", 4);
            let input = memory.allocate_with("in", &f32s((0..4096).map(|i| 1.0 / (i as f32 + 0.5))));
            let shape = || Launch { threads, ..Launch::new([16, 1, 1], [256, 1, 1], 0) };
            launch_with(&tickets, &mut memory, shape(), Arguments::default().u64(counter).u64(out)).unwrap();
            let (_, counts) =
                launch_with(&sum, &mut memory, shape(), Arguments::default().u64(total).u64(input)).unwrap();
            results.push((read_u32s(&memory, out, 4096), read_u32s(&memory, total, 1), counts));
        }
        let mut seen = results[0].0.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..4096).collect::<Vec<_>>());
        assert!(results.iter().all(|result| *result == results[0]));
    });
}

#[test]
fn division_is_ieee() {
    on_all(|bytes| {
        let program = program(bytes, "division");
        let mut memory = Memory::new();
        let singles: Vec<f32> = (0..128u32)
            .map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9) ^ 0x1234_5678))
            .map(|v| if v.is_nan() { 1.5 } else { v })
            .collect();
        let doubles: Vec<f64> = (0..128u32).map(|i| f64::from(i * 7919 % 1009 + 1) / 3.0).collect();
        let a = memory.allocate_with("a", &f32s(singles.iter().copied()));
        let b = memory.allocate_with("b", &f64s(doubles.iter().copied()));
        let [q, r, i] = ["q", "r", "i"].map(|name| memory.allocate(name, 512));
        let arguments = Arguments::default().u64(a).u64(b).u64(q).u64(r).u64(i);
        launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], arguments).unwrap();
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let expected = (0..64).map(|t| singles[t] / singles[t + 64]).collect();
        assert_eq!(bits(read_f32s(&memory, q, 64)), bits(expected));
        let expected: Vec<f64> = (0..64).map(|t| doubles[t] / doubles[t + 64]).collect();
        assert_eq!(read_f64s(&memory, r, 64), expected);
        let whole = |t: usize| (doubles[t] * 1e6) as u32 / ((doubles[t + 64] * 77.0) as u32 + 1);
        assert_eq!(read_u32s(&memory, i, 64), (0..64).map(whole).collect::<Vec<_>>());
    });
}

#[test]
fn faults_name_their_place() {
    on_all(|bytes| {
        let mut memory = Memory::new();
        let out = memory.allocate("out", 16 * 4096);
        let fault = launch(
            &program(bytes, "out_of_bounds"),
            &mut memory,
            [2, 1, 1],
            [64, 1, 1],
            Arguments::default().u64(out),
        )
        .unwrap_err();
        assert_eq!((fault.lane, fault.wave, fault.workgroup), (Some(16), 0, [0, 0, 0]));
        assert!(fault.instruction.contains("store_dword"), "{fault}");
        let text = fault.to_string();
        assert!(text.contains("`out` (65536 bytes"), "{text}");

        let mut memory = Memory::new();
        let flag = memory.allocate("flag", 4);
        let shape = Launch { max_instructions: 10_000, ..Launch::new([1, 1, 1], [64, 1, 1], 0) };
        let fault =
            launch_with(&program(bytes, "endless"), &mut memory, shape, Arguments::default().u64(flag))
                .unwrap_err();
        let Cause::Endless { limit: 10_000, from, to, waits: false } = fault.cause else { panic!("{fault}") };
        assert!(from <= fault.address && fault.address <= to && from < to, "{fault}");
    });
}

#[test]
fn variables_and_function_pointers_are_loaded() {
    on_all(|bytes| {
        let program = program(bytes, "globals");
        let image = codeobj::Image::read(bytes).unwrap();
        let mut memory = Memory::new();
        let load = memory.load("image", &image);
        let out = memory.allocate("out", 256);
        let shape = Launch { load, max_instructions: 100_000, ..Launch::new([1, 1, 1], [64, 1, 1], 0) };
        launch_with(&program, &mut memory, shape, Arguments::default().u64(out)).unwrap();
        let table = [3u32, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
        let expected = (0..64usize).map(|t| {
            let v = table[t % 16] + t as u32;
            if t % 2 == 0 { v * 2 } else { v * v }
        });
        assert_eq!(read_u32s(&memory, out, 64), expected.collect::<Vec<_>>());
        let address = image.symbol("total").unwrap().address;
        assert_eq!(read_u32s(&memory, load + address, 1), [4 * table.iter().sum::<u32>()]);
    });
}

#[test]
fn loads_go_straight_into_the_lds() {
    on_all(|bytes| {
        let program = program(bytes, "to_lds");
        let modifier =
            program.instructions().iter().filter(|inst| inst.mods.bits.contains(isa::Bits::LDS)).count();
        let named =
            program.instructions().iter().filter(|inst| inst.info().name.contains("load_lds")).count();
        assert_eq!((modifier, named), if program.isa == isa::Isa::Gfx90a { (2, 0) } else { (0, 2) });
        let mut memory = Memory::new();
        let input = memory.allocate_with("in", &u32s(1000..1064));
        let out = memory.allocate("out", 512);
        let arguments = Arguments::default().u64(input).u64(out);
        let (summary, _) = launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], arguments).unwrap();
        assert_eq!(summary.outside_lds, None);
        let second = (0..64).map(|t| if t % 2 == 0 { 1000 + t } else { 7 });
        assert_eq!(read_u32s(&memory, out, 128), (0..64).map(|t| 1063 - t).chain(second).collect::<Vec<_>>());
    });
}

#[test]
fn the_lds_past_its_end_reads_as_0_and_is_reported() {
    on_all(|bytes| {
        let program = program(bytes, "outside_lds");
        // (first element, elements inside the LDS)
        for (first, inside) in [(0, 64), (1, 63), (40, 24), (64, 0), (0x1000_0000, 0)] {
            let mut memory = Memory::new();
            let out = memory.allocate("out", 4 * 64 * 4);
            let arguments = Arguments::default().u64(out).u32(first);
            let mut how = Launch::new([2, 1, 1], [64, 1, 1], 0);
            (how.dynamic_lds, how.threads) = (256, 2);
            let (summary, _) = launch_with(&program, &mut memory, how, arguments).unwrap();
            let read = |t: u32, add: u32| if t < inside { t + 1 + add } else { 0 };
            let once: Vec<u32> = (0..128).map(|t| read(t % 64, 0)).collect();
            let swapped: Vec<u32> = (0..128).map(|t| read(t % 64 ^ 1, 5)).collect();
            assert_eq!(read_u32s(&memory, out, 256), [once, swapped].concat(), "{first}");
            let Some(outside) = summary.outside_lds else {
                assert_eq!(inside, 64);
                continue;
            };
            // A store, a load, an atomic and another load in each of two workgroups.
            assert_eq!(outside.times, u64::from(2 * 4 * (64 - inside)), "{first}");
            assert_eq!((outside.lane, outside.size, outside.bytes), (inside, 256, 4));
            assert_eq!(outside.wave.workgroup, [0, 0, 0]);
            let text = outside.text(&program);
            assert!(text.contains("`ds_write_b32 ") && text.contains("past its 256 bytes"), "{text}");
        }
    });
}

#[test]
fn negative_offsets_of_buffers_are_outside_and_reported() {
    on_all(|bytes| {
        let program = program(bytes, "negative_offset");
        // Bytes of the buffer, and lanes whose access is lost although it would be inside.
        for (size, lost) in [(256, 16), (32, 8), (0, 0)] {
            let mut memory = Memory::new();
            let out = memory.allocate("out", 256);
            let input = memory.allocate_with("in", &u32s(1..65));
            let arguments = Arguments::default().u64(out).u64(input).u32(size);
            let (summary, _) = launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], arguments).unwrap();
            let read = |t: u32| if t >= 16 && 4 * t < size { t + 1 } else { 0 };
            assert_eq!(read_u32s(&memory, out, 64), (0..64).map(read).collect::<Vec<_>>(), "{size}");
            let found =
                summary.negative_offset.map(|it| (it.times, it.lane, it.offset as u32 as i32, it.size));
            assert_eq!(found, (lost > 0).then_some((lost, 0, -64, u64::from(size))));
            assert!(summary.lost().all(|it| it.text(&program).contains(" -64 by `buffer_load_dword ")));
        }
    });
}

#[test]
fn dwords_of_buffers_are_checked_one_by_one() {
    on_all(|bytes| {
        let program = program(bytes, "partly_inside");
        for size in [1024, 512, 500, 24, 22, 4, 3, 0] {
            let mut memory = Memory::new();
            let out = memory.allocate("out", 1024);
            let input = memory.allocate_with("in", &u32s(1..257));
            let to = memory.allocate("to", 1024);
            let arguments = Arguments::default().u64(out).u64(input).u64(to).u32(size);
            launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], arguments).unwrap();
            let expected: Vec<u32> = (0..256).map(|at| if 4 * at + 4 <= size { at + 1 } else { 0 }).collect();
            assert_eq!(read_u32s(&memory, out, 256), expected, "{size}");
            assert_eq!(read_u32s(&memory, to, 256), expected, "{size}");
        }
    });
}

#[test]
fn no_wave_has_so_much_private_memory() {
    on_all(|bytes| {
        let mut object = codeobj::CodeObject::read(bytes).unwrap();
        let kernel = object.kernels.iter_mut().find(|it| it.name == "copy").unwrap();
        let mut descriptor = kernel.descriptor.unwrap();
        for (scratch_bytes, works) in
            [(131_056, true), (131_057, false), (448 << 20, false), (u32::MAX, false)]
        {
            descriptor.scratch_bytes = scratch_bytes;
            let mut kernel = kernel.clone();
            kernel.descriptor = Some(descriptor);
            let made =
                rockhound_emu::Program::new(bytes, &codeobj::CodeObject::read(bytes).unwrap(), &kernel);
            assert_eq!(made.is_ok(), works, "{scratch_bytes}");
            if let Err(error) = made {
                assert!(error.to_string().contains("hint: "), "{error}");
            }
        }
    });
}

#[test]
fn counters_go_up_and_down_by_the_active_lanes() {
    on_all(|bytes| {
        let program = program(bytes, "append");
        let mut memory = Memory::new();
        let out = memory.allocate("out", 132 * 4);
        let arguments = Arguments::default().u64(out);
        launch(&program, &mut memory, [1, 1, 1], [64, 1, 1], arguments).unwrap();
        let up = (0..64).map(|t| if t % 3 == 0 { 100 } else { 0 });
        let down = (0..64).map(|t| if t % 4 == 0 { 122 } else { 0 });
        let expected: Vec<u32> = up.chain(down).chain([100, 100, 106, 100]).collect();
        assert_eq!(read_u32s(&memory, out, 132), expected);
    });
}
