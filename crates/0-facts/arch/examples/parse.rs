//! Prints how many nanoseconds the first use of a target's facts takes.

#![allow(clippy::disallowed_macros, reason = "a program that prints a measurement")]

fn main() {
    let start = std::time::Instant::now();
    let target = rockhound_arch::Target::by_name("gfx942").expect("a target with facts");
    let waves = target.waves_per_simd.value;
    let time = start.elapsed();
    assert_eq!(waves, 8);
    println!("{}", time.as_nanos());
}
