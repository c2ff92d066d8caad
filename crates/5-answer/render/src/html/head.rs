//! First screen of the page: the measured work and the verdict.

use crate::marks::{self, signed};
use crate::text::{shorten, visible};
use std::borrow::Cow;
use view::{Guide, Input, NoteKind, Number, Page, PageLive, noun_of, thousands};

/// Longest name in the title of the page.
const TITLE: usize = 60;

/// The head of the page.
pub(crate) struct Head<'a> {
    pub(crate) title: String,
    pub(crate) recordings: Vec<RecordingView<'a>>,
    pub(crate) verdict: Option<VerdictView<'a>>,
    pub(crate) steps: Vec<(&'a str, &'a str)>,
    pub(crate) changes: Vec<(String, Cow<'a, str>)>,
    pub(crate) legend: Option<String>,
    pub(crate) notes: Vec<(&'static str, Cow<'a, str>)>,
    pub(crate) settings: String,
}

/// A recording's facts.
pub(crate) struct RecordingView<'a> {
    pub(crate) role: &'static str,
    pub(crate) path: Cow<'a, str>,
    pub(crate) gpu: Cow<'a, str>,
    pub(crate) target: Cow<'a, str>,
    pub(crate) kind: &'a str,
    pub(crate) emulated: bool,
    /// Caches and times too.
    pub(crate) modelled: bool,
    pub(crate) selection: Cow<'a, str>,
    pub(crate) figures: Vec<(Cow<'static, str>, String)>,
    pub(crate) lines: Vec<(&'a str, Cow<'a, str>)>,
}

/// Limiter of the kernel with the most time.
pub(crate) struct VerdictView<'a> {
    pub(crate) kernel: String,
    pub(crate) headline: Cow<'a, str>,
    pub(crate) because: Cow<'a, str>,
    pub(crate) meaning: Cow<'a, str>,
    pub(crate) percent: Option<String>,
    pub(crate) bar: String,
    pub(crate) gap: Option<String>,
    pub(crate) notes: Vec<Cow<'a, str>>,
    /// Words for the kernels it describes.
    pub(crate) which: &'static str,
    /// Percent of the time of that kernel.
    pub(crate) time: Option<String>,
}

impl<'a> VerdictView<'a> {
    fn of(guide: &'a Guide) -> Self {
        let v = &guide.verdict;
        let leads = guide.kernels.first().is_none_or(|kernel| kernel.name == v.kernel);
        let lead = guide.kernels.iter().find(|kernel| kernel.name == v.kernel);
        VerdictView {
            notes: v.notes.iter().map(|note| visible(note)).collect(),
            which: if leads {
                "the kernel of most time"
            } else {
                "of the program's own kernels the one of most time"
            },
            time: v
                .time_percent
                .get()
                .map(|p| signed(lead.and_then(|kernel| kernel.percent_trust), format!("{p:.1}"))),
            kernel: shorten(&visible(&v.kernel), 120).into_owned(),
            headline: visible(&v.headline),
            because: visible(&v.because),
            meaning: visible(&v.meaning),
            percent: v.percent_of_roof.get().map(|p| signed(v.roof_trust, format!("{p:.0} %"))),
            bar: format!("{:.1}", v.percent_of_roof.get().unwrap_or(0.0).clamp(0.0, 100.0)),
            gap: v.gap.get().filter(|gap| *gap >= 1.05).map(|gap| signed(v.roof_trust, format!("{gap:.1}×"))),
        }
    }
}

/// The name a recording was made under: profilers write `NAME/GPU`.
fn name<'a>(input: &'a Input, gpu: &str) -> &'a str {
    let mut parts = input.path.rsplit('/').filter(|part| !matches!(*part, "" | "."));
    let named = parts.find(|part| !part.eq_ignore_ascii_case(gpu)).filter(|part| *part != "..");
    if input.name.eq_ignore_ascii_case(gpu) { named.unwrap_or(&input.name) } else { &input.name }
}

