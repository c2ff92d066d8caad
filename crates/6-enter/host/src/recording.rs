//! A recording on disk: a folder, or a single file.
//!
//! Files are listed by name and opened only when the reader asks for them.

use crate::{Contents, Source, strangers};
use anyhow::{Result, anyhow};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use view::shell_word;
use workload::{Folder, Problem, Workload, plain_kernel_name};

/// Deepest folder looked into; rocprofv3 makes one per host, others none.
const DEPTH: usize = 3;
/// Deepest folder searched for recordings: folders of ranks contain folders of passes and hosts.
const FIND_DEPTH: usize = 6;
/// Tables of one folder that are opened while recordings are looked for.
const LOOKED_INTO: usize = 1000;
/// Most files looked at while recordings are looked for.
const LOOKED_AT: usize = 200_000;
/// Most files listed; a recording has a few dozen.
const FILES: usize = 10_000;

/// The files of a recording, opened when they are read.
pub struct Disk {
    /// The folder that holds them.
    pub folder: PathBuf,
    files: BTreeMap<String, (PathBuf, OnceCell<Contents>)>,
    /// Requested files, if not all were.
    named: Vec<String>,
}

impl Disk {
    /// Paths of the files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.values().map(|(path, _)| path.as_path())
    }
}

impl Folder for Disk {
    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String> {
        let (path, cell) = self.files.get(name).ok_or("no such file")?;
        if cell.get().is_none() {
            let contents = Contents::open(path).map_err(|error| error.to_string())?;
            let _ = cell.set(contents);
        }
        Ok(Cow::Borrowed(cell.get().map_or(&[], |contents| contents.bytes())))
    }

    fn named(&self) -> Vec<String> {
        self.named.clone()
    }
}

/// Reads a recording; an error names its address.
pub fn read(source: &Source) -> Result<Workload> {
    read_with_files(source).map(|(workload, _)| workload)
}

/// Reads a recording, and gives its files too.
pub fn read_with_files(source: &Source) -> Result<(Workload, Disk)> {
    let path = source.open()?;
    let told = |error: anyhow::Error| anyhow!("{}", source.told(&format!("{error:#}")));
    let disk = files(path).map_err(told)?;
    let workload = read_disk(&disk).map_err(|error| told(explain(path, &disk, &error)))?;
    Ok((workload, disk))
}

/// One of the runs in a folder.
pub struct Run {
    /// Its name; empty if the folder is one run.
    pub name: String,
    /// The address that reads it alone: its file, or its name in a folder with several.
    pub source: Source,
    /// The recording.
    pub workload: Workload,
}

/// Reads the runs of a folder, each as a recording.
pub fn read_runs(source: &Source) -> Result<Vec<Run>> {
    let path = source.open()?;
    let mut disk = files(path)?;
    let runs = match read_disk(&disk) {
        Ok(workload) => return Ok(vec![Run { name: String::new(), source: source.clone(), workload }]),
        Err(workload::Error::SeveralRuns { runs, .. }) => runs,
        Err(error) => return Err(explain(path, &disk, &error)),
    };
    let mut read = Vec::new();
    for files in runs {
        let first = files.first().map_or("", String::as_str);
        let name = run_name(first).to_owned();
        let own = disk.folder.join(if files.len() == 1 { first } else { &name });
        disk.named = files;
        let workload = read_disk(&disk).map_err(|error| explain(&own, &disk, &error))?;
        read.push(Run { name, source: own.into(), workload });
    }
    Ok(read)
}

/// The runs of a folder as one recording, each as a rank.
pub fn read_merged_runs(source: &Source) -> Result<Workload> {
    let mut runs = read_runs(source)?;
    if runs.len() == 1 {
        return Ok(runs.remove(0).workload);
    }
    let runs = runs.into_iter().map(|run| (run.name, run.workload)).collect();
    workload::merge(runs).map_err(|differs| {
        anyhow!(
            "`{}`: the runs are not of one kind of GPU: {differs}\nhint: `--runs` shows them side by side; or give one path",
            source
        )
    })
}

/// True if several runs with counters are at an address, so that one must be chosen.
pub fn holds_runs(source: &Source) -> bool {
    let path = source.path();
    let several =
        |disk: Disk| matches!(read_disk(&disk), Err(workload::Error::SeveralRuns { counted: true, .. }));
    files(path).is_ok_and(several)
}

/// Name of a run by its first file, without the profiler's suffixes.
fn run_name(file: &str) -> &str {
    let added = ["_counter_collection.csv", "_kernel_trace.csv", "_results.db", ".csv", ".db"];
    added.iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file)
}

