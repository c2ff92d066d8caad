//! A report put together from its parts.
//!
//! Tables are made for each recording alone, then merged; the requested part (blocks, columns, thresholds) is
//! selected from the whole at the end, so a condition sees rows that are not shown.

use super::blocks::{
    Blocks, CHANGES, COUNTERS, LIMITS, MEMORY_CHART, OPERATORS, RANKS, SAMPLED_KERNELS, SAMPLES, SPREADS,
    TRACE, TUNING, WAVES,
};
use super::compare::{self, Renames};
use super::condition::Condition;
use super::counted::{self, Shown};
use super::memory_chart;
use super::noise::Sample;
use super::present;
use super::subject::Subject;
use super::{
    must_equal, overview, panels, predictions, ranks, samples, spreads, traces, tuning, waves, windows,
};
use metrics::{Compiled, Definitions, Evaluation, Settings};
use std::cell::OnceCell;
use std::collections::HashMap;
use view::{
    ANALYZE_SCHEMA, Answer, Average, Cell, Column, ColumnKind, List, Norm, Note, NoteKind, Number,
    Recordings, ReportSettings, Row, Table, TimeUnit, UsageError,
};

/// Report options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Evaluation settings.
    pub settings: Settings,
    /// Maximum number of rows of top kernels and of the dispatch list.
    pub top: usize,
    /// Tables and rows.
    pub blocks: Blocks,
    /// Columns of tables; empty selects all.
    pub columns: Vec<String>,
    /// Unit of times.
    pub time_unit: TimeUnit,
    /// Kernels under other names.
    pub renames: Renames,
    /// Rows that change by less percent are hidden.
    pub threshold: Option<f64>,
    /// Conditions to judge.
    pub conditions: Vec<Condition>,
    /// The operator that launched each dispatch of the one recording, by row; `None` if no trace tells.
    pub operators: Vec<Option<String>>,
}

/// A report that is a list.
pub fn list(
    definitions: &Definitions,
    subjects: &[Subject],
    list: List,
    options: &Options,
) -> Answer<Recordings> {
    let tables = subjects.first().map_or_else(Vec::new, |s| match list {
        List::Kernels => vec![overview::top_kernels(s, options.top)],
        List::Dispatches => vec![overview::dispatches(s, options.top)],
        List::Specs => vec![overview::specs(s)],
        List::Metrics => overview::metric_list(definitions, s.target(), options.settings.norm),
        List::Blocks => vec![overview::block_list(definitions, s.target())],
    });
    let mut report = empty(subjects, options);
    report.tables = tables;
    report.tables.iter_mut().for_each(|t| present::scale(t, options.time_unit));
    report.part.missing = present::missing(&report.tables, emulated(subjects));
    report
}

/// Whether no recording was made by a GPU.
fn emulated(subjects: &[Subject]) -> bool {
    subjects.iter().all(|subject| subject.workload.machine.emulator().is_some())
}

/// The report on one recording or several; `compiled` are the definitions for each one's target.
pub fn report(
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &[Subject],
    options: &Options,
) -> Result<Answer<Recordings>, UsageError> {
    let mut report = empty(subjects, options);
    let (rows, notes) = if subjects.len() > 1 {
        compare::common(subjects, &options.renames)
    } else {
        (subjects.iter().map(|s| s.rows.clone()).collect(), Vec::new())
    };
    report.notes.extend(notes.into_iter().map(|text| Note { kind: NoteKind::Info, text }));
    report.notes.extend(subjects.iter().filter_map(|s| spreads::note(s, subjects.len() > 1)));
    report.notes.extend(subjects.iter().filter_map(followed));
    report.notes.extend(no_samples(subjects, &options.blocks));
    report.notes.extend(
        must_equal::note(subjects, &options.renames)
            .map(|(wrong, text)| Note { kind: if wrong { NoteKind::Warning } else { NoteKind::Info }, text }),
    );
    let evaluations: Vec<Evaluation<'_>> = subjects
        .iter()
        .zip(compiled)
        .zip(rows)
        .map(|((s, c), rows)| Evaluation::new(c, &s.workload, rows, options.settings))
        .collect();
    if let ([subject], [evaluation], true) = (subjects, &evaluations[..], options.blocks.is_overview()) {
        let unread = counted::note(subject, evaluation);
        report.notes.extend(unread.map(|text| Note { kind: NoteKind::Info, text }));
    }
    report.notes.extend(evaluations.iter().filter_map(unused_rows));
    let (evaluations, notes) = windows::comparable(subjects, evaluations);
    report.notes.extend(notes);
    let context =
        Context { definitions, subjects, evaluations: &evaluations, options, durations: OnceCell::new() };
    let mut tables = context.tables();
    tables.iter_mut().for_each(|t| present::scale(t, options.time_unit));
    report.part.conditions = options.conditions.iter().map(|c| c.judge(&tables)).collect();
    context.pick(&mut tables);
    if let Some(percent) = options.threshold {
        tables.iter_mut().for_each(|t| compare::hide_small(t, percent));
        tables.retain(|t| !t.rows.is_empty());
    }
    let kernels = report.recordings().next().map_or(0, |r| r.kernels);
    if let (true, Some(t)) =
        (options.blocks.is_overview() && kernels > 1, tables.iter_mut().find(|t| t.id == "2.1"))
    {
        t.notes.push(format!(
            "over the dispatches of all {kernels} kernels together; `-k 0` shows the first alone"
        ));
    }
    present::columns(&mut tables, &options.columns)?;
    let alone = subjects.len() == 1;
    if let (true, Some((e, s))) =
        (options.blocks.shows_chart(MEMORY_CHART, alone), evaluations.last().zip(subjects.last()))
    {
        report.part.memory_chart = (!e.target().is_empty())
            .then(|| memory_chart::chart(e, options.settings.norm, &s.workload.machine));
    }
    report.part.missing = present::missing(&tables, emulated(subjects));
    report.tables = tables;
    Ok(report)
}

