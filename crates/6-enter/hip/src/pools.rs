//! Pools of memory: what was allocated from which, settings, and high-water marks.
//!
//! Memory that is freed goes back to the system at once, so a pool reserves what is in use and nothing else.

use crate::codes::Code;
use std::collections::BTreeMap;

/// Settings that are numbers of 32 bits, by number; the first attribute is 1.
const SWITCHES: usize = 3;
/// Attributes of pools.
const THRESHOLD: u32 = 4;
const RESERVED: u32 = 5;
const RESERVED_HIGH: u32 = 6;
const USED: u32 = 7;
const USED_HIGH: u32 = 8;

/// Bytes in use, and the most there were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    used: u64,
    high: u64,
    reserved_high: u64,
}

impl Usage {
    fn take(&mut self, bytes: u64) {
        self.used += bytes;
        self.high = self.high.max(self.used);
        self.reserved_high = self.reserved_high.max(self.used);
    }

    fn give(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// A number by its attribute of graph memory: used, most used, reserved, most reserved.
    pub(crate) fn of_graphs(&self, attribute: u32) -> Result<u64, Code> {
        match attribute {
            0 | 2 => Ok(self.used),
            1 => Ok(self.high),
            3 => Ok(self.reserved_high),
            _ => Err(Code::hipErrorInvalidValue),
        }
    }

    /// Sets a mark back.
    pub(crate) fn reset_of_graphs(&mut self, attribute: u32) -> Result<(), Code> {
        match attribute {
            1 => self.high = 0,
            3 => self.reserved_high = 0,
            _ => return Err(Code::hipErrorInvalidValue),
        }
        Ok(())
    }
}

/// A pool.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) device: i32,
    /// Kind of handle by which other processes may have it.
    pub(crate) shareable: u32,
    /// Most bytes, or 0.
    pub(crate) most: u64,
    switches: [i32; SWITCHES],
    threshold: u64,
    usage: Usage,
    /// Access of other GPUs.
    pub(crate) access: BTreeMap<i32, u32>,
}

/// Value of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Switch(i32),
    Bytes(u64),
}

impl Pool {
    /// A pool of a GPU.
    pub(crate) fn new(device: i32, shareable: u32, most: u64) -> Pool {
        let usage = Usage::default();
        Pool {
            device,
            shareable,
            most,
            switches: [1; SWITCHES],
            threshold: 0,
            usage,
            access: BTreeMap::new(),
        }
    }

    /// An attribute.
    pub(crate) fn attribute(&self, attribute: u32) -> Result<Value, Code> {
        let Usage { used, high, reserved_high } = self.usage;
        match attribute {
            1..=3 => Ok(Value::Switch(self.switches[attribute as usize - 1])),
            THRESHOLD => Ok(Value::Bytes(self.threshold)),
            RESERVED | USED => Ok(Value::Bytes(used)),
            RESERVED_HIGH => Ok(Value::Bytes(reserved_high)),
            USED_HIGH => Ok(Value::Bytes(high)),
            _ => Err(Code::hipErrorInvalidValue),
        }
    }

    /// Sets an attribute; marks can only be set back to 0.
    pub(crate) fn set(&mut self, attribute: u32, value: Value) -> Result<(), Code> {
        match (attribute, value) {
            (1..=3, Value::Switch(on)) => self.switches[attribute as usize - 1] = on,
            (THRESHOLD, Value::Bytes(bytes)) => self.threshold = bytes,
            (RESERVED_HIGH, Value::Bytes(0)) => self.usage.reserved_high = 0,
            (USED_HIGH, Value::Bytes(0)) => self.usage.high = 0,
            _ => return Err(Code::hipErrorInvalidValue),
        }
        Ok(())
    }
}

/// All pools.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pools: BTreeMap<usize, Pool>,
    /// By GPU: the pool that allocations without one use, if it is not the default one.
    chosen: BTreeMap<i32, usize>,
    /// By address: pool and bytes.
    owners: BTreeMap<usize, (usize, u64)>,
    /// By GPU: memory that graphs allocated.
    graphs: BTreeMap<i32, Usage>,
    last: usize,
}

/// First handle of a pool that the program makes.
const FIRST_OTHER: usize = 1 << 16;

impl Pools {
    /// The default pool of a GPU.
    pub(crate) fn default_of(device: i32) -> usize {
        16 * (device as usize + 1)
    }

    /// The pool that allocations of a GPU use.
    pub(crate) fn chosen(&self, device: i32) -> usize {
        self.chosen.get(&device).copied().unwrap_or_else(|| Pools::default_of(device))
    }

    /// Makes a pool the one that allocations of its GPU use.
    pub(crate) fn choose(&mut self, device: i32, pool: usize, devices: i32) -> Result<(), Code> {
        if self.pool(pool, devices)?.device != device {
            return Err(Code::hipErrorInvalidDevice);
        }
        self.chosen.insert(device, pool);
        Ok(())
    }

    /// A new pool.
    pub(crate) fn add(&mut self, pool: Pool) -> usize {
        self.last += 16;
        let handle = FIRST_OTHER + self.last;
        self.pools.insert(handle, pool);
        handle
    }

