//! One question: its arguments as a command line, the command in its own process, the piece of its document that fits.

use super::answers::{Kept, Latest, Recording};
use super::steps;
use super::tools::{Answers, Argument, Definition, Form};
use host::process::{self, Bounds};
use render::brief;
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of an error.
const ERROR: usize = 1500;
/// Bytes that an answer has beside the piece: its id.
const ENVELOPE: usize = 24;

/// Where commands run, and what they may do.
pub(super) struct Surroundings {
    /// Folders that are read and written, without links; relative paths begin at the first.
    pub(super) folders: Vec<PathBuf>,
    /// Temporary folder of the commands.
    pub(super) scratch: PathBuf,
    /// This program.
    pub(super) command: PathBuf,
    /// Programs that a client names are started.
    pub(super) may_run: bool,
    pub(super) seconds: f64,
    pub(super) memory_mib: u64,
    /// Bytes of an answer.
    pub(super) answer: usize,
}

/// One question.
pub(super) struct Question<'a> {
    pub(super) tool: &'static Definition,
    pub(super) arguments: &'a JsonObject,
    pub(super) around: &'a Surroundings,
    pub(super) latest: &'a Mutex<Latest>,
    /// Set when the client cancels.
    pub(super) stop: &'a Arc<AtomicBool>,
}

/// A command line in parts.
#[derive(Default)]
struct Line {
    /// Values without an option.
    values: Vec<String>,
    options: Vec<String>,
    program: Vec<String>,
}

