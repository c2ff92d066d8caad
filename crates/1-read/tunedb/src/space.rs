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

pub use crate::space_parts::{Parameter, Space, Status, Trial};

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

/// A configuration as a file describes it.
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

    /// The text ends within the list of configurations: the run was killed.
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

/// Times in milliseconds, of a unit that has so many; other values are left out.
fn runs(value: Option<&Json<'_>>, to_ms: f64) -> Vec<f32> {
    let all = value.and_then(Json::array).unwrap_or_default();
    all.iter().filter_map(|it| it.value.number()).map(|it| (it * to_ms) as f32).collect()
}

/// A mean time of milliseconds, or the status in its place.
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
