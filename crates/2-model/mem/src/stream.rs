//! What the waves of some workgroups did to memory, recorded compactly while they run.
//!
//! The one idea to keep in mind: most accesses repeat the form of the one before at another address. A form, its lanes'
//! distances worked off into look-ups, is kept once; an access is the form's number and how far it lies from the last.

use crate::access::{Grain, Kind, Lanes, Lookup, Policy, gather, load_lookups, lookups};
use crate::cursor::{
    BARRIER, Cursor, Event, LDS, MOST_DWORDS, RUN, SCALAR_LOAD, SCALAR_OTHER, TAG, VECTOR, put, zigzag,
};
use crate::sample::Sample;
use crate::shape::Shape;
use crate::slot::{Made, Slots, known};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes one workgroup's stream may take. What comes later is counted as dropped: nothing can be said of such a dispatch but
/// what does not depend on caches and times.
pub const MOST_PER_GROUP: usize = 64 << 20;

/// Most times that look-ups come: every lane of a wave has at most two.
const MOST_TIMES: u32 = 128;

/// A form of access.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Form {
    /// Its look-ups, in the batch's list, and how many times they come.
    start: u32,
    count: u32,
    times: u32,
    /// Look-ups that these are.
    all: u32,
    /// Number of its memory instruction.
    slot: u32,
    policy: Policy,
}

/// An access of the vector L1, but for its place.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    /// Number of its memory instruction.
    pub slot: u32,
    /// How the caches are to treat it.
    pub policy: Policy,
    /// Its look-ups.
    pub lookups: &'a [Lookup],
    /// How many times they come one after the other.
    pub times: u32,
}

/// The streams of some workgroups that follow each other; a copy shares them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The workgroups, in order.
    pub groups: Vec<Arc<Group>>,
    /// What their streams refer to.
    pub forms: Arc<Forms>,
}

impl Batch {
    /// Bytes of its longest stream.
    pub fn longest_stream(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.waves).map(Vec::len).max().unwrap_or(0)
    }
}

/// Forms that the streams of a batch refer to.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Forms {
    forms: Vec<Form>,
    lookups: Vec<Lookup>,
    /// Instructions that issue one after the other: the first, and how many.
    runs: Vec<(u32, u32)>,
    /// Accesses of the LDS.
    lds: Vec<LdsAccess>,
}

/// An access of the LDS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LdsAccess {
    /// Number of its memory instruction.
    pub slot: u32,
    /// Cycles it takes.
    pub cycles: u32,
    /// Of these, lost to lanes that want the same bank.
    pub conflicts: u32,
}

impl Forms {
    /// A form of vector accesses.
    #[inline]
    pub fn get(&self, number: usize) -> Option<Shared<'_>> {
        let form = self.forms.get(number)?;
        let (start, count) = (form.start as usize, form.count as usize);
        let lookups = self.lookups.get(start..start + count)?;
        Some(Shared { slot: form.slot, policy: form.policy, lookups, times: form.times })
    }

    /// Instructions that issue one after the other: the first, and how many.
    #[inline]
    pub fn run(&self, number: usize) -> (u32, u32) {
        self.runs.get(number).copied().unwrap_or((0, 0))
    }

    /// An access of the LDS.
    #[inline]
    pub fn lds(&self, number: usize) -> LdsAccess {
        self.lds.get(number).copied().unwrap_or_default()
    }

    /// Whether all they refer to is there, for a program of so many instructions.
    pub(crate) fn are_sound(&self, instructions: usize) -> bool {
        let inside = |start: u32, count: u32, all: usize| start as usize + count as usize <= all;
        let form =
            |form: &Form| inside(form.start, form.count, self.lookups.len()) && form.times <= MOST_TIMES;
        self.forms.iter().all(form)
            && self.runs.iter().all(|&(first, count)| inside(first, count, instructions))
    }

    /// Whether a stream has only whole events, of forms that are there.
    pub(crate) fn fit(&self, stream: &[u8]) -> bool {
        let mut cursor = Cursor::default();
        let known = |event: Event| match event {
            Event::Vector(form, _) => form < self.forms.len(),
            Event::Scalar(_, _, dwords) => dwords <= MOST_DWORDS,
            Event::Run(run) => run < self.runs.len(),
            Event::Lds(access) => access < self.lds.len(),
            Event::Barrier => true,
        };
        while let Some(event) = cursor.next(stream) {
            if !known(event) {
                return false;
            }
        }
        cursor.ended(stream)
    }

    /// Memory they take.
    pub fn bytes(&self) -> usize {
        self.forms.len() * size_of::<Form>()
            + self.lookups.len() * size_of::<Lookup>()
            + self.runs.len() * size_of::<(u32, u32)>()
            + self.lds.len() * size_of::<LdsAccess>()
    }
}

/// The streams of a workgroup's waves.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Group {
    /// What each wave did.
    pub waves: Vec<Vec<u8>>,
    /// Events that are not in the streams.
    pub dropped: u64,
    /// Look-ups of its vector accesses.
    pub lookups: u64,
    /// Lines of the L2 that it reads.
    pub read: Sample,
}

