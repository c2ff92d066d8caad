//! Test double of rocprofv3's predecessors: called `rocprof` or `rocprofv2`, it accepts only the documented
//! arguments of that tool, runs the program, and writes 3 dispatches in its format.
//!
//! `STAND_IN` selects a failure and its run: `exit@2`, `differ@2`, `forget@2`, `nothing@1`. As with rocprof,
//! the exit code does not show that the program failed. `STAND_IN_COUNTERS` are the counters that it lists.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it stands for a program of the vendor, which reads files, starts programs and prints"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Parsed command line.
#[derive(Default)]
struct Arguments {
    input: PathBuf,
    /// Output: a file, or a folder.
    output: PathBuf,
    /// Name of the file in the folder.
    name: String,
    timestamp: bool,
    program: Vec<String>,
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() -> ExitCode {
    let mut words = std::env::args();
    let called = words.next().unwrap_or_default();
    let first = !called.ends_with("v2");
    let words: Vec<String> = words.collect();
    if let [list] = &words[..]
        && ["--list-basic", "--list-derived", "--list-counters"].contains(&list.as_str())
    {
        for counter in variable("STAND_IN_COUNTERS").split_whitespace() {
            println!("  gpu-agent0 : {counter} : What it counts.\n      block SQ has 8 counters");
        }
        return ExitCode::from(1);
    }
    match parse(words, first).and_then(|arguments| run(&arguments, first)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{called}: Error: {error}");
            ExitCode::from(1)
        }
    }
}

fn parse(words: Vec<String>, first: bool) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} has no value"));
        match word.as_str() {
            "-i" => arguments.input = value()?.into(),
            "-o" if first => arguments.output = value()?.into(),
            "--timestamp" if first => arguments.timestamp = value()? == "on",
            "-d" if !first => arguments.output = value()?.into(),
            "-o" => arguments.name = value()?,
            other if other.starts_with('-') => return Err(format!("Wrong option '{other}'")),
            program => {
                arguments.program = vec![program.to_owned()];
                break;
            }
        }
    }
    arguments.program.extend(words);
    let whole = if first { arguments.timestamp } else { !arguments.name.is_empty() };
    if arguments.program.is_empty() || !whole {
        return Err("no program, or no output".to_owned());
    }
    Ok(arguments)
}

/// The counters of an input file, which has one line of them.
fn counters(input: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(input).map_err(|it| format!("{}: {it}", input.display()))?;
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pmc:")).collect();
    let [line] = lines[..] else { return Err("not one line `pmc:`".to_owned()) };
    let counters: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    // One instance of many is never meant.
    let many = |name: &&String| ["TCC_", "TCP_", "TA_", "TD_"].iter().any(|block| name.starts_with(block));
    match counters.iter().filter(many).find(|name| !name.ends_with("_sum")) {
        Some(name) => Err(format!("{name} is one instance")),
        None => Ok(counters),
    }
}

fn run(arguments: &Arguments, first: bool) -> Result<u8, String> {
    let mut counters = counters(&arguments.input)?;
    let _ = Command::new(&arguments.program[0]).args(&arguments.program[1..]).status();
    let runs = count_runs(&arguments.input);
    let text = variable("STAND_IN");
    let (what, at) = text.split_once('@').unwrap_or_default();
    let wrong = |name: &str| what == name && at.parse() == Ok(runs);
    if wrong("exit") {
        return Ok(1);
    }
    if wrong("nothing") {
        return Ok(0);
    }
    if wrong("forget") {
        counters.pop();
    }
    let file = if first {
        arguments.output.clone()
    } else {
        arguments.output.join("pmc_1").join(format!("results_{}.csv", arguments.name))
    };
    let above = file.parent().unwrap_or(&file);
    std::fs::create_dir_all(above).map_err(|it| it.to_string())?;
    std::fs::write(&file, table(&counters, first, wrong("differ"))).map_err(|it| it.to_string())?;
    Ok(0)
}

/// Runs so far, including this one; counted in a file beside the recording.
fn count_runs(input: &Path) -> usize {
    let running = input.ancestors().find(|it| it.ends_with(".running")).unwrap_or(input);
    let file = running.parent().map(|it| it.with_extension("runs")).unwrap_or_default();
    let runs = std::fs::read_to_string(&file).ok().and_then(|it| it.parse().ok()).unwrap_or(0) + 1;
    let _ = std::fs::write(file, runs.to_string());
    runs
}

/// Three dispatches of two kernels; a counter's value is a thousand times the dispatch's number. Times are
/// right where nothing is counted.
fn table(counters: &[String], first: bool, swapped: bool) -> String {
    let mut kernels =
        [("scale(float*, int)", 65536), ("add(float*, float*)", 4096), ("scale(float*, int)", 65536)];
    if swapped {
        kernels.swap(0, 1);
    }
    let names: String = counters.iter().map(|name| format!(",{name}")).collect();
    let mut text = if first {
        format!(
            "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj{names},DispatchNs,BeginNs,EndNs,CompleteNs\n"
        )
    } else {
        format!(
            "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID{names}\n"
        )
    };
    for (dispatch, (kernel, grid)) in (1..).zip(kernels) {
        let values: String = counters.iter().map(|_| format!(",{}", dispatch * 1000)).collect();
        let (start, takes) = (dispatch * 100_000, if counters.is_empty() { 20_000 } else { 77_000 });
        let end = start + takes;
        let _ = if first {
            writeln!(
                text,
                "{},\"{kernel} [clone .kd]\",2,0,0,77,77,{grid},256,0,0,8,0,16,64,0x0,0x7f{values},{start},{start},{end},{end}",
                dispatch - 1
            )
        } else {
            writeln!(
                text,
                "{},60633,1,77,77,{grid},256,0,0,8,0,16,64,\"{kernel} (.kd)\",{start},{end},0{values}",
                dispatch - 1
            )
        };
    }
    text
}
