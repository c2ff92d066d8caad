//! Names for blocks of tables, and sets of metrics that one run of the application reads.
//!
//! Both are data; a set is checked to fit into one run on every target that has its metrics.

use crate::compile::Compiled;
use counters::{Need, catalogue, plan};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use view::UsageError;

/// A name for panels and tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alias {
    /// Name: `sol`, `l2`.
    pub name: &'static str,
    /// Panels and tables, in the syntax of `-b`: `17`, `30.14`.
    pub blocks: &'static str,
    /// Title of the panels and tables.
    pub what: &'static str,
}

/// Metrics that are read together in one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set {
    /// Name: `mem_thruput`.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    metrics: &'static str,
}

impl Set {
    /// The set with this name.
    pub fn by_name(name: &str) -> Option<Set> {
        sets().iter().copied().find(|set| set.name == name)
    }

    /// The set with this name; the error lists the existing ones.
    pub fn named(name: &str) -> Result<Set, UsageError> {
        Set::by_name(name).ok_or_else(|| {
            let known: Vec<&str> = sets().iter().map(|set| set.name).collect();
            UsageError::new(format!("there is no set `{name}`"), format!("sets are {}", known.join(", ")))
        })
    }

    /// Its metrics, whatever a target has of them.
    pub fn metrics(&self) -> impl Iterator<Item = &'static str> {
        self.metrics.split(' ')
    }

    /// Its metrics on a target.
    pub fn metrics_on(&self, compiled: &Compiled) -> Vec<&'static str> {
        self.metrics().filter(|metric| compiled.defined(metric)).collect()
    }

    /// Counters and properties to read for it on a target.
    pub fn needs(&self, compiled: &Compiled) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        for need in self.metrics_on(compiled).iter().flat_map(|metric| compiled.needs(metric)) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// The counters it reads on a target, by plain name.
    pub fn counters(&self, compiled: &Compiled) -> BTreeSet<String> {
        self.needs(compiled)
            .into_iter()
            .flat_map(|need| match need {
                Need::Counter(name) => vec![name],
                Need::Level { level, with } => std::iter::once(level).chain(with).collect(),
            })
            .collect()
    }

    /// Runs of the application that read it on a target.
    pub fn passes(&self, compiled: &Compiled) -> Option<usize> {
        plan(catalogue(), compiled.target(), &self.needs(compiled)).ok().map(|plan| plan.passes.len())
    }
}

/// Lines of three columns; `#` begins a comment.
fn lines<T>(text: &'static str, make: fn([&'static str; 3]) -> T) -> Vec<T> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut columns = line.splitn(3, '\t');
            make(std::array::from_fn(|_| columns.next().unwrap_or_default()))
        })
        .collect()
}

/// All names of blocks, in the order of the panels.
pub fn aliases() -> &'static [Alias] {
    static ALL: OnceLock<Vec<Alias>> = OnceLock::new();
    ALL.get_or_init(|| {
        lines(include_str!("../data/aliases.tsv"), |[name, blocks, what]| Alias { name, blocks, what })
    })
}

/// All sets.
pub fn sets() -> &'static [Set] {
    static ALL: OnceLock<Vec<Set>> = OnceLock::new();
    ALL.get_or_init(|| {
        lines(include_str!("../data/sets.tsv"), |[name, title, metrics]| Set { name, title, metrics })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definitions;

    #[test]
    fn sets_are_read_in_one_run() {
        let definitions = Definitions::built_in();
        let mut measured = 0;
        for target in arch::Target::names() {
            let compiled = definitions.compile(target).unwrap();
            for set in sets() {
                assert!(set.metrics().all(|metric| definitions.metric(metric).is_some()), "{}", set.name);
                let passes = set.passes(&compiled).unwrap();
                assert!(passes <= 1, "{} on {target}: {passes} runs", set.name);
                measured += passes;
            }
        }
        assert!(measured >= 8, "{measured}");
    }

    #[test]
    fn names_are_told_apart() {
        let names: BTreeSet<&str> =
            aliases().iter().map(|alias| alias.name).chain(sets().iter().map(|set| set.name)).collect();
        assert_eq!(names.len(), aliases().len() + sets().len());
        let tables: BTreeSet<String> = Definitions::built_in()
            .tables()
            .iter()
            .map(|table| format!("{}.{}", table.id.0, table.id.1))
            .collect();
        // Panel 0 is of tables that no metric is in.
        let of_metrics = |it: &&str| it.contains('.') && !it.starts_with("0.");
        for block in aliases().iter().flat_map(|alias| alias.blocks.split(' ')).filter(of_metrics) {
            assert!(tables.contains(block), "{block}");
        }
    }
}
