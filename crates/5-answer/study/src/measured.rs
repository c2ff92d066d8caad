//! Recordings with the metrics of their GPUs; every question about recordings is a method of [`Measured`].

use crate::judge;
use crate::{Gate, Operators, Shown, Summarized};
use analysis::guide::advises;
use analysis::workload::{Blocks, Condition, Options, Subject, Subjects, list};
use metrics::{Compiled, Definitions, Settings, WrongDefinitions};
use std::collections::BTreeMap;
use trace::Timeline;
use view::{
    Accuracy, Answer, Average, GuideKernel, GuideVerdict, List, Norm, Page, PageCode, PageKernel, Recordings,
    Rooflines, TimeUnit, TimelineChart, UsageError, Wanted,
};

/// Kernels listed in a report unless told otherwise.
const TOP_KERNELS: usize = 10;

/// Recordings, read and selected, with the metrics of their GPUs.
pub struct Measured<'a> {
    definitions: &'a Definitions,
    /// By target.
    compiled: BTreeMap<String, Compiled>,
    subjects: Subjects,
}

/// Units of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Unit by which totals are divided.
    pub norm: Norm,
    /// Unit of times.
    pub time: TimeUnit,
}

/// Content of a report.
#[derive(Default)]
pub struct ReportQuestion {
    /// A list instead of a report.
    pub list: Option<List>,
    /// Panels, tables, rows or metrics, as users write them; of none an overview.
    pub blocks: Vec<String>,
    /// The overview without charts.
    pub short: bool,
    /// Everything instead of an overview, for programs.
    pub whole: bool,
    /// Units of values.
    pub units: Units,
    /// Averaging of dispatches.
    pub average: Average,
    /// Columns of tables; empty selects all.
    pub columns: Vec<String>,
    /// Rows of lists and of the top kernels; `Some(0)` for all.
    pub top: Option<usize>,
    /// In a comparison, rows that change by less percent are hidden.
    pub threshold: Option<f64>,
    /// Conditions to judge; see [`conditions`].
    pub conditions: Vec<Condition>,
    /// Operators that launched the dispatches; see [`Measured::operators`].
    pub operators: Vec<Option<String>>,
}

impl ReportQuestion {
    fn settings(&self) -> Settings {
        Settings { average: self.average, norm: self.units.norm, ..Settings::default() }
    }
}

/// Reads conditions on rows of a report on `recordings` recordings.
pub fn conditions(texts: &[String], recordings: usize) -> Result<Vec<Condition>, UsageError> {
    texts.iter().map(|text| Condition::parse(text, recordings)).collect()
}

impl<'a> Measured<'a> {
    /// Recordings with the definitions of metrics for each target.
    pub fn new(subjects: Subjects, definitions: &'a Definitions) -> Result<Measured<'a>, WrongDefinitions> {
        let mut compiled: BTreeMap<String, Compiled> = BTreeMap::new();
        for subject in &subjects.all {
            if !compiled.contains_key(subject.target()) {
                compiled.insert(subject.target().to_owned(), definitions.compile(subject.target())?);
            }
        }
        Ok(Measured { definitions, compiled, subjects })
    }

    /// Recordings with the built-in definitions of metrics.
    pub fn built_in(subjects: Subjects) -> Result<Measured<'a>, WrongDefinitions> {
        Self::new(subjects, Definitions::built_in())
    }

    /// True if one of the recordings could not be read.
    pub fn failed(&self) -> bool {
        self.subjects.failed
    }

    /// Selects other dispatches.
    pub fn select(&mut self, wanted: &Wanted) -> Result<(), UsageError> {
        self.subjects.select(wanted)
    }

    /// The recordings, each with the metrics of its GPU.
    pub(crate) fn recordings(&self) -> Vec<(&Compiled, &Subject)> {
        self.for_each().into_iter().zip(&self.subjects.all).collect()
    }

