//! Page of traces: findings, the timeline, tables.
//!
//! It is made of the same parts as the page of a recording, so both look and work alike.

use super::head::LiveView;
use super::tables::{FindingView, PanelView, whole_name};
use super::timeline::{Lanes, TimelineView};
use super::{Frame, data, hash, variables};
use crate::text::{shorten, visible};
use askama::Template;
use serde::Serialize;
use std::borrow::Cow;
use view::{NoteKind, TimelinePage};

/// The script of the page.
const SCRIPT: &str = concat!(
    include_str!("script/frame.js"),
    include_str!("script/panels.js"),
    include_str!("script/timeline.js"),
    include_str!("script/timeline_sums.js"),
    include_str!("script/live.js"),
    include_str!("script/start_trace.js")
);
/// Longest title.
const TITLE: usize = 100;

#[derive(Template)]
#[template(path = "trace.html")]
struct TraceTemplate<'a> {
    frame: Frame<'a>,
    compared: bool,
    inputs: Vec<InputView<'a>>,
    notes: Vec<(&'static str, Cow<'a, str>)>,
    findings: Vec<FindingView<'a>>,
    not_checked: &'a [view::NotChecked],
    timeline: Option<TimelineView<'a>>,
    panels: Vec<PanelView<'a>>,
    live: Option<LiveView<'a>>,
}

/// A trace's facts.
struct InputView<'a> {
    role: &'static str,
    name: Cow<'a, str>,
    kind: &'a str,
    path: Cow<'a, str>,
    facts: Vec<(&'a str, Cow<'a, str>)>,
}

#[derive(Serialize)]
struct Data {
    timeline: Lanes,
}

/// Renders a page.
pub fn timeline(page: &TimelinePage) -> String {
    let survey = &page.survey;
    let names: Vec<&str> = survey.inputs.iter().map(|input| input.name.as_str()).collect();
    let compared = survey.tables.iter().flat_map(|table| &table.columns).any(|column| column.recording > 0);
    let title = match survey.inputs.as_slice() {
        [] => "trace".to_owned(),
        [one] => one.name.clone(),
        [base, new] if compared => format!("{} against {}", new.name, base.name),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
    };
    let template = TraceTemplate {
        frame: Frame {
            title: shorten(&visible(&title), TITLE).into_owned(),
            version: &page.version,
            style: format!("{}{}", variables(), super::SHEET),
            script: SCRIPT,
            script_hash: hash(SCRIPT.as_bytes()),
            data: data::text(&Data { timeline: Lanes::of(&page.chart, &|_| None) }),
            live: page.live.is_some(),
            compared,
            chooses: false,
        },
        compared,
        inputs: inputs(page, compared),
        notes: survey.notes.iter().map(|note| (word(note.kind), whole_name(&note.text))).collect(),
        findings: survey.findings.iter().map(|it| FindingView::of(it, None, &page.rules)).collect(),
        not_checked: &survey.not_checked,
        timeline: Some(TimelineView::of(&page.chart)),
        panels: panels(page, &names),
        live: page.live.as_ref().map(LiveView::of),
    };
    // Writing into a string fails only where a value's `Display` does, and none of these does.
    template.render().unwrap_or_default()
}

fn inputs(page: &TimelinePage, compared: bool) -> Vec<InputView<'_>> {
    page.survey
        .inputs
        .iter()
        .enumerate()
        .map(|(at, input)| InputView {
            role: match (compared, at) {
                (false, _) => "",
                (true, 0) => "base",
                (true, _) => "new",
            },
            name: whole_name(&input.name),
            kind: &input.kind,
            path: whole_name(&input.path),
            facts: input.facts.iter().map(|fact| (fact.name.as_str(), whole_name(&fact.value))).collect(),
        })
        .collect()
}

pub(super) fn word(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Error => "error",
        NoteKind::Warning => "warning",
        NoteKind::Info => "note",
    }
}

/// Tables, grouped by panel.
fn panels<'a>(page: &'a TimelinePage, names: &[&'a str]) -> Vec<PanelView<'a>> {
    let mut before = "";
    page.survey
        .tables
        .iter()
        .map(|table| {
            let runs = (0..table.rows.len()).map(|at| at..at + 1).collect();
            let mut view = PanelView::of(table, names, runs);
            if table.panel != before {
                view.begins = Some(&table.panel);
                before = &table.panel;
            }
            view
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{Answer, Input, Plain, TimelineChart, TimelineLane, TimelineSpan};

    /// Names that a page must survive.
    fn hostile() -> Vec<String> {
        [
            "</script><img src=x onerror=alert(1)>",
            "<script>alert(2)</script>",
            "\"><svg onload=alert(3)>",
            "'; alert(4); //",
            "{{ 7 * 7 }} ${alert(5)}",
            "<!--<script>",
            "\u{202e}txet tfel ot thgir",
            "\u{0}\u{1b}[31mred\u{7}\r\n",
        ]
        .map(str::to_owned)
        .into_iter()
        .chain(["n".repeat(10_000)])
        .collect()
    }

    #[test]
    fn hostile_names_stay_text() {
        let names = hostile();
        for evil in &names {
            let spans = (0..names.len() as u32)
                .map(|name| TimelineSpan { start: u64::from(name), duration: 5, name, depth: 0 })
                .collect();
            let mut input = Input::new(evil, evil, "trace");
            input.fact("GPU", evil);
            let mut survey = Answer { inputs: vec![input], ..Answer::new("", Plain {}) };
            survey.note(NoteKind::Info, evil);
            let page = TimelinePage {
                version: String::new(),
                survey,
                chart: TimelineChart {
                    from: evil.clone(),
                    names: names.clone(),
                    class_of: vec![0; names.len()],
                    classes: vec!["gemm".to_owned()],
                    lanes: vec![TimelineLane { name: evil.clone(), gpu: true, spans }],
                    length: 5,
                },
                rules: Vec::new(),
                live: None,
            };
            let html = timeline(&page);
            for forbidden in ["<img", "<svg", "<script>alert", "<!--<script", "\u{202e}", "\u{0}", "\u{1b}"] {
                assert!(!html.contains(forbidden), "{forbidden:?} of {evil:?}");
            }
            assert_eq!(html.matches("</script>").count(), 2, "{evil:?}");
            assert!(!html.contains(&"n".repeat(2100)), "long names are cut");
        }
    }
}