    /// Ends a pool; its allocations stay.
    pub(crate) fn end(&mut self, handle: usize) -> Result<(), Code> {
        if handle < FIRST_OTHER {
            return Err(Code::hipErrorInvalidValue);
        }
        self.pools.remove(&handle).ok_or(Code::hipErrorInvalidValue)?;
        self.chosen.retain(|_, it| *it != handle);
        Ok(())
    }

    /// A pool; default ones come into being when they are first asked for.
    pub(crate) fn pool(&mut self, handle: usize, devices: i32) -> Result<&mut Pool, Code> {
        let device = i32::try_from(handle / 16).unwrap_or(0) - 1;
        if handle.is_multiple_of(16) && (0..devices).contains(&device) {
            return Ok(self.pools.entry(handle).or_insert_with(|| Pool::new(device, 0, 0)));
        }
        self.pools.get_mut(&handle).ok_or(Code::hipErrorInvalidValue)
    }

    /// Whether a pool has room.
    pub(crate) fn has_room(&mut self, handle: usize, bytes: u64, devices: i32) -> Result<(), Code> {
        let pool = self.pool(handle, devices)?;
        let fits = pool.most == 0 || pool.usage.used.saturating_add(bytes) <= pool.most;
        if fits { Ok(()) } else { Err(Code::hipErrorOutOfMemory) }
    }

    /// Memory was allocated from a pool.
    pub(crate) fn took(&mut self, handle: usize, address: usize, bytes: u64) {
        if let Some(pool) = self.pools.get_mut(&handle) {
            pool.usage.take(bytes);
            self.owners.insert(address, (handle, bytes));
        }
    }

    /// Memory was freed; its bytes if it was of a pool.
    pub(crate) fn gave(&mut self, address: usize) -> Option<u64> {
        let (handle, bytes) = self.owners.remove(&address)?;
        if let Some(pool) = self.pools.get_mut(&handle) {
            pool.usage.give(bytes);
        }
        Some(bytes)
    }

    /// Memory of graphs on a GPU.
    pub(crate) fn graphs(&mut self, device: i32) -> &mut Usage {
        self.graphs.entry(device).or_default()
    }

    /// A graph allocated memory, or freed it.
    pub(crate) fn graph_took(&mut self, device: i32, bytes: usize, is_taken: bool) {
        let usage = self.graphs(device);
        if is_taken { usage.take(bytes as u64) } else { usage.give(bytes as u64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_count_what_is_in_use() {
        let mut pools = Pools::default();
        let other = pools.add(Pool::new(0, 0, 100));
        let used = |pools: &mut Pools, handle: usize| {
            let pool = pools.pool(handle, 1).unwrap();
            [USED, USED_HIGH].map(|it| pool.attribute(it).unwrap())
        };
        for (address, bytes) in [(4096, 60), (8192, 40)] {
            assert_eq!(pools.has_room(other, bytes, 1), Ok(()));
            pools.took(other, address, bytes);
        }
        assert_eq!(pools.has_room(other, 1, 1), Err(Code::hipErrorOutOfMemory));
        pools.gave(4096);
        pools.gave(4096);
        assert_eq!(used(&mut pools, other), [Value::Bytes(40), Value::Bytes(100)]);
        assert_eq!(used(&mut pools, Pools::default_of(0)), [Value::Bytes(0); 2]);
        let pool = pools.pool(other, 1).unwrap();
        for (attribute, value, expected) in [
            (1, Value::Switch(0), Ok(())),
            (THRESHOLD, Value::Bytes(7), Ok(())),
            (USED_HIGH, Value::Bytes(0), Ok(())),
            (USED_HIGH, Value::Bytes(1), Err(Code::hipErrorInvalidValue)),
            (USED, Value::Bytes(0), Err(Code::hipErrorInvalidValue)),
        ] {
            assert_eq!(pool.set(attribute, value), expected, "{attribute} {value:?}");
        }
        let shown = [1, THRESHOLD, USED_HIGH].map(|it| pool.attribute(it).unwrap());
        assert_eq!(shown, [Value::Switch(0), Value::Bytes(7), Value::Bytes(0)]);
    }

    #[test]
    fn a_gpu_allocates_from_the_pool_that_was_chosen() {
        let mut pools = Pools::default();
        let other = pools.add(Pool::new(1, 0, 0));
        assert_eq!(pools.choose(0, other, 2), Err(Code::hipErrorInvalidDevice));
        assert_eq!(pools.choose(1, other, 2), Ok(()));
        assert_eq!((pools.chosen(0), pools.chosen(1)), (Pools::default_of(0), other));
        assert_eq!(
            (pools.end(Pools::default_of(0)), pools.end(other)),
            (Err(Code::hipErrorInvalidValue), Ok(()))
        );
        assert_eq!(pools.chosen(1), Pools::default_of(1));
        assert!(pools.pool(Pools::default_of(2), 2).is_err() && pools.pool(other, 2).is_err());
    }
}
