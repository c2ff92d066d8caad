//! Files of a machine by path: read here, copied, or captured elsewhere.
//!
//! A file that could not be read is an entry too, so that "absent" and "not allowed" stay apart.

use crate::Fact;
use sorting::Sort;
use std::collections::BTreeMap;

/// State of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It exists and could not be read; the reason: "permission denied".
    Unreadable(String),
}

/// Files by path without a leading `/`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    name: String,
    files: BTreeMap<String, Content>,
}

impl Tree {
    /// A tree without files; the name says which machine it is.
    pub fn new(name: impl Into<String>) -> Tree {
        Tree { name: name.into(), files: BTreeMap::new() }
    }

    /// The machine.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names the machine.
    pub fn set_name(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Adds a file.
    pub fn insert(&mut self, path: impl Into<String>, bytes: Vec<u8>) {
        self.files.insert(path.into(), Content::Bytes(bytes));
    }

    /// Notes that a file exists and could not be read.
    pub fn insert_unreadable(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.files.insert(path.into(), Content::Unreadable(reason.into()));
    }

    /// All files by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Content)> {
        self.files.iter().map(|(path, content)| (path.as_str(), content))
    }

    /// True if it has no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of a file.
    pub fn bytes(&self, path: &str) -> Fact<&[u8]> {
        match self.files.get(path) {
            Some(Content::Bytes(bytes)) => Fact::known(bytes.as_slice(), format!("/{path}")),
            Some(Content::Unreadable(reason)) => Fact::unknown(format!("/{path}: {reason}")),
            None => Fact::unknown(format!("/{path}: absent")),
        }
    }

    /// Text of a file without surrounding white space; an empty file has no value.
    pub fn text(&self, path: &str) -> Fact<String> {
        self.bytes(path)
            .map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned())
            .parse("empty", |text| (!text.is_empty()).then_some(text))
    }

    /// True if a file exists.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// True if a folder has anything below it.
    pub fn has_below(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }

    /// Files below a folder: the path within it.
    fn below<'a>(&'a self, folder: &str) -> impl Iterator<Item = &'a str> {
        let prefix = format!("{folder}/");
        let length = prefix.len();
        self.files
            .range(prefix.clone()..)
            .map(|(path, _)| path.as_str())
            .take_while(move |path| path.starts_with(&prefix))
            .map(move |path| &path[length..])
    }

    /// Names in a folder; numbers in names count as numbers.
    pub fn children(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> =
            self.below(folder).filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names.in_order_by_key(|name| number_at_end(name));
        names
    }
}

/// Sorts `cpu2` before `cpu10`.
fn number_at_end(name: &str) -> (String, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_in_natural_order_and_absent_files_say_so() {
        let mut tree = Tree::new("x");
        for path in ["a/cpu10/x", "a/cpu2/x", "a/cpu2/y", "ab/z", "a/idle"] {
            tree.insert(path, b"1\n".to_vec());
        }
        tree.insert_unreadable("a/secret", "permission denied");
        tree.insert("a/none", b" \n".to_vec());
        assert_eq!(tree.children("a"), ["cpu2", "cpu10", "idle", "none", "secret"]);
        assert_eq!(tree.text("a/cpu2/x").get().map(String::as_str), Some("1"));
        for (path, reason) in
            [("a/secret", "/a/secret: permission denied"), ("a/none", "/a/none: empty"), ("b", "/b: absent")]
        {
            assert_eq!(tree.text(path).reason(), Some(reason));
        }
    }
}
