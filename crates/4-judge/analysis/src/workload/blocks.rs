//! Selection of tables and rows: panels `2`, tables `7.1`, rows `2.1.20`, metrics by name.
//!
//! A selection is checked against the tables of the target, so an unknown number is answered with the valid
//! ones.

use super::select::{some_of, wrong};
use metrics::Definitions;
use sorting::Sort;
use std::collections::BTreeSet;
use view::UsageError;

/// Tables that are not made of metrics.
pub(crate) const SPECIAL: &[((u16, u16), &str)] = &[
    ((0, 1), "Top Kernels"),
    ((0, 2), "Dispatch List"),
    (LIMITS, "What Each Limit Is Worth"),
    (CHANGES, "What If"),
    (OCCUPANCY, "Occupancy over Time"),
    (RANKS, "Ranks"),
    (TUNING, "Autotuning"),
    (SPREADS, "Spread over Runs"),
    (COUNTERS, "Recorded Counters"),
    (OPERATORS, "Counters by Operator"),
    ((1, 1), "System Info"),
    (SAMPLES, "PC Sampling"),
    (SAMPLED_KERNELS, "Samples by Kernel"),
    (TRACE, "Thread Trace"),
    (WAVES, "Traced Waves"),
];

/// The tables of samples of the program counter: instructions, and kernels.
pub(crate) const SAMPLES: (u16, u16) = (21, 1);
pub(crate) const SAMPLED_KERNELS: (u16, u16) = (21, 2);
/// The instructions of thread traces.
pub(crate) const TRACE: (u16, u16) = (21, 3);
/// The timeline of traced waves.
pub(crate) const WAVES: (u16, u16) = (21, 4);

/// The tables of predictions.
pub(crate) const LIMITS: (u16, u16) = (0, 3);
pub(crate) const CHANGES: (u16, u16) = (0, 4);
pub(crate) const RANKS: (u16, u16) = (0, 6);
/// The table of configurations that an autotuner tried.
pub(crate) const TUNING: (u16, u16) = (0, 7);
/// The run-to-run spread table.
pub(crate) const SPREADS: (u16, u16) = (0, 8);

/// The table of what was recorded.
pub(crate) const COUNTERS: (u16, u16) = (0, 9);

/// The counters of each operator of a framework, if a trace links launches to operators.
pub(crate) const OPERATORS: (u16, u16) = (0, 10);

/// Tables shown when none are requested.
pub(crate) const OVERVIEW: &[(u16, u16)] =
    &[(0, 1), LIMITS, CHANGES, RANKS, TUNING, COUNTERS, OPERATORS, (2, 1), SAMPLED_KERNELS, TRACE];
/// Tables shown instead of a recording without times: what was launched, and what can be counted without a
/// clock.
const COUNTED: &[(u16, u16)] = &[(0, 2), (10, 1), (10, 2), (10, 4), (12, 2), (16, 3)];

/// Tables shown instead of samples or traces without counters.
const SAMPLED: &[(u16, u16)] = &[(0, 1), SAMPLES, SAMPLED_KERNELS, TRACE, WAVES];

/// The chart of waves in flight.
pub const OCCUPANCY: (u16, u16) = (0, 5);
/// The table of the memory chart's numbers.
pub const MEMORY_CHART: (u16, u16) = (3, 1);
/// The table of the roofline's numbers.
pub const ROOFLINE: (u16, u16) = (4, 1);

/// Tables and rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Blocks {
    /// Everything.
    all: bool,
    /// No block was requested.
    overview: bool,
    /// The overview belongs to a recording without times.
    counted: bool,
    /// The overview belongs to samples without counters.
    sampled: bool,
    /// The overview has no charts.
    no_charts: bool,
    /// Counters are summed over all kernels.
    together: bool,
    panels: BTreeSet<u16>,
    tables: BTreeSet<(u16, u16)>,
    rows: BTreeSet<(u16, u16, usize)>,
    metrics: Vec<String>,
    /// Metrics that no table contains.
    loose: Vec<String>,
}

