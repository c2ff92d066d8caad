//! The tools: which command answers, and what becomes of each argument.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Kinds of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A file or folder, or a stored recording.
    Path,
    /// Several of them.
    Paths,
    /// A file or folder that the command makes.
    Made,
    /// A word.
    Text,
    /// Several words, each with its option.
    Texts,
    /// A whole number.
    Count,
    /// True or false: the option alone.
    Flag,
    /// A program with its arguments, after `--`.
    Program,
}

/// One argument.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) form: Form,
    /// Option of the command; empty: the value alone.
    pub(super) option: &'static str,
    pub(super) is_required: bool,
    help: &'static str,
}

/// Sources of answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answers {
    /// The command's document.
    Command,
    /// What `guide` says of the recording that the command makes.
    Recording,
    /// The page of a rule, the definition of a metric or counter, or a finding of an answer.
    Name,
    /// A piece of an answer.
    Piece,
    /// The text that the command writes.
    Text,
}

/// One tool.
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) command: &'static [&'static str],
    pub(super) answers: Answers,
    /// It starts programs, whatever its arguments are.
    pub(super) runs: bool,
    /// It writes into the folders.
    writes: bool,
    help: &'static str,
    pub(super) arguments: &'static [Argument],
}

const fn optional(name: &'static str, form: Form, option: &'static str, help: &'static str) -> Argument {
    Argument { name, form, option, is_required: false, help }
}

const fn required(name: &'static str, form: Form, help: &'static str) -> Argument {
    Argument { name, form, option: "", is_required: true, help }
}

const KERNEL: Argument = optional("kernel", Form::Text, "-k", "Regular expression of kernel names.");
const GPU: Argument =
    optional("gpu", Form::Text, "--gpu", "GPU to emulate: mi210, mi250x, mi300x, mi300a, mi350x.");

