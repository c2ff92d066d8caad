//! Answers of `rockhound trace` about one timeline, several ranks, or two compared timelines.
//!
//! Every number is a cell of a table with its unit; text output shows the most used tables, JSON and CSV all
//! of them.

mod head;
mod kernels;
mod launches;
mod page;
mod products;
mod ranks;
mod recording;
mod scopes;
mod time;
mod wanted;

pub use ::trace::Timeline;
pub use page::{chart, compared, page};
pub use products::of_timelines as products;
pub use recording::{of_dispatches, of_recording};
pub use wanted::Wanted;

use std::path::Path;
use timeline::TimelineEvidence;
use tunedb::Tunings;
use view::{Answer, Missing, Plain, TRACE_SCHEMA, Table, UsageError};

/// A timeline with its name.
pub struct Input<'a> {
    /// Short name, for headings.
    pub name: String,
    /// Path as given.
    pub path: String,
    /// The selected part of the timeline.
    pub timeline: &'a Timeline,
}

/// Traces as inputs of an answer, each with a name that distinguishes it: their paths without the common parts.
pub fn inputs<'a>(traces: impl IntoIterator<Item = (&'a Path, &'a Timeline)>) -> Vec<Input<'a>> {
    let traces: Vec<_> = traces.into_iter().collect();
    let file =
        |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let files: Vec<String> = traces.iter().map(|(path, _)| file(path)).collect();
    let same = files.iter().enumerate().any(|(at, name)| files[..at].contains(name));
    let name = |path: &Path| if same { path.display().to_string() } else { file(path) };
    let input = |(path, timeline): (&'a Path, &'a Timeline)| Input {
        name: name(path),
        path: path.display().to_string(),
        timeline,
    };
    traces.into_iter().map(input).collect()
}

/// Rows of each table of a page.
pub const PAGE_ROWS: usize = 1000;

/// Refuses a comparison of other than two traces.
pub fn check_two(found: usize) -> Result<(), UsageError> {
    if found == 2 {
        return Ok(());
    }
    Err(UsageError::new(
        format!("`--base` compares two traces, found {found}"),
        "give one trace beside the base",
    ))
}

/// Format of a timeline for a viewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Viewer {
    /// Chrome trace events.
    Chrome,
    /// Perfetto protobuf.
    Perfetto,
}

/// Writes a timeline for a viewer, piece by piece.
pub fn write<E>(
    timeline: &Timeline,
    viewer: Viewer,
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    match viewer {
        Viewer::Chrome => ::trace::write::chrome(timeline, &mut |piece| take(piece.as_bytes())),
        Viewer::Perfetto => ::trace::write::perfetto(timeline, take),
    }
}

/// Settings of the output.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Rows of a table.
    pub top: usize,
    /// Only these tables: `2`, `2.1`; empty for those that text shows by default, `all` for all.
    pub blocks: &'a [String],
    /// Files of tunings whose times the products are compared with.
    pub tunings: &'a [Tunings<'a>],
    /// Whether the first input is the base of a comparison with the second; else inputs are ranks of one run.
    pub compared: bool,
}

/// Tables that text shows by default.
const OVERVIEW: [&str; 13] =
    ["1.1", "1.2", "2.1", "2.2", "3.1", "3.3", "4.2", "5.2", "6.1", "6.2", "7.1", "8.1", "9"];

impl Options<'_> {
    fn shows(&self, id: &str) -> bool {
        let matches =
            |block: &str| id == block || id.strip_prefix(block).is_some_and(|rest| rest.starts_with('.'));
        if self.blocks.is_empty() {
            return OVERVIEW.iter().any(|block| matches(block));
        }
        self.blocks.iter().any(|block| block == "all" || matches(block))
    }
}

