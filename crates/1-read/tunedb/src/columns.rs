//! Columns of a table of comma-separated values, found by their names.

/// The columns of a table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Columns<'a> {
    /// Names, in the order of the file.
    pub names: Vec<&'a str>,
    /// Whether each is part of the key.
    pub is_key: Vec<bool>,
    /// Text of the header line.
    pub header: &'a str,
    /// Operation that the table tunes: `a8w8_blockscale`, `fmoe`.
    pub family: String,
}

impl<'a> Columns<'a> {
    /// Whether there are results.
    pub(crate) fn is_tuned(&self) -> bool {
        self.is_key.contains(&false)
    }

    /// Place of a column.
    pub fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|it| *it == name)
    }

    pub(crate) fn any(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.at(name))
    }

    /// The value of a column in the fields of a row; `None` if the column or the field is missing.
    pub fn value<'f>(&self, values: &[&'f str], names: &[&str]) -> Option<&'f str> {
        self.any(names).and_then(|at| values.get(at)).map(|it| it.trim())
    }
}
