//! Test double of rocprofv3: accepts only its documented arguments, runs the program, and writes the same
//! files: 3 dispatches, or `STAND_IN_DISPATCHES`; samples of the program counter; a thread trace.
//!
//! `STAND_IN` selects a failure and its run: `exit@2`, `differ@2`, `always-differ@2`, `forget@1`,
//! `nothing@1`, `kill@2`, `cut@2`, `full@2`, `slow@1`, `empty@1`, `big@1`; `fork@1` writes what two processes
//! would from that run on; `vary@1` counts more in each run. `STAND_IN_VERSION` is its version, `none` for
//! one that does not report it; `STAND_IN_COUNTERS` are the counters that it lists. `STAND_IN_NS` are times of dispatches in
//! place of 20 us, by a part of a word of the command line: `old=20000 new=15000`.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a program")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Parsed command line.
#[derive(Default)]
struct Arguments {
    extra: Option<PathBuf>,
    folder: Option<PathBuf>,
    file: Option<String>,
    format: String,
    counters: Vec<String>,
    /// Counters of each dispatch in turn, from an input file.
    groups: Vec<Vec<String>>,
    /// `host_trap` or `stochastic`.
    samples: Option<String>,
    trace: bool,
    attach: bool,
    program: Vec<String>,
}

/// Injected failures of this run.
struct Wrong {
    what: String,
    at: usize,
    run: usize,
}

impl Wrong {
    fn is(&self, what: &str) -> bool {
        self.what == what && self.at == self.run
    }

    fn from(&self, what: &str) -> bool {
        self.what == what && self.run >= self.at
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let version =
        Some(variable("STAND_IN_VERSION")).filter(|it| !it.is_empty()).unwrap_or("1.1.0".to_owned());
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--version"] if version != "none" => {
            println!("             version: {version}\n        git_revision: 0000000");
            return ExitCode::SUCCESS;
        }
        ["--list-avail"] => return list(),
        _ => {}
    }
    let arguments = match parse(words.into_iter(), &version) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("rocprofv3: error: {error}");
            return ExitCode::from(2);
        }
    };
    if !arguments.attach {
        let status = Command::new(&arguments.program[0]).args(&arguments.program[1..]).status();
        if !status.is_ok_and(|status| status.success()) {
            eprintln!("rocprofv3: error: the application failed");
            return ExitCode::from(1);
        }
    }
    let rank = variable("OMPI_COMM_WORLD_RANK");
    let folder = arguments.folder.clone().unwrap_or_default();
    let folder = PathBuf::from(folder.to_string_lossy().replace("%rank%", &rank));
    let run = count_runs(&folder);
    let text = variable("STAND_IN");
    let (what, at) = text.split_once('@').unwrap_or_default();
    let wrong = Wrong { what: what.to_owned(), at: at.parse().unwrap_or(0), run };
    if wrong.is("exit") {
        eprintln!("rocprofv3: error: hardware counters are in use");
        return ExitCode::from(3);
    }
    if wrong.is("kill") {
        std::process::abort();
    }
    if wrong.is("slow") {
        std::thread::sleep(Duration::from_millis(1200));
    }
    match write(&arguments, &folder, &wrong) {
        Ok(()) if wrong.is("full") => {
            eprintln!("rocprofv3: error: No space left on device");
            ExitCode::from(1)
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rocprofv3: error: {error}");
            ExitCode::from(1)
        }
    }
}

/// Counters it can count, in the format of `--list-avail`.
fn list() -> ExitCode {
    let counters = variable("STAND_IN_COUNTERS");
    println!("GPU:0\nName:gfx942");
    for counter in counters.split_whitespace() {
        println!("Counter_Name        :\t{counter}\nBlock               :\tSQ\n");
    }
    ExitCode::SUCCESS
}

/// Runs so far, including this one; counted in a file beside the recording.
fn count_runs(folder: &Path) -> usize {
    let running = folder.ancestors().find(|it| it.ends_with(".running")).unwrap_or(folder);
    let below = folder.strip_prefix(running).ok().and_then(|it| it.to_str()).unwrap_or_default();
    // Each run of a repeated pass has a folder, which contains the folders of ranks.
    let rank = below.split('/').find(|part| !part.starts_with("run_")).unwrap_or_default();
    let file = running.parent().map(|it| it.with_extension(format!("runs{rank}"))).unwrap_or_default();
    let runs = std::fs::read_to_string(&file).ok().and_then(|it| it.parse().ok()).unwrap_or(0) + 1;
    let _ = std::fs::write(file, runs.to_string());
    runs
}

