//! Page of `judge`: the verdict on each candidate, with its grounds and the work that changed.

use super::Frame;
use super::search::input;
use super::tables::{PanelView, whole_name};
use super::trace::word;
use crate::text::figure::figure;
use askama::Template;
use std::borrow::Cow;
use view::{Answer, Candidate, CandidateVerdict, NoteKind, Verdicts, WorkChange};

#[derive(Template)]
#[template(path = "verdict.html")]
struct VerdictTemplate<'a> {
    frame: Frame<'a>,
    about: String,
    candidates: Vec<CandidateView<'a>>,
    inputs: Vec<(Cow<'a, str>, String)>,
    notes: Vec<(&'static str, Cow<'a, str>)>,
    panels: Vec<PanelView<'a>>,
}

struct CandidateView<'a> {
    name: Cow<'a, str>,
    /// Class of the badge.
    role: &'static str,
    verdict: String,
    facts: Vec<(&'a str, Cow<'a, str>)>,
    changes: Vec<ChangeView<'a>>,
}

struct ChangeView<'a> {
    metric: &'a str,
    name: &'a str,
    before: String,
    after: String,
    change: String,
}

/// Renders a page.
pub fn verdicts(answer: &Answer<Verdicts>, version: &str) -> String {
    let part = &answer.part;
    let title = format!("{} and {}", part.base, view::counted(part.candidates.len(), "candidate"));
    let notes = answer.notes.iter().map(|it| (word(it.kind), whole_name(&it.text)));
    let errors = answer.errors.iter().map(|it| (word(NoteKind::Error), Cow::Owned(it.message())));
    let template = VerdictTemplate {
        frame: Frame::of_tables(&title, version, false),
        about: part.about(),
        candidates: part.candidates.iter().map(CandidateView::of).collect(),
        inputs: answer.inputs.iter().map(input).collect(),
        notes: errors.chain(notes).collect(),
        panels: PanelView::all(&answer.tables),
    };
    // Writing into a string fails only where a value's `Display` does, and none of these does.
    template.render().unwrap_or_default()
}

impl<'a> CandidateView<'a> {
    fn of(it: &'a Candidate) -> CandidateView<'a> {
        let field = |name, text: Option<&'a str>| text.map(|text| (name, whole_name(text)));
        let own =
            |name, text: Option<String>| text.map(|it| (name, Cow::Owned(whole_name(&it).into_owned())));
        let fields = [
            field("because", Some(&it.because)),
            field("inputs", it.inputs.as_deref()),
            own("time", it.time_words()),
            own("limit", it.limit_words()),
        ];
        let facts = it.facts.iter().map(|it| (it.name.as_str(), whole_name(&it.value)));
        CandidateView {
            name: whole_name(&it.name),
            role: match it.verdict {
                CandidateVerdict::Faster => "good",
                it if it.is_right() => "info",
                _ => "severe",
            },
            verdict: it.words(),
            facts: fields.into_iter().flatten().chain(facts).collect(),
            changes: it.changes.iter().map(ChangeView::of).collect(),
        }
    }
}

impl<'a> ChangeView<'a> {
    fn of(it: &'a WorkChange) -> ChangeView<'a> {
        let whole = |it: f64| figure(it, 0).text();
        ChangeView {
            metric: &it.metric,
            name: &it.name,
            before: whole(it.before),
            after: whole(it.after),
            change: it.percent().map_or_else(String::new, |it| format!("{it:+.1} %")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{JUDGE_SCHEMA, Mark, NamedValue};

    #[test]
    fn a_page_has_each_verdict_and_no_markup_of_its_names() {
        let hostile = "<img src=x onerror=alert(1)>";
        let change = |before, after| WorkChange {
            metric: "l2.requests".to_owned(),
            name: "L2 requests".to_owned(),
            before,
            after,
        };
        let candidate = |verdict| Candidate {
            name: hostile.to_owned(),
            verdict,
            because: hostile.to_owned(),
            inputs: Some(hostile.to_owned()),
            time_us: Some(2.5),
            trust: Some(Mark::Modelled(None)),
            speedup: Some(1.25),
            bound_by: vec!["latency".to_owned(), hostile.to_owned()],
            changes: vec![change(4000.0, 3000.0), change(0.0, 7.0)],
            facts: vec![NamedValue::new("order", hostile)],
        };
        let part = Verdicts {
            base: hostile.to_owned(),
            candidates: vec![candidate(CandidateVerdict::Faster), candidate(CandidateVerdict::Wrong)],
            ..Verdicts::default()
        };
        let page = verdicts(&Answer::new(JUDGE_SCHEMA, part), "0");
        assert!(!page.contains("<img"), "{page}");
        assert_eq!(page.matches("<h2><span class=\"badge").count(), 2);
        for said in ["badge good", "badge severe", "1.25x", "4,000", "-25.0 %", "2.50 us"] {
            assert!(page.contains(said), "{said}: {page}");
        }
    }
}
