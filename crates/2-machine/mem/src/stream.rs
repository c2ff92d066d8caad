//! What the waves of some workgroups did to memory, recorded compactly while they run.
//!
//! The one idea to keep in mind: most accesses repeat the form of the one before at another address. A form, its lanes'
//! distances worked off into look-ups, is kept once; an access is the form's number and how far it lies from the last.

use crate::access::{Grain, Kind, Lanes, Lookup, Policy, gather, load_lookups, lookups};
use crate::away::Stream;
use crate::cursor::{
    BARRIER, LDS, MOST_DWORDS, OWN, RUN, SCALAR_LOAD, SCALAR_OTHER, TAG, VECTOR, put, zigzag,
};
use crate::depot::{BLOCK, Depot, Held};
use crate::forms::{Form, Forms, LdsAccess, Numbers};
use crate::own;
use crate::sample::Sample;
use crate::shape::Shape;
use crate::slot::{Made, Slots, known};
use std::sync::Arc;

/// Bytes one workgroup's stream may take in memory, where it cannot be put away. What comes later is counted as dropped: nothing
/// can be said of such a dispatch but what does not depend on caches and times.
pub const MOST_PER_GROUP: usize = 64 << 20;

/// Bytes beyond which what can be put away of a workgroup's stream is, whatever else is in memory.
const MUCH: usize = MOST_PER_GROUP / 4;

/// Bytes after which it is looked again at how much memory streams take.
const STEP: usize = 64 << 10;

/// Bytes of a wave's stream that are worth being put away while it grows, and when it has ended.
const PIECE: usize = BLOCK - BLOCK / 8;
const REST: usize = 1 << 10;

/// Bytes of forms in a batch beyond which an access of a new form is written into the stream, if it does not come again; the same
/// where streams take too much memory; and beyond which all are.
const SOME_FORMS: usize = 512 << 10;
const FEW_FORMS: usize = 32 << 10;
const MOST_FORMS: usize = 1 << 20;

/// In place of the number of a form: one that came once and is in the stream.
const ONCE: u32 = u32::MAX;

/// The streams of some workgroups that follow each other; a copy shares them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The workgroups, in order.
    pub groups: Vec<Arc<Group>>,
    /// What their streams refer to.
    pub forms: Arc<Forms>,
}

impl Batch {
    /// Bytes that its longest stream takes in memory.
    pub fn longest_stream(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.waves).map(|it| it.held.len()).max().unwrap_or(0)
    }
}

/// The streams of a workgroup's waves.
#[derive(PartialEq, Debug, Default)]
pub struct Group {
    /// What each wave did.
    pub waves: Vec<Stream>,
    /// Events that are not in the streams.
    pub dropped: u64,
    /// Look-ups of its vector accesses.
    pub lookups: u64,
    /// Lines of the L2 that it reads.
    pub read: Sample,
    /// What it takes in memory, for whoever wants to know how much all take.
    pub(crate) held: Held,
}

impl Group {
    /// Memory they take.
    pub fn bytes(&self) -> usize {
        self.waves.iter().map(Stream::bytes).sum::<usize>() + self.read.bytes()
    }

    /// Puts away what is worth it.
    pub(crate) fn put_away(&mut self, depot: &Arc<Depot>) {
        for wave in self.waves.iter_mut().filter(|wave| wave.held.len() >= REST) {
            wave.put_away(depot);
        }
    }
}

/// Records the accesses of workgroups, one after the other.
#[derive(Debug)]
pub struct Trace {
    grain: Grain,
    /// Bytes of the blocks in which places are counted, as a power of two.
    block: u32,
    groups: Vec<Group>,
    forms: Forms,
    /// By memory instruction: what it did last.
    slots: Slots,
    /// By wave of the workgroup at hand: block of the last vector access, dword of the last scalar one.
    last: Vec<[u64; 2]>,
    /// Bytes in memory of the workgroup at hand, its forms counted in, and of those before.
    taken: usize,
    before: usize,
    /// Where streams are put away that memory has no room for, and what that knows of these.
    depot: Option<Arc<Depot>>,
    held: Held,
    /// Streams are put away, as it was found when the workgroup at hand had some bytes less than this.
    pressed: bool,
    looks_at: usize,
    /// Bytes of an access that is written into the stream.
    own: Vec<u8>,
    /// The streams of the workgroup at hand are wanted.
    wanted: bool,
    /// Bytes that a stream will probably take.
    expected: usize,
    /// By first instruction, and by memory instruction.
    runs: Numbers<(u32, u32)>,
    lds: Numbers<LdsAccess>,
}

