//! Faults that are known: `xtask/allowed.toml` lists them, one a line with its reason. The list may only
//! shrink, so a row that is no longer needed, or allows more than is found, is a fault too.

use super::functions::Function;
use super::modules::Circle;
use crate::run::root;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Most lines of a function outside tests.
const MOST_LINES: usize = 80;

/// Most arguments of a function that is not part of a C interface.
const MOST_ARGUMENTS: usize = 6;

/// Path of the list, relative to the root.
const FILE: &str = "xtask/allowed.toml";

/// The list, and the findings so far.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    circles: Vec<Row>,
    long: Vec<Row>,
    arguments: Vec<Row>,
    names: Vec<Row>,
    /// Circles, long functions, functions of many arguments and files with GPU names that were found.
    found: [usize; 4],
}

/// A row: the exception, its amount, and whether it was found.
#[derive(Debug)]
struct Row {
    what: String,
    modules: BTreeSet<String>,
    is_found: bool,
}

impl Allowed {
    pub(crate) fn read() -> Result<Self> {
        let text =
            std::fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
        Allowed::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let table: Table = text.parse().with_context(|| FILE.to_owned())?;
        let rows = |key: &str, name: &str| -> Result<Vec<Row>> {
            let rows =
                table.get(key).and_then(Value::as_array).with_context(|| format!("{FILE}: no `{key}`"))?;
            rows.iter()
                .map(|row| Row::parse(row, name).with_context(|| format!("{FILE}: `{key}`: {row}")))
                .collect()
        };
        Ok(Allowed {
            circles: rows("circles", "in")?,
            long: rows("long", "function")?,
            arguments: rows("arguments", "function")?,
            names: rows("gpu_names", "file")?,
            found: [0; 4],
        })
    }

    /// A circle of modules below `folder`.
    pub(crate) fn circle(&mut self, folder: &str, circle: &Circle) -> Option<String> {
        self.found[0] += 1;
        let parent = circle.parent.join("/");
        let place = format!("{folder}/{parent}");
        let place = place.trim_end_matches('/');
        let names = circle.modules.iter().cloned().collect::<Vec<_>>().join(" ");
        let row = self
            .circles
            .iter_mut()
            .find(|row| row.what == place && !row.modules.is_disjoint(&circle.modules));
        if let Some(row) = row {
            row.is_found = true;
            if row.modules == circle.modules {
                return None;
            }
            if row.modules.is_superset(&circle.modules) {
                return Some(format!(
                    "{FILE}: the circle in {place} has shrunk to `{names}`; shorten its row"
                ));
            }
        }
        let arrows: Vec<String> = circle.arrows.iter().map(|(from, to)| format!("{from} -> {to}")).collect();
        Some(format!("{place}: circle of modules `{names}`: {}", arrows.join(", ")))
    }

    /// A function of a source file.
    pub(crate) fn function(&mut self, file: &str, function: &Function) -> Vec<String> {
        let Function { name, line, lines, arguments } = function;
        let what = format!("{file} {name}");
        let mut faults = Vec::new();
        if *lines > MOST_LINES {
            self.found[1] += 1;
            if !find(&mut self.long, &what) {
                faults.push(format!("{file}:{line}: `{name}` has {lines} lines, over {MOST_LINES}"));
            }
        }
        if *arguments > MOST_ARGUMENTS && !is_of_c(file, name) {
            self.found[2] += 1;
            if !find(&mut self.arguments, &what) {
                faults.push(format!(
                    "{file}:{line}: `{name}` has {arguments} arguments, over {MOST_ARGUMENTS}"
                ));
            }
        }
        faults
    }

    /// A file that names GPU targets by enum variants, at these lines.
    pub(crate) fn gpu_variants(&mut self, file: &str, faults: Vec<String>) -> Vec<String> {
        if faults.is_empty() {
            return faults;
        }
        self.found[3] += 1;
        if find(&mut self.names, file) { Vec::new() } else { faults }
    }

    /// Rows for faults that were not found.
    pub(crate) fn unused(&self) -> Vec<String> {
        let rows = [&self.circles, &self.long, &self.arguments, &self.names].into_iter().flatten();
        rows.filter(|row| !row.is_found)
            .map(|row| format!("{FILE}: `{}` is not needed any more; remove its row", row.what))
            .collect()
    }

    /// The counts, for people.
    pub(crate) fn counts(&self) -> String {
        let [circles, long, arguments, names] = self.found;
        format!(
            "{circles} circles of modules, {long} functions over {MOST_LINES} lines, \
             {arguments} over {MOST_ARGUMENTS} arguments, {names} files with GPU names as variants"
        )
    }
}

impl Row {
    fn parse(row: &Value, name: &str) -> Result<Row> {
        let text = |key: &str| row.get(key).and_then(Value::as_str).filter(|it| !it.trim().is_empty());
        text("reason").context("no `reason`")?;
        Ok(Row {
            what: text(name).with_context(|| format!("no `{name}`"))?.to_owned(),
            modules: text("modules").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            is_found: false,
        })
    }
}

fn find(rows: &mut [Row], what: &str) -> bool {
    let row = rows.iter_mut().find(|row| row.what == what);
    row.is_some_and(|row| {
        row.is_found = true;
        true
    })
}

/// Functions whose arguments a header of HIP fixes.
fn is_of_c(file: &str, name: &str) -> bool {
    let is_boundary = ["hip", "capture"].iter().any(|it| file.starts_with(&format!("crates/6-enter/{it}/")));
    is_boundary && ["hip", "__hip", "_Z24hip"].iter().any(|it| name.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_may_only_shrink() {
        let list = r#"
            circles = [{ in = "crates/a/src", modules = "x y z", reason = "r" }]
            long = [{ function = "crates/a/src/x.rs f", reason = "r" }]
            arguments = []
            gpu_names = []
        "#;
        let names = |names: &str| names.split(' ').map(str::to_owned).collect();
        let circle =
            |modules| Circle { parent: Vec::new(), modules: names(modules), arrows: BTreeSet::new() };
        let function = |name: &str, lines| Function { name: name.to_owned(), line: 1, lines, arguments: 7 };
        for (modules, fault) in
            [("x y z", ""), ("x y", "shrunk"), ("w x y z", "circle of"), ("v w", "circle of")]
        {
            let found = Allowed::parse(list).unwrap().circle("crates/a/src", &circle(modules));
            assert!(found.as_ref().map_or(fault.is_empty(), |it| it.contains(fault)), "{modules}: {found:?}");
        }
        let mut allowed = Allowed::parse(list).unwrap();
        assert_eq!(allowed.unused().len(), 2);
        assert_eq!(allowed.function("crates/a/src/x.rs", &function("f", 81)).len(), 1);
        assert_eq!(allowed.function("crates/a/src/x.rs", &function("g", 81)).len(), 2);
        assert_eq!(allowed.function("crates/6-enter/hip/src/a.rs", &function("hipFree", 80)).len(), 0);
        assert_eq!(allowed.unused().len(), 1);
        assert!(Allowed::parse(&list.replace("\"r\"", "\"\"")).is_err(), "a row needs its reason");
    }
}
