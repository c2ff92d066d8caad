//! The selected part of a program or a recording, as command-line options.
//!
//! A follow-up command keeps the selection of the current one. Kernel numbers are positions in the list of
//! one recording, so they become names before they go into a command on another recording.

use super::words::split;
use crate::workload::{Renames, Subject};
use std::collections::BTreeSet;
use view::{Wanted, shell_word};
use workload::plain_kernel_name;

/// Beginning of the command that made a recording, if it states more than the program.
const PROFILE: &str = "rockhound profile ";
/// Option name, in commands that record and in commands that analyze.
const ITERATIONS: &str = "--kernel-iteration-range";

/// Parts of a program that a profiler records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Kernels: names or regular expressions; all of none.
    pub kernels: Vec<String>,
    /// Dispatches as on the command line; all of none.
    pub dispatches: Vec<String>,
    /// Launches of each kernel as on the command line; all of none.
    pub iterations: Vec<String>,
    /// Maximum number of them.
    pub limit: Option<u64>,
}

impl Recorded {
    /// The command as the recording keeps it: the program's command line, with the recorded part unless
    /// everything was recorded.
    pub fn command(&self, program: &str) -> String {
        match self.options() {
            options if options.is_empty() => program.to_owned(),
            options => format!("{PROFILE}{options}-- {program}"),
        }
    }

    /// The reverse of [`Recorded::command`]; `None` for a launch file, which is a kernel and not a program.
    pub(super) fn parse(command: &str) -> Option<(Self, &str)> {
        let Some(options) = command.strip_prefix(PROFILE) else { return Some((Self::default(), command)) };
        let (words, program) = split(options)?;
        let mut recorded = Recorded::default();
        let mut option = String::new();
        for word in words {
            match (option.as_str(), word) {
                (_, word) if matches!(word.as_str(), "-k" | "-d" | ITERATIONS | "--dispatch-limit") => {
                    option = word;
                }
                (ITERATIONS, word) => recorded.iterations.push(word),
                ("-k", word) => recorded.kernels.push(word),
                ("-d", word) => recorded.dispatches.push(word),
                ("--dispatch-limit", word) => recorded.limit = word.parse().ok(),
                _ => {}
            }
        }
        Some((recorded, program))
    }

    /// Options of `rockhound profile`, with a space behind them.
    pub(super) fn options(&self) -> String {
        let mut out =
            list("-k", &self.kernels) + &list("-d", &self.dispatches) + &list(ITERATIONS, &self.iterations);
        if let Some(limit) = self.limit {
            out += &format!("--dispatch-limit {limit} ");
        }
        out
    }
}

/// Selected part of a recording; empty selects everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Looked {
    wanted: Wanted,
    /// Names of the selected kernels, without template arguments and parameters; empty without a selection of
    /// kernels.
    plain: Vec<String>,
}

impl Looked {
    /// The requested selection, if it is less than everything.
    pub(super) fn at(subject: &Subject, renames: &Renames) -> Self {
        let (w, wanted) = (&subject.workload, &subject.wanted);
        if subject.rows.len() == w.dispatches.len() {
            return Looked::default();
        }
        let mut wanted = wanted.clone();
        for kernel in &mut wanted.kernels {
            // The kernel may have another name here than in the base, where it was selected.
            let other = renames.others(kernel).next().filter(|_| !subject_has(subject, kernel));
            if let Some(other) = other.map(str::to_owned) {
                *kernel = other;
            }
        }
        let names: BTreeSet<&str> = subject.rows.iter().map(|row| w.kernel_of(*row as usize)).collect();
        let plain = names.into_iter().map(|name| plain_name(name).to_owned()).collect::<BTreeSet<_>>();
        let plain = if wanted.kernels.is_empty() { Vec::new() } else { plain.into_iter().collect() };
        Looked { wanted, plain }
    }

    /// Options of the commands that read recordings, with a space before them.
    pub(super) fn options(&self) -> String {
        before(list("-k", &self.wanted.kernels) + &self.dispatches())
    }

    /// The same with one of the kernels instead of all: its index in the list of this recording.
    pub(super) fn options_of_one(&self, place: Option<usize>) -> String {
        let kernel = place.map_or_else(String::new, |place| format!("-k {place} "));
        before(kernel + &self.dispatches())
    }

    /// Options of `inspect`, which takes one expression for the kernel and each dispatch on its own.
    pub(super) fn options_of_code(&self, expression: Option<&str>) -> String {
        let kernel = expression.map_or_else(String::new, |it| format!("-k {} ", shell_word(it)));
        let dispatches = self.wanted.dispatches.iter().map(|it| format!("-d {} ", shell_word(it)));
        before(kernel + &dispatches.collect::<String>())
    }

