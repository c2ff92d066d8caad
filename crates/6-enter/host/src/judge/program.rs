//! Variants that are whole programs: HIP programs and Python scripts with kernels. Contents that each reads back from the
//! GPU are compared with what the base reads back.

use super::{Judged, Problem, Question, Quiet, Tried, compare, one_line, rounds, variant};
use crate::launch_file::Element;
use crate::process::{Bounds, Limit};
use crate::run::{
    self, Detail, Emulate, LeftBuffer, Observed, OnGpu, Place, Recording, Reporter, Request, Selection, What,
};
use crate::session::{KeptPiece, Watched};
use crate::usage;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use view::{CandidateVerdict, NoteKind};

/// Wall time of a base, seconds.
const BASE_SECONDS: f64 = 1800.0;
/// Wall time of a candidate: this many times the base's, and some seconds more.
const SECONDS: (f64, f64) = (10.0, 20.0);
/// Memory of a program, MiB.
const MEMORY_MIB: u64 = 16 << 10;
/// In memory of the GPU that nobody wrote: no number in floats, and -1 in integers.
const FILL: u8 = 0xff;
/// Whether a path is a program: a script of Python, or a file that the system starts.
pub fn is_program(path: &Path) -> bool {
    if path.extension().is_some_and(|it| it == "py") {
        return true;
    }
    let mut head = [0; 20];
    let read = std::fs::File::open(path).and_then(|mut it| std::io::Read::read(&mut it, &mut head));
    // Code objects are of AMD's machine (224), and may have the bit of programs too.
    let is_of_gpu = head.starts_with(b"\x7fELF") && head[18] == 224;
    let is_library = path.file_name().is_some_and(|it| it.to_string_lossy().contains(".so"));
    run::is_executable(path) && read.is_ok() && !is_of_gpu && !is_library
}

/// Runs all variants, which are programs.
pub(super) fn judge(question: &Question<'_>, reporter: &dyn Reporter, folder: TempDir) -> Result<Judged> {
    let paths: Vec<PathBuf> =
        std::iter::once(question.base.to_owned()).chain(question.candidates.iter().cloned()).collect();
    for path in &paths {
        std::fs::metadata(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    }
    if let Some(other) = paths.iter().find(|it| !is_program(it)) {
        let text = format!("`{}` is not a program, and the base is", other.display());
        return Err(usage(text, "programs are compared with programs; the others need `--launch`"));
    }
    if question.shapes.iter().any(|it| !it.values.is_empty()) {
        return Err(usage(
            "`--shape` fills launch files, and these are programs",
            "give arguments for all of them after `--`",
        ));
    }
    if let Some(rounds) = question.rounds {
        // Before anything runs.
        run::wanted_profiler(rounds.profiler.as_deref())?;
    }
    let tried = variant::names(&paths).into_iter().zip(&paths).map(|(name, path)| Tried {
        name,
        path: path.clone(),
        kind: if path.extension().is_some_and(|it| it == "py") { "Python script" } else { "program" },
        problem: None,
        largest: 0.0,
        by_order: false,
        recordings: Vec::new(),
    });
    let judged = Judged { variants: tried.collect(), cases: 1, notes: Vec::new(), folder };
    let quiet = Quiet { reporter, stop: reporter.interrupts()? };
    let mut trial = Trial { question, quiet, judged };
    trial.run()?;
    Ok(trial.judged)
}

struct Trial<'a> {
    question: &'a Question<'a>,
    quiet: Quiet<'a>,
    judged: Judged,
}

/// The runs of a program: checked, with other contents of new memory, and with workgroups from the last to the first.
struct Runs {
    plain: Observed,
    filled: Observed,
    reversed: Observed,
}

