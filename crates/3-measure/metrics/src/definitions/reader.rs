//! Lines of definition files into definitions.
//!
//! A line is a statement or a clause of the statement above it; errors name the column.

use super::{Definitions, Let, Metric, Row, STYLES, StandInDefinition, Table, Variant};
use crate::parse;
use crate::unit::Unit;
use counters::{Catalogue, catalogue};
use std::collections::HashMap;

enum Current {
    Nothing,
    Let(String),
    Metric(String),
    Table((u16, u16)),
}

pub(super) struct Reader {
    file: usize,
    /// Names this file has defined.
    seen: HashMap<String, usize>,
    current: Current,
}

/// Column and what is wrong there.
pub(super) type Fault = (usize, String);

fn fault<T>(column: usize, message: impl Into<String>) -> Result<T, Fault> {
    Err((column, message.into()))
}

/// The words of a line with their columns; a text in quotes is one word without its quotes.
struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn column(&self) -> usize {
        self.line[..self.at].chars().count() + 1
    }
    fn space(&mut self) {
        let rest = &self.line[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }
    fn next(&mut self) -> Option<&'a str> {
        self.space();
        let rest = &self.line[self.at..];
        if rest.is_empty() || rest.starts_with(['"', '=', '[']) {
            return None;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '[').unwrap_or(rest.len());
        self.at += end;
        Some(&rest[..end])
    }
    fn quoted(&mut self) -> Option<&'a str> {
        self.space();
        let inner = self.line[self.at..].strip_prefix('"')?;
        let end = inner.find('"')?;
        self.at += end + 2;
        Some(&inner[..end])
    }
    fn bracket(&mut self) -> Option<&'a str> {
        self.space();
        let inner = self.line[self.at..].strip_prefix('[')?;
        let end = inner.find(']')?;
        self.at += end + 2;
        Some(&inner[..end])
    }
    /// Text after `=`, and its column.
    fn formula(&mut self) -> Result<(&'a str, usize), Fault> {
        self.space();
        if !self.line[self.at..].starts_with('=') {
            return fault(self.column(), "expected `=`");
        }
        self.at += 1;
        self.space();
        Ok((self.line[self.at..].trim_end(), self.column()))
    }
    fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.at < self.line.len() { fault(self.column(), "nothing more is expected here") } else { Ok(()) }
    }
}

impl Reader {
    /// A reader of the file of this number.
    pub(super) fn new(file: usize) -> Self {
        Reader { file, seen: HashMap::new(), current: Current::Nothing }
    }

    /// Reads a line.
    pub(super) fn line(&mut self, d: &mut Definitions, line: &str, number: usize) -> Result<(), Fault> {
        let plain = line.trim_end();
        if plain.trim_start().starts_with('#') || plain.trim().is_empty() {
            return Ok(());
        }
        let mut w = Words { line: plain, at: 0 };
        if plain.starts_with(' ') {
            return self.clause(d, &mut w, number);
        }
        self.current = Current::Nothing;
        match w.next() {
            Some("let") => {
                let column = w.column() + 1;
                let name = w.next().filter(|n| is_name(n)).ok_or((column, "expected a name".to_string()))?;
                self.once(name, number, column)?;
                let (text, column) = w.formula()?;
                let v = self.variant(u32::MAX, text, column, number)?;
                d.lets.insert(name.to_string(), Let { variants: vec![v] });
                self.current = Current::Let(name.to_string());
            }
            Some("metric") => {
                let column = w.column() + 1;
                let id = w.next().filter(|n| is_name(n)).ok_or((column, "expected a name".to_string()))?;
                self.once(id, number, column)?;
                let column = w.column() + 1;
                let Some(unit_text) = w.bracket() else {
                    return fault(column, "expected a unit in brackets");
                };
                let unit = Unit::parse(unit_text).map_err(|m| (column, m))?;
                let before = w.at;
                let v = if w.next() == Some("none") {
                    self.absent(u32::MAX, &mut w, number)?
                } else {
                    w.at = before;
                    let (text, column) = w.formula()?;
                    self.variant(u32::MAX, text, column, number)?
                };
                let metric = Metric {
                    id: id.to_string(),
                    unit_text: unit_text.to_string(),
                    unit,
                    variants: vec![v],
                    peaks: Vec::new(),
                };
                match d.by_id.get(id) {
                    Some(i) => d.metrics[*i] = metric,
                    None => {
                        d.by_id.insert(id.to_string(), d.metrics.len());
                        d.metrics.push(metric);
                    }
                }
                self.current = Current::Metric(id.to_string());
            }
            Some("table") => self.table(d, &mut w, number)?,
            Some("stand-in") => self.stand_in(d, &mut w, number)?,
            _ => return fault(1, "expected `let`, `metric`, `table` or `stand-in`"),
        }
        Ok(())
    }

