//! Sizes, widths and policies of the caches of a target.
//!
//! Differences between the caches of targets are values here, never branches in the model that reads them.

use crate::fact::{Fact, Known};
use serde::Deserialize;

/// Vector L1 data cache of a compute unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorL1 {
    /// Size.
    pub bytes: Fact<u32>,
    /// Cache line.
    pub line_bytes: Fact<u32>,
    /// Lines of a set.
    pub ways: Fact<u32>,
    /// Peak bandwidth to the compute unit.
    pub bytes_per_cycle: Fact<u32>,
    /// Slots for accesses that issued and are not in the cache yet: a load takes one, a store two. Waves
    /// without a free slot wait; the wave that started first is admitted first.
    pub waiting: Fact<u32>,
    /// Most lines of loads between look-up and answer.
    pub reading: Fact<u32>,
    /// Most lines of stores waiting in the cache for their write.
    pub writing: Fact<u32>,
    /// Most outstanding requests to the L2 (MSHRs), each of one read or of several merged reads.
    pub pending: Fact<u32>,
    /// Bytes of arriving lines it takes in a cycle.
    pub fill_bytes_per_cycle: Fact<u32>,
    /// Size of a read request to L2.
    pub request_bytes: Fact<u32>,
    /// Size of a write request to L2: consecutive stores in one block of this size are one request.
    pub write_bytes: Fact<u32>,
    /// True if the cache keeps a line that a store writes completely.
    pub store_allocates: Fact<bool>,
    /// Cache-control bits of a load that bypass cached lines.
    pub bypassed_by: Fact<CacheControl>,
    /// Lines stay valid from one dispatch to the next.
    pub kept: Fact<bool>,
}

/// Cache-control bits of memory instructions, by their newer names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheControl {
    /// `sc0`, before `glc`.
    Sc0,
    /// `sc1`, before `scc`.
    Sc1,
}

/// Scalar data cache, shared by some compute units of a shader engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarCache {
    /// Size.
    pub bytes: Fact<u32>,
    /// Cache line.
    pub line_bytes: Fact<u32>,
    /// Lines of a set.
    pub ways: Fact<u32>,
    /// Compute units that share it, built ones.
    pub compute_units: Fact<u32>,
    /// Requests that may wait for an outstanding line; later ones are served after it arrives.
    pub waiting: Fact<u32>,
    /// Lines stay valid from one dispatch to the next.
    pub kept: Fact<bool>,
}

/// Instruction cache; serves the same compute units as the scalar data cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstructionCache {
    /// Size.
    pub bytes: Fact<u32>,
    /// Cache line.
    pub line_bytes: Fact<u32>,
    /// Lines of a set.
    pub ways: Fact<u32>,
    /// Size of a request to L2.
    pub request_bytes: Fact<u32>,
    /// Bytes fetched beyond the last instruction that runs.
    pub ahead_bytes: Fact<u32>,
    /// Lines stay valid from one dispatch to the next.
    pub kept: Fact<bool>,
}

/// Address translation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// Memory one entry covers where the driver finds contiguous pages.
    pub fragment_bytes: Fact<u32>,
    /// Memory one entry covers in memory that the host's kernel hands out.
    pub small_page_bytes: Fact<u32>,
    /// Entries of the first level, which every compute unit has.
    pub l1_entries: Known<u32>,
    /// Most requests of a compute unit to the second level at a time.
    pub l1_requests: Known<u32>,
    /// Entries of the second level, which every XCD has.
    pub l2_entries: Fact<u32>,
    /// Most lines of page-table entries that an XCD reads at a time.
    pub walks: Known<u32>,
    /// Requests behind a missing one that count neither as hit nor as miss.
    pub l1_pending: Fact<u32>,
    /// Entries stay valid from one dispatch to the next.
    pub kept: Fact<bool>,
}

/// Cache policy of memory, from the page tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryType {
    /// Cached for reading and writing.
    Rw,
    /// Cached, not coherent with others.
    Nc,
    /// Cached, coherent.
    Cc,
    /// Not cached.
    Uc,
}

