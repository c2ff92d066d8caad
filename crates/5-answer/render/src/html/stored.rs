//! Page of a database: kernels over time with their changes, and lists of recordings.

use super::Frame;
use super::tables::{PanelView, whole_name};
use super::trace::word;
use crate::svg::{Picture, history};
use crate::text::visible;
use askama::Template;
use std::borrow::Cow;
use view::{Answer, History, NoteKind, StoreLive, Stored};

#[derive(Template)]
#[template(path = "stored.html")]
struct StoredTemplate<'a> {
    frame: Frame<'a>,
    heading: Cow<'a, str>,
    /// Facts of the entry that is shown.
    facts: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    notes: Vec<(&'static str, Cow<'a, str>)>,
    charts: Vec<Chart<'a>>,
    panels: Vec<PanelView<'a>>,
    live: Option<&'a StoreLive>,
}

struct Chart<'a> {
    title: Cow<'a, str>,
    /// Metric, GPU, and whether it is emulated.
    about: String,
    other_names: &'a [String],
    picture: Option<String>,
}

impl<'a> Chart<'a> {
    fn of(it: &'a History) -> Chart<'a> {
        let gpu = it.gpu.as_deref().unwrap_or("GPU not recorded");
        let made = if it.is_emulated { "emulated" } else { "measured" };
        let recordings = view::counted(it.points.len(), "recording");
        Chart {
            title: whole_name(&it.kernel),
            about: format!("{} · {gpu} · {made} · {recordings}", it.metric),
            other_names: &it.other_names,
            picture: history::history(it, &Picture::in_page(980.0, 260.0)),
        }
    }
}

/// Renders a page; `live` are the choices of a page from a server.
pub fn stored(answer: &Answer<Stored>, version: &str, live: Option<&StoreLive>) -> String {
    let part = &answer.part;
    // The page of one entry is about the entry, others are about the database.
    let entry = Some(&part.recordings).filter(|it| part.question == "show" && it.len() == 1);
    let title = match entry {
        Some(it) => format!("{}: store:{} of {}", it[0].name, it[0].id, part.store),
        None => format!("{} of {}", part.question, part.store),
    };
    let of_entry = answer.inputs.iter().filter(|_| entry.is_some()).flat_map(|it| {
        let kind = Some(("kind", &it.kind)).filter(|it| !it.1.is_empty());
        kind.into_iter().chain(it.facts.iter().map(|it| (it.name.as_str(), &it.value)))
    });
    let facts = of_entry.map(|(name, value)| (visible(name), whole_name(value))).collect();
    let notes = answer.notes.iter().map(|it| (word(it.kind), whole_name(&it.text)));
    let errors = answer.errors.iter().map(|it| (word(NoteKind::Error), Cow::Owned(it.message())));
    let template = StoredTemplate {
        frame: Frame::of_tables(&title, version, live.is_some()),
        heading: if entry.is_some() {
            Cow::Owned(whole_name(&title).into_owned())
        } else {
            visible(&part.store)
        },
        facts,
        notes: errors.chain(notes).collect(),
        charts: answer.part.histories.iter().map(Chart::of).collect(),
        panels: PanelView::all(&answer.tables),
        live,
    };
    // Writing into a string fails only where a value's `Display` does, and none of these does.
    template.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{HistoryPoint, LevelChange, STORE_SCHEMA};

    #[test]
    fn a_page_has_the_series_and_no_markup_of_its_names() {
        let hostile = "<img src=x onerror=alert(1)>";
        let point = |at: i64| HistoryPoint {
            recording: at,
            measured_ms: at,
            commit: Some(hostile.to_owned()),
            value: if at < 3 { 1000.0 } else { 2000.0 },
            spread: Some(20.0),
            dispatches: 4,
        };
        let change = LevelChange {
            at: 3,
            recording: 3,
            commit: Some(hostile.to_owned()),
            after: None,
            before: 1000.0,
            since: 2000.0,
            percent: Some(100.0),
            chance: None,
            code_changed: None,
            code: Vec::new(),
            moved: Vec::new(),
        };
        let history = History {
            kernel: hostile.to_owned(),
            other_names: vec![hostile.to_owned()],
            gpu: Some(hostile.to_owned()),
            is_emulated: false,
            metric: "time".to_owned(),
            unit: "ns".to_owned(),
            points: (0..6).map(point).collect(),
            changes: vec![change],
        };
        let empty = History { points: Vec::new(), changes: Vec::new(), ..history.clone() };
        let part = Stored {
            question: "history",
            store: hostile.to_owned(),
            histories: vec![history, empty],
            ..Stored::default()
        };
        let live = StoreLive {
            recordings: vec![(7, hostile.to_owned())],
            kernel: hostile.to_owned(),
            metric: hostile.to_owned(),
            label: hostile.to_owned(),
        };
        for live in [None, Some(&live)] {
            let page = stored(&Answer::new(STORE_SCHEMA, part.clone()), "0", live);
            assert!(!page.contains("<img"), "{page}");
            assert_eq!(page.matches("<circle").count(), 6);
            assert!(page.contains("+100.0 %") && page.contains("2.00 us"), "{page}");
            assert_eq!(page.contains("<form class=\"live\""), live.is_some());
        }
    }
}
