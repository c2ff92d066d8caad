//! The vector copy, counter by counter.
//!
//! The one idea to keep in mind: recordings hold three dispatches; the first finds no code in the caches, later ones do,
//! so each is compared with its like.

use super::kernels::Prepared;
use super::{Errors, distance, grouped, percent, row};
use crate::run::root;
use anyhow::{Context, Result};
use counters::{Class, catalogue};
use emu::{Hidden, Launch};
use probe::{Basis, Recorder, registry};
use std::fmt::Write as _;

const TRUTH: &str = include_str!("vector_copy.tsv");

const WORDS: &str = "Grid 1,048,576, workgroup 256, three dispatches; recorded on an MI200 and, with ROCm 7.0, on an MI300X with the vendor's
profiler. *first* is the first dispatch, *later* the range of the other two. The error is the distance from the recorded
value or range. What the recordings have besides are requests of the command processor, some hundred of them on the MI200.

";

const DIFFERENCES: &str = "What is behind the differences:

* Requests of the command processor are in the recordings and not in the model: uncached ones above all.
* On an MI200 two reads of the halves of a line are one request of the L2. Where the first had to wait for room and the second
  does not follow in the next cycle, as in loads of 8 bytes, they stay two: 7 % of the pairs in later dispatches and 12 % in the first, 8 %
  modelled in both. What makes the first one differ is not known.
* After later dispatches on the MI200 dirty lines stayed in the L2, to be written back outside of the measured time; the
  model leaves them, and so differs from the first dispatch, which wrote them back. How many stay is half of the lines that
  half of the L2 holds and half of those that waves in flight read and have not written yet, recorded and modelled.
* On the MI300X waves of later dispatches live twice as long as in the model. A read takes 1379 to 1416 cycles from the L2 to memory and
  back there, three times what a chase through the memory-side cache takes, at half of the bandwidth of memory; what holds it up is not known.
* On the MI300X `GRBM_GUI_ACTIVE` goes on for two to three times as long as engines are busy; the model has the time of the dispatch there.
* How long fetches wait for code that is not there yet depends on time: not given.
* An older recording on an MI300X, with a ROCm 6.2 before its release, has arguments in uncached memory of the host: 160 uncached requests, and
  waves that wait 4500 cycles for arguments. The runtime puts them into the memory of the GPU since.

";

/// Writes the section.
pub(super) fn write(text: &mut String, errors: &mut Errors) -> Result<()> {
    text.push_str("## Vector copy\n\n");
    text.push_str(WORDS);
    for (gpu, title) in [("mi210", "MI200"), ("mi300x", "MI300X")] {
        let model = arch::Model::by_name(gpu).context("a model of the data file")?;
        let target = model.target().name;
        let source = root().join("crates/2-model/probe/tests/sources/vector_copy.hip");
        let Some(prepared) = Prepared::new(&source, target, "vecCopy(double*, double*, double*, int, int)")?
        else {
            writeln!(text, "### {title}\n\nNot compared: no clang++-19.\n")?;
            continue;
        };
        let n = 1 << 20;
        let mut job = prepared.launch([n, 8, n].map(|items| 8 * items), &[n as i32, 1])?;
        let mut recorder = Recorder::new(model);
        for number in 0..3 {
            let shape = Launch::new([n as u32 / 256, 1, 1], [256, 1, 1], 0);
            // The data came from the host before the first one.
            let launch = job.launch(Launch { released: number == 0, ..shape }, &Hidden::default());
            recorder.run(&job.name, &job.program, &job.table, &job.memory, &launch)?;
        }
        writeln!(text, "### {title}\n")?;
        text.push_str("| counter | recorded first | modelled first | error | recorded later | modelled later | error | basis |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        let mut worst = Vec::new();
        let mut zeros = Vec::new();
        for line in TRUTH.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [of, counter, first, least, most] = fields[..] else { continue };
            if of != gpu {
                continue;
            }
            let number = |text: &str| text.parse::<f64>().context("a number of the data file");
            let (first, least, most) = (number(first)?, number(least)?, number(most)?);
            let value = |dispatch: usize| -> Option<f64> {
                let (_, value) =
                    recorder.dispatches().get(dispatch)?.counters.iter().find(|it| it.0 == counter)?;
                value.known().map(|value| value as f64)
            };
            let exact = registry().rule(counter, target).is_some_and(|rule| !probe::is_modelled(rule));
            if [first, most].into_iter().chain([value(0), value(1)].into_iter().flatten()).all(|it| it == 0.0)
            {
                zeros.push(format!("`{counter}`"));
                if !exact {
                    errors.add_zero(target, counter);
                    errors.add_zero(target, counter);
                }
                continue;
            }
            let basis = registry().rule(counter, target).map_or("", |rule| rule.basis.word());
            let shown = |value: Option<f64>, least, most| match value {
                None => ["n/a".to_string(), String::new()],
                Some(value) => [grouped(value), percent(distance(value, least, most))],
            };
            let [model_first, error_first] = shown(value(0), first, first);
            let [model_later, error_later] = shown(value(1), least, most);
            let later = if least == most {
                grouped(least)
            } else {
                format!("{} to {}", grouped(least), grouped(most))
            };
            row(
                text,
                &[
                    format!("`{counter}`"),
                    grouped(first),
                    model_first,
                    error_first,
                    later,
                    model_later,
                    error_later,
                    basis.into(),
                ],
            );
            let most_later = most;
            for (value, least, most) in [(value(0), first, first), (value(1), least, most)] {
                if let Some(value) = value.filter(|_| !exact) {
                    // Where nothing is recorded it is a part of what is the other time.
                    let found = distance(value, least, most);
                    let error = if found.is_finite() { found } else { value / first.max(most_later) };
                    errors.add(target, counter, error);
                }
            }
            let timing = catalogue().get(counter).is_some_and(|it| it.class == Class::Timing);
            if let Some(value) = value(1).filter(|_| !timing) {
                worst.push((distance(value, least, most), counter));
            }
        }
        let within = worst.iter().filter(|(error, _)| error.abs() <= 0.02).count();
        let exact = worst.iter().filter(|(error, _)| *error == 0.0).count();
        writeln!(
            text,
            "\nZero in the recording and in the model: {}.\n\n{title}, later dispatches: {} counters besides those of time that are not zero, {exact} inside the recorded range, {within} within 2 %.\n",
            zeros.join(", "),
            worst.len()
        )?;
        println!("{title}: {exact} of {} inside the recorded range, {within} within 2 %", worst.len());
    }
    text.push_str(DIFFERENCES);
    writeln!(
        text,
        "The basis is that of the counter's rule in [counters.md](counters.md); *{}* ones are predictions.\n",
        Basis::Modelled.word()
    )?;
    Ok(())
}
