//! The space file: parameters, constraints, and what a configuration becomes.

use super::objective::{Objective, ObjectiveTable};
use super::shapes::{Shape, Work, WorkTable, shapes_of};
use super::triton::{ArgumentTable, TritonRun, TritonTable};
use super::written::value;
use crate::run::CacheState;
use anyhow::{Context, Result, anyhow, bail};
use expression::Expression;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use tune::{Parameter, Value};
use tunedb::Detail;

/// A space file as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecFile {
    /// Name of the study; by default the name of the file.
    pub name: Option<String>,
    /// GPU; of an emulated run the one to emulate.
    pub gpu: Option<String>,
    /// File with parameters and constraints, T1, in place of `parameters`.
    space: Option<String>,
    /// Values of each parameter: a list, or a text with an expression of Python such as `range(1, 9)`.
    #[serde(default)]
    parameters: toml::Table,
    /// Expressions that are true of every valid configuration.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// The configuration in use.
    start: Option<toml::Table>,
    /// How a configuration is built.
    build: Option<Build>,
    /// How it is run.
    run: RunTable,
    /// Arguments of the kernel of `[run.triton]`.
    #[serde(default)]
    argument: Vec<ArgumentTable>,
    /// How its results are checked.
    check: Option<Check>,
    /// Limits of one configuration.
    #[serde(default)]
    limits: LimitTable,
    /// Source of expected times before the first run.
    prior: Option<PriorTable>,
    /// The work of one run, from which times that cannot be are known.
    #[serde(default)]
    work: WorkTable,
    /// Problems that each configuration runs.
    #[serde(default)]
    shapes: Vec<toml::Table>,
    /// The number that is made small.
    #[serde(default)]
    objective: ObjectiveTable,
}

/// How a configuration is built.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// A command of the shell; `{defines}` is `-DNAME=VALUE` of all parameters, `{out}` a folder for this configuration.
    pub command: String,
    /// The code object it makes, which is looked at before the run: `{out}/kernel.hsaco`.
    pub code: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    triton: Option<TritonTable>,
    launch: Option<String>,
    program: Option<String>,
    command: Option<String>,
    kernel: Option<String>,
    time: Option<String>,
    unit: Option<String>,
    file: Option<String>,
    caches: Option<CacheState>,
    #[serde(default)]
    repeats: u32,
}

/// Source of expected times before the first run.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorTable {
    /// A launch file that is emulated in place of `[run]`; fewer workgroups than the real launch will do.
    pub launch: Option<String>,
    /// A matrix product, whose tiles have modelled times.
    pub tile: Option<TilePrior>,
}

/// A matrix product and the parameters that cut it into tiles.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilePrior {
    /// Rows, columns and depth.
    pub mnk: [u64; 3],
    /// Type of the factors.
    #[serde(rename = "type")]
    pub dtype: String,
    /// Layout: `tn`, `tt`, `nn` or `nt`.
    #[serde(default = "TilePrior::layout")]
    pub layout: String,
    /// Parameter with the rows of a tile.
    pub m: String,
    /// Columns.
    pub n: String,
    /// Depth of a step.
    pub k: String,
    /// Waves of a workgroup; 4 without it.
    pub waves: Option<String>,
    /// Pipeline stages; 2 without it.
    pub stages: Option<String>,
    /// Workgroups that share the depth; 1 without it.
    pub split_k: Option<String>,
}

impl TilePrior {
    /// The layout where none is named.
    pub(super) fn layout() -> String {
        "tt".to_owned()
    }
}

/// How a configuration's results are checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A command that fails when the results are wrong.
    pub command: Option<String>,
    /// Allowed difference from the results of the start, relative where they are larger than 1.
    #[serde(default)]
    pub tolerance: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTable {
    seconds: Option<f64>,
    memory_mib: Option<u64>,
}

/// Limits of the process of one configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Wall time, seconds.
    pub seconds: f64,
    /// Memory, MiB.
    pub memory_mib: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { seconds: 300.0, memory_mib: 16 << 10 }
    }
}

