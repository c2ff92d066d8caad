//! `rockhound accuracy`: a recording of a GPU beside an emulated one, as a file that its user can send.

use crate::args::{Accuracy, Look};
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use crate::subjects::{self, Asked};
use crate::terminal;
use analysis::workload::Subject;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use study::accuracy::{Agreement, Quantity, Verdict, agreement};
use view::Format;

/// Version of the JSON's shape.
const SCHEMA: &str = "rockhound.accuracy/1";
/// Dispatches of a kernel whose values are written one by one.
const EACH: usize = 8;
/// Modelled quantities that are listed.
const LISTED: usize = 12;

/// The file.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    rockhound: &'static str,
    gpu: &'a BTreeMap<String, String>,
    emulated: &'a BTreeMap<String, String>,
    kernels: Vec<KernelOut<'a>>,
    only_measured: &'a [String],
    only_emulated: &'a [String],
    kernels_left_out: usize,
}

#[derive(Serialize)]
struct KernelOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    grid: Option<f64>,
    workgroup: Option<f64>,
    dispatches: usize,
    quantities: Vec<QuantityOut<'a>>,
}

#[derive(Serialize)]
struct QuantityOut<'a> {
    name: &'a str,
    verdict: &'static str,
    /// Error of the sum over dispatches; absent if only the GPU counted 0.
    error_percent: Option<f64>,
    /// The first dispatches.
    measured: &'a [f64],
    emulated: &'a [f64],
}

/// Compares.
pub(crate) fn run(args: &Accuracy, look: &Look) -> Result<Outcome> {
    let emulated = match &args.emulated {
        Some(path) => path.clone(),
        None => beside(&args.gpu)?,
    };
    let asked =
        Asked { paths: vec![args.gpu.clone(), emulated], wanted: args.part.wanted(), ..Asked::default() };
    let found = subjects::read(&asked)?;
    let [gpu, emulated] = &found.all[..] else { return Ok(Outcome::InputError) };
    check(gpu, emulated)?;
    let agreement = agreement(gpu, emulated, &found.renames);
    if agreement.kernels.is_empty() {
        return Err(usage(
            "the two recordings have no kernel that both ran equally often and counted",
            "record the same command twice: `--on gpu`, and `--on emulator`",
        ));
    }
    let document = serde_json::to_string_pretty(&document(&agreement, args.kernel_names))? + "\n";
    let name = gpu.workload.machine.text("gpu_model").or(gpu.workload.machine.target()).unwrap_or("gpu");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("accuracy-{name}.json")));
    let mut file = Output::open(Some(&path))?;
    file.write(&document)?;
    file.finish()?;
    eprintln!("wrote {}", path.display());
    output::print(&match args.format {
        Format::Json => document,
        _ => text(&agreement, terminal::style(look, false).width),
    })?;
    Ok(Outcome::of(found.failed, false))
}

/// Refuses anything but a measured recording and an emulated one of the same target.
fn check(gpu: &Subject, emulated: &Subject) -> Result<()> {
    if gpu.workload.machine.emulator().is_some() {
        return Err(usage(format!("`{}` is emulated", gpu.path), "the recording of a GPU comes first"));
    }
    if emulated.workload.machine.emulator().is_none() {
        return Err(usage(
            format!("`{}` is not emulated", emulated.path),
            "the second recording is one of `rockhound profile --on emulator`",
        ));
    }
    if emulated.workload.marks.is_none() {
        return Err(usage(
            format!("`{}` does not say which counters are exact", emulated.path),
            "record again with this version",
        ));
    }
    if gpu.target() != emulated.target() {
        return Err(usage(
            format!("the GPU is a {}, and a {} was emulated", gpu.target(), emulated.target()),
            "`rockhound profile --gpu MODEL` emulates the same one",
        ));
    }
    Ok(())
}