impl Question<'_> {
    /// The answer as JSON text.
    ///
    /// # Errors
    /// Says what is wrong and what to do, for the client to read.
    pub(super) fn answer(&self) -> Result<String, String> {
        let line = self.line()?;
        if (self.tool.runs || self.starts_programs(&line)) && !self.around.may_run {
            return Err(format!(
                "error: `{}` would start a program, and the user has not allowed it\nhint: `rockhound mcp --allow-run` allows it; launch files run without",
                self.tool.name
            ));
        }
        let text = |name: &str| self.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        match self.tool.answers {
            Answers::Command => {
                let document = self.document(&self.words(&line))?;
                Ok(match self.tool.name {
                    "guide" => self.guided(document, line.values[0].clone(), text("kernel")),
                    "inspect" => self.first(document, None, line.values),
                    _ => self.first(document, None, Vec::new()),
                })
            }
            Answers::Recording => self.recording(line),
            Answers::Text => {
                let (text, errors) = self.run(&self.words(&line))?;
                if text.is_empty() {
                    return Err(errors);
                }
                Ok(self.first(json!({ "launch_file": text }), None, Vec::new()))
            }
            Answers::Name => self.explained(text("name")),
            Answers::Piece => self.opened(text("id"), Some(text("kernel")).filter(|it| !it.is_empty())),
        }
    }

    /// Whether a command line starts a program: one that it names, or variants that are programs or scripts.
    fn starts_programs(&self, line: &Line) -> bool {
        let judges = self.tool.command == ["judge"];
        !line.program.is_empty()
            || judges && line.values.iter().any(|it| host::judge::is_program(it.as_ref()))
    }

    /// A recording is made, then judged.
    fn recording(&self, mut line: Line) -> Result<String, String> {
        if line.values.is_empty() == line.program.is_empty() {
            return Err(
                "error: `profile` takes a launch file or a program\nhint: name one of `launch` and `program`"
                    .to_owned(),
            );
        }
        let folder = match self.arguments.get("output").and_then(Value::as_str) {
            Some(folder) => self.made(folder)?,
            None => {
                let folder = self.new_folder(line.values.iter().chain(&line.program).next());
                line.options.push(format!("--output={}", folder.display()));
                folder
            }
        };
        let folder = folder.display().to_string();
        self.run(&self.words(&line))?;
        let words = ["guide", folder.as_str(), "--format=json"].map(str::to_owned);
        let document = self.document(&words)?;
        Ok(self.guided(document, folder, ""))
    }

    /// The first piece of a guide, whose steps name tools; metrics and listings of its recording can be opened.
    fn guided(&self, mut document: Value, path: String, kernel: &str) -> String {
        steps::with_tools(&mut document, self.around.may_run);
        let code = vec![format!("--workload={path}")];
        let kernel = Some(kernel.to_owned()).filter(|it| !it.is_empty());
        self.first(document, Some(Recording { path, kernel }), code)
    }

    /// A folder in `workloads` that is not there yet.
    fn new_folder(&self, subject: Option<&String>) -> PathBuf {
        let path = Path::new(subject.map_or("run", String::as_str));
        let generic = path.file_stem().is_none_or(|it| it.eq_ignore_ascii_case("launch"));
        let named = if generic { path.parent().unwrap_or(path) } else { path };
        let name = named.file_stem().unwrap_or(OsStr::new("run")).to_string_lossy().into_owned();
        let workloads = self.around.folders[0].join("workloads");
        let numbered = (2..).map(|it| workloads.join(format!("{name}-{it}")));
        let mut all = std::iter::once(workloads.join(&name)).chain(numbered);
        all.find(|it| !it.exists()).unwrap_or(workloads)
    }

    /// The page of a rule, the definition of a metric or counter, or a finding with its rule's page.
    fn explained(&self, name: &str) -> Result<String, String> {
        let command = |words: [&str; 2]| {
            let words = [words[0], words[1], "--format=json"].map(str::to_owned);
            self.document(&words)
        };
        if name.starts_with('-') {
            return Err(format!("error: `{name}` is not a name"));
        }
        if let Some(at) = name.find("finding:") {
            let rule = name[at..].trim_start_matches("finding:").split('@').next().unwrap_or_default();
            let finding = self.piece(name, 0, self.around.answer / 2, None)?;
            let document = json!({ "finding": finding, "rule": command(["explain", rule])? });
            return Ok(self.first(document, None, Vec::new()));
        }
        let rule = command(["explain", name]).map(|it| json!({ "rules": it }));
        let found = rule.or_else(|no_rule| {
            command(["metrics", name]).map_err(|no_metric| format!("{no_metric}\n{no_rule}"))
        })?;
        Ok(self.first(found, None, Vec::new()))
    }

    fn opened(&self, id: &str, kernel: Option<&str>) -> Result<String, String> {
        let from = self.arguments.get("from").and_then(Value::as_u64).unwrap_or(0);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        self.piece(id, from, self.around.answer, kernel).map(|it| it.to_string())
    }

    /// A piece of an answer, of a listing, or of what else is known of the answer's subject. An id without an answer is of the
    /// latest that has it: `explain` and the like come between.
    fn piece(&self, id: &str, from: usize, limit: usize, kernel: Option<&str>) -> Result<Value, String> {
        let (all, rest) = self.latest().find(id).map_err(|why| format!("error: {why}"))?;
        if let Some(listing) = rest.strip_prefix("listing:") {
            return self.listing(&all, listing, from, limit);
        }
        let mut known: Vec<String> = Vec::new();
        // Answers are about the kernels that were asked for then.
        let own = if kernel.is_some() { &[] } else { &all[..] };
        for (at, kept) in own.iter().enumerate() {
            match opened(&kept.document, rest, from, (limit, (at > 0).then_some(&kept.id))) {
                Ok(piece) => return Ok(piece),
                Err(unknown) if known.is_empty() => known = unknown.known,
                Err(_) => {}
            }
        }
        // Metrics of a recording take a command: of the latest one.
        let behind = all.iter().enumerate().find_map(|(at, it)| Some((at, it, it.recording.as_ref()?)));
        match (behind, kernel) {
            (Some((at, kept, recording)), _) => {
                let document = self.further(kept, recording, kernel)?;
                match opened(&document, rest, from, (limit, (at > 0).then_some(&kept.id))) {
                    Ok(piece) => return Ok(piece),
                    Err(unknown) => known = [unknown.known, known].concat(),
                }
            }
            (None, Some(_)) => {
                return Err(format!(
                    "error: answer {} is not about a recording, so `kernel` selects nothing\nhint: ask `guide` or `profile` first",
                    all[0].id
                ));
            }
            (None, None) => {}
        }
        let known = if known.is_empty() { "it names none".to_owned() } else { known.join(", ") };
        let text = format!("error: answer {} has no `{rest}`\nhint: ids near it: {known}", all[0].id);
        Err(text.chars().take(ERROR).collect())
    }

    /// All metrics of a recording: of these kernels, or of those that the answer is about.
    fn further(
        &self,
        kept: &Kept,
        recording: &Recording,
        kernel: Option<&str>,
    ) -> Result<Arc<Value>, String> {
        let kernel = kernel.or(recording.kernel.as_deref());
        if let Some(known) = kept.further(kernel) {
            return Ok(known);
        }
        let mut words =
            ["analyze", &format!("--path={}", recording.path), "--format=json"].map(str::to_owned).to_vec();
        words.extend(kernel.map(|it| format!("--kernel={it}")));
        let document = Arc::new(self.document(&words)?);
        let size = document.to_string().len();
        self.latest().extend(&kept.id, kernel, document.clone(), size);
        Ok(document)
    }

    /// Instructions of a kernel, `NAME#from-to`, of the latest answer whose code has it.
    fn listing(&self, all: &[Kept], asked: &str, from: usize, limit: usize) -> Result<Value, String> {
        let range = asked.rsplit_once('#').and_then(|(name, range)| {
            let (from, to) = range.split_once('-').unwrap_or((range, ""));
            Some((name, from.parse().ok()?, to.parse().unwrap_or(usize::MAX)))
        });
        let (name, first, last) = range.unwrap_or((asked, 0, usize::MAX));
        let first = first.max(from);
        let mut why = None;
        for kept in all.iter().filter(|it| !it.code.is_empty()) {
            match self.lines(kept, name) {
                Ok(lines) => {
                    return Ok(instructions(
                        &lines,
                        &format!("listing:{name}"),
                        first..last.saturating_add(1),
                        limit,
                    ));
                }
                Err(error) => why = why.or(Some(error)),
            }
        }
        let no_code = || format!("error: answer {} is not about code\nhint: ask `inspect` first", all[0].id);
        Err(why.unwrap_or_else(no_code))
    }

    /// The listing of a kernel in the code of an answer.
    fn lines(&self, kept: &Kept, name: &str) -> Result<Vec<Value>, String> {
        let mut words = vec!["inspect".to_owned()];
        words.extend(kept.code.iter().cloned());
        let kernel = format!("--kernel=^{}$", regex::escape(name));
        words.extend([kernel, "--asm".to_owned(), "--format=json".to_owned()]);
        let mut document = self.document(&words)?;
        match document.pointer_mut("/kernels/0/listing/lines").map(Value::take) {
            Some(Value::Array(lines)) => Ok(lines),
            _ => {
                let known = brief::ids(&kept.document);
                let kernels: Vec<_> =
                    known.iter().filter_map(|it| it.strip_prefix("kernel:")).take(10).collect();
                Err(format!(
                    "error: there is no kernel `{name}` in answer {}\nhint: kernels are {}",
                    kept.id,
                    kernels.join(", ")
                ))
            }
        }
    }

    /// The first piece of a document that is now kept.
    fn first(&self, document: Value, recording: Option<Recording>, code: Vec<String>) -> String {
        let document = Arc::new(document);
        let id = self.keep(&document, recording, code);
        let piece = brief::brief(&document, self.around.answer.saturating_sub(ENVELOPE));
        let piece = piece.to_string();
        match piece.strip_prefix('{').filter(|it| *it != "}") {
            Some(fields) => format!("{{\"answer\":\"{id}\",{fields}"),
            None => json!({ "answer": id, "value": piece }).to_string(),
        }
    }

    fn keep(&self, document: &Arc<Value>, recording: Option<Recording>, code: Vec<String>) -> String {
        let size = document.to_string().len();
        self.latest().keep(document.clone(), size, recording, code)
    }

    fn latest(&self) -> std::sync::MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The words of the command that answers.
    fn words(&self, line: &Line) -> Vec<String> {
        let mut words: Vec<String> = self.tool.command.iter().map(|it| (*it).to_owned()).collect();
        words.extend(line.values.iter().chain(&line.options).cloned());
        if self.tool.answers == Answers::Command {
            words.push("--format=json".to_owned());
        }
        if !line.program.is_empty() {
            words.push("--".to_owned());
            words.extend(line.program.iter().cloned());
        }
        words
    }

    /// The arguments, checked.
    fn line(&self) -> Result<Line, String> {
        let known = |name: &String| self.tool.arguments.iter().any(|it| it.name == name);
        if let Some(name) = self.arguments.keys().find(|it| !known(it)) {
            let name: String = name.chars().take(80).collect();
            let known = self.tool.names();
            return Err(format!(
                "error: `{}` has no argument `{name}`\nhint: arguments are {known}",
                self.tool.name
            ));
        }
        let mut line = Line::default();
        for argument in self.tool.arguments {
            match self.arguments.get(argument.name) {
                Some(value) if !value.is_null() => self.add(&mut line, argument, value)?,
                _ if argument.is_required => {
                    return Err(format!("error: `{}` needs `{}`", self.tool.name, argument.name));
                }
                _ => {}
            }
        }
        Ok(line)
    }

    fn add(&self, line: &mut Line, argument: &Argument, value: &Value) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("error: `{}` is {what}", argument.name));
        let texts: Vec<String> = match (argument.form, value) {
            (Form::Flag, Value::Bool(is_set)) => {
                line.options.extend(is_set.then(|| argument.option.to_owned()));
                return Ok(());
            }
            (Form::Flag, _) => return wrong("true or false"),
            (Form::Count, Value::Number(count)) if count.is_u64() => vec![count.to_string()],
            (Form::Count, _) => return wrong("a whole number"),
            (Form::Paths | Form::Texts | Form::Program, Value::Array(values)) if !values.is_empty() => {
                let texts: Option<Vec<_>> = values.iter().map(|it| it.as_str().map(str::to_owned)).collect();
                let Some(texts) = texts else { return wrong("a list of texts") };
                texts
            }
            // One text for a list of one.
            (Form::Paths | Form::Texts | Form::Path | Form::Made | Form::Text, Value::String(text)) => {
                vec![text.clone()]
            }
            (Form::Paths | Form::Texts | Form::Program, _) => return wrong("a list of texts, not empty"),
            _ => return wrong("a text"),
        };
        for text in texts {
            if text.contains('\0') || text.is_empty() {
                return wrong("empty or has a zero byte");
            }
            let text = match argument.form {
                Form::Path | Form::Paths => self.inside(&text)?,
                Form::Made => self.made(&text)?.display().to_string(),
                _ => text,
            };
            match (argument.form, argument.option) {
                (Form::Program, _) => line.program.push(text),
                // Paths are absolute now, so none is taken for an option.
                (Form::Path | Form::Paths, "") => line.values.push(text),
                // `explain` and `open` read theirs themselves.
                (_, "") => {}
                (_, option) if option.starts_with("--") => line.options.push(format!("{option}={text}")),
                (_, option) => line.options.push(format!("{option}{text}")),
            }
        }
        Ok(())
    }

    /// A path inside of the folders, absolute and without links.
    fn inside(&self, path: &str) -> Result<String, String> {
        if path.starts_with("store:") {
            return Ok(path.to_owned());
        }
        let full = self.around.folders[0].join(path);
        let found = full.canonicalize();
        let found = found.map_err(|error| format!("error: `{path}`: {error}\nhint: {}", self.folders()))?;
        self.within(path, found).map(|it| it.display().to_string())
    }

    /// The path of what a command is to make, inside of the folders.
    fn made(&self, path: &str) -> Result<PathBuf, String> {
        let full = self.around.folders[0].join(path);
        let there = full.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
        let (Some((above, real)), false) = (there, full.components().any(|it| it.as_os_str() == "..")) else {
            return Err(format!("error: `{path}` is not below a folder\nhint: {}", self.folders()));
        };
        let rest = full.strip_prefix(above).unwrap_or(Path::new(""));
        self.within(path, real).map(|it| if rest.as_os_str().is_empty() { it } else { it.join(rest) })
    }

    fn within(&self, path: &str, real: PathBuf) -> Result<PathBuf, String> {
        if self.around.folders.iter().any(|it| real.starts_with(it)) {
            return Ok(real);
        }
        Err(format!("error: `{path}` is outside of the folders of this server\nhint: {}", self.folders()))
    }

    fn folders(&self) -> String {
        let names: Vec<_> = self.around.folders.iter().map(|it| format!("`{}`", it.display())).collect();
        format!("files are read in {}; relative paths begin at the first", names.join(", "))
    }

    /// The document of a command.
    fn document(&self, words: &[String]) -> Result<Value, String> {
        let (output, errors) = self.run(words)?;
        let document: Option<Value> = serde_json::from_str(&output).ok();
        // Of several inputs, some were read.
        document.filter(|it| errors.is_empty() || !says_errors_only(it)).ok_or_else(|| {
            if errors.is_empty() { format!("error: `{}` gave no answer", words[0]) } else { errors }
        })
    }

    /// Output and errors of a command that ended by itself.
    fn run(&self, words: &[String]) -> Result<(String, String), String> {
        let mut line: Vec<&OsStr> = vec![self.around.command.as_os_str()];
        for folder in self.around.folders.iter().chain([&self.around.scratch]) {
            line.extend([OsStr::new("--within"), folder.as_os_str()]);
        }
        line.extend(words.iter().map(OsStr::new));
        let variables = [("NO_COLOR", "1"), ("COLUMNS", "120")].map(|(name, it)| (name.into(), it.into()));
        let bounds = Bounds {
            seconds: self.around.seconds,
            memory_mib: self.around.memory_mib,
            output_mib: 512,
            variables: variables
                .into_iter()
                .chain([("TMPDIR".to_owned(), self.around.scratch.display().to_string())])
                .collect(),
            stop: Some(self.stop.clone()),
        };
        let end = process::program(&line, &self.around.folders[0], &bounds);
        let errors = said(&end.errors);
        let is_wrong = match end.code {
            Some(0 | 2) => false,
            // Part of it could not be read: the document says what.
            Some(1) => self.tool.answers == Answers::Recording && words[0] == "profile",
            _ => true,
        };
        if end.limit.is_some() || is_wrong || end.signal.is_some() {
            let why = format!("error: `{}`: {}", words[0], end.why());
            return Err(if end.limit.is_none() && !errors.is_empty() { errors } else { why });
        }
        Ok((end.output, errors))
    }
}

