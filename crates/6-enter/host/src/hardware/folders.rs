//! Folders of a recording on a GPU: one per pass, and with several ranks one per rank above them.
//!
//! A pass gets its name when it is complete, so an existing folder can be trusted.

use super::dispatches::Signature;
use super::{Request, Run, rocprofv3, signature};
use crate::recording;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folder of the pass that runs.
const RUNNING: &str = ".running";
/// Plan of the passes of a folder: a recording is resumed only if it is equal.
const PLAN: &str = ".rockhound-plan";
/// Folder of the run for times.
pub(super) const TIMES: &str = "times";

/// Signature of each rank; without ranks a single one with an empty name.
pub(super) type Signatures = BTreeMap<String, Signature>;

/// Folder that the profiler writes into.
pub(super) fn running(request: &Request) -> PathBuf {
    request.output.join(RUNNING)
}

/// Folder of the run for times, when it is whole.
pub(super) fn times(request: &Request) -> PathBuf {
    request.output.join(TIMES)
}

/// Makes the folder, or looks at the one that is to be resumed.
pub(super) fn prepare(request: &Request) -> Result<()> {
    let folder = &request.output;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    discard(request);
    let plan = describe(request);
    let file = folder.join(PLAN);
    if request.resume {
        let before = std::fs::read_to_string(&file)
            .with_context(|| format!("{} holds no recording that can be resumed", folder.display()))?;
        if before != plan {
            bail!(
                "{} was recorded with another program, other kernels or other counters\nhint: record into another folder with `-o`",
                folder.display()
            );
        }
    }
    write(folder, PLAN, &plan)?;
    if !request.tool.is_predecessor() {
        write(folder, rocprofv3::EXTRA_COUNTERS, &rocprofv3::extra_counters(&request.plan, &request.target))?;
    }
    if request.multiplexing.is_some() {
        write(folder, rocprofv3::GROUPS, &rocprofv3::groups(&request.plan.passes))?;
    }
    if request.launcher.is_none() {
        facts(request, folder)?;
    }
    Ok(())
}

