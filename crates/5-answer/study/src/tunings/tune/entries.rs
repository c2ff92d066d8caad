//! Tuned files of vLLM and SGLang from chosen configurations, merged with files that are in use.

use super::problems::Group;
use super::spaces::ProjectSpace;
use crate::tunings::merge::{Options, Refusal, merge};
use std::fmt::Write;
use tunedb::{Detail, Tunings};

/// Entries of a group as its project writes them.
pub(super) fn text(data: &ProjectSpace, entries: &[(u64, &[i64])]) -> String {
    let mut out = String::from("{\n");
    for (at, (rows, values)) in entries.iter().enumerate() {
        let pairs = data.parameters.iter().zip(*values);
        let lines: Vec<String> =
            pairs.map(|(it, value)| format!("        \"{}\": {value}", it.name)).collect();
        let comma = if at + 1 < entries.len() { "," } else { "" };
        let _ = writeln!(out, "    \"{rows}\": {{\n{}\n    }}{comma}", lines.join(",\n"));
    }
    out.push_str("}\n");
    out
}

/// Whether a tuned file is the one of a group.
pub(super) fn is_of(group: &Group, file: &Tunings<'_>) -> bool {
    matches!(&file.detail, Detail::Moe(name) if name.base(false) == group.name.base(false))
}

/// The file in use that has a group's name.
pub(super) fn existing<'f, 'a>(group: &Group, files: &'f [Tunings<'a>]) -> Option<&'f Tunings<'a>> {
    files.iter().find(|file| is_of(group, file))
}

/// The values of a file's entry for a number of rows, in the order of the space's parameters; a parameter that the entry
/// lacks has its default. `None` without an entry, or for settings that are not whole numbers.
pub(super) fn values_of(data: &ProjectSpace, file: &Tunings<'_>, rows: u64) -> Option<Vec<i64>> {
    let row = file.rows.iter().find(|row| row.key.parse() == Ok(rows))?;
    let text = std::str::from_utf8(file.text(row)).ok()?;
    let entry: serde_json::Value = serde_json::from_str(&format!("{{{text}}}")).ok()?;
    let entry = entry.get(&*row.key)?;
    let value = |it: &super::spaces::ProjectParameter| match entry.get(&it.name) {
        Some(value) => value.as_i64(),
        None => it.default(),
    };
    data.parameters.iter().map(value).collect()
}

/// Merges entries into the file in use, whose entries stay; without one they are the file.
pub(super) fn merged(name: &str, new: &str, existing: Option<&Tunings<'_>>) -> Result<Vec<u8>, Refusal> {
    let Some(existing) = existing else { return Ok(new.as_bytes().to_vec()) };
    let made = tunedb::read(name, new.as_bytes())
        .map_err(|error| Refusal::new(format!("`{name}` would not be read back: {error}"), "report it"))?;
    Ok(merge(&[existing.clone(), made], &Options::default())?.bytes)
}
