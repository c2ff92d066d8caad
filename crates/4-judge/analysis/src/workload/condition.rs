//! `--fail-on "2.1.20 > 5%"`: conditions on rows of a report.
//!
//! A percent sign compares the change from the base, no percent sign the value. A condition on an unknown
//! value is neither met nor passed.

use super::select::wrong;
use view::{Cell, ConditionResult, Delta, Missing, Row, Table, UsageError};

/// One condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    written: String,
    /// Row or metric.
    subject: String,
    sign: Sign,
    bound: f64,
    percent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Less,
    AtMost,
    Greater,
    AtLeast,
}

const SIGNS: [(&str, Sign); 4] =
    [("<=", Sign::AtMost), (">=", Sign::AtLeast), ("<", Sign::Less), (">", Sign::Greater)];

impl Condition {
    /// Reads a condition. A change needs something to be compared with.
    pub fn parse(text: &str, recordings: usize) -> Result<Self, UsageError> {
        let example =
            "write a row or metric, a sign and a bound, such as `2.1.20 > 5%` or `l2.hit_rate < 50`";
        let bad = || wrong(format!("`{text}` is no condition"), example);
        let at = text.find(['<', '>']).ok_or_else(bad)?;
        let (subject, rest) = text.split_at(at);
        let (sign, rest) =
            SIGNS.iter().find_map(|(s, sign)| Some((*sign, rest.strip_prefix(s)?))).ok_or_else(bad)?;
        let (number, percent) = match rest.trim().strip_suffix('%') {
            Some(number) => (number, true),
            None => (rest, false),
        };
        let bound: f64 = number.trim().parse().ok().filter(|b: &f64| b.is_finite()).ok_or_else(bad)?;
        let subject = subject.trim().to_string();
        if subject.is_empty() {
            return Err(bad());
        }
        if percent && recordings < 2 {
            return Err(wrong(
                format!("`{text}` is about a change, and there is one recording"),
                "give the base with a first `-p`, or leave the percent sign out to mean the value",
            ));
        }
        Ok(Condition { written: text.to_string(), subject, sign, bound, percent })
    }