/// Facts of the machine and settings of the recording, for whoever reads it.
fn facts(request: &Request, folder: &Path) -> Result<()> {
    write(folder, "sysinfo.csv", &workload::sysinfo(&request.facts))?;
    match request.multiplexing {
        Some(it) => {
            write(folder, "profiling_config.yaml", &format!("iteration_multiplexing: {}\n", it.setting()))
        }
        None => Ok(()),
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Settings that must be equal for passes to belong together.
fn describe(request: &Request) -> String {
    let Request { tool, target, launcher, program, kernels, samples, trace, repeat, multiplexing, .. } =
        request;
    let mut text = format!("{target}\n{launcher:?} {program:?}\n{kernels:?}\n{samples:?}\n{trace:?}\n");
    text += &format!("{repeat} {multiplexing:?} {}\n", tool.name());
    for pass in &request.plan.passes {
        text.push_str(&pass.counters.join(" "));
        text.push('\n');
    }
    text
}

/// Signatures of a pass's ranks, if it exists from an earlier run.
pub(super) fn kept(
    request: &Request,
    run: &Run<'_>,
    name: &str,
    first: Option<&Signatures>,
) -> Result<Option<Option<Signatures>>> {
    let places = if request.launcher.is_none() {
        BTreeMap::from([(String::new(), request.output.clone())])
    } else {
        ranks(&request.output)
    };
    let places: BTreeMap<String, PathBuf> = places
        .into_iter()
        .map(|(rank, folder)| (rank, folder.join(name)))
        .filter(|(_, it)| it.is_dir())
        .collect();
    // A pass whose ranks are not all there was interrupted while they got their names.
    if places.is_empty() || first.is_some_and(|first| first.len() != places.len()) {
        places.values().for_each(|folder| drop(std::fs::remove_dir_all(folder)));
        return Ok(None);
    }
    if matches!(run, Run::Samples(_) | Run::Trace(_)) || first.is_some() {
        return Ok(Some(None));
    }
    // Of a pass that was repeated the first run; the others were compared with it.
    let first_run = |folder: PathBuf| match (request.repeat, run) {
        (0 | 1, _) | (_, Run::Times) => folder,
        _ => folder.join(workload::repeated_run(1)),
    };
    let found: Result<Signatures> =
        places.into_iter().map(|(rank, folder)| Ok((rank, signature(&first_run(folder))?))).collect();
    found.map(|found| Some(Some(found)))
}

/// Folders of ranks: their names are numbers.
fn ranks(folder: &Path) -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    named.filter(|(name, path)| name.bytes().all(|b| b.is_ascii_digit()) && path.is_dir()).collect()
}

/// Signatures of a run, by rank.
pub(super) fn signatures(request: &Request, folder: &Path) -> Result<Signatures> {
    if request.launcher.is_none() {
        return Ok(BTreeMap::from([(String::new(), signature(folder)?)]));
    }
    let ranks = ranks(folder);
    if ranks.is_empty() {
        bail!(
            "no rank recorded anything\nhint: the profiler found no number of its rank; start it in each rank: `mpirun … rockhound profile --rank auto -- PROGRAM`"
        );
    }
    let one = |(rank, folder): (String, PathBuf)| {
        let found = signature(&folder).with_context(|| format!("rank {rank}"))?;
        Ok((rank, found))
    };
    ranks.into_iter().map(one).collect()
}

/// The first difference between what ranks recorded in two passes.
pub(super) fn difference(first: &Signatures, found: &Signatures) -> Option<String> {
    if first.len() != found.len() {
        return Some(format!("{} ranks, and before {}", found.len(), first.len()));
    }
    first.iter().zip(found).find_map(|((rank, first), (_, found))| {
        let text = first.difference(found)?;
        Some(if rank.is_empty() { text } else { format!("rank {rank}: {text}") })
    })
}

/// Gives a pass its name.
pub(super) fn keep(request: &Request, name: &str) -> Result<()> {
    let running = running(request);
    let of_ranks = |running: &Path, name: &Path| -> Vec<(PathBuf, PathBuf)> {
        let of_rank = |(rank, from): (String, PathBuf)| (from, request.output.join(rank).join(name));
        ranks(running).into_iter().map(of_rank).collect()
    };
    let moves = if request.launcher.is_none() {
        vec![(running.clone(), request.output.join(name))]
    } else if request.repeat > 1 {
        let runs = (1..=request.repeat).map(workload::repeated_run);
        runs.flat_map(|run| of_ranks(&running.join(&run), &Path::new(name).join(&run))).collect()
    } else {
        of_ranks(&running, Path::new(name))
    };
    for (from, to) in moves {
        if let (Some(above), Some(_)) = (to.parent(), &request.launcher) {
            std::fs::create_dir_all(above).with_context(|| format!("cannot make {}", above.display()))?;
            let rank = to.strip_prefix(&request.output).ok().and_then(|it| it.iter().next());
            facts(request, &request.output.join(rank.unwrap_or_default()))?;
        }
        std::fs::rename(&from, &to).with_context(|| format!("cannot make {}", to.display()))?;
    }
    let _ = std::fs::remove_dir_all(&running);
    Ok(())
}

/// Removes the files of a failed run.
pub(super) fn discard(request: &Request) {
    let _ = std::fs::remove_dir_all(running(request));
}

/// Refuses samples and traces that hold nothing.
pub(super) fn check_extra(folder: &Path, run: &Run<'_>) -> Result<()> {
    let (samples, hits) = match recording::read(&folder.into()) {
        Ok(it) => (
            it.samples.as_ref().map_or(0, workload::Samples::total),
            it.traces.as_ref().map_or(0, |it| it.total().hits),
        ),
        // A file without samples is not a recording; a file of kernels only is a timeline.
        Err(error)
            if ["no recording found", "is a timeline"].iter().any(|it| error.to_string().contains(it)) =>
        {
            (0, 0)
        }
        Err(error) => return Err(error).context("what the profiler wrote cannot be read"),
    };
    match run {
        Run::Times | Run::Counters(_) | Run::Rotating(_) => {}
        Run::Samples(_) if samples == 0 => bail!(
            "no sample was taken\nhint: the kernels are too short for this interval; `--pc-sampling-interval N` makes it shorter"
        ),
        Run::Trace(_) if hits == 0 => bail!(
            "the thread trace is empty: no kernel matched `-k`, no wave ran on the compute unit that is traced, or the decoder of traces is not installed\n\
             hint: the kernels have the names that `rockhound analyze` shows; a dispatch needs more workgroups than shader engines have compute units to be sure; the decoder is `librocprof-trace-decoder.so`"
        ),
        Run::Samples(_) | Run::Trace(_) => {}
    }
    Ok(())
}