fn parse(mut words: impl Iterator<Item = String>, version: &str) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut reads_counters = false;
    let mut enabled = false;
    let new = !version.starts_with("0.") && version != "none";
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("argument {word}: expected one argument"));
        match word.as_str() {
            "--" => {
                arguments.program = words.collect();
                break;
            }
            "--extra-counters" => arguments.extra = Some(value()?.into()),
            "--output-directory" => arguments.folder = Some(value()?.into()),
            "--output-file" => arguments.file = Some(value()?),
            "--output-format" => {
                arguments.format = value()?;
                if !["csv", "json"].contains(&arguments.format.as_str()) {
                    return Err(format!("argument --output-format: invalid choice: '{}'", arguments.format));
                }
            }
            "--pc-sampling-beta-enabled" => enabled = true,
            "--pc-sampling-method" => arguments.samples = Some(value()?),
            "--kernel-include-regex" | "--kernel-iteration-range" => drop(value()?),
            "--pc-sampling-unit" | "--pc-sampling-interval" => drop(value()?),
            "--collection-period" | "--collection-period-unit" => drop(value()?),
            "--kernel-trace" => {}
            "--att" if new => arguments.trace = true,
            "--att-target-cu" | "--att-shader-engine-mask" | "--att-simd-select" | "--att-buffer-size"
                if new =>
            {
                drop(value()?);
            }
            "--input" if new => arguments.groups = groups(&value()?)?,
            "--attach" if new => {
                value()?.parse::<u32>().map_err(|it| it.to_string())?;
                arguments.attach = true;
            }
            "--attach-duration-msec" if new => drop(value()?),
            "--pmc" => reads_counters = true,
            counter if reads_counters && !counter.starts_with('-') => {
                arguments.counters.push(counter.to_owned())
            }
            other => return Err(format!("unrecognized arguments: {other}")),
        }
    }
    if arguments.program.is_empty() != arguments.attach {
        return Err("no application".to_owned());
    }
    if !arguments.groups.is_empty() && !arguments.counters.is_empty() {
        return Err("Cannot specify both --pmc and (input file) pmc_groups".to_owned());
    }
    if arguments.samples.is_some() && (!enabled || arguments.format != "json") {
        return Err("PC sampling needs --pc-sampling-beta-enabled and an output format".to_owned());
    }
    let extra =
        arguments.extra.as_ref().map(std::fs::read_to_string).transpose().map_err(|it| it.to_string())?;
    for counter in
        arguments.counters.iter().chain(arguments.groups.iter().flatten()).filter(|it| it.ends_with("_ACCUM"))
    {
        if !extra.as_ref().is_some_and(|text| text.contains(&format!("- name: {counter}\n"))) {
            return Err(format!("invalid counter {counter}"));
        }
    }
    Ok(arguments)
}

/// The groups of counters of an input file: one job with `pmc_groups`, one dispatch each.
fn groups(file: &str) -> Result<Vec<Vec<String>>, String> {
    let text = std::fs::read_to_string(file).map_err(|it| format!("{file}: {it}"))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|it| format!("{file}: {it}"))?;
    let [job] = &json["jobs"].as_array().ok_or("no jobs")?[..] else { return Err("not one job".to_owned()) };
    if job["pmc_group_interval"] != 1 || job.as_object().is_none_or(|it| it.len() != 2) {
        return Err(format!("unknown fields in {job}"));
    }
    serde_json::from_value(job["pmc_groups"].clone()).map_err(|it| it.to_string())
}

/// Writes the recorded data.
fn write(arguments: &Arguments, folder: &Path, wrong: &Wrong) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    if arguments.trace {
        return write_trace(folder, wrong);
    }
    let named = |process: u32, end: &str| {
        let file = arguments.file.clone().unwrap_or_default().replace("%pid%", &process.to_string());
        folder.join(format!("{file}_{end}"))
    };
    let own = std::process::id();
    if arguments.samples.is_some() {
        return std::fs::write(named(own, "results.json"), samples(wrong));
    }
    let mut counters = arguments.counters.clone();
    if wrong.is("forget") {
        counters.pop();
    }
    let swapped = wrong.is("differ") || wrong.from("always-differ");
    let groups = if arguments.groups.is_empty() { vec![counters] } else { arguments.groups.clone() };
    let more = if wrong.from("vary") { wrong.run as u64 } else { 0 };
    let text = if wrong.is("nothing") {
        header()
    } else {
        table(&groups, swapped, more, duration(&arguments.program))
    };
    let cut = wrong.is("cut") || wrong.is("full");
    // Between two lines, so that only the last dispatch lacks counters.
    let end = if cut { text.trim_end().rfind('\n').map_or(0, |at| at + 1) } else { text.len() };
    std::fs::write(named(own, "counter_collection.csv"), &text[..end])?;
    if wrong.from("fork") {
        std::fs::write(named(own + 1, "counter_collection.csv"), &text)?;
    }
    Ok(())
}