impl Trace {
    /// Records for a GPU.
    pub fn new(shape: &Shape) -> Trace {
        Trace {
            grain: Grain { line: shape.l1_line, sector: shape.sector },
            block: shape.l2_line.trailing_zeros(),
            groups: Vec::new(),
            forms: Forms::default(),
            slots: Slots::default(),
            last: Vec::new(),
            taken: 0,
            before: 0,
            depot: None,
            held: Held::default(),
            pressed: false,
            looks_at: 0,
            own: Vec::new(),
            wanted: true,
            expected: 0,
            runs: Numbers::default(),
            lds: Numbers::default(),
        }
    }

    /// What memory has no room for is put away there.
    pub fn put_away(&mut self, depot: Option<&Arc<Depot>>) {
        self.depot = depot.cloned();
        self.held = Held::new(depot, 0);
        self.look();
    }

    /// As an earlier recording of the same program left it, for the same GPU, nothing of a slot is worked out again.
    pub fn begin_with(&mut self, slots: Slots) {
        self.slots = slots;
        self.slots.begin();
    }

    /// What the next recording of the same program may begin with.
    pub fn take_slots(&mut self) -> Slots {
        std::mem::take(&mut self.slots)
    }

    /// Streams will probably take so many bytes: room is made for them at once.
    pub fn expect(&mut self, bytes: usize) {
        self.expected = bytes;
    }

    /// Instructions issue one after the other.
    #[inline]
    pub fn run(&mut self, wave: u32, first: usize, count: usize) {
        if !self.wanted {
            return;
        }
        if self.taken >= self.looks_at {
            self.look();
        }
        if self.pressed {
            self.lighten(wave);
        }
        let both = (first as u32, count as u32);
        let number = self.runs.of(&mut self.forms.runs, first, both);
        self.put_one(wave, u64::from(number) << TAG | RUN);
    }

    /// An access of the LDS.
    #[inline]
    pub fn lds(&mut self, wave: u32, access: LdsAccess) {
        if !self.wanted {
            return;
        }
        let number = self.lds.of(&mut self.forms.lds, access.slot as usize, access);
        self.put_one(wave, u64::from(number) << TAG | LDS);
    }

