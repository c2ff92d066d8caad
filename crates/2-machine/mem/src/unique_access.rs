//! Accesses with a unique pattern, encoded in the stream.
//!
//! A gather of random addresses would be a pattern used once. In the stream it takes a few bytes a look-up
//! and can be spilled.

use crate::access::{AccessKind, Lookup, Policy};
use crate::access_patterns::{MOST_TIMES, VectorAccess};
use crate::cursor::{put, value, zigzag, zigzagged};

/// Most look-ups of an access: a lane has at most two.
const MOST_LOOKUPS: usize = 128;

/// Encoding of a policy.
const KINDS: [AccessKind; 4] =
    [AccessKind::Load, AccessKind::Store, AccessKind::Atomic, AccessKind::AtomicReturn];
const BYPASS: u8 = 1 << 2;
const STREAM: u8 = 1 << 3;
const SCRATCH: u8 = 1 << 4;

/// A decoded access with a unique pattern.
#[derive(Clone, Debug, Default)]
pub struct UniqueAccess {
    slot: u32,
    times: u32,
    policy: Option<Policy>,
    lookups: Vec<Lookup>,
}

impl UniqueAccess {
    /// Decodes the access of an event in place; `bytes` is the part of the stream with the event. False if
    /// damaged.
    pub fn read(&mut self, bytes: &[u8], slot: u32, mut at: usize) -> bool {
        self.policy = None;
        self.lookups.clear();
        let Some((policy, times, count)) = head(bytes, &mut at) else { return false };
        let mut last = 0i64;
        for _ in 0..count {
            let Some(step) = value(bytes, &mut at) else { return false };
            last = last.wrapping_add(zigzagged(step));
            self.lookups.push(Lookup::from_bits(last));
        }
        (self.slot, self.times, self.policy) = (slot, times, Some(policy));
        true
    }

    /// The vector access; `None` before a successful read.
    pub fn access(&self) -> Option<VectorAccess<'_>> {
        let UniqueAccess { slot, times, policy, lookups } = self;
        policy.map(|policy| VectorAccess { slot: *slot, policy, lookups, times: *times })
    }
}

/// Policy and number of look-ups of the access at a position of a stream.
#[inline]
pub fn unique_access_size(bytes: &[u8], mut at: usize) -> Option<(Policy, u32)> {
    head(bytes, &mut at).map(|(policy, _, count)| (policy, count))
}

fn head(bytes: &[u8], at: &mut usize) -> Option<(Policy, u32, u32)> {
    let bits = *bytes.get(*at)?;
    *at += 1;
    let policy = Policy {
        kind: KINDS[usize::from(bits & 3)],
        bypass: bits & BYPASS != 0,
        stream: bits & STREAM != 0,
        scratch: bits & SCRATCH != 0,
    };
    let times = u32::try_from(value(bytes, at)?).ok().filter(|&times| times <= MOST_TIMES)?;
    let count = value(bytes, at).filter(|&count| count <= MOST_LOOKUPS as u64)?;
    Some((policy, times, count as u32))
}

/// Encodes an access.
pub(crate) fn write(out: &mut Vec<u8>, policy: Policy, times: u32, lookups: &[Lookup]) {
    let kind = KINDS.iter().position(|&kind| kind == policy.kind).unwrap_or(0) as u8;
    let bit = |is: bool, bit: u8| if is { bit } else { 0 };
    out.push(kind | bit(policy.bypass, BYPASS) | bit(policy.stream, STREAM) | bit(policy.scratch, SCRATCH));
    put(out, u64::from(times));
    put(out, lookups.len() as u64);
    let mut last = 0;
    for lookup in lookups {
        let bits = lookup.bits();
        put(out, zigzag(bits.wrapping_sub(last)));
        last = bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_round_trip_and_truncated_ones_are_refused() {
        let lookups: Vec<Lookup> = [0, -5, i64::MAX, i64::MIN, 77].map(Lookup::from_bits).to_vec();
        for kind in KINDS {
            let policy = Policy { kind, bypass: true, stream: false, scratch: true };
            let mut bytes = vec![9];
            write(&mut bytes, policy, 3, &lookups);
            let mut unique = UniqueAccess::default();
            assert!(unique.read(&bytes, 4, 1));
            let access = unique.access().unwrap();
            assert_eq!((access.slot, access.policy, access.times), (4, policy, 3));
            assert_eq!(access.lookups, &lookups[..]);
            assert_eq!(unique_access_size(&bytes, 1), Some((policy, 5)));
            for length in 0..bytes.len() {
                assert!(!unique.read(&bytes[..length], 4, 1) && unique.access().is_none());
            }
        }
    }
}
