//! Configurations for lists of shapes: entries of vLLM and SGLang by modelled times, entries of AITER, TunableOp and
//! hipBLASLt from the results of their benchmarks.

mod emulated;
mod entries;
mod model_config;
mod modelled;
mod problems;
mod results;
mod search;
mod spaces;

pub use emulated::{ProductClock, ProductTimes};
pub use gemm::ProductLaunch;
pub use model_config::ModelConfig;

use super::{Refusal, column, table};
use arch::Model;
use emulated::Emulated;
use problems::{Group, Groups, LADDER};
use search::{Timed, for_all, operations, time_of};
use spaces::{Measure, ProjectSpace, measure_of, space_of};
use std::collections::BTreeMap;
use tunedb::Tunings;
use view::{
    Answer, Cell, Column, ColumnKind, Configured, Improvement, Input, NamedValue, NoteKind, SearchResult,
    SearchVerdict, Searches, TUNE_SCHEMA, Table, counted,
};

/// Kind of problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A matrix product.
    Gemm,
    /// A fused mixture of experts.
    Moe,
}

impl Operation {
    /// The word on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            Operation::Gemm => "gemm",
            Operation::Moe => "moe",
        }
    }
}

/// The project whose entries are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TuneFor {
    /// AITER's tuned tables.
    Aiter,
    /// vLLM's configurations.
    Vllm,
    /// SGLang's configurations.
    Sglang,
    /// PyTorch's TunableOp.
    TunableOp,
    /// hipBLASLt's tuning file.
    Hipblaslt,
}

impl TuneFor {
    /// Every project.
    pub const ALL: [TuneFor; 5] =
        [TuneFor::Aiter, TuneFor::Vllm, TuneFor::Sglang, TuneFor::TunableOp, TuneFor::Hipblaslt];

    /// The word on the command line.
    pub const fn key(self) -> &'static str {
        match self {
            TuneFor::Aiter => "aiter",
            TuneFor::Vllm => "vllm",
            TuneFor::Sglang => "sglang",
            TuneFor::TunableOp => "tunableop",
            TuneFor::Hipblaslt => "hipblaslt",
        }
    }
}

/// Shapes to find configurations for.
#[derive(Clone, Copy, Debug)]
pub struct ShapesQuestion<'a> {
    /// Kind of problem.
    pub operation: Operation,
    /// The project whose entries are wanted.
    pub target: TuneFor,
    /// GPU whose times are modelled, an MI300X if absent; with results, the GPU whose entries are taken.
    pub gpu: Option<&'a str>,
    /// Lists of problems.
    pub lists: &'a [Tunings<'a>],
    /// Models, by the names of their files.
    pub models: &'a [(String, ModelConfig)],
    /// GPUs that share a model.
    pub tp: u64,
    /// Rows or tokens of problems whose list names none; if empty, those that the projects tune.
    pub tokens: &'a [u64],
    /// Types by the word of tuned files, where a list names none.
    pub dtype: Option<&'a str>,
    /// Block of the scales.
    pub block: Option<[u64; 2]>,
    /// Width of the model, which names of tuned files lack.
    pub model_dim: Option<u64>,
    /// Experts of a token, which names of tuned files lack.
    pub top_k: Option<u64>,
    /// The name by which the GPU calls itself.
    pub device: Option<&'a str>,
    /// One configuration for all shapes of a file.
    pub one: bool,
    /// Times of the emulated clock for the tiles that the tile model finds fastest.
    pub emulated: Option<ProductTimes<'a>>,
    /// Tuned files in use, whose entries stay.
    pub existing: &'a [Tunings<'a>],
    /// Results of the project's own benchmark.
    pub results: &'a [Tunings<'a>],
    /// The lists as the user named them, for commands.
    pub files: &'a str,
}

impl ShapesQuestion<'_> {
    /// The GPU, if a name was given.
    fn model(&self) -> Result<Option<&'static Model>, Refusal> {
        let Some(gpu) = self.gpu else { return Ok(None) };
        let unknown =
            || Refusal::new(format!("no GPU `{gpu}`"), "`rockhound tune --help` says which there are");
        Model::by_name(gpu).map(Some).ok_or_else(unknown)
    }

    fn rows(&self) -> Vec<u64> {
        if self.tokens.is_empty() { LADDER.to_vec() } else { self.tokens.to_vec() }
    }
}

