//! Merges entries of one of AITER's Triton configurations into another, whose text is otherwise kept
//! verbatim.
//!
//! The base is edited as text, so layout and unknown keys stay; `M_LEQ_n` stay in rising order, then
//! `M_GEQ_n`, and `any` stays last.

use super::{at_least, up_to};
use crate::error::Error;
use crate::json::{Json, Member, Placed, parse};
use crate::lines::text;
use sorting::Sort;
use std::collections::HashSet;

/// Text that replaces some bytes of the base.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// Both documents during a merge.
struct Merge<'m> {
    base: &'m str,
    other: &'m str,
    /// Blanks by which a level is indented.
    units: (usize, usize),
    takes: &'m dyn Fn(&str) -> bool,
    edits: Vec<Edit>,
}

/// The base plus the entries of `other` that it lacks. An entry that both have comes from `other` if `takes`
/// is true for its path.
///
/// # Errors
/// Fails if a text is not a JSON object, or if a path is an entry in one text and a group of entries in the
/// other.
pub fn merged(base: &[u8], other: &[u8], takes: &dyn Fn(&str) -> bool) -> Result<Vec<u8>, Error> {
    let (base, other) = (text(base)?, text(other)?);
    let (own, theirs) = (parse(base)?, parse(other)?);
    let units = (indent(base, &own), indent(other, &theirs));
    let mut merge = Merge { base, other, units, takes, edits: Vec::new() };
    merge.object(&own, &theirs, "")?;
    let mut edits = merge.edits;
    // Insertions at one place keep their order and precede the replacement of the entry there.
    edits.in_order_by_key(|it| (it.start, it.end));
    let mut out = String::with_capacity(base.len() + other.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(base.get(at..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(base.get(at..).unwrap_or_default());
    Ok(out.into_bytes())
}

/// Blanks before the first member of the outermost object.
fn indent(text: &str, root: &Placed<'_>) -> usize {
    let first = root.value.object().and_then(|members| members.first());
    first.map_or(0, |member| blanks_before(text, member.span.start).map_or(0, str::len))
}

/// Indentation before `at`; `None` if anything but spaces precedes it.
fn blanks_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = &before[before.rfind('\n')? + 1..];
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(line)
}

/// Whether a value is settings and no group of entries.
fn is_entry(value: &Json<'_>) -> bool {
    value.object().is_some_and(|members| members.iter().all(|it| it.value.value.object().is_none()))
}

/// A duplicate key.
fn repeated<'m>(members: &'m [Member<'_>]) -> Option<&'m str> {
    let mut seen = HashSet::new();
    members.iter().map(|it| it.key.as_ref()).find(|key| !seen.insert(*key))
}

/// Sort rank of a key among others; keys that are names stay in place.
fn rank(key: &str) -> (u8, u64) {
    let number = |text: Option<&str>| text.and_then(|it| it.parse().ok());
    match (number(up_to(key)), number(at_least(key))) {
        (Some(bound), _) => (0, bound),
        (_, Some(bound)) => (2, bound),
        _ if key == "any" => (3, 0),
        _ => (1, 0),
    }
}

impl Merge<'_> {
    fn object(&mut self, own: &Placed<'_>, theirs: &Placed<'_>, above: &str) -> Result<(), Error> {
        let (Some(members), Some(others)) = (own.value.object(), theirs.value.object()) else {
            return Err(Error::new(1, "no object of configurations"));
        };
        for list in [members, others] {
            // AITER takes the last of them, and an edit would not know which one is meant.
            if let Some(key) = repeated(list) {
                return Err(Error::new(0, format!("`{key}` occurs twice in one file"))
                    .hint("remove the entry that is not meant: the loader takes the last"));
            }
        }
        let mut lacking: Vec<&Member<'_>> = Vec::new();
        for member in others.iter().filter(|it| !it.is_note()) {
            let path =
                if above.is_empty() { member.key.to_string() } else { format!("{above}.{}", member.key) };
            let Some(same) = members.iter().find(|it| it.key == member.key) else {
                lacking.push(member);
                continue;
            };
            match (is_entry(&same.value.value), is_entry(&member.value.value)) {
                (true, true) if (self.takes)(&path) => {
                    let text = self.fitted(member);
                    self.edits.push(Edit { start: same.span.start, end: same.span.end, text });
                }
                (true, true) => {}
                (false, false) => self.object(&same.value, &member.value, &path)?,
                _ => {
                    let text =
                        format!("`{path}` is one entry in one file and a group of entries in the other");
                    return Err(Error::new(0, text));
                }
            }
        }
        lacking.in_order_by_key(|it| rank(&it.key));
        for member in lacking {
            self.insert(members, own, member);
        }
        Ok(())
    }

    /// Inserts a member before the first one that must follow it.
    fn insert(&mut self, members: &[Member<'_>], own: &Placed<'_>, member: &Member<'_>) {
        let text = self.fitted(member);
        let separator = match members {
            [first, second, ..] => {
                self.base.get(first.span.end..second.span.start).unwrap_or(", ").to_owned()
            }
            [only] => match blanks_before(self.base, only.span.start) {
                Some(blanks) => format!(",\n{blanks}"),
                None => ", ".to_owned(),
            },
            [] => String::new(),
        };
        let behind = members.iter().find(|it| rank(&it.key) > rank(&member.key));
        let (at, text) = match (behind, members.last()) {
            (Some(it), _) => (it.span.start, format!("{text}{separator}")),
            (None, Some(last)) => (last.span.end, format!("{separator}{text}")),
            (None, None) => (own.span.start + 1, text),
        };
        self.edits.push(Edit { start: at, end: at, text });
    }

    /// The text of a member with the indentation of the base.
    fn fitted(&self, member: &Member<'_>) -> String {
        let text = self.other.get(member.span.clone()).unwrap_or_default();
        let (own, theirs) = self.units;
        let mut lines = text.split('\n');
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            let bare = line.trim_start_matches(' ');
            let blanks = line.len() - bare.len();
            let blanks = if theirs > 0 && own > 0 { blanks / theirs * own + blanks % theirs } else { blanks };
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', blanks));
            out.push_str(bare);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_stand_twice_are_refused() {
        let one = br#"{"any": {"A": 1}}"#;
        let twice = br#"{"any": {"A": 1}, "any": {"A": 2}}"#;
        for (base, other) in [(&one[..], &twice[..]), (twice, one), (twice, twice)] {
            let error = merged(base, other, &|_| true).unwrap_err().to_string();
            assert!(error.contains("`any`"), "{error}");
        }
    }

    #[test]
    fn entries_come_in_order_and_in_the_layout_of_the_base() {
        let base =
            "{\n    \"M_LEQ_16\": {\n        \"A\": 1\n    },\n    \"any\": {\n        \"A\": 2\n    }\n}\n";
        for (other, takes, expected) in [
            (
                "{\n  \"M_LEQ_64\": {\n    \"A\": 3\n  },\n  \"M_LEQ_8\": {\n    \"A\": 4\n  },\n  \"any\": {\n    \"A\": 5\n  }\n}",
                false,
                "{\n    \"M_LEQ_8\": {\n        \"A\": 4\n    },\n    \"M_LEQ_16\": {\n        \"A\": 1\n    },\n    \"M_LEQ_64\": {\n        \"A\": 3\n    },\n    \"any\": {\n        \"A\": 2\n    }\n}\n",
            ),
            (
                "{\"any\": {\"A\": 5}, \"M_GEQ_4096\": {\"A\": 6}}",
                true,
                "{\n    \"M_LEQ_16\": {\n        \"A\": 1\n    },\n    \"M_GEQ_4096\": {\"A\": 6},\n    \"any\": {\"A\": 5}\n}\n",
            ),
        ] {
            let out = merged(base.as_bytes(), other.as_bytes(), &|_| takes).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let base = "{\"fwd\": {\"default\": {\"A\": 1}}, \"bwd\": {\"A\": 2}}";
        let other = "{\"fwd\": {\"pe\": {\"A\": 3}, \"default\": {\"A\": 4}}, \"new\": {\"A\": 5}}";
        let out = merged(base.as_bytes(), other.as_bytes(), &|path| path == "fwd.default").unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"fwd\": {\"default\": {\"A\": 4}, \"pe\": {\"A\": 3}}, \"bwd\": {\"A\": 2}, \"new\": {\"A\": 5}}"
        );
        assert!(merged(base.as_bytes(), b"{\"fwd\": {\"A\": 1}}", &|_| false).is_err(), "a group there");
        assert_eq!(merged(base.as_bytes(), base.as_bytes(), &|_| false).unwrap(), base.as_bytes());
    }
}
