//! Processes of this machine: the profiler, and programs that start ranks.

use super::rocprofv3::CommandLine;
use super::{Ended, Launcher};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

/// Polling interval of a process with a limit.
const LOOK: Duration = Duration::from_millis(50);
/// Deepest folder that is counted.
const DEPTH: usize = 8;

/// Processes of this machine. They hear Ctrl-C themselves.
#[derive(Clone, Copy, Debug)]
pub struct Processes;

impl Launcher for Processes {
    fn run(&mut self, command: &CommandLine) -> std::io::Result<Ended> {
        let mut process = Command::new(&command.program);
        process.args(&command.arguments);
        if command.silent {
            process.stdout(Stdio::null());
        }
        let Some((folder, limit)) = &command.limit else {
            return Ok(ended(process.status()?));
        };
        let mut child = process.spawn()?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(ended(status));
            }
            let bytes = bytes_below(folder, DEPTH);
            if bytes > *limit {
                // It may have ended meanwhile.
                let _ = child.kill();
                child.wait()?;
                return Ok(Ended::TooMuch(bytes));
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

/// Bytes of the files below a folder.
fn bytes_below(folder: &Path, depth: usize) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() && depth > 0 => bytes_below(&entry.path(), depth - 1),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(one).sum()
}

/// Standard output of a program called with `arguments`; `None` if it cannot be started or fails.
pub fn ask(program: &Path, arguments: &[OsString]) -> Option<String> {
    said(program, arguments).filter(|output| output.status.success()).map(text)
}

/// The same of a program that says it and fails, as rocprof does with its lists.
pub fn answer(program: &Path, arguments: &[OsString]) -> Option<String> {
    said(program, arguments).map(text)
}

fn said(program: &Path, arguments: &[OsString]) -> Option<Output> {
    Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
}

fn text(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const LAUNCHERS: &str = include_str!("../../data/launchers.tsv");

/// Position where the launcher of ranks ends and the program begins, for a command that starts with one. The
/// error is an unknown word.
pub fn split_launcher(words: &[OsString]) -> Result<Option<usize>, String> {
    let text = |at: usize| words.get(at).map(|it| it.to_string_lossy().into_owned());
    let Some(first) = text(0) else { return Ok(None) };
    let name = first.rsplit('/').next().unwrap_or(&first).replace("mpiexec", "mpirun");
    let rows = LAUNCHERS.lines().filter(|line| !line.starts_with('#'));
    let Some(row) = rows.map(|line| line.split('\t').collect::<Vec<_>>()).find(|row| row[0] == name) else {
        return Ok(None);
    };
    let takes = |word: &str| {
        let in_column = |at: usize| row.get(at).is_some_and(|it| it.split(' ').any(|it| it == word));
        (1..4).find(|at| in_column(*at)).map(|at| at - 1)
    };
    let mut at = 1;
    while let Some(word) = text(at) {
        if !word.starts_with('-') {
            return Ok(Some(at));
        }
        let short = word.get(..2).filter(|short| !word.starts_with("--") && takes(short) == Some(1));
        at += match takes(&word) {
            Some(values) => 1 + values,
            None if word.starts_with("--") && word.contains('=') => 1,
            // `-n4`
            None if short.is_some() => 1,
            None => return Err(word),
        };
    }
    Err(text(at - 1).unwrap_or(first))
}

/// Variables that tell a process its rank: launchers' first, then libraries'.
const RANK_VARIABLES: [&str; 6] =
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "PALS_RANKID"];

/// The rank of this process, if a launcher started it, and the variable that says so.
pub fn rank(variable: &dyn Fn(&str) -> Option<String>) -> Option<(u32, &'static str)> {
    RANK_VARIABLES.iter().find_map(|name| Some((variable(name)?.trim().parse().ok()?, *name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_ends_where_the_program_begins() {
        for (words, expected) in [
            ("./app -n 4", Ok(None)),
            ("mpirun -n 4 ./app -n 5", Ok(Some(3))),
            ("/usr/bin/mpiexec -np 2 --mca btl self -x A=1 python a.py", Ok(Some(8))),
            ("mpirun --map-by=core --oversubscribe ./app", Ok(Some(3))),
            ("srun -n4 --ntasks-per-node=2 -l ./app", Ok(Some(4))),
            ("mpirun --teleport ./app", Err("--teleport".to_owned())),
            ("mpirun -n 4", Err("4".to_owned())),
        ] {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            assert_eq!(split_launcher(&words), expected, "{words:?}");
        }
    }

    #[test]
    fn ranks_come_from_the_usual_variables() {
        for (set, expected) in [
            (&[][..], None),
            (&[("PMI_RANK", "3")], Some((3, "PMI_RANK"))),
            (&[("SLURM_PROCID", "0"), ("OMPI_COMM_WORLD_RANK", "2")], Some((2, "OMPI_COMM_WORLD_RANK"))),
            (&[("PMI_RANK", "x")], None),
        ] {
            let get = |name: &str| set.iter().find(|(it, _)| *it == name).map(|(_, value)| value.to_string());
            assert_eq!(rank(&get), expected, "{set:?}");
        }
    }
}
