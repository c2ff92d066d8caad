//! Facts about all dispatches of a recording, which stay when their lines are written and they are gone.

use super::Dispatch;
use crate::marks::{ATOMIC_COUNTERS, Apart, time_class};
use clock::{FollowedWorkgroups, RepresentativeXcds};
use probe::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Dispatches that a note names.
const MOST_NAMED: usize = 3;

/// Some dispatches, of which a note names the first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Noted {
    count: usize,
    first: Vec<String>,
}

impl Noted {
    fn add(&mut self, dispatch: &Dispatch) {
        self.count += 1;
        if self.first.len() < MOST_NAMED {
            self.first.push(name(dispatch));
        }
    }

    /// The dispatches in words; `None` without any.
    pub(super) fn which(&self) -> Option<String> {
        let shown = self.first.join(", ");
        match self.count {
            0 => None,
            count if count > MOST_NAMED => Some(format!("{count} dispatches ({shown}, ..)")),
            _ => Some(format!("dispatch {shown}")),
        }
    }
}

/// A dispatch in words.
fn name(dispatch: &Dispatch) -> String {
    format!("{} (`{}`)", dispatch.id, dispatch.kernel)
}

/// Facts about all dispatches.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Overview {
    pub(super) count: u64,
    /// Sums of times by class ([`crate::TIME_CLASSES`]), nanoseconds.
    pub(super) times: [f64; 4],
    /// Some kernel has atomics.
    pub(super) atomics: bool,
    /// Largest likely error of dispatches that were simulated in part.
    pub(super) apart: Option<Apart>,
    /// The dispatch with the lowest mean clock, in megahertz.
    pub(super) lowest_mhz: Option<(String, f64)>,
    /// Dispatches on representative XCDs: one of them, how many, largest errors of time and counts.
    pub(super) shared: Option<(RepresentativeXcds, usize, [f64; 2])>,
    /// The first dispatch of which only the first workgroups were simulated, and how many others there are.
    pub(super) followed: Option<(String, FollowedWorkgroups, usize)>,
    pub(super) cut: Noted,
    pub(super) hurried: Noted,
    pub(super) untimed: Noted,
    /// Why the first of these has no time.
    pub(super) no_time: Option<String>,
    pub(super) has_predictions: bool,
    pub(super) has_occupancy: bool,
    /// Counters with a value in some dispatch: all parts of the recording have the same columns.
    pub(super) known: BTreeSet<&'static str>,
    /// Counters with a value in the last dispatch.
    last_known: Vec<&'static str>,
    /// Largest number of channel values of a counter in a dispatch.
    pub(super) most_channels: BTreeMap<&'static str, usize>,
}

impl Overview {
    /// Adds a dispatch; true if the recording has more files or columns since then.
    pub(super) fn add(&mut self, dispatch: &Dispatch) -> bool {
        self.count += 1;
        if let Some(time) = &dispatch.time {
            self.times[time_class(time.nanoseconds, time.limit())] += time.nanoseconds;
        }
        let is_atomic = |it: &(&str, Value)| it.1.known() != Some(0) && ATOMIC_COUNTERS.contains(&it.0);
        self.atomics = self.atomics || dispatch.counters.iter().any(is_atomic);
        if let Some(new) = apart_of(dispatch) {
            let old = self.apart.unwrap_or_default();
            self.apart = Some(Apart { time: old.time.max(new.time), counts: old.counts.max(new.counts) });
        }
        if let Some(mhz) = dispatch.lowered_mhz
            && self.lowest_mhz.as_ref().is_none_or(|it| mhz < it.1)
        {
            self.lowest_mhz = Some((name(dispatch), mhz));
        }
        if let Some(new) = dispatch.shared {
            let (_, count, errors) = self.shared.get_or_insert((new, 0, [0.0; 2]));
            *count += 1;
            *errors = [errors[0].max(new.time_error), errors[1].max(new.count_error)];
        }
        self.note(dispatch);
        self.add_columns(dispatch)
    }

    fn note(&mut self, dispatch: &Dispatch) {
        if let Some(new) = dispatch.followed {
            match &mut self.followed {
                Some((_, _, others)) => *others += 1,
                None => self.followed = Some((name(dispatch), new, 0)),
            }
        }
        let noted = [
            (dispatch.cut, &mut self.cut),
            (dispatch.hurried, &mut self.hurried),
            (dispatch.no_time.is_some(), &mut self.untimed),
        ];
        noted.into_iter().filter(|it| it.0).for_each(|(_, noted)| noted.add(dispatch));
        if self.no_time.is_none() {
            self.no_time.clone_from(&dispatch.no_time);
        }
    }

    fn add_columns(&mut self, dispatch: &Dispatch) -> bool {
        let mut more = false;
        let mut set = |flag: &mut bool, now: bool| more |= now && !std::mem::replace(flag, *flag || now);
        set(&mut self.has_predictions, !dispatch.predicted.is_empty());
        set(&mut self.has_occupancy, dispatch.occupancy.is_some());
        more |= self.count == 1
            || (dispatch.followed.is_some() && self.followed.as_ref().is_some_and(|it| it.2 == 0));
        more |= self.add_known(dispatch);
        for (name, values) in dispatch.channels.iter() {
            let most = self.most_channels.entry(name).or_default();
            more |= values.len() > *most;
            *most = values.len().max(*most);
        }
        more
    }

    /// Adds the counters that have values; true if one has its first. Nearly all dispatches have those of the one
    /// before.
    fn add_known(&mut self, dispatch: &Dispatch) -> bool {
        let known = dispatch.counters.iter().filter(|it| it.1.known().is_some()).map(|it| it.0);
        if known.clone().map(str::as_ptr).eq(self.last_known.iter().map(|it| it.as_ptr())) {
            return false;
        }
        self.last_known = known.collect();
        let before = self.known.len();
        self.known.extend(&self.last_known);
        self.known.len() > before
    }
}

/// Likely error of a dispatch that was simulated in part, percent.
pub(super) fn apart_of(dispatch: &Dispatch) -> Option<Apart> {
    let (shared, followed) = (dispatch.shared, dispatch.followed);
    let error = shared.map_or(0.0, |it| it.time_error) + followed.map_or(0.0, |it| it.time_error);
    // Counts are extrapolated as the time is.
    let counts = shared.map_or(0.0, |it| it.count_error) + followed.map_or(0.0, |it| it.time_error);
    (shared.is_some() || followed.is_some()).then_some(Apart { time: 100.0 * error, counts: 100.0 * counts })
}
