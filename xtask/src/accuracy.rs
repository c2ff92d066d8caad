//! `docs/accuracy.md`: counters of emulated kernels beside what hardware counted.
//!
//! The truths are numbers in data files with their origin; the kernels are compiled and emulated each time
//! the page is made, so it always shows the model as it is.

mod events;
mod kernels;
mod peaks;
mod rests;
mod sets;
mod shares;
mod times;
mod trace;
mod vector_copy;

use crate::run::root;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file of mean errors, by which reports mark modelled values.
const ERRORS: &str = "crates/3-measure/record/data/errors.tsv";

/// Comparisons of quantities by target and name.
#[derive(Default)]
struct Errors(BTreeMap<(&'static str, String), Vec<Comparison>>);

/// A quantity beside what hardware recorded.
struct Comparison {
    /// Kernel and GPU.
    of: String,
    /// Error relative to the recorded value of the hardware; `None` if the recorded and the modelled value
    /// are 0.
    error: Option<f64>,
}

impl Errors {
    /// A quantity of a target was compared: a counter, or what [`record::time_quantity`] says.
    fn add(&mut self, target: &'static str, quantity: &str, of: impl Into<String>, error: f64) {
        let comparison = Comparison { of: of.into(), error: Some(error) };
        self.0.entry((target, quantity.to_string())).or_default().push(comparison);
    }

    /// Adds a comparison of a quantity that is 0 on hardware and in the model.
    fn add_zero(&mut self, target: &'static str, quantity: &str, of: impl Into<String>) {
        let comparison = Comparison { of: of.into(), error: None };
        self.0.entry((target, quantity.to_string())).or_default().push(comparison);
    }

    /// The data file.
    fn write(&self) -> String {
        let mut text = String::from(
            "# How far modelled quantities of emulated kernels lie from what hardware recorded, on average; made by `cargo xtask accuracy` of the comparisons in docs/accuracy.md\n# target\tquantity\tmean error, percent; `zero` where all that was compared is 0, there and here\tcomparisons\n",
        );
        for ((target, quantity), comparisons) in &self.0 {
            let error = mean(comparisons).map_or_else(|| "zero".into(), |mean| format!("{mean:.2}"));
            let _ = writeln!(text, "{target}\t{quantity}\t{error}\t{}", comparisons.len());
        }
        text
    }
}

/// Mean error in percent; `None` if all compared values are 0.
fn mean(comparisons: &[Comparison]) -> Option<f64> {
    let errors = comparisons.iter().filter_map(|it| it.error);
    errors.map(f64::abs).reduce(|a, b| a + b).map(|sum| 100.0 * sum / comparisons.len() as f64)
}

/// The page with slots `{{name}}` for figures.
const PAGE: &str = include_str!("accuracy/page.md");

/// Text of the page, and the comparisons it is made of.
#[derive(Default)]
struct Page {
    slots: BTreeMap<&'static str, String>,
    errors: Errors,
}

impl Page {
    /// Adds a row to the table in a slot.
    fn row(&mut self, slot: &'static str, cells: &[String]) {
        row(self.slots.entry(slot).or_default(), cells);
    }

    /// Sections for a slot.
    fn part(&self) -> String {
        let filled = |section: &&str| slots(section).any(|name| self.slots.contains_key(name));
        let sections: Vec<&str> = PAGE.split_inclusive("\n\n## ").filter(filled).collect();
        self.fill(&sections.concat(), |_| Ok("not compared here".to_owned())).unwrap_or_default()
    }

    /// The whole page. A slot without figures is an error: a compiler is missing.
    fn whole(&self) -> Result<String> {
        self.fill(PAGE, |name| {
            bail!("nothing was compared for `{name}`: is the compiler there? `cargo xtask setup`")
        })
    }

    fn fill(&self, text: &str, missing: impl Fn(&str) -> Result<String>) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").context("accuracy/page.md: a slot does not end")?;
            out += before;
            match self.slots.get(name) {
                Some(figures) => out += figures.trim_end_matches('\n'),
                None => out += &missing(name)?,
            }
            rest = after;
        }
        Ok(out + rest)
    }
}

/// Names of the slots of a text.
fn slots(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0))
}

const OPTIONS: &str = "`accuracy` takes only `--wide`, `--copy`, `--rates`, `--times`, `--sets`, `--events` (or `--sets=TEXT` and `--events=TEXT`, for the rows whose kernel and size contain it), `--intensities`, `--trace`, `--peaks` or `--shares`";

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let wide = match arguments {
        [] => false,
        [option] if option == "--wide" => true,
        // A part of the page.
        [option] if option == "--events" => return events::write(""),
        [option] if option.starts_with("--events=") => {
            return events::write(option.trim_start_matches("--events="));
        }
        [option] if option.starts_with("--sets=") => {
            return sets::write(&mut Page::default(), option.trim_start_matches("--sets="));
        }
        [option] => {
            let mut page = Page::default();
            match &option[..] {
                "--copy" => vector_copy::write(&mut page)?,
                "--rates" => kernels::write(&mut page, false)?,
                "--times" => times::write(&mut page)?,
                "--sets" => sets::write(&mut page, "")?,
                "--intensities" => times::intensities(&mut page)?,
                "--trace" => trace::write(&mut page)?,
                "--peaks" => peaks::write(&mut page)?,
                "--shares" => shares::write(&mut page)?,
                other => bail!("{OPTIONS}, found `{other}`"),
            }
            rests::write(&mut page);
            print!("{}{}", page.part(), page.errors.write());
            return Ok(());
        }
        _ => bail!("{OPTIONS}, and one of them"),
    };
    // Half of the work at the same time as the other half.
    let (page, sets) = std::thread::scope(|scope| {
        let sets = scope.spawn(|| {
            let mut page = Page::default();
            sets::write(&mut page, "")?;
            events::write("").map(|()| page)
        });
        (rest_of_page(wide), sets.join())
    });
    let (mut page, Ok(sets)) = (page?, sets) else { bail!("the comparison of sets panicked") };
    page.slots.extend(sets?.slots);
    rests::write(&mut page);
    let path = root().join("docs/accuracy.md");
    std::fs::write(&path, page.whole()?).with_context(|| format!("cannot write {}", path.display()))?;
    let data = root().join(ERRORS);
    std::fs::write(&data, page.errors.write()).with_context(|| format!("cannot write {}", data.display()))?;
    println!("accuracy: docs/accuracy.md and {ERRORS} are written");
    Ok(())
}

/// The page without sets.
fn rest_of_page(wide: bool) -> Result<Page> {
    let mut page = Page::default();
    vector_copy::write(&mut page)?;
    kernels::write(&mut page, wide)?;
    times::write(&mut page)?;
    trace::write(&mut page)?;
    peaks::write(&mut page)?;
    shares::write(&mut page)?;
    Ok(page)
}

/// A row of a Markdown table.
fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Digits in groups of three.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digit != '-' {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Distance of a value from a range, relative to the nearer end.
fn distance(value: f64, least: f64, most: f64) -> f64 {
    let nearest = value.clamp(least, most);
    if value == nearest {
        0.0
    } else if nearest == 0.0 {
        f64::INFINITY
    } else {
        (value - nearest) / nearest
    }
}

/// An error in percent.
fn percent(error: f64) -> String {
    match error {
        0.0 => "0".into(),
        error if error.is_infinite() => "recorded: 0".into(),
        error => format!("{:+.2} %", 100.0 * error),
    }
}
