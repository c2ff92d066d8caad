//! TensileLite's benchmark configurations as spaces: combinations, what the tool's rules remove, runs.

use super::{Refusal, column, table};
use arch::Model;
use serde::Deserialize;
use sorting::Sort;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use tune::{Limits, Parameter, Space, SpaceError, Value};
use tunedb::tensile_space::{BenchmarkGroup, Fork, ForkValue, groups};
use tunedb::{Format, Tunings, instances};
use view::{Answer, Cell, ColumnKind, Input, NoteKind, Searches, Table, counted, thousands};

const DATA: &str = include_str!("../../data/tensile-rules.toml");

/// LDS of a workgroup that the tool allows unless a file or GPU says otherwise.
const MAX_LDS: u64 = 65_536;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Rule>,
}

/// A rule of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    words: String,
    rule: String,
    #[serde(default)]
    without: BTreeMap<String, i64>,
    source: String,
}

fn rules() -> &'static [Rule] {
    static READ: OnceLock<File> = OnceLock::new();
    &READ.get_or_init(|| toml::from_str::<File>(DATA).expect("validated by a test")).rule
}

/// Whether a file is a configuration of TensileLite.
pub fn is_configuration(file: &Tunings<'_>) -> bool {
    file.format == Format::TensileConfig
}

/// The recorded spaces of a benchmark's output, one for each problem; `None` for other files.
pub fn recorded_spaces<'a>(file: &Tunings<'a>) -> Option<Vec<Tunings<'a>>> {
    instances::has_instances(file.format).then(|| instances::recorded(file))
}

/// Adds the groups of a configuration to an answer: parameters, combinations, combinations that rules remove.
///
/// # Errors
/// A file without a group, or of another format.
pub fn describe_configuration(
    answer: &mut Answer<Searches>,
    file: &Tunings<'_>,
    gpu: Option<&str>,
) -> Result<(), Refusal> {
    let refused = |error: tunedb::Error| Refusal::new(format!("`{}`: {error}", file.name), error.hint);
    let all = groups(file.bytes).map_err(refused)?;
    if all.is_empty() {
        return Err(Refusal::new(
            format!("`{}` has no group of solutions", file.name),
            "`BenchmarkProblems` lists problems, each a type and groups with ForkParameters",
        ));
    }
    let model = gpu.and_then(Model::by_name);
    let mut used = 0u64;
    for group in &all {
        let described = Described::of(group, model);
        used = used.saturating_add(described.valid().unwrap_or(0));
        described.add(answer, group);
    }
    let mut input = Input::new(file.base_name(), &file.name, "TensileLite configuration");
    input.used = format!("{}, {}", counted(all.len(), "group"), view::thousands_of(used, "candidate"));
    answer.inputs.push(input);
    answer.note(
        NoteKind::Info,
        "these rules need parameters alone: TensileLite rejects more when it makes the kernels (`PrintSolutionRejectionReason: True`)",
    );
    answer.note(
        NoteKind::Info,
        "TensileLite runs every candidate; its results (`2_BenchmarkData/*.csv`, the client's log) are a recorded space: `rockhound tune FILE.csv`",
    );
    Ok(())
}

/// A group as a space.
struct Described {
    title: String,
    parameters: Vec<Fork>,
    applied: Vec<&'static Rule>,
    /// Rules that are not applied, each with the name that the group lacks.
    unknown: Vec<(&'static Rule, String)>,
    space: Result<Space, String>,
}

impl Described {
    fn of(group: &BenchmarkGroup, model: Option<&Model>) -> Described {
        // A forked parameter takes the place of a common one.
        let is_forked = |it: &&Fork| !group.forked.iter().any(|other| other.name == it.name);
        let common = group.common.iter().filter(is_forked);
        let parameters: Vec<Fork> = common.chain(&group.forked).cloned().collect();
        let names = Names::of(group, &parameters, model);
        let (mut applied, mut unknown, mut constraints) = (Vec::new(), Vec::new(), Vec::new());
        for rule in rules() {
            match names.constraint(rule) {
                Ok(text) => {
                    applied.push(rule);
                    constraints.push(text);
                }
                Err(name) => unknown.push((rule, name)),
            }
        }
        // Values by their places: lists are no values of an expression.
        let of = |it: &Fork| Parameter {
            name: identifier(&it.name),
            values: (0..it.values.len() as i64).map(Value::Int).collect(),
        };
        let space = Space::new(parameters.iter().map(of).collect(), &constraints, Limits::default());
        let words = |error| match &error {
            SpaceError::Empty { constraint, before, .. } => {
                let at = constraints.iter().position(|it| it == constraint);
                let rule = at.map_or(constraint.as_str(), |at| applied[at].words.as_str());
                format!("no combination is valid: the rule `{rule}` removes the last {before}")
            }
            other => other.to_string(),
        };
        Described {
            title: format!(
                "problem {}, group {}: {} {}",
                group.problem, group.group, group.layout, group.types
            ),
            space: space.map_err(words),
            parameters,
            applied,
            unknown,
        }
    }

