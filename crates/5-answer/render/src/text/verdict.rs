//! Variants of a kernel: the verdict on each candidate, then findings and tables.

use super::answer;
use super::page::{Page, dim, field, plain, span};
use crate::{Role, Style};
use view::{Answer, Candidate, CandidateVerdict, Verdicts};

/// The text.
pub(crate) fn verdicts(answer: &Answer<Verdicts>, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    let part = &answer.part;
    page.wrapped(
        0,
        4,
        &[span(Role::Heading, format!("base {}", part.base)), dim(format!("  {}", part.about()))],
    );
    for candidate in &part.candidates {
        page.blank();
        one(&mut page, candidate);
    }
    // Every finding is a verdict above.
    let rest = Answer { findings: Vec::new(), ..answer.clone() };
    let rest = answer::answer(&rest, decimals, style);
    format!("{}\n{rest}", page.finish().trim_start_matches('\n'))
}

fn one(page: &mut Page, it: &Candidate) {
    let role = match it.verdict {
        CandidateVerdict::Faster => Role::Good,
        CandidateVerdict::NotFaster | CandidateVerdict::Slower => Role::Plain,
        _ => Role::Severe,
    };
    page.wrapped(0, 4, &[span(Role::Heading, &it.name), plain(": "), span(role, it.words())]);
    field(page, "because", &[plain(&it.because)]);
    if let Some(inputs) = &it.inputs {
        field(page, "inputs", &[plain(inputs)]);
    }
    if let Some(time) = it.time_words() {
        field(page, "time", &[plain(time)]);
    }
    if let Some(limit) = it.limit_words() {
        field(page, "limit", &[plain(limit)]);
    }
    for fact in &it.facts {
        field(page, "note", &[plain(format!("{}: ", fact.name)), dim(&fact.value)]);
    }
}
