//! Per-instruction data of a recording: executions if emulated, otherwise samples of waves.
//!
//! A recording keeps the code objects that ran, so the folder alone is enough; a file that is given instead
//! must hold the very same instructions. Recordings of hardware keep no code.

use crate::Source;
use crate::kernels::{Judged, Selection, Watch, each_kernel};
use crate::recording::{self, Disk};
use analysis::workload::{select, selected_samples, selected_traces};
use analysis::{KernelEvidence, Mismatch, SampledBy};
use anyhow::{Result, anyhow};
use std::collections::BTreeSet;
use std::path::PathBuf;
use view::{Finding, Listing, Wanted};
use workload::{
    Folder, KernelRun, KernelSamples, KernelTrace, SampledKernel, Workload, code_object_file,
    is_sampled_kernel, plain_kernel_name,
};

/// The kernels of a recording with what their instructions did, or with the samples taken at them.
pub struct Recorded {
    folder: PathBuf,
    runs: Vec<KernelRun>,
    samples: Vec<KernelSamples>,
    sampled_by: SampledBy,
    traces: Vec<KernelTrace>,
    /// Files of the traces.
    traced_in: Vec<String>,
    /// Code objects in the folder, except those named like emulated ones.
    beside: Vec<PathBuf>,
    target: Option<String>,
    /// Code objects were given on the command line.
    given: bool,
}

impl Recorded {
    /// Reads the recording; `dispatches` selects as `analyze` does.
    pub fn read(source: &Source, dispatches: &[String], given: bool) -> Result<Recorded> {
        let (workload, disk) = recording::read_with_files(source)?;
        let wanted = Wanted { dispatches: dispatches.to_vec(), ..Wanted::default() };
        let (rows, _) = select(&workload, None, &wanted)?;
        Self::of_rows(&disk, &workload, &rows, given, source)
    }

    /// The same over dispatches that were selected before.
    pub fn of_dispatches(source: &Source, workload: &Workload, rows: &[u32]) -> Result<Recorded> {
        Self::of_rows(&recording::files_of(source)?, workload, rows, false, source)
    }

    fn of_rows(
        disk: &Disk,
        workload: &Workload,
        rows: &[u32],
        given: bool,
        source: &Source,
    ) -> Result<Recorded> {
        let name = source;
        let ids: BTreeSet<u64> = rows.iter().map(|row| workload.dispatches.id[*row as usize]).collect();
        let runs = workload::read_instructions(disk, &workload::Options::default(), &|id| ids.contains(&id));
        let runs = runs.map_err(|error| anyhow!("`{name}`: {error}"))?;
        if runs.is_none() && workload.samples.is_none() && workload.traces.is_none() {
            return Err(anyhow!(
                "`{name}` has neither `{}` nor samples of the program counter nor a thread trace, so it does not say \
                 what each instruction did\nhint: `rockhound profile --gpu mi300x -- PROGRAM` makes the first, \
                 `rocprofv3 --pc-sampling-beta-enabled` and `--att` take the others",
                workload::INSTRUCTIONS_FILE
            ));
        }
        let code = |name: &String| name.ends_with(".hsaco") || name.ends_with(".co");
        let beside = disk.names().into_iter().filter(code).map(|name| disk.folder.join(name)).collect();
        Ok(Recorded {
            folder: disk.folder.clone(),
            runs: runs.unwrap_or_default(),
            samples: selected_samples(workload, rows),
            sampled_by: workload.samples.as_ref().map(SampledBy::of).unwrap_or_default(),
            traces: selected_traces(workload, rows),
            traced_in: workload.traces.as_ref().map(|it| it.sources.clone()).unwrap_or_default(),
            beside,
            target: workload.machine.text("gpu_arch").map(str::to_owned),
            given,
        })
    }

