//! Which traces are one run: its tables, its processes, the forms a profiler wrote it in; and which are other runs.
//!
//! A profiler names its files `NAME_kernel_trace.csv`, `NAME_results.json`; without a name the process number takes its
//! place. Endings are data, `run-files.tsv`.

use super::Trace;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use trace::{Device, Format, GpuSpans, Note, NoteKind, Timeline};
use view::{counted, shell_word, thousands_of};

/// Runs that are named in a refusal.
const NAMED: usize = 4;

/// A run by the folder and name of its files.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Name {
    folder: PathBuf,
    name: String,
}

/// Name of a file without what a profiler adds to the name of a run; empty if the run has none.
pub(super) fn name_of(file: &str) -> String {
    let mut stem = file;
    for extension in [".gz", ".csv", ".json", ".db", ".rocpd", ".pftrace", ".proto", ".txt"] {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    let lines = include_str!("../../data/run-files.tsv").lines().filter(|line| !line.starts_with('#'));
    let without = lines.filter_map(|added| match added.strip_prefix('_') == Some(stem) {
        true => Some(""),
        false if added.ends_with('_') => stem.strip_prefix(added),
        false => stem.strip_suffix(added),
    });
    match without.min_by_key(|name| name.len()).unwrap_or(stem) {
        // rocprof's own name for a run without one.
        "results" => String::new(),
        name => name.to_owned(),
    }
}

/// Name of a process behind a metric: `wall_clock-3099154.txt`.
fn process_of(file: &str) -> String {
    let stem = file.split('.').next().unwrap_or(file);
    let process = stem.rsplit_once('-').map_or("", |(_, process)| process);
    if process.bytes().all(|byte| byte.is_ascii_digit()) { process.to_owned() } else { stem.to_owned() }
}

/// True for a tool that writes one run into several files, with times of the machine's monotonic clock.
fn is_of_profiler(format: Format) -> bool {
    is_table(format)
        || matches!(
            format,
            Format::Rocprofv3Json
                | Format::Rocpd
                | Format::Rocprofv1Json
                | Format::Rocprofv1Database
                | Format::Perfetto
                | Format::WallClock
        )
}

fn is_table(format: Format) -> bool {
    matches!(format, Format::Rocprofv3Csv | Format::Rocprofv1Csv | Format::Rocprofv2Csv | Format::Stats)
}

/// The richer of two forms of a run has the greater number.
fn richness(it: &Timeline) -> (usize, bool, bool) {
    let named = it.devices.iter().any(|device| !device.name.is_empty() || !device.target.is_empty());
    let first = matches!(it.format, Format::Rocpd | Format::Rocprofv3Json | Format::Rocprofv1Json);
    (spans(it), named, first)
}

fn spans(it: &Timeline) -> usize {
    it.gpu.len() + it.host.len()
}

/// True if a file is named for the metric whose sums it holds.
fn is_metric(file: &str, it: &Timeline) -> bool {
    let words = file.split('.').next().unwrap_or(file).replace('_', " ");
    it.calls.iter().any(|sum| sum.domain.eq_ignore_ascii_case(&words))
}

fn run_of(it: &Trace) -> Name {
    let file = it.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = match it.timeline.format {
        // `wall_clock.txt` is named for its metric, `app.txt` for its run.
        Format::WallClock if !file.contains('-') && !is_metric(&file, &it.timeline) => name_of(&file),
        Format::WallClock => process_of(&file),
        Format::Perfetto if file.starts_with("perfetto-trace") => process_of(&file),
        Format::Rocpd if file.starts_with("rocpd-") => process_of(&file),
        _ => name_of(&file),
    };
    Name { folder: it.path.parent().unwrap_or(Path::new("")).to_owned(), name }
}

/// Joins the tables of each run and leaves out what a richer form of it says too. `root` is the folder that was given, if
/// one was: it names tables that are all there is.
pub(super) fn joined(traces: Vec<Trace>, root: Option<&Path>) -> Vec<Trace> {
    let (of_profiler, others): (Vec<Trace>, Vec<Trace>) =
        traces.into_iter().partition(|it| is_of_profiler(it.timeline.format));
    let mut runs: Vec<(Name, Vec<Trace>)> = Vec::new();
    for it in of_profiler {
        let name = run_of(&it);
        match runs.iter_mut().find(|(other, _)| *other == name) {
            Some((_, all)) => all.push(it),
            None => runs.push((name, vec![it])),
        }
    }
    let (mut all, mut sums, mut made) = (others, Vec::new(), Vec::new());
    for (name, files) in runs {
        let called = match (name.name.is_empty(), name.folder.as_os_str().is_empty()) {
            (true, true) => PathBuf::from("."),
            (true, false) => name.folder.clone(),
            _ => name.folder.join(&name.name),
        };
        let mut run = one_run(files, &called, root.is_some());
        for it in run.iter_mut().filter(|it| is_table(it.timeline.format) && it.timeline.devices.is_empty()) {
            it.timeline.devices = gpus_beside(&name);
        }
        made.push(called);
        let is_sums = root.is_some() && run.iter().all(|it| it.timeline.format == Format::Stats);
        if is_sums { sums.extend(run) } else { all.extend(run) }
    }
    // Sums under a name of their own, in the folder of one trace.
    match &mut all[..] {
        [one] if is_of_profiler(one.timeline.format) && !sums.is_empty() => {
            for it in &sums {
                one.timeline.append(&it.timeline);
            }
        }
        _ => all.extend(sums),
    }
    let mut all = without_repeats(all);
    if let (Some(root), [one]) = (root, &mut all[..])
        && made.contains(&one.path)
    {
        one.path = root.to_owned();
    }
    all
}

/// GPUs that the table of agents of a run lists.
fn gpus_beside(run: &Name) -> Vec<Device> {
    let folder = if run.folder.as_os_str().is_empty() { Path::new(".") } else { &run.folder };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_of_run =
        |file: &str| file.contains("agent_info") && file.ends_with(".csv") && name_of(file) == run.name;
    entries
        .filter(|it| is_of_run(&it.file_name().to_string_lossy()))
        .find_map(|it| std::fs::read(it.path()).ok())
        .map_or_else(Vec::new, |bytes| trace::gpus(&bytes))
}

/// The files of one run as one trace, or as several where their times differ.
fn one_run(files: Vec<Trace>, called: &Path, in_folder: bool) -> Vec<Trace> {
    let several = files.len() > 1;
    let (tables, rest): (Vec<Trace>, Vec<Trace>) =
        files.into_iter().partition(|it| is_table(it.timeline.format));
    let (sums, mut forms): (Vec<Trace>, Vec<Trace>) =
        rest.into_iter().partition(|it| it.timeline.format == Format::WallClock);
    let join = |tables: Vec<Trace>| {
        let is_one = tables.len() == 1 && !(in_folder && is_table(tables[0].timeline.format));
        let mut tables = tables.into_iter();
        let mut first = tables.next()?;
        for table in tables {
            append(&mut first.timeline, &table.timeline);
        }
        if !is_one {
            first.path = called.to_owned();
        }
        Some(first)
    };
    forms.extend(join(tables));
    let mut runs: Vec<Trace> = Vec::new();
    forms.sort_by_key(|it| std::cmp::Reverse(richness(&it.timeline)));
    for form in forms {
        match runs.iter_mut().find(|run| several && is_same_time(&run.timeline, &form.timeline)) {
            Some(run) => unused(run, &form),
            None => runs.push(form),
        }
    }
    match (join(sums), runs.first_mut()) {
        // Sums of the host beside its timeline.
        (Some(sums), Some(first)) => append(&mut first.timeline, &sums.timeline),
        (sums, _) => runs.extend(sums),
    }
    runs
}

/// Adds a part of the same run; sums of a metric that is there already are not added.
fn append(all: &mut Timeline, part: &Timeline) {
    if part.format != Format::WallClock {
        return all.append(part);
    }
    let known: Vec<String> = all.calls.iter().map(|it| it.domain.clone()).collect();
    let mut part = part.clone();
    let sums = part.calls.len();
    part.calls.retain(|it| !known.contains(&it.domain));
    if part.calls.is_empty() && sums > 0 {
        // Text beside exact JSON: its caveats do not hold for the numbers shown.
        return;
    }
    all.append(&part);
}

/// True if two forms may be one run: one has no times, or they are at the same time.
fn is_same_time(a: &Timeline, b: &Timeline) -> bool {
    let (Some(a), Some(b)) = (a.range(), b.range()) else { return true };
    let shared = a.1.min(b.1).saturating_sub(a.0.max(b.0));
    let shorter = a.1.saturating_sub(a.0).min(b.1.saturating_sub(b.0));
    shared > 0 && shared >= shorter / 2 || a == b
}

/// Says of a trace that another form of it was not used.
fn unused(used: &mut Trace, other: &Trace) {
    let file = other.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let is_made = is_table(other.timeline.format) && !other.path.is_file();
    let what = if is_made { "its tables".to_owned() } else { format!("`{file}`") };
    let text = format!("not used: {what} ({}), the same run", other.timeline.format.as_str());
    used.timeline.problems.push(Note { kind: NoteKind::Info, text });
}

/// Leaves out traces whose GPU spans are all in another one of the same rank.
fn without_repeats(traces: Vec<Trace>) -> Vec<Trace> {
    let mut kept: Vec<Trace> = Vec::new();
    for it in traces {
        let same = |other: &&mut Trace| {
            let (a, b) = (&it.timeline, &other.timeline);
            a.rank == b.rank && it.path != other.path && has_same_spans(&a.gpu, &b.gpu)
        };
        match kept.iter_mut().find(same) {
            Some(other) if richness(&other.timeline) >= richness(&it.timeline) => unused(other, &it),
            Some(other) => {
                let poorer = std::mem::replace(other, it);
                unused(other, &poorer);
            }
            None => kept.push(it),
        }
    }
    kept
}

fn has_same_spans(a: &GpuSpans, b: &GpuSpans) -> bool {
    if a.is_empty() || a.len() != b.len() || a.start.iter().min() != b.start.iter().min() {
        return false;
    }
    let times = |it: &GpuSpans| {
        let mut times: Vec<(i64, i64)> = it.start.iter().copied().zip(it.end.iter().copied()).collect();
        times.sort_unstable();
        times
    };
    times(a) == times(b)
}

/// Why the traces of a folder are not ranks of one run, with what to type; `None` if they may be.
pub(super) fn refusal(folder: &Path, traces: &[Trace]) -> Option<anyhow::Error> {
    let runs: Vec<&Trace> = traces.iter().filter(|it| is_of_profiler(it.timeline.format)).collect();
    if runs.len() < 2 || runs.len() != traces.len() {
        return None;
    }
    let stems: Vec<String> = runs.iter().map(|it| without_digits(&run_of(it).name)).collect();
    let names_differ = stems.iter().any(|stem| *stem != stems[0]);
    let ranges: Vec<(i64, i64)> = runs.iter().filter_map(|it| it.timeline.range()).collect();
    let begin = ranges.iter().map(|it| it.0).max().unwrap_or(0);
    let end = ranges.iter().map(|it| it.1).min().unwrap_or(0);
    let apart = ranges.len() > 1 && begin > end;
    if !names_differ && !apart {
        return None;
    }
    let why = if apart { "they did not run at the same time" } else { "their names differ" };
    let one = |it: &&Trace| format!("`{}` ({})", called(folder, it), size(&it.timeline));
    let listed: Vec<String> = runs.iter().take(NAMED).map(one).collect();
    let more = match runs.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more run")),
    };
    let typed = |at: usize| shell_word(&runs[at].path.to_string_lossy()).into_owned();
    let (first, second) = (typed(0), typed(1));
    Some(anyhow!(
        "`{}` holds {} runs of their own: {}{more}: {why}\nhint: `rockhound trace {first}` reads one, `rockhound trace {second} --base {first}` compares two, `rockhound trace {first} {second}` takes them as ranks",
        folder.display(),
        runs.len(),
        listed.join(", ")
    ))
}

/// Name of a trace below a folder, as it can be typed.
fn called(folder: &Path, it: &Trace) -> String {
    let name = it.path.strip_prefix(folder).unwrap_or(&it.path).to_string_lossy().into_owned();
    if name.is_empty() { ".".to_owned() } else { name }
}

/// The number of spans of a trace, in words.
fn size(it: &Timeline) -> String {
    match (it.gpu.len(), it.host.len()) {
        (0, 0) => thousands_of(it.calls.len(), "sum"),
        (0, host) => thousands_of(host, "call"),
        (gpu, _) => thousands_of(gpu, "GPU span"),
    }
}

/// A name whose numbers are all the same.
fn without_digits(name: &str) -> String {
    let mut stem = String::new();
    for c in name.chars() {
        match c.is_ascii_digit() {
            true if stem.ends_with('0') => {}
            true => stem.push('0'),
            false => stem.push(c),
        }
    }
    stem
}

#[cfg(test)]
mod tests;