/// The program, command or launch that runs.
#[derive(Clone, PartialEq, Debug)]
pub enum Run {
    /// A launch file on an emulated GPU.
    Launch(PathBuf),
    /// A kernel of Triton, compiled for each configuration and shape and launched on an emulated GPU.
    Triton(TritonRun),
    /// A program whose kernels are timed, as `profile` does: on the GPU, or emulated.
    Program {
        /// A command of the shell.
        command: String,
        /// Name or regular expression of the kernels that count; of none all.
        kernel: Option<String>,
    },
    /// A command that prints its time.
    Command {
        /// A command of the shell.
        command: String,
        /// How the time is found in its output.
        measure: Measure,
    },
}

/// How a time is found in what a command prints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measure {
    /// A regular expression with one group; without it the only number of the output.
    pub pattern: Option<String>,
    /// A file that the command writes, in place of what it prints.
    pub file: Option<String>,
    /// Microseconds of a unit.
    pub scale: Scale,
}

/// Unit of a printed time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// ns
    Nanoseconds,
    /// us
    Microseconds,
    /// ms
    Milliseconds,
    /// s
    Seconds,
}

impl Scale {
    fn by_name(name: &str) -> Option<Scale> {
        Some(match name {
            "ns" => Scale::Nanoseconds,
            "us" => Scale::Microseconds,
            "ms" => Scale::Milliseconds,
            "s" => Scale::Seconds,
            _ => return None,
        })
    }

    /// Microseconds in one.
    pub const fn us(self) -> f64 {
        match self {
            Scale::Nanoseconds => 1e-3,
            Scale::Microseconds => 1.0,
            Scale::Milliseconds => 1e3,
            Scale::Seconds => 1e6,
        }
    }
}

/// The configuration in use: names and values.
pub type Start = Vec<(String, Value)>;

/// A space file, read.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Name of the study.
    pub name: String,
    /// Folder of the file, in which commands run.
    pub folder: PathBuf,
    /// GPU, if the file names one.
    pub gpu: Option<String>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Constraints, as written.
    pub constraints: Vec<String>,
    /// The configuration in use.
    pub start: Option<Start>,
    /// How a configuration is built.
    pub build: Option<Build>,
    /// How it is run.
    pub run: Run,
    /// Runs of each configuration; at least 1.
    pub repeats: u32,
    /// Lines that emulated launches find in the caches, if the file says it.
    pub caches: Option<CacheState>,
    /// How its results are checked.
    pub check: Option<Check>,
    /// Source of expected times before the first run.
    pub prior: Option<PriorTable>,
    /// Limits of one configuration.
    pub limits: Limits,
    /// Work of one run of each shape; one entry for a file without shapes.
    pub work: Vec<Work>,
    /// Problems that each configuration runs; empty if `[run]` is the only one.
    pub shapes: Vec<Shape>,
    /// The number that is made small.
    pub objective: Objective,
}

impl Spec {
    /// Reads a space file.
    ///
    /// # Errors
    /// If it is not TOML of this form, or `[run]` has none or several of its keys for what runs.
    pub fn read(path: &Path) -> Result<Spec> {
        let name = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let stem = path.file_stem().map_or_else(|| "tune".into(), |it| it.to_string_lossy());
        Spec::of(&text, &stem, folder).with_context(|| format!("`{name}`"))
    }

    /// The space file with this text, name and folder.
    ///
    /// # Errors
    /// As [`Spec::read`].
    pub fn of(text: &str, stem: &str, folder: &Path) -> Result<Spec> {
        let file: SpecFile = toml::from_str(text).map_err(|error| anyhow!("{error}"))?;
        let run = run(&file, folder)?;
        let parameters = file.parameters.iter().map(|(name, values)| parameter(name, values));
        let parameters = parameters.collect::<Result<Vec<_>>>()?;
        let mut constraints = file.constraints;
        let parameters = match (&file.space, parameters.is_empty()) {
            (Some(_), false) => bail!("it has both `space` and `[parameters]`"),
            (None, true) => bail!("`[parameters]` is empty: give each parameter a list of values"),
            (None, false) => parameters,
            (Some(path), true) => {
                let (parameters, more) = described(&folder.join(path))?;
                constraints.extend(more);
                parameters
            }
        };
        let repeats = file.run.repeats.max(1);
        let shapes = shapes_of(&file.shapes, &parameters)?;
        let objective = Objective::of(&file.objective, file.run.command.is_some())?;
        Ok(Spec {
            name: file.name.unwrap_or_else(|| stem.to_owned()),
            folder: folder.to_owned(),
            gpu: file.gpu,
            start: file.start.as_ref().map(start).transpose()?,
            run,
            parameters,
            constraints,
            build: file.build,
            repeats,
            caches: file.run.caches,
            check: file.check,
            prior: file.prior,
            limits: Limits {
                seconds: file.limits.seconds.filter(|it| *it > 0.0).unwrap_or(Limits::default().seconds),
                memory_mib: file.limits.memory_mib.unwrap_or(Limits::default().memory_mib),
            },
            work: file.work.of(&shapes)?,
            shapes,
            objective,
        })
    }

