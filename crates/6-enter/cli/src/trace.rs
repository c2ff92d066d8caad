//! `rockhound trace`: timelines.

use crate::args::{Export, Look, SurveyFormat, Trace};
use crate::exit::{Outcome, usage};
use crate::output::Output;
use crate::{fail_on, terminal};
use anyhow::Result;
use host::{traces, tunings};
use render::{json, report_csv, report_markdown, sarif, text};
use std::path::{Path, PathBuf};
use study::trace::{Input, Options, survey};
use timeline::{Selection, select};
use trace::Timeline;
use view::{NoteKind, Survey};

/// A trace of the command line, what was selected of it.
struct Selected {
    path: PathBuf,
    timeline: Timeline,
}

/// Shows.
pub(crate) fn run(args: &Trace, look: &Look) -> Result<Outcome> {
    let mut conditions = fail_on::parse(&args.fail_on)?;
    let kernel = match &args.kernel {
        None => None,
        Some(text) => Some(regex::Regex::new(text).map_err(|error| {
            usage(format!("`--kernel {text}`: {error}"), "give a regular expression such as `gemm.*f16`")
        })?),
    };
    let (all, mut failed) = read_all(args, kernel.as_ref());
    let compared = args.base.is_some();
    if all.is_empty() {
        return Ok(Outcome::InputError);
    }
    if compared && all.len() != 2 {
        if failed {
            return Ok(Outcome::InputError);
        }
        return Err(usage(
            format!("`--base` compares two traces, found {}", all.len()),
            "give one trace beside the base",
        ));
    }
    if let Some(path) = &args.untuned {
        let timelines: Vec<&Timeline> = all.iter().map(|it| &it.timeline).collect();
        untuned(&timelines, path)?;
    }
    if let (Some(kind), Some(path)) = (args.export, &args.output) {
        return export(&all, kind, path).map(|()| Outcome::of(failed, false));
    }
    let names = names(&all);
    let inputs: Vec<Input<'_>> = all
        .iter()
        .zip(names)
        .map(|(it, name)| Input { name, path: it.path.display().to_string(), timeline: &it.timeline })
        .collect();
    let machine = matches!(args.format, SurveyFormat::Json | SurveyFormat::Csv);
    let every = ["all".to_owned()];
    let (opened, unread) = tunings::open(&args.tunings);
    let known = read_tunings(&opened, &mut failed);
    for error in unread {
        failed = true;
        eprintln!("error: {}: {}", error.file, error.error);
    }
    let options = Options {
        tunings: &known,
        top: if args.top == 0 || machine { usize::MAX } else { args.top },
        blocks: if machine && args.blocks.is_empty() { &every } else { &args.blocks },
        compared,
    };
    let survey = survey(&inputs, &options);
    if let Some(path) = args.output.as_deref().filter(|path| is_page(path)) {
        let mut output = Output::open(Some(path))?;
        let html = render::timeline(&study::trace::page(&inputs, survey.clone()));
        output.write(&html)?;
        output.finish()?;
        eprintln!("wrote {} ({} KB)", path.display(), html.len().div_ceil(1000));
        return finish(&survey, failed, &mut conditions);
    }
    write(&survey, args.format, usize::from(args.decimal), args.output.as_deref(), look)?;
    finish(&survey, failed, &mut conditions)
}

/// The traces of all paths, as far as they can be read, and whether something was not.
fn read_all(args: &Trace, kernel: Option<&regex::Regex>) -> (Vec<Selected>, bool) {
    let (mut all, mut failed) = (Vec::new(), false);
    for path in args.base.iter().chain(&args.files) {
        let (read, errors) = read(path, !args.no_index).unwrap_or_else(|error| (Vec::new(), vec![error]));
        all.extend(read.into_iter().map(|it| selected(it, args, kernel)));
        for error in errors {
            failed = true;
            eprintln!("error: {error:#}");
        }
    }
    (all, failed)
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

/// Traces of a path; a folder without any may be a recording.
fn read(path: &Path, indexed: bool) -> Result<(Vec<traces::Trace>, Vec<anyhow::Error>)> {
    let found = traces::read(path, indexed);
    if !path.is_dir() || found.is_ok() {
        return found;
    }
    let timeline = host::recording::read(path).ok().as_ref().and_then(study::trace::of_recording);
    match timeline {
        Some(timeline) => Ok((vec![traces::Trace { path: path.to_owned(), timeline }], Vec::new())),
        None => found,
    }
}

fn selected(it: traces::Trace, args: &Trace, kernel: Option<&regex::Regex>) -> Selected {
    let begin = it.timeline.range().map_or(0, |(begin, _)| begin);
    let time = (args.from.is_some() || args.to.is_some()).then(|| {
        let at = |ns: i64| begin.saturating_add(ns);
        (at(args.from.unwrap_or(0)), args.to.map_or(i64::MAX, at))
    });
    let admits = |name: &str| kernel.is_none_or(|regex| regex.is_match(name));
    let selection = Selection {
        kernel: kernel.is_some().then_some(&admits as &dyn Fn(&str) -> bool),
        time,
        steps: args.step.clone(),
    };
    let timeline = if selection.is_all() { it.timeline } else { select(&it.timeline, &selection) };
    Selected { path: it.path, timeline }
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
        eprintln!("{without} more have no such line: batches, or the trace lacks their type or strides");
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

/// Names that tell traces apart: what is left of their paths without what they have in common.
fn names(all: &[Selected]) -> Vec<String> {
    let file = |it: &Selected| {
        it.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let files: Vec<String> = all.iter().map(file).collect();
    let same = files.iter().enumerate().any(|(at, name)| files[..at].contains(name));
    if !same {
        return files;
    }
    all.iter().map(|it| it.path.display().to_string()).collect()
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
