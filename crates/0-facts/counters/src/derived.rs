//! Derived counters: values that profilers compute from several counters and record under a separate name.
//!
//! Profilers spell them in several ways (`FETCH_SIZE`, `FetchSize`), and some names differ only in capitals
//! (`LDSBankConflict`, `LdsBankConflict`). So an exact match wins, and a match that ignores capitals and
//! underscores is accepted only if it is unique.

use crate::catalogue::{Catalogue, CatalogueError, catalogue, rows};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Averaging over dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Averaged {
    /// They add up.
    Total,
    /// A ratio, weighted by the time of dispatches.
    ByTime,
    /// A ratio, weighted by the waves of dispatches.
    ByWaves,
    /// The same in all.
    Constant,
}

impl Averaged {
    /// Whether values add up over dispatches.
    pub fn is_total(self) -> bool {
        self == Averaged::Total
    }
}

/// The formula on some targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Targets, a bit per [`Catalogue::targets`].
    pub targets: u32,
    /// Formula in the language of metrics.
    pub text: String,
    /// Line of the data file, 1-based.
    pub line: usize,
}

/// One derived counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// Name.
    pub name: String,
    /// Other names that profilers have for it.
    pub others: Vec<String>,
    /// Unit of the value: `KiB`, `%`, `instr/wave`.
    pub unit: String,
    /// How values of several dispatches become one.
    pub averaged: Averaged,
    /// Formulas on its targets.
    pub formulas: Vec<Formula>,
    /// Meaning of the counter.
    pub meaning: String,
}

impl Derived {
    /// All its names, the usual one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.others.iter().map(String::as_str))
    }
}

/// All derived counters.
#[derive(Debug, Default)]
pub struct DerivedCounters {
    list: Vec<Derived>,
    /// By each name as written.
    by_name: HashMap<String, usize>,
    /// Index by name without capitals and underscores; `None` if the name is ambiguous.
    by_letters: HashMap<String, Option<usize>>,
}

/// Name of the data file.
pub const DERIVED_FILE: &str = "derived.tsv";

/// The derived counters compiled into the program.
pub fn derived() -> &'static DerivedCounters {
    static DERIVED: OnceLock<DerivedCounters> = OnceLock::new();
    DERIVED.get_or_init(|| {
        DerivedCounters::parse(include_str!("../data/derived.tsv"), catalogue())
            .expect("the data files of this crate are well formed, which a test checks")
    })
}

/// A name without capitals and underscores.
fn letters(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

impl DerivedCounters {
    /// Reads the data file.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Self, CatalogueError> {
        let mut out = Self::default();
        for (line, row) in rows(text) {
            out.add(row, line, catalogue).map_err(|what| CatalogueError {
                file: DERIVED_FILE.into(),
                line,
                what,
            })?;
        }
        Ok(out)
    }

    fn add(&mut self, row: &str, line: usize, catalogue: &Catalogue) -> Result<(), String> {
        let fields: Vec<&str> = row.split('\t').collect();
        let [name, others, unit, averaged, targets, text, meaning] = fields[..] else {
            return Err("a row has 7 fields".into());
        };
        let formula = Formula { targets: catalogue.target_bits(targets)?, text: text.into(), line };
        let averaged = match averaged {
            "total" => Averaged::Total,
            "time" => Averaged::ByTime,
            "waves" => Averaged::ByWaves,
            "constant" => Averaged::Constant,
            other => return Err(format!("`{other}` is no way to average")),
        };
        if let Some(known) = self.by_name.get(name).and_then(|i| self.list.get_mut(*i)) {
            if (known.unit.as_str(), known.averaged) != (unit, averaged) {
                return Err(format!("`{name}` has another unit or average in an earlier row"));
            }
            if known.formulas.iter().any(|it| it.targets & formula.targets != 0) {
                return Err(format!("`{name}` occurs twice for a target"));
            }
            known.formulas.push(formula);
            return Ok(());
        }
        if catalogue.get(name).is_some() {
            return Err(format!("`{name}` is a counter of hardware"));
        }
        if meaning == "-" || unit.is_empty() {
            return Err("unit and meaning may not be empty".into());
        }
        let others: Vec<String> = others.split(' ').filter(|it| *it != "-").map(str::to_string).collect();
        let at = self.list.len();
        let (name, unit, meaning) = (name.to_string(), unit.to_string(), meaning.to_string());
        let derived = Derived { name, others, unit, averaged, formulas: vec![formula], meaning };
        for name in derived.names() {
            if self.by_name.insert(name.to_string(), at).is_some() {
                return Err(format!("`{name}` occurs twice"));
            }
            let known = self.by_letters.entry(letters(name)).or_insert(Some(at));
            if *known != Some(at) {
                *known = None;
            }
        }
        self.list.push(derived);
        Ok(())
    }

    /// All, in the order of the data file.
    pub fn iter(&self) -> std::slice::Iter<'_, Derived> {
        self.list.iter()
    }

    /// A derived counter by any of its names.
    pub fn find(&self, recorded: &str) -> Option<&Derived> {
        let by_letters = || self.by_letters.get(&letters(recorded)).copied().flatten();
        self.list.get(self.by_name.get(recorded).copied().or_else(by_letters)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_is_well_formed() {
        assert!(derived().iter().count() > 90);
        for it in derived().iter() {
            assert!(!it.meaning.ends_with('.'), "{}", it.meaning);
            assert!(it.meaning.starts_with(|c: char| c.is_uppercase()), "{}", it.meaning);
        }
    }

    #[test]
    fn names_are_found_however_they_are_spelled() {
        for (recorded, name) in [
            ("FETCH_SIZE", Some("FETCH_SIZE")),
            ("FetchSize", Some("FETCH_SIZE")),
            ("fetch_size", Some("FETCH_SIZE")),
            ("Fetch_Size", Some("FETCH_SIZE")),
            ("GPUBusy", Some("GPU_UTIL")),
            ("ValuPipeIssueUtil", Some("VALUBusy")),
            ("occupancy_percent", Some("OccupancyPercent")),
            ("sL1dCacheHitRate", Some("sL1dCacheHitRate")),
            // These two are different things.
            ("LDSBankConflict", Some("LDSBankConflict")),
            ("LdsBankConflict", Some("LdsBankConflict")),
            ("lds_bank_conflict", None),
            ("SQ_WAVES", None),
            ("FETCH", None),
            ("", None),
        ] {
            assert_eq!(derived().find(recorded).map(|it| it.name.as_str()), name, "{recorded}");
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        let parse = |text: &str| DerivedCounters::parse(text, catalogue()).unwrap_err().to_string();
        for text in [
            "A\t-\t%\ttime\tall\tB",
            "A\t-\t%\tmean\tall\tB\tC",
            "A\t-\t%\ttime\tgfx1\tB\tC",
            "SQ_WAVES\t-\twave\ttotal\tall\tB\tC",
            "A\tX X\t%\ttime\tall\tB\tC",
            "A\t-\t%\ttime\tall\tB\tC\nA\t-\t%\ttime\tall\tB\t-",
            "A\t-\t%\ttime\tgfx908\tB\tC\nA\t-\t1\ttime\tgfx90a\tB\t-",
            "A\t-\t%\ttime\tall\tB\t-",
        ] {
            testkit::golden(&format!("{text:?}"), &parse(text));
        }
    }
}
