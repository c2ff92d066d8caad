//! Decodes and prints a file of raw machine code: `decode_speed PROCESSOR FILE` gives the number of
//! instructions, then nanoseconds to decode them and to decode and print them, each the best of several
//! rounds.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a program that prints a measurement"
)]

use std::time::Instant;

use rockhound_isa::{Decoder, Isa};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, processor, file] = arguments.as_slice() else { panic!("decode_speed PROCESSOR FILE") };
    let isa = Isa::for_processor(processor).expect("a known processor");
    let code = std::fs::read(file).expect("a readable file");
    let (mut count, mut sum) = (0u64, 0u64);
    let decoding = best(|| {
        count = 0;
        for inst in Decoder::new(isa, &code) {
            count += 1;
            sum += u64::from(inst.op.0) + u64::from(inst.operand_count);
        }
    });
    let mut text = String::new();
    let printing = best(|| {
        for inst in Decoder::new(isa, &code) {
            text.clear();
            inst.write_text(isa, &mut text);
            sum += text.len() as u64;
        }
    });
    assert!(sum > 0, "the work is not optimised away");
    println!("{count} {decoding} {printing}");
}

/// Nanoseconds of the fastest of seven rounds: other programs on the machine only slow it down.
fn best(mut work: impl FnMut()) -> u128 {
    let round = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos()
    };
    (0..7).map(|_| round(&mut work)).min().unwrap_or(0)
}
