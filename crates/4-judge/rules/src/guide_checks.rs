//! Items that scripts and tables of AMD's guides check or set, and the part of Rockhound that covers each.
//!
//! The list is data (`data/guide-checks.tsv`), and a test looks every entry up, so renaming or dropping a
//! check fails the test.

use std::sync::LazyLock;

/// One thing that a document checks or sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuideCheck {
    /// Document.
    pub document: &'static str,
    /// Item that the document checks or sets.
    pub item: &'static str,
    /// Parts that cover it: `check:numa-balancing`, `var:GPU_MAX_HW_QUEUES`, `rule:ENV002`, `command:triage`.
    pub covered: Vec<Cover>,
    /// Difference; may be empty.
    pub note: &'static str,
}

/// Part of Rockhound that covers a check of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cover {
    /// A check of hosts.
    Check(&'static str),
    /// A row of the table of variables.
    Variable(&'static str),
    /// A rule.
    Rule(&'static str),
    /// A subcommand.
    Command(&'static str),
}

impl Cover {
    fn read(text: &'static str) -> Option<Cover> {
        let (kind, name) = text.split_once(':')?;
        Some(match kind {
            "check" => Cover::Check(name),
            "var" => Cover::Variable(name),
            "rule" => Cover::Rule(name),
            "command" => Cover::Command(name),
            _ => return None,
        })
    }
}

static ROWS: LazyLock<Vec<GuideCheck>> = LazyLock::new(|| {
    let lines = include_str!("../data/guide-checks.tsv").lines();
    lines.filter(|line| !line.starts_with('#') && !line.starts_with("document\t")).filter_map(row).collect()
});

fn row(line: &'static str) -> Option<GuideCheck> {
    let fields: Vec<&'static str> = line.split('\t').collect();
    let [document, item, covered, note] = fields[..] else { return None };
    let covered = covered.split(' ').filter_map(Cover::read).collect();
    Some(GuideCheck { document, item, covered, note: if note == "-" { "" } else { note } })
}

/// All, in the order of their documents.
pub fn guide_checks() -> &'static [GuideCheck] {
    &ROWS
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests read the documents")]

    use super::*;
    use std::collections::BTreeSet;
    use system::variables;

    #[test]
    fn everything_listed_exists() {
        let lines = include_str!("../data/guide-checks.tsv").lines().filter(|it| !it.starts_with('#'));
        assert_eq!(ROWS.len() + 1, lines.count(), "a line that is not read");
        let checks: BTreeSet<&str> = crate::check_names().map(|it| it.0).collect();
        for row in guide_checks() {
            let what = format!("{}: {}", row.document, row.item);
            assert!(!row.covered.is_empty(), "{what}");
            for cover in &row.covered {
                let exists = match cover {
                    Cover::Check(name) => checks.contains(name),
                    Cover::Variable(name) => variables::by_name(name).is_some(),
                    Cover::Rule(id) => crate::by_id(id).is_some(),
                    Cover::Command(name) => ["doctor", "triage", "tunedb", "comm"].contains(name),
                };
                assert!(exists, "{what}: {cover:?}");
            }
        }
    }

    /// Every variable that the documents set or read is a row of the table.
    #[test]
    fn variables_of_the_documents() {
        let Some(folder) = testkit::shared("seeds") else { return };
        // Names in capitals other than variables: tile sizes, an enumeration, registers of PCI, a state of
        // MIOpen, a shell's own.
        let others = ["BLOCK_", "HIPBLASLT_EPILOGUE_", "ECAP_ACS", "DB_UPDATE", "NEW_VAL"];
        let mut found = BTreeSet::new();
        for (name, bytes) in testkit::files(&folder) {
            // The first three documents are about settings.
            if !["000", "001", "002"].iter().any(|it| name.starts_with(it)) {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let word = |c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            let names = text.split(word).filter(|it| it.contains('_') && it.len() > 5);
            let names =
                names.filter(|it| it.starts_with(|c: char| c.is_ascii_uppercase()) && !it.ends_with('_'));
            found.extend(
                names.filter(|it| !others.iter().any(|other| it.starts_with(other))).map(str::to_owned),
            );
        }
        assert!(found.len() >= 25, "{found:?}");
        let missing: Vec<&String> = found.iter().filter(|it| variables::by_name(it).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
