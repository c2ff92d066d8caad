//! What an emulated recording says of the instructions of its kernels.
//!
//! The one idea to keep in mind: a recording keeps the code objects that ran, so the folder alone is enough; a file that
//! is given instead must hold the very same instructions.

use crate::exit::usage;
use crate::kernels::{Selection, each_kernel};
use analysis::workload::{Wanted, select};
use analysis::{KernelEvidence, Mismatch};
use anyhow::{Result, anyhow};
use host::recording::{self, Disk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use view::{Finding, Listing};
use workload::{KernelRun, code_object_file};

/// The kernels of a recording with what their instructions did.
pub(crate) struct Recorded {
    folder: PathBuf,
    runs: Vec<KernelRun>,
    target: Option<String>,
    /// Code objects were given on the command line.
    given: bool,
}

impl Recorded {
    /// Reads the recording; `dispatches` selects as `analyze` does.
    pub(crate) fn read(folder: &Path, dispatches: &[String], given: bool) -> Result<Recorded> {
        let (workload, disk) = recording::read_with_files(folder)?;
        let wanted = Wanted { dispatches: dispatches.to_vec(), ..Wanted::default() };
        let (rows, _) = select(&workload, None, &wanted).map_err(|error| usage(error.message, error.hint))?;
        let ids: BTreeSet<u64> = rows.iter().map(|row| workload.dispatches.id[*row as usize]).collect();
        let target = workload.machine.text("gpu_arch").map(str::to_owned);
        Self::read_runs(&disk, &ids, target, given, folder)
    }

    /// The same over dispatches that were selected before.
    pub(crate) fn of_dispatches(
        folder: &Path,
        ids: &BTreeSet<u64>,
        target: Option<String>,
    ) -> Result<Recorded> {
        Self::read_runs(&recording::files(folder)?, ids, target, false, folder)
    }

    fn read_runs(
        disk: &Disk,
        ids: &BTreeSet<u64>,
        target: Option<String>,
        given: bool,
        folder: &Path,
    ) -> Result<Recorded> {
        let name = folder.display();
        let runs = workload::read_instructions(disk, &workload::Options::default(), &|id| ids.contains(&id));
        let runs = runs.map_err(|error| anyhow!("`{name}`: {error}"))?.ok_or_else(|| {
            anyhow!(
                "`{name}` has no `{}`: only an emulated recording says what each instruction did\nhint: `rockhound \
                 profile --gpu mi300x -- PROGRAM` makes one",
                workload::INSTRUCTIONS_FILE
            )
        })?;
        Ok(Recorded { folder: disk.folder.clone(), runs, target, given })
    }

    /// The code objects that the recording keeps.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = Vec::new();
        for run in &self.runs {
            let path = self.folder.join(code_object_file(&run.code));
            if run.code.is_empty() || !path.is_file() {
                return Err(anyhow!(
                    "`{}` does not keep the code of `{}`\nhint: give the code object as an argument",
                    self.folder.display(),
                    run.kernel
                ));
            }
            if !files.contains(&path) {
                files.push(path);
            }
        }
        Ok(files)
    }

    /// Target that was emulated.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Linker names and names as shown of the kernels that ran.
    pub(crate) fn kernels(&self) -> BTreeSet<String> {
        let names = self.runs.iter().flat_map(|run| [run.symbol.clone(), run.kernel.clone()]);
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Adds to the listing of a kernel of `file` what its instructions did.
    pub(crate) fn add_to(
        &self,
        listing: &mut Listing,
        evidence: &KernelEvidence<'_>,
        file: &str,
    ) -> Result<()> {
        let kernel = evidence.kernel;
        let mut refused: Option<(Mismatch, &KernelRun)> = None;
        for run in &self.runs {
            let named = if run.symbol.is_empty() {
                run.kernel == kernel.demangled || run.kernel == kernel.name
            } else {
                run.symbol == kernel.name
            };
            if !named || !self.given && !file.ends_with(&code_object_file(&run.code)) {
                continue;
            }
            match analysis::add_run(listing, evidence, run) {
                Ok(()) => return Ok(()),
                Err(mismatch) => refused = refused.or(Some((mismatch, run))),
            }
        }
        let Some((mismatch, run)) = refused else { return Ok(()) };
        let kept = self.folder.join(code_object_file(&run.code));
        let hint = if kept.is_file() && !run.code.is_empty() {
            format!("the code that ran is kept in `{}`, and used when no file is given", kept.display())
        } else {
            "give the code object that ran, or record again".to_owned()
        };
        Err(anyhow!(
            "`{file}` is not the code of `{}` that was recorded: {mismatch}\nhint: {hint}",
            run.kernel
        ))
    }
}

/// Listings of all kernels of a recording with what their instructions did, and the findings on their code, in the order in
/// which the code objects hold them.
pub(crate) fn listings(folder: &Path, dispatches: &[String]) -> Result<Vec<(Listing, Vec<Finding>)>> {
    let recorded = Recorded::read(folder, dispatches, false)?;
    let selection = Selection::new(None, &[])?.recorded(recorded.kernels(), recorded.target());
    let mut out = Vec::new();
    each_kernel(
        &recorded.files()?,
        &selection,
        |judged| {
            let mut listing = analysis::listing(judged.evidence, &judged.findings);
            let added = recorded.add_to(&mut listing, judged.evidence, judged.file);
            added.map(|()| (listing, judged.findings))
        },
        |listing| {
            out.push(listing?);
            Ok(())
        },
    )?;
    Ok(out)
}
