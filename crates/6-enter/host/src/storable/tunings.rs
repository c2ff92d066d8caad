//! Configurations with their times, to be added to a database: studies of the tuner, and files of other tuners.

use super::{entry, target_of};
use crate::tune::Shared;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use sorting::Sort;
use std::path::{Path, PathBuf};
use store::Done;
use store::recordings::NewRecording;
use tunedb::space::{Space, Status};
use tunedb::{Detail, Tunings};
use view::{StoredConfiguration, StoredSort};

/// Most configurations of one tuning.
const MOST: usize = 1_000_000;
/// Bytes of an SQLite file before, and of, the number of the program that it belongs to.
const OWNER: std::ops::Range<usize> = 68..72;
const ROCKHOUND: &[u8] = b"Rock";
/// Status of a configuration that ran with right results.
const OK: &str = "ok";

/// True if bytes begin as a database of Rockhound does.
pub(super) fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0") && head.get(OWNER) == Some(ROCKHOUND)
}

/// The tuner's databases in a folder that has a space file.
pub(super) fn databases(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|it| it.path()).filter(|it| it.is_file()).take(1000).collect();
    files.in_order();
    let has = |path: &Path, ending: &str| path.extension().is_some_and(|it| it == ending);
    if !files.iter().any(|it| has(it, "toml")) {
        return Vec::new();
    }
    files.retain(|it| has(it, "db") && super::head(it).is_ok_and(|head| is_database(&head)));
    files
}

/// The studies of a database in which a configuration ended.
pub(super) fn studies(database: &Path) -> Result<Vec<NewRecording>> {
    let shown = database.display();
    let mut journal = store::open_to_read(&database.to_string_lossy())?;
    let mut all = Vec::new();
    for study in journal.studies()? {
        let results = journal.results(study.id, 0)?;
        if results.is_empty() {
            continue;
        }
        all.push(of_study(database, &study.study, &results).with_context(|| format!("`{shown}`"))?);
    }
    if all.is_empty() {
        bail!(
            "`{shown}` has no study of the tuner with results\nhint: `rockhound store import {shown}` copies recordings"
        );
    }
    Ok(all)
}

fn of_study(database: &Path, study: &store::Study, results: &[Done]) -> Result<NewRecording> {
    let mut made = entry(StoredSort::Tuning, database)?;
    check(results.len(), &study.name)?;
    made.name = study.name.clone();
    made.kind = "study of rockhound tune".to_owned();
    made.configurations = results.iter().map(|it| of_result(&study.name, it)).collect();
    let populations: std::collections::BTreeSet<&str> = results.iter().map(|it| &it.population[..]).collect();
    made.facts.insert("population".to_owned(), populations.into_iter().collect::<Vec<_>>().join(", "));
    // The text of the space file; the results are the document, so that equal ones are added once.
    if let Ok(shared) = serde_json::from_str::<Shared>(&study.settings) {
        made.gpu = shared.gpu.as_deref().or(gpu_of(&shared.spec).as_deref()).and_then(target_of);
        made.files.insert(format!("{}.toml", shared.stem), shared.spec.into_bytes());
    }
    if made.gpu.is_none() {
        made.gpu = results.first().and_then(|it| target_of(&it.population));
    }
    let line = |it: &Done| {
        let result = it.result.as_ref().unwrap_or_else(|why| why);
        serde_json::json!({ "configuration": it.payload, "worker": it.worker, "result": result }).to_string()
    };
    let document: Vec<String> = results.iter().map(line).collect();
    made.files.insert("results.jsonl".to_owned(), (document.join("\n") + "\n").into_bytes());
    Ok(made)
}

/// The key `gpu` of a space file.
fn gpu_of(spec: &str) -> Option<String> {
    spec.parse::<toml::Table>().ok()?.get("gpu")?.as_str().map(str::to_owned)
}

fn of_result(study: &str, done: &Done) -> StoredConfiguration {
    let evaluation = crate::tune::evaluation_of(done);
    let failed = evaluation.failed.as_ref();
    StoredConfiguration {
        study: study.to_owned(),
        configuration: done.payload.clone(),
        us: evaluation.time_us(),
        status: failed.map_or(OK, |it| it.kind.words()).to_owned(),
        why: failed.map(|it| it.why.clone()),
    }
}