/// Most rows that a note names.
const NAMED: usize = 6;

/// Names the printed rows that are not used.
fn unused_rows(evaluation: &Evaluation<'_>) -> Option<Note> {
    let rows = evaluation.unused_rows();
    let named = rows.get(..rows.len().min(NAMED)).filter(|it| !it.is_empty())?.join(", ");
    let more = match rows.len() - rows.len().min(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text =
        format!("printed rows that are not used, because no metric has their name and unit: {named}{more}");
    Some(Note { kind: NoteKind::Warning, text })
}

fn empty(subjects: &[Subject], options: &Options) -> Answer<Recordings> {
    let part = Recordings {
        settings: ReportSettings {
            average: match options.settings.average {
                Average::Weighted => "weighted",
                Average::Dispatches => "dispatches",
            },
            normalization: match options.settings.norm {
                Norm::Kernel => "per_kernel",
                Norm::Wave => "per_wave",
                Norm::Cycle => "per_cycle",
                Norm::Second => "per_second",
            },
        },
        guide: None,
        roofline: None,
        occupancy_over_time: None,
        memory_chart: None,
        conditions: Vec::new(),
        missing: Vec::new(),
    };
    Answer {
        inputs: subjects.iter().map(present::input).collect(),
        notes: subjects.iter().flat_map(|s| present::notes(s, subjects.len() > 1)).collect(),
        ..Answer::new(ANALYZE_SCHEMA, part)
    }
}

/// Dispatches of which only the first workgroups were simulated.
fn followed(subject: &Subject) -> Option<Note> {
    let workload = &subject.workload;
    let mut all = workload.shares.iter().filter_map(|it| Some((it, it.workgroups?)));
    let (share, [some, of]) = all.next()?;
    let dispatch = workload.dispatches.id.get(share.row as usize)?;
    let more = match all.count() {
        0 => String::new(),
        more => format!("; so are {more} others"),
    };
    let text = format!(
        "caches and times of dispatch {dispatch} are from the first {some} of {of} workgroups, expected error of the time \
         {:.1} %{more}",
        100.0 * share.time_error
    );
    Some(Note { kind: NoteKind::Info, text })
}

/// Reason why requested tables of samples are missing.
fn no_samples(subjects: &[Subject], blocks: &Blocks) -> Option<Note> {
    let of_samples = blocks.names(SAMPLES) || blocks.names(SAMPLED_KERNELS);
    if !(of_samples || blocks.names(TRACE)) {
        return None;
    }
    let text = match subjects {
        [one] if of_samples && one.workload.samples.is_some() => return None,
        [one] if blocks.names(TRACE) && one.workload.traces.is_some() => return None,
        [_] if !of_samples => {
            "no thread trace is recorded; `rockhound profile --on gpu --thread-trace -k KERNEL` takes one"
        }
        [_] => {
            "no samples of the program counter are recorded; `rockhound profile --on gpu --pc-sampling` takes them"
        }
        _ => "samples of the program counter are shown of one recording alone",
    };
    Some(Note { kind: NoteKind::Warning, text: text.to_string() })
}

struct Context<'a> {
    definitions: &'a Definitions,
    subjects: &'a [Subject],
    evaluations: &'a [Evaluation<'a>],
    options: &'a Options,
    durations: OnceCell<Vec<HashMap<String, Sample>>>,
}

