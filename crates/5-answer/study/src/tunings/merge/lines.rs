//! Merging files of one line per row: TunableOp's results, hipBLASLt's tuning file, lists of problems.

use super::{Journal, Merged, Options, Refusal, choose, groups, noise};
use std::collections::BTreeSet;
use tunedb::{Detail, Format, Tunings};

/// Merges results: versions of the first file, then one row per key, sorted.
pub(super) fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let first = &files[0];
    let mut out = head(files)?;
    let mut journal = Journal::new(options);
    let groups = groups(files, &mut journal);
    let noise = noise(options, &groups, &mut journal);
    let sorted = first.format == Format::TunableOp;
    let order = if sorted { groups.sorted() } else { (0..groups.len()).collect() };
    let choices = groups.each(|rows| choose(rows, noise, options.force));
    let text_of = |number: u32| {
        let (key, rows) = groups.at(number);
        let (chosen, decision) = choices[number as usize];
        journal.decide(files, key, rows, chosen, decision);
        files[rows[chosen].file].text(rows[chosen].row)
    };
    let texts: Vec<&[u8]> = order.into_iter().map(text_of).collect();
    journal.fact("keys", texts.len());
    // The list of all rows is not held while the result grows.
    drop(groups);
    for text in texts {
        out.extend_from_slice(text);
        out.push(b'\n');
    }
    journal.fact("rows read", files.iter().map(|it| it.rows.len()).sum::<usize>());
    // With a version the first line says what the file is, whichever rows follow.
    let verbatim = !first.versions.is_empty();
    Ok(Merged { verbatim, ..journal.merged(files, out) })
}

/// Header above the rows.
fn head(files: &[Tunings<'_>]) -> Result<Vec<u8>, Refusal> {
    let first = &files[0];
    let mut out = Vec::with_capacity(files.iter().map(|it| it.bytes.len()).sum());
    if first.format == Format::TunableOp {
        for version in &first.versions {
            out.extend_from_slice(
                format!("Validator,{},{}\n", version.key, version.value.trim_end()).as_bytes(),
            );
        }
        return Ok(out);
    }
    let header = |file: &Tunings<'_>| match &file.detail {
        Detail::Columns(columns) => columns.header.trim().to_owned(),
        _ => String::new(),
    };
    if let Some(other) = files.iter().find(|it| header(it) != header(first)) {
        return Err(Refusal::new(
            format!("`{}` has other columns than `{}`", other.name, first.name),
            "let one hipBLASLt write both files",
        ));
    }
    let version = first.version("Git Version").unwrap_or_default();
    out.extend_from_slice(format!("Git Version: {version}\n    {}\n", header(first)).as_bytes());
    Ok(out)
}

/// Joins lists of problems: each line once, in the order of its first.
pub(super) fn union(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let mut journal = Journal::new(options);
    let groups = groups(files, &mut journal);
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    for (key, rows) in groups.iter() {
        let (chosen, decision) = choose(rows, 0.0, false);
        journal.decide(files, key, rows, chosen, decision);
        let text = files[rows[chosen].file].text(rows[chosen].row);
        if seen.insert(text) {
            out.extend_from_slice(text);
            out.push(b'\n');
        }
    }
    let calls: u64 = files.iter().flat_map(|it| &it.rows).map(|row| row.calls).sum();
    journal.fact("problems", groups.len());
    if calls > u64::from(groups.len()) {
        journal.notes.push(format!("the {calls} calls are not in the result: each problem is written once"));
    }
    Ok(journal.merged(files, out))
}
