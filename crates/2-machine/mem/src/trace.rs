//! Recorder of the accesses of workgroups.
//!
//! Most accesses repeat the pattern of the one before at another address. A pattern, which is its look-ups,
//! is stored once; an access is a pattern index and a distance from the last address.

use crate::access::{AccessKind, Lanes, LineSizes, Lookup, Policy, gather, load_lookups, lookups};
use crate::access_patterns::{AccessPattern, AccessPatterns, Interner, LdsAccess};
use crate::cursor::{
    BARRIER, LDS, MOST_DWORDS, RUN, SCALAR_LOAD, SCALAR_OTHER, TAG, UNIQUE, VECTOR, put, zigzag,
};
use crate::pattern_memo::{Made, PatternMemo, known};
use crate::sample::Sample;
use crate::shape::Shape;
use crate::spill_store::{BLOCK, HeldBytes, SpillStore};
use crate::unique_access;
use crate::wave_stream::WaveStream;
use std::sync::Arc;

/// Most bytes of a workgroup's streams in memory, if they cannot be spilled. Later events are dropped; the
/// dispatch then has no counts of caches and no times.
pub const MOST_PER_GROUP: usize = 64 << 20;

/// Bytes of a workgroup's streams beyond which they are spilled, whatever the budget.
const MUCH: usize = MOST_PER_GROUP / 4;

/// Bytes between two checks of the budget.
const STEP: usize = 64 << 10;

/// Fewest bytes of a wave's stream to spill while it grows, and after its end.
const PIECE: usize = BLOCK - BLOCK / 8;
const REST: usize = 1 << 10;

/// Bytes of patterns in a batch beyond which a new pattern is written into the stream on first use; the same
/// over budget; and the bytes beyond which every new pattern is.
const SOME_PATTERNS: usize = 512 << 10;
const FEW_PATTERNS: usize = 32 << 10;
const MOST_PATTERNS: usize = 1 << 20;

/// In place of a pattern index: the pattern was used once, in the stream.
const ONCE: u32 = u32::MAX;

/// Streams of consecutive workgroups; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Workgroups in grid order.
    pub groups: Vec<Arc<Group>>,
    /// Access patterns of their streams.
    pub patterns: Arc<AccessPatterns>,
}

impl Batch {
    /// Bytes of the longest stream in memory.
    pub fn longest_stream(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.waves).map(|it| it.held.len()).max().unwrap_or(0)
    }
}

/// Streams of a workgroup.
#[derive(PartialEq, Debug, Default)]
pub struct Group {
    /// Streams, by wave.
    pub waves: Vec<WaveStream>,
    /// Events missing from the streams.
    pub dropped: u64,
    /// Look-ups of the vector accesses.
    pub lookups: u64,
    /// L2 lines read.
    pub read: Sample,
    /// Its part of the memory budget.
    pub(crate) held: HeldBytes,
}

impl Group {
    /// Memory of the streams, bytes.
    pub fn bytes(&self) -> usize {
        self.waves.iter().map(WaveStream::bytes).sum::<usize>() + self.read.bytes()
    }

    /// Spills streams worth spilling.
    pub(crate) fn spill(&mut self, spill_store: &Arc<SpillStore>) {
        for wave in self.waves.iter_mut().filter(|wave| wave.held.len() >= REST) {
            wave.spill(spill_store);
        }
    }
}

/// Recorder of the accesses of one workgroup after the other.
#[derive(Debug)]
pub struct Trace {
    line_sizes: LineSizes,
    /// Bytes of a block, the unit of addresses, as a power of two.
    block: u32,
    groups: Vec<Group>,
    patterns: AccessPatterns,
    /// Last access of each memory instruction.
    slots: PatternMemo,
    /// By wave of the current workgroup: block of the last vector access, dword of the last scalar one.
    last: Vec<[u64; 2]>,
    /// Bytes in memory of the current workgroup with its patterns, and of those before.
    taken: usize,
    before: usize,
    /// Spill store, and the bytes counted there.
    spill_store: Option<Arc<SpillStore>>,
    held: HeldBytes,
    /// Streams are being spilled, and bytes of the workgroup at the next check.
    over_budget: bool,
    next_check: usize,
    /// Buffer for a unique access.
    unique: Vec<u8>,
    /// The streams of the current workgroup are wanted.
    wanted: bool,
    /// Expected bytes of a stream.
    expected: usize,
    /// Interners of runs by first instruction, and of LDS accesses by memory instruction.
    runs: Interner<(u32, u32)>,
    lds: Interner<LdsAccess>,
}