/// A piece of a document; one of an older answer names the answer.
fn opened(
    document: &Value,
    id: &str,
    from: usize,
    (limit, older): (usize, Option<&String>),
) -> Result<Value, brief::Unknown> {
    let Some(answer) = older else { return brief::open(document, id, from, limit) };
    let mut piece = brief::open(document, id, from, limit.saturating_sub(ENVELOPE))?;
    if let Value::Object(fields) = &mut piece {
        fields.insert("answer".to_owned(), answer.clone().into());
    }
    Ok(piece)
}

/// Whether a document has nothing but the reasons why its inputs could not be read.
fn says_errors_only(document: &Value) -> bool {
    let is_about = |key: &str| ["schema", "tool", "errors", "summary", "gate", "notes"].contains(&key);
    let is_empty = |it: &Value| it.as_array().is_some_and(Vec::is_empty);
    document["errors"].as_array().is_some_and(|it| !it.is_empty())
        && document.as_object().is_some_and(|it| it.iter().all(|(key, it)| is_about(key) || is_empty(it)))
}

/// The errors and hints among what a command said, or its last lines.
fn said(errors: &str) -> String {
    let mut is_inside = false;
    let is_said = |it: &&str| {
        // An indented line belongs to the line above.
        is_inside =
            it.starts_with("error: ") || it.starts_with("hint: ") || is_inside && it.starts_with("  ");
        is_inside
    };
    let mut lines: Vec<&str> = errors.lines().filter(is_said).collect();
    if lines.is_empty() {
        lines = errors.lines().filter(|it| !it.trim().is_empty()).rev().take(5).collect();
        lines.reverse();
    }
    lines.join("\n").chars().take(ERROR).collect()
}

