//! Values of a search space: parameters, trials and their ends.

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Values as the file writes them. Of results, which list none, those that were tried.
    pub values: Vec<String>,
}

/// The end of a trial.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Status {
    /// It ran, with right results where they were checked.
    Correct,
    /// It did not compile.
    Compile,
    /// It failed at run time.
    Runtime,
    /// Its results are wrong.
    Wrong,
    /// It breaks a restriction of the space.
    Restricted,
    /// It failed in a way that the file does not name.
    Failed,
}

impl Status {
    /// All of a failure, the usual first.
    pub const FAILURES: [Status; 5] =
        [Status::Compile, Status::Runtime, Status::Wrong, Status::Restricted, Status::Failed];

    /// For people, as the reason why a configuration has no time.
    pub const fn words(self) -> &'static str {
        match self {
            Status::Correct => "correct",
            Status::Compile => "the configuration does not compile",
            Status::Runtime => "the configuration fails at run time",
            Status::Wrong => "the results are wrong",
            Status::Restricted => "the configuration breaks a restriction",
            Status::Failed => "the configuration failed",
        }
    }

    /// Of the words that Kernel Tuner writes in place of a time, and of `invalidity` in T4.
    pub(crate) fn of(word: &str) -> Status {
        match word {
            "correct" => Status::Correct,
            "compile" | "CompilationFailedConfig" => Status::Compile,
            "runtime" | "RuntimeFailedConfig" => Status::Runtime,
            "correctness" => Status::Wrong,
            "constraints" | "InvalidConfig" => Status::Restricted,
            _ => Status::Failed,
        }
    }
}

/// One configuration that was tried; the row of the same place has its parameters and mean time.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// Place of each parameter's value in [`Parameter::values`].
    pub values: Vec<u32>,
    /// Times of all runs, milliseconds.
    pub runs_ms: Vec<f32>,
    /// Time to compile, milliseconds.
    pub compile_ms: Option<f32>,
    /// Its end.
    pub status: Status,
}

/// A search space with its trials.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Space {
    /// Kernel.
    pub kernel: String,
    /// Device; empty if the file names none.
    pub device: String,
    /// Size of the problem, as the file writes it.
    pub problem: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Restrictions, as expressions of Python.
    pub restrictions: Vec<String>,
    /// Trials, in the order of the rows.
    pub trials: Vec<Trial>,
}

impl Space {
    /// Combinations of all values; `None` if they are beyond 2^64 or there are no parameters.
    pub fn combinations(&self) -> Option<u64> {
        let mut counts = self.parameters.iter().map(|it| it.values.len() as u64);
        let all = counts.try_fold(1u64, |all, it| all.checked_mul(it));
        all.filter(|_| !self.parameters.is_empty())
    }

    /// The place of a value of a parameter, which is added if it is new.
    pub(crate) fn place(&mut self, parameter: usize, value: &str) -> u32 {
        let Some(parameter) = self.parameters.get_mut(parameter) else { return 0 };
        let at = parameter.values.iter().position(|it| it == value).unwrap_or_else(|| {
            parameter.values.push(value.to_owned());
            parameter.values.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }
}