impl Trace {
    /// A recorder for a GPU.
    pub fn new(shape: &Shape) -> Trace {
        Trace {
            line_sizes: LineSizes { line: shape.l1_line, sector: shape.sector },
            block: shape.l2_line.trailing_zeros(),
            groups: Vec::new(),
            patterns: AccessPatterns::default(),
            slots: PatternMemo::default(),
            last: Vec::new(),
            taken: 0,
            before: 0,
            spill_store: None,
            held: HeldBytes::default(),
            over_budget: false,
            next_check: 0,
            unique: Vec::new(),
            wanted: true,
            expected: 0,
            runs: Interner::default(),
            lds: Interner::default(),
        }
    }

    /// Sets the store for streams over the memory budget.
    pub fn spill(&mut self, spill_store: Option<&Arc<SpillStore>>) {
        self.spill_store = spill_store.cloned();
        self.held = HeldBytes::new(spill_store, 0);
        self.look();
    }

    /// Starts with the memo of an earlier recording of the same program for the same GPU.
    pub fn begin_with(&mut self, slots: PatternMemo) {
        self.slots = slots;
        self.slots.begin();
    }

    /// Takes the memo for the next recording of the same program.
    pub fn take_memo(&mut self) -> PatternMemo {
        std::mem::take(&mut self.slots)
    }

    /// Sets the expected bytes of a stream, which are allocated at once.
    pub fn expect(&mut self, bytes: usize) {
        self.expected = bytes;
    }

    /// Records a run of consecutive instructions.
    #[inline]
    pub fn run(&mut self, wave: u32, first: usize, count: usize) {
        if !self.wanted {
            return;
        }
        if self.taken >= self.next_check {
            self.look();
        }
        if self.over_budget {
            self.spill_wave(wave);
        }
        let both = (first as u32, count as u32);
        let number = self.runs.of(&mut self.patterns.runs, first, both);
        self.put_event(wave, u64::from(number) << TAG | RUN);
    }

    /// Records an LDS access.
    #[inline]
    pub fn lds(&mut self, wave: u32, access: LdsAccess) {
        if !self.wanted {
            return;
        }
        let number = self.lds.of(&mut self.patterns.lds, access.slot as usize, access);
        self.put_event(wave, u64::from(number) << TAG | LDS);
    }

