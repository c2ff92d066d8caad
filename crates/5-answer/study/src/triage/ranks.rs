//! Ranks whose collectives timed out: who waits in which one, and who is behind.

use super::events::{Place, WATCHDOG as ID, WATCHDOG_STATE};
use super::{FaultLog, fact, ranges};
use std::collections::BTreeMap;
use view::{Incident, NamedValue, counted, noun_of};

/// Highest rank up to which silent ranks are named.
const MOST_RANKS: u32 = 4_096;

/// Last collective of a rank.
struct Waiting<'a> {
    sequence: u64,
    collective: &'a str,
    elements: Option<&'a str>,
    timeout_ms: Option<&'a str>,
    line: u32,
    log: &'a FaultLog,
}

/// One incident over all ranks.
pub(super) fn incident(places: &[Place<'_>]) -> Option<Incident> {
    let timeouts: Vec<&Place<'_>> = places.iter().filter(|it| it.event.id() == ID).collect();
    let first = timeouts.first()?;
    let row = first.event.message?;
    let states: Vec<&Place<'_>> = places.iter().filter(|it| it.event.id() == WATCHDOG_STATE).collect();
    let ranks = Ranks::of(&timeouts, &states);
    let mut facts = vec![fact("message", row.id.clone())];
    facts.extend(ranks.facts());
    let mut next = Vec::new();
    if !ranks.behind.is_empty() {
        next.push(format!(
            "look where {} is: py-spy dump --pid PID; the others only wait for it",
            named(&ranks.behind)
        ));
    } else if !ranks.silent.is_empty() && ranks.waiting.len() > 1 {
        next.push(format!("look at {}: py-spy dump --pid PID, or its last output", named(&ranks.silent)));
    }
    next.extend(row.next.iter().cloned());
    Some(Incident {
        file: first.log.file.clone(),
        line: first.event.line,
        title: ranks.title().unwrap_or_else(|| first.event.text.clone()),
        consequence: false,
        meaning: row.meaning.clone(),
        facts,
        code: Vec::new(),
        code_from: String::new(),
        next,
    })
}

/// Ranks that timed out.
struct Ranks<'a> {
    waiting: BTreeMap<u32, Waiting<'a>>,
    /// Ranks in the lowest collective, if ranks are in different ones.
    behind: Vec<usize>,
    /// Ranks below the highest one that printed nothing.
    silent: Vec<usize>,
}

impl<'a> Ranks<'a> {
    fn of(timeouts: &[&Place<'a>], states: &[&Place<'a>]) -> Ranks<'a> {
        let mut waiting: BTreeMap<u32, Waiting<'a>> = BTreeMap::new();
        // Time-outs name the collective; a state alone says that its rank timed out too.
        for place in timeouts.iter().chain(states) {
            let it = place.event;
            let rank = it.field("rank").and_then(|it| it.parse().ok());
            let rank = rank.or_else(|| it.writers.first().and_then(|it| it.rank));
            let sequence = it.field("sequence").and_then(|it| it.parse().ok());
            if let (Some(rank), Some(sequence)) = (rank, sequence) {
                let of_others = waiting.values().find(|it| it.sequence == sequence).map(|it| it.collective);
                waiting.entry(rank).or_insert(Waiting {
                    sequence,
                    collective: it.field("collective").or(of_others).unwrap_or_default(),
                    elements: it.field("elements"),
                    timeout_ms: it.field("timeout ms"),
                    line: it.line,
                    log: place.log,
                });
            }
        }
        let lowest = waiting.values().map(|it| it.sequence).min();
        let highest = waiting.values().map(|it| it.sequence).max();
        let is_behind = |it: &Waiting<'_>| lowest != highest && Some(it.sequence) == lowest;
        let behind = waiting.iter().filter(|(_, it)| is_behind(it)).map(|(rank, _)| *rank as usize);
        let behind = behind.collect();
        let last = waiting.keys().next_back().copied().unwrap_or(0).min(MOST_RANKS);
        let silent = (0..last).filter(|rank| !waiting.contains_key(rank)).map(|rank| rank as usize).collect();
        Ranks { waiting, behind, silent }
    }

    fn title(&self) -> Option<String> {
        let is_behind = |rank: u32| self.behind.contains(&(rank as usize));
        let late = self.waiting.iter().find(|(rank, _)| is_behind(**rank)).map(|(_, it)| it);
        let other = self.waiting.iter().find(|(rank, _)| !is_behind(**rank)).map(|(_, it)| it)?;
        Some(match late {
            Some(late) => {
                let waiting = self.waiting.len() - self.behind.len();
                let verb = if waiting == 1 { "waits" } else { "wait" };
                format!(
                    "{} behind in collective {} ({}); {} {verb} in {} ({})",
                    ranks_are(&self.behind),
                    late.sequence,
                    late.collective,
                    counted(waiting, "rank"),
                    other.sequence,
                    other.collective
                )
            }
            None => format!(
                "{} timed out in collective {} ({})",
                counted(self.waiting.len(), "rank"),
                other.sequence,
                other.collective
            ),
        })
    }

    fn facts(&self) -> Vec<NamedValue> {
        let mut facts = Vec::new();
        for (rank, it) in &self.waiting {
            let elements = it.elements.map_or_else(String::new, |n| format!(", {n} elements"));
            facts.push(fact(
                &format!("rank {rank}"),
                format!(
                    "collective {} {}{elements}, {}:{}",
                    it.sequence, it.collective, it.log.file, it.line
                ),
            ));
        }
        if !self.silent.is_empty() {
            let text = match (self.waiting.len(), self.silent.len()) {
                // A log of one rank says nothing about the others.
                (1, 2..) => "printed no time-out here: give the logs of all ranks",
                (_, 1) => "printed no time-out: it hangs or died",
                _ => "printed no time-out: they hang or died",
            };
            facts.push(fact("silent", format!("{} {text}", named(&self.silent))));
        }
        if let Some(time) = self.waiting.values().find_map(|it| it.timeout_ms) {
            facts.push(fact("time-out", format!("{time} ms")));
        }
        facts
    }
}

/// `rank 2 is`, `ranks 2-4, 7 are`.
fn ranks_are(ranks: &[usize]) -> String {
    format!("{} {}", named(ranks), if ranks.len() == 1 { "is" } else { "are" })
}

/// `rank 2`, `ranks 2-4, 7`.
fn named(ranks: &[usize]) -> String {
    format!("{} {}", noun_of(ranks.len(), "rank"), ranges(ranks))
}