/// Time of a dispatch, ns: a little different each time.
fn duration(program: &[String]) -> u64 {
    let times = variable("STAND_IN_NS");
    let named = times.split_whitespace().filter_map(|it| it.split_once('='));
    let of = named.filter(|(name, _)| program.iter().any(|word| word.contains(name)));
    let found = of.filter_map(|(_, time)| time.parse::<u64>().ok()).next();
    found.map_or(20_000, |it| it + u64::from(std::process::id().wrapping_mul(2_654_435_761) >> 26))
}

fn header() -> String {
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\
     \"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\
     \"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
        .to_owned()
}

/// Three dispatches of two kernels, each with the next group of counters; a counter's value is a thousand
/// times the dispatch's number, and some more; so is its time.
fn table(groups: &[Vec<String>], swapped: bool, more: u64, duration: u64) -> String {
    let mut kernels =
        [("scale(float*, int)", 65536), ("add(float*, float*)", 4096), ("scale(float*, int)", 65536)];
    if swapped {
        kernels.swap(0, 1);
    }
    let mut text = header();
    let dispatches = variable("STAND_IN_DISPATCHES").parse().unwrap_or(3);
    let kernels = kernels.into_iter().cycle().take(dispatches);
    for ((dispatch, (kernel, grid)), counters) in (1..).zip(kernels).zip(groups.iter().cycle()) {
        let start = dispatch * 100_000;
        for counter in counters {
            let _ = writeln!(
                text,
                "{dispatch},{dispatch},\"Agent 4\",1,77,77,{grid},8,\"{kernel}\",256,0,0,8,0,16,\"{counter}\",{},{start},{}",
                dispatch * 1000 + more,
                start + duration + more
            );
        }
    }
    text
}

/// Four samples at one instruction of the first dispatch.
fn samples(wrong: &Wrong) -> String {
    let sample = r#"{"inst_index":0,"record":{"pc":{"code_object_id":1,"code_object_offset":256},"dispatch_id":1,"wave_issued":0,"snapshot":{"stall_reason":3}}}"#;
    let list = if wrong.is("empty") { String::new() } else { [sample; 4].join(",") };
    format!(
        r#"{{"rocprofiler-sdk-tool":[{{"agents":[{{"type":2,"name":"gfx942"}}],"strings":{{"pc_sample_instructions":["s_waitcnt vmcnt(0)"],"pc_sample_comments":["a.hip:3"]}},"code_objects":[{{"code_object_id":1,"load_base":0,"load_delta":0}}],"kernel_symbols":[{{"kernel_id":1,"kernel_name":"_Z5scalePfi.kd","formatted_kernel_name":"scale(float*, int)"}}],"buffer_records":{{"pc_sample_stochastic":[{list}],"pc_sample_host_trap":[],"kernel_dispatch":[{{"start_timestamp":1,"end_timestamp":9,"dispatch_info":{{"dispatch_id":1,"kernel_id":1,"agent_id":{{"handle":4}}}}}}]}}}}]}}"#
    )
}

/// The trace of one dispatch; `big` writes until it is stopped.
fn write_trace(folder: &Path, wrong: &Wrong) -> std::io::Result<()> {
    let inner = folder.join("ui_output_agent_4_dispatch_1");
    std::fs::create_dir_all(&inner)?;
    for part in 0..600 {
        if !wrong.is("big") {
            break;
        }
        std::fs::write(inner.join(format!("se0_sm0_sl0_wv{part}.json")), vec![b' '; 1 << 20])?;
        std::thread::sleep(Duration::from_millis(10));
    }
    let rows = if wrong.is("empty") {
        "null".to_owned()
    } else {
        r#"[["; _Z5scalePfi",0,1,"",1,256,0,0,0,0],["s_waitcnt vmcnt(0)",0,2,"a.hip:3",1,256,4,400,384,16]]"#
            .to_owned()
    };
    std::fs::write(
        inner.join("code.json"),
        format!(
            r#"{{"code":{rows},"header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle","version":"3.0.0"}}"#
        ),
    )?;
    let table = "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n";
    std::fs::write(folder.join("stats_ui_output_agent_4_dispatch_1.csv"), table)
}