/// Configurations for shapes.
#[derive(Clone, Debug)]
pub struct TunedShapes {
    /// Tables, notes, the next steps.
    pub answer: Answer<Searches>,
    /// Name and bytes of the tuned files.
    pub files: Vec<(String, Vec<u8>)>,
}

/// GPU whose times are modelled where none is named.
const USUAL_GPU: &str = "mi300x";

/// Accuracy of the times.
const TRUST: &str = "times are modelled by `tile`: they rank tiles, and measured ones differ by a quarter and more (docs/tune-shapes.md); tokens are spread evenly over the experts that get any";

/// Accuracy of emulated times.
const EMULATED: &str = "the emulated clock times a kernel of our own, not the one of the project, on a sample of workgroups and depths (docs/tune-shapes.md); these times are modelled, too";

/// Finds configurations.
///
/// # Errors
/// Results of another format or for other problems, files that cannot be merged, lists without a problem for the project.
pub fn tune_shapes(question: &ShapesQuestion<'_>) -> Result<TunedShapes, Refusal> {
    let (project, operation) = (question.target.key(), question.operation.key());
    let Some(measure) = measure_of(question.target, question.operation) else {
        return Err(Refusal::new(
            format!("{project} keeps no entries for `{operation}`"),
            "take another project with --for, or the other operation",
        ));
    };
    let mut answer = Answer::new(TUNE_SCHEMA, Searches::default());
    for file in question.lists {
        let rows = counted(file.rows.len() as u64, "row");
        answer
            .inputs
            .push(Input { used: rows, ..Input::new(file.base_name(), &file.name, file.format.name()) });
    }
    for (name, _) in question.models {
        answer.inputs.push(Input::new(name, name, "configuration of a model"));
    }
    if measure.names.is_empty() {
        if !question.results.is_empty() {
            return Err(Refusal::new(
                format!("--from: the benchmark of {project} writes its tuned files itself"),
                "merge them with files in use: `rockhound tunedb merge IN_USE RESULTS -o FILE`",
            ));
        }
        return modelled(question, measure, answer);
    }
    if question.lists.is_empty() {
        return Err(Refusal::new(
            format!("{project} tunes problems by all their sizes: a model's config.json has no rows"),
            "name a log or a list of sizes: `rockhound tunedb shapes --help`",
        ));
    }
    for (name, _) in question.models {
        answer.note(NoteKind::Warning, format!("`{name}` is not used: it names no rows"));
    }
    if question.results.is_empty() {
        answer.note(
            NoteKind::Error,
            format!("entries of {project} name {}: no model knows them, measure the shapes and give the results with --from", measure.names),
        );
        answer.recipes.push(measure.recipe(question.files, ""));
        return Ok(TunedShapes { answer, files: Vec::new() });
    }
    measured(question, answer)
}

/// Entries from the results of a benchmark.
fn measured(question: &ShapesQuestion<'_>, mut answer: Answer<Searches>) -> Result<TunedShapes, Refusal> {
    let found = results::of(question)?;
    let missing = found.problems.iter().filter(|it| it.entry.is_none()).count();
    let rows = found.problems.iter().map(|it| {
        let none = || Cell::missing("the results have none");
        vec![
            Cell::text(&it.problem),
            it.entry.as_ref().map_or_else(none, |it| Cell::text(&it.0)),
            it.entry.as_ref().map_or_else(none, |it| Cell::known(it.1.ok_or("the results name no time"))),
        ]
    });
    let columns = vec![
        column("shape", "problem", "", ColumnKind::Text),
        column("entry", "entry", "", ColumnKind::Text),
        column("time_us", "measured time", "us", ColumnKind::Number),
    ];
    answer.tables.push(table("measured entries", Vec::new(), columns, rows));
    left(&mut answer, &found.left);
    if missing > 0 {
        answer.note(
            NoteKind::Warning,
            format!(
                "{} without a result: `rockhound tunedb coverage RESULTS --shapes {}`",
                counted(missing, "problem"),
                question.files
            ),
        );
    }
    Ok(TunedShapes { answer, files: found.files })
}