fn read_disk(disk: &Disk) -> Result<Workload, workload::Error> {
    let mut workload = workload::read(disk, &workload::Options::default())?;
    let unread = unread(disk, &workload);
    workload.problems.extend(unread);
    for kernel in &mut workload.kernels {
        let plain = plain_kernel_name(kernel);
        if plain.starts_with("_Z") {
            *kernel = codeobj::demangle(plain);
        }
    }
    let sampled = workload.samples.iter_mut().flat_map(|samples| &mut samples.kernels);
    let traced = workload.traces.iter_mut().flat_map(|traces| &mut traces.kernels);
    for kernel in sampled.chain(traced) {
        let plain = plain_kernel_name(&kernel.name);
        if plain.starts_with("_Z") {
            kernel.name = codeobj::demangle(plain);
        }
    }
    Ok(workload)
}

/// Files of the folder that were not read.
fn unread(disk: &Disk, workload: &Workload) -> Vec<Problem> {
    let timeless = workload.dispatches.start.iter().all(Option::is_none);
    // Beside a file that was asked for only times are of interest, where it has none.
    if !disk.named.is_empty() && !timeless {
        return Vec::new();
    }
    let known: BTreeSet<&str> = workload
        .sources
        .iter()
        .map(String::as_str)
        .chain(workload.problems.iter().map(|problem| problem.file.as_str()))
        .collect();
    let is_known = |name: &str| known.contains(name) || workload::is_companion(name);
    let files = disk.files.iter().map(|(name, (path, _))| (name.as_str(), path.as_path()));
    let unknown = files.filter(|(name, _)| !is_known(name.strip_suffix(".gz").unwrap_or(name)));
    if disk.named.is_empty() {
        return strangers::notes(unknown, "no part of the recording, and not used");
    }
    let times = unknown
        .filter(|(name, path)| !disk.named.iter().any(|it| it == name) && strangers::holds_times(path));
    strangers::notes(times, "its times are not used: the dispatches may be others")
}

/// The error of a path, with the command that reads its contents.
fn explain(path: &Path, disk: &Disk, error: &workload::Error) -> anyhow::Error {
    let name = path.display();
    let typed = shell_word(&path.to_string_lossy()).into_owned();
    match error {
        workload::Error::SeveralRuns { runs, .. } => {
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default();
            let one = runs.first().and_then(|files| Some((files.len(), files.first()?)));
            let one = one.map_or_else(String::new, |(count, file)| {
                // The path of one file reads that file alone.
                let path = disk.folder.join(if count == 1 { file } else { run_name(file) });
                format!("; `rockhound analyze -p {}` one of them", shell_word(&path.to_string_lossy()))
            });
            anyhow!(
                "`{name}` holds {message}: each counts what another counts, or launches other kernels\nhint: `rockhound analyze -p {typed} --runs` shows them side by side, `--runs=merged` as one{one}"
            )
        }
        workload::Error::NoRecording { .. } if disk.files.values().any(|(file, _)| is_timeline(file)) => {
            anyhow!(
                "`{name}` is a timeline, and holds no counters\nhint: `rockhound trace {typed}` says where its time goes"
            )
        }
        workload::Error::NoRecording { .. } => {
            let instead = disk.named.first().and_then(|file| strangers::instead(&disk.folder.join(file)));
            instead.map_or_else(|| anyhow!("`{name}`: {error}"), |it| anyhow!("`{name}` is {it}"))
        }
        _ => anyhow!("`{name}`: {error}"),
    }
}

/// True if a file is a non-empty timeline.
fn is_timeline(file: &Path) -> bool {
    let read = || trace::read(&file.to_string_lossy(), &mut std::fs::File::open(file).ok()?).ok();
    read().is_some_and(|it| !it.gpu.is_empty() || !it.host.is_empty())
}

/// Lists the files of a recording.
pub fn files_of(source: &Source) -> Result<Disk> {
    files(source.open()?)
}

