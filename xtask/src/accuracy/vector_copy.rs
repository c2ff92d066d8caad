//! The vector copy, counter by counter.
//!
//! Recordings hold three dispatches; the first finds no code in the caches, later ones do, so each is
//! compared with its like.

use super::kernels::Prepared;
use super::{Errors, Page, distance, grouped, percent, row};
use crate::run::root;
use anyhow::{Context, Result};
use arch::Model;
use counters::{Class, catalogue};
use emu::{Hidden, Launch};
use probe::{Basis, registry};
use record::Recorder;
use std::fmt::Write as _;

const TRUTH: &str = include_str!("vector_copy.tsv");

/// The GPU whose first dispatch runs before its engine has come up to speed, and a clock in MHz that fits its
/// times.
const FIRST_SLOWER: (&str, u32) = ("mi210", 1000);

/// Runs the copy some times.
fn copy(prepared: &Prepared, model: &'static Model, times: usize) -> Result<Recorder> {
    let n = 1 << 20;
    let mut job = prepared.launch([n, 8, n].map(|items| 8 * items), &[n as i32, 1])?;
    let mut recorder = Recorder::new(model);
    for number in 0..times {
        let shape = Launch::new([n as u32 / 256, 1, 1], [256, 1, 1], 0);
        // The data came from the host before the first one.
        let launch = job.launch(Launch { released: number == 0, ..shape }, &Hidden::default());
        recorder.run(&job.name, &job.program, &job.table, &job.memory, &launch)?;
    }
    Ok(recorder)
}

/// The value of a counter in a dispatch.
fn counted(recorder: &Recorder, dispatch: usize, counter: &str) -> Option<f64> {
    let (_, value) = recorder.dispatches().get(dispatch)?.counters.iter().find(|it| it.0 == counter)?;
    value.known().map(|value| value as f64)
}

/// The median of three dispatches.
fn median(mut values: [f64; 3]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[1]
}

/// Numbers of zero errors, small errors, and other errors.
fn summary(errors: &[(f64, &str)]) -> String {
    let within = |most: f64| errors.iter().filter(|(error, _)| error.abs() <= most).count();
    let others: Vec<String> = errors
        .iter()
        .filter(|(error, _)| error.abs() > 0.02)
        .map(|(error, counter)| format!("`{counter}` {}", percent(*error)))
        .collect();
    let all =
        format!("{} of {} inside what is recorded, {} within 2 %", within(0.0), errors.len(), within(0.02));
    if others.is_empty() { all } else { format!("{all}, {}", others.join(", ")) }
}

/// Writes how times of the first dispatch look at the clock that fits them.
fn slower(
    text: &mut String,
    prepared: &Prepared,
    model: &'static Model,
    times: &[(&str, f64)],
) -> Result<()> {
    let (_, mhz) = FIRST_SLOWER;
    let slow = copy(prepared, model.at_engine_mhz(mhz).context("a clock that the engine has")?, 1)?;
    let errors = times.iter().filter_map(|(counter, recorded)| {
        let value = counted(&slow, 0, counter).filter(|_| *recorded > 0.0)?;
        Some(format!("`{counter}` {}", percent(distance(value, *recorded, *recorded))))
    });
    let errors: Vec<String> = errors.collect();
    writeln!(
        text,
        "The GPU was idle before the first dispatch, whose cycles and time are those of an engine at 800 to 1000 MHz. With `--gpu {}@{mhz}`: {}.\n",
        FIRST_SLOWER.0,
        errors.join(", ")
    )?;
    Ok(())
}

/// Writes the section.
pub(super) fn write(page: &mut Page) -> Result<()> {
    let mut text = String::new();
    for (gpu, title) in [("mi210", "MI200"), ("mi300x", "MI300X")] {
        let model = Model::by_name(gpu).context("a model of the data file")?;
        let source = root().join("crates/3-measure/record/tests/sources/vector_copy.hip");
        let kernel = "vecCopy(double*, double*, double*, int, int)";
        let Some(prepared) = Prepared::new(&source, model.target().name, kernel)? else {
            return Ok(());
        };
        let mut compared = Compared {
            target: model.target().name,
            title,
            recorder: copy(&prepared, model, 3)?,
            worst: Default::default(),
            times: Vec::new(),
            zeros: Vec::new(),
        };
        writeln!(text, "### {title}\n")?;
        text.push_str("| counter | recorded first | modelled first | error | recorded later | modelled later | error | basis |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        for line in TRUTH.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [of, counter, first, least, most] = fields[..] else { continue };
            if of == gpu {
                let number = |text: &str| text.parse::<f64>().context("a number of the data file");
                let recorded = Recorded { first: number(first)?, least: number(least)?, most: number(most)? };
                compared.counter(&mut text, &mut page.errors, counter, recorded);
            }
        }
        compared.summaries(&mut text)?;
        if gpu == FIRST_SLOWER.0 {
            slower(&mut text, &prepared, model, &compared.times)?;
        }
    }
    page.slots.insert("copy", text);
    page.slots.insert("basis", Basis::Modelled.word().to_owned());
    Ok(())
}