/// L2 cache of one XCD (of the whole die on GPUs without XCDs).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Size.
    pub bytes_per_xcd: Fact<u32>,
    /// Channels.
    pub channels_per_xcd: Fact<u32>,
    /// Cache line.
    pub line_bytes: Fact<u32>,
    /// Lines of a set.
    pub ways: Fact<u32>,
    /// Neighbouring bytes that share a channel.
    pub interleave_bytes: Fact<u32>,
    /// Lowest address bits of the channel hash.
    pub channel_hash_bits: Fact<u32>,
    /// Lines are spread over the sets of a channel as if by chance, not evenly.
    pub scattered: Fact<bool>,
    /// Peak read bandwidth of a channel.
    pub bytes_per_channel_cycle: Fact<u32>,
    /// Bandwidth of a channel that a stream of reads reaches.
    pub sustained_bytes_per_channel_cycle: Fact<f32>,
    /// Consecutive reads of a wave's access in one line are one request.
    pub merges_reads: Fact<bool>,
    /// Largest read of memory.
    pub fabric_read_bytes: Fact<u32>,
    /// Minimum size of a cached read from memory.
    pub fabric_read_least_bytes: Fact<u32>,
    /// Largest write to memory.
    pub fabric_write_bytes: Fact<u32>,
    /// Most outstanding reads of [`L2::fabric_read_bytes`] from memory per channel.
    pub pending_reads_per_channel: Fact<u32>,
    /// Most outstanding writes of [`L2::fabric_write_bytes`] to memory per channel.
    pub pending_writes_per_channel: Fact<u32>,
    /// Granularity of dirty bits in a line.
    pub sector_bytes: Fact<u32>,
    /// Type of the memory that holds arguments and packets: host memory, except that memory cached for
    /// reading and writing is the GPU's own.
    pub arguments_memory: Fact<MemoryType>,
    /// Number of most recently used lines of a set that may stay dirty; older dirty lines are written back.
    pub dirty_lines: Fact<u32>,
    /// Dirty lines are written back at the end of every dispatch, not only of those whose results are made
    /// visible to the host.
    pub written_back: Fact<bool>,
    /// Lines stay valid from one dispatch to the next.
    pub kept: Fact<bool>,
}

/// Cache on the memory side of the fabric; its size is the model's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySideCache {
    /// Cache line.
    pub line_bytes: Known<u32>,
    /// Lines of a set.
    pub ways: Known<u32>,
    /// Channels of one I/O die.
    pub channels_per_io_die: Known<u32>,
    /// Bytes per channel per engine cycle.
    pub bytes_per_channel_cycle: Known<u32>,
}

/// Atomics of device and system scope on GPUs of several XCDs, done behind the L2s, nanoseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atomics {
    /// Time of a memory channel per request of up to 64 bytes.
    pub channel_ns: Known<f64>,
    /// Time between the starts of two updates of one address.
    pub address_ns: Known<f64>,
    /// Latency from issue to completion.
    pub latency_ns: Known<f64>,
    /// Number of the requests of an instruction among which those for one block are one.
    pub joined_requests: Known<u32>,
}

/// How addresses are spread over device memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryMap {
    /// XOR hash by bit of a channel's number: the address bits whose parity is that bit.
    pub channel: Known<Vec<Vec<u32>>>,
    /// The same of a bank's number.
    pub bank: Known<Vec<Vec<u32>>>,
    /// Lowest address bit of the row of a bank.
    pub row_bit: Known<u32>,
    /// Most queued requests per channel; of them, the first whose bank is free is served first.
    pub queue: Fact<u32>,
    /// Minimum time between opening two rows of a bank, nanoseconds.
    pub row_ns: Fact<u32>,
    /// Extra latency of a read that opens a DRAM row.
    pub opening_ns: Fact<u32>,
    /// Refresh: nanoseconds in which memory opens no row, and the period.
    pub refresh_ns: Fact<[u32; 2]>,
}

/// Unloaded latencies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// From the vector L1, cycles.
    pub l1: Fact<u32>,
    /// From the L2, cycles.
    pub l2: Fact<u32>,
    /// From the memory-side cache, cycles.
    pub memory_side: Known<u32>,
    /// From device memory, cycles.
    pub hbm: Fact<u32>,
    /// From the scalar cache, cycles.
    pub scalar: Fact<u32>,
    /// LDS, from issue to use, besides the cycles of the access.
    pub lds: Fact<u32>,
    /// Fetch of a jump target from the instruction cache.
    pub fetch: Fact<u32>,
    /// The first scalar load of a kernel, nanoseconds.
    pub scalar_cold_ns: Fact<u32>,
    /// The first vector load of a kernel, nanoseconds.
    pub vector_cold_ns: Fact<u32>,
}
