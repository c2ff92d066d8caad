//! `rockhound tunedb`: tuned problems, and a library's choices from them.
//!
//! A question gets files and gives one [`Answer`]; a file that cannot be read is an error beside the answer
//! on the others.

mod lint;
mod questions;
mod shapes;
mod show;
mod writing;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Question, TuneMachineArgs, TuneWrite, Tunedb};
use crate::exit::{Outcome, usage};
use crate::gate::Gated;
use anyhow::Result;
use host::tunings::{TuneFile, open};
use std::path::PathBuf;
use study::tunings::NamedMachine;
use view::{Answer, FileError, Tuned};

/// Answers.
pub(crate) fn run(args: &Tunedb, look: &Look) -> Result<Outcome> {
    match &args.question {
        Question::Show(args) => show::run(args, look),
        Question::Lint(args) => lint::run(args, look),
        Question::Query(args) => questions::query(args, look),
        Question::Coverage(args) => questions::coverage(args, look),
        Question::Shapes(args) => shapes::run(args, look),
        Question::Merge(args) => writing::merge(args, look),
        Question::Diff(args) => questions::diff(args, look),
        Question::Convert(args) => writing::convert(args),
        Question::Advise(args) => questions::advise(args, look),
    }
}

/// Files with their bytes, and what could not be opened.
struct Opened {
    /// Paths as given.
    paths: Vec<PathBuf>,
    files: Vec<TuneFile>,
    errors: Vec<FileError>,
}

impl Opened {
    fn new(paths: &[PathBuf]) -> Opened {
        let (files, errors) = open(paths);
        Opened { paths: paths.to_owned(), files, errors }
    }

    /// The files as they are read.
    fn given(&self) -> impl Iterator<Item = (&str, host::tunings::Source<'_>, bool)> {
        self.files.iter().map(TuneFile::given)
    }

    /// The files that are tuning files, and all errors: first of opening, then of reading. Folders without any
    /// are an error too.
    fn read(&self) -> (Vec<study::tunings::Tunings<'_>>, Vec<FileError>) {
        let (files, more) = study::tunings::read(self.given());
        let errors = self.errors(files.is_empty(), more);
        (files, errors)
    }

    /// The same for lists of problems, which timelines hold too.
    fn problems<'f>(
        &'f self,
        timelines: &'f [(String, study::trace::Timeline)],
    ) -> (Vec<study::tunings::Tunings<'f>>, Vec<FileError>) {
        let (lists, more) = study::tunings::problem_lists(self.given(), timelines);
        let errors = self.errors(lists.is_empty(), more);
        (lists, errors)
    }

    fn errors(&self, nothing: bool, more: Vec<FileError>) -> Vec<FileError> {
        let mut errors: Vec<FileError> = self.errors.iter().cloned().chain(more).collect();
        if nothing && errors.is_empty() {
            errors.extend(self.paths.iter().map(|path| FileError {
                file: path.display().to_string(),
                error: "no file in it is a known tuning database".to_owned(),
                hint: None,
            }));
        }
        errors.iter_mut().for_each(|error| host::kind::name_nearest(error, "tunedb"));
        errors
    }
}

/// Writes an answer, and prints notes for scripts.
fn finish(
    mut answer: Answer<Tuned>,
    errors: Vec<FileError>,
    write: &TuneWrite,
    look: &Look,
    gated: &mut Gated,
) -> Result<Outcome> {
    // Text about nothing that was read would look like an answer; a document has the errors in it.
    if answer.inputs.is_empty() && !errors.is_empty() && write.format == view::Format::Text {
        return Ok(unreadable(&errors));
    }
    answer.errors = errors;
    let target = Target { format: write.format, output: write.output.as_deref(), decimals: DECIMALS, look };
    answer::finish(&mut answer, &target, gated)
}

/// Says which files could not be read where no answer is possible without them.
fn unreadable(errors: &[FileError]) -> Outcome {
    errors.iter().for_each(answer::tell);
    Outcome::InputError
}

/// Target and compute units of this machine's GPU if the files are to be used on it.
fn here(args: &TuneMachineArgs) -> Result<Option<(String, u32)>> {
    if !args.here {
        return Ok(None);
    }
    let gpu = host::machine::first_gpu();
    gpu.map(Some)
        .ok_or_else(|| usage("`--here`: no GPU of AMD is known on this machine", "name the GPU with --gpu"))
}

/// The machine named on the command line.
fn named<'a>(
    args: &'a TuneMachineArgs,
    here: Option<&'a (String, u32)>,
    expect: &'a [String],
) -> NamedMachine<'a> {
    NamedMachine { gpu: args.gpu.as_deref(), compute_units: args.cu, here, expect }
}