impl Context<'_> {
    /// Durations by kernel of each recording.
    fn durations(&self) -> &[HashMap<String, Sample>] {
        self.durations.get_or_init(|| {
            let of = |(i, s)| compare::durations(s, i, &self.options.renames);
            self.subjects.iter().enumerate().map(of).collect()
        })
    }

    /// Every table of which something is shown or judged.
    fn tables(&self) -> Vec<Table> {
        let mut out = Vec::new();
        let mut add = |id: (u16, u16), make: &dyn Fn(&Subject) -> Table| {
            if self.options.blocks.shows(id) || self.judged(id) {
                let own: Vec<Table> = self.subjects.iter().map(make).collect();
                out.extend(self.merged(&own.iter().map(Some).collect::<Vec<_>>()));
            }
        };
        let top = if self.subjects.len() > 1 { usize::MAX } else { self.options.top };
        add((0, 1), &|s| overview::top_kernels(s, top));
        // Dispatches of two recordings have nothing in common but their numbers.
        if self.subjects.len() == 1 {
            add((0, 2), &|s| overview::dispatches(s, self.options.top));
            let all = !self.options.blocks.is_overview();
            let most = if all { self.options.top } else { self.options.top.min(predictions::FEW_KERNELS) };
            add(LIMITS, &|s| predictions::limits(s, most));
            add(CHANGES, &|s| predictions::changes(s, most));
            add(RANKS, &ranks::ranks);
            add(TUNING, &tuning::tuning);
            add(SPREADS, &|s| spreads::spreads(s, self.options.top));
        }
        add((1, 1), &overview::machine);
        if self.options.blocks.shows(COUNTERS) || self.judged(COUNTERS) {
            out.extend(self.counters());
        }
        out.extend(self.operators());
        if let Some(kernels) = out.iter_mut().find(|t| t.id == "0.1")
            && kernels.rows.len() > self.options.top
        {
            let rest = kernels.rows.len() - self.options.top;
            kernels.rows.truncate(self.options.top);
            kernels.notes.push(format!("{rest} more kernels; `--top N` shows more"));
        }
        for t in self.definitions.tables() {
            if !self.wanted(t) {
                continue;
            }
            let own: Vec<Table> = self
                .evaluations
                .iter()
                .map(|e| {
                    let mut table = metrics::table(self.definitions, t, e, self.options.settings);
                    if e.target().is_empty() {
                        // For an unknown GPU, only rows with known values are shown.
                        table.rows.retain(|row| matches!(row.cells.first(), Some(Some(Ok(_)))));
                    }
                    panels::table(&table, 0)
                })
                .collect();
            if own.iter().all(|t| t.rows.is_empty()) {
                continue;
            }
            let own: Vec<Option<&Table>> = own.iter().map(|t| (!t.rows.is_empty()).then_some(t)).collect();
            out.extend(self.merged(&own));
        }
        if let [subject] = self.subjects {
            let w = &subject.workload;
            for (id, recorded, make) in [
                (SAMPLES, w.traces.is_none() || w.samples.is_some(), samples::instructions as fn(_, _) -> _),
                (SAMPLED_KERNELS, w.traces.is_none() || w.samples.is_some(), samples::kernels),
                (TRACE, w.traces.is_some(), traces::instructions),
                (WAVES, w.traces.is_some(), waves::waves),
            ] {
                // If nothing was recorded, a note replaces the table.
                if recorded && (self.options.blocks.shows(id) || self.judged(id)) {
                    out.push(make(subject, self.options.top));
                }
            }
        }
        if let Some(own) = self.loose() {
            out.extend(self.merged(&own.iter().map(Some).collect::<Vec<_>>()));
        }
        out
    }

    /// The table of recorded time by operator.
    fn operators(&self) -> Option<Table> {
        let (Options { operators, top, blocks, .. }, [subject], [evaluation]) =
            (self.options, self.subjects, self.evaluations)
        else {
            return None;
        };
        let shown = !operators.is_empty() && (blocks.shows(OPERATORS) || self.judged(OPERATORS));
        shown.then(|| counted::by_operator(subject, evaluation, operators, *top))
    }

    /// The table of recorded counters.
    fn counters(&self) -> Option<Table> {
        let shown = match self.subjects {
            [_] if self.options.blocks.is_overview() => Shown::Overview,
            [_] if self.options.blocks.counters_together() => Shown::Together,
            [_] => Shown::All(self.options.top),
            _ => Shown::Compared,
        };
        let each = self.subjects.iter().zip(self.evaluations);
        let own: Vec<Table> = each.map(|(s, e)| counted::counters(self.subjects, s, e, shown)).collect();
        self.merged(&own.iter().map(Some).collect::<Vec<_>>())
    }

    /// Whether a condition judges a row of a table.
    fn judged(&self, id: (u16, u16)) -> bool {
        let prefix = format!("{}.{}.", id.0, id.1);
        self.options.conditions.iter().any(|c| c.subject().starts_with(&prefix))
    }

    fn wanted(&self, t: &metrics::Table) -> bool {
        let Options { blocks, conditions, .. } = self.options;
        let prefix = format!("{}.{}.", t.id.0, t.id.1);
        blocks.shows(t.id)
            || self.evaluations.iter().any(|e| {
                blocks.shows_some(t.rows(e.target()).map(|r| r.metric.as_str()))
                    || conditions.iter().any(|c| {
                        c.subject().starts_with(&prefix)
                            || t.rows(e.target()).any(|r| r.metric == c.subject())
                    })
            })
    }

    fn merged(&self, own: &[Option<&Table>]) -> Option<Table> {
        if own.len() < 2 {
            return own.first().copied().flatten().cloned();
        }
        let renames = &self.options.renames;
        compare::merge(own, renames, &|row: &Row, heading: &str, recording: usize| {
            let (base, other) = (self.subjects.first()?, self.subjects.get(recording)?);
            if heading == "avg" && !row.metric.is_empty() {
                let of = |i: usize, s| compare::sample(&self.evaluations[i], s, &row.metric);
                return compare::differ(&of(0, base), &of(recording, other));
            }
            if matches!(heading, "mean" | "median") && row.metric.is_empty() {
                let of = |i: usize| self.durations().get(i).and_then(|d| d.get(&row.label));
                return compare::differ(of(0)?, of(recording)?);
            }
            None
        })
    }

    /// Metrics requested by name that no table contains.
    fn loose(&self) -> Option<Vec<Table>> {
        let asked = self.options.blocks.loose().iter().map(String::as_str);
        let judged = self.options.conditions.iter().map(Condition::subject);
        let mut names: Vec<&str> = Vec::new();
        for name in asked.chain(judged) {
            let in_a_table = |e: &Evaluation<'_>| {
                self.definitions.tables().iter().any(|t| t.rows(e.target()).any(|r| r.metric == name))
            };
            if self.definitions.metric(name).is_some()
                && !names.contains(&name)
                && !self.evaluations.iter().any(in_a_table)
            {
                names.push(name);
            }
        }
        if names.is_empty() {
            return None;
        }
        let cells = |e: &Evaluation<'_>, name: &str| {
            let (value, (min, max)) = (e.value(name), e.extremes(name));
            let trust = e.trust(name, &value).map(panels::trust);
            let numbers = [value, min, max].map(|v| Cell::Number(Number::from(v)));
            numbers.into_iter().chain(trust).collect()
        };
        let columns = |s: &Subject| {
            let numbers = ["avg", "min", "max"].map(|t| Column::new(t, ColumnKind::Number, ""));
            numbers.into_iter().chain(s.workload.marks.as_ref().map(|_| panels::trust_column())).collect()
        };
        let own = self.evaluations.iter().zip(self.subjects).map(|(e, subject)| Table {
            id: "metrics".to_string(),
            panel: "Metrics".to_string(),
            title: "Metrics by name".to_string(),
            label: "metric".to_string(),
            columns: columns(subject),
            rows: names
                .iter()
                .filter_map(|name| {
                    let metric = self.definitions.metric(name)?;
                    Some(Row {
                        id: String::new(),
                        label: metric.id.clone(),
                        metric: metric.id.clone(),
                        unit: metrics::shown_unit(&metric.unit_text, self.options.settings.norm),
                        cells: cells(e, name),
                        little: false,
                    })
                })
                .collect(),
            ..Table::default()
        });
        Some(own.collect())
    }

    /// Keeps the tables and rows requested.
    fn pick(&self, tables: &mut Vec<Table>) {
        let blocks = &self.options.blocks;
        for t in tables.iter_mut() {
            let Some(id) = number_of(&t.id) else {
                t.rows.retain(|r| blocks.loose().contains(&r.metric));
                continue;
            };
            let channels = t.label == "channel";
            let by_metric = |r: &Row| {
                channels && {
                    let of_table = self.definitions.table(id);
                    of_table.is_some_and(|t| {
                        self.evaluations
                            .iter()
                            .any(|e| blocks.shows_some(t.rows(e.target()).map(|row| row.metric.as_str())))
                            && !r.id.is_empty()
                    })
                }
            };
            t.rows.retain(|r| blocks.shows_row(id, row_of(&r.id), &r.metric) || by_metric(r));
        }
        tables.retain(|t| !t.rows.is_empty());
    }
}

fn number_of(id: &str) -> Option<(u16, u16)> {
    let (panel, table) = id.split_once('.')?;
    Some((panel.parse().ok()?, table.parse().ok()?))
}

/// A row's number within its table.
fn row_of(id: &str) -> usize {
    id.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX)
}
