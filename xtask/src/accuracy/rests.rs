//! Section on the comparisons that each mark is the mean of.
//!
//! A mark is a mean, and the worst comparison sets most of it, so it is named.

use super::{Comparison, Page, mean};
use std::collections::BTreeMap;

/// Fills in the results of the comparisons so far.
pub(super) fn write(page: &mut Page) {
    let mut rows: BTreeMap<[String; 5], Vec<String>> = BTreeMap::new();
    for ((target, quantity), comparisons) in &page.errors.0 {
        let [mark, count, of, error] = cells(comparisons);
        rows.entry([(*target).to_string(), count, of, error, mark])
            .or_default()
            .push(format!("`{quantity}`"));
    }
    for ([target, count, of, error, mark], quantities) in rows {
        page.row("marks", &[target, quantities.join(" "), mark, count, of, error]);
    }
}

/// Mark, number of comparisons, the one that is furthest off, and its error.
fn cells(comparisons: &[Comparison]) -> [String; 4] {
    let count = comparisons.len().to_string();
    let size = |it: &Comparison| it.error.map_or(0.0, f64::abs);
    let worst = comparisons.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let Some(mean) = mean(comparisons) else {
        let first = comparisons.first().map_or_else(String::new, |it| it.of.clone());
        return ["compared where it is 0".into(), count, first, "0".into()];
    };
    let (of, error) = worst.map_or_else(Default::default, |it| (it.of.clone(), it.error.unwrap_or(0.0)));
    [format!("±{mean:.2} %"), count, of, super::percent(error)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparison_that_is_furthest_off_is_named() {
        let mut page = Page::default();
        let errors = &mut page.errors;
        for counter in ["TCC_HIT", "TCC_MISS"] {
            errors.add("gfx942", counter, "copy, first", 0.01);
            errors.add("gfx942", counter, "copy, later", -0.05);
            errors.add_zero("gfx942", counter, "fill");
        }
        errors.add_zero("gfx942", "TCC_WRITE", "fill");
        errors.add("gfx90a", "time", "rows", 0.08);
        let file = errors.write();
        write(&mut page);
        let rows: Vec<&str> = page.slots["marks"].lines().filter(|line| line.starts_with("| gfx")).collect();
        assert_eq!(
            rows,
            [
                "| gfx90a | `time` | ±8.00 % | 1 | rows | +8.00 % |",
                "| gfx942 | `TCC_WRITE` | compared where it is 0 | 1 | fill | 0 |",
                "| gfx942 | `TCC_HIT` `TCC_MISS` | ±2.00 % | 3 | copy, later | -5.00 % |",
            ]
        );
        assert!(file.ends_with("gfx942\tTCC_WRITE\tzero\t1\n"), "{file}");
    }
}