fn files(path: &Path) -> Result<Disk> {
    let name = path.display();
    let mut disk = Disk { folder: path.to_owned(), files: BTreeMap::new(), named: Vec::new() };
    if path.is_dir() {
        let folder = match &recordings_in(path)[..] {
            [] => path.to_owned(),
            [one] => one.clone(),
            several => return Err(several_recordings(path, several)),
        };
        disk.folder.clone_from(&folder);
        // The folder name of a thread trace gives its dispatch; the folder name of a repeated pass marks its
        // runs as one recording.
        let own = own_name(&folder);
        let own = own.filter(|it| workload::is_thread_trace_folder(it) || is_repeated_pass(&folder));
        let prefix = own.map_or_else(String::new, |it| format!("{it}/"));
        list(&folder, &prefix, DEPTH, &mut disk.files).map_err(|error| anyhow!("`{name}`: {error}"))?;
    } else if path.exists() {
        let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        disk.folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        for beside in beside(&disk.folder, &file) {
            let path = disk.folder.join(&beside);
            disk.files.insert(beside, (path, OnceCell::new()));
        }
        disk.files.insert(file.clone(), (path.to_owned(), OnceCell::new()));
        disk.named.push(file);
    } else if let Some(run) = run_named(path) {
        return Ok(run);
    } else {
        return Err(anyhow!("`{name}`: no such file or folder"));
    }
    Ok(disk)
}

/// Whether something is at an address.
pub fn exists(source: &Source) -> bool {
    let path = source.path();
    path.exists() || run_named(path).is_some()
}

/// One of the runs in a folder: `FOLDER/NAME`, where no file has that name.
fn run_named(path: &Path) -> Option<Disk> {
    let (folder, name) = (path.parent().filter(|it| it.is_dir())?, path.file_name()?.to_string_lossy());
    let mut disk = files(folder).ok()?;
    let Err(workload::Error::SeveralRuns { runs, .. }) = read_disk(&disk) else { return None };
    disk.named = runs.into_iter().find(|files| files.first().is_some_and(|file| run_name(file) == name))?;
    Some(disk)
}

/// Files with facts on every recording in their folder.
const OF_THE_FOLDER: [&str; 3] = ["sysinfo.csv", "roofline.csv", "profiling_config.yaml"];

/// Companions of a file: facts of the machine, and further output of the profiler.
fn beside(folder: &Path, file_name: &str) -> Vec<String> {
    let file = file_name.strip_suffix(".gz").unwrap_or(file_name);
    let stem = run_name(file);
    let plain_folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(plain_folder).into_iter().flatten().flatten();
    let names = entries.take(FILES).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_own = |name: &String| {
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        let own = plain.strip_prefix(stem).is_some_and(|it| it == "_kernel_trace.csv");
        let level = file == "pmc_perf.csv" && (workload::is_level_file(plain) || plain == "timestamps.csv");
        plain != file && (own || level || plain.ends_with("agent_info.csv") || OF_THE_FOLDER.contains(&plain))
    };
    // A table of counters without times may find them in another table.
    let counts = Contents::open(&plain_folder.join(file_name))
        .is_ok_and(|contents| workload::has_counters(contents.bytes()));
    let has_times =
        |name: &String| counts && name != file_name && strangers::holds_times(&plain_folder.join(name));
    names.filter(|name| is_own(name) || has_times(name)).collect()
}

/// The folders that are recordings: the folder itself, or folders below it. Profilers write
/// `NAME/MI200/pmc_perf.csv`, and a folder for each rank or GPU if there are several.
pub fn recordings_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    find(folder, FIND_DEPTH, &mut 0, &mut found);
    let mut folders: Vec<PathBuf> = found.iter().map(|below| root(folder, below)).collect();
    folders.sort_by_cached_key(|it| workload::natural(&it.to_string_lossy()));
    folders.dedup();
    // A recording that contains another one is the recording.
    let all = folders.clone();
    folders.retain(|it| !all.iter().any(|other| it != other && it.starts_with(other)));
    folders
}

/// The recordings at an address: those below a folder, or the one it is.
pub fn each(source: &Source) -> Vec<Source> {
    let Source::Path(path) = source else { return vec![source.clone()] };
    match recordings_in(path) {
        found if found.is_empty() => vec![source.clone()],
        found => found.into_iter().map(Source::Path).collect(),
    }
}

/// Finds folders with files that hold dispatches; below one nothing is looked for.
fn find(folder: &Path, depth: usize, seen: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let (mut below, mut tables) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        *seen += 1;
        let path = entry.path();
        // Links to folders are followed from the top only, so no cycle is possible.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) || (depth == FIND_DEPTH && path.is_dir()) {
            below.push(path);
        } else if workload::holds_dispatches(&entry.file_name().to_string_lossy()) {
            found.push(folder.to_owned());
            return;
        } else if tables.len() < LOOKED_INTO && is_table(&path) {
            tables.push(path);
        }
    }
    // Only where no name says it files are opened.
    if tables.iter().any(|table| holds_dispatches(table)) {
        found.push(folder.to_owned());
        return;
    }
    if depth > 0 && *seen < LOOKED_AT {
        below.iter().for_each(|below| find(below, depth - 1, seen, found));
    }
}