/// Answers.
pub fn survey(inputs: &[Input<'_>], options: &Options<'_>) -> Answer {
    let evidence: Vec<TimelineEvidence<'_>> =
        inputs.iter().map(|input| TimelineEvidence::gather(input.timeline)).collect();
    survey_of(inputs, &evidence, options)
}

/// Answers, on evidence gathered before.
pub fn survey_of(inputs: &[Input<'_>], evidence: &[TimelineEvidence<'_>], options: &Options<'_>) -> Answer {
    let mut survey = Answer::new(TRACE_SCHEMA, Plain {});
    let several = inputs.len() > 1;
    for (input, evidence) in inputs.iter().zip(evidence) {
        let mut shown = view::Input::new(&input.name, &input.path, evidence.timeline.format.as_str());
        head::facts(&mut shown, evidence);
        survey.inputs.push(shown);
        head::notes(&mut survey.notes, evidence, if several { Some(&input.name) } else { None });
    }
    if several && !options.compared {
        survey.notes.extend(ranks::doubts(inputs));
    }
    let judged = if options.compared { evidence.get(1..).unwrap_or(&[]) } else { evidence };
    let names = inputs.iter().skip(evidence.len() - judged.len()).map(|it| it.name.clone()).collect();
    let run = rules::TraceEvidence::new(judged, names).with_tunings(options.tunings);
    (survey.findings, survey.not_checked) = rules::check_traces(&run);
    // Of one trace nobody expects a comparison of ranks.
    survey.not_checked.retain(|it| judged.len() > 1 || it.needs != Missing::Ranks);
    survey.tables = match evidence {
        [base, new, ..] if options.compared => {
            let [base, new] = [base, new].map(|it| {
                let mut tables = tables(it, usize::MAX);
                tables.iter_mut().for_each(time_first);
                tables
            });
            crate::tables::compare::compare(&base, &new)
        }
        [only] => tables(only, options.top),
        ranks => {
            let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
            ranks::tables(ranks, &names, options.top)
        }
    };
    survey.tables.sort_by_cached_key(|table| number(&table.id));
    // Of calls alone the calls are most asked for.
    let only_calls = options.blocks.is_empty() && evidence.iter().all(|it| it.total.spans == 0);
    let shown = |id: &str| options.shows(id) || only_calls && id == "4.1";
    survey.tables.retain(|table| shown(&table.id) && !table.rows.is_empty());
    if options.compared {
        survey.tables.iter_mut().for_each(|table| crate::tables::rows::cut(table, options.top));
    }
    survey
}

/// The untuned matrix products of timelines as TunableOp lists them, each once, most time first; and how many
/// products have no such line: batches, or types and layouts the trace does not give.
pub fn untuned(timelines: &[&Timeline]) -> (String, u64) {
    let mut lines: Vec<String> = Vec::new();
    let mut without = 0;
    for timeline in timelines {
        let links = timeline::Links::of(timeline);
        for product in timeline::gemm::products(timeline, &links) {
            match product.untuned_line() {
                Some(line) if !lines.contains(&line) => lines.push(line),
                Some(_) => {}
                None => without += 1,
            }
        }
    }
    let text = lines.iter().map(|line| format!("{line}\n")).collect();
    (text, without)
}

/// Moves the time that a table is about before its counts: of a comparison few columns fit a terminal.
fn time_first(table: &mut Table) {
    let at = table.columns.iter().position(|column| matches!(column.title.as_str(), "total" | "GPU"));
    if let Some(at) = at {
        table.columns[..=at].rotate_right(1);
        for row in table.rows.iter_mut().filter(|row| row.cells.len() > at) {
            row.cells[..=at].rotate_right(1);
        }
    }
}

/// A table's number as its parts.
fn number(id: &str) -> Vec<u32> {
    id.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

/// All tables of one timeline.
fn tables(evidence: &TimelineEvidence<'_>, top: usize) -> Vec<Table> {
    let mut all = Vec::new();
    time::tables(&mut all, evidence);
    scopes::tables(&mut all, evidence);
    kernels::tables(&mut all, evidence);
    launches::tables(&mut all, evidence);
    all.iter_mut().for_each(|table| crate::tables::rows::cut(table, top));
    all
}