    /// Options to record the same part of the program again, if dispatches keep their numbers.
    pub(super) fn again(&self, recorded: Recorded) -> Recorded {
        let or = |own: &Vec<String>, other| if own.is_empty() { other } else { own.clone() };
        Recorded {
            kernels: or(&self.wanted.kernels, recorded.kernels),
            dispatches: or(&self.wanted.dispatches, recorded.dispatches),
            // In a recording of some launches the first of them is the first of the kernel.
            iterations: or(&recorded.iterations, self.wanted.iterations.clone()),
            limit: recorded.limit,
        }
    }

    /// Kernels as options of another profiler, with a space before them: parts of names fit expressions and
    /// names alike. Dispatches are counted in other ways there.
    pub(super) fn options_elsewhere(&self) -> String {
        before(list("-k", &self.plain))
    }

    fn dispatches(&self) -> String {
        list("-d", &self.wanted.dispatches)
            + &list("--gpu-id", &self.wanted.gpus)
            + &list(ITERATIONS, &self.wanted.iterations)
    }
}

fn subject_has(subject: &Subject, kernel: &str) -> bool {
    subject.workload.kernels.iter().any(|name| plain_kernel_name(name) == kernel)
}

fn before(options: String) -> String {
    if options.is_empty() { options } else { format!(" {}", options.trim_end()) }
}

fn list<T: ToString>(option: &str, values: &[T]) -> String {
    if values.is_empty() {
        return String::new();
    }
    let values: Vec<_> = values.iter().map(|it| shell_word(&it.to_string()).into_owned()).collect();
    format!("{option} {} ", values.join(" "))
}

/// A kernel's name without template arguments and parameters.
pub(super) fn plain_name(kernel: &str) -> &str {
    let plain = kernel.strip_prefix("void ").unwrap_or(kernel);
    let end = plain.find(['<', '(']).filter(|end| *end > 0).unwrap_or(plain.len());
    &plain[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(words: &[&str]) -> Vec<String> {
        words.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn a_recording_says_what_of_its_program_it_holds() {
        let gemm = own(&["gemm.*f16", "it's -- one"]);
        for (recorded, command) in [
            (Recorded::default(), "./app 'a b' -- -k c"),
            (
                Recorded {
                    kernels: gemm,
                    dispatches: own(&[">10", "2"]),
                    iterations: own(&["2-5"]),
                    limit: Some(3),
                },
                r"rockhound profile -k 'gemm.*f16' 'it'\''s -- one' -d '>10' 2 --kernel-iteration-range 2-5 --dispatch-limit 3 -- ./app 'a b' -- -k c",
            ),
            (
                Recorded { limit: Some(1), ..Recorded::default() },
                "rockhound profile --dispatch-limit 1 -- ./app 'a b' -- -k c",
            ),
        ] {
            assert_eq!(recorded.command("./app 'a b' -- -k c"), command);
            assert_eq!(Recorded::parse(command), Some((recorded, "./app 'a b' -- -k c")));
        }
        for file in ["rockhound profile LAUNCH.toml", "rockhound profile --gpu mi210 it's.toml"] {
            assert_eq!(Recorded::parse(file), None);
        }
    }

    #[test]
    fn what_is_looked_at_goes_before_what_was_recorded() {
        let recorded = Recorded {
            kernels: own(&["gemm"]),
            dispatches: own(&["<9"]),
            limit: Some(8),
            ..Recorded::default()
        };
        for (kernels, dispatches, options) in [
            (&[][..], &[][..], "-k gemm -d '<9' --dispatch-limit 8 "),
            (&["gemm<int>"], &[], "-k 'gemm<int>' -d '<9' --dispatch-limit 8 "),
            (&[], &["2-3", "7"], "-k gemm -d 2-3 7 --dispatch-limit 8 "),
        ] {
            let wanted = Wanted { kernels: own(kernels), dispatches: own(dispatches), ..Wanted::default() };
            let looked = Looked { wanted, plain: vec![] };
            assert_eq!(looked.again(recorded.clone()).options(), options);
        }
    }

    #[test]
    fn each_command_has_options_of_its_own() {
        let wanted = Wanted {
            kernels: own(&["void gemm<int>(int*)"]),
            dispatches: own(&["1", ">3"]),
            gpus: vec![0, 2],
            iterations: own(&["2-3"]),
        };
        let looked = Looked { wanted, plain: own(&["gemm"]) };
        let rest = "-d 1 '>3' --gpu-id 0 2 --kernel-iteration-range 2-3";
        assert_eq!(looked.options(), format!(" -k 'void gemm<int>(int*)' {rest}"));
        assert_eq!(looked.options_of_one(Some(4)), format!(" -k 4 {rest}"));
        assert_eq!(looked.options_of_code(Some("gemm")), " -k gemm -d 1 -d '>3'");
        assert_eq!(looked.options_elsewhere(), " -k gemm");
        let all = Looked::default();
        let none =
            [all.options(), all.options_of_one(None), all.options_of_code(None), all.options_elsewhere()];
        assert_eq!(none, [""; 4]);
    }
}