fn left(answer: &mut Answer<Searches>, left: &BTreeMap<String, u64>) {
    for (why, count) in left {
        answer.note(NoteKind::Info, format!("{} left out: {why}", counted(*count, "problem")));
    }
}

/// One file of entries under construction.
struct Entries<'q> {
    question: &'q ShapesQuestion<'q>,
    model: &'static Model,
    data: &'static ProjectSpace,
    group: &'q Group,
    shapes: Vec<Timed>,
    /// Of each shape the configurations that the emulated clock timed.
    emulated: Vec<Vec<Emulated>>,
}

/// Entries by modelled times.
fn modelled(
    question: &ShapesQuestion<'_>,
    measure: &Measure,
    mut answer: Answer<Searches>,
) -> Result<TunedShapes, Refusal> {
    let usual =
        || Model::by_name(USUAL_GPU).ok_or_else(|| Refusal::new("no usual GPU", "name one with --gpu"));
    let model = question.model()?.map_or_else(usual, Ok)?;
    let Groups { groups, left: out, assumed } = problems::groups(question, model);
    if groups.is_empty() {
        let why: Vec<String> =
            out.iter().map(|(why, count)| format!("{}: {why}", counted(*count, "problem"))).collect();
        return Err(Refusal::new(
            format!("the lists have no problem for {}: {}", question.target.key(), why.join("; ")),
            "`rockhound tunedb shapes FILES` lists what there is",
        ));
    }
    let types: std::collections::BTreeSet<&str> =
        groups.iter().map(|it| it.name.dtype.as_deref().unwrap_or("auto")).collect();
    for dtype in types {
        answer.recipes.push(measure.recipe(question.files, dtype));
    }
    let mut files = Vec::new();
    for group in &groups {
        let name = group.name.base(group.name.blank);
        let bits = group.types.element.bits();
        let Some(data) = space_of(question.target, question.operation, bits) else {
            answer.note(NoteKind::Error, format!("{name}: no space for factors of {bits} bits"));
            continue;
        };
        let timed = group.rows.iter().map(|rows| Timed::of(model, data, group, *rows));
        let shapes: Vec<Timed> = match timed.collect::<Result<_, _>>() {
            Ok(shapes) => shapes,
            Err(error) => {
                answer.note(NoteKind::Error, format!("{name}: {error}"));
                continue;
            }
        };
        let emulated = match question.emulated {
            Some(times) => {
                shapes.iter().map(|it| emulated::of_shape(model, data, group, it, times)).collect()
            }
            None => Vec::new(),
        };
        let it = Entries { question, model, data, group, shapes, emulated };
        files.extend(it.add(&mut answer)?);
    }
    left(&mut answer, &out);
    let has_group = |file: &&Tunings<'_>| groups.iter().any(|it| entries::is_of(it, file));
    for file in question.existing.iter().filter(|it| !has_group(it)) {
        answer.note(NoteKind::Warning, format!("`{}` is not used: no entry is for it", file.name));
    }
    if assumed {
        answer.note(NoteKind::Info, "lists name no types: fp8_w8a8 is assumed, `--dtype` names another");
    }
    answer.note(NoteKind::Warning, TRUST);
    if question.emulated.is_some() {
        answer.note(NoteKind::Warning, EMULATED);
    }
    if question.device.is_none() && !files.is_empty() {
        answer.note(
            NoteKind::Info,
            "file names contain the GPU's own name: give --device the name that `python -c \"import torch; print(torch.cuda.get_device_name().replace(' ', '_'))\"` prints if it differs",
        );
    }
    Ok(TunedShapes { answer, files })
}