    fn valid(&self) -> Option<u64> {
        self.space.as_ref().ok().map(Space::len)
    }

    fn add(&self, answer: &mut Answer<Searches>, group: &BenchmarkGroup) {
        if let Err(error) = &self.space {
            answer.note(NoteKind::Error, format!("{}: {error}", self.title));
        }
        answer.tables.push(self.parameters_table(group));
        answer.tables.extend(self.rules_table());
    }

    fn parameters_table(&self, group: &BenchmarkGroup) -> Table {
        let columns = vec![
            column("parameter", "parameter", "", ColumnKind::Word),
            column("values", "values", "", ColumnKind::Number),
            column("list", "", "", ColumnKind::Text),
        ];
        let rows = self.parameters.iter().map(|it| {
            let list: Vec<String> = it.values.iter().take(8).map(ToString::to_string).collect();
            let more = if it.values.len() > 8 { ", …" } else { "" };
            vec![
                Cell::text(&it.name),
                Cell::count(it.values.len() as u64),
                Cell::text(format!("{}{more}", list.join(", "))),
            ]
        });
        let all: u128 =
            self.parameters.iter().fold(1, |all, it| u128::saturating_mul(all, it.values.len() as u128));
        let mut facts = vec![(
            "combinations".to_owned(),
            u64::try_from(all).map_or_else(|_| "more than 2^64".to_owned(), thousands),
        )];
        if let Some(valid) = self.valid() {
            facts.push(("valid by these rules".to_owned(), thousands(valid)));
            if let Some(sizes) = group.sizes {
                facts.push(("sizes".to_owned(), thousands(sizes)));
                facts.push((
                    "runs".to_owned(),
                    thousands((valid + group.custom_kernels).saturating_mul(sizes)),
                ));
            }
        }
        if group.custom_kernels > 0 {
            facts.push(("kernels by name".to_owned(), thousands(group.custom_kernels)));
        }
        if !group.joined.is_empty() {
            facts.push(("joined by".to_owned(), group.joined.join(", ")));
        }
        let not_applied = |(rule, name): &(&Rule, String)| {
            format!("rule not applied, since the group does not name `{name}`: {}", rule.words)
        };
        let notes = self.unknown.iter().map(not_applied).collect();
        Table { notes, ..table(format!("Space of {}", self.title), facts, columns, rows) }
    }

    /// What each rule removes; `None` if none is applied.
    fn rules_table(&self) -> Option<Table> {
        let mut table = crate::search::constraints(&self.title, self.space.as_ref().ok()?)?;
        table.title = format!("Rules of {}", self.title);
        table.label = "rule".to_owned();
        for (row, rule) in table.rows.iter_mut().zip(&self.applied) {
            row.label.clone_from(&rule.words);
        }
        let sources: std::collections::BTreeSet<&str> =
            self.applied.iter().map(|it| it.source.as_str()).collect();
        table.notes = sources.iter().map(|it| format!("source: {it}")).collect();
        Some(table)
    }
}

/// A parameter's name as an identifier of expressions: `1LDSBuffer` becomes `OneLDSBuffer`.
fn identifier(name: &str) -> String {
    let name: String = name.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
    if let Some(rest) = name.strip_prefix('1') { format!("One{rest}") } else { name }
}

/// Names of rules as expressions over the places of values.
struct Names(BTreeMap<String, String>);

impl Names {
    fn of(group: &BenchmarkGroup, parameters: &[Fork], model: Option<&Model>) -> Names {
        let mut names = BTreeMap::new();
        let all =
            parameters.iter().flat_map(|it| parts(it).into_iter().map(|part| (identifier(&it.name), part)));
        let mut all: Vec<(String, Fork)> = all.collect();
        // A matrix instruction of nine numbers says the threads whatever WorkGroup says.
        all.in_order_by_key(|it| it.1.name == "MatrixInstruction");
        for (variable, part) in all {
            let numbers: Option<Vec<i64>> = part.values.iter().map(ForkValue::number).collect();
            if let Some(numbers) = numbers {
                names.insert(identifier(&part.name), chosen(&variable, &numbers));
            }
            names.extend(derived(&part, &variable));
        }
        // Without matrix instructions a tile is that of a thread times the workgroup.
        if !names.contains_key("MI_K") {
            names.insert("MI_K".to_owned(), "0".to_owned());
            for at in 0..2 {
                let (thread, group) = (names.get(&format!("TT{at}")), names.get(&format!("WG{at}")));
                if let Some((thread, group)) = thread.zip(group) {
                    let tile = format!("({thread}) * ({group})");
                    names.insert(format!("MT{at}"), tile);
                }
            }
        }
        if let Some(element) = tunedb::element(&group.types) {
            names.insert("BYTES".to_owned(), (f64::from(element.bits()) / 8.0).to_string());
        }
        let lds = model.map(|it| u64::from(it.target().lds.bytes_per_workgroup.value));
        names.insert("MAX_LDS".to_owned(), group.most_lds.or(lds).unwrap_or(MAX_LDS).to_string());
        Names(names)
    }