    fn table(&mut self, d: &mut Definitions, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        let column = w.column() + 1;
        let id = w
            .next()
            .and_then(|t| t.split_once('.'))
            .and_then(|(a, b)| Some((a.parse::<u16>().ok()?, b.parse::<u16>().ok()?)))
            .ok_or((column, "expected a number like `17.2`".to_string()))?;
        self.once(&format!("{}.{}", id.0, id.1), number, column)?;
        let column = w.column() + 1;
        let style = w.next().and_then(|t| STYLES.iter().find(|(n, _)| *n == t)).map(|(_, s)| *s);
        let Some(style) = style else {
            let known: Vec<&str> = STYLES.iter().map(|(n, _)| *n).collect();
            return fault(column, format!("expected one of {}", known.join(", ")));
        };
        let column = w.column() + 1;
        let titles = w.quoted().and_then(|panel| Some((panel, w.quoted()?)));
        let Some((panel, title)) = titles else {
            return fault(column, "expected the panel's and the table's title");
        };
        w.end()?;
        d.tables.retain(|t| t.id != id);
        d.tables.push(Table {
            id,
            panel: panel.to_string(),
            title: title.to_string(),
            style,
            tags: Vec::new(),
            rows: Vec::new(),
        });
        d.tables.sort_by_key(|t| t.id);
        self.current = Current::Table(id);
        Ok(())
    }

    /// `NAME [on TARGETS] = FORMULA ["REMARK"]`, after the first word.
    fn stand_in(&mut self, d: &mut Definitions, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        let column = w.column() + 1;
        let name = w.next().filter(|n| is_name(n)).ok_or((column, "expected a name".to_string()))?;
        let before = w.at;
        let mut targets = u32::MAX;
        if w.next() == Some("on") {
            let column = w.column() + 1;
            let words = w.next().ok_or((column, "expected targets".to_string()))?;
            targets = targets_of(catalogue(), words).map_err(|m| (column, m))?;
        } else {
            w.at = before;
        }
        let (text, column) = w.formula()?;
        let (text, remark) = match text.split_once('"') {
            Some((text, remark)) => (text.trim_end(), Some(remark.trim_end_matches('"').to_string())),
            None => (text, None),
        };
        let variant = self.variant(targets, text, column, number)?;
        d.stand_ins.entry(name.to_string()).or_default().push(StandInDefinition { variant, remark });
        Ok(())
    }

