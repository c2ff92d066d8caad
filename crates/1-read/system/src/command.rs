//! Command lines of jobs: launchers, servers and benchmarks, with their options.
//!
//! A command is a chain (`mpirun -np 8 numactl ... python train.py`); each link takes its own options and
//! hands the rest on.

mod container;

use container::{container, shell_script, wrapper};

/// A program that is known here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `vllm serve`, or the server as a Python module.
    VllmServe,
    /// `torchrun`, `torch.distributed.run`.
    Torchrun,
    /// `mpirun`, `mpiexec`.
    Mpirun,
    /// Slurm's `srun`.
    Srun,
    /// `numactl`.
    Numactl,
    /// `hipblaslt-bench`.
    HipblasltBench,
    /// A benchmark of rccl-tests.
    RcclTests,
    /// `docker run`, `podman exec`, `singularity exec`, `kubectl exec` and others.
    Container,
    /// SGLang's server as a Python module.
    SglangServe,
    /// `deepspeed`, `accelerate launch`.
    Deepspeed,
    /// A Python program.
    Python,
    /// Anything else.
    Other,
}

/// One link of the chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// Kind.
    pub kind: Kind,
    /// Program as written.
    pub program: String,
    /// Options with their values, as written: `--tensor-parallel-size`, `8`.
    pub options: Vec<(String, Option<String>)>,
    /// Words that are not options: the model of `vllm serve`, the script of `python`.
    pub words: Vec<String>,
}

/// A command with the variables it sets itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Command {
    /// Variables set on the line: assignments, `env`, `-x` of launchers, `-e` of containers.
    pub environment: Vec<(String, String)>,
    /// Variables that a container takes from the shell by name.
    pub passed: Vec<String>,
    /// Program that keeps the shell's other variables from the job: `docker`, `srun --export=NONE`.
    pub isolated_by: Option<String>,
    /// Links of the chain.
    pub stages: Vec<Stage>,
}

/// Options of launchers that take one more word; others of theirs take none.
const MPIRUN_VALUES: &[&str] = &[
    "-n",
    "-np",
    "--np",
    "-c",
    "-H",
    "-host",
    "--host",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--machinefile",
    "-x",
    "--bind-to",
    "-bind-to",
    "--map-by",
    "-map-by",
    "--rank-by",
    "-N",
    "-npernode",
    "--npernode",
    "-npersocket",
    "-ppn",
    "-wdir",
    "--wdir",
    "-envlist",
    "-genvlist",
];
const MPIRUN_TWO_VALUES: &[&str] = &["-mca", "--mca", "-gmca", "--gmca", "-env", "-genv", "--prtemca"];
const SRUN_VALUES: &[&str] = &[
    "-n",
    "--ntasks",
    "-N",
    "--nodes",
    "-c",
    "--cpus-per-task",
    "-p",
    "--partition",
    "-t",
    "--time",
    "-A",
    "--account",
    "-w",
    "--nodelist",
    "-G",
    "--gpus",
    "--gpus-per-task",
    "--gpus-per-node",
    "--cpu-bind",
    "--mem",
    "-J",
    "--job-name",
    "-o",
    "--output",
];
const TORCHRUN_FLAGS: &[&str] =
    &["--standalone", "-m", "--module", "--no-python", "--no_python", "--run-path", "--run_path"];
const NUMACTL_VALUES: &[&str] = &[
    "-N",
    "--cpunodebind",
    "-m",
    "--membind",
    "-C",
    "--physcpubind",
    "-i",
    "--interleave",
    "-p",
    "--preferred",
    "-l",
];

impl Command {
    /// Reads the words of a command line.
    pub fn parse(words: &[String]) -> Command {
        let mut command = Command::default();
        let mut rest = words;
        // Chains are short; a bound keeps a strange line from being read for ever.
        for _ in 0..16 {
            rest = command.assignments(rest);
            let Some((program, after)) = rest.split_first() else { break };
            let (stage, left) = stage(program, after);
            command.take_environment(&stage);
            // `bash -c "command"` is the command.
            if let Some(script) = shell_script(&stage) {
                let inner = Command::parse(&split(&script));
                command.environment.extend(inner.environment);
                command.passed.extend(inner.passed);
                command.isolated_by = command.isolated_by.or(inner.isolated_by);
                command.stages.extend(inner.stages);
                break;
            }
            command.stages.push(stage);
            rest = left;
        }
        command
    }

