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
use crate::args::{Look, Op, Question, TuneMachineArgs, TuneWrite, Tunedb};
use crate::exit::{Outcome, usage};
use ::tunedb::{Kind, Tunings};
use anyhow::Result;
use arch::Model;
use host::tunings::{TuneFile, each, open};
use rules::TuneMachine;
use std::path::{Path, PathBuf};
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
    files: Vec<TuneFile>,
    errors: Vec<FileError>,
}

impl Opened {
    fn new(paths: &[PathBuf]) -> Opened {
        let (files, errors) = open(paths);
        Opened { files, errors }
    }

    /// Reads every file. Files of folders in none of the formats are skipped.
    fn read(&self) -> (Vec<Tunings<'_>>, Vec<FileError>) {
        let mut read = Vec::new();
        let mut errors = self.errors.clone();
        let results = each(&self.files, |file| ::tunedb::read(&file.name, file.bytes()));
        for (file, result) in self.files.iter().zip(results) {
            match result {
                Ok(tunings) => read.push(tunings),
                Err(_) if !file.named => {}
                Err(error) => errors.push(FileError {
                    file: file.name.clone(),
                    error: error.to_string(),
                    hint: (!error.hint.is_empty()).then(|| error.hint.to_owned()),
                }),
            }
        }
        (read, errors)
    }
}

/// Writes an answer, and prints notes for scripts.
fn finish(
    mut answer: Answer<Tuned>,
    errors: Vec<FileError>,
    write: &TuneWrite,
    look: &Look,
    conditions: &mut [study::FailOn],
) -> Result<Outcome> {
    answer.errors = errors;
    let target = Target { format: write.format, output: write.output.as_deref(), decimals: DECIMALS, look };
    answer::finish(&answer, &target, conditions)
}

/// Says which files could not be read where no answer is possible without them.
fn unreadable(errors: &[FileError]) -> Outcome {
    errors.iter().for_each(answer::tell);
    Outcome::InputError
}

/// The machine named on the command line.
fn machine(args: &TuneMachineArgs, expect: &[String]) -> Result<Option<TuneMachine>> {
    let mut machine = TuneMachine::default();
    if let Some(model) = args.gpu.as_deref().and_then(Model::by_name) {
        machine.target = Some(model.target().name.to_owned());
        machine.cu_count = Some(args.cu.unwrap_or(model.compute_units.value));
        machine.model = Some(model.key());
    }
    if args.here {
        of_this(&mut machine)?;
    }
    for pair in expect {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(usage(format!("`--expect {pair}` has no value"), "write NAME=VALUE, as in the file"));
        };
        machine.versions.insert(name.to_owned(), value.to_owned());
    }
    Ok((args.gpu.is_some() || args.here || !expect.is_empty()).then_some(machine))
}

/// Target and compute units of this machine's first GPU, or of its partition if it is divided.
fn of_this(machine: &mut TuneMachine) -> Result<()> {
    let this = system::Machine::read(&host::machine::read_tree(Path::new("/")), &[]);
    let gpu = this.known_gpus().iter().find_map(|gpu| {
        let units = gpu.compute_units.get()? / u64::from(gpu.partitions.max(1));
        Some((gpu.target.get()?.clone(), u32::try_from(units).ok()?))
    });
    let Some((target, units)) = gpu else {
        return Err(usage("`--here`: no GPU of AMD is known on this machine", "name the GPU with --gpu"));
    };
    machine.model = arch::Target::by_name(&target).and_then(|target| {
        let mut models = Model::of_target(target);
        models.find(|model| model.compute_units.value == units).map(Model::key)
    });
    (machine.target, machine.cu_count) = (Some(target), Some(units));
    Ok(())
}

fn kind(op: Op) -> Kind {
    match op {
        Op::Gemm => Kind::Gemm,
        Op::Moe => Kind::Moe,
        Op::Conv => Kind::Convolution,
        Op::Kernel => Kind::Kernel,
    }
}

/// `4096,*,4096`.
fn sizes(text: &str) -> Result<[Option<u64>; 3]> {
    let parts: Vec<Option<u64>> = text
        .split([',', 'x'])
        .map(|part| match part.trim() {
            "*" => Ok(None),
            part => part.parse().map(Some),
        })
        .collect::<Result<_, _>>()
        .map_err(|_| {
            usage(format!("`{text}` is no M,N,K"), "write three numbers such as `4096,1024,4096`; `*` is any")
        })?;
    <[Option<u64>; 3]>::try_from(parts)
        .map_err(|_| usage(format!("`{text}` is no M,N,K"), "write three numbers such as `4096,1024,4096`"))
}
