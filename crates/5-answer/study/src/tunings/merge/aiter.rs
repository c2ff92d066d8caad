//! Merging AITER's tables: rows by the names of their columns.

use super::{Candidate, Journal, Merged, Options, Refusal, choose, groups, noise};
use tunedb::aiter::Columns;
use tunedb::{Detail, Tunings};

fn columns<'f, 'a>(file: &'f Tunings<'a>) -> Result<&'f Columns<'a>, Refusal> {
    match &file.detail {
        Detail::Columns(columns) => Ok(columns),
        _ => Err(Refusal::new(format!("`{}` has no columns", file.name), "")),
    }
}

/// Names of the key columns; the mark of a second row may be absent.
fn keys<'a>(columns: &Columns<'a>) -> Vec<&'a str> {
    let all = columns.names.iter().zip(&columns.is_key);
    all.filter(|(name, is_key)| **is_key && **name != "_tag").map(|(name, _)| *name).collect()
}

/// Merges tables with the same key columns; columns that the first lacks are refused.
pub(super) fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let base = columns(&files[0])?;
    for file in &files[1..] {
        let own = columns(file)?;
        if keys(own) != keys(base) {
            return Err(Refusal::new(
                format!(
                    "`{}` has the key {}, `{}` has {}",
                    file.name,
                    keys(own).join(", "),
                    files[0].name,
                    keys(base).join(", ")
                ),
                "rows of tables with other key columns are other rows; `rockhound tunedb convert --to aiter --schema FILE` rewrites one",
            ));
        }
        let lost: Vec<&str> = own.names.iter().filter(|it| base.at(it).is_none()).copied().collect();
        if !lost.is_empty() {
            return Err(Refusal::new(
                format!("`{}` has columns that `{}` lacks: {}", file.name, files[0].name, lost.join(", ")),
                "name the table with more columns first, or convert the other to its schema",
            ));
        }
    }
    let mut journal = Journal::new(options);
    let groups = groups(files, &mut journal);
    let noise = noise(options, &groups, &mut journal);
    let mut out = format!("{}\n", base.header);
    for number in groups.sorted() {
        let (key, rows) = groups.at(number);
        let (chosen, decision) = choose(rows, noise, options.force);
        journal.decide(files, key, rows, chosen, decision);
        out.push_str(&line(files, &rows[chosen], base)?);
        out.push('\n');
    }
    journal.fact("keys", groups.len());
    Ok(journal.merged(files, out.into_bytes()))
}

/// A row with its values in the order of the base's columns. A row of a table with the same columns keeps its
/// text.
fn line(files: &[Tunings<'_>], kept: &Candidate<'_, '_>, base: &Columns<'_>) -> Result<String, Refusal> {
    let file = &files[kept.file];
    let own = columns(file)?;
    let text = std::str::from_utf8(file.text(kept.row)).unwrap_or_default();
    if own.names == base.names {
        return Ok(text.to_owned());
    }
    let values: Vec<&str> = text.split(',').collect();
    let cells =
        base.names.iter().map(|name| own.at(name).and_then(|at| values.get(at)).copied().unwrap_or_default());
    Ok(cells.collect::<Vec<_>>().join(","))
}