    /// Variables that a launcher or container sets for what it starts.
    fn take_environment(&mut self, stage: &Stage) {
        let options =
            stage.options.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref()?)));
        for (option, value) in options {
            match (stage.kind, option) {
                (Kind::Mpirun, "-x") | (Kind::Container, "-e" | "--env") => {
                    let many: Vec<&str> =
                        if stage.is_singularity() { value.split(',').collect() } else { vec![value] };
                    many.into_iter().for_each(|it| self.set_or_pass(it));
                }
                (Kind::Srun, "--export") => {
                    if value.split(',').any(|it| it == "NONE" || it == "NIL") {
                        self.isolated_by = Some("srun --export=NONE".to_owned());
                    }
                    value.split(',').filter(|it| it.contains('=')).for_each(|it| self.set_or_pass(it));
                }
                _ => {}
            }
        }
        let cleans = stage.has(&["--cleanenv", "-e", "--containall", "-C"]);
        if stage.kind == Kind::Container && (!stage.is_singularity() || cleans) {
            self.isolated_by = Some(stage.program.clone());
        }
    }

    fn set_or_pass(&mut self, text: &str) {
        match text.split_once('=') {
            Some((name, value)) if is_name(name) => {
                self.environment.push((name.to_owned(), value.to_owned()));
            }
            None if is_name(text) => self.passed.push(text.to_owned()),
            _ => {}
        }
    }

    /// The command for an environment that was read inside of what isolates the job.
    pub fn in_its_environment(&self) -> Command {
        Command { isolated_by: None, ..self.clone() }
    }

    /// Whether the job's processes exchange data over RCCL; `None` if the command does not tell.
    pub fn communicates(&self) -> Option<bool> {
        if self.stage(Kind::RcclTests).is_some() {
            return Some(true);
        }
        let server = self.stage(Kind::VllmServe).or(self.stage(Kind::SglangServe));
        if let Some(server) = server {
            const PARALLEL: [&[&str]; 4] = [
                &["--tensor-parallel-size", "-tp", "--tp", "--tp-size"],
                &["--pipeline-parallel-size", "-pp", "--pp", "--pp-size"],
                &["--data-parallel-size", "-dp", "--dp", "--dp-size"],
                &["--expert-parallel-size", "-ep", "--ep", "--ep-size"],
            ];
            let size =
                |names: &[&str]| server.value(names).and_then(|it| it.parse::<u64>().ok()).unwrap_or(1);
            return Some(PARALLEL.iter().any(|names| size(names) > 1));
        }
        if let Some(run) = self.stage(Kind::Torchrun) {
            let nodes = run.value(&["--nnodes"]).is_some_and(|it| it != "1" && it != "1:1");
            return Some(nodes || self.processes().is_some_and(|it| it > 1));
        }
        self.stage(Kind::Deepspeed).map(|_| true)
    }

    /// Takes `env`, its options and assignments from the front.
    fn assignments<'a>(&mut self, words: &'a [String]) -> &'a [String] {
        let mut rest = words;
        if rest.first().is_some_and(|it| it == "env" || it.ends_with("/env")) {
            rest = &rest[1..];
        }
        while let Some((word, after)) = rest.split_first() {
            let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) else { break };
            self.environment.push((name.to_owned(), value.to_owned()));
            rest = after;
        }
        rest
    }

    /// The first link of a kind.
    pub fn stage(&self, kind: Kind) -> Option<&Stage> {
        self.stages.iter().find(|it| it.kind == kind)
    }

    /// The program at the end of the chain.
    pub fn program(&self) -> Option<&Stage> {
        self.stages.last()
    }

    /// Processes that a launcher starts on this node, where the command says.
    pub fn processes(&self) -> Option<u64> {
        let number = |kind, names: &[&str]| self.stage(kind)?.value(names)?.parse().ok();
        number(Kind::Torchrun, &["--nproc-per-node", "--nproc_per_node"])
            .or_else(|| {
                number(Kind::Mpirun, &["-npernode", "--npernode", "-N", "-ppn", "-np", "--np", "-n", "-c"])
            })
            .or_else(|| number(Kind::Srun, &["--ntasks-per-node", "-n", "--ntasks"]))
    }
}

impl Stage {
    fn is_singularity(&self) -> bool {
        ["singularity", "apptainer"].iter().any(|it| self.program.ends_with(it))
    }

    /// The value of an option by any of its names; of repeated ones the last.
    pub fn value(&self, names: &[&str]) -> Option<&str> {
        self.options
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))
            .and_then(|(_, value)| value.as_deref())
    }

    /// True if an option is present.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