    /// Row or metric it is about, as `-b` takes it.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    fn holds(&self, value: f64) -> bool {
        match self.sign {
            Sign::Less => value < self.bound,
            Sign::AtMost => value <= self.bound,
            Sign::Greater => value > self.bound,
            Sign::AtLeast => value >= self.bound,
        }
    }

    /// Judges a report's tables.
    pub(crate) fn judge(&self, tables: &[Table]) -> ConditionResult {
        let rows = tables.iter().flat_map(|t| t.rows.iter().map(move |r| (t, r)));
        let named = rows.filter(|(t, r)| {
            r.metric == self.subject || r.id == self.subject || format!("{}.{}", t.id, r.id) == self.subject
        });
        // The same metric may be in several tables; once is enough.
        let Some((table, row)) = named.into_iter().next() else {
            return self.result(None, format!("no row is `{}`", self.subject));
        };
        let mut seen: Vec<(f64, usize)> = Vec::new();
        let mut reason = String::new();
        for (value, recording) in self.values(table, row) {
            match value {
                Ok(v) => seen.push((v, recording)),
                Err(r) => reason = r,
            }
        }
        let unit = if self.percent { "%" } else { &row.unit };
        let show = |(v, _): &(f64, usize)| {
            let sign = if self.percent && *v > 0.0 { "+" } else { "" };
            format!("{}: {sign}{v:.2} {unit}", row.label)
        };
        match seen.iter().find(|(v, _)| self.holds(*v)) {
            Some(met) => self.result(Some(true), show(met)),
            None if !reason.is_empty() => self.result(None, format!("{} is n/a: {reason}", row.label)),
            None => {
                let detail = seen.last().map_or_else(String::new, show);
                self.result(if seen.is_empty() { None } else { Some(false) }, detail)
            }
        }
    }

    /// Values of the row's main column: of every later recording, or of the only one.
    fn values(&self, table: &Table, row: &Row) -> Vec<(Result<f64, String>, usize)> {
        let main = ["avg", "mean", "median"]
            .iter()
            .find_map(|title| table.columns.iter().find(|c| c.title == *title))
            .or_else(|| table.columns.iter().find(|c| !c.kind.is_words()));
        let Some(main) = main.map(|c| c.title.clone()) else { return Vec::new() };
        let several = table.columns.iter().any(|c| c.recording > 0);
        table
            .columns
            .iter()
            .zip(&row.cells)
            .filter(|(c, _)| c.title == main && (c.recording > 0 || !several))
            .map(|(c, cell)| {
                let value = match cell {
                    Cell::Change(Delta { change_percent: Some(p), .. }) if self.percent => Ok(*p),
                    Cell::Change(Delta { change: Some(_), .. }) if self.percent => {
                        Err("the base is zero".to_string())
                    }
                    Cell::Change(Delta { value, .. }) if self.percent && value.get().is_some() => {
                        Err("the base has no value".to_string())
                    }
                    Cell::Change(Delta { value, .. }) | Cell::Number(value) => {
                        value.get().ok_or_else(|| value.reason().map(Missing::to_string).unwrap_or_default())
                    }
                    Cell::Empty | Cell::Text(_) => Err("a recording does not have it".to_string()),
                };
                (value, c.recording)
            })
            .collect()
    }

    fn result(&self, met: Option<bool>, detail: String) -> ConditionResult {
        ConditionResult { condition: self.written.clone(), met, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{Column, ColumnKind, Number};

    #[test]
    fn conditions_are_read_or_explained() {
        for (text, recordings, is_condition) in [
            ("2.1.20 > 5%", 2, true),
            ("l2.hit_rate<=-3.5 %", 2, true),
            ("2.1.20 >= 50", 1, true),
            // A change, and there is one recording.
            ("2.1.20 > 5%", 1, false),
            ("2.1.20", 2, false),
            ("> 5", 2, false),
            ("2.1.20 > x", 2, false),
            ("2.1.20 > inf", 2, false),
            ("2.1.20 = 4", 2, false),
        ] {
            assert_eq!(Condition::parse(text, recordings).is_ok(), is_condition, "{text}");
        }
    }

    #[test]
    fn values_changes_and_the_unknown() {
        let delta = |value: f64, percent: Option<f64>| {
            Cell::Change(Delta {
                value: Number::from(value),
                change: Some(1.0),
                change_percent: percent,
                beyond_noise: None,
            })
        };
        let row = |id: &str, cells: Vec<Cell>| Row {
            id: id.into(),
            label: "L".into(),
            metric: format!("m.{id}"),
            unit: "GB/s".into(),
            cells,
            little: false,
        };
        let second = Column { recording: 1, ..Column::new("avg", ColumnKind::Number, "") };
        let table = Table {
            id: "2.1".into(),
            panel: String::new(),
            title: String::new(),
            label: "metric".into(),
            columns: vec![Column::new("avg", ColumnKind::Number, ""), second],
            rows: vec![
                row("2.1.0", vec![Cell::Number(Number::from(10.0)), delta(11.0, Some(10.0))]),
                row("2.1.1", vec![Cell::Number(Number::from(0.0)), delta(1.0, None)]),
                row(
                    "2.1.2",
                    vec![
                        Cell::Number(Number::from(1.0)),
                        Cell::Change(Delta {
                            value: Number::missing("needs X: not recorded"),
                            change: None,
                            change_percent: None,
                            beyond_noise: None,
                        }),
                    ],
                ),
            ],
            ..Table::default()
        };
        for (text, met, detail) in [
            ("2.1.0 > 5%", Some(true), "L: +10.00 %"),
            ("2.1.0 > 10%", Some(false), "L: +10.00 %"),
            ("2.1.0 >= 10%", Some(true), "L: +10.00 %"),
            ("m.2.1.0 < 11.5", Some(true), "L: 11.00 GB/s"),
            ("2.1.1 > 5%", None, "L is n/a: the base is zero"),
            ("2.1.2 > 5", None, "L is n/a: needs X: not recorded"),
            ("9.9.9 > 5", None, "no row is `9.9.9`"),
        ] {
            let got = Condition::parse(text, 2).unwrap().judge(std::slice::from_ref(&table));
            assert_eq!((got.met, got.detail.as_str()), (met, detail), "{text}");
        }
    }
}
