//! Merging MIOpen's databases: of each solver of each key the smaller time.

use super::{Candidate, Journal, Merged, Options, Refusal, choose};
use sorting::Sort;
use std::collections::{BTreeMap, HashSet};
use tunedb::{Format, Tunings, miopen, time};

/// Refuses files of different GPUs, by their names.
fn same_gpu(files: &[Tunings<'_>]) -> Result<(), Refusal> {
    let gpu = |file: &Tunings<'_>| {
        file.rows.first().map(|row| (row.target.as_deref().ok().map(str::to_owned), row.cu_count.ok()))
    };
    let known = |file: &&Tunings<'_>| gpu(file).is_some_and(|it| it != (None, None));
    let named: Vec<&Tunings<'_>> = files.iter().filter(known).collect();
    if let Some(pair) = named.windows(2).find(|pair| gpu(pair[0]) != gpu(pair[1])) {
        return Err(Refusal::new(
            format!("`{}` and `{}` are for different GPUs by their names", pair[0].name, pair[1].name),
            "times of one GPU say nothing about another",
        ));
    }
    Ok(())
}

/// Merges: keys sorted, each solver once, entries by time.
pub(super) fn merge(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    same_gpu(files)?;
    let mut journal = Journal::new(options);
    let mut keys: BTreeMap<&str, BTreeMap<&str, Vec<Candidate<'_, '_>>>> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        for flaw in file.flaws.iter().filter(|it| it.spoils_row) {
            journal.leave_out(file, flaw.line, &flaw.text);
        }
        let spoiled: HashSet<u32> =
            file.flaws.iter().filter(|it| it.spoils_row).map(|flaw| flaw.line).collect();
        for row in file.rows.iter().filter(|row| !spoiled.contains(&row.line)) {
            let Some((solver, _)) = miopen::entry(file, row) else {
                journal.leave_out(file, row.line, "an entry without time, workspace and algorithm");
                continue;
            };
            let entries = keys.entry(row.key.as_ref()).or_default().entry(solver).or_default();
            entries.push(Candidate { file: number, row });
        }
    }
    let noise = options.noise.unwrap_or(0.0);
    let mut out = String::new();
    for (key, solvers) in &keys {
        let mut entries: Vec<(f64, String)> = Vec::new();
        for (solver, rows) in solvers {
            let (chosen, decision) = choose(rows, noise, options.force);
            journal.decide(files, &format!("{key} {solver}"), rows, chosen, decision);
            let kept = &rows[chosen];
            let values = miopen::entry(&files[kept.file], kept.row).map_or_else(Default::default, |it| it.1);
            let order = match kept.row.time_us {
                Ok(us) => us,
                // Unmeasured rows sort last.
                Err(time::ZERO) => f64::INFINITY,
                Err(_) => f64::MAX,
            };
            entries.push((order, format!("{solver}:{values}")));
        }
        // PerfDb has no times, so its entries stay in the order of their names.
        entries.in_order_by(|a, b| a.0.total_cmp(&b.0));
        let words: Vec<&str> = entries.iter().map(|it| it.1.as_str()).collect();
        out.push_str(&format!("{key}={}\n", words.join(";")));
    }
    journal.fact("keys", keys.len());
    note_conflicts(&mut journal, files);
    Ok(journal.merged(files, out.into_bytes()))
}

/// Merges databases in SQLite: the journal reports for each solver the action of [`miopen::merge_databases`].
pub(super) fn databases(files: &[Tunings<'_>], options: &Options) -> Result<Merged, Refusal> {
    same_gpu(files)?;
    let mut journal = Journal::new(options);
    let mut solvers: BTreeMap<(&str, &str), Vec<Candidate<'_, '_>>> = BTreeMap::new();
    for (number, file) in files.iter().enumerate() {
        for row in &file.rows {
            let Some((solver, _)) = miopen::solver(row) else { continue };
            solvers.entry((row.key.as_ref(), solver)).or_default().push(Candidate { file: number, row });
        }
    }
    for ((key, solver), rows) in &solvers {
        let (chosen, decision) = choose(rows, 0.0, options.force);
        journal.decide(files, &format!("{key} {solver}"), rows, chosen, decision);
    }
    journal.fact("solvers of problems", solvers.len());
    note_conflicts(&mut journal, files);
    let bytes: Vec<(&str, &[u8])> = files.iter().map(|it| (it.name.as_str(), it.bytes)).collect();
    let bytes = miopen::merge_databases(&bytes, options.force)
        .map_err(|error| Refusal::new(error.message.clone(), error.hint))?;
    Ok(journal.merged(files, bytes))
}

fn note_conflicts(journal: &mut Journal, files: &[Tunings<'_>]) {
    let conflicts = journal.differ();
    if conflicts > 0 && files[0].format != Format::FindDb {
        journal.notes.push(format!(
            "{conflicts} solvers have other parameters in another file; PerfDb holds no times, so the first file's stay: \
             measure both, or use --force for the last file's"
        ));
    }
}