/// A file of a tuner; `None` unless it is a space with configurations that were tried.
pub(super) fn file(path: &Path, bytes: &[u8]) -> Result<Option<NewRecording>> {
    let name = path.to_string_lossy();
    let Ok(tunings) = tunedb::read(&name, bytes) else { return Ok(None) };
    let Detail::Space(space) = &tunings.detail else { return Ok(None) };
    if space.trials.is_empty() {
        return Ok(None);
    }
    check(space.trials.len(), &name)?;
    let mut made = entry(StoredSort::Tuning, path)?;
    made.kind = tunings.format.name().to_owned();
    made.gpu = target_of(&space.device);
    if !space.device.is_empty() {
        made.facts.insert("device".to_owned(), space.device.clone());
    }
    made.configurations = of_space(&tunings, space);
    let file = path.file_name().map_or_else(|| "results".to_owned(), |it| it.to_string_lossy().into_owned());
    made.files.insert(file, bytes.to_vec());
    Ok(Some(made))
}

fn of_space(tunings: &Tunings<'_>, space: &Space) -> Vec<StoredConfiguration> {
    let of_parameters = |values: &[u32]| {
        let pair = |(parameter, at): (&tunedb::space::Parameter, &u32)| {
            let value = parameter.values.get(*at as usize).map_or("", String::as_str);
            (parameter.name.clone(), typed(value))
        };
        let all: Map<String, Value> = space.parameters.iter().zip(values).map(pair).collect();
        Value::Object(all).to_string()
    };
    let trials = space.trials.iter().zip(&tunings.rows);
    let one = |(trial, row): (&tunedb::space::Trial, &tunedb::Row<'_>)| {
        let study = [row.operation.as_ref(), row.key.as_ref()].map(str::trim);
        let study: Vec<&str> = study.into_iter().filter(|it| !it.is_empty()).collect();
        let is_right = trial.status == Status::Correct;
        StoredConfiguration {
            study: study.join(", "),
            configuration: of_parameters(&trial.values),
            us: row.time_us.ok().filter(|_| is_right),
            status: if is_right { OK } else { trial.status.words() }.to_owned(),
            why: row.time_us.err().filter(|_| is_right).map(str::to_owned),
        }
    };
    trials.map(one).collect()
}

/// A value as a number or truth value where the file writes one, as JSON or Python do.
fn typed(text: &str) -> Value {
    if let Some(at) = ["False", "True"].iter().position(|it| *it == text) {
        return Value::Bool(at == 1);
    }
    let number = serde_json::from_str(text).ok().filter(|it: &Value| it.is_number() || it.is_boolean());
    number.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn check(configurations: usize, name: &str) -> Result<()> {
    if configurations > MOST {
        bail!("`{name}` has {configurations} configurations; a database takes at most {MOST} of one tuning");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{Population, Study, Task, Worker};
    use testkit::Scratch;

    #[test]
    fn studies_and_files_are_the_same_configurations() {
        let folder = Scratch::new("storable-tunings");
        let database = folder.path("tune.db");
        let mut journal = store::open(&database.display().to_string()).unwrap();
        let id = journal
            .begin(&Study {
                name: "tune-1".into(),
                fingerprint: "f".into(),
                settings: r#"{"stem":"tune","spec":"gpu = \"mi300x\"\n","folder":"/x","gpu":null,"on_gpu":false,"inspects":true}"#.into(),
                population: Population::Any,
            })
            .unwrap();
        let worker = Worker { name: "w".into(), population: "emulated".into() };
        for (sequence, result) in
            [r#"{"runs_us":[5.0,7.0]}"#, r#"{"runs_us":[],"failed":{"kind":"build","why":"no"}}"#]
                .iter()
                .enumerate()
        {
            let payload = format!("{{\"TILE\":{sequence}}}");
            journal.push(id, &[Task { sequence: sequence as u64, payload }]).unwrap();
            let claim = journal.claim(id, &worker, std::time::Duration::from_secs(60)).unwrap().unwrap();
            journal.finish(&claim, result).unwrap();
        }
        drop(journal);
        assert!(is_database(&super::super::head(&database).unwrap()));
        assert!(databases(&folder.path("")).is_empty());
        folder.write("tune.toml", b"");
        assert_eq!(databases(&folder.path("")), std::slice::from_ref(&database));
        let all = studies(&database).unwrap();
        assert_eq!(all.len(), 1);
        let of = |it: &StoredConfiguration| (it.us, it.status.clone(), it.why.clone());
        let expected =
            [(Some(6.0), "ok".to_owned(), None), (None, "does not build".to_owned(), Some("no".to_owned()))];
        assert_eq!(all[0].configurations.iter().map(of).collect::<Vec<_>>(), expected);
        assert_eq!(all[0].gpu.as_deref(), arch::Model::by_name("mi300x").map(|it| it.target().name));
        assert!(all[0].files.contains_key("tune.toml"));
    }

    #[test]
    fn values_keep_their_type() {
        for (text, expected) in [
            ("16", "16"),
            ("1.5", "1.5"),
            ("true", "true"),
            ("True", "true"),
            ("[1]", "\"[1]\""),
            ("", "\"\""),
        ] {
            assert_eq!(typed(text).to_string(), expected);
        }
    }
}