impl Trial<'_> {
    fn run(&mut self) -> Result<()> {
        let base = self.runs(0, BASE_SECONDS)?;
        if let Some((_, why)) = fault(&base.plain) {
            bail!("the base is wrong itself: {why}");
        }
        if base.plain.results.is_empty() {
            let text =
                format!("`{}` reads nothing back from the GPU, so there is nothing to compare", self.name(0));
            return Err(usage(
                text,
                "copies from the GPU to the host are results: hipMemcpy, and `.cpu()` of tensors",
            ));
        }
        for found in &base.plain.found {
            self.judged.note(
                NoteKind::Warning,
                format!("the base has a mistake, which candidates may have too: {found}"),
            );
        }
        if self.question.rounds.is_none() {
            self.record(0)?;
        }
        let seconds = SECONDS.0 * base.plain.end.seconds + SECONDS.1;
        for at in 1..self.judged.variants.len() {
            let own = self.runs(at, seconds)?;
            let problem = self.problem(at, &base, &own)?;
            self.judged.variants[at].problem = problem;
            if self.judged.variants[at].problem.is_none() && self.question.rounds.is_none() {
                self.record(at)?;
            }
        }
        match self.question.rounds {
            Some(rounds) => rounds::measure(self.question, rounds, &self.quiet, &mut self.judged),
            None => Ok(()),
        }
    }

    fn name(&self, at: usize) -> &str {
        &self.judged.variants[at].name
    }

    fn runs(&self, at: usize, seconds: f64) -> Result<Runs> {
        let plain = self.once(at, Watched::default(), true, seconds)?;
        if fault(&plain).is_some() {
            // The others say nothing more.
            let none = || Observed { results: Vec::new(), ..Observed::default() };
            return Ok(Runs { plain, filled: none(), reversed: none() });
        }
        let seconds = seconds.max(SECONDS.0 * plain.end.seconds);
        let other = |watched| self.once(at, watched, false, seconds);
        let (filled, reversed) = rayon::join(
            || other(Watched { fill: Some(FILL), reversed: false }),
            || other(Watched { fill: None, reversed: true }),
        );
        Ok(Runs { filled: filled?, reversed: reversed?, plain })
    }

    fn once(&self, at: usize, watched: Watched, checked: bool, seconds: f64) -> Result<Observed> {
        self.observe(at, watched, checked, seconds, None)
    }

    fn observe(
        &self,
        at: usize,
        watched: Watched,
        checked: bool,
        seconds: f64,
        record: Option<Recording>,
    ) -> Result<Observed> {
        let request = Request {
            what: What::Program(variant::command(self.question, &self.judged.variants[at].path)?),
            place: Place::Emulator,
            emulate: Emulate {
                check: if checked { vec!["races".into(), "uninit".into()] } else { Vec::new() },
                repeats: record.is_some(),
                ..super::emulate(self.question, usize::from(record.is_none()))
            },
            on_gpu: OnGpu::default(),
            record,
        };
        let bounds = Bounds {
            seconds,
            memory_mib: MEMORY_MIB,
            stop: Some(self.quiet.stop.clone()),
            ..Bounds::default()
        };
        let observed = run::observed(&request, watched, &bounds, &self.quiet)?;
        if observed.end.limit == Some(Limit::Stopped) {
            bail!("interrupted");
        }
        Ok(observed)
    }

    /// Records a run.
    fn record(&mut self, at: usize) -> Result<()> {
        let folder = self.judged.folder.path().join(format!("recording{at}"));
        let recording = Recording {
            name: Some(self.name(at).to_owned()),
            output: Some(folder),
            overwrite: true,
            select: Selection::default(),
            blocks: Vec::new(),
            set: None,
            detail: Detail { caches: self.question.caches, ..Detail::default() },
            no_results: false,
        };
        let observed = self.observe(at, Watched::default(), false, BASE_SECONDS, Some(recording))?;
        if let Some((verdict, why)) = fault(&observed) {
            self.judged.variants[at].problem =
                Some(Problem::new(verdict, format!("when it is recorded: {why}")));
        }
        if observed.recordings.len() > 1 {
            let text = format!(
                "of {} processes of `{}`, the first is timed",
                observed.recordings.len(),
                self.name(at)
            );
            self.judged.note(NoteKind::Warning, text);
        }
        self.judged.variants[at].recordings = observed.recordings.into_iter().take(1).collect();
        Ok(())
    }

    /// Why a candidate cannot be used.
    fn problem(&mut self, at: usize, base: &Runs, own: &Runs) -> Result<Option<Problem>> {
        if let Some((verdict, why)) = fault(&own.plain) {
            return Ok(Some(Problem::new(verdict, why)));
        }
        let rule = |it: &str| it.split(':').next().map(str::to_owned);
        let is_new = |it: &&String| {
            !it.starts_with("info ") && !base.plain.found.iter().any(|old| rule(old) == rule(it))
        };
        if let Some(found) = own.plain.found.iter().find(is_new) {
            let text = found.split_once(' ').map_or(found.as_str(), |it| it.1);
            return Ok(Some(Problem::new(CandidateVerdict::Unsafe, text)));
        }
        for (other, of_base, what) in [
            (&own.filled, &base.filled, "what new memory held before"),
            (&own.reversed, &base.reversed, "the order of workgroups"),
        ] {
            if fault(of_base).is_some() || first_bits(&base.plain.results, &of_base.results).is_some() {
                self.judged.variants[at].by_order |= what.contains("order");
                continue;
            }
            let why = match fault(other) {
                Some((_, why)) => Some(why),
                None => first_bits(&own.plain.results, &other.results),
            };
            if let Some(why) = why {
                let text = format!("its results depend on {what}: {why}");
                return Ok(Some(Problem::new(CandidateVerdict::Unsafe, text)));
            }
        }
        match self.compared(at, &base.plain.results, &own.plain.results) {
            None => Ok(None),
            Some(why) => {
                let again = self.once(0, Watched::default(), false, BASE_SECONDS)?;
                if let Some(differs) = first_bits(&base.plain.results, &again.results) {
                    bail!(
                        "the base gives other results each time ({differs}); a fixed seed of its inputs makes it comparable"
                    );
                }
                Ok(Some(Problem::new(CandidateVerdict::Wrong, why)))
            }
        }
    }

    /// Why what a candidate reads back is not what the base reads back.
    fn compared(&mut self, at: usize, base: &[KeptPiece], own: &[KeptPiece]) -> Option<String> {
        if base.len() != own.len() {
            return Some(format!("it reads {} from the GPU, and the base {}", copies(own), copies(base)));
        }
        for (number, (expected, found)) in base.iter().zip(own).enumerate() {
            if expected.bytes.len() != found.bytes.len() {
                let sizes = (found.bytes.len(), expected.bytes.len());
                return Some(format!("copy {number} has {} bytes, and {} in the base", sizes.0, sizes.1));
            }
            if expected.bytes == found.bytes {
                continue;
            }
            let element = self.element(expected, found);
            let left = |it: &KeptPiece| LeftBuffer {
                name: format!("copy {number}"),
                element,
                is_input: false,
                tolerance: 0.0,
                before: Vec::new(),
                after: it.bytes.clone(),
            };
            let compared = compare::compared(&left(expected), &left(found), self.question.tolerance);
            let tried = &mut self.judged.variants[at];
            tried.largest = tried.largest.max(compared.largest);
            if let Some(why) = compared.problem {
                return Some(format!("{why} (as {})", element.name()));
            }
        }
        None
    }

    /// The type of a copy: as asked for, as known, or as its contents look.
    fn element(&self, piece: &KeptPiece, other: &KeptPiece) -> Element {
        let named = self.question.element.or(piece.element.as_deref()).and_then(Element::by_name);
        let named = named.filter(|it| piece.bytes.len().is_multiple_of(it.size()));
        named.unwrap_or_else(|| Element::likely(&[&piece.bytes, &other.bytes]))
    }
}

