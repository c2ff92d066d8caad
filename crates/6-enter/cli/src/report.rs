//! `rockhound report`: a recording, or traces, as one HTML file.

use crate::answer;
use crate::args::Report;
use crate::exit::{Outcome, usage};
use crate::output;
use crate::page::{self, Wish};
use crate::trace::inputs;
use anyhow::Result;
use host::subjects::Asked;
use host::traces::are_traces;
use study::trace::Wanted;

/// Writes the page.
pub(crate) fn run(args: &Report) -> Result<Outcome> {
    if !args.asks_for_recording() && are_traces(args.base.iter().chain(&args.paths)) {
        return of_traces(args);
    }
    if let [_, second, ..] = &args.paths[..] {
        return Err(usage(
            format!("`report` looks at one recording, and `{}` is another", second),
            "`--base` compares two recordings; several paths are traces of one run",
        ));
    }
    let wish = Wish {
        asked: Asked {
            sources: args.base.iter().chain(&args.paths).cloned().collect(),
            arch: args.pick.arch.clone(),
            corrections: args.pick.specs_correction.clone(),
            wanted: args.pick.wanted(),
            matches: args.matches.clone(),
            ranks: args.pick.ranks.map(Into::into),
            runs: args.pick.runs.map(Into::into),
        }
        .one("report")?,
        units: args.units,
    };
    let (page, failed) = page::make(&wish)?;
    if failed {
        // Half a comparison would answer another question.
        return Ok(Outcome::InputError);
    }
    output::page(&args.output, &render::page(&page))?;
    Ok(answer::end(&page.report, false))
}

/// Writes the page of traces.
fn of_traces(args: &Report) -> Result<Outcome> {
    let wanted = Wanted::kernels(&args.pick.part.kernel)?;
    let (all, mut errors) = inputs::read(args.base.as_ref(), &args.paths, &wanted, true);
    let unhinted = errors.iter_mut().filter(|error| error.hint.is_none());
    unhinted.for_each(|error| host::kind::name_nearest(error, "report"));
    errors.iter().for_each(answer::tell);
    if all.is_empty() || args.base.is_some() && !errors.is_empty() {
        return Ok(Outcome::InputError);
    }
    let page = study::trace::compared(&inputs::inputs(&all), args.base.is_some())?;
    output::page(&args.output, &render::timeline(&page))?;
    let outcome = answer::end(&page.survey, false);
    Ok(if errors.is_empty() { outcome } else { Outcome::InputError })
}
