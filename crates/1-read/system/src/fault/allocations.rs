//! Allocations that a log of the HIP runtime (`AMD_LOG_LEVEL=3`) names.
//!
//! A call and its result are two lines; with several threads they may not belong together, so an allocation
//! is only told where the size fits in between.

use super::{address, count};

/// An allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// First byte.
    pub address: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// Line of the result, 1-based.
    pub line: u32,
    /// Line at which it was freed.
    pub freed: Option<u32>,
}

/// Calls that allocate memory a kernel can reach, take the size as their second argument and log the address
/// they return.
const CALLS: [&str; 4] = ["hipMalloc", "hipExtMallocWithFlags", "hipMallocManaged", "hipHostMalloc"];
/// Calls that free it.
const FREES: [&str; 3] = ["hipFree (", "hipHostFree (", "hipFreeAsync ("];

/// Text after a call's name: its arguments, or its result.
enum Call<'a> {
    Arguments(&'a str),
    Result(&'a str),
}

fn call(line: &str) -> Option<Call<'_>> {
    CALLS.iter().find_map(|name| {
        let (before, rest) = line.split_once(name)?;
        // `hipMalloc` is the end of no other name.
        if before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let arguments = rest.strip_prefix(" (").map(Call::Arguments);
        arguments.or_else(|| rest.strip_prefix(": Returned hipSuccess :").map(Call::Result))
    })
}

/// All allocations of a log, in order.
pub(super) fn read(lines: &[&str]) -> Vec<Allocation> {
    let mut found: Vec<Allocation> = Vec::new();
    let mut pending: Option<u64> = None;
    for (at, line) in lines.iter().enumerate() {
        let after = |phrases: &[&str]| {
            phrases.iter().find_map(|phrase| line.split_once(phrase).map(|(_, rest)| rest))
        };
        if let Some(call) = call(line) {
            match call {
                Call::Arguments(arguments) => {
                    let arguments = arguments.split(')').next().unwrap_or_default();
                    pending = arguments.split(',').nth(1).and_then(|it| it.trim().parse().ok());
                }
                Call::Result(result) => {
                    if let (Some(bytes), Some(address)) = (pending.take(), address(result)) {
                        found.push(Allocation { address, bytes, line: count(at + 1), freed: None });
                    }
                }
            }
        } else if let Some(argument) = after(&FREES) {
            let freed = address(argument);
            if let Some(it) =
                found.iter_mut().rev().find(|it| Some(it.address) == freed && it.freed.is_none())
            {
                it.freed = Some(count(at + 1));
            }
        }
    }
    found
}

/// Location of an address: inside an allocation, or its distance beyond the nearest one.
pub fn nearest(allocations: &[Allocation], place: u64) -> Option<String> {
    let distance = |it: &Allocation| {
        let end = it.address.saturating_add(it.bytes);
        if place < it.address { it.address - place } else { place.saturating_sub(end.saturating_sub(1)) }
    };
    let it =
        allocations.iter().min_by_key(|it| (distance(it), it.freed.is_some(), std::cmp::Reverse(it.line)))?;
    let what = format!("the allocation of {} bytes at {:#x} (line {})", it.bytes, it.address, it.line);
    let freed = it.freed.map_or_else(String::new, |line| format!(", freed at line {line}"));
    let end = it.address.saturating_add(it.bytes);
    Some(if place < it.address {
        format!("{} bytes before {what}{freed}", it.address - place)
    } else if place >= end {
        format!("{} bytes past the end of {what}{freed}", place - end)
    } else {
        format!("byte {} of {what}{freed}", place - it.address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_and_what_is_near() {
        let lines = [
            ":3:hip_memory.cpp :578 : 1 us: [pid:1 tid:0x2] hipMalloc ( 0x7ffd, 4096 ) ",
            ":3:hip_memory.cpp :580 : 2 us: [pid:1 tid:0x2] hipMalloc: Returned hipSuccess : 0x7f0000001000: duration: 9 us",
            ":3:hip_memory.cpp :600 : 3 us: [pid:1 tid:0x2] hipFree ( 0x7f0000001000 )",
        ];
        let found = read(&lines);
        assert_eq!(found, [Allocation { address: 0x7f00_0000_1000, bytes: 4096, line: 2, freed: Some(3) }]);
        let near =
            [0x7f00_0000_1010, 0x7f00_0000_2000, 0x7f00_0000_0ff0].map(|it| nearest(&found, it).unwrap());
        testkit::golden("within, behind and before", &near.join("\n"));
        assert_eq!(nearest(&[], 1), None);
        let lines = [
            ":3:x : 1 us: hipHostMalloc ( 0x7ffd, 64, 0 ) ",
            ":3:x : 2 us: hipHostMalloc: Returned hipSuccess : 0x7f0000009000: duration: 9 us",
            ":3:x : 3 us: hipMallocManaged ( 0x7ffd, 128, 1 ) ",
            ":3:x : 4 us: hipMallocManaged: Returned hipSuccess : 0x7f000000a000",
            ":3:x : 5 us: hipMallocAsync ( 0x7ffd, 256, stream ) ",
        ];
        let found: Vec<_> = read(&lines).iter().map(|it| (it.address, it.bytes)).collect();
        assert_eq!(found, [(0x7f00_0000_9000, 64), (0x7f00_0000_a000, 128)]);
    }
}