    /// The code objects that the recording keeps. Samples are shown with the code objects in the folder.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.kept()?;
        if self.runs.is_empty() {
            files.clone_from(&self.beside);
        }
        if files.is_empty() {
            return Err(anyhow!(
                "`{}` does not hold the code that was {}\nhint: give the code object or the program as an \
                 argument, or copy it into the folder as `NAME.hsaco`",
                self.folder.display(),
                if self.samples.is_empty() { "traced" } else { "sampled" }
            ));
        }
        Ok(files)
    }

    /// Whether the recording holds code objects.
    pub fn has_code(&self) -> bool {
        !self.runs.is_empty() || !self.beside.is_empty()
    }

    /// Listings of the traced or sampled instructions of kernels whose code is not at hand, those in `shown`
    /// left out. Of a kernel that was both traced and sampled the trace has more instructions.
    pub fn measured_listings(&self, shown: &BTreeSet<String>) -> Vec<Listing> {
        let new = |kernel: &SampledKernel| !shown.iter().any(|name| is_sampled_kernel(kernel, name));
        let traced = self.traces.iter().filter(|it| new(&it.kernel));
        let mut listings: Vec<Listing> =
            traced.map(|it| analysis::traced_listing(it, &self.traced_in)).collect();
        let is_listed = |it: &&KernelSamples| {
            !self.traces.iter().any(|trace| is_sampled_kernel(&it.kernel, &trace.kernel.name))
        };
        let sampled = self.samples.iter().filter(|it| new(&it.kernel)).filter(is_listed);
        listings.extend(sampled.map(|it| analysis::sampled_listing(it, &self.sampled_by)));
        listings
    }

    /// The code objects of emulated kernels.
    fn kept(&self) -> Result<Vec<PathBuf>> {
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
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Linker names and names as shown of the kernels that ran.
    pub fn kernels(&self) -> BTreeSet<String> {
        let names = self.runs.iter().flat_map(|run| [run.symbol.clone(), run.kernel.clone()]);
        let sampled = self.samples.iter().map(|it| &it.kernel).chain(self.traces.iter().map(|it| &it.kernel));
        let sampled = sampled.flat_map(|it| [it.symbol.clone(), plain_kernel_name(&it.name).to_owned()]);
        names.chain(sampled).filter(|name| !name.is_empty()).collect()
    }

    /// Adds per-instruction data to the listing of a kernel, and findings from that data to its findings.
    pub fn add_to(&self, listing: &mut Listing, judged: &mut Judged<'_, '_>) -> Result<()> {
        let (evidence, file) = (judged.evidence, judged.file);
        self.add_samples_to(listing, evidence, file)?;
        self.add_trace_to(listing, evidence, file)?;
        self.add_run_to(listing, evidence, file)?;
        analysis::measure_findings(&mut judged.findings, listing, evidence);
        Ok(())
    }

    /// Adds the per-instruction data of an emulated kernel.
    fn add_run_to(&self, listing: &mut Listing, evidence: &KernelEvidence<'_>, file: &str) -> Result<()> {
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

    /// Adds the thread trace of a kernel.
    fn add_trace_to(&self, listing: &mut Listing, evidence: &KernelEvidence<'_>, file: &str) -> Result<()> {
        let kernel = evidence.kernel;
        let of_it = |trace: &&KernelTrace| {
            [&kernel.name, &kernel.demangled].iter().any(|name| is_sampled_kernel(&trace.kernel, name))
        };
        let Some(trace) = self.traces.iter().find(of_it) else { return Ok(()) };
        analysis::add_trace(listing, evidence, trace, &self.traced_in).map_err(|mismatch| {
            anyhow!(
                "`{file}` is not the code of `{}` that was traced: {mismatch}\nhint: give the code object that ran",
                kernel.demangled
            )
        })
    }

    /// Adds the samples of a kernel.
    fn add_samples_to(&self, listing: &mut Listing, evidence: &KernelEvidence<'_>, file: &str) -> Result<()> {
        let kernel = evidence.kernel;
        let of_it = |samples: &&KernelSamples| {
            [&kernel.name, &kernel.demangled].iter().any(|name| is_sampled_kernel(&samples.kernel, name))
        };
        let Some(samples) = self.samples.iter().find(of_it) else { return Ok(()) };
        analysis::add_samples(listing, evidence, samples, &self.sampled_by).map_err(|mismatch| {
            anyhow!(
                "`{file}` is not the code of `{}` that was sampled: {mismatch}\nhint: give the code object that ran",
                kernel.demangled
            )
        })
    }
}

/// Listings of all kernels of a recording with what their instructions did, and the findings on their code,
/// in the order in which the code objects hold them; those that were sampled without code come last.
pub fn listings(
    source: &Source,
    dispatches: &[String],
    watch: impl Watch,
) -> Result<Vec<(Listing, Vec<Finding>)>> {
    let recorded = Recorded::read(source, dispatches, false)?;
    let mut out = Vec::new();
    let mut shown = BTreeSet::new();
    if recorded.has_code() {
        let selection = Selection::new(None, &[])?.recorded(recorded.kernels(), recorded.target());
        each_kernel(
            &recorded.files()?,
            &selection,
            watch,
            |mut judged| {
                let mut listing = judged.listing();
                recorded.add_to(&mut listing, &mut judged).map(|()| (listing, judged.findings))
            },
            |listing| {
                let (listing, findings) = listing?;
                shown.insert(listing.kernel.clone());
                out.push((listing, findings));
                Ok(())
            },
        )?;
    }
    out.extend(recorded.measured_listings(&shown).into_iter().map(|listing| (listing, Vec::new())));
    Ok(out)
}
