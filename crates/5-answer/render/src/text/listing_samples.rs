//! Columns and head of a listing with samples of the program counter.
//!
//! A line without samples is empty here, not zero: it may have run between two looks.

use super::page::{Page, Span, dim, plain, span};
use crate::Role;
use view::{LineSamples, Listing, ListingSamples, thousands, thousands_of};

/// An instruction with more than this percentage of the kernel's samples is marked.
const MANY: f64 = 20.0;

/// Columns with data.
pub(super) struct Sampled {
    issued: bool,
}

impl Sampled {
    pub(super) fn of(listing: &Listing) -> Option<Sampled> {
        let samples = listing.samples.as_ref()?;
        Some(Sampled { issued: samples.issued.is_some() })
    }

    pub(super) fn head(&self) -> String {
        let issued = if self.issued { "  issued  stalled for  " } else { "" };
        format!("  samples   share{issued}")
    }

    pub(super) fn cells(&self, line: Option<&LineSamples>) -> Vec<Span> {
        let Some(line) = line else { return vec![plain(" ".repeat(self.head().len()))] };
        let role = if line.share >= MANY { Role::Severe } else { Role::Plain };
        let mut spans = vec![span(role, format!("{:>9} {:>6.1}%", line.count, line.share))];
        if self.issued {
            let issued = line.issued.map_or_else(String::new, |issued| format!("{issued:.0}%"));
            let why = line.waits.first();
            let why = why.map_or_else(String::new, |wait| format!("{} {:.0}%", wait.why, wait.share));
            spans.push(plain(format!("{issued:>8}  {why:<13}")));
        }
        spans
    }
}

/// Description of the samples, above the lines.
pub(super) fn introduce(page: &mut Page, samples: &ListingSamples) {
    let ListingSamples { method, sources, dispatches, count, elsewhere, ambiguous, .. } = samples;
    let mut text = format!(
        "{} of the program counter ({method}) in {}, from {}",
        thousands_of(*count, "sample"),
        thousands_of(*dispatches, "dispatch"),
        sources.join(", ")
    );
    if *elsewhere > 0 {
        text.push_str(&format!("; {} of them in code that is not listed", thousands(*elsewhere)));
    }
    if *ambiguous > 0 {
        text.push_str(&format!(
            "; {} at instructions that read like others: the file has no addresses",
            thousands(*ambiguous)
        ));
    }
    page.wrapped(2, 4, &[dim(text)]);
    if let Some(issued) = samples.issued {
        let waits: Vec<String> = samples
            .waits
            .iter()
            .filter(|wait| wait.share >= 1.0)
            .map(|wait| format!("{} {:.0} %", wait.why, wait.share))
            .collect();
        let why = if waits.is_empty() {
            String::new()
        } else {
            format!("; waves did not issue for {}", waits.join(", "))
        };
        page.wrapped(2, 4, &[dim(format!("{issued:.0} % of the samples issued{why}"))]);
    }
    if samples.sampled_only {
        page.wrapped(
            2,
            4,
            &[dim("only sampled instructions are listed: the recording does not hold the code object")],
        );
    }
}
