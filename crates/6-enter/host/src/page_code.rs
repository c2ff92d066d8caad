//! Code of the kernels of a recording, with the data of every instruction, and their source if found.
//!
//! Names of source files come from debug information, which may name any file; only what has the name of a
//! source file is read.

use crate::Source;
use crate::instructions::Recorded;
use crate::kernels::{Selection, Watch, each_kernel};
use analysis::workload::Subject;
use sorting::Sort;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use view::{PageCode, PageKernel, Resources, SourceText};
use workload::INSTRUCTIONS_FILE;

/// Instructions of all kernels together that are put into a page.
const INSTRUCTIONS: usize = 60_000;
/// Largest source file that is put into a page, bytes.
const SOURCE: u64 = 1 << 20;
/// Extensions of source files.
const EXTENSIONS: &[&str] = &[
    "c", "cc", "cpp", "cu", "cuh", "cxx", "f90", "h", "hh", "hip", "hpp", "hxx", "inc", "inl", "ll", "mlir",
    "py", "s", "tpp", "ttgir", "ttir",
];

/// Code of the kernels that are shown, most time first.
pub fn of(
    source: &Source,
    subject: &Subject,
    kernels: &[PageKernel],
    mut watch: impl Watch,
) -> Vec<PageCode> {
    let w = &subject.workload;
    if !has_instructions(source.path()) && w.samples.is_none() && w.traces.is_none() {
        return Vec::new();
    }
    match read(source, subject, kernels, &mut watch) {
        Ok(code) => code,
        Err(error) => {
            watch.say(&format!("warning: code is not shown: {error:#}"));
            Vec::new()
        }
    }
}

/// True if the recording has per-instruction data.
fn has_instructions(path: &Path) -> bool {
    let below = |folder: &Path| folder.join(INSTRUCTIONS_FILE).is_file();
    let entries = || std::fs::read_dir(path).into_iter().flatten().flatten();
    below(path) || entries().any(|entry| below(&entry.path()))
}

fn read(
    source: &Source,
    subject: &Subject,
    kernels: &[PageKernel],
    watch: &mut impl Watch,
) -> anyhow::Result<Vec<PageCode>> {
    let recorded = Recorded::of_dispatches(source, &subject.workload, &subject.rows)?;
    let mut out = if recorded.has_code() { of_files(&recorded, kernels, watch)? } else { Vec::new() };
    let shown: BTreeSet<String> = out.iter().map(|code| code.kernel.clone()).collect();
    out.extend(recorded.measured_listings(&shown).into_iter().map(|listing| PageCode {
        file: {
            let traced = listing.trace.as_ref().map(|it| &it.sources);
            let sources = traced.or_else(|| listing.samples.as_ref().map(|it| &it.sources));
            sources.map_or_else(String::new, |it| it.join(", "))
        },
        kernel: listing.kernel.clone(),
        resources: Resources::default(),
        listing,
        findings: Vec::new(),
        sources: Vec::new(),
    }));
    let place = |code: &PageCode| kernels.iter().position(|k| k.name == code.kernel).unwrap_or(usize::MAX);
    out.in_order_by_key(place);
    let mut room = INSTRUCTIONS;
    out.retain(|code| {
        let fits = code.listing.lines.len() <= room;
        room -= if fits { code.listing.lines.len() } else { 0 };
        fits
    });
    for code in &mut out {
        code.sources = sources(code, source.path());
    }
    Ok(out)
}

/// Code of the kernels whose code objects the recording holds.
fn of_files(
    recorded: &Recorded,
    kernels: &[PageKernel],
    watch: &mut impl Watch,
) -> anyhow::Result<Vec<PageCode>> {
    let selection = Selection::new(None, &[])?;
    let selection = selection.recorded(recorded.kernels(), recorded.target());
    let mut out: Vec<PageCode> = Vec::new();
    each_kernel(
        &recorded.files()?,
        &selection,
        watch,
        |mut judged| {
            let mut listing = judged.listing();
            let refused = recorded.add_to(&mut listing, &mut judged).err();
            let kernel = judged.evidence.kernel;
            (
                refused,
                PageCode {
                    file: judged.file.to_owned(),
                    kernel: [&kernel.demangled, &kernel.name]
                        .into_iter()
                        .find(|name| kernels.iter().any(|k| k.name == **name))
                        .unwrap_or(&kernel.demangled)
                        .clone(),
                    resources: judged.evidence.resources.clone(),
                    listing,
                    findings: judged.findings,
                    sources: Vec::new(),
                },
            )
        },
        |(refused, code)| {
            if let Some(error) = refused {
                return Err(error);
            }
            // Code that did not run in the selected dispatches says nothing.
            if code.listing.run.is_some() || code.listing.samples.is_some() || code.listing.trace.is_some() {
                out.push(code);
            }
            Ok(())
        },
    )?;
    Ok(out)
}

/// The existing source files that a listing names.
fn sources(code: &PageCode, folder: &Path) -> Vec<SourceText> {
    let names: BTreeSet<&str> =
        code.listing.lines.iter().filter_map(|l| l.source.as_ref()).map(|s| s.file.as_str()).collect();
    names
        .into_iter()
        .filter_map(|name| {
            let is_source = Path::new(name)
                .extension()
                .is_some_and(|e| EXTENSIONS.contains(&e.to_string_lossy().to_ascii_lowercase().as_str()));
            let places = [PathBuf::from(name), folder.join(name)];
            let path = places.iter().find(|path| is_source && path.is_file())?;
            let small = path.metadata().is_ok_and(|meta| meta.len() <= SOURCE);
            let text = small.then(|| std::fs::read_to_string(path).ok()).flatten()?;
            Some(SourceText { file: name.to_owned(), lines: text.lines().map(str::to_owned).collect() })
        })
        .collect()
}