impl Group {
    /// Memory they take.
    pub fn bytes(&self) -> usize {
        let waves: usize = self.waves.iter().map(|wave| wave.len() + size_of::<Vec<u8>>()).sum();
        waves + self.read.bytes()
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
    /// Bytes of the workgroup at hand, its forms counted in.
    taken: usize,
    /// The streams of the workgroup at hand are wanted.
    wanted: bool,
    /// Bytes that a stream will probably take.
    expected: usize,
    /// By first instruction: number of its last run, from 1.
    runs: Vec<u32>,
    /// By memory instruction: number of its last LDS access, from 1.
    lds: Vec<u32>,
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
            wanted: true,
            expected: 0,
            runs: Vec::new(),
            lds: Vec::new(),
        }
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
        let both = (first as u32, count as u32);
        let number = same_as_last(&mut self.runs, &mut self.forms.runs, first, both);
        self.put_one(wave, u64::from(number) << TAG | RUN);
    }

    /// An access of the LDS.
    #[inline]
    pub fn lds(&mut self, wave: u32, access: LdsAccess) {
        if !self.wanted {
            return;
        }
        let number = same_as_last(&mut self.lds, &mut self.forms.lds, access.slot as usize, access);
        self.put_one(wave, u64::from(number) << TAG | LDS);
    }

    fn put_one(&mut self, wave: u32, value: u64) {
        if self.full() {
            return;
        }
        if let Some(stream) = self.groups.last_mut().and_then(|group| group.waves.get_mut(wave as usize)) {
            let before = stream.len();
            put(stream, value);
            self.taken += stream.len() - before;
        }
    }

    /// The next workgroup begins.
    pub fn begin(&mut self) {
        self.groups.push(Group::default());
        self.last.clear();
        (self.taken, self.wanted) = (0, true);
    }

    /// The next workgroup begins, whose streams nobody wants: only which lines it reads is noted.
    pub fn begin_unwanted(&mut self) {
        self.begin();
        self.wanted = false;
    }

    /// The next wave of the workgroup begins.
    pub fn wave(&mut self) {
        if let Some(group) = self.groups.last_mut() {
            group.waves.push(Vec::with_capacity(if self.wanted { self.expected } else { 0 }));
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
        let form = self.form(slot as usize, policy, lanes, first);
        let Some(last) = self.last.get_mut(wave as usize) else { return };
        let step = (block as i64).wrapping_sub(last[0] as i64);
        last[0] = block;
        if let Some(group) = self.groups.last_mut() {
            group.lookups += self.forms.forms.get(form as usize).map_or(0, |form| u64::from(form.all));
        }
        self.put(wave, [u64::from(form) << TAG | VECTOR, zigzag(step)]);
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
            wave.push(BARRIER as u8);
            self.taken += 1;
        }
    }

    /// What was recorded.
    pub fn finish(self) -> Batch {
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

    /// Number of the form of an access, of whose slot that is known which it has.
    fn form(&mut self, slot: usize, policy: Policy, lanes: &Lanes<'_>, first: u64) -> u32 {
        let inside = first & ((1 << self.block) - 1);
        let place = inside.is_multiple_of(4).then_some(inside as usize / 4).filter(|&place| place < 32);
        let mut known = place.zip(self.slots.0.get_mut(slot).and_then(Option::as_mut));
        if let Some((place, known)) = &known
            && let Some(form) = known.known[*place]
        {
            return form;
        }
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
        if let Some((place, known)) = &mut known {
            if is_new {
                known.made.push(Made { place: *place, lookups: lookups[start..].to_vec(), times, all });
            }
            known.known[*place] = Some(number);
        }
        let slot = slot as u32;
        forms.push(Form { start: start as u32, count: count as u32, times, all, slot, policy });
        self.taken += size_of::<Form>() + count * size_of::<Lookup>();
        number
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

/// Number of an entry of a list; most are the one that stood last at their place.
fn same_as_last<T: PartialEq>(last: &mut Vec<u32>, list: &mut Vec<T>, place: usize, entry: T) -> u32 {
    if last.len() <= place {
        last.resize(place + 1, 0);
    }
    if let Some(number) = last[place].checked_sub(1)
        && list.get(number as usize) == Some(&entry)
    {
        return number;
    }
    let number = list.len() as u32;
    list.push(entry);
    last[place] = number + 1;
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use arch::Model;

    fn trace() -> Trace {
        let mut trace = Trace::new(&Shape::of(Model::by_name("mi300x").unwrap()));
        trace.begin();
        trace.wave();
        trace.wave();
        trace
    }

    fn rows(base: u64) -> [u64; 64] {
        std::array::from_fn(|lane| base + 8 * lane as u64)
    }

    #[test]
    fn accesses_of_one_form_share_it() {
        let mut trace = trace();
        for (wave, base) in [(0, 0x7f00_0000_0000), (1, 0x7f00_0000_0200), (0, 0x10_0000), (0, 0x10_0040)] {
            trace.vector(wave, 3, Policy::plain(Kind::Load), &Lanes::new(&rows(base), u64::MAX, 8));
        }
        trace.barrier();
        trace.scalar(1, Kind::Load, 0x1000, 8);
        trace.scalar(1, Kind::Atomic, 0x0ff0, 4);
        let batch = trace.finish();
        let group = &batch.groups[0];
        let events = |wave: usize| -> Vec<Event> {
            let mut cursor = Cursor::default();
            std::iter::from_fn(|| cursor.next(&group.waves[wave])).collect()
        };
        let block = 0x7f00_0000_0000 / 128;
        let first =
            [Event::Vector(0, block), Event::Vector(0, 0x2000), Event::Vector(1, 0x2000), Event::Barrier];
        assert_eq!(events(0), first);
        let loads = [Event::Scalar(Kind::Load, 0x400, 2), Event::Scalar(Kind::Atomic, 0x3fc, 1)];
        assert_eq!(events(1), [&[Event::Vector(0, block + 4), Event::Barrier], &loads[..]].concat());
        // Four quads share a line.
        assert_eq!((group.lookups, batch.forms.get(0).unwrap().lookups.len()), (64, 4));
    }

    #[test]
    fn of_what_is_not_wanted_the_same_lines_are_noted() {
        let samples = [Trace::begin, Trace::begin_unwanted].map(|begin: fn(&mut Trace)| {
            let mut trace = trace();
            begin(&mut trace);
            trace.wave();
            for step in 0..2000 {
                trace.run(0, 1, 2);
                let load = Policy::plain(Kind::Load);
                trace.vector(0, 3, load, &Lanes::new(&rows(0x100_0000 + 72 * step), u64::MAX, 8));
                trace.vector(0, 4, Policy::plain(Kind::Store), &Lanes::new(&rows(1 << 30), u64::MAX, 8));
                trace.scalar(0, Kind::Load, 0x200_0000 + 64 * step, 8);
                trace.lds(0, LdsAccess::default());
            }
            trace.barrier();
            let group = trace.finish().groups.remove(1);
            (group.waves[0].len(), group.read.clone())
        });
        let [(wanted, read), (unwanted, same)] = samples;
        assert!(wanted > 8000 && unwanted == 0, "{wanted} {unwanted}");
        assert!(read.lines().len() > 20 && read == same);
    }

    #[test]
    fn what_an_earlier_recording_worked_out_changes_nothing() {
        let record = |slots: Slots, first: u64| {
            let mut trace = trace();
            trace.begin_with(slots);
            for step in 0..500 {
                let at = 0x10_0000 + (first + step) % 100 * 72;
                trace.vector(0, 1, Policy::plain(Kind::Load), &Lanes::new(&rows(at), u64::MAX, 8));
                trace.vector(
                    1,
                    2,
                    Policy::plain(Kind::Store),
                    &Lanes::new(&rows(at), u64::MAX >> (step / 250), 4),
                );
                trace.vector(0, 3, Policy::plain(Kind::Load), &Lanes::new(&rows(at + step % 3), u64::MAX, 2));
            }
            (trace.take_slots(), trace.finish())
        };
        let (slots, _) = record(Slots::default(), 0);
        let (after, alone) = (record(slots, 41).1, record(Slots::default(), 41).1);
        assert_eq!((&after.groups, &after.forms), (&alone.groups, &alone.forms));
    }

    #[test]
    fn inactive_lanes_do_not_make_a_form() {
        let mut trace = trace();
        let mut other = rows(0x1000);
        other[5] = 77;
        trace.vector(0, 0, Policy::plain(Kind::Load), &Lanes::new(&rows(0x1000), !(1 << 5), 8));
        trace.vector(0, 0, Policy::plain(Kind::Load), &Lanes::new(&other, !(1 << 5), 8));
        trace.vector(0, 0, Policy::plain(Kind::Load), &Lanes::new(&other, 0, 8));
        assert_eq!(trace.finish().forms.forms.len(), 1);
    }

    #[test]
    fn a_stream_does_not_grow_without_bound() {
        let mut trace = trace();
        let mut addresses = [0; 64];
        let mut state = 1u64;
        while !trace.full() {
            for address in &mut addresses {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *address = state >> 24;
            }
            trace.vector(0, 0, Policy::plain(Kind::Load), &Lanes::new(&addresses, u64::MAX, 4));
        }
        // Whatever comes then is counted.
        trace.run(0, 1, 2);
        trace.lds(0, LdsAccess::default());
        trace.barrier();
        trace.scalar(0, Kind::Load, 0x1000, 8);
        trace.vector(0, 0, Policy::plain(Kind::Load), &Lanes::new(&addresses, u64::MAX, 4));
        let batch = trace.finish();
        assert!(batch.groups[0].dropped == 6 && batch.forms.bytes() < MOST_PER_GROUP + 4096);
    }
}
