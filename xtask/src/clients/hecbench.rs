//! Programs of HeCBench at the arguments of their Makefiles' target `run`.

use crate::run::root;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAMS: &str = include_str!("../../data/hecbench.toml");
/// Processor seconds of each run of a program: two cores compute as many in five minutes. The clock would count
/// what else the machine does.
const CPU_SECONDS: u64 = 600;
/// Seconds by the clock, for programs that wait.
const SECONDS: u64 = 3 * CPU_SECONDS;
/// What `make` prints if a run is stopped at the limit: the shell's code for SIGXCPU.
const OUT_OF_CPU_TIME: &str = "Error 152";

/// A program.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) name: String,
    /// Text of its output that says the results are right, where [`verdict`] cannot tell.
    right: Option<String>,
    /// Work that keeps it from ending in time.
    pub(super) waits_for: Option<String>,
}

#[derive(Deserialize)]
struct Programs {
    program: Vec<Program>,
}

/// Result of a program.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
pub(super) struct ProgramResult {
    pub(super) arguments: String,
    pub(super) end: End,
    pub(super) verdict: Verdict,
    /// Of the CPU, so that other programs on the machine change little.
    pub(super) seconds: u64,
}

/// How a program ended.
#[derive(Serialize, Deserialize, PartialEq, Eq, Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    Ended,
    OutOfTime,
    Failed,
    NotBuilt,
}

/// What a program says of its results.
#[derive(Serialize, Deserialize, PartialEq, Eq, Clone, Copy, Debug)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Right,
    Wrong,
    None,
}

/// All programs.
pub(super) fn programs() -> Result<Vec<Program>> {
    let programs: Programs = toml::from_str(PROGRAMS).context("data/hecbench.toml")?;
    Ok(programs.program)
}

/// Builds and runs programs one after the other.
pub(super) fn run(
    checkout: &Path,
    names: &[String],
    mut done: impl FnMut(&str, ProgramResult) -> Result<()>,
) -> Result<()> {
    let programs = programs()?;
    if let Some(unknown) = names.iter().find(|it| programs.iter().all(|program| program.name != **it)) {
        bail!("no program `{unknown}` in xtask/data/hecbench.toml");
    }
    for program in programs.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        let folder = checkout.join("src").join(format!("{}-hip", program.name));
        if !folder.is_dir() {
            bail!("{} is not there\nhint: name a checkout of github.com/zjin-lcf/HeCBench", folder.display());
        }
        let result = one(program, &folder)?;
        println!("{}: {:?}, {:?}, {} s", program.name, result.end, result.verdict, result.seconds);
        done(&program.name, result)?;
    }
    Ok(())
}

fn one(program: &Program, folder: &Path) -> Result<ProgramResult> {
    let compiler = format!("CC={}", root().join("tests/clients/hipcc").display());
    let mut make = Command::new("make");
    make.arg(&compiler).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let built = make.status().context("cannot start `make`")?.success();
    let dry = Command::new("make").args(["-n", "run", &compiler, "LAUNCHER="]).current_dir(folder).output();
    let dry = dry.context("cannot start `make`")?;
    let arguments = arguments(&String::from_utf8_lossy(&dry.stdout));
    if !built {
        return Ok(ProgramResult { arguments, end: End::NotBuilt, verdict: Verdict::None, seconds: 0 });
    }
    let launcher = format!("LAUNCHER={} run --", super::command().display());
    let command = "ulimit -S -t \"$0\"; TIMEFORMAT='%U %S'; time timeout --kill-after=10 \"$1\" make run \"$2\" \"$3\" 2>&1";
    let output = Command::new("bash")
        .args(["-c", command, &CPU_SECONDS.to_string(), &SECONDS.to_string(), &compiler, &launcher])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("cannot start `bash`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let end = match output.status.code() {
        Some(0) => End::Ended,
        Some(124 | 137) => End::OutOfTime,
        _ if text.contains(OUT_OF_CPU_TIME) => End::OutOfTime,
        _ => End::Failed,
    };
    let verdict = match &program.right {
        Some(right) if text.contains(right) => Verdict::Right,
        Some(_) if end == End::Ended => Verdict::Wrong,
        _ => verdict(&text),
    };
    Ok(ProgramResult {
        arguments,
        end,
        verdict,
        seconds: cpu_seconds(&String::from_utf8_lossy(&output.stderr)),
    })
}

/// Seconds of the CPU from the last line of bash's `time`: of the program and of the system for it.
fn cpu_seconds(text: &str) -> u64 {
    let last = text.lines().last().unwrap_or_default();
    last.split(' ').filter_map(|it| it.parse::<f64>().ok()).sum::<f64>().round() as u64
}

/// Arguments of each run, from the commands that `make -n run` prints.
fn arguments(commands: &str) -> String {
    let runs = commands.lines().filter_map(|it| it.trim().strip_prefix("./"));
    let runs = runs.map(|it| it.split_once(' ').map_or("", |(_, arguments)| arguments.trim()));
    runs.collect::<Vec<_>>().join("; ")
}

/// What the words of a program's output say. A program that reports one wrong result is wrong.
fn verdict(text: &str) -> Verdict {
    const WRONG: [&str; 6] = ["fail", "mismatch", "incorrect", "wrong", "not match", "does not agree"];
    const NONE_WRONG: [&str; 5] = ["0 fail", "no fail", "no mismatch", "mismatches: 0", "failed: 0"];
    const RIGHT: [&str; 7] = ["pass", "success", "correct", "verified", "ok", "match", "valid"];
    let mut verdict = Verdict::None;
    for line in text.lines() {
        let line = line.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|it| line.contains(it));
        if has(&WRONG) && !has(&NONE_WRONG) {
            return Verdict::Wrong;
        }
        let whole_word =
            |word: &str| line.split(|it: char| !it.is_alphanumeric()).any(|it| it.starts_with(word));
        if RIGHT.iter().any(|it| whole_word(it)) || has(&NONE_WRONG) {
            verdict = Verdict::Right;
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_programs_are_told_apart() {
        let cases = [
            ("Average kernel time 3 us\nPASS\n", Verdict::Right),
            ("Verification: SUCCESS", Verdict::Right),
            ("Test 1: PASS\nTest 2: FAIL", Verdict::Wrong),
            ("results are incorrect", Verdict::Wrong),
            ("Mismatches: 0", Verdict::Right),
            ("checksum 12.5\nblock size 64", Verdict::None),
        ];
        for (text, expected) in cases {
            assert_eq!(verdict(text), expected, "{text}");
        }
        let commands = "hipcc main.o -o main\n ./main 100 784\n ./main 100 785\n./main\n";
        assert_eq!(arguments(commands), "100 784; 100 785; ");
        assert_eq!((cpu_seconds("make: Error\n12.4 0.3\n"), cpu_seconds("")), (13, 0));
        assert!(programs().is_ok());
    }
}
