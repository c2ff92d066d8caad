//! Accesses that repeat no other, written into the stream with their look-ups.
//!
//! The one idea to keep in mind: gathers of random places would each be a form that is used once. In the stream they take
//! some bytes a look-up, and go where the stream goes.

use crate::access::{Kind, Lookup, Policy};
use crate::cursor::{put, value, zigzag, zigzagged};
use crate::forms::{MOST_TIMES, Shared};

/// Most look-ups of an access: every lane of a wave has at most two.
const MOST_LOOKUPS: usize = 128;

/// Bits of a policy.
const KINDS: [Kind; 4] = [Kind::Load, Kind::Store, Kind::Atomic, Kind::AtomicReturn];
const BYPASS: u8 = 1 << 2;
const STREAM: u8 = 1 << 3;
const SCRATCH: u8 = 1 << 4;

/// An access that repeats no other.
#[derive(Clone, Debug, Default)]
pub struct Own {
    slot: u32,
    times: u32,
    policy: Option<Policy>,
    lookups: Vec<Lookup>,
}

impl Own {
    /// Reads one into the room of another: that of an event of a stream, of which `bytes` are the part with the event.
    /// Whether it is sound.
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

    /// As other accesses are; none that was not read.
    pub fn shared(&self) -> Option<Shared<'_>> {
        let Own { slot, times, policy, lookups } = self;
        policy.map(|policy| Shared { slot: *slot, policy, lookups, times: *times })
    }
}

/// Of an access at a place of a stream: how the caches are to treat it, and how many look-ups it has.
#[inline]
pub fn own_size(bytes: &[u8], mut at: usize) -> Option<(Policy, u32)> {
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

/// Writes one.
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
    fn what_is_written_is_read_and_what_is_cut_is_refused() {
        let lookups: Vec<Lookup> = [0, -5, i64::MAX, i64::MIN, 77].map(Lookup::from_bits).to_vec();
        for kind in KINDS {
            let policy = Policy { kind, bypass: true, stream: false, scratch: true };
            let mut bytes = vec![9];
            write(&mut bytes, policy, 3, &lookups);
            let mut own = Own::default();
            assert!(own.read(&bytes, 4, 1));
            let shared = own.shared().unwrap();
            assert_eq!((shared.slot, shared.policy, shared.times), (4, policy, 3));
            assert_eq!(shared.lookups, &lookups[..]);
            assert_eq!(own_size(&bytes, 1), Some((policy, 5)));
            for length in 0..bytes.len() {
                assert!(!own.read(&bytes[..length], 4, 1) && own.shared().is_none());
            }
        }
    }
}