    /// A rule with its names replaced; the name that is not known otherwise.
    fn constraint(&self, rule: &Rule) -> Result<String, String> {
        const WORDS: [&str; 5] = ["if", "else", "and", "or", "not"];
        let mut out = String::new();
        let mut rest = rule.rule.as_str();
        while let Some(first) = rest.chars().next() {
            let length = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(rest.len());
            let (word, after) = rest.split_at(length.max(first.len_utf8()));
            rest = after;
            if !first.is_ascii_alphabetic() || WORDS.contains(&word) {
                out.push_str(word);
                continue;
            }
            match (self.0.get(word), rule.without.get(word)) {
                (Some(value), _) => out.push_str(&format!("({value})")),
                (None, Some(value)) => out.push_str(&value.to_string()),
                (None, None) => return Err(word.to_owned()),
            }
        }
        Ok(out)
    }
}

/// The numbers of the values of a parameter, chosen by their place: `16 if DepthU in [0] else 32`.
fn chosen(name: &str, numbers: &[i64]) -> String {
    let mut by_number: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for (at, number) in numbers.iter().enumerate() {
        by_number.entry(*number).or_default().push(at.to_string());
    }
    let mut all: Vec<(i64, Vec<String>)> = by_number.into_iter().collect();
    let Some((last, _)) = all.pop() else { return "0".to_owned() };
    let arms = all.iter().map(|(number, at)| format!("{number} if {name} in [{}] else ", at.join(", ")));
    format!("{}{last}", arms.collect::<String>())
}

/// The parameters that a parameter sets: itself; of `Groups` the parameters that each of its values sets.
fn parts(fork: &Fork) -> Vec<Fork> {
    let Some(ForkValue::Several(first)) = fork.values.first() else { return vec![fork.clone()] };
    let of = |name: &String| {
        let value = |it: &ForkValue| match it {
            ForkValue::Several(pairs) => pairs.iter().find(|it| it.0 == *name).map(|it| it.1.clone()),
            _ => None,
        };
        let values: Option<Vec<ForkValue>> = fork.values.iter().map(value).collect();
        Some(Fork { name: name.clone(), values: values? })
    };
    first.iter().filter_map(|(name, _)| of(name)).collect()
}

/// Tile, threads and depth of an instruction from the lists of a parameter; chosen by the place of a variable.
fn derived(fork: &Fork, variable: &str) -> Vec<(String, String)> {
    let lists: Option<Vec<Vec<i64>>> = fork.values.iter().map(ForkValue::numbers).collect();
    let Some(lists) = lists else { return Vec::new() };
    let named = |key: &str, of: fn(&[i64]) -> Option<i64>| {
        let numbers: Option<Vec<i64>> = lists.iter().map(|it| of(it)).collect();
        Some((key.to_owned(), chosen(variable, &numbers?)))
    };
    // M, N, K, blocks, blocks along M, tiles of a wave along M and N, waves along M and N.
    let all = match fork.name.as_str() {
        "MatrixInstruction" => vec![
            named("MI_K", |it| it.get(2).copied()),
            named("MT0", |it| {
                if let [m, _, _, _, blocks, tile, _, waves, _] = it {
                    Some(m * blocks * tile * waves)
                } else {
                    None
                }
            }),
            named("MT1", |it| {
                let [_, n, _, all, blocks, _, tile, _, waves] = it else { return None };
                Some(n * (all / (*blocks).max(1)).max(1) * tile * waves)
            }),
            named("THREADS", |it| if let [_, _, _, _, _, _, _, m, n] = it { Some(64 * m * n) } else { None }),
        ],
        "ThreadTile" => vec![named("TT0", |it| it.first().copied()), named("TT1", |it| it.get(1).copied())],
        "WorkGroup" => vec![
            named("WG0", |it| it.first().copied()),
            named("WG1", |it| it.get(1).copied()),
            named("THREADS", |it| it.iter().copied().try_fold(1i64, i64::checked_mul)),
        ],
        _ => Vec::new(),
    };
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::TUNE_SCHEMA;

    fn described(text: &str, gpu: Option<&str>) -> Result<Answer<Searches>, Refusal> {
        let file = tunedb::read("config.yaml", text.as_bytes()).unwrap();
        let mut answer = Answer::new(TUNE_SCHEMA, Searches::default());
        describe_configuration(&mut answer, &file, gpu).map(|()| answer)
    }

    fn config(forks: &str) -> String {
        format!(
            "BenchmarkProblems:\n  -\n    - DataType: h\n      TransposeA: 1\n      TransposeB: 0\n    - ForkParameters:\n{forks}      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [1, 2, 1, 4]\n          - Exact: [1, 2, 1, 8]\n"
        )
    }

    fn fact<'t>(table: &'t Table, name: &str) -> &'t str {
        table.facts.iter().find(|it| it.name == name).map_or("", |it| it.value.as_str())
    }

    fn valid(space: &Table) -> &str {
        fact(space, "valid by these rules")
    }

    #[test]
    fn combinations_and_what_rules_remove() {
        // Tiles of 128x128 and 256x256, 16 and 64 deep; 256 and 2,048 threads.
        let text = config(
            "        - MatrixInstruction:\n          - [16, 16, 16, 1, 1, 4, 4, 2, 2]\n          - [16, 16, 16, 1, 1, 4, 4, 4, 8]\n          - [32, 32, 8, 1, 1, 4, 4, 2, 2]\n        - DepthU: [8, 16, 64, 128]\n        - 1LDSBuffer: [0, 1]\n        - GlobalSplitUAlgorithm: [\"MultipleBuffer\", \"SingleBuffer\"]\n",
        );
        let answer = described(&text, None).unwrap();
        let space = &answer.tables[0];
        assert_eq!(fact(space, "combinations"), "48");
        let rules = &answer.tables[1];
        let count = |row: usize, at: usize| rules.rows[row].cells[at - 1].number().unwrap();
        // One instruction of three has too many threads; each depth of 8 is too short for the other 16x16x16.
        assert_eq!((count(0, 1), count(0, 2)), (16.0, 16.0));
        assert_eq!((count(2, 1), count(2, 2)), (8.0, 4.0));
        // 128x128: 128 deep in two buffers. 256x256: 64 deep in two, 128 in both.
        let lds = count(3, 2);
        assert_eq!(lds, 2.0 * (1.0 + 1.0 + 2.0));
        assert_eq!(valid(space), "20");
        assert_eq!(fact(space, "runs"), "40");
        let larger = described(&text, Some("mi355x")).unwrap();
        assert_eq!(valid(&larger.tables[0]), "26", "160 KiB of LDS");
    }

    #[test]
    fn a_rule_whose_names_are_unknown_is_not_applied() {
        let answer = described(&config("        - SourceSwap: [0, 1]\n"), None).unwrap();
        assert_eq!(valid(&answer.tables[0]), "2");
        assert_eq!((answer.tables.len(), answer.tables[0].notes.len()), (1, 4), "{:?}", answer.tables);
        let several = config(
            "        - Groups:\n          -\n            - { DepthU: 8, LocalSplitU: 1 }\n            - { DepthU: 8, LocalSplitU: 3 }\n",
        );
        let answer = described(&several, None).unwrap();
        assert_eq!(valid(&answer.tables[0]), "1");
        // Tensile chooses a depth of -1 itself.
        let chosen = config(
            "        - MatrixInstruction:\n          - [16, 16, 16, 1, 1, 4, 4, 2, 2]\n        - DepthU: [-1, 32]\n",
        );
        assert_eq!(valid(&described(&chosen, None).unwrap().tables[0]), "2");
        let plain = config(
            "        - ThreadTile:\n          - [8, 8]\n          - [4, 4]\n        - WorkGroup:\n          - [16, 16, 1]\n          - [64, 32, 1]\n        - DepthU: [8]\n",
        );
        let answer = described(&plain, None).unwrap();
        assert_eq!(valid(&answer.tables[0]), "2");
    }

    #[test]
    fn spaces_that_are_empty_are_errors() {
        let none = config("        - DepthU: [8]\n        - LocalSplitU: [3]\n");
        let answer = described(&none, None).unwrap();
        let error = answer.notes.iter().find(|it| it.kind == NoteKind::Error).unwrap();
        assert!(error.text.contains("`LocalSplitU divides DepthU`"), "{error:?}");
        let refused = described("BenchmarkProblems:\n  -\n    - DataType: s\n", None).unwrap_err();
        assert!(refused.message.contains("no group"), "{}", refused.message);
    }
}
