//! Errors of kernels timed with events, the marks that follow, and the page.

use clock::Limit;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A measured time beside the modelled one, microseconds.
pub(super) struct Row {
    pub(super) benchmark: String,
    pub(super) size: usize,
    pub(super) launches: usize,
    pub(super) measured: f64,
    pub(super) modelled: f64,
    /// Limit of the longest launch.
    pub(super) limit: Limit,
}

impl Row {
    /// Error relative to the measured time.
    pub(super) fn error(&self) -> f64 {
        (self.modelled - self.measured) / self.measured
    }

    /// Whether the row is of a class of [`record::TIME_CLASSES`], or of any where it is empty.
    fn is_of(&self, class: &str) -> bool {
        let own = record::TIME_CLASSES[record::time_class(1e3 * self.measured, self.limit)];
        class.is_empty() || own.contains(&class)
    }

    /// True if constants of the model were fitted to the row's kernel.
    fn is_fitted(&self) -> bool {
        FITTED.contains(&&self.benchmark[..])
    }
}

/// Kernels to which constants were fitted: the page shows them, means and marks exclude them.
const FITTED: &[&str] = &["angles", "scattered"];

/// Mean and median error of rows, their number, and how many are within 12 %.
fn summary<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<[f64; 4]> {
    let mut errors: Vec<f64> = rows.map(|it| 100.0 * it.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let count = errors.len();
    let near = errors.iter().filter(|it| **it <= 12.0).count();
    let median = *errors.get(count / 2)?;
    Some([errors.iter().sum::<f64>() / count as f64, median, count as f64, near as f64])
}

/// Expected error of a kernel that was not compared, in percent, with the numbers of kernels and rows: the
/// mean over kernels of the mean error of each kernel's rows.
fn mark<'a>(rows: impl Iterator<Item = &'a Row>) -> (f64, usize, usize) {
    let mut kernels: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        kernels.entry(&row.benchmark).or_default().push(100.0 * row.error().abs());
    }
    let mean = |errors: &Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64;
    let sum: f64 = kernels.values().map(mean).sum();
    (sum / kernels.len().max(1) as f64, kernels.len(), kernels.values().map(Vec::len).sum())
}

/// By kernel: its mean error, and the mark that the other kernels give, in percent.
fn left_out<'a>(rows: &[&'a Row]) -> Vec<(&'a str, f64, f64)> {
    let kernels: BTreeSet<&str> = rows.iter().map(|row| &row.benchmark[..]).collect();
    let of = |kernel: &'a str| {
        let (own, others): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.benchmark == kernel);
        (kernel, mark(own.into_iter()).0, mark(others.into_iter()).0)
    };
    kernels.into_iter().map(of).collect()
}

/// Factor between an error and its mark up to which the mark holds.
const FACTOR: f64 = 1.3;

/// Head of the table of kernels that are left out.
const LEFT_OUT: &str = "\n## Marks of kernels left out\n\nEach kernel with the mark that the other kernels of its class give. The mean over \
kernels of both is the mark of the class. `beyond`: the two differ by more than a factor of 1.3.\n\n\
| class | kernel | its error | mark without it | factor | |\n|---|---|---|---|---|---|\n";

/// Fewest kernels of a class with a separate mark.
const FEWEST: usize = 5;

/// The data file of marks of times.
pub(super) fn marks(rows: &[Row]) -> String {
    let free = || rows.iter().filter(|it| !it.is_fitted());
    let mut text = String::from(
        "# Expected error of the time of a kernel that was not compared, percent; made by `cargo xtask accuracy --events` from the comparisons in docs/accuracy-events.md\n# target\tclass\tmark\tkernels\tcomparisons\n",
    );
    let all = mark(free());
    for [_, class] in CLASSES {
        let own = mark(free().filter(|it| it.is_of(class)));
        let is_wide = record::TIME_CLASSES.iter().any(|it| it[1] == class);
        // A narrow class of few kernels has no mark, and the wider one is used.
        let shown = if own.1 >= FEWEST { Some(own) } else { Some(all).filter(|_| is_wide) };
        for (target, (error, kernels, count)) in
            ["gfx942", "gfx950"].iter().filter_map(|it| Some((it, shown?)))
        {
            let _ = writeln!(text, "{target}\t{class}\t{error:.2}\t{kernels}\t{count}");
        }
    }
    text
}

