//! Latency of a load, by the size of the region.
//!
//! Each load depends on the one before, so loads do not overlap.

use crate::device::Given;
use crate::emulated::Bench;
use crate::error::Error;
use arch::Model;
use emu::Memory;

/// Bytes between two addresses: each is in a separate line of every cache.
const LINE: u64 = 128;
/// Regions with more addresses are visited in part.
const MOST: u64 = 1 << 20;
/// Number of addresses visited then.
const PART: u64 = 1 << 16;

/// Latency of a load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Latency {
    /// Size of the region.
    pub bytes: u64,
    /// Time of one load, including the address computation of the next.
    pub nanoseconds: f64,
}

/// Chases pointers through a region in an order that no prefetcher predicts; measures the second round, if
/// the region is small enough to visit completely.
pub fn chase(model: &'static Model, bytes: u64) -> Result<Latency, Error> {
    let bench = Bench::new(model.lightly_used())?;
    let places = (bytes / LINE).max(2);
    let count = if places > MOST { PART } else { places };
    let order = shuffled(places, count);
    // A region that is not walked through completely is walked through once, its second half later than its
    // first.
    let steps = if count == places { [count, 2 * count] } else { [count / 2, count] };
    let mut nanoseconds = [0.0; 2];
    for (nanoseconds, steps) in nanoseconds.iter_mut().zip(steps) {
        let mut memory = Memory::new();
        let data = memory.allocate("data", bytes as usize);
        let result = memory.allocate("result", 8);
        for (at, place) in order.iter().enumerate() {
            let next = order[(at + 1) % order.len()];
            memory.write(data + place * LINE, &(data + next * LINE).to_le_bytes());
        }
        let given =
            [Given::Address(data + order[0] * LINE), Given::Address(result), Given::Integer(steps as u32)];
        *nanoseconds = bench.time("chase", memory, 64, &given)?;
    }
    let nanoseconds = (nanoseconds[1] - nanoseconds[0]) / (steps[1] - steps[0]) as f64;
    Ok(Latency { bytes, nanoseconds })
}

/// `count` of `places` indices, each at most once, in random order.
fn shuffled(places: u64, count: u64) -> Vec<u64> {
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % below
    };
    // One in each of equal shares of the region.
    let share = places / count;
    let mut order: Vec<u64> = (0..count).map(|at| at * share + random(share)).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, random(at as u64 + 1) as usize);
    }
    order
}
