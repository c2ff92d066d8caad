//! rocprof and rocprofv2: their command lines, and conversion of their output to rocprofv3's format.
//!
//! They write a row per dispatch and a column per counter, and call the sum of any level by the one name of
//! its register. A pass is rewritten with a row per counter, in which a level has its own name, so that
//! readers of recordings know one form. The profiler's file is kept beside it.
//!
//! Counting distorts the times of a run: times come from a separate run without counters.
//!
//! Source: their scripts and documentation, and the input files and outputs that Omniperf kept of both.

use super::rocprofv3::{ACCUMULATED, ACCUMULATOR, CommandLine};
use super::tool::Tool;
use super::{Request, Run, folders};
use crate::session::KernelNames;
use anyhow::{Context, Result, bail};
use counters::{Pass, Per, catalogue};
use sorting::Sort;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use workload::{Workload, plain_kernel_name};

/// File with the counters of a run, in its folder.
pub(super) const INPUT: &str = "input.txt";
/// Name of what rocprofv2 writes, which it puts `results_` before and a folder around.
const OUTPUT: &str = "pass";
/// Deepest folder that output is looked for in.
const DEPTH: usize = 3;

/// The command of a run that writes into a folder; an error names the feature that the profiler lacks.
pub(super) fn command(request: &Request, run: &Run<'_>, folder: &Path) -> Result<CommandLine, String> {
    let tool = request.tool;
    if !matches!(run, Run::Times | Run::Counters(_)) || request.launcher.is_some() {
        return Err(format!("{} counts in one process, and nothing else", tool.name()));
    }
    let mut words: Vec<OsString> = vec!["-i".into(), folder.join(INPUT).into()];
    words.extend(match tool {
        Tool::Rocprof => ["--timestamp".into(), "on".into(), "-o".into(), own_file(tool, folder, 1).into()],
        _ => ["-d".into(), folder.into(), "-o".into(), OUTPUT.into()],
    });
    words.extend(request.program.iter().cloned());
    Ok(CommandLine { program: request.profiler.clone(), arguments: words, silent: false, limit: None })
}

/// The input file of a run.
pub(super) fn input(run: &Run<'_>) -> String {
    let names = match run {
        Run::Counters(pass) => pass.counters.iter().map(|name| asked_for(name)).collect(),
        _ => Vec::new(),
    };
    let pmc: String = names.iter().map(|name| format!(" {name}")).collect();
    format!("pmc:{pmc}\n\ngpu:\nrange:\nkernel:\n")
}

/// Name by which a plan's counter is requested. For blocks with many instances a plain name means the first
/// instance, but the sum is wanted.
fn asked_for(name: &str) -> String {
    let block = catalogue().find(name).map(|it| catalogue().block(it.definition).per);
    match block {
        Some(Per::Cu | Per::Channel) => format!("{name}_sum"),
        _ => name.to_owned(),
    }
}

/// File of the profiler's own, as it is kept.
fn own_file(tool: Tool, folder: &Path, number: usize) -> PathBuf {
    let more = if number > 1 { format!("-{number}") } else { String::new() };
    folder.join(format!("{}{more}.csv", tool.name()))
}

/// Makes the folder of a run with its input file.
pub(super) fn prepare(run: &Run<'_>, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join(INPUT);
    std::fs::write(&file, input(run)).with_context(|| format!("cannot write {}", file.display()))
}

