//! `rockhound tunedb query`, `coverage`, `diff` and `advise`.

use super::{Opened, finish, here, named, unreadable};
use crate::args::{Look, TuneAdvise, TuneCoverage, TuneDiff, TuneQuery};
use crate::exit::{Outcome, usage};
use crate::gate::Gated;
use anyhow::Result;
use host::traces;
use study::tunings::{self, Problem, WITHOUT};

pub(super) fn query(args: &TuneQuery, look: &Look) -> Result<Outcome> {
    let whole = |text: &String| -> Result<[u64; 3]> {
        let [Some(a), Some(b), Some(c)] = tunings::sizes(text)? else {
            return Err(usage(format!("`{text}` has a `*`"), "a question needs three numbers"));
        };
        Ok([a, b, c])
    };
    let problem = Problem {
        kind: args.op.and_then(|op| tunings::kind(op.word())),
        mnk: args.mnk.as_ref().map(whole).transpose()?,
        batch: args.batch,
        leading: args.ld.as_ref().map(whole).transpose()?,
        layout: args.layout.clone(),
        types: args.types.clone(),
        tokens: args.tokens,
        key: args.key.clone(),
    };
    let here = here(&args.machine)?;
    let machine = named(&args.machine, here.as_ref(), &args.expect).known()?;
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    let report = tunings::query(&files, &problem, machine.as_ref(), args.top);
    finish(report, errors, &args.write, look, &mut Gated::none())
}

pub(super) fn coverage(args: &TuneCoverage, look: &Look) -> Result<Outcome> {
    let here = here(&args.machine)?;
    let machine = named(&args.machine, here.as_ref(), &[]).known()?;
    let (timelines, others) = traces::split(&args.shapes);
    let (opened, listed) = (Opened::new(&args.files), Opened::new(&others));
    let (files, mut errors) = opened.read();
    let (lists, more) = listed.problems(&timelines);
    errors.extend(more);
    let report = tunings::coverage(&files, &lists, machine.as_ref(), args.missing, args.top);
    let missing =
        report.tables.iter().flat_map(|it| &it.facts).any(|it| it.name == WITHOUT && it.value != "0");
    let outcome = finish(report, errors, &args.write, look, &mut Gated::none())?;
    let met = args.fail_on_missing && missing;
    if met {
        eprintln!("failed: `--fail-on-missing`: problems without an entry");
    }
    Ok(outcome.or_met(met))
}

pub(super) fn diff(args: &TuneDiff, look: &Look) -> Result<Outcome> {
    let both = Opened::new(&[args.old.clone(), args.new.clone()]);
    let counted = Opened::new(&args.calls);
    let (files, mut errors) = both.read();
    let (logs, more) = counted.read();
    errors.extend(more);
    let calls = (!logs.is_empty()).then(|| tunings::calls(&logs));
    let report = match files.as_slice() {
        [old, new] => {
            tunings::check_one_kind(old, new)?;
            tunings::diff(old, new, args.noise / 100.0, calls.as_ref(), args.top)
        }
        _ => return Ok(unreadable(&errors)),
    };
    finish(report, errors, &args.write, look, &mut Gated::none())
}

pub(super) fn advise(args: &TuneAdvise, look: &Look) -> Result<Outcome> {
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    finish(tunings::advise(&files), errors, &args.write, look, &mut Gated::none())
}