/// All tools.
pub(super) const ALL: [Definition; 10] = [
    Definition {
        name: "inspect",
        command: &["inspect"],
        answers: Answers::Command,
        runs: false,
        writes: false,
        help: "What limits each kernel of compiled code, without running it: registers, occupancy, spills, LDS, instruction mix, findings with source lines. Takes HIP sources, which it compiles, code objects, libraries, programs, assembly, Triton's IR and caches. `open` with `listing:KERNEL` shows instructions.",
        arguments: &[
            required("files", Form::Paths, "HIP sources, files or folders with GPU code."),
            KERNEL,
            optional("target", Form::Text, "-a", "Only code for this target: gfx90a, gfx942, gfx950."),
        ],
    },
    Definition {
        name: "template",
        command: &["launch-template"],
        answers: Answers::Text,
        runs: false,
        writes: false,
        help: "Writes a first launch file for a kernel of a HIP source or of compiled code: grid, arguments with their types, contents. Save it as `LAUNCH.toml`, set sizes, values and outputs, then `profile` it and `judge` variants with it.",
        arguments: &[
            required("file", Form::Path, "HIP source, code object, library or program."),
            optional("kernel", Form::Text, "-k", "Name of the kernel, where there are several."),
            optional("target", Form::Text, "--arch", "Target: gfx90a, gfx942, gfx950."),
        ],
    },
    Definition {
        name: "profile",
        command: &["profile"],
        answers: Answers::Recording,
        runs: false,
        writes: true,
        help: "Runs a launch file (or, if the user allows it, a program) on an emulated GPU, records exact counters and modelled caches and times, and says what limits its kernels. No GPU is needed. `open` with `table:2.1` and the like shows metrics.",
        arguments: &[
            optional(
                "launch",
                Form::Path,
                "",
                "Launch file (TOML): HIP source or code object, kernel, grid, arguments; `template` writes a first one.",
            ),
            optional("shape", Form::Text, "--shape", "Values in braces of the launch file: `N=1000,M=8`."),
            GPU,
            KERNEL,
            optional(
                "output",
                Form::Made,
                "-o",
                "Folder of the recording; by default a new one in `workloads`.",
            ),
            optional("program", Form::Program, "", "Program and arguments instead of a launch file."),
            optional(
                "breakdown",
                Form::Flag,
                "--breakdown",
                "Say too what each limit of the GPU is worth; takes a few times as long.",
            ),
        ],
    },
    Definition {
        name: "judge",
        command: &["judge"],
        answers: Answers::Command,
        runs: false,
        writes: false,
        help: "Says of variants of a kernel whether each is right, safe (races, bounds, uninitialised reads) and faster than the first one, on the same inputs. Deterministic. Takes launch files, or code objects and HIP sources with `launch`, or, if the user allows it, programs and Python scripts.",
        arguments: &[
            required("base", Form::Path, "The variant that is right."),
            required("candidates", Form::Paths, "Variants to judge."),
            optional("launch", Form::Path, "--launch", "Launch file of code objects and sources."),
            GPU,
            optional("seeds", Form::Count, "--seeds", "Sets of random inputs, 3 by default."),
            optional(
                "shapes",
                Form::Texts,
                "--shape",
                "Values in braces of the launch file: `N=1000,M=8`, one text per shape.",
            ),
            optional("claim", Form::Text, "--claim", "A claimed time in us: is it possible?"),
            optional("arguments", Form::Program, "", "Arguments of programs and scripts."),
        ],
    },
    Definition {
        name: "guide",
        command: &["guide"],
        answers: Answers::Command,
        runs: false,
        writes: false,
        help: "Says of a recording of counters (rocprof-compute, rocprofv3, Rockhound) what bounds it, what that excludes, and the next steps. `open` with `table:ID` shows its metrics.",
        arguments: &[
            required("recording", Form::Path, "Folder or file, or `store:ID`."),
            optional("kernel", Form::Text, "-k", "Number, name or regular expression of kernels."),
            optional("base", Form::Path, "--base", "An earlier recording to compare with."),
            optional(
                "match",
                Form::Texts,
                "--match",
                "Kernels of the base that have another name here: `OLD=NEW`.",
            ),
        ],
    },
    Definition {
        name: "compare",
        command: &["diff"],
        answers: Answers::Command,
        runs: false,
        writes: false,
        help: "Differences between two builds of code, or between two recordings: what changed in registers, occupancy, instructions and metrics, what got worse.",
        arguments: &[
            required("before", Form::Path, "Code or recording before the change."),
            required("after", Form::Path, "The same after it."),
            KERNEL,
        ],
    },
    Definition {
        name: "tune",
        command: &["tune"],
        answers: Answers::Command,
        runs: true,
        writes: true,
        help: "Searches the parameters of a kernel (a space file, `tune.toml`) for the fastest valid configuration and proves that it is right and faster. Starts compilers and programs, so the user must allow it.",
        arguments: &[
            required(
                "space",
                Form::Path,
                "Space file: parameters, constraints, what a configuration becomes.",
            ),
            optional("budget", Form::Text, "--budget", "Runs, time or GPU seconds: `60`, `5min`."),
            GPU,
        ],
    },
    Definition {
        name: "triage",
        command: &["triage"],
        answers: Answers::Command,
        runs: false,
        writes: false,
        help: "Finds what went wrong in logs of jobs: the first cause, the place, what to do. Reads any log of ROCm, PyTorch, vLLM, SGLang, RCCL, Slurm and builds.",
        arguments: &[required("files", Form::Paths, "Logs, or folders of logs.")],
    },
    Definition {
        name: "explain",
        command: &["explain"],
        answers: Answers::Name,
        runs: false,
        writes: false,
        help: "Explains a rule (MEM001), a metric (l2.hit_rate, 16.1.0), a counter (TCC_HIT) or a finding of an answer (a2/finding:MEM001@3): what it means, why it costs time, what to change.",
        arguments: &[required("name", Form::Text, "The name.")],
    },
    Definition {
        name: "open",
        command: &[],
        answers: Answers::Piece,
        runs: false,
        writes: false,
        help: "Opens an id that an answer named: `finding:MEM001@3`, `table:2.1`, `table:2` (all of panel 2), `kernel:NAME`, `listing:KERNEL#120-160`, `at:/path`. With `a2/` before it the id is of answer a2, else of the latest that has it.",
        arguments: &[
            required("id", Form::Text, "The id."),
            optional("from", Form::Count, "", "First entry, row or line to show."),
            optional(
                "kernel",
                Form::Text,
                "",
                "Of tables of a recording: number, name or regular expression of the kernels they are about.",
            ),
        ],
    },
];

/// The tool of a name.
pub(super) fn by_name(name: &str) -> Option<&'static Definition> {
    ALL.iter().find(|it| it.name == name)
}

impl Definition {
    /// The tool as a client sees it.
    pub(super) fn tool(&self) -> Tool {
        let properties: JsonObject =
            self.arguments.iter().map(|it| (it.name.to_owned(), it.schema())).collect();
        let required: Vec<&str> =
            self.arguments.iter().filter(|it| it.is_required).map(|it| it.name).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        let annotations = ToolAnnotations::new().read_only(!self.writes).open_world(false);
        Tool::new(self.name, self.help, schema).with_annotations(annotations)
    }

    /// Names of its arguments.
    pub(super) fn names(&self) -> String {
        self.arguments.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
    }
}

impl Argument {
    fn schema(&self) -> Value {
        match self.form {
            Form::Path | Form::Made | Form::Text => json!({ "type": "string", "description": self.help }),
            Form::Count => json!({ "type": "integer", "minimum": 0, "description": self.help }),
            Form::Flag => json!({ "type": "boolean", "description": self.help }),
            Form::Paths | Form::Texts | Form::Program => json!({
                "type": "array", "items": { "type": "string" }, "minItems": 1, "description": self.help,
            }),
        }
    }
}
