//! `rockhound tunedb query`, `coverage`, `diff` and `advise`.

use super::{Opened, finish, kind, machine, sizes, unreadable};
use crate::args::{Look, TuneAdvise, TuneCoverage, TuneDiff, TuneQuery};
use crate::exit::{Outcome, usage};
use ::tunedb::Tunings;
use anyhow::Result;
use host::traces;
use std::path::PathBuf;
use study::tunings::{self, Problem, WITHOUT};
use trace::Timeline;
use view::FileError;

pub(super) fn query(args: &TuneQuery, look: &Look) -> Result<Outcome> {
    let whole = |text: &String| -> Result<[u64; 3]> {
        let [Some(a), Some(b), Some(c)] = sizes(text)? else {
            return Err(usage(format!("`{text}` has a `*`"), "a question needs three numbers"));
        };
        Ok([a, b, c])
    };
    let problem = Problem {
        kind: args.op.map(kind),
        mnk: args.mnk.as_ref().map(whole).transpose()?,
        batch: args.batch,
        leading: args.ld.as_ref().map(whole).transpose()?,
        layout: args.layout.clone(),
        types: args.types.clone(),
        tokens: args.tokens,
        key: args.key.clone(),
    };
    let machine = machine(&args.machine, &args.expect)?;
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    let report = tunings::query(&files, &problem, machine.as_ref(), args.top);
    finish(report, errors, &args.write, look, &mut [])
}

pub(super) fn coverage(args: &TuneCoverage, look: &Look) -> Result<Outcome> {
    let machine = machine(&args.machine, &[])?;
    let (opened, listed) = (Opened::new(&args.files), Lists::new(&args.shapes));
    let (files, mut errors) = opened.read();
    let (lists, more) = listed.read();
    errors.extend(more);
    let report = tunings::coverage(&files, &lists, machine.as_ref(), args.missing, args.top);
    let missing =
        report.tables.iter().flat_map(|it| &it.facts).any(|it| it.name == WITHOUT && it.value != "0");
    let outcome = finish(report, errors, &args.write, look, &mut [])?;
    let met = args.fail_on_missing && missing;
    if met {
        eprintln!("failed: `--fail-on-missing`: problems without an entry");
    }
    Ok(outcome.or_met(met))
}

/// Lists of problems: tuning files and logs, and timelines.
pub(super) struct Lists {
    opened: Opened,
    timelines: Vec<(String, Timeline)>,
}

impl Lists {
    pub(super) fn new(paths: &[PathBuf]) -> Lists {
        let (mut timelines, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            // A file that is not a trace may be a tuning file in JSON or SQLite.
            match traces::may_be_trace(path).then(|| traces::file(path, true)) {
                Some(Ok(timeline)) => timelines.push((path.display().to_string(), timeline)),
                Some(Err(_)) | None => others.push(path.clone()),
            }
        }
        Lists { opened: Opened::new(&others), timelines }
    }

    pub(super) fn read(&self) -> (Vec<Tunings<'_>>, Vec<FileError>) {
        let (mut lists, mut errors) = self.opened.read();
        for (name, timeline) in &self.timelines {
            match study::trace::products(name, &[timeline]) {
                Some(list) => lists.push(list),
                None => errors.push(FileError {
                    file: name.clone(),
                    error: "the trace shows no matrix products with their sizes".to_owned(),
                    hint: Some("record it with `record_shapes=True`".to_owned()),
                }),
            }
        }
        (lists, errors)
    }
}

pub(super) fn diff(args: &TuneDiff, look: &Look) -> Result<Outcome> {
    let both = Opened::new(&[args.old.clone(), args.new.clone()]);
    let counted = Opened::new(&args.calls);
    let (files, mut errors) = both.read();
    let (logs, more) = counted.read();
    errors.extend(more);
    let calls = (!logs.is_empty()).then(|| tunings::calls(&logs));
    let report = match files.as_slice() {
        [old, new] if old.format == new.format => {
            tunings::diff(old, new, args.noise / 100.0, calls.as_ref(), args.top)
        }
        [old, new] => {
            let words =
                format!("`{}` is {}, `{}` is {}", old.name, old.format.name(), new.name, new.format.name());
            return Err(usage(words, "compare two files of one kind"));
        }
        _ => return Ok(unreadable(&errors)),
    };
    finish(report, errors, &args.write, look, &mut [])
}

pub(super) fn advise(args: &TuneAdvise, look: &Look) -> Result<Outcome> {
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    finish(tunings::advise(&files), errors, &args.write, look, &mut [])
}
