//! Interned strings: kernel names, thread names, shapes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Index of an interned string. [`Name::NONE`] is the empty string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Name(pub u32);

impl Name {
    /// The empty string.
    pub const NONE: Name = Name(0);

    /// Whether it is the empty string.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// Strings, each stored once.
#[derive(Clone, Debug)]
pub struct Names {
    all: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, u32>,
}

impl Default for Names {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Names { all: vec![empty.clone()], by_text: HashMap::from([(empty, 0)]) }
    }
}

impl Names {
    /// Interns a string.
    pub fn add(&mut self, text: &str) -> Name {
        if let Some(index) = self.by_text.get(text) {
            return Name(*index);
        }
        let index = u32::try_from(self.all.len()).unwrap_or(0);
        let shared: Arc<str> = Arc::from(text);
        self.all.push(shared.clone());
        self.by_text.insert(shared, index);
        Name(index)
    }

    /// Gives strings another text, where `change` has one: names that a profiler left mangled.
    pub fn rename(&mut self, change: &dyn Fn(&str) -> Option<String>) {
        for at in 1..self.all.len() {
            if let Some(text) = change(&self.all[at]) {
                let shared: Arc<str> = Arc::from(text);
                self.all[at] = shared.clone();
                self.by_text.entry(shared).or_insert(u32::try_from(at).unwrap_or(0));
            }
        }
    }

    /// Interns bytes; invalid UTF-8 is replaced.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Name {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.add(text),
            Err(_) => self.add(&String::from_utf8_lossy(bytes)),
        }
    }

    /// Interns the inside of a JSON string.
    pub(crate) fn add_json(&mut self, raw: &[u8]) -> Name {
        match rocprof::json::unescape(raw) {
            Cow::Borrowed(bytes) => self.add_bytes(bytes),
            Cow::Owned(bytes) => self.add_bytes(&bytes),
        }
    }

    /// The string; empty for an index of another table.
    pub fn get(&self, name: Name) -> &str {
        self.all.get(name.0 as usize).map_or("", |text| text)
    }

    /// The index of a string that was interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.by_text.get(text).copied().map(Name)
    }

    /// Number of names, the empty one included.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether nothing but the empty string was interned.
    pub fn is_empty(&self) -> bool {
        self.all.len() <= 1
    }

    /// All strings in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|text| &**text)
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.all.iter().map(|text| &**text))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        let texts = Vec::<&'de str>::deserialize(deserializer)?;
        let mut names =
            Names { all: Vec::with_capacity(texts.len()), by_text: HashMap::with_capacity(texts.len()) };
        for (at, text) in texts.into_iter().enumerate() {
            let shared: Arc<str> = Arc::from(text);
            names.all.push(shared.clone());
            names.by_text.insert(shared, u32::try_from(at).unwrap_or(0));
        }
        Ok(names)
    }
}
