//! Page of searches: each with its winner, proof, convergence and landscapes, then the tables.

use super::Frame;
use super::head::LiveView;
use super::tables::{FindingView, PanelView, whole_name};
use super::trace::word;
use crate::svg::{Picture, search};
use askama::Template;
use std::borrow::Cow;
use view::{Answer, Configured, Input, NoteKind, RuleInfo, SearchResult, Searches};

#[derive(Template)]
#[template(path = "search.html")]
struct SearchTemplate<'a> {
    frame: Frame<'a>,
    searches: Vec<SearchView<'a>>,
    /// Paths, with the form and what of each was used or not.
    inputs: Vec<(Cow<'a, str>, String)>,
    notes: Vec<(&'static str, Cow<'a, str>)>,
    findings: Vec<FindingView<'a>>,
    panels: Vec<PanelView<'a>>,
    live: Option<LiveView<'a>>,
}

struct SearchView<'a> {
    name: Cow<'a, str>,
    facts: Vec<(&'static str, String)>,
    proof: Vec<(&'static str, &'static str, &'a str)>,
    outputs: Vec<(&'a str, &'a str)>,
    convergence: Option<String>,
    landscapes: Vec<(String, String)>,
}

/// Renders a page.
pub fn searches(answer: &Answer<Searches>, version: &str, rules: &[RuleInfo]) -> String {
    let found = &answer.part.searches;
    let title = match found.as_slice() {
        [] => "tune".to_owned(),
        [one] => one.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
    };
    let notes = answer.notes.iter().map(|it| (word(it.kind), whole_name(&it.text)));
    let errors = answer.errors.iter().map(|it| (word(NoteKind::Error), Cow::Owned(it.message())));
    let template = SearchTemplate {
        frame: Frame::of_tables(&title, version, false),
        searches: found.iter().map(SearchView::of).collect(),
        inputs: answer.inputs.iter().map(input).collect(),
        notes: errors.chain(notes).collect(),
        findings: answer.findings.iter().map(|it| FindingView::of(it, None, rules)).collect(),
        panels: PanelView::all(&answer.tables),
        live: None,
    };
    // Writing into a string fails only where a value's `Display` does, and none of these does.
    template.render().unwrap_or_default()
}

/// An input's path, and its form with what was used or not.
pub(super) fn input(it: &Input) -> (Cow<'_, str>, String) {
    let used = [it.kind.as_str(), &it.used].into_iter().filter(|it| !it.is_empty());
    let not_used = it.not_used.iter().map(|it| format!("not used: {it}"));
    (whole_name(&it.path), used.map(str::to_owned).chain(not_used).collect::<Vec<_>>().join("; "))
}

impl<'a> SearchView<'a> {
    fn of(search: &'a SearchResult) -> SearchView<'a> {
        let configured = |it: &Configured| format!("{}  {}", it.value_words(&search.unit), it.words());
        let mut facts = vec![
            ("objective", search.objective.clone()),
            ("result", search.verdict.words().to_owned()),
            (
                "runs",
                format!(
                    "{} of {} configurations, {} without a time",
                    view::thousands(search.tried),
                    view::thousands(search.configurations),
                    view::thousands(search.failed)
                ),
            ),
        ];
        facts.extend(search.start.as_ref().map(|it| ("start", configured(it))));
        facts.extend(search.winner.as_ref().map(|it| ("winner", configured(it))));
        if let Some(gain) = &search.gain {
            facts.push(("gain", format!("{}; {}", gain.words(), gain.method)));
        }
        let step = |it: &'a view::ProofStep| (it.what.words(), it.outcome.word(), it.text.as_str());
        let picture = Picture::in_page(980.0, 0.0);
        SearchView {
            name: whole_name(&search.name),
            facts,
            proof: search.proof.iter().map(step).collect(),
            outputs: search.outputs.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect(),
            convergence: search::convergence(search, &Picture::in_page(980.0, 260.0)),
            landscapes: search
                .landscapes
                .iter()
                .map(|it| (format!("{} and {}", it.a, it.b), search::landscape(it, &search.unit, &picture)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{Improvement, Landscape, LandscapeCell, NamedValue, SearchVerdict, TUNE_SCHEMA};

    #[test]
    fn a_page_has_the_search_and_no_markup_of_its_names() {
        let hostile = "<img src=x onerror=alert(1)>";
        let configured = |value| Configured {
            values: vec![NamedValue::new(hostile, "1")],
            value: Some(value),
            numbers: Vec::new(),
            runs: 1,
            spread_percent: None,
        };
        let search = SearchResult {
            name: hostile.to_owned(),
            objective: "time".to_owned(),
            unit: "us".to_owned(),
            configurations: 12,
            combinations: Some(20),
            tried: 3,
            failed: 0,
            verdict: SearchVerdict::Faster,
            start: Some(configured(9.0)),
            winner: Some(configured(3.0)),
            gain: None,
            proof: Vec::new(),
            convergence: vec![Improvement { run: 1, value: 9.0 }, Improvement { run: 3, value: 3.0 }],
            landscapes: vec![Landscape {
                a: hostile.to_owned(),
                a_values: vec!["1".to_owned(), hostile.to_owned()],
                b: "y".to_owned(),
                b_values: vec!["2".to_owned()],
                cells: vec![LandscapeCell { a: 1, b: 0, best: 3.0, results: 1 }],
            }],
            outputs: vec![NamedValue::new("defines", hostile)],
        };
        let page = searches(&Answer::new(TUNE_SCHEMA, Searches { searches: vec![search] }), "0", &[]);
        assert!(!page.contains("<img"), "{page}");
        for said in ["9.00 us", "3.00 us", "run 3", "&lt;img"] {
            assert!(page.contains(said), "{said}");
        }
    }
}
