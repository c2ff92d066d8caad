//! Search spaces of kernel tuners, and what was measured in them: caches of Kernel Tuner, T4 results and T1
//! descriptions of the FAIR benchmark hub.
//!
//! A row is a configuration that was tried. Files of hundreds of megabytes are read configuration by
//! configuration; of each the parameters, the times and the status are kept.

use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, join_pairs};
use crate::lines::{LineIndex, text};
use crate::model::{Detail, FlawKind, Kind, Row, Said, Shape, Stated, Tunings, Version, time};
use std::borrow::Cow;
use std::collections::HashSet;

mod cache;
mod description;
mod results;

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Values as the file writes them. Of results, which list none, those that were tried.
    pub values: Vec<String>,
}

/// The end of a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Status {
    /// It ran, with right results where they were checked.
    Correct,
    /// It did not compile.
    Compile,
    /// It failed at run time.
    Runtime,
    /// Its results are wrong.
    Wrong,
    /// It breaks a restriction of the space.
    Restricted,
    /// It failed in a way that the file does not name.
    Failed,
}

impl Status {
    /// All of a failure, the usual first.
    pub const FAILURES: [Status; 5] =
        [Status::Compile, Status::Runtime, Status::Wrong, Status::Restricted, Status::Failed];

    /// For people, as the reason why a configuration has no time.
    pub const fn words(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Compile => "the configuration does not compile",
            Status::Runtime => "the configuration fails at run time",
            Status::Wrong => "the results are wrong",
            Status::Restricted => "the configuration breaks a restriction",
            Status::Failed => "the configuration failed",
        }
    }

    /// Of the words that Kernel Tuner writes in place of a time, and of `invalidity` in T4.
    fn of(word: &str) -> Status {
        match word {
            "correct" => Status::Correct,
            "compile" | "CompilationFailedConfig" => Status::Compile,
            "runtime" | "RuntimeFailedConfig" => Status::Runtime,
            "correctness" => Status::Wrong,
            "constraints" | "InvalidConfig" => Status::Restricted,
            _ => Status::Failed,
        }
    }
}

/// One configuration that was tried; the row of the same place has its parameters and mean time.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Place of each parameter's value in [`Parameter::values`].
    pub values: Vec<u32>,
    /// Times of all runs, milliseconds.
    pub runs_ms: Vec<f32>,
    /// Time to compile, milliseconds.
    pub compile_ms: Option<f32>,
    /// Its end.
    pub status: Status,
}

/// A search space with its trials.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Space {
    /// Kernel.
    pub kernel: String,
    /// Device; empty if the file names none.
    pub device: String,
    /// Size of the problem, as the file writes it.
    pub problem: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Restrictions, as expressions of Python.
    pub restrictions: Vec<String>,
    /// Trials, in the order of the rows.
    pub trials: Vec<Trial>,
}

impl Space {
    /// Combinations of all values; `None` if they are beyond 2^64 or there are no parameters.
    pub fn combinations(&self) -> Option<u64> {
        let counts = self.parameters.iter().map(|it| it.values.len() as u64);
        (!self.parameters.is_empty()).then(|| counts.fold(Some(1u64), |all, it| all?.checked_mul(it)))?
    }

    /// The place of a value of a parameter, which is added if it is new.
    fn place(&mut self, parameter: usize, value: &str) -> u32 {
        let Some(parameter) = self.parameters.get_mut(parameter) else { return 0 };
        let at = parameter.values.iter().position(|it| it == value).unwrap_or_else(|| {
            parameter.values.push(value.to_owned());
            parameter.values.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}

/// Most values of a parameter, and parameters of a space.
const MOST_PARAMETERS: usize = 1_000;

/// Bytes at the beginning of a file by which its form is told.
const HEAD: usize = 1 << 16;

/// The form of a document, by keys near its beginning.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let has = |key: &str| memchr::memmem::find(head, format!("\"{key}\"").as_bytes()).is_some();
    match () {
        () if has("tune_params_keys") && has("kernel_name") => Some(Format::KernelTuner),
        () if has("configuration") && has("invalidity") && has("results") => Some(Format::SpaceResults),
        () if has("ConfigurationSpace") && has("TuningParameters") => Some(Format::SpaceDescription),
        () => None,
    }
}

/// Reads a file of one of the forms.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8], format: Format) -> Result<Tunings<'a>, Error> {
    match format {
        Format::KernelTuner => cache::read(name, bytes),
        Format::SpaceResults => results::read(name, bytes),
        _ => description::read(name, bytes),
    }
}

/// A file under construction.
struct Building<'a> {
    tunings: Tunings<'a>,
    index: LineIndex<'a>,
    space: Space,
    seen: HashSet<Vec<u32>>,
}