/// Lines of a listing that fit, with number, address and source.
fn instructions(lines: &[Value], id: &str, range: std::ops::Range<usize>, limit: usize) -> Value {
    let mut shown = String::new();
    let mut next = range.start;
    let end = range.end.min(lines.len());
    for (at, line) in lines.iter().enumerate().take(end).skip(range.start) {
        let address = line["address"].as_u64().map(|it| format!(" {it:#x}")).unwrap_or_default();
        let source =
            match (line.pointer("/source/file").and_then(Value::as_str), line.pointer("/source/line")) {
                (Some(file), Some(line)) => {
                    let file = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
                    format!("  ; {file}:{line}")
                }
                _ => String::new(),
            };
        let text = line["text"].as_str().unwrap_or_default();
        let text = format!("{at}{address} {text}{source}{}\n", executed(&line["run"]));
        if Value::String(format!("{shown}{text}")).to_string().len() + 100 + id.len() > limit {
            break;
        }
        shown.push_str(&text);
        next = at + 1;
    }
    let mut piece = json!({ "id": id, "lines": lines.len(), "text": shown });
    if next < end {
        piece["more"] = format!("open {id}#{next}-{}", end - 1).into();
    }
    piece
}

/// How often waves executed an instruction, and what part of all waiting is before it.
fn executed(run: &Value) -> String {
    let count = run["count"].as_u64().map(|it| format!("  x{it}")).unwrap_or_default();
    let waits = run.pointer("/stall/share").and_then(Value::as_f64).filter(|it| *it >= 0.1);
    count + &waits.map(|it| format!(", {it:.1} % of waits")).unwrap_or_default()
}