fn stage<'a>(program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    let name = program.rsplit('/').next().unwrap_or(program);
    let launcher = |kind, values: &[&str], two: &[&str]| launcher(kind, program, words, values, two);
    match name {
        "mpirun" | "mpiexec" | "mpirun.openmpi" | "mpiexec.hydra" | "prterun" => {
            launcher(Kind::Mpirun, MPIRUN_VALUES, MPIRUN_TWO_VALUES)
        }
        "srun" => launcher(Kind::Srun, SRUN_VALUES, &[]),
        "numactl" => launcher(Kind::Numactl, NUMACTL_VALUES, &[]),
        "sudo" | "nohup" | "time" | "exec" | "stdbuf" | "timeout" | "nice" | "taskset" => {
            wrapper(program, words)
        }
        "docker" | "podman" | "nerdctl" | "singularity" | "apptainer" | "kubectl" | "crictl" | "enroot" => {
            container(program, words)
        }
        "deepspeed" | "accelerate" => whole(Kind::Deepspeed, program, words),
        "torchrun" => torchrun(program, words),
        "vllm" if words.first().is_some_and(|it| it == "serve") => {
            whole(Kind::VllmServe, program, &words[1..])
        }
        "hipblaslt-bench" => whole(Kind::HipblasltBench, program, words),
        _ if name.ends_with("_perf") => whole(Kind::RcclTests, program, words),
        _ if name.starts_with("python") => python(program, words),
        _ => whole(Kind::Other, program, words),
    }
}

/// A launcher: its options end at the first word that is none.
fn launcher<'a>(
    kind: Kind,
    program: &str,
    words: &'a [String],
    values: &[&str],
    two: &[&str],
) -> (Stage, &'a [String]) {
    let mut options = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        if word == "--" {
            rest = after;
            break;
        }
        if !word.starts_with('-') {
            break;
        }
        rest = after;
        if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            options.push((name.to_owned(), Some(value.to_owned())));
        } else if two.contains(&word.as_str()) && rest.len() >= 2 {
            options.push((word.clone(), Some(format!("{} {}", rest[0], rest[1]))));
            rest = &rest[2..];
        } else if values.contains(&word.as_str()) && !rest.is_empty() {
            options.push((word.clone(), Some(rest[0].clone())));
            rest = &rest[1..];
        } else {
            options.push((word.clone(), None));
        }
    }
    (Stage { kind, program: program.to_owned(), options, words: Vec::new() }, rest)
}

/// `torchrun`: options take a word, with few exceptions; then comes a script, a module or a program.
fn torchrun<'a>(program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    let flags = |word: &str| TORCHRUN_FLAGS.contains(&word);
    let values: Vec<&str> =
        words.iter().map(String::as_str).filter(|it| it.starts_with('-') && !flags(it)).collect();
    let (mut stage, rest) = launcher(Kind::Torchrun, program, words, &values, &[]);
    stage.words = rest.first().cloned().into_iter().collect();
    let module = stage.has(&["-m", "--module"]);
    let script = rest.first().is_some_and(|it| it.ends_with(".py"));
    // A script is run by Python: its options are not a launcher's.
    if module || script {
        stage.options.push(("script".to_owned(), rest.first().cloned()));
        return (stage, &[]);
    }
    (stage, rest)
}

fn python<'a>(program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    if let Some(at) = words.iter().position(|it| it == "-m").filter(|at| *at < 3) {
        let after = words.get(at + 2..).unwrap_or_default();
        match words.get(at + 1).map(String::as_str) {
            Some("vllm.entrypoints.openai.api_server") => return whole(Kind::VllmServe, program, after),
            Some("sglang.launch_server") => return whole(Kind::SglangServe, program, after),
            Some("torch.distributed.run" | "torch.distributed.launch") => return torchrun(program, after),
            _ => {}
        }
    }
    whole(Kind::Python, program, words)
}

/// A program that takes all words: `--name value`, `--name=value`, `--flag`.
fn whole<'a>(kind: Kind, program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    let mut stage = Stage { kind, program: program.to_owned(), options: Vec::new(), words: Vec::new() };
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let is_number = word.parse::<f64>().is_ok();
        if !word.starts_with('-') || is_number || word == "-" {
            stage.words.push(word.clone());
        } else if let Some((name, value)) = word.split_once('=') {
            stage.options.push((name.to_owned(), Some(value.to_owned())));
        } else {
            let value = after.first().filter(|it| !it.starts_with('-') || it.parse::<f64>().is_ok());
            stage.options.push((word.clone(), value.cloned()));
            rest = if value.is_some() { &after[1..] } else { after };
        }
    }
    (stage, &[])
}