impl<'a> Head<'a> {
    pub(crate) fn of(page: &'a Page) -> Self {
        let report = &page.report;
        let many = report.inputs.len();
        let guide = report.part.guide.as_ref();
        let recordings: Vec<RecordingView<'a>> =
            report.inputs.iter().enumerate().filter_map(|(at, r)| recording(r, at, many)).collect();
        let title = report.inputs.last().map_or_else(String::new, |input| {
            let gpu = input.recording.as_ref().map_or("", |r| r.gpu.as_str());
            let name = name(input, gpu);
            let said = gpu.is_empty() || name.eq_ignore_ascii_case(gpu);
            let of = if said { String::new() } else { format!(" on {}", visible(gpu)) };
            format!("{}{of}", shorten(&visible(name), TITLE))
        });
        let verdict = guide.map(VerdictView::of);
        let steps = guide.map_or_else(Vec::new, |guide| {
            guide.steps.iter().map(|s| (s.why.as_str(), s.command.as_str())).collect()
        });
        let changes = guide.and_then(|guide| guide.changes.as_ref()).map_or_else(Vec::new, |changes| {
            changes
                .kernels
                .iter()
                .take(5)
                .map(|change| (super::tables::short_name(&change.kernel), visible(&change.text)))
                .collect()
        });
        let legend = marks::legend(guide.into_iter().flat_map(marks::of_guide));
        let caveats = guide.into_iter().flat_map(|guide| &guide.caveats);
        let mut notes: Vec<(&'static str, Cow<'a, str>)> = report
            .notes
            .iter()
            .map(|note| {
                let word = match note.kind {
                    NoteKind::Error => "error",
                    NoteKind::Warning => "warning",
                    NoteKind::Info => "note",
                };
                (word, visible(&note.text))
            })
            .collect();
        for caveat in caveats {
            if !report.notes.iter().any(|note| note.text == *caveat) {
                notes.push(("note", visible(caveat)));
            }
        }
        Head {
            title,
            recordings,
            verdict,
            steps,
            changes,
            legend,
            notes,
            settings: format!(
                "{}, {}",
                match report.part.settings.average {
                    "dispatches" => "mean of the dispatches' ratios",
                    _ => "dispatches weighted by what they did",
                },
                report.part.settings.normalization.replace('_', " ")
            ),
        }
    }
}

fn recording(input: &Input, at: usize, many: usize) -> Option<RecordingView<'_>> {
    let r = input.recording.as_ref()?;
    let selected = if r.dispatches == r.recorded_dispatches {
        thousands(r.dispatches)
    } else {
        format!("{} of {}", thousands(r.dispatches), thousands(r.recorded_dispatches))
    };
    let time = match &r.time_ns {
        Number::Known(ns) => signed(r.time_trust, view::duration(*ns)),
        Number::Missing(_) => "not known".to_owned(),
    };
    Some(RecordingView {
        role: match (many, at) {
            (1, _) => "",
            (_, 0) => "base",
            _ => "new",
        },
        path: visible(&input.path),
        gpu: visible(&r.gpu),
        target: visible(&r.target),
        kind: &input.kind,
        emulated: r.machine.iter().any(|fact| fact.name == "emulated_by"),
        modelled: r.time_ns.get().is_some(),
        selection: visible(&r.selection),
        figures: vec![
            ("kernel time".into(), time),
            (noun_of(r.kernels, "kernel"), thousands(r.kernels)),
            (noun_of(r.recorded_dispatches, "dispatch"), selected),
            (noun_of(r.counters, "counter"), thousands(r.counters)),
        ],
        lines: input.facts.iter().map(|fact| (fact.name.as_str(), visible(&fact.value))).collect(),
    })
}

/// Filters of a page from a server, each choice marked if selected.
pub(crate) struct LiveView<'a> {
    pub(crate) version: &'a str,
    pub(crate) url: &'a str,
    pub(crate) traces: bool,
    pub(crate) shown: Vec<(usize, Cow<'a, str>, bool)>,
    pub(crate) base: Vec<(usize, Cow<'a, str>, bool)>,
    pub(crate) kernel: &'a str,
    pub(crate) dispatch: &'a str,
    pub(crate) units: Vec<(&'static str, bool)>,
    pub(crate) times: Vec<(&'static str, bool)>,
}

impl<'a> LiveView<'a> {
    pub(crate) fn of(live: &'a PageLive) -> Self {
        let list = |now: Option<usize>| {
            live.recordings
                .iter()
                .enumerate()
                .map(|(at, name)| (at, visible(name), Some(at) == now))
                .collect()
        };
        LiveView {
            version: &live.version,
            url: &live.version_url,
            traces: live.traces,
            shown: list(Some(live.shown)),
            base: list(live.base),
            kernel: &live.kernel,
            dispatch: &live.dispatch,
            units: ["kernel", "wave", "cycle", "second"].map(|u| (u, live.normal_unit.ends_with(u))).to_vec(),
            times: ["ns", "us", "ms", "s"].map(|u| (u, live.time_unit == u)).to_vec(),
        }
    }
}