/// True if a file holds dispatches of a recording, judged by its name or its first bytes.
pub fn holds_dispatches(file: &Path) -> bool {
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if workload::holds_dispatches(&name) {
        return true;
    }
    is_table(file)
        && Contents::open(file).is_ok_and(|contents| workload::has_form_of_recording(contents.bytes()))
}

/// Whether a file is a table by its name, packed or not.
fn is_table(file: &Path) -> bool {
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".csv")
}

fn own_name(folder: &Path) -> Option<String> {
    folder.file_name().map(|it| it.to_string_lossy().into_owned())
}

/// True if a folder holds one pass, with a folder for each of its runs.
fn is_repeated_pass(folder: &Path) -> bool {
    let is_pass = own_name(folder).is_some_and(|name| workload::is_pass(&name));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    is_pass && { entries }.any(|entry| workload::is_repeated_run(&entry.file_name().to_string_lossy()))
}

/// Files at the top of a recording.
const AT_THE_TOP: [&str; 2] = ["sysinfo.csv", "profiling_config.yaml"];

/// The folder of the recording that a folder with files is part of: the one with the facts of the machine, or
/// the one with a folder for each pass (`out/pmc_1`).
fn root(top: &Path, below: &Path) -> PathBuf {
    let within = below.ancestors().take_while(|it| it.starts_with(top));
    for folder in within {
        if AT_THE_TOP.iter().any(|file| folder.join(file).is_file()) {
            return folder.to_owned();
        }
    }
    if is_repeated_pass(top) {
        return top.to_owned();
    }
    let parts: Vec<_> = below.strip_prefix(top).unwrap_or(Path::new("")).components().collect();
    let text = |at: usize| parts[at].as_os_str().to_string_lossy();
    let Some(pass) = (0..parts.len()).find(|at| workload::is_pass(&text(*at))) else {
        return below.to_owned();
    };
    let end = if pass > 0 && text(pass - 1) == "out" { pass - 1 } else { pass };
    top.join(parts[..end].iter().collect::<PathBuf>())
}

/// Recordings named in an error before the rest is only counted.
const NAMED: usize = 4;

/// Error for a path with several recordings.
fn several_recordings(folder: &Path, found: &[PathBuf]) -> anyhow::Error {
    let name = |it: &PathBuf| format!("`{}`", it.strip_prefix(folder).unwrap_or(it).display());
    let named: Vec<String> = found.iter().take(NAMED).map(name).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    anyhow!(
        "`{}` holds {} recordings: {}{more}\nhint: give one path; commands that show recordings take them as one with `--ranks`, side by side with `--ranks=each`",
        folder.display(),
        found.len(),
        named.join(", ")
    )
}

/// Reads the recordings below a folder as one, ranks of a program or GPUs; those that cannot be read are
/// given as errors.
pub fn read_ranks(source: &Source) -> Result<(Workload, Vec<anyhow::Error>)> {
    let path = source.open()?;
    let found = recordings_in(path);
    if found.len() < 2 {
        return Ok((read(source)?, Vec::new()));
    }
    let mut errors = Vec::new();
    let mut ranks = Vec::new();
    for folder in &found {
        let name = folder.strip_prefix(path).unwrap_or(folder).display().to_string();
        match read(&folder.into()) {
            Ok(workload) => ranks.push((name, workload)),
            Err(error) => errors.push(error),
        }
    }
    if ranks.is_empty() {
        return Err(errors.pop().unwrap_or_else(|| anyhow!("`{}`: no recording", path.display())));
    }
    let merged = workload::merge(ranks).map_err(|differs| {
        anyhow!(
            "`{}`: the recordings are not of one kind of GPU: {differs}\nhint: `--ranks=each` shows them side by side; or give one path",
            path.display()
        )
    })?;
    Ok((merged, errors))
}

fn list(
    folder: &Path,
    prefix: &str,
    depth: usize,
    files: &mut BTreeMap<String, (PathBuf, OnceCell<Contents>)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            if depth > 0 {
                list(&path, &format!("{name}/"), depth - 1, files)?;
            }
        } else if files.len() < FILES && !workload::is_wave_file(&name) {
            files.insert(name, (path, OnceCell::new()));
        }
    }
    Ok(())
}