impl Entries<'_> {
    /// Adds tables and notes of the file, and returns it.
    fn add(&self, answer: &mut Answer<Searches>) -> Result<Option<(String, Vec<u8>)>, Refusal> {
        let name = self.group.name.base(self.group.name.blank);
        let all = self.question.one.then(|| for_all(self.data, &self.shapes)).flatten();
        if self.question.one && all.is_none() {
            answer.note(
                NoteKind::Error,
                format!("{name}: no configuration is valid for all {}", counted(self.shapes.len(), "shape")),
            );
            return Ok(None);
        }
        let mut chosen: Vec<(u64, Vec<i64>)> = Vec::new();
        for (at, shape) in self.shapes.iter().enumerate() {
            let own = all.as_ref().map(|it| it.0.clone());
            match own.or_else(|| self.fastest(at)) {
                Some(values) => chosen.push((shape.rows, values)),
                None => answer.note(
                    NoteKind::Error,
                    format!("{name}: no workgroup of any configuration fits for {} rows", shape.rows),
                ),
            }
        }
        if let Some((values, mean)) = &all {
            answer.part.searches.push(self.result(&name, values, *mean));
        }
        self.tell_emulated(&name, answer);
        let existing = entries::existing(self.group, self.question.existing);
        answer.tables.push(self.table(&name, &chosen, existing));
        if chosen.is_empty() {
            return Ok(None);
        }
        let rows: Vec<(u64, &[i64])> = chosen.iter().map(|it| (it.0, it.1.as_slice())).collect();
        let bytes = entries::merged(&name, &entries::text(self.data, &rows), existing)?;
        Ok(Some((name, bytes)))
    }

    /// The fastest configuration of a shape: by the emulated clock if it timed any.
    fn fastest(&self, at: usize) -> Option<Vec<i64>> {
        let emulated = self.emulated.get(at).and_then(|it| emulated::fastest(it));
        match emulated {
            Some(it) => Some(it.values.clone()),
            None => self.shapes[at].fastest(self.data).map(|it| it.values.clone()),
        }
    }

    /// How far the two models agree, and what the emulated clock could not time.
    fn tell_emulated(&self, name: &str, answer: &mut Answer<Searches>) {
        let all = self.emulated.iter().flatten();
        if let Some(why) = all.clone().find_map(|it| it.us.as_ref().err()) {
            let failed = all.clone().filter(|it| it.us.is_err()).count();
            let failed = counted(failed, "configuration");
            answer.note(
                NoteKind::Warning,
                format!("{name}: {failed} without an emulated time; the first: {why}"),
            );
        }
        let (same, pairs) = self
            .emulated
            .iter()
            .map(|it| emulated::alike(it))
            .fold((0, 0), |(same, pairs), it| (same + it.0, pairs + it.1));
        if pairs > 0 {
            let percent = 100.0 * same as f64 / pairs as f64;
            let pairs = counted(pairs, "pair");
            answer.note(
                NoteKind::Info,
                format!(
                    "{name}: `tile` and the emulated clock order {percent:.0} % of {pairs} of settings alike"
                ),
            );
        }
    }

    /// The one configuration for all shapes.
    fn result(&self, name: &str, values: &[i64], mean: f64) -> SearchResult {
        let tried = self.shapes.iter().map(|it| it.told_apart as u64).max().unwrap_or(0);
        let pairs = self.data.parameters.iter().zip(values);
        SearchResult {
            name: name.to_owned(),
            objective: format!(
                "geometric mean of modelled times on {} over {}",
                self.model.name,
                counted(self.shapes.len(), "shape")
            ),
            unit: "us".to_owned(),
            landscapes: Vec::new(),
            configurations: self.shapes.iter().map(|it| it.valid).max().unwrap_or(0),
            combinations: None,
            tried,
            failed: 0,
            verdict: SearchVerdict::Fastest,
            start: None,
            winner: Some(Configured {
                values: pairs.map(|(it, value)| NamedValue::new(&it.name, value.to_string())).collect(),
                value: Some(mean),
                numbers: Vec::new(),
                runs: 1,
                spread_percent: None,
            }),
            gain: None,
            proof: Vec::new(),
            convergence: vec![Improvement { run: tried, value: mean }],
            outputs: Vec::new(),
        }
    }

    /// A row for each shape.
    fn table(&self, name: &str, chosen: &[(u64, Vec<i64>)], existing: Option<&Tunings<'_>>) -> Table {
        let what = if self.group.name.k.is_some() { "M" } else { "tokens" };
        let mut columns = vec![column("rows", what, "", ColumnKind::Number)];
        let words = self.data.parameters.iter().map(|it| Column::new(&it.name, ColumnKind::Word, ""));
        columns.extend(words);
        columns.extend([
            column("modelled_us", "modelled time", "us", ColumnKind::Number),
            column("tera_flops", "rate", "TFLOP/s", ColumnKind::Number),
            column("bound", "limit", "", ColumnKind::Text),
            column("near", "tiles within 5 %", "", ColumnKind::Number),
        ]);
        if !self.emulated.is_empty() {
            columns.push(column("emulated_us", "emulated clock, modelled", "us", ColumnKind::Number));
            columns.push(column("tile_choice_us", "`tile`'s choice on it", "us", ColumnKind::Number));
        }
        if self.question.one {
            columns.push(column("own_us", "its own fastest", "us", ColumnKind::Number));
        }
        if existing.is_some() {
            columns.push(column("entry", "entry", "", ColumnKind::Word));
            columns.push(column("existing_us", "existing entry, modelled", "us", ColumnKind::Number));
        }
        let rows = chosen.iter().map(|(rows, values)| self.row(*rows, values, existing));
        let unseen = self.data.unseen();
        let mut notes = vec![format!("space: {}", self.data.source)];
        if !unseen.is_empty() && self.emulated.is_empty() {
            notes.push(format!(
                "the model gives all values of {} the same time: entries have the usual ones, measure these last",
                unseen.join(", ")
            ));
        }
        let valid: u64 = self.shapes.iter().map(|it| it.valid).sum();
        let told: u64 = self.shapes.iter().map(|it| it.told_apart as u64).sum();
        let facts = vec![
            ("GPU".to_owned(), self.model.name.clone()),
            (
                "types".to_owned(),
                format!(
                    "{}, weights of {} bits",
                    self.group.types.element.name(),
                    self.group.types.weight_bits
                ),
            ),
            ("valid configurations".to_owned(), view::thousands(valid)),
            ("timed".to_owned(), view::thousands(told)),
        ];
        Table { notes, ..table(format!("Modelled: {name}"), facts, columns, rows) }
    }

    fn row(&self, rows: u64, values: &[i64], existing: Option<&Tunings<'_>>) -> Vec<Cell> {
        let time = time_of(self.model, self.data, (self.group, rows), values);
        let us = time.map_or(f64::NAN, |it| it.us);
        let mut cells = vec![Cell::count(rows)];
        cells.extend(values.iter().map(|it| Cell::text(it.to_string())));
        let at = self.shapes.iter().position(|it| it.rows == rows);
        let shape = at.map(|at| &self.shapes[at]);
        cells.extend([
            Cell::from(us),
            Cell::from(operations(self.group, rows) / us / 1e6),
            Cell::text(time.map_or("", |it| it.bound)),
            Cell::count(shape.map_or(0, |it| it.near(self.data)) as u64),
        ]);
        if let Some(all) = at.and_then(|at| self.emulated.get(at)) {
            let cell = |it: Option<&Emulated>| match it.map(|it| &it.us) {
                Some(Ok(us)) => Cell::from(*us),
                Some(Err(_)) => Cell::missing("its launch failed"),
                None => Cell::missing("none was timed"),
            };
            cells.extend([cell(emulated::fastest(all)), cell(all.first())]);
        }
        if self.question.one {
            let own = shape.and_then(|it| it.fastest(self.data));
            cells.push(own.map_or_else(|| Cell::missing("none fits"), |it| Cell::from(it.time.us)));
        }
        if let Some(file) = existing {
            cells.extend(self.existing(file, rows, values));
        }
        cells
    }

    /// Whether an entry is new, and the modelled time of the existing one.
    fn existing(&self, file: &Tunings<'_>, rows: u64, values: &[i64]) -> [Cell; 2] {
        if !file.rows.iter().any(|row| row.key.parse() == Ok(rows)) {
            return [Cell::text("new"), Cell::missing("the file has no entry for it")];
        }
        let Some(own) = entries::values_of(self.data, file, rows) else {
            return [Cell::text("existing stays"), Cell::missing("its settings are no numbers")];
        };
        let word = if own == values { "the same" } else { "existing stays" };
        let time = time_of(self.model, self.data, (self.group, rows), &own);
        [
            Cell::text(word),
            time.map_or_else(|| Cell::missing("no workgroup of it fits"), |it| Cell::from(it.us)),
        ]
    }
}

#[cfg(test)]
#[path = "tune_tests.rs"]
mod tests;
