//! Merging TensileLite's logic files, by the rules of TensileLite's merge tool where those lose nothing.
//!
//! Solutions are equal when all keys but index and name are; a size has one row; positions are counted again
//! at the end, so sizes and solutions always fit together.

use super::{Journal, Merged, NOISE, Options, Refusal};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tunedb::logic::{Logic, MergedSize, Size, Solution, compose};
use tunedb::{Detail, Tunings};
use view::Cell;

/// A size being merged: who serves it.
struct Entry<'f> {
    file: usize,
    size: &'f Size,
}

/// Merges logic files; the first is the base.
pub(super) fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    let logics: Vec<&Logic<'_>> = files
        .iter()
        .map(|file| match &file.detail {
            Detail::Logic(logic) => Ok(&**logic),
            _ => Err(Refusal::new(format!("`{}` has no logic", file.name), "")),
        })
        .collect::<Result<_, _>>()?;
    for (file, logic) in files.iter().zip(&logics) {
        // Solutions are copied as text, which would part an alias from its anchor.
        if let Some(line) = logic.anchored {
            return Err(Refusal::new(
                format!(
                    "`{}`, line {line}: solutions share values by YAML anchors, which a merge would break",
                    file.name
                ),
                "write it again without them: PyYAML's Dumper with `ignore_aliases = lambda *_: True`",
            ));
        }
        belongs(&files[0], logics[0], file, logic)?;
    }
    let noise = options.noise.unwrap_or(NOISE);
    let mut journal = Journal::new(options);
    journal.fact("noise", format!("{:.1} %", 100.0 * noise));
    let mut order: Vec<Vec<u64>> = Vec::new();
    let mut table: HashMap<Vec<u64>, Entry<'_>> = HashMap::new();
    let mut trimmed: BTreeMap<Vec<u64>, BTreeSet<&[u64]>> = BTreeMap::new();
    for (number, (file, logic)) in files.iter().zip(&logics).enumerate() {
        for size in &logic.sizes {
            if let Some(flaw) = file.spoiled(size.line) {
                journal.leave_out(file, size.line, &flaw.text);
                continue;
            }
            let mut key = size.numbers.clone();
            if options.trim {
                key.truncate(4);
                trimmed.entry(key.clone()).or_default().insert(&size.numbers);
            }
            let entry = Entry { file: number, size };
            match table.get_mut(&key) {
                None => {
                    order.push(key.clone());
                    table.insert(key, entry);
                }
                Some(old) => {
                    let same = identity(&logics, old) == identity(&logics, &entry);
                    let words = decide(old.size.efficiency, size.efficiency, noise, options.force, same);
                    let takes = words.starts_with("faster")
                        || words.starts_with("forced")
                        || words.starts_with("the other");
                    note(&mut journal, files, &logics, &Change { words, old, new: &entry, takes });
                    if takes {
                        *old = entry;
                    }
                }
            }
        }
    }
    for (key, all) in trimmed.iter().filter(|(_, all)| all.len() > 1) {
        journal.notes.push(format!("--trim: {} sizes became the one size {key:?}", all.len()));
    }
    let (solutions, places) = solutions(files, &logics, &order, &table, &mut journal);
    let sizes: Vec<MergedSize> = order
        .iter()
        .map(|key| {
            let entry = &table[key];
            let solution = places[&(entry.file, entry.size.solution)];
            MergedSize { numbers: key.clone(), solution, efficiency: entry.size.written.clone() }
        })
        .collect();
    journal.fact("sizes", sizes.len());
    journal.fact("solutions", solutions.len());
    let base = std::str::from_utf8(files[0].bytes).unwrap_or_default();
    let text = compose(base, logics[0], &solutions, &sizes);
    Ok(journal.merged(files, text.into_bytes()))
}

/// Rejects a file whose problem type differs from the base.
fn belongs(
    base_file: &Tunings<'_>,
    base: &Logic<'_>,
    file: &Tunings<'_>,
    logic: &Logic<'_>,
) -> Result<(), Refusal> {
    let mut differ: Vec<String> = Vec::new();
    for (what, a, b) in [
        ("schedule", base.schedule, logic.schedule),
        ("architecture", base.architecture, logic.architecture),
        ("kind of library", base.library.trim(), logic.library.trim()),
        ("default solution", base.defaults.trim(), logic.defaults.trim()),
    ] {
        if a != b {
            let shown =
                if what == "default solution" { String::new() } else { format!(" (`{a}` and `{b}`)") };
            differ.push(format!("{what}{shown}"));
        }
    }
    if base.cu_count != logic.cu_count {
        differ.push("number of compute units".to_owned());
    }
    if base.form != logic.form {
        differ.push("form (list and map)".to_owned());
    }
    // A key that one file lacks says nothing: releases add keys.
    for pair in &base.problem {
        if logic.problem_value(pair.key).is_some_and(|own| own != pair.value) {
            differ.push(format!("problem type `{}`", pair.key));
        }
    }
    if differ.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(
        format!(
            "`{}` and `{}` are logic for different problems: {}",
            base_file.name,
            file.name,
            differ.join(", ")
        ),
        "merge files of one problem type, architecture and kind of library",
    ))
}