    fn put_one(&mut self, wave: u32, value: u64) {
        if self.full() {
            return;
        }
        if let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) {
            let before = stream.held.len();
            put(&mut stream.held, value);
            self.taken += stream.held.len() - before;
        }
    }

    /// How much memory streams take, these counted in.
    fn look(&mut self) {
        let Some(depot) = &self.depot else {
            self.looks_at = usize::MAX;
            return;
        };
        self.held.set(self.before + self.taken);
        self.pressed = depot.is_pressed() || self.taken > MUCH;
        self.looks_at = self.taken + STEP;
    }

    /// Puts a wave's stream away, of which all instructions have ended.
    fn lighten(&mut self, wave: u32) {
        let stream = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize));
        if let Some(stream) = stream.filter(|stream| stream.held.len() >= PIECE)
            && let Some(depot) = &self.depot
        {
            let before = stream.held.len();
            // Where there is no room, another time.
            self.pressed = stream.put_away(depot);
            self.taken -= before - stream.held.len();
            self.looks_at = self.taken + STEP;
        }
    }

    /// The workgroup at hand has ended.
    fn end(&mut self) {
        self.look();
        if let (Some(group), Some(depot)) = (self.groups.last_mut(), &self.depot) {
            if self.pressed {
                group.put_away(depot);
            }
            self.before += group.bytes();
        }
        (self.taken, self.looks_at) = (0, 0);
    }

    /// The next workgroup begins.
    pub fn begin(&mut self) {
        self.end();
        self.groups.push(Group::default());
        self.last.clear();
        self.wanted = true;
    }

    /// The next workgroup begins, whose streams nobody wants: only which lines it reads is noted.
    pub fn begin_unwanted(&mut self) {
        self.begin();
        self.wanted = false;
    }

    /// The next wave of the workgroup begins.
    pub fn wave(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.waves.push(Stream::with_room(if self.wanted { self.expected } else { 0 }));
            self.last.push([0; 2]);
        }
    }

    /// A vector access; `slot` numbers the memory instruction. Addresses of inactive lanes do not count. Where accesses of a slot
    /// have the same `formation`, their lanes are known to stand alike.
    pub fn vector(&mut self, wave: u32, slot: u32, policy: Policy, lanes: &Lanes<'_>) {
        if lanes.active == 0 {
            return;
        }
        let first = lanes.addresses[lanes.active.trailing_zeros() as usize & 63];
        let block = first >> self.block;
        let known = known(&mut self.slots, slot as usize, policy, lanes, first);
        if policy.kind != Kind::Store
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
        let (number, all) = self.form(slot as usize, policy, lanes, first);
        if let Some(group) = self.groups.last_mut() {
            group.lookups += u64::from(all);
        }
        match number {
            Some(form) => self.put(wave, [u64::from(form) << TAG | VECTOR, step]),
            None => self.put_own(wave, [u64::from(slot) << TAG | OWN, step]),
        }
    }

    /// A scalar access of some dwords in a row.
    pub fn scalar(&mut self, wave: u32, kind: Kind, address: u64, bytes: u32) {
        if kind == Kind::Load
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
            Kind::Load => dwords << TAG | SCALAR_LOAD,
            Kind::Store => dwords << (TAG + 1) | SCALAR_OTHER,
            Kind::Atomic | Kind::AtomicReturn => dwords << (TAG + 1) | 1 << TAG | SCALAR_OTHER,
        };
        self.put(wave, [head, zigzag(step)]);
    }

    /// All waves of the workgroup meet at a barrier.
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

    /// What was recorded.
    pub fn finish(mut self) -> Batch {
        self.end();
        let shared = self.forms.bytes() / self.groups.len().max(1);
        for group in &mut self.groups {
            group.held = Held::new(self.depot.as_ref(), group.bytes() + shared);
        }
        Batch { groups: self.groups.into_iter().map(Arc::new).collect(), forms: Arc::new(self.forms) }
    }

    /// Whether the workgroup has used up its room; then the event counts as dropped.
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
            // Most: two bytes and one, or one and one.
            let long = u64::from(head >= 1 << 7);
            let bytes = head & 0x7f | long << 7 | head >> 7 << 8 | step << (8 << long);
            stream.extend_from_slice(&(bytes as u32).to_le_bytes());
            stream.truncate(before + 2 + long as usize);
        } else {
            values.into_iter().for_each(|value| put(stream, value));
        }
        self.taken += stream.len() - before;
    }

    /// The access that was just worked off is written into the stream.
    fn put_own(&mut self, wave: u32, values: [u64; 2]) {
        let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) else {
            return;
        };
        let stream = &mut stream.held;
        let before = stream.len();
        values.into_iter().chain([self.own.len() as u64]).for_each(|value| put(stream, value));
        stream.extend_from_slice(&self.own);
        self.taken += stream.len() - before;
    }

    /// Number of the form of an access, of whose slot that is known which it has, and look-ups of it; none where the access is to
    /// be written into the stream.
    fn form(&mut self, slot: usize, policy: Policy, lanes: &Lanes<'_>, first: u64) -> (Option<u32>, u32) {
        let inside = first & ((1 << self.block) - 1);
        let place = inside.is_multiple_of(4).then_some(inside as usize / 4).filter(|&place| place < 32);
        let mut known = place.zip(self.slots.0.get_mut(slot).and_then(Option::as_mut));
        if let Some((place, known)) = &known
            && let Some(number) = known.known[*place]
            && let Some(form) = self.forms.forms.get(number as usize)
        {
            return (Some(number), form.all);
        }
        let bytes = self.forms.bytes();
        let Forms { forms, lookups, .. } = &mut self.forms;
        let (start, number) = (lookups.len(), forms.len() as u32);
        let made = known.as_ref().and_then(|(place, known)| known.made.iter().find(|it| it.place == *place));
        let is_new = made.is_none();
        let (times, all) = match made {
            Some(made) => {
                lookups.extend_from_slice(&made.lookups);
                (made.times, made.all)
            }
            None => work_off(self.grain, policy, lanes, first - inside, lookups),
        };
        let count = lookups.len() - start;
        let came = known.as_ref().is_some_and(|(place, known)| known.known[*place] == Some(ONCE));
        let most = match (came, self.pressed) {
            (true, _) => MOST_FORMS,
            (false, true) => FEW_FORMS,
            (false, false) => SOME_FORMS,
        };
        let own = bytes >= most;
        if let Some((place, known)) = &mut known {
            if is_new {
                known.made.push(Made { place: *place, lookups: lookups[start..].to_vec(), times, all });
            }
            known.known[*place] = Some(if own { ONCE } else { number });
        }
        if own {
            self.own.clear();
            own::write(&mut self.own, policy, times, &lookups[start..]);
            lookups.truncate(start);
            return (None, all);
        }
        let slot = slot as u32;
        forms.push(Form { start: start as u32, count: count as u32, times, all, slot, policy });
        self.taken += size_of::<Form>() + count * size_of::<Lookup>();
        (Some(number), all)
    }
}

/// Appends the look-ups of an access, counted from a block: how many times they come, and how many there are.
fn work_off(
    grain: Grain,
    policy: Policy,
    lanes: &Lanes<'_>,
    block: u64,
    out: &mut Vec<Lookup>,
) -> (u32, u32) {
    let Lanes { addresses, active, bytes, .. } = *lanes;
    let start = out.len();
    let loads = policy.kind == Kind::Load && !policy.bypass;
    let of = if loads { load_lookups } else { lookups };
    of(grain, addresses, active, bytes, block, out);
    let all = (out.len() - start) as u32;
    (if loads { gather(out, start) } else { 1 }, all)
}

#[cfg(test)]
mod tests;
