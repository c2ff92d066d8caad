//! Merging AITER's Triton configurations.
//!
//! The files hold no times and an entry decides for every M from the one before it on, so the report states
//! how many rows a new entry takes over.

use super::{Candidate, Decision, Journal, Merged, Options, Refusal, choose, groups};
use crate::tunings::query::rows_take;
use sorting::Sort;
use std::collections::BTreeSet;
use tunedb::aiter_config::{self, ConfigName};
use tunedb::{Detail, Row, Shape, Tunings};

/// Merges files for one kernel, target and sizes: the entries of all. Where entries differ the first file's
/// stay.
pub(super) fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let mut journal = Journal::new(options);
    same_names(files, &mut journal)?;
    for file in files {
        let mut seen = BTreeSet::new();
        if let Some(twice) = file.rows.iter().find(|row| !seen.insert(row.key.as_ref())) {
            return Err(Refusal::new(
                format!("`{}`: `{}` occurs twice, and Python takes the last", file.name, twice.key),
                "remove one of them",
            ));
        }
    }
    let mut from: Vec<BTreeSet<String>> = vec![BTreeSet::new(); files.len()];
    let mut entries = 0;
    for (key, rows) in groups(files, &mut journal).iter() {
        let (chosen, decision) = decide(rows, options);
        journal.decide(files, key, rows, chosen, decision);
        from[rows[chosen].file].insert(key.to_owned());
        entries += 1;
    }
    let mut bytes = files[0].bytes.to_vec();
    for (file, taken) in files.iter().zip(&from).skip(1) {
        bytes = aiter_config::merged(&bytes, file.bytes, &|path| taken.contains(path))
            .map_err(|error| Refusal::new(format!("`{}`: {error}", file.name), "give both files one form"))?;
    }
    journal.fact("entries", entries);
    if journal.differ() > 0 && !options.force {
        journal.notes.push(
            "the files hold no times: of entries that differ the first file's stay; measure both, or use --force for the last file's"
                .to_owned(),
        );
    }
    if let Ok(result) = tunedb::read(&files[0].name, &bytes) {
        journal.notes.extend(taken_over(&files[0], &result));
    }
    Ok(journal.merged(files, bytes))
}

/// Like [`choose`], with settings compared whatever their order.
fn decide(rows: &[Candidate<'_, '_>], options: &Options) -> (usize, Decision) {
    let sorted = |it: &Candidate<'_, '_>| {
        let mut all: Vec<&str> = it.row.candidate.as_deref().unwrap_or_default().split(", ").collect();
        all.in_order();
        all.join(", ")
    };
    let (first, rest) = rows.split_first().expect("a key has rows");
    if !rest.is_empty() && rest.iter().all(|it| sorted(it) == sorted(first)) {
        return (0, Decision::Equal);
    }
    choose(rows, 0.0, options.force)
}

/// Refuses files for other kernels, targets or sizes: they are other halves of the key.
fn same_names(files: &[Tunings<'_>], journal: &mut Journal) -> Result<(), Refusal> {
    let name = |file: &Tunings<'_>| match &file.detail {
        Detail::Config(name) => name.clone(),
        _ => ConfigName::default(),
    };
    let first = name(&files[0]);
    let words = |name: &ConfigName| match &name.target {
        Some(target) => format!("{} on {target}", name.words),
        None => name.words.clone(),
    };
    for file in &files[1..] {
        let other = name(file);
        let targets = first.target.as_ref().zip(other.target.as_ref()).is_some_and(|(a, b)| a != b);
        if targets || (&first.kernel, &first.sizes) != (&other.kernel, &other.sizes) {
            return Err(Refusal::new(
                format!(
                    "`{}` is for {}, `{}` for {}",
                    files[0].name,
                    words(&first),
                    file.name,
                    words(&other)
                ),
                "the path is half of the key (target, kernel, N and K); the file of an N and K comes before the default as a whole, so \
                 entries of one do nothing in the other",
            ));
        }
        if first.target != other.target {
            journal.notes.push(format!(
                "only one of `{}` and `{}` names a target: nothing says that both are for the same",
                files[0].name, file.name
            ));
        }
    }
    Ok(())
}

/// Row counts that take another entry in the result than in a file, by the loader's rule.
fn taken_over(before: &Tunings<'_>, after: &Tunings<'_>) -> Vec<String> {
    let mut ends: BTreeSet<u64> = BTreeSet::new();
    for row in before.rows.iter().chain(&after.rows) {
        match row.shape {
            Ok(Shape::UpTo(Some(bound))) => ends.insert(bound),
            Ok(Shape::AtLeast(bound)) => ends.insert(bound.saturating_sub(1)),
            _ => continue,
        };
    }
    // Between two ends one entry decides, and behind the last one too.
    ends.insert(u64::MAX);
    let mut notes = Vec::new();
    let mut begin = 1;
    for end in ends {
        if end < begin {
            continue;
        }
        let entry = |row: Option<&Row<'_>>| row.map(|row| row.key.to_string());
        let (old, new) = (entry(rows_take(before, begin)), entry(rows_take(after, begin)));
        if old != new {
            let range =
                if end == u64::MAX { format!("M from {begin} on") } else { format!("M {begin} to {end}") };
            notes.push(format!(
                "{range}: takes `{}` in the place of {}; nothing says which is faster",
                new.unwrap_or_default(),
                old.map_or_else(|| "no entry".to_owned(), |it| format!("`{it}`"))
            ));
        }
        begin = end.saturating_add(1);
    }
    notes
}
