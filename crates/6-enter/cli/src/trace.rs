//! `rockhound trace`: timelines.

pub(crate) mod inputs;

use crate::answer::{self, Target};
use crate::args::{Export, Look, Trace as Arguments};
use crate::exit::{Outcome, usage};
use crate::gate;
use crate::output::{self, Output};
use anyhow::Result;
use host::traces::Trace;
use host::tunings::{self, TuneFile};
use std::path::Path;
use study::Judges;
use study::trace::{Options, Viewer, Wanted, survey};
use view::FileError;

/// Shows.
pub(crate) fn run(args: &Arguments, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("trace", Judges::Timelines, &args.fail_on, &args.memory)?;
    let wanted = Wanted::kernels(&args.kernel)?.within((args.from, args.to), args.step.clone());
    let (all, errors) = inputs::read(args.base.as_ref(), &args.files, &wanted, !args.no_index);
    let mut errors: Vec<FileError> = errors;
    let unhinted = errors.iter_mut().filter(|error| error.hint.is_none());
    unhinted.for_each(|error| host::kind::name_nearest(error, "trace"));
    let compared = args.base.is_some();
    if all.is_empty() || compared && all.len() != 2 && !errors.is_empty() {
        errors.iter().for_each(answer::tell);
        return Ok(Outcome::InputError);
    }
    if compared {
        study::trace::check_two(all.len())?;
    }
    if let Some(path) = &args.untuned {
        untuned(&all, path)?;
    }
    if let (Some(kind), Some(path)) = (args.export, &args.output) {
        errors.iter().for_each(answer::tell);
        return export(&all, kind, path).map(|()| Outcome::of(!errors.is_empty(), false));
    }
    let inputs = inputs::inputs(&all);
    let to_page = args.output.as_deref().filter(|path| is_page(path));
    let whole = args.format.is_for_programs() || to_page.is_some();
    let every = ["all".to_owned()];
    let (opened, unread) = tunings::open(&args.tunings);
    let (known, unreadable) = study::tunings::read(opened.iter().map(TuneFile::given));
    errors.extend(unreadable.into_iter().map(|error| FileError { hint: None, ..error }));
    errors.extend(unread);
    let options = Options {
        tunings: &known,
        top: match (args.top, to_page) {
            (top, Some(_)) => top.max(study::trace::PAGE_ROWS),
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
    let mut survey = survey(&inputs, &options);
    survey.errors = errors;
    if let Some(path) = to_page {
        gated.gate.findings(&mut survey.findings);
        output::page(path, &render::timeline(&study::trace::page(&inputs, survey.clone())))?;
        return answer::close(&survey, &gated);
    }
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: args.decimal, look };
    answer::finish(&mut survey, &target, &mut gated)
}

/// Writes the products that TunableOp is to tune.
fn untuned(all: &[Trace], path: &Path) -> Result<()> {
    let timelines: Vec<_> = all.iter().map(|it| &it.timeline).collect();
    let (text, without) = study::trace::untuned(&timelines);
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
fn export(all: &[Trace], kind: Export, path: &Path) -> Result<()> {
    let [one] = all else {
        return Err(usage(
            format!("`--export` writes one timeline, found {}", all.len()),
            "export each trace on its own",
        ));
    };
    let mut output = Output::open(Some(path))?;
    let viewer = match kind {
        Export::Chrome => Viewer::Chrome,
        Export::Perfetto => Viewer::Perfetto,
    };
    study::trace::write(&one.timeline, viewer, &mut |piece| output.write_bytes(piece))?;
    output.finish()
}

/// True if a file is to be a page.
fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}
