//! Stands in for rocprofv3 in tests: takes the arguments of its documentation and no others, runs the program, and writes what
//! it would write: 3 dispatches, or `STAND_IN_DISPATCHES`. `STAND_IN` says what goes wrong, in which run: `exit@2`, `differ@2`, `always-differ@2`, `forget@1`, `nothing@1`, `kill@2`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What it was asked for.
#[derive(Default)]
struct Arguments {
    extra: Option<PathBuf>,
    folder: Option<PathBuf>,
    file: Option<String>,
    counters: Vec<String>,
    program: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("rocprofv3: error: {error}");
            return ExitCode::from(2);
        }
    };
    let status = Command::new(&arguments.program[0]).args(&arguments.program[1..]).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("rocprofv3: error: the application failed");
        return ExitCode::from(1);
    }
    let folder = arguments.folder.clone().unwrap_or_default();
    let run = count_runs(&folder);
    let wrong = std::env::var("STAND_IN").unwrap_or_default();
    let is =
        |what: &str| wrong.split_once('@').is_some_and(|(name, at)| name == what && at.parse() == Ok(run));
    let from = |what: &str| {
        wrong
            .split_once('@')
            .is_some_and(|(name, at)| name == what && at.parse().is_ok_and(|at: usize| run >= at))
    };
    if is("exit") {
        eprintln!("rocprofv3: error: hardware counters are in use");
        return ExitCode::from(3);
    }
    if is("kill") {
        std::process::abort();
    }
    let mut counters = arguments.counters.clone();
    if is("forget") {
        counters.pop();
    }
    let swapped = is("differ") || from("always-differ");
    let text = if is("nothing") { header() } else { table(&counters, swapped) };
    let file = format!("{}_counter_collection.csv", arguments.file.unwrap_or_default());
    if std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(file), text)).is_err() {
        return ExitCode::from(1);
    }
    ExitCode::SUCCESS
}

/// Runs so far, this one among them; counted in a file beside the recording.
fn count_runs(folder: &Path) -> usize {
    let file = folder.parent().map(|it| it.with_extension("runs")).unwrap_or_default();
    let runs = std::fs::read_to_string(&file).ok().and_then(|it| it.parse().ok()).unwrap_or(0) + 1;
    let _ = std::fs::write(file, runs.to_string());
    runs
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut reads_counters = false;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("argument {word}: expected one argument"));
        match word.as_str() {
            "--" => {
                arguments.program = words.collect();
                break;
            }
            "--extra-counters" => arguments.extra = Some(value()?.into()),
            "--kernel-include-regex" => drop(value()?),
            "--output-directory" => arguments.folder = Some(value()?.into()),
            "--output-file" => arguments.file = Some(value()?),
            "--output-format" if value()? == "csv" => {}
            "--pmc" => reads_counters = true,
            counter if reads_counters && !counter.starts_with('-') => {
                arguments.counters.push(counter.to_owned())
            }
            other => return Err(format!("unrecognized arguments: {other}")),
        }
    }
    if arguments.program.is_empty() {
        return Err("no application".to_owned());
    }
    let extra =
        arguments.extra.as_ref().map(std::fs::read_to_string).transpose().map_err(|it| it.to_string())?;
    for counter in arguments.counters.iter().filter(|it| it.ends_with("_ACCUM")) {
        if !extra.as_ref().is_some_and(|text| text.contains(&format!("- name: {counter}\n"))) {
            return Err(format!("invalid counter {counter}"));
        }
    }
    Ok(arguments)
}

fn header() -> String {
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\
     \"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\
     \"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
        .to_owned()
}

/// Three dispatches of two kernels; a counter's value is a thousand times the dispatch's number.
fn table(counters: &[String], swapped: bool) -> String {
    let mut kernels =
        [("scale(float*, int)", 65536), ("add(float*, float*)", 4096), ("scale(float*, int)", 65536)];
    if swapped {
        kernels.swap(0, 1);
    }
    let mut text = header();
    let dispatches = std::env::var("STAND_IN_DISPATCHES").ok().and_then(|it| it.parse().ok()).unwrap_or(3);
    for (dispatch, (kernel, grid)) in (1..).zip(kernels.into_iter().cycle().take(dispatches)) {
        let start = dispatch * 100_000;
        for counter in counters {
            text += &format!(
                "{dispatch},{dispatch},\"Agent 4\",1,77,77,{grid},8,\"{kernel}\",256,0,0,8,0,16,\"{counter}\",{},{start},{}\n",
                dispatch * 1000,
                start + 20_000
            );
        }
    }
    text
}
