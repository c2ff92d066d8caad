//! Columns and head of a listing with a thread trace.
//!
//! A line that no traced wave ran is empty.

use super::number::scaled;
use super::page::{Page, Span, dim, plain, span};
use crate::Role;
use view::{LineTrace, Listing, ListingTrace, thousands, thousands_of};

/// An instruction with more than this percentage of the kernel's stalled cycles is marked.
const MUCH: f64 = 20.0;

/// From this width on idle cycles have room.
const WIDE: usize = 100;

/// Columns with data.
pub(super) struct Traced {
    idle: bool,
}

impl Traced {
    pub(super) fn of(listing: &Listing, columns: usize) -> Option<Traced> {
        listing.trace.as_ref().map(|_| Traced { idle: columns >= WIDE })
    }

    pub(super) fn head(&self) -> String {
        let idle = if self.idle { "    idle" } else { "" };
        format!("    hits latency   stall  of all{idle}  for    ")
    }

    pub(super) fn cells(&self, line: Option<&LineTrace>) -> Vec<Span> {
        let Some(line) = line else { return vec![plain(" ".repeat(self.head().len()))] };
        let role = if line.share >= MUCH { Role::Severe } else { Role::Plain };
        let stall = if line.stall > 0 {
            format!(" {:>7} {:>6.1}%", scaled(line.stall), line.share)
        } else {
            " ".repeat(16)
        };
        let mut spans =
            vec![plain(format!("{:>8} {:>7}", scaled(line.hits), scaled(line.latency))), span(role, stall)];
        if self.idle {
            spans.push(plain(format!("{:>8}", scaled(line.idle))));
        }
        let cause = line.cause.filter(|_| line.stall > 0).map_or_else(String::new, |it| format!("{it:x}"));
        spans.push(dim(format!("  {cause:<7}")));
        spans
    }
}

/// Description of the trace, above the lines.
pub(super) fn introduce(page: &mut Page, trace: &ListingTrace) {
    let ListingTrace { sources, dispatches, waves, hits, latency, stall, idle, elsewhere, traced_only } =
        trace;
    let of = waves.map_or_else(String::new, |waves| format!("{} of ", thousands_of(waves, "wave")));
    page.wrapped(
        2,
        4,
        &[dim(format!(
            "thread trace of {of}{}, from {}",
            thousands_of(*dispatches, "dispatch"),
            sources.join(", ")
        ))],
    );
    let share = 100.0 * *stall as f64 / (*latency).max(1) as f64;
    let mut text = format!(
        "{} instructions in {} cycles, {share:.0} % of them stalled; {} cycles between instructions",
        thousands(*hits),
        thousands(*latency),
        thousands(*idle)
    );
    if *elsewhere > 0 {
        text.push_str(&format!("; {} instructions in code that is not listed", thousands(*elsewhere)));
    }
    page.wrapped(2, 4, &[dim(text)]);
    if *traced_only {
        page.wrapped(
            2,
            4,
            &[dim("only traced instructions are listed: the recording does not hold the code object")],
        );
    }
}
