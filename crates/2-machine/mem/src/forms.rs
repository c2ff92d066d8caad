//! Forms of accesses, which streams refer to.
//!
//! The one idea to keep in mind: whatever repeats stands here once and has a number.

use crate::access::{Lookup, Policy};
use crate::cursor::{Cursor, Event, MOST_DWORDS};
use crate::own::Own;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most times that look-ups come: every lane of a wave has at most two.
pub(crate) const MOST_TIMES: u32 = 128;

/// A form of access.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Form {
    /// Its look-ups, in the batch's list, and how many times they come.
    pub(crate) start: u32,
    pub(crate) count: u32,
    pub(crate) times: u32,
    /// Look-ups that these are.
    pub(crate) all: u32,
    /// Number of its memory instruction.
    pub(crate) slot: u32,
    pub(crate) policy: Policy,
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

/// Forms that the streams of a batch refer to.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Forms {
    pub(crate) forms: Vec<Form>,
    pub(crate) lookups: Vec<Lookup>,
    /// Instructions that issue one after the other: the first, and how many.
    pub(crate) runs: Vec<(u32, u32)>,
    /// Accesses of the LDS.
    pub(crate) lds: Vec<LdsAccess>,
}

/// An access of the LDS.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
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

    /// Whether a part of a stream, which the cursor turns to, has only whole events, of forms that are there.
    pub(crate) fn fit(&self, cursor: &mut Cursor, stream: &[u8]) -> bool {
        cursor.rewind();
        let mut own = Own::default();
        let mut known = |event: Event| match event {
            Event::Vector(form, _) => form < self.forms.len(),
            Event::Scalar(_, _, dwords) => dwords <= MOST_DWORDS,
            Event::Run(run) => run < self.runs.len(),
            Event::Lds(access) => access < self.lds.len(),
            Event::Barrier => true,
            Event::Own(slot, at, _) => own.read(stream, slot, at as usize),
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

/// Numbers of the entries of a list, where most are the one that stood last at their place.
#[derive(Debug)]
pub(crate) struct Numbers<T> {
    /// By place: number of the last entry, from 1.
    last: Vec<u32>,
    all: HashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers { last: Vec::new(), all: HashMap::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    /// The number of an entry, which is added to the list if it is not there.
    #[inline]
    pub(crate) fn of(&mut self, list: &mut Vec<T>, place: usize, entry: T) -> u32 {
        if let Some(number) = self.last.get(place).and_then(|last| last.checked_sub(1))
            && list.get(number as usize) == Some(&entry)
        {
            return number;
        }
        self.find(list, place, entry)
    }

    fn find(&mut self, list: &mut Vec<T>, place: usize, entry: T) -> u32 {
        if self.last.len() <= place {
            self.last.resize(place + 1, 0);
        }
        let number = *self.all.entry(entry).or_insert_with(|| {
            list.push(entry);
            list.len() as u32 - 1
        });
        self.last[place] = number + 1;
        number
    }
}