/// The emulated recording of the same command, in a folder beside the GPU's.
fn beside(gpu: &Path) -> Result<PathBuf> {
    let own = host::recording::read(gpu)?;
    let command = own.machine.text("command").unwrap_or_default().to_owned();
    let folder = std::path::absolute(gpu)?;
    let parent = folder.parent().unwrap_or(&folder).to_owned();
    let folders = std::fs::read_dir(&parent).into_iter().flatten().flatten().map(|it| it.path());
    let is_it = |path: &PathBuf| {
        path.is_dir()
            && *path != folder
            && host::recording::recordings_in(path).len() == 1
            && host::recording::read(path).is_ok_and(|it| {
                it.machine.emulator().is_some()
                    && it.machine.text("command") == Some(&command[..])
                    && it.machine.target() == own.machine.target()
            })
    };
    let found: Vec<PathBuf> = folders.filter(is_it).collect();
    match &found[..] {
        [one] if !command.is_empty() => {
            eprintln!("beside {}", one.display());
            Ok(one.clone())
        }
        _ => {
            let program = if command.is_empty() { "PROGRAM" } else { &command };
            let model = own.machine.text("gpu_model").or(own.machine.target()).unwrap_or("MODEL");
            Err(usage(
                format!("{} emulated recordings of this command are beside `{}`", found.len(), gpu.display()),
                format!(
                    "give one, or make it: `rockhound profile --on emulator --gpu {} -o {} -- {program}`",
                    model.to_ascii_lowercase(),
                    view::shell_word(&parent.join("emulated").to_string_lossy())
                ),
            ))
        }
    }
}

fn document(agreement: &Agreement, names: bool) -> Document<'_> {
    fn each(values: &[f64]) -> &[f64] {
        &values[..values.len().min(EACH)]
    }
    fn quantity(it: &Quantity) -> QuantityOut<'_> {
        QuantityOut {
            name: &it.name,
            verdict: it.verdict.name(),
            error_percent: it.error().map(|error| 100.0 * error),
            measured: each(&it.measured),
            emulated: each(&it.emulated),
        }
    }
    let kernels = agreement.kernels.iter().map(|it| KernelOut {
        name: names.then_some(&it.name[..]),
        grid: it.grid,
        workgroup: it.workgroup,
        dispatches: it.dispatches,
        quantities: it.quantities.iter().map(quantity).collect(),
    });
    Document {
        schema: SCHEMA,
        rockhound: env!("CARGO_PKG_VERSION"),
        gpu: &agreement.gpu,
        emulated: &agreement.emulated,
        kernels: kernels.collect(),
        only_measured: &agreement.only_measured,
        only_emulated: &agreement.only_emulated,
        kernels_left_out: agreement.left_out,
    }
}

fn text(agreement: &Agreement, width: usize) -> String {
    let (equal, wrong) = (agreement.count(Verdict::Equal), agreement.count(Verdict::NotEqual));
    let mut out = format!(
        "{} kernels that both ran{}\n\n  follow from execution: {equal} of {} counters are equal\n",
        agreement.kernels.len(),
        match agreement.left_out {
            0 => String::new(),
            n => format!(", {n} that only one ran or not equally often"),
        },
        equal + wrong
    );
    for kernel in &agreement.kernels {
        for it in kernel.quantities.iter().filter(|it| it.verdict == Verdict::NotEqual) {
            let (measured, emulated): (f64, f64) = (it.measured.iter().sum(), it.emulated.iter().sum());
            let head = format!("    {} ", it.name);
            let tail = format!(": {measured} on the GPU, {emulated} emulated");
            let room = width.saturating_sub(head.chars().count() + tail.chars().count() + 2).max(8);
            let name: String = kernel.name.chars().take(room).collect();
            let cut = if name.len() < kernel.name.len() { "…" } else { "" };
            let _ = writeln!(out, "{head}{name}{cut}{tail}");
        }
    }
    let errors = agreement.errors();
    let near = errors.iter().filter(|(_, error, _)| *error <= 0.1).count();
    let _ = writeln!(
        out,
        "  modelled: {} quantities, {near} within 10 % on average{}",
        errors.len(),
        if errors.is_empty() { "" } else { "; the farthest:" }
    );
    for (name, error, kernels) in errors.iter().take(LISTED) {
        let _ = writeln!(out, "    {name:<34} {:>8.1} %  in {kernels} kernels", 100.0 * error);
    }
    let lists = [
        ("counted by the GPU, not emulated", &agreement.only_measured),
        ("emulated, not counted by the GPU", &agreement.only_emulated),
    ];
    for (what, names) in lists {
        if !names.is_empty() {
            let _ = writeln!(out, "  {what}: {}", names.len());
        }
    }
    out
}
