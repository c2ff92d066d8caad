//! Searches of tuning spaces: the winner beside the start, its proof, then the tables.

use super::answer;
use super::page::{Page, Span, dim, field, plain, span};
use crate::{Role, Style};
use view::{
    Answer, Configured, ProofOutcome, SearchResult, SearchVerdict, Searches, objective_words, thousands,
};

/// The text.
pub(crate) fn searches(answer: &Answer<Searches>, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    for (at, search) in answer.part.searches.iter().enumerate() {
        if at > 0 {
            page.blank();
        }
        one(&mut page, search);
    }
    let rest = answer::answer(answer, decimals, style);
    if answer.part.searches.is_empty() {
        return rest;
    }
    format!("{}\n{rest}", page.finish().trim_start_matches('\n'))
}

fn one(page: &mut Page, search: &SearchResult) {
    let failed = match search.failed {
        0 => String::new(),
        it => format!(", {} without a time", thousands(it)),
    };
    let tried = format!("  {} of {} run{failed}", thousands(search.tried), thousands(search.configurations));
    page.wrapped(0, 4, &[span(Role::Heading, &search.name), dim(tried)]);
    field(page, "objective", &[plain(&search.objective)]);
    let role = match search.verdict {
        SearchVerdict::Faster | SearchVerdict::Fastest => Role::Good,
        SearchVerdict::NoFaster => Role::Plain,
        SearchVerdict::Nothing => Role::Severe,
    };
    field(page, "result", &[span(role, search.verdict.words())]);
    for (name, it) in [("start", &search.start), ("winner", &search.winner)] {
        if let Some(it) = it {
            field(page, name, &configured(it, &search.unit));
        }
    }
    if let Some(gain) = &search.gain {
        field(page, "gain", &[plain(gain.words()), dim(format!("  {}", gain.method))]);
    }
    for step in &search.proof {
        let role = match step.outcome {
            ProofOutcome::Passed => Role::Good,
            ProofOutcome::Failed => Role::Severe,
            ProofOutcome::NotDone => Role::Dim,
        };
        let spans = [
            plain(format!("{}: ", step.what.words())),
            span(role, step.outcome.word()),
            dim(format!("  {}", step.text)),
        ];
        field(page, "proof", &spans);
    }
    for it in &search.outputs {
        field(page, &it.name, &[plain(&it.value)]);
    }
}

fn configured(it: &Configured, unit: &str) -> Vec<Span> {
    let time = it.value_words(unit);
    let numbers: String =
        it.numbers.iter().map(|it| format!("{} {}  ", it.name, objective_words(it.value, ""))).collect();
    let spread = it.spread_percent.map_or_else(String::new, |it| format!(" ({it:.1} % spread)"));
    vec![plain(format!("{time}{spread}  ")), dim(numbers), plain(it.words())]
}