fn identity(logics: &[&Logic<'_>], entry: &Entry<'_>) -> Option<String> {
    logics[entry.file].solutions.get(entry.size.solution).map(Solution::identity)
}

/// Decision about a size that exists already. An efficiency of 0 is unknown, not slow.
fn decide(old: f64, new: f64, noise: f64, force: bool, same: bool) -> &'static str {
    let known = |value: f64| value > 0.0 && value.is_finite();
    match (known(old), known(new)) {
        _ if same && old == new => "equal",
        (true, true) if new > old * (1.0 + noise) => "faster",
        (true, true) if force && new < old * (1.0 - noise) => "forced, SLOWER",
        (true, false) if force => "forced, of unknown speed",
        _ if force => "forced",
        (true, true) if new < old * (1.0 - noise) => "the first is faster",
        (true, true) => "within noise: the first stays",
        (false, true) => "the other has no efficiency",
        (true, false) => "its efficiency is unknown: the first stays",
        (false, false) => "no efficiencies: the first stays",
    }
}

/// A size that two files have, and which of them is taken.
struct Change<'e, 'f> {
    words: &'static str,
    old: &'e Entry<'f>,
    new: &'e Entry<'f>,
    takes: bool,
}

fn note(journal: &mut Journal, files: &[Tunings<'_>], logics: &[&Logic<'_>], change: &Change<'_, '_>) {
    let Change { words, old, new, takes } = *change;
    *journal.counts.entry(words).or_default() += 1;
    if !journal.explain && !words.starts_with("forced,") {
        return;
    }
    let (kept, other) = if takes { (new, old) } else { (old, new) };
    let name = |it: &Entry<'_>| match logics[it.file].solutions.get(it.size.solution) {
        Some(solution) => Cell::text(format!("{} {}", it.size.solution, solution.name())),
        None => Cell::missing("the index points behind the list"),
    };
    let time = |it: &Entry<'_>| {
        // Rows are in the order of their lines.
        let rows = &files[it.file].rows;
        let at = rows.partition_point(|row| row.line < it.size.line);
        rows.get(at).map_or(Err("the row has no time"), |row| row.time_us)
    };
    let place = |it: &Entry<'_>| Cell::text(format!("{}:{}", files[it.file].base_name(), it.size.line));
    let relative = match (time(kept), time(other)) {
        (Ok(a), Ok(b)) => Cell::from(a / b - 1.0),
        _ => Cell::missing("needs two times"),
    };
    journal.rows.push(vec![
        Cell::text(words),
        Cell::text(format!("{:?}", kept.size.numbers)),
        name(kept),
        Cell::known(time(kept)),
        place(kept),
        name(other),
        Cell::known(time(other)),
        place(other),
        relative,
    ]);
}

type Listed<'f, 'a> = Vec<(&'f Solution<'a>, &'f str)>;

/// Solutions that serve a size, each kernel once, in the order of the files; and where each went.
fn solutions<'f, 'a>(
    files: &'f [Tunings<'a>],
    logics: &[&'f Logic<'a>],
    order: &[Vec<u64>],
    table: &HashMap<Vec<u64>, Entry<'_>>,
    journal: &mut Journal,
) -> (Listed<'f, 'a>, HashMap<(usize, usize), usize>) {
    let used: BTreeSet<(usize, usize)> =
        order.iter().map(|key| (table[key].file, table[key].size.solution)).collect();
    // Files without sizes serve every size with every solution.
    let all = order.is_empty();
    let mut list: Listed<'f, 'a> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut places = HashMap::new();
    let mut dropped = 0;
    for (number, logic) in logics.iter().enumerate() {
        let text = std::str::from_utf8(files[number].bytes).unwrap_or_default();
        for (at, solution) in logic.solutions.iter().enumerate() {
            if !all && !used.contains(&(number, at)) {
                dropped += 1;
                continue;
            }
            let place = *known.entry(solution.identity()).or_insert_with(|| {
                list.push((solution, text));
                list.len() - 1
            });
            places.insert((number, at), place);
        }
    }
    journal.fact("solutions that serve no size, dropped", dropped);
    (list, places)
}
