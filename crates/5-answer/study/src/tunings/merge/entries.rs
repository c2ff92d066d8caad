//! Merging JSON files of one entry per size or configuration: fused-MoE files, and Triton's autotune caches.
//!
//! The first file's text stays unchanged except for the entries, so fields unknown to every reader are kept.

use super::{Candidate, Journal, Merged, Options, Refusal, choose, groups};
use sorting::Sort;
use std::collections::HashMap;
use tunedb::{Detail, Row, Tunings};
use view::counted;

/// Merges ladders of one name: entries of every number of tokens. The files hold no times, so where entries
/// differ the first stays.
pub(super) fn moe(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let first = &files[0];
    let name = |file: &Tunings<'_>| match &file.detail {
        Detail::Moe(name) => Some(name.base(false)),
        _ => None,
    };
    if let Some(file) = files.iter().find(|it| name(it).is_none()) {
        return Err(Refusal::new(
            format!(
                "`{}` is no name of vLLM or SGLang, so nothing says what its entries are for",
                file.base_name()
            ),
            "keep the name that they gave it: `E=…,N=…,device_name=….json` or `N=…,K=…,device_name=….json`",
        ));
    }
    for file in &files[1..] {
        if name(file) != name(first) {
            return Err(Refusal::new(
                format!(
                    "`{}` and `{}` have other names, so they are for other models, devices or types",
                    first.base_name(),
                    file.base_name()
                ),
                "a name is half of the key; entries of one name are nothing to another",
            ));
        }
        let (own, other) = (first.version("triton_version"), file.version("triton_version"));
        if let (Some(own), Some(other)) = (own, other)
            && own != other
        {
            return Err(Refusal::new(
                format!("`{}` was tuned with Triton {own}, `{}` with {other}", first.name, file.name),
                "tune the sizes of one file again with the Triton of the other, then merge",
            ));
        }
    }
    let mut journal = Journal::new(options);
    let mut entries = Vec::new();
    for (key, rows) in groups(files, &mut journal).iter() {
        // Of a key that one file has twice its loader takes the last.
        let mut of_files: Vec<Candidate<'_, '_>> = Vec::new();
        for row in rows {
            match of_files.last_mut() {
                Some(last) if last.file == row.file => *last = *row,
                _ => of_files.push(*row),
            }
        }
        let (chosen, decision) = choose(&of_files, 0.0, options.force);
        journal.decide(files, &format!("{key} tokens"), &of_files, chosen, decision);
        entries.push((key.parse::<u64>().unwrap_or(u64::MAX), of_files[chosen]));
    }
    entries.in_order_by_key(|it| it.0);
    journal.fact("entries", entries.len());
    if journal.differ() > 0 && !options.force {
        journal.notes.push(
            "the files hold no times: of entries that differ the first file's stay; measure both, or use --force for the last file's"
                .to_owned(),
        );
    }
    if entries.len() > first.rows.len() {
        journal.notes.push(
            "the nearest entry is taken, so sizes between entries may get another one than before".to_owned(),
        );
    }
    let texts: Vec<&[u8]> = entries.iter().map(|(_, it)| files[it.file].text(it.row)).collect();
    let bytes = replaced(first, &texts)?;
    Ok(journal.merged(files, bytes))
}

/// The first file with its entries replaced.
fn replaced(file: &Tunings<'_>, texts: &[&[u8]]) -> Result<Vec<u8>, Refusal> {
    let spans: Vec<_> = file.rows.iter().map(|row| row.span.clone()).collect();
    let between: Vec<&[u8]> =
        spans.windows(2).map(|pair| file.bytes.get(pair[0].end..pair[1].start).unwrap_or_default()).collect();
    let plain = |text: &&&[u8]| text.iter().all(|byte| byte.is_ascii_whitespace() || *byte == b',');
    let (Some(begin), Some(end)) = (spans.first().map(|it| it.start), spans.last().map(|it| it.end)) else {
        return Err(Refusal::new(
            format!("`{}` has no entries", file.name),
            "name a file with entries first",
        ));
    };
    if between.iter().filter(plain).count() < between.len() {
        return Err(Refusal::new(
            format!("`{}` has something else between its entries", file.name),
            "move `triton_version` before the first entry",
        ));
    }
    let separator = between.first().copied().unwrap_or(b",\n    ");
    let mut out = file.bytes.get(..begin).unwrap_or_default().to_vec();
    out.extend_from_slice(&texts.join(separator));
    out.extend_from_slice(file.bytes.get(end..).unwrap_or_default());
    Ok(out)
}

