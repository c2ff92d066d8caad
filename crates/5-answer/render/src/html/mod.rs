//! The report as one HTML file.
//!
//! Templates write everything a reader without scripts needs, escaped; the script only swaps the numbers of a
//! chosen kernel into existing cells, sorts, filters, and draws lists too long for a page.

mod alike;
mod cells;
mod code;
mod data;
mod head;
mod search;
mod stored;
mod tables;
mod timeline;
mod trace;
mod verdict;

pub use search::searches;
pub use stored::stored;
pub use trace::timeline;
pub use verdict::verdicts;

use crate::marks;
use crate::svg::{DARK, LIGHT, Picture, Plotted, STYLE, Theme, memory_chart, roofline};
use crate::text::{shorten, visible};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use code::CodeView;
use head::{Head, LiveView};
use hmac_sha256::Hash;
use std::borrow::Cow;
use std::fmt::Write;
use tables::{FindingView, KernelRow, PanelView};
use timeline::TimelineView;
use view::Page;

/// The script of the page.
const SCRIPT: &str = concat!(
    include_str!("script/frame.js"),
    include_str!("script/page.js"),
    include_str!("script/kernels.js"),
    include_str!("script/panels.js"),
    include_str!("script/code.js"),
    include_str!("script/timeline.js"),
    include_str!("script/timeline_sums.js"),
    include_str!("script/live.js"),
    include_str!("script/start.js")
);
/// Style sheet of the page, without the sheet of the charts.
const SHEET: &str = concat!(include_str!("page.css"), include_str!("timeline.css"));

/// Rows of a long table written into the page itself; the script draws the others as they are scrolled to.
pub(crate) const ROWS: usize = 100;

/// Facts of a machine with their values as shown.
type Facts<'a> = Vec<(&'a view::NamedValue, Cow<'a, str>)>;

/// Opening and end of every page.
struct Frame<'a> {
    title: String,
    version: &'a str,
    style: String,
    script: &'static str,
    script_hash: String,
    /// JSON for the script.
    data: String,
    live: bool,
    compared: bool,
    /// Whether a kernel can be chosen.
    chooses: bool,
}

/// The script of pages that have tables and pictures, and no timeline and no kernels to choose.
const TABLES_SCRIPT: &str = concat!(
    include_str!("script/frame.js"),
    include_str!("script/panels.js"),
    include_str!("script/start_trace.js")
);

/// Longest title of a page.
const LONGEST_TITLE: usize = 100;