    fn clause(&mut self, d: &mut Definitions, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        let word = w.next();
        let column = w.column();
        let (variants, peaks) = match &self.current {
            Current::Nothing => {
                return fault(1, "an indented line belongs to a statement above it, and there is none");
            }
            Current::Table(id) => {
                let id = *id;
                let Some(t) = d.tables.iter_mut().find(|t| t.id == id) else { return Ok(()) };
                return self.row(t, word, w, number);
            }
            Current::Let(name) => match d.lets.get_mut(name) {
                Some(l) => (&mut l.variants, None),
                None => return Ok(()),
            },
            Current::Metric(id) => match d.by_id.get(id) {
                Some(i) => {
                    let m = &mut d.metrics[*i];
                    (&mut m.variants, Some(&mut m.peaks))
                }
                None => return Ok(()),
            },
        };
        match word {
            Some("on") => {
                let column = w.column() + 1;
                let targets = w.next().ok_or((column, "expected targets".to_string()))?;
                let bits = targets_of(catalogue(), targets).map_err(|m| (column, m))?;
                let before = w.at;
                match w.next() {
                    Some("none") => variants.push(self.absent(bits, w, number)?),
                    Some("peak") => {
                        let Some(peaks) = peaks else { return fault(column, "only a metric has a peak") };
                        let (text, column) = w.formula()?;
                        peaks.push(self.variant(bits, text, column, number)?);
                    }
                    _ => {
                        w.at = before;
                        let (text, column) = w.formula()?;
                        variants.push(self.variant(bits, text, column, number)?);
                    }
                }
            }
            Some("peak") => {
                let Some(peaks) = peaks else { return fault(column, "only a metric has a peak") };
                let (text, column) = w.formula()?;
                peaks.push(self.variant(u32::MAX, text, column, number)?);
            }
            _ => return fault(column, "expected `on` or `peak`"),
        }
        Ok(())
    }

    fn row(&self, t: &mut Table, word: Option<&str>, w: &mut Words<'_>, number: usize) -> Result<(), Fault> {
        match word {
            Some("tags") => {
                while let Some(tag) = w.quoted() {
                    t.tags.push(tag.to_string());
                }
                w.end()
            }
            Some("row") => {
                let column = w.column() + 1;
                let label = w.quoted().ok_or((column, "expected a label in quotes".to_string()))?;
                let column = w.column() + 1;
                let metric =
                    w.next().filter(|n| is_name(n)).ok_or((column, "expected a metric".to_string()))?;
                let mut row = Row {
                    label: label.to_string(),
                    metric: metric.to_string(),
                    tags: Vec::new(),
                    targets: u32::MAX,
                    file: self.file,
                    line: number,
                };
                loop {
                    match w.next() {
                        Some("on") => {
                            let column = w.column() + 1;
                            let targets = w.next().ok_or((column, "expected targets".to_string()))?;
                            row.targets = targets_of(catalogue(), targets).map_err(|m| (column, m))?;
                        }
                        Some("tags") => {
                            while let Some(tag) = w.quoted() {
                                row.tags.push(tag.to_string());
                            }
                        }
                        Some(_) => return fault(w.column(), "expected `on` or `tags`"),
                        None => break,
                    }
                }
                w.end()?;
                if row.tags.len() != t.tags.len() {
                    return fault(
                        1,
                        format!("the table has {} tags, the row {}", t.tags.len(), row.tags.len()),
                    );
                }
                t.rows.push(row);
                Ok(())
            }
            _ => fault(w.column(), "expected `row` or `tags`"),
        }
    }

    fn once(&mut self, name: &str, line: usize, column: usize) -> Result<(), Fault> {
        match self.seen.insert(name.to_string(), line) {
            Some(before) => fault(column, format!("`{name}` is defined on line {before} already")),
            None => Ok(()),
        }
    }

    /// `none "reason"`, after the word itself.
    fn absent(&self, targets: u32, w: &mut Words<'_>, line: usize) -> Result<Variant, Fault> {
        let column = w.column() + 1;
        let reason = w.quoted().ok_or((column, "expected the reason in quotes".to_string()))?;
        w.end()?;
        Ok(Variant { targets, formula: Err(reason.to_string()), text: String::new(), file: self.file, line })
    }

    fn variant(&self, targets: u32, text: &str, column: usize, line: usize) -> Result<Variant, Fault> {
        let formula = parse::expression(text, column).map_err(|w| (w.column, w.message))?;
        Ok(Variant { targets, formula: Ok(formula), text: text.to_string(), file: self.file, line })
    }
}

fn targets_of(catalogue: &Catalogue, text: &str) -> Result<u32, String> {
    catalogue.target_bits(&text.replace(',', " "))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.')
}
