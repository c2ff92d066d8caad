//! Tables compiled in: lines of cells between tabs, a header, comments.

/// Rows of a table.
pub(crate) struct Rows {
    header: Vec<&'static str>,
    lines: std::str::Lines<'static>,
}

/// A row.
pub(crate) struct Row {
    header: Vec<&'static str>,
    cells: Vec<&'static str>,
}

impl Rows {
    pub(crate) fn of(text: &'static str) -> Rows {
        let mut lines = text.lines();
        let header = lines.by_ref().find(|line| !line.starts_with('#')).unwrap_or("");
        Rows { header: header.split('\t').collect(), lines }
    }
}

impl Iterator for Rows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let line = self.lines.next()?;
        Some(Row { header: self.header.clone(), cells: line.split('\t').collect() })
    }
}

impl Row {
    /// A cell; empty if the column does not exist.
    pub(crate) fn text(&self, column: &str) -> &'static str {
        let at = self.header.iter().position(|name| *name == column);
        at.and_then(|at| self.cells.get(at)).copied().unwrap_or("")
    }

    /// A cell that is a number; `None` for `-`.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }
}