impl<'a> Frame<'a> {
    /// The frame of a page with tables and pictures; `live` if a server answers its forms.
    fn of_tables(title: &str, version: &'a str, live: bool) -> Frame<'a> {
        Frame {
            title: shorten(&visible(title), LONGEST_TITLE).into_owned(),
            version,
            style: format!("{}{SHEET}{STYLE}", variables()),
            script: TABLES_SCRIPT,
            script_hash: hash(TABLES_SCRIPT.as_bytes()),
            data: "{}".to_owned(),
            live,
            compared: false,
            chooses: false,
        }
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    head: Head<'a>,
    frame: Frame<'a>,
    findings: Vec<FindingView<'a>>,
    findings_legend: Option<String>,
    gone: Vec<FindingView<'a>>,
    compared: bool,
    not_checked: &'a [view::NotChecked],
    kernels: Vec<KernelRow<'a>>,
    more_kernels: Vec<KernelRow<'a>>,
    kernel_count: usize,
    kernel_notes: &'a [String],
    kernels_legend: Option<String>,
    roofline: Option<String>,
    roofline_rows: Vec<tables::RoofRow<'a>>,
    roofline_notes: Vec<&'a str>,
    roofline_legend: Option<String>,
    speed: Option<PanelView<'a>>,
    memory: Option<String>,
    memory_per: &'a str,
    memory_legend: Option<String>,
    timeline: Option<TimelineView<'a>>,
    waves: Vec<tables::WavesView<'a>>,
    waves_legend: Option<String>,
    panels: Vec<PanelView<'a>>,
    predictions: Vec<PanelView<'a>>,
    machine: Vec<(&'a str, Facts<'a>)>,
    missing: &'a [view::MissingValues],
    dispatches: Option<PanelView<'a>>,
    dispatch_count: usize,
    code: Vec<CodeView<'a>>,
    live: Option<LiveView<'a>>,
}

/// Renders a page.
pub fn page(page: &Page) -> String {
    let report = &page.report;
    let compared = report.is_comparison();
    let changes = report.part.guide.as_ref().and_then(|guide| guide.changes.as_ref());
    let mut kernels = tables::kernel_rows(page);
    let more_kernels = kernels.split_off(kernels.len().min(ROWS));
    let charts: Vec<Plotted<'_>> = page
        .rooflines
        .iter()
        .enumerate()
        .map(|(at, chart)| Plotted {
            name: if compared { report.inputs.get(at).map_or("", |it| &it.name) } else { "" },
            chart,
        })
        .collect();
    let head = Head::of(page);
    let template = PageTemplate {
        frame: Frame {
            title: head.title.clone(),
            version: &page.version,
            style: format!("{}{SHEET}{STYLE}", variables()),
            script: SCRIPT,
            script_hash: hash(SCRIPT.as_bytes()),
            data: data::of(page),
            live: page.live.is_some(),
            compared,
            chooses: true,
        },
        head,
        findings: tables::findings(page, &report.findings),
        findings_legend: marks::legend(marks::of_findings(
            report.findings.iter().chain(changes.iter().flat_map(|changes| &changes.gone)),
        )),
        gone: changes.map_or_else(Vec::new, |changes| tables::findings(page, &changes.gone)),
        compared,
        not_checked: &report.not_checked,
        kernels,
        more_kernels,
        kernel_count: page.kernels.len(),
        kernel_notes: report.tables.iter().find(|t| t.id == "0.1").map_or(&[], |t| &t.notes),
        kernels_legend: marks::legend(marks::of_kernels(page)),
        predictions: tables::predictions(page),
        roofline: (!charts.is_empty()).then(|| roofline(&charts, &Picture::in_page(980.0, 500.0))),
        roofline_rows: page.rooflines.last().map_or_else(Vec::new, tables::roof_rows),
        roofline_notes: page
            .rooflines
            .last()
            .map_or_else(Vec::new, |chart| chart.notes.iter().map(String::as_str).collect()),
        roofline_legend: marks::legend(page.rooflines.iter().flat_map(marks::of_roofline)),
        speed: report.tables.iter().find(|t| t.id == "2.1").map(|t| PanelView::one(page, t)),
        memory: report
            .part
            .memory_chart
            .as_ref()
            .map(|chart| memory_chart(chart, &Picture::in_page(1100.0, 0.0))),
        memory_per: report.part.memory_chart.as_ref().map_or("", |chart| &chart.per),
        memory_legend: marks::legend(
            report.part.memory_chart.iter().chain(&page.base_memory).flat_map(marks::of_memory),
        ),
        timeline: page.timeline.as_ref().map(TimelineView::of),
        waves: tables::waves(page),
        waves_legend: marks::legend(
            report.part.occupancy_over_time.iter().flat_map(|chart| &chart.kernels).filter_map(|it| it.trust),
        ),
        panels: tables::panels(page),
        machine: report
            .inputs
            .iter()
            .filter_map(|it| Some((it.name.as_str(), it.recording.as_ref()?)))
            .map(|(name, r)| (name, r.machine.iter().map(|f| (f, visible(&f.value))).collect()))
            .collect(),
        missing: &report.part.missing,
        dispatches: page.dispatches.as_ref().map(|t| PanelView::first(page, t, ROWS)),
        dispatch_count: page.dispatches.as_ref().map_or(0, |t| t.rows.len()),
        code: page.code.iter().map(CodeView::of).collect(),
        live: page.live.as_ref().map(LiveView::of),
    };
    // Writing into a string fails only where a value's `Display` does, and none of these does.
    template.render().unwrap_or_default()
}

/// Both themes as variables of the style sheet.
fn variables() -> String {
    let list = |theme: &Theme| {
        theme.colours().iter().fold(String::new(), |mut out, (name, colour)| {
            let _ = write!(out, "--{name}:{colour};");
            out
        })
    };
    let (light, dark) = (list(&LIGHT), list(&DARK));
    format!(
        ":root{{color-scheme:light;{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n:root[data-theme=dark]{{color-scheme:dark;{dark}}}\n@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light]){{color-scheme:light;{light}}}}}\n"
    )
}

/// Hash of a script in a content security policy: `sha256-…` in base 64.
fn hash(script: &[u8]) -> String {
    format!("sha256-{}", STANDARD.encode(Hash::hash(script)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_browsers() {
        // `printf 'doSomething();' | openssl dgst -sha256 -binary | base64`
        assert_eq!(hash(b"doSomething();"), "sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=");
    }
}