    fn for_each(&self) -> Vec<&Compiled> {
        self.subjects.all.iter().map(|subject| &self.compiled[subject.target()]).collect()
    }

    /// The operator of each dispatch, by a trace of the same program, which `read` reads from `path`.
    pub fn operators<E: From<UsageError>>(
        &self,
        path: &str,
        read: impl FnOnce() -> Result<Timeline, E>,
    ) -> Result<Operators, E> {
        let [subject] = &self.subjects.all[..] else {
            return Err(UsageError::new("`--trace` is of one recording", "give one `-p`").into());
        };
        let found = crate::operators::operators(subject, &read()?);
        if found.of_row.iter().all(Option::is_none) {
            return Err(UsageError::new(
                format!("`{path}` names no operator of a recorded kernel"),
                "it has to be a trace of the same program with operators, as the PyTorch profiler writes them",
            )
            .into());
        }
        Ok(found)
    }

    /// The report asked for; its findings pass `gate`.
    pub fn report(
        &self,
        question: ReportQuestion,
        gate: &mut Gate,
    ) -> Result<Answer<Recordings>, UsageError> {
        let subjects = &self.subjects.all;
        let blocks = self.shown_blocks(&question)?;
        let target = subjects.first().map_or("", Subject::target);
        for condition in &question.conditions {
            self.check_row(condition.subject(), target)?;
        }
        let options = Options {
            settings: question.settings(),
            top: match (question.top, question.list) {
                (Some(0), _) | (None, Some(_)) => usize::MAX,
                (Some(top), _) => top,
                (None, None) => TOP_KERNELS,
            },
            blocks,
            columns: question.columns,
            time_unit: question.units.time,
            renames: self.subjects.renames.clone(),
            threshold: question.threshold.filter(|_| subjects.len() > 1),
            conditions: question.conditions,
            operators: question.operators,
        };
        match question.list {
            Some(kind) => Ok(list(self.definitions, subjects, kind, &options)),
            None => judge::report(self.definitions, &self.for_each(), subjects, &options, gate),
        }
    }

    /// The shown blocks; a report does not begin with blocks that the recording lacks completely.
    fn shown_blocks(&self, question: &ReportQuestion) -> Result<Blocks, UsageError> {
        let subjects = &self.subjects.all;
        let target = subjects.first().map_or("", Subject::target);
        let blocks = Blocks::parse(&question.blocks, self.definitions, target)?;
        if blocks.is_overview() && question.whole {
            return Ok(Blocks::all());
        }
        let mut blocks = blocks;
        // A recording without times has other things to lead with.
        let timed =
            |s: &Subject| s.rows.iter().any(|row| s.workload.dispatches.duration(*row as usize).is_some());
        if subjects.iter().all(|s| s.workload.machine.emulator().is_some() && !timed(s)) {
            blocks = blocks.without_times();
        }
        if subjects.iter().all(|s| {
            s.workload.counters.is_empty() && (s.workload.samples.is_some() || s.workload.traces.is_some())
        }) {
            blocks = blocks.without_counters();
        }
        if question.short {
            blocks = blocks.without_charts();
        }
        Ok(blocks)
    }

    /// Fails if a condition refers to an unknown row or metric.
    fn check_row(&self, row: &str, target: &str) -> Result<(), UsageError> {
        // Rows of the top kernels are as many as there are kernels.
        if row.starts_with("0.1.") {
            return Ok(());
        }
        Blocks::parse(&[row.to_owned()], self.definitions, target).map(drop)
    }

    /// All tables as a database.
    pub fn database(&self, question: &ReportQuestion) -> Result<Vec<u8>, rusqlite::Error> {
        crate::analysis_db::analysis_db(
            self.definitions,
            &self.for_each(),
            &self.subjects.all,
            question.settings(),
        )
    }