/// Why a run is not to be used.
fn fault(run: &Observed) -> Option<(CandidateVerdict, String)> {
    let last = || {
        run.end.errors.lines().rev().map(str::trim).find(|it| !it.is_empty()).unwrap_or_default().to_owned()
    };
    if let Some(fault) = run.faults.first() {
        let verdict = if run.hangs { CandidateVerdict::Hangs } else { CandidateVerdict::Unsafe };
        return Some((verdict, one_line(fault)));
    }
    match run.end.limit {
        Some(Limit::Time) => return Some((CandidateVerdict::Hangs, run.end.why())),
        Some(_) => return Some((CandidateVerdict::Unsafe, run.end.why())),
        None => {}
    }
    match (run.end.code, run.end.signal) {
        (Some(0), _) if run.called || !run.results.is_empty() => None,
        (Some(0), _) => Some((
            CandidateVerdict::NotRun,
            "it never called the HIP runtime; `rockhound run -- PROGRAM` says which library it loads"
                .to_owned(),
        )),
        (Some(code), _) => {
            Some((CandidateVerdict::Wrong, format!("it ends with exit code {code}: {}", last())))
        }
        (None, _) => Some((CandidateVerdict::Unsafe, run.end.why())),
    }
}

/// The first copy that differs in any bit.
fn first_bits(one: &[KeptPiece], other: &[KeptPiece]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} and then {}", copies(one), copies(other)));
    }
    let at = one.iter().zip(other).position(|(a, b)| a.bytes != b.bytes)?;
    let (a, b) = (&one[at].bytes, &other[at].bytes);
    let byte = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    Some(format!("byte {byte} of copy {at} differs"))
}

fn copies(pieces: &[KeptPiece]) -> String {
    view::counted(pieces.len(), "copy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_scripts_and_what_the_system_starts() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mut code = b"\x7fELF".to_vec();
        code.resize(64, 0);
        let mut of_gpu = code.clone();
        of_gpu[18] = 224;
        for (name, contents, mode, expected) in [
            ("a.py", &b"import torch"[..], 0o644, true),
            ("program", &code, 0o755, true),
            ("script", b"#!/bin/sh\n", 0o755, true),
            ("data", b"1 2 3", 0o644, false),
            ("kernel.hsaco", &of_gpu, 0o755, false),
            ("libx.so", &code, 0o755, false),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, contents).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_program(&path), expected, "{name}");
        }
        assert!(!is_program(Path::new("/nowhere")));
    }
}