    /// A space file whose runs are the emulated launch of the prior; `None` if there is none.
    pub fn emulated_prior(&self) -> Option<Spec> {
        let run = match (&self.prior, &self.run) {
            (Some(PriorTable { launch: Some(launch), .. }), _) => Run::Launch(self.folder.join(launch)),
            (_, run @ (Run::Launch(_) | Run::Triton(_))) => run.clone(),
            _ => return None,
        };
        Some(Spec {
            run,
            repeats: 1,
            check: None,
            work: Vec::new(),
            objective: Objective::default(),
            ..self.clone()
        })
    }

    /// True if equal runs give equal times.
    pub fn is_repeatable(&self, on_gpu: bool) -> bool {
        match &self.run {
            Run::Launch(_) | Run::Triton(_) => true,
            Run::Program { .. } => !on_gpu,
            Run::Command { .. } => false,
        }
    }
}

fn run(file: &SpecFile, folder: &Path) -> Result<Run> {
    let table = &file.run;
    let given = [&table.launch, &table.program, &table.command].iter().filter(|it| it.is_some()).count();
    if given + usize::from(table.triton.is_some()) != 1 {
        bail!(
            "`[run]` needs one of `launch` (a launch file), `triton` (a kernel of Triton), `program` (a program with GPU kernels) and `command` (prints a time)"
        );
    }
    if table.triton.is_none() && !file.argument.is_empty() {
        bail!("`[[argument]]` goes with `[run.triton]`; a launch file has its own");
    }
    if table.triton.is_some() && file.build.is_some() {
        bail!("`[run.triton]` compiles the kernel itself: remove `[build]`");
    }
    if table.command.is_none() && (table.time.is_some() || table.unit.is_some() || table.file.is_some()) {
        bail!("`time`, `unit` and `file` go with `command`; other times are the kernels' times");
    }
    if table.command.is_some() && table.caches.is_some() {
        bail!(
            "`caches` goes with `launch`, `triton` and `program`; a command empties the caches itself, or its buffers are larger than `{{last_cache_mib}}`"
        );
    }
    if let Some(triton) = &table.triton {
        return Ok(Run::Triton(TritonRun::of(triton, &file.argument, folder)?));
    }
    if let Some(launch) = &table.launch {
        return Ok(Run::Launch(folder.join(launch)));
    }
    if let Some(command) = &table.program {
        return Ok(Run::Program { command: command.clone(), kernel: table.kernel.clone() });
    }
    let command = table.command.clone().unwrap_or_default();
    if let Some(pattern) = &table.time {
        let groups = regex::Regex::new(pattern).context("`time`")?.captures_len();
        if groups != 2 {
            bail!("`time` needs one group in parentheses around the number, it has {}", groups - 1);
        }
    }
    let unit = table.unit.as_deref().unwrap_or("ms");
    let Some(scale) = Scale::by_name(unit) else {
        bail!("`unit` is `ns`, `us`, `ms` or `s`, and not `{unit}`");
    };
    Ok(Run::Command {
        command,
        measure: Measure { pattern: table.time.clone(), file: table.file.clone(), scale },
    })
}