/// Recorded values of a counter: the first dispatch, and the range of the later ones.
#[derive(Clone, Copy)]
struct Recorded {
    first: f64,
    least: f64,
    most: f64,
}

/// The dispatches on one GPU, modelled, beside recorded ones.
struct Compared {
    target: &'static str,
    title: &'static str,
    recorder: Recorder,
    /// Distances of the first dispatch, of later ones, and of the median of all.
    worst: [Vec<(f64, &'static str)>; 3],
    /// Counters of time, with the values of the first dispatch.
    times: Vec<(&'static str, f64)>,
    /// Counters that are zero in both.
    zeros: Vec<String>,
}

impl Compared {
    /// Writes the row of a counter and takes note of its errors.
    fn counter(&mut self, text: &mut String, errors: &mut Errors, counter: &'static str, recorded: Recorded) {
        let Recorded { first, least, most } = recorded;
        let (target, title) = (self.target, self.title);
        let value = [0, 1, 2].map(|dispatch| counted(&self.recorder, dispatch, counter));
        let exact = registry().rule(counter, target).is_some_and(|rule| !record::is_modelled(rule));
        if [first, most].into_iter().chain(value[..2].iter().copied().flatten()).all(|it| it == 0.0) {
            self.zeros.push(format!("`{counter}`"));
            if !exact {
                errors.add_zero(target, counter, format!("vector copy on {title}, first"));
                errors.add_zero(target, counter, format!("vector copy on {title}, later"));
            }
            return;
        }
        let shown = |value: Option<f64>, least, most| match value {
            None => ["n/a".to_string(), String::new()],
            Some(value) => [grouped(value), percent(distance(value, least, most))],
        };
        let [model_first, error_first] = shown(value[0], first, first);
        let [model_later, error_later] = shown(value[1], least, most);
        let later =
            if least == most { grouped(least) } else { format!("{} to {}", grouped(least), grouped(most)) };
        let basis = registry().rule(counter, target).map_or("", |rule| rule.basis.word()).to_owned();
        let name = format!("`{counter}`");
        row(text, &[name, grouped(first), model_first, error_first, later, model_later, error_later, basis]);
        let both = [("first", value[0], first, first), ("later", value[1], least, most)];
        for (when, value, low, high) in both {
            if let Some(value) = value.filter(|_| !exact) {
                // Where nothing is recorded it is a part of what is the other time.
                let found = distance(value, low, high);
                let error = if found.is_finite() { found } else { value / first.max(most) };
                errors.add(target, counter, format!("vector copy on {title}, {when}"), error);
            }
        }
        if catalogue().get(counter).is_some_and(|it| it.class == Class::Timing) {
            self.times.push((counter, first));
            return;
        }
        for (worst, (_, value, low, high)) in self.worst.iter_mut().zip(both) {
            worst.extend(value.map(|value| (distance(value, low, high), counter)));
        }
        if let [Some(a), Some(b), Some(c)] = value {
            let recorded = median([first, least, most]);
            self.worst[2].push((distance(median([a, b, c]), recorded, recorded), counter));
        }
    }

    fn summaries(&self, text: &mut String) -> Result<()> {
        let title = self.title;
        writeln!(text, "\nZero in the recording and in the model: {}.\n", self.zeros.join(", "))?;
        let names = ["first dispatch", "later dispatches", "median of all three"];
        for (which, errors) in names.into_iter().zip(&self.worst) {
            let said = summary(errors);
            writeln!(text, "{title}, {which}, counters besides those of time that are not zero: {said}.\n")?;
            println!("{title}, {which}: {said}");
        }
        Ok(())
    }
}