/// Splits a text at blanks as a shell does, with quotes and backslashes; without variables and other
/// expansions.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Command {
        Command::parse(&split(text))
    }

    #[test]
    fn chains_and_their_options() {
        let it = parse(
            "NCCL_DEBUG=INFO mpirun -np 8 --bind-to numa -x A=b -mca btl tcp numactl --cpunodebind 0 ./build/all_reduce_perf -b 8 -e 1G -g 1",
        );
        assert_eq!(
            it.stages.iter().map(|it| it.kind).collect::<Vec<_>>(),
            [Kind::Mpirun, Kind::Numactl, Kind::RcclTests]
        );
        assert_eq!(it.processes(), Some(8));
        assert_eq!(it.environment.len(), 2);
        assert_eq!(it.program().unwrap().value(&["-g"]), Some("1"));
    }

    #[test]
    fn containers_set_the_environment_of_the_job() {
        let variables = |it: &Command| {
            it.environment.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        for (text, expected, isolated, last) in [
            (
                "docker run -it --rm --device=/dev/kfd --device /dev/dri -e A=1 -eB=2 --env C=3 --env=D=4 -e PASSED --shm-size 16G img:1 vllm serve m -tp 8",
                vec!["A=1", "B=2", "C=3", "D=4"],
                Some("docker"),
                Kind::VllmServe,
            ),
            (
                "sudo docker exec -it -e A=1 name bash -c 'export B=2 && torchrun --nproc-per-node 8 t.py'",
                vec!["A=1", "B=2"],
                Some("docker"),
                Kind::Torchrun,
            ),
            (
                "singularity exec --rocm --env A=1,B=2 image.sif python t.py",
                vec!["A=1", "B=2"],
                None,
                Kind::Python,
            ),
            (
                "apptainer run --cleanenv --env A=1 image.sif python t.py",
                vec!["A=1"],
                Some("apptainer"),
                Kind::Python,
            ),
            ("srun -n 8 --export=ALL,A=1,B=2 python t.py", vec!["A=1", "B=2"], None, Kind::Python),
            ("srun --export=NONE,A=1 python t.py", vec!["A=1"], Some("srun --export=NONE"), Kind::Python),
            ("kubectl exec pod-1 -- env A=1 python t.py", vec!["A=1"], Some("kubectl"), Kind::Python),
            (
                "timeout 60 env A=1 python -m sglang.launch_server --tp 8",
                vec!["A=1"],
                None,
                Kind::SglangServe,
            ),
        ] {
            let it = parse(text);
            assert_eq!(variables(&it), expected, "{text}");
            assert_eq!(it.isolated_by.as_deref(), isolated, "{text}");
            assert_eq!(it.program().map(|it| it.kind), Some(last), "{text}: {:?}", it.stages);
        }
        assert_eq!(parse("docker run -e PASSED img python t.py").passed, ["PASSED"]);
    }

    #[test]
    fn whether_a_job_communicates() {
        for (text, expected) in [
            ("vllm serve m -tp 8", Some(true)),
            ("vllm serve m", Some(false)),
            ("docker run img vllm serve m --tensor-parallel-size=2", Some(true)),
            ("python -m sglang.launch_server --model m --tp 8", Some(true)),
            ("torchrun --nproc-per-node 8 t.py", Some(true)),
            ("torchrun --nproc-per-node 1 t.py", Some(false)),
            ("torchrun --nnodes 2 --nproc-per-node 1 t.py", Some(true)),
            ("mpirun -np 8 ./all_reduce_perf -b 8", Some(true)),
            ("deepspeed t.py", Some(true)),
            ("python t.py", None),
        ] {
            assert_eq!(parse(text).communicates(), expected, "{text}");
        }
    }

    #[test]
    fn both_forms_of_the_server() {
        for text in [
            "vllm serve x -tp 8 --flag",
            "python -m vllm.entrypoints.openai.api_server --model=x -tp=8 --flag",
        ] {
            let it = parse(text);
            let stage = it.stage(Kind::VllmServe).expect(text);
            assert_eq!(stage.value(&["--tensor-parallel-size", "-tp"]), Some("8"), "{text}");
            assert!(stage.has(&["--flag"]), "{text}");
        }
    }

    #[test]
    fn scripts_of_torchrun() {
        for text in [
            "torchrun --nproc-per-node=4 --standalone train.py --fsdp",
            "python -m torch.distributed.run --nproc_per_node 4 train.py",
        ] {
            let it = parse(text);
            assert_eq!(it.processes(), Some(4), "{text}");
            assert_eq!(it.stages.len(), 1, "{text}");
        }
    }

    #[test]
    fn quotes() {
        assert_eq!(split(r#"a 'b c' "d\"e" f\ g '' "#), ["a", "b c", "d\"e", "f g", ""]);
    }
}