/// What a file says of a configuration.
struct Tried<'t> {
    /// Names and values of its parameters, in the file's order.
    pairs: Vec<(&'t str, String)>,
    runs_ms: Vec<f32>,
    compile_ms: Option<f32>,
    time_us: Said<f64>,
    tera_flops: Option<f64>,
    status: Status,
}

impl<'a> Building<'a> {
    fn new(name: &str, format: Format, bytes: &'a [u8]) -> Building<'a> {
        Building {
            tunings: Tunings::new(name, format, bytes),
            index: LineIndex::new(bytes),
            space: Space::default(),
            seen: HashSet::new(),
        }
    }

    fn add(&mut self, span: std::ops::Range<usize>, tried: Tried<'_>) -> Result<(), Error> {
        let line = self.index.line(span.start);
        self.tunings.bounded(line)?;
        if self.space.parameters.is_empty() {
            let named = tried.pairs.iter().take(MOST_PARAMETERS);
            self.space.parameters =
                named.map(|(name, _)| Parameter { name: (*name).to_owned(), values: Vec::new() }).collect();
        }
        let mut values = Vec::with_capacity(self.space.parameters.len());
        for at in 0..self.space.parameters.len() {
            let name = &self.space.parameters[at].name;
            let Some((_, value)) = tried.pairs.iter().find(|(it, _)| it == name) else {
                let text = format!("the configuration has no value of `{name}`");
                self.tunings.bad_row(line, FlawKind::Malformed, text);
                return Ok(());
            };
            values.push(self.space.place(at, value));
        }
        if !self.seen.insert(values.clone()) {
            self.tunings.flaw(line, FlawKind::RepeatedEntry, "the configuration was tried before");
        }
        let mut row = Row::new(line, span, Kind::Kernel, Cow::Owned(self.space.kernel.clone()));
        row.key = Cow::Owned(self.space.problem.clone());
        row.shape = match self.space.problem.is_empty() {
            true => Err("the file names no size of the problem"),
            false => Ok(Shape::Text(Cow::Owned(self.space.problem.clone()))),
        };
        row.candidate = Ok(Cow::Owned(join_pairs(tried.pairs.into_iter())));
        row.time_us = if tried.status == Status::Correct { tried.time_us } else { Err(tried.status.words()) };
        row.stated = tried.tera_flops.and_then(|it| Stated::rate(Ok(it)));
        self.tunings.rows.push(row);
        let Tried { runs_ms, compile_ms, status, .. } = tried;
        self.space.trials.push(Trial { values, runs_ms, compile_ms, status });
        Ok(())
    }

    /// The end of the text within the list of configurations is that of a run that was killed.
    fn cut(&mut self) {
        let line = self.index.line(self.tunings.bytes.len());
        let text = "the list of configurations is not closed: the run was killed while it wrote";
        self.tunings.flaw(line, FlawKind::CutLine, text);
    }

    fn finish(mut self) -> Tunings<'a> {
        for (key, value) in [("device", &self.space.device), ("kernel", &self.space.kernel)] {
            if !value.is_empty() {
                let value = Cow::Owned(value.clone());
                self.tunings.versions.push(Version { key: Cow::Borrowed(key), value, line: 0 });
            }
        }
        self.tunings.detail = Detail::Space(Box::new(self.space));
        self.tunings
    }
}

/// Times in milliseconds; values that are no numbers are left out.
fn runs(value: Option<&Json<'_>>) -> Vec<f32> {
    let all = value.and_then(Json::array).unwrap_or_default();
    all.iter().filter_map(|it| it.value.number()).map(|it| it as f32).collect()
}

/// A mean time of milliseconds, or the status that stands in its place.
fn mean(value: Option<&Json<'_>>, scale: f64) -> (Said<f64>, Option<Status>) {
    match value {
        Some(Json::Text(word)) => (Err(time::NO_NUMBER), Some(Status::of(word))),
        // Older versions write 1e20.
        Some(Json::Number(ms, _)) if *ms >= 1e19 => (Err(time::INFINITE), Some(Status::Failed)),
        Some(Json::Number(ms, _)) => (time::check(ms * scale), None),
        _ => (Err(time::ABSENT), None),
    }
}

#[cfg(test)]
mod tests;
