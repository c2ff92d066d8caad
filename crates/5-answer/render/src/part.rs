//! The part of an answer that one command has.

use crate::junit::Case;
use crate::{Style, table_csv, text};
use serde::Serialize;
use view::{Answer, Format};

/// The part of an answer that one command has, as the formats write it.
pub trait Part: Serialize + Sized {
    /// Formats of the command, text first.
    const FORMATS: &'static [Format];

    /// Whether findings are listed beside the part; otherwise the part shows them.
    const LISTS_FINDINGS: bool = true;

    /// The whole text.
    fn text(answer: &Answer<Self>, decimals: usize, style: &Style) -> String {
        text::answer(answer, decimals, style)
    }

    /// The rows: by default a line per cell of the tables.
    fn csv(answer: &Answer<Self>) -> String {
        table_csv::long(answer)
    }

    /// Its tests, of commands that have the format JUnit.
    fn tests(_answer: &Answer<Self>) -> Vec<Case<'_>> {
        Vec::new()
    }

    /// The part between notes and findings.
    fn markdown(_answer: &Answer<Self>, _out: &mut String) {}

    /// The part behind the tables.
    fn markdown_end(_answer: &Answer<Self>, _out: &mut String) {}
}