/// Parameters and constraints of a T1 file.
fn described(path: &Path) -> Result<(Vec<Parameter>, Vec<String>)> {
    let name = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{name}`"))?;
    let tunings = tunedb::read(&name.to_string(), &bytes).map_err(|error| anyhow!("`{name}`: {error}"))?;
    let Detail::Space(space) = &tunings.detail else { bail!("`{name}` describes no search space") };
    Ok((super::recorded::parameters(space), space.restrictions.clone()))
}

/// Values of an expression of Python: a list or range.
fn listed(name: &str, text: &str) -> Result<Option<Vec<Value>>> {
    let Ok(expression) = Expression::parse(text) else { return Ok(None) };
    let Ok(expression::Value::List(all)) = expression.constant() else { return Ok(None) };
    let of = |it: &expression::Value| {
        Ok(match it {
            expression::Value::Int(it) => Value::Int(*it),
            expression::Value::Float(it) => Value::Float(*it),
            expression::Value::Bool(it) => Value::Bool(*it),
            expression::Value::Text(it) => Value::Text(it.clone()),
            expression::Value::List(_) => {
                bail!("`{name}`: a value is a number, text, `True` or `False`, and no list")
            }
        })
    };
    all.iter().map(of).collect::<Result<Vec<_>>>().map(Some)
}

fn parameter(name: &str, values: &toml::Value) -> Result<Parameter> {
    let values = match values {
        toml::Value::Array(all) => all.iter().map(|it| value(name, it)).collect::<Result<Vec<_>>>()?,
        toml::Value::String(text) => match listed(name, text)? {
            Some(values) => values,
            None => vec![Value::Text(text.clone())],
        },
        other => vec![value(name, other)?],
    };
    for (at, it) in values.iter().enumerate() {
        if values[..at].contains(it) {
            bail!("`{name}` has the value {it} twice");
        }
    }
    Ok(Parameter { name: name.to_owned(), values })
}

fn start(table: &toml::Table) -> Result<Start> {
    table.iter().map(|(name, it)| Ok((name.clone(), value(name, it)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[parameters]\nx = [1, 2]\ny = [true, false]\n[start]\nx = 2\n[run]\ncommand = \"./a {x}\"\ntime = \"([0-9.]+) us\"\nunit = \"us\"\n";

    #[test]
    fn a_space_file() {
        let spec = Spec::of(GOOD, "conv", Path::new(".")).unwrap();
        assert_eq!(spec.name, "conv");
        assert_eq!(spec.parameters[0].values, [Value::Int(1), Value::Int(2)]);
        assert_eq!(spec.start, Some(vec![("x".to_owned(), Value::Int(2))]));
        assert!(matches!(&spec.run, Run::Command { measure, .. } if measure.scale.us() == 1.0));
    }

    #[test]
    fn values_are_lists_or_expressions() {
        for (text, count) in [
            ("[1, 2, 3]", 3),
            ("\"range(0, 10, 2)\"", 5),
            ("\"[2**i for i in range(4)]\"", 4),
            ("\"fast\"", 1),
            ("7", 1),
        ] {
            let spec = Spec::of(&GOOD.replace("[1, 2]", text), "a", Path::new(".")).unwrap();
            assert_eq!(spec.parameters[0].values.len(), count, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (from, to, said) in [
            ("x = [1, 2]", "x = [1, 1]", "twice"),
            ("x = [1, 2]\ny = [true, false]", "", "is empty"),
            ("x = [1, 2]", "x = \"[[1]]\"", "no list"),
            ("unit = \"us\"", "unit = \"h\"", "`h`"),
            ("([0-9.]+)", "[0-9.]+", "it has 0"),
            ("([0-9.]+)", "([0-9.]+", "`time`"),
            ("command", "programme", "programme"),
            ("[run]", "[run]\ncaches = \"cold\"", "`caches` goes with"),
            ("[run]", "[run]\ncaches = \"hot\"", "`hot`"),
            ("command = \"./a {x}\"", "", "needs one of"),
            ("x = [1, 2]", "x = [[1], [2]]", "a value is"),
        ] {
            let error = Spec::of(&GOOD.replace(from, to), "a", Path::new(".")).unwrap_err();
            assert!(format!("{error:#}").contains(said), "{to}: {error:#}");
        }
    }
}