    fn put_event(&mut self, wave: u32, value: u64) {
        if self.full() {
            return;
        }
        if let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) {
            let before = stream.held.len();
            put(&mut stream.held, value);
            self.taken += stream.held.len() - before;
        }
    }

    /// Updates the memory budget.
    fn look(&mut self) {
        let Some(spill_store) = &self.spill_store else {
            self.next_check = usize::MAX;
            return;
        };
        self.held.set(self.before + self.taken);
        self.over_budget = spill_store.is_over_budget() || self.taken > MUCH;
        self.next_check = self.taken + STEP;
    }

    /// Spills a wave's stream, at an instruction boundary.
    fn spill_wave(&mut self, wave: u32) {
        let stream = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize));
        if let Some(stream) = stream.filter(|stream| stream.held.len() >= PIECE)
            && let Some(spill_store) = &self.spill_store
        {
            let before = stream.held.len();
            // A full store is tried again later.
            self.over_budget = stream.spill(spill_store);
            self.taken -= before - stream.held.len();
            self.next_check = self.taken + STEP;
        }
    }

    /// Ends the current workgroup.
    fn end(&mut self) {
        self.look();
        if let (Some(group), Some(spill_store)) = (self.groups.last_mut(), &self.spill_store) {
            if self.over_budget {
                group.spill(spill_store);
            }
            self.before += group.bytes();
        }
        (self.taken, self.next_check) = (0, 0);
    }

    /// Begins the next workgroup.
    pub fn begin(&mut self) {
        self.end();
        self.groups.push(Group::default());
        self.last.clear();
        self.wanted = true;
    }

    /// Begins the next workgroup without streams; only its read lines are recorded.
    pub fn begin_without_streams(&mut self) {
        self.begin();
        self.wanted = false;
    }

    /// Begins the next wave of the workgroup.
    pub fn wave(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.waves.push(WaveStream::with_room(if self.wanted { self.expected } else { 0 }));
            self.last.push([0; 2]);
        }
    }

    /// Records a vector access of memory instruction `slot`. Addresses of inactive lanes are ignored.
    /// Accesses of a slot with equal `formation` have equal distances between lanes.
    pub fn vector(&mut self, wave: u32, slot: u32, policy: Policy, lanes: &Lanes<'_>) {
        if lanes.active == 0 {
            return;
        }
        let first = lanes.addresses[lanes.active.trailing_zeros() as usize & 63];
        let block = first >> self.block;
        let known = known(&mut self.slots, slot as usize, policy, lanes, first);
        if policy.kind != AccessKind::Store
            && !policy.scratch
            && let Some(group) = self.groups.last_mut()
        {
            known.note(&mut group.read, lanes, first, self.block);
        }
        if !self.wanted || self.full() {
            return;
        }
        let Some(last) = self.last.get_mut(wave as usize) else { return };
        let step = zigzag((block as i64).wrapping_sub(last[0] as i64));
        last[0] = block;
        let (number, all) = self.pattern(slot as usize, policy, lanes, first);
        if let Some(group) = self.groups.last_mut() {
            group.lookups += u64::from(all);
        }
        match number {
            Some(pattern) => self.put(wave, [u64::from(pattern) << TAG | VECTOR, step]),
            None => self.put_unique(wave, [u64::from(slot) << TAG | UNIQUE, step]),
        }
    }

    /// Records a scalar access of consecutive bytes.
    pub fn scalar(&mut self, wave: u32, kind: AccessKind, address: u64, bytes: u32) {
        if kind == AccessKind::Load
            && let Some(group) = self.groups.last_mut()
        {
            group.read.add(address >> self.block);
        }
        if !self.wanted || self.full() {
            return;
        }
        let dword = address / 4;
        let Some(last) = self.last.get_mut(wave as usize) else { return };
        let step = (dword as i64).wrapping_sub(last[1] as i64);
        last[1] = dword;
        let dwords = u64::from(bytes.div_ceil(4)).clamp(1, MOST_DWORDS);
        let head = match kind {
            AccessKind::Load => dwords << TAG | SCALAR_LOAD,
            AccessKind::Store => dwords << (TAG + 1) | SCALAR_OTHER,
            AccessKind::Atomic | AccessKind::AtomicReturn => dwords << (TAG + 1) | 1 << TAG | SCALAR_OTHER,
        };
        self.put(wave, [head, zigzag(step)]);
    }

    /// Records a barrier of all waves.
    pub fn barrier(&mut self) {
        if !self.wanted || self.full() {
            return;
        }
        let Some(group) = self.groups.last_mut() else { return };
        for wave in &mut group.waves {
            wave.held.push(BARRIER as u8);
            self.taken += 1;
        }
    }

    /// Ends the recording; returns the batch.
    pub fn finish(mut self) -> Batch {
        self.end();
        let shared = self.patterns.bytes() / self.groups.len().max(1);
        for group in &mut self.groups {
            group.held = HeldBytes::new(self.spill_store.as_ref(), group.bytes() + shared);
        }
        Batch { groups: self.groups.into_iter().map(Arc::new).collect(), patterns: Arc::new(self.patterns) }
    }

    /// True if the workgroup has exceeded [`MOST_PER_GROUP`]; counts a dropped event then.
    #[inline]
    fn full(&mut self) -> bool {
        let full = self.taken > MOST_PER_GROUP;
        if full && let Some(group) = self.groups.last_mut() {
            group.dropped += 1;
        }
        full
    }

    fn put(&mut self, wave: u32, values: [u64; 2]) {
        let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) else {
            return;
        };
        let stream = &mut stream.held;
        let before = stream.len();
        let [head, step] = values;
        if head < 1 << 14 && step < 1 << 7 {
            // Common case: two bytes and one, or one and one.
            let long = u64::from(head >= 1 << 7);
            let bytes = head & 0x7f | long << 7 | head >> 7 << 8 | step << (8 << long);
            stream.extend_from_slice(&(bytes as u32).to_le_bytes());
            stream.truncate(before + 2 + long as usize);
        } else {
            values.into_iter().for_each(|value| put(stream, value));
        }
        self.taken += stream.len() - before;
    }

    /// Writes the unique access in the buffer into the stream.
    fn put_unique(&mut self, wave: u32, values: [u64; 2]) {
        let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) else {
            return;
        };
        let stream = &mut stream.held;
        let before = stream.len();
        values.into_iter().chain([self.unique.len() as u64]).for_each(|value| put(stream, value));
        stream.extend_from_slice(&self.unique);
        self.taken += stream.len() - before;
    }

    /// Pattern index and look-ups of an access whose memo entry is up to date; no index if the access is to
    /// be written into the stream.
    fn pattern(&mut self, slot: usize, policy: Policy, lanes: &Lanes<'_>, first: u64) -> (Option<u32>, u32) {
        let inside = first & ((1 << self.block) - 1);
        let place = inside.is_multiple_of(4).then_some(inside as usize / 4).filter(|&place| place < 32);
        let mut known = place.zip(self.slots.0.get_mut(slot).and_then(Option::as_mut));
        if let Some((place, known)) = &known
            && let Some(number) = known.known[*place]
            && let Some(pattern) = self.patterns.patterns.get(number as usize)
        {
            return (Some(number), pattern.all);
        }
        let bytes = self.patterns.bytes();
        let AccessPatterns { patterns, lookups, .. } = &mut self.patterns;
        let (start, number) = (lookups.len(), patterns.len() as u32);
        let made = known.as_ref().and_then(|(place, known)| known.made.iter().find(|it| it.place == *place));
        let is_new = made.is_none();
        let (times, all) = match made {
            Some(made) => {
                lookups.extend_from_slice(&made.lookups);
                (made.times, made.all)
            }
            None => append_lookups(self.line_sizes, policy, lanes, first - inside, lookups),
        };
        let count = lookups.len() - start;
        let came = known.as_ref().is_some_and(|(place, known)| known.known[*place] == Some(ONCE));
        let most = match (came, self.over_budget) {
            (true, _) => MOST_PATTERNS,
            (false, true) => FEW_PATTERNS,
            (false, false) => SOME_PATTERNS,
        };
        let unique = bytes >= most;
        if let Some((place, known)) = &mut known {
            if is_new {
                known.made.push(Made { place: *place, lookups: lookups[start..].to_vec(), times, all });
            }
            known.known[*place] = Some(if unique { ONCE } else { number });
        }
        if unique {
            self.unique.clear();
            unique_access::write(&mut self.unique, policy, times, &lookups[start..]);
            lookups.truncate(start);
            return (None, all);
        }
        let slot = slot as u32;
        patterns.push(AccessPattern { start: start as u32, count: count as u32, times, all, slot, policy });
        self.taken += size_of::<AccessPattern>() + count * size_of::<Lookup>();
        (Some(number), all)
    }
}

/// Appends the look-ups of an access, relative to a block; returns their repetitions and their number.
fn append_lookups(
    line_sizes: LineSizes,
    policy: Policy,
    lanes: &Lanes<'_>,
    block: u64,
    out: &mut Vec<Lookup>,
) -> (u32, u32) {
    let Lanes { addresses, active, bytes, .. } = *lanes;
    let start = out.len();
    let loads = policy.kind == AccessKind::Load && !policy.bypass;
    let of = match policy.kind {
        AccessKind::Atomic | AccessKind::AtomicReturn => lookups::<true>,
        AccessKind::Load if loads => load_lookups,
        AccessKind::Load | AccessKind::Store => lookups::<false>,
    };
    of(line_sizes, addresses, active, bytes, block, out);
    let all = (out.len() - start) as u32;
    (if loads { gather(out, start) } else { 1 }, all)
}

#[cfg(test)]
mod tests;
