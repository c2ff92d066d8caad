//! Searches of tuning spaces: the winner beside the start, its proof, then the tables.

use super::answer;
use super::page::{Page, Span, dim, field, plain, span};
use crate::{Role, Style};
use view::{Answer, Configured, ProofOutcome, SearchResult, SearchVerdict, Searches, duration, thousands};

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
        let between = match (gain.low, gain.high) {
            (Some(low), Some(high)) => format!(" ({low:.3} to {high:.3})"),
            _ => String::new(),
        };
        field(
            page,
            "gain",
            &[plain(format!("{:.3}x{between}", gain.speedup)), dim(format!("  {}", gain.method))],
        );
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
    let time = match it.value {
        None => "no time".to_owned(),
        Some(us) if unit == "us" => duration(us * 1e3),
        Some(value) => plain_number(value),
    };
    let numbers: String =
        it.numbers.iter().map(|it| format!("{} {}  ", it.name, plain_number(it.value))).collect();
    let spread = it.spread_percent.map_or_else(String::new, |it| format!(" ({it:.1} % spread)"));
    vec![plain(format!("{time}{spread}  ")), dim(numbers), plain(it.words())]
}

/// At most five significant digits.
fn plain_number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        it if !(1e-3..1e6).contains(&it) => format!("{value:.4e}"),
        it => {
            let decimals = (4 - it.log10().floor() as i32).clamp(0, 7) as usize;
            let text = format!("{value:.decimals$}");
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
    }
}