    /// Each recording in short, for a database.
    pub fn summarized(&self) -> Vec<Summarized> {
        let one = |subject: &Subject| {
            crate::summarized::summarized(self.definitions, &self.compiled[subject.target()], subject)
        };
        self.subjects.all.iter().map(one).collect()
    }

    /// The report whose guide `guide` shows.
    pub fn overview(&self) -> Result<Answer<Recordings>, UsageError> {
        self.fixed(Blocks::overview(), Options::default().top)
    }

    /// Every table, with `top` rows of the top kernels.
    pub fn everything(&self, top: usize) -> Result<Answer<Recordings>, UsageError> {
        self.fixed(Blocks::all(), top)
    }

    fn fixed(&self, blocks: Blocks, top: usize) -> Result<Answer<Recordings>, UsageError> {
        let renames = self.subjects.renames.clone();
        let options = Options { blocks, top, renames, ..Options::default() };
        judge::report(self.definitions, &self.for_each(), &self.subjects.all, &options, &mut Gate::default())
    }

    /// All kernels of the last recording, most time first, with the verdict on those that are judged.
    pub fn kernels(&self) -> Vec<(GuideKernel, Option<GuideVerdict>)> {
        let Some(last) = self.subjects.all.last() else { return Vec::new() };
        judge::kernels(&self.compiled[last.target()], last)
    }

    /// A recording of a GPU beside an emulated one; `None` if there are not two recordings. The file names
    /// kernels only if `names`.
    pub fn accuracy(&self, names: bool) -> Result<Option<Answer<Accuracy>>, UsageError> {
        let [gpu, emulated] = &self.subjects.all[..] else { return Ok(None) };
        crate::accuracy::accuracy(gpu, emulated, &self.subjects.renames, names).map(Some)
    }

    /// The rooflines.
    pub fn rooflines(&self, shown: &Shown<'_>) -> Result<Answer<Rooflines>, UsageError> {
        let subjects = &self.subjects.all;
        if let Some(subject) = subjects.iter().find(|it| it.target().is_empty()) {
            return Err(UsageError::new(
                format!("`{}` does not say which GPU it is from", subject.path),
                "`--arch` names it: a target or a model",
            ));
        }
        Ok(crate::rooflines::rooflines(&self.for_each(), subjects, shown))
    }

    /// The recordings as a page; `code_of` returns the code of each kernel that is found.
    pub fn page(
        &mut self,
        units: Units,
        code_of: impl FnOnce(&Subject, &[PageKernel]) -> Vec<PageCode>,
    ) -> Result<Page, UsageError> {
        let options = Options {
            settings: Settings { norm: units.norm, ..Settings::default() },
            time_unit: units.time,
            top: crate::page::DISPATCHES,
            blocks: Blocks::all(),
            renames: self.subjects.renames.clone(),
            ..Options::default()
        };
        let compiled: Vec<&Compiled> =
            self.subjects.all.iter().map(|subject| &self.compiled[subject.target()]).collect();
        crate::page::page(self.definitions, &compiled, &mut self.subjects.all, &options, code_of)
    }

    /// The timeline of the trace beside the last recording's counters, with its name; without a trace, of its
    /// dispatches, if their times are known.
    pub fn timeline(
        &self,
        path: &str,
        beside: impl FnOnce() -> Option<(String, Timeline)>,
    ) -> Option<TimelineChart> {
        let subject = self.subjects.all.last()?;
        let everything = subject.selection.is_empty();
        let (name, timeline) = everything.then(beside).flatten().or_else(|| {
            let rows = subject.rows.iter().map(|row| *row as usize);
            let timeline = crate::trace::of_dispatches(&subject.workload, rows)?;
            Some(("the dispatches of the recording".to_owned(), timeline))
        })?;
        let input = crate::trace::Input { name, path: path.to_owned(), timeline: &timeline };
        Some(crate::trace::chart(&[input]))
    }
}

/// True if a rule advises, and does not only state what limits a kernel.
pub fn is_advice(rule: &str) -> bool {
    advises(rule)
}