/// Classes of times: as shown, and as in [`record::TIME_CLASSES`].
const CLASSES: [[&str; 2]; 6] = [
    ["below 20 us", "time_short"],
    ["from 20 us on", "time"],
    ["below 20 us, memory", "time_short_memory"],
    ["below 20 us, others", "time_short_other"],
    ["from 20 us on, memory", "time_memory"],
    ["from 20 us on, others", "time_other"],
];

/// The page about kernels timed with events.
pub(super) fn page(rows: &[Row]) -> String {
    let mut text = String::from(include_str!("../events.md"));
    text += "\n## Summary\n\n| rows | kernels | number | mean error | median | within 12 % | mark |\n|---|---|---|---|---|---|---|\n";
    let free = || rows.iter().filter(|it| !it.is_fitted());
    let classes = || [["all", ""]].into_iter().chain(CLASSES);
    for [name, class] in classes() {
        let rows = || free().filter(|it| it.is_of(class));
        if let Some([mean, median, count, near]) = summary(rows()) {
            let (mark, kernels, _) = mark(rows());
            let _ = writeln!(
                text,
                "| {name} | {kernels} | {count} | {mean:.1} % | {median:.1} % | {near} | ±{mark:.1} % |"
            );
        }
    }
    text += LEFT_OUT;
    for [name, class] in classes() {
        for (kernel, error, others) in left_out(&free().filter(|it| it.is_of(class)).collect::<Vec<_>>()) {
            let factor = error.max(others) / error.min(others);
            let beyond = if factor > FACTOR { "beyond" } else { "" };
            let kernel = kernel.replace('_', " ");
            let _ = writeln!(
                text,
                "| {name} | {kernel} | {error:.1} % | ±{others:.1} % | {factor:.1} | {beyond} |"
            );
        }
    }
    for (title, fitted) in [("Kernels", false), ("Fitted: atomics", true)] {
        let _ = writeln!(
            text,
            "\n## {title}\n\n| kernel | size | launches | measured us | modelled us | error |\n|---|---|---|---|---|---|"
        );
        for row in rows.iter().filter(|it| it.is_fitted() == fitted) {
            let size = match &row.benchmark[..] {
                "scattered" => format!("2^{}, {} threads", row.size / 1_000_000, row.size % 1_000_000),
                _ => row.size.to_string(),
            };
            let name = row.benchmark.replace('_', " ");
            let Row { launches, measured, modelled, .. } = row;
            let error = 100.0 * row.error();
            let _ = writeln!(
                text,
                "| {name} | {size} | {launches} | {measured:.1} | {modelled:.1} | {error:+.1} % |"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_rests_on_no_single_kernel() {
        let row = |benchmark: &str, modelled: f64| Row {
            benchmark: benchmark.to_owned(),
            size: 1,
            launches: 1,
            measured: 10.0,
            modelled,
            limit: Limit::Memory,
        };
        // Many sizes of one kernel count as one kernel.
        let rows = [row("a", 11.0), row("a", 11.0), row("a", 11.0), row("b", 13.0), row("scattered", 90.0)];
        let (error, kernels, count) = mark(rows.iter().filter(|it| !it.is_fitted()));
        assert_eq!((error.round(), kernels, count), (20.0, 2, 4));
        let classes = marks(&rows);
        assert!(classes.contains("gfx950\ttime\t20.00\t2\t4\n"), "{classes}");
        // Two kernels make no class with a kind of limit.
        assert!(!classes.contains("memory"), "{classes}");
        let free: Vec<&Row> = rows.iter().filter(|it| !it.is_fitted()).collect();
        let rounded = left_out(&free).into_iter().map(|it| (it.0, it.1.round(), it.2.round()));
        assert_eq!(rounded.collect::<Vec<_>>(), [("a", 10.0, 30.0), ("b", 30.0, 10.0)]);
        assert_eq!(summary(rows.iter()).map(|it| it[2..].to_vec()), Some(vec![5.0, 3.0]));
    }
}
