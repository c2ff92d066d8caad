//! `rockhound tune gemm|moe --shapes`: entries of tuned files for lists of shapes.

mod clock;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Project, Tune};
use crate::exit::{Outcome, usage};
use crate::gate;
use anyhow::{Context, Result, anyhow};
use clock::EmulatedClock;
use host::traces;
use host::tunings::{self, TuneFile, replace};
use std::path::{Path, PathBuf};
use study::Judges;
use study::tunings::{
    ModelConfig, Operation, ProductTimes, Refusal, ShapesQuestion, TuneFor, Tunings, tune_shapes,
};
use view::{FileError, NoteKind};

/// Finds configurations for shapes.
pub(super) fn run(args: &Tune, project: Project, look: &Look) -> Result<Outcome> {
    let operation = operation(args)?;
    let mut gated = gate::open("tune", Judges::Searches, &args.fail_on, &args.memory)?;
    let given = &args.shapes;
    let files = ShapeFiles::open(&given.shapes);
    let (merged, measured) = (Opened::new(&given.merge), Opened::new(&given.from));
    let (lists, mut errors) = files.read();
    let (existing, more) = merged.read();
    errors.extend(more);
    let (results, more) = measured.read();
    errors.extend(more);
    // Entries from a part of the files would look like all of them.
    if let Some(error) = errors.into_iter().next() {
        let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        return Err(anyhow!("{}{hint}", error.message()));
    }
    // Commands with these names read lists, no models.
    let is_list = |name: &String| !files.models.iter().any(|it| it.0 == *name);
    let names: Vec<_> = given.shapes.iter().map(|it| it.display().to_string()).filter(is_list).collect();
    let words: Vec<_> = names.iter().map(|it| view::shell_word(it)).collect();
    let clock = EmulatedClock::new(args, look)?;
    let question = ShapesQuestion {
        operation,
        target: target(project),
        gpu: args.gpu.as_deref(),
        lists: &lists,
        models: &files.models,
        tp: given.tp,
        tokens: &given.tokens,
        dtype: given.dtype.as_deref(),
        block: given.block,
        model_dim: given.model_dim,
        top_k: given.top_k,
        device: given.device.as_deref(),
        one: given.one,
        emulated: clock.as_ref().map(|it| ProductTimes { clock: it, tiles: usize::from(given.tiles) }),
        existing: &existing,
        results: &results,
        files: &words.join(" "),
    };
    let mut found = tune_shapes(&question).map_err(refused)?;
    match &args.output {
        Some(path) => {
            for written in write(path, &found.files, is_named_by_key(project))? {
                found.answer.note(NoteKind::Info, format!("written: {written}"));
            }
        }
        None if !found.files.is_empty() => {
            found
                .answer
                .note(NoteKind::Info, "nothing is written: -o names a file or folder for the entries");
        }
        None => {}
    }
    let target = Target { format: args.format, output: None, decimals: DECIMALS, look };
    answer::finish(&mut found.answer, &target, &mut gated)
}

fn operation(args: &Tune) -> Result<Operation> {
    match args.space.as_deref().and_then(Path::to_str) {
        Some("gemm") => Ok(Operation::Gemm),
        Some("moe") => Ok(Operation::Moe),
        _ => Err(usage(
            "`--shapes` needs the kind of problem",
            "write `rockhound tune gemm` or `rockhound tune moe`",
        )),
    }
}

const fn target(project: Project) -> TuneFor {
    match project {
        Project::Aiter => TuneFor::Aiter,
        Project::Vllm => TuneFor::Vllm,
        Project::Sglang => TuneFor::Sglang,
        Project::Tunableop => TuneFor::TunableOp,
        Project::Hipblaslt => TuneFor::Hipblaslt,
    }
}

/// Whether the name of a file is a part of its key.
const fn is_named_by_key(project: Project) -> bool {
    matches!(project, Project::Vllm | Project::Sglang)
}

/// Files of tuning databases with their bytes.
struct Opened {
    files: Vec<TuneFile>,
    errors: Vec<FileError>,
}

impl Opened {
    fn new(paths: &[PathBuf]) -> Opened {
        let (files, errors) = tunings::open(paths);
        Opened { files, errors }
    }

    fn read(&self) -> (Vec<Tunings<'_>>, Vec<FileError>) {
        let (read, more) = study::tunings::read(self.files.iter().map(TuneFile::given));
        (read, named(&self.errors, more))
    }
}

/// Lists of shapes, and configurations of models among them.
struct ShapeFiles {
    opened: Opened,
    timelines: Vec<(String, study::trace::Timeline)>,
    models: Vec<(String, ModelConfig)>,
}

impl ShapeFiles {
    fn open(paths: &[PathBuf]) -> ShapeFiles {
        let (timelines, others) = traces::split(paths);
        let mut opened = Opened::new(&others);
        let mut models = Vec::new();
        opened.files.retain(|file| match ModelConfig::read(file.bytes()) {
            Some(model) => {
                models.push((file.name.clone(), model));
                false
            }
            None => true,
        });
        ShapeFiles { opened, timelines, models }
    }

    fn read(&self) -> (Vec<Tunings<'_>>, Vec<FileError>) {
        let given = self.opened.files.iter().map(TuneFile::given);
        let (read, more) = study::tunings::problem_lists(given, &self.timelines);
        (read, named(&self.opened.errors, more))
    }
}

fn named(errors: &[FileError], more: Vec<FileError>) -> Vec<FileError> {
    let mut errors: Vec<FileError> = errors.iter().cloned().chain(more).collect();
    errors.iter_mut().for_each(|error| host::kind::name_nearest(error, "tunedb"));
    errors
}

fn refused(refusal: Refusal) -> anyhow::Error {
    let hint = if refusal.hint.is_empty() { String::new() } else { format!("\nhint: {}", refusal.hint) };
    anyhow!("{}{hint}", refusal.message)
}

/// Writes the entries, and returns the paths.
fn write(path: &Path, files: &[(String, Vec<u8>)], named: bool) -> Result<Vec<String>> {
    let is_own_name = |name: &str| path.file_name().is_some_and(|it| it == name);
    match files {
        [] => Ok(Vec::new()),
        [(name, bytes)] if !path.is_dir() && (!named || is_own_name(name)) => {
            replace(path, bytes)?;
            Ok(vec![path.display().to_string()])
        }
        _ if path.is_dir() || !path.exists() && path.extension().is_none() => {
            std::fs::create_dir_all(path).with_context(|| format!("cannot make `{}`", path.display()))?;
            let one = |(name, bytes): &(String, Vec<u8>)| {
                let place = path.join(name);
                replace(&place, bytes)?;
                Ok(place.display().to_string())
            };
            files.iter().map(one).collect()
        }
        [(name, _)] => {
            let said = format!("the project finds the file by its name, which has to be `{name}`");
            Err(usage(said, "name a folder with -o"))
        }
        _ => Err(usage("there are several files, whose names are part of the key", "name a folder with -o")),
    }
}
