//! `rockhound trace`: timelines.

pub(crate) mod inputs;

use crate::args::{Export, Look, SurveyFormat, Trace};
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use crate::{fail_on, terminal};
use anyhow::Result;
use host::tunings;
use inputs::{Selected, Wanted};
use render::{json, report_csv, report_markdown, sarif, text};
use std::path::Path;
use study::trace::{Options, survey};
use trace::Timeline;
use view::{NoteKind, Survey};

/// Shows.
pub(crate) fn run(args: &Trace, look: &Look) -> Result<Outcome> {
    let mut conditions = fail_on::parse(&args.fail_on)?;
    let wanted = Wanted {
        kernels: Wanted::kernels(&args.kernel)?,
        time: (args.from, args.to),
        steps: args.step.clone(),
    };
    let (all, errors) = inputs::read(args.base.iter().chain(&args.files), &wanted, !args.no_index);
    errors.iter().for_each(|error| eprintln!("error: {error:#}"));
    let mut failed = !errors.is_empty();
    let compared = args.base.is_some();
    if all.is_empty() {
        return Ok(Outcome::InputError);
    }
    if compared && all.len() != 2 {
        if failed {
            return Ok(Outcome::InputError);
        }
        return Err(inputs::not_two(all.len()));
    }
    if let Some(path) = &args.untuned {
        let timelines: Vec<&Timeline> = all.iter().map(|it| &it.timeline).collect();
        untuned(&timelines, path)?;
    }
    if let (Some(kind), Some(path)) = (args.export, &args.output) {
        return export(&all, kind, path).map(|()| Outcome::of(failed, false));
    }
    let inputs = inputs::inputs(&all);
    let to_page = args.output.as_deref().filter(|path| is_page(path));
    let whole = matches!(args.format, SurveyFormat::Json | SurveyFormat::Csv) || to_page.is_some();
    let every = ["all".to_owned()];
    let (opened, unread) = tunings::open(&args.tunings);
    let known = read_tunings(&opened, &mut failed);
    for error in unread {
        failed = true;
        eprintln!("error: {}: {}", error.file, error.error);
    }
    let options = Options {
        tunings: &known,
        top: match (args.top, to_page) {
            (top, Some(_)) => top.max(inputs::ROWS),
            (top, None) => {
                if top == 0 || whole {
                    usize::MAX
                } else {
                    top
                }
            }
        },
        blocks: if whole && args.blocks.is_empty() { &every } else { &args.blocks },
        compared,
    };
    let survey = survey(&inputs, &options);
    if let Some(path) = to_page {
        output::page(path, &render::timeline(&study::trace::page(&inputs, survey.clone())))?;
        return finish(&survey, failed, &mut conditions);
    }
    write(&survey, args.format, usize::from(args.decimal), args.output.as_deref(), look)?;
    finish(&survey, failed, &mut conditions)
}

/// Files of tunings, as far as they are such; what a folder holds besides is no fault.
fn read_tunings<'a>(opened: &'a [tunings::TuneFile], failed: &mut bool) -> Vec<::tunedb::Tunings<'a>> {
    let mut known = Vec::new();
    for file in opened {
        match ::tunedb::read(&file.name, file.bytes()) {
            Ok(read) => known.push(read),
            Err(_) if !file.named => {}
            Err(error) => {
                *failed = true;
                eprintln!("error: {}: {error}", file.name);
            }
        }
    }
    known
}

/// Writes the products that TunableOp is to tune.
fn untuned(timelines: &[&Timeline], path: &Path) -> Result<()> {
    let (text, without) = study::trace::untuned(timelines);
    let mut output = Output::open(Some(path))?;
    output.write(&text)?;
    output.finish()?;
    let count = text.lines().count();
    eprintln!("{count} matrix products in `{}`", path.display());
    if without > 0 {
        eprintln!(
            "{without} more have no such line: batches with a size of 1, or the trace lacks their type or strides"
        );
    }
    Ok(())
}

/// Writes one timeline for a viewer.
fn export(all: &[Selected], kind: Export, path: &Path) -> Result<()> {
    let [one] = all else {
        return Err(usage(
            format!("`--export` writes one timeline, found {}", all.len()),
            "export each trace on its own",
        ));
    };
    let mut output = Output::open(Some(path))?;
    match kind {
        Export::Chrome => trace::write::chrome(&one.timeline, &mut |piece| output.write(piece))?,
        Export::Perfetto => trace::write::perfetto(&one.timeline, &mut |piece| output.write_bytes(piece))?,
    }
    output.finish()
}

/// Whether a file is to be a page.
fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

/// Writes a survey in the format asked for.
pub(crate) fn write(
    survey: &Survey,
    format: SurveyFormat,
    decimals: usize,
    path: Option<&Path>,
    look: &Look,
) -> Result<()> {
    let mut output = Output::open(path)?;
    output.write(&match format {
        SurveyFormat::Text => text::survey(survey, decimals, &terminal::style(look, path.is_some())),
        SurveyFormat::Json => json::survey(survey),
        SurveyFormat::Csv => report_csv::survey(survey),
        SurveyFormat::Markdown => report_markdown::survey(survey, decimals),
        SurveyFormat::Sarif => sarif::survey(survey, env!("CARGO_PKG_VERSION"), &study::rules()),
    })?;
    output.finish()
}

/// Says on standard error what a script must not miss.
pub(crate) fn finish(survey: &Survey, mut failed: bool, conditions: &mut [study::FailOn]) -> Result<Outcome> {
    for note in survey.notes.iter().filter(|note| note.kind == NoteKind::Error) {
        failed = true;
        eprintln!("error: {}", note.text);
    }
    conditions.iter_mut().for_each(|condition| condition.add_findings(&survey.findings));
    let met =
        conditions.iter().filter_map(study::FailOn::verdict).inspect(|text| eprintln!("{text}")).count();
    Ok(Outcome::of(failed, met > 0))
}