impl Blocks {
    /// Every table.
    pub fn all() -> Self {
        Blocks { all: true, ..Self::default() }
    }

    /// The tables shown when none are requested.
    pub fn overview() -> Self {
        Blocks { overview: true, ..Self::default() }
    }

    /// The overview of recordings without times; blocks requested by name stay.
    pub fn without_times(self) -> Self {
        Blocks { counted: true, ..self }
    }

    /// The overview of samples without counters; blocks requested by name stay.
    pub fn without_counters(self) -> Self {
        Blocks { sampled: true, no_charts: true, ..self }
    }

    /// The overview without charts; blocks requested by name stay.
    pub fn without_charts(self) -> Self {
        Blocks { no_charts: true, ..self }
    }

    /// The same with counters summed over all kernels, for a user who chooses among the kernels.
    pub fn with_counters_together(self) -> Self {
        Blocks { together: true, ..self }
    }

    pub(crate) fn counters_together(&self) -> bool {
        self.together
    }

    fn in_overview(&self, id: (u16, u16)) -> bool {
        let tables = match (self.sampled, self.counted) {
            (true, _) => SAMPLED,
            (false, true) => COUNTED,
            (false, false) => OVERVIEW,
        };
        self.overview && tables.contains(&id)
    }

    /// Parses the request; an empty request gives the overview.
    pub fn parse(asked: &[String], definitions: &Definitions, target: &str) -> Result<Self, UsageError> {
        let mut blocks = Blocks::default();
        let words: Vec<&str> =
            asked.iter().flat_map(|t| t.split([',', ' '])).map(str::trim).filter(|t| !t.is_empty()).collect();
        if words.is_empty() {
            return Ok(Self::overview());
        }
        let mut tables: Vec<(u16, u16)> = SPECIAL.iter().map(|(id, _)| *id).collect();
        tables.extend(definitions.tables().iter().map(|t| t.id));
        tables.in_order();
        for word in words {
            if word == "all" {
                blocks.all = true;
            } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                blocks.number(word, &tables, definitions, target)?;
            } else if let Some(alias) = metrics::aliases().iter().find(|alias| alias.name == word) {
                for block in alias.blocks.split(' ') {
                    // A name selects the rows that the target has of it.
                    match blocks.number(block, &tables, definitions, target) {
                        Err(error) if block == alias.blocks => return Err(error),
                        _ => {}
                    }
                }
                blocks.family(word, definitions, target);
            } else if let Some(set) = metrics::Set::by_name(word) {
                for metric in set.metrics().filter(|metric| definitions.metric(metric).is_some()) {
                    blocks.metric(metric, definitions, target)?;
                }
            } else {
                blocks.metric(word, definitions, target)?;
            }
        }
        Ok(blocks)
    }

    fn number(
        &mut self,
        word: &str,
        tables: &[(u16, u16)],
        definitions: &Definitions,
        target: &str,
    ) -> Result<(), UsageError> {
        let parts: Option<Vec<u64>> = word.split('.').map(|p| p.parse().ok()).collect();
        let small = |n: u64| u16::try_from(n).unwrap_or(u16::MAX);
        let mut panels: Vec<u16> = tables.iter().map(|t| t.0).collect();
        panels.dedup();
        match parts.as_deref() {
            Some([panel]) => {
                if !panels.contains(&small(*panel)) {
                    let known: Vec<String> = panels.iter().map(ToString::to_string).collect();
                    return Err(wrong(
                        format!("there is no panel {word}"),
                        format!("panels are {}", known.join(" ")),
                    ));
                }
                self.panels.insert(small(*panel));
            }
            Some([panel, table]) => {
                let id = (small(*panel), small(*table));
                self.check_table(word, id, tables, &panels)?;
                self.tables.insert(id);
            }
            Some([panel, table, row]) => {
                let id = (small(*panel), small(*table));
                self.check_table(&format!("{panel}.{table}"), id, tables, &panels)?;
                let row = usize::try_from(*row).unwrap_or(usize::MAX);
                let rows = definitions.table(id).map_or(0, |t| t.rows(target).count());
                if rows > 0 && row >= rows {
                    return Err(wrong(
                        format!("table {}.{} has no row {row}", id.0, id.1),
                        format!(
                            "rows are {0}.{1}.0 to {0}.{1}.{2}; `--list-metrics` names them",
                            id.0,
                            id.1,
                            rows - 1
                        ),
                    ));
                }
                self.rows.insert((id.0, id.1, row));
            }
            _ => {
                return Err(wrong(
                    format!("`{word}` is no panel, table or row"),
                    "give numbers such as `2`, `7.1` or `2.1.20`, a block's name such as `sol`, or a metric's; `--list-blocks` and `--list-metrics` list them",
                ));
            }
        }
        Ok(())
    }

    fn check_table(
        &self,
        word: &str,
        id: (u16, u16),
        tables: &[(u16, u16)],
        panels: &[u16],
    ) -> Result<(), UsageError> {
        if tables.contains(&id) {
            return Ok(());
        }
        let of_panel: Vec<String> =
            tables.iter().filter(|t| t.0 == id.0).map(|t| format!("{}.{}", t.0, t.1)).collect();
        let hint = if of_panel.is_empty() {
            format!("panels are {}", panels.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        } else {
            format!("tables of panel {} are {}", id.0, of_panel.join(" "))
        };
        Err(wrong(format!("there is no table {word}"), hint))
    }

    fn metric(&mut self, word: &str, definitions: &Definitions, target: &str) -> Result<(), UsageError> {
        let names: Vec<&str> = definitions.metrics().iter().map(|m| m.id.as_str()).collect();
        // `l2` selects all metrics of the L2.
        let chosen: Vec<&str> = names
            .iter()
            .copied()
            .filter(|n| *n == word || n.strip_prefix(word).is_some_and(|rest| rest.starts_with('.')))
            .collect();
        if let Some(derived) = definitions.derived(word).filter(|_| chosen.is_empty()) {
            self.add(&[&derived.id], definitions, target);
            return Ok(());
        }
        if chosen.is_empty() {
            let mut near: Vec<&str> = names.iter().copied().filter(|n| n.contains(word)).collect();
            if near.is_empty() {
                near = view::nearest(word, names.iter().copied());
            }
            let hint = if near.is_empty() {
                "give a panel, a table, a row, or the name of a block or metric; `--list-blocks` and `--list-metrics` list them".to_string()
            } else {
                some_of(&near, "metrics")
            };
            return Err(wrong(format!("there is no metric `{word}`"), hint));
        }
        self.add(&chosen, definitions, target);
        Ok(())
    }

    /// Metrics of a family that tables contain: `l2` of `l2.hit_rate`.
    fn family(&mut self, word: &str, definitions: &Definitions, target: &str) {
        let of_it = |name: &&str| name.strip_prefix(word).is_some_and(|rest| rest.starts_with('.'));
        let names: Vec<&str> =
            definitions.metrics().iter().map(|metric| metric.id.as_str()).filter(of_it).collect();
        self.add(&names, definitions, target);
    }

    fn add(&mut self, chosen: &[&str], definitions: &Definitions, target: &str) {
        for &name in chosen {
            let shown = definitions.tables().iter().any(|t| t.rows(target).any(|r| r.metric == name));
            let list = if shown { &mut self.metrics } else { &mut self.loose };
            if !list.iter().any(|n| n == name) {
                list.push(name.to_string());
            }
        }
    }

    /// Whether a table was requested by its number.
    pub(crate) fn names(&self, id: (u16, u16)) -> bool {
        self.whole(id) || self.rows.iter().any(|r| (r.0, r.1) == id)
    }

    /// Whether any row of a table may be shown.
    pub fn shows(&self, id: (u16, u16)) -> bool {
        self.all || self.in_overview(id) || self.names(id)
    }

    fn whole(&self, id: (u16, u16)) -> bool {
        self.panels.contains(&id.0) || self.tables.contains(&id)
    }

    /// Whether a table may be shown because of a metric in it.
    pub fn shows_some<'m>(&self, mut metrics: impl Iterator<Item = &'m str>) -> bool {
        metrics.any(|m| self.metrics.iter().any(|n| n == m))
    }

    /// Whether a row is shown.
    pub fn shows_row(&self, id: (u16, u16), row: usize, metric: &str) -> bool {
        self.all
            || self.in_overview(id)
            || self.whole(id)
            || self.rows.contains(&(id.0, id.1, row))
            || self.metrics.iter().any(|n| n == metric)
    }

    /// Requested metrics that no table contains.
    pub fn loose(&self) -> &[String] {
        &self.loose
    }

    /// Whether the chart that belongs to a table is shown; in the overview only of a recording `alone`.
    pub fn shows_chart(&self, id: (u16, u16), alone: bool) -> bool {
        if self.overview {
            alone && !self.no_charts && !(self.counted && id == ROOFLINE)
        } else {
            self.shows(id)
        }
    }

    /// Whether findings are shown: they are about the whole recording.
    pub fn shows_findings(&self) -> bool {
        self.overview || self.all
    }

    /// Whether nothing was requested.
    pub fn is_overview(&self) -> bool {
        self.overview
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Blocks, String> {
        let asked: Vec<String> = words.iter().map(|w| (*w).to_string()).collect();
        Blocks::parse(&asked, Definitions::built_in(), "gfx90a")
            .map_err(|e| format!("{}; {}", e.message, e.hint))
    }

    #[test]
    fn rows_that_are_shown() {
        for (words, id, row, metric, shown) in [
            (&["2"][..], (2, 1), 7, "", true),
            (&["2"], (7, 1), 0, "", false),
            (&["7.1"], (7, 1), 3, "", true),
            (&["7.1"], (7, 2), 3, "", false),
            (&["2.1.20"], (2, 1), 20, "", true),
            (&["2.1.20"], (2, 1), 19, "", false),
            (&["2 7.1", "16.3"], (16, 3), 0, "", true),
            (&["l2.hit_rate"], (17, 1), 4, "l2.hit_rate", true),
            (&["l2"], (17, 1), 4, "l2.hit_rate", true),
            (&["sol"], (2, 1), 3, "", true),
            (&["tcc"], (18, 4), 0, "", true),
            (&["hbm"], (17, 2), 0, "", true),
            (&["hbm"], (17, 1), 0, "", false),
            (&["mem_thruput"], (17, 1), 0, "l2.utilization", true),
            (&["mem_thruput"], (17, 1), 1, "l2.bandwidth_utilization", false),
            (&["counters"], COUNTERS, 3, "", true),
            (&["counters"], (0, 1), 3, "", false),
            (&["all"], (18, 4), 99, "", true),
            (&[], (2, 1), 0, "", true),
            (&[], (7, 1), 0, "", false),
        ] {
            assert_eq!(parse(words).unwrap().shows_row(id, row, metric), shown, "{words:?} {id:?} {row}");
        }
    }

    #[test]
    fn every_name_of_blocks_is_understood() {
        for alias in metrics::aliases() {
            assert!(parse(&[alias.name]).is_ok(), "{}", alias.name);
        }
        assert_eq!(parse(&["FetchSize"]).unwrap().loose(), ["FETCH_SIZE"]);
    }

    #[test]
    fn wrong_numbers_are_answered_with_the_right_ones() {
        for word in ["9", "7.9", "9.1", "2.1.31", "2.1.0.5", "hit_rate_or", "99999999999999999999"] {
            testkit::golden(word, &parse(&[word]).unwrap_err());
        }
    }
}