/// Merges caches of one kernel, key and set of configurations: of each configuration the smaller timing.
pub(super) fn autotune(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let first = &files[0];
    let key = |file: &Tunings<'_>| file.rows.first().map(|row| row.key.to_string());
    let configurations = |file: &Tunings<'_>| {
        let mut all: Vec<String> =
            file.rows.iter().filter_map(|it| it.candidate.as_deref().ok().map(str::to_owned)).collect();
        all.in_order();
        all
    };
    let own = configurations(first);
    for file in &files[1..] {
        if key(file) != key(first) {
            return Err(Refusal::new(
                format!("`{}` and `{}` are for other keys", first.name, file.name),
                "Triton has one file for each key of a kernel",
            ));
        }
        let other = configurations(file);
        if own != other {
            let missing = |a: &[String], b: &[String]| a.iter().filter(|it| !b.contains(it)).count();
            return Err(Refusal::new(
                format!(
                    "`{}` has {} that `{}` lacks, and lacks {} of its",
                    file.name,
                    counted(missing(&other, &own), "configuration"),
                    first.name,
                    missing(&own, &other)
                ),
                "Triton finds a file by a hash of all configurations, so a file with those of two is found by nobody: give \
                 both to `@triton.autotune`; `rockhound tunedb convert --to triton-configs` lists them",
            ));
        }
    }
    let mut journal = Journal::new(options);
    let mut found: HashMap<&str, Vec<Candidate<'_, '_>>> = HashMap::new();
    for (file, tunings) in files.iter().enumerate() {
        for row in &tunings.rows {
            let Ok(candidate) = &row.candidate else { continue };
            found.entry(candidate.as_ref()).or_default().push(Candidate { file, row });
        }
    }
    let mut out = Vec::with_capacity(first.bytes.len());
    let mut at = 0;
    for row in &first.rows {
        let Some(rows) = row.candidate.as_deref().ok().and_then(|it| found.get(it)) else { continue };
        let (chosen, decision) = choose(rows, 0.0, options.force);
        journal.decide(files, &format!("key ({})", row.key), rows, chosen, decision);
        out.extend_from_slice(first.bytes.get(at..row.span.start).unwrap_or_default());
        out.extend_from_slice(text(files, &rows[chosen]));
        at = row.span.end;
    }
    out.extend_from_slice(first.bytes.get(at..).unwrap_or_default());
    journal.fact("configurations", own.len());
    let best = |file: &Tunings<'_>| -> Option<String> {
        let row: &Row<'_> = tunedb::triton::best(file).and_then(|at| file.rows.get(at))?;
        row.candidate.as_deref().ok().map(str::to_owned)
    };
    if let Ok(merged) = tunedb::read(&first.name, &out) {
        for file in files.iter().filter(|file| best(file) != best(&merged)) {
            let none = || "none".to_owned();
            journal.notes.push(format!(
                "Triton takes another configuration than with `{}`: {} in the place of {}",
                file.name,
                best(&merged).unwrap_or_else(none),
                best(file).unwrap_or_else(none)
            ));
        }
    }
    Ok(journal.merged(files, out))
}

fn text<'a>(files: &[Tunings<'a>], kept: &Candidate<'_, '_>) -> &'a [u8] {
    files[kept.file].text(kept.row)
}