/// Converts the profiler's output in a folder to rocprofv3's format.
pub(super) fn translate(request: &Request, run: &Run<'_>, folder: &Path) -> Result<()> {
    let read = collect(request.tool, folder)?;
    let kernels = KernelNames::new(&request.kernels);
    let times = match run {
        Run::Times => None,
        _ => {
            let of_times = folders::times(request);
            Some(
                crate::recording::read(&of_times.as_path().into())
                    .context("the run for times cannot be read")?,
            )
        }
    };
    let (pass, file) = match run {
        Run::Counters(pass) => (Some(*pass), "counter_collection.csv"),
        _ => (None, "kernel_trace.csv"),
    };
    for (number, workload) in read.iter().enumerate() {
        // Where several processes wrote files, which of them a time belongs to cannot be told.
        let times = times.as_ref().filter(|_| read.len() == 1);
        let table = table(workload, pass, times, &kernels)?;
        let path = folder.join(format!("{OUTPUT}_{}_{file}", number + 1));
        std::fs::write(&path, table).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Reads the profiler's files, and gives them the names that they are kept by.
fn collect(tool: Tool, folder: &Path) -> Result<Vec<Workload>> {
    let mut found = Vec::new();
    csv_below(folder, DEPTH, &mut found);
    found.in_order();
    if found.is_empty() {
        bail!(
            "{} wrote no table\nhint: what it said is above; did the program launch a kernel, and can it run without the profiler?",
            tool.name()
        );
    }
    let mut all = Vec::new();
    for (number, from) in (1..).zip(&found) {
        let to = own_file(tool, folder, number);
        if *from != to {
            std::fs::rename(from, &to).with_context(|| format!("cannot move {}", from.display()))?;
        }
        let bytes = std::fs::read(&to).with_context(|| format!("cannot read {}", to.display()))?;
        // The reader knows the form by this name.
        let files = BTreeMap::from([("results.csv".to_owned(), bytes)]);
        let read = workload::read(&files, &workload::Options::default());
        all.push(read.with_context(|| format!("what {} wrote cannot be read", tool.name()))?);
    }
    Ok(all)
}

fn csv_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && depth > 0 {
            csv_below(&path, depth - 1, found);
        } else if path.extension().is_some_and(|it| it == "csv") {
            found.push(path);
        }
    }
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |it| it.to_string())
}

/// A row per dispatch and counter, or per dispatch where no pass is given.
fn table(
    workload: &Workload,
    pass: Option<&Pass>,
    times: Option<&Workload>,
    kernels: &KernelNames,
) -> Result<Vec<u8>> {
    let d = &workload.dispatches;
    let name = |row: usize| plain_kernel_name(workload.kernel_of(row));
    let mut rows: Vec<usize> = (0..d.len()).filter(|row| kernels.admit(name(*row))).collect();
    rows.in_order_by_key(|row| d.id[*row]);
    // Whether both runs had the same dispatches is checked afterwards.
    let times = times.filter(|it| it.dispatches.len() == rows.len()).map(|it| {
        let mut order: Vec<usize> = (0..it.dispatches.len()).collect();
        order.in_order_by_key(|row| it.dispatches.id[*row]);
        (it, order)
    });
    let mut out = csv::Writer::from_writer(Vec::new());
    let head = [
        "Dispatch_Id",
        "Agent_Id",
        "Grid_Size",
        "Kernel_Name",
        "Workgroup_Size",
        "LDS_Block_Size",
        "Scratch_Size",
        "VGPR_Count",
        "Accum_VGPR_Count",
        "SGPR_Count",
        "Start_Timestamp",
        "End_Timestamp",
    ];
    let counted: &[&str] = if pass.is_some() { &["Counter_Name", "Counter_Value"] } else { &[] };
    out.write_record(head.iter().chain(counted))?;
    let one = |times: &[Option<i64>], row: usize| times.get(row).copied().flatten();
    for (at, row) in rows.into_iter().enumerate() {
        let (start, end) = match (&times, pass) {
            (Some((it, order)), _) => {
                (one(&it.dispatches.start, order[at]), one(&it.dispatches.end, order[at]))
            }
            (None, None) => (one(&d.start, row), one(&d.end, row)),
            (None, Some(_)) => (None, None),
        };
        let mut fields =
            vec![d.id[row].to_string(), cell(d.gpu.get(row)), cell(d.grid.get(row)), name(row).to_owned()];
        let sizes = [&d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr];
        fields.extend(sizes.map(|it| cell(it.get(row))));
        fields.extend([cell(start), cell(end)]);
        let Some(pass) = pass else {
            out.write_record(&fields)?;
            continue;
        };
        for counter in workload.counters.iter() {
            let Some(value) = counter.values.get(row) else { continue };
            let level = pass.level.as_deref();
            // A level itself, at the end of a dispatch, says nothing.
            if level == Some(counter.name.as_str()) {
                continue;
            }
            let counter = match level {
                Some(level) if counter.name == ACCUMULATOR => format!("{level}{ACCUMULATED}"),
                _ => counter.name.clone(),
            };
            out.write_record(fields.iter().chain(&[counter, value.to_string()]))?;
        }
    }
    Ok(out.into_inner()?)
}

#[cfg(test)]
mod tests;
