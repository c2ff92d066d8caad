//! Spaces of TensileLite's benchmark configurations: what each group of a problem forks, and what it fixes.

use crate::error::Error;
use crate::lines::text;
use crate::yaml::{Node, Value, parse};

/// Most values of a parameter.
const MOST_VALUES: usize = 10_000;

/// A value of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForkValue {
    /// A number, a truth value or a word.
    One(String),
    /// A list, such as the numbers of a matrix instruction.
    List(Vec<String>),
    /// Several parameters at once, which a `Groups` entry sets.
    Several(Vec<(String, ForkValue)>),
}

impl ForkValue {
    fn of(node: &Node) -> ForkValue {
        match &node.value {
            Value::Scalar(text) => ForkValue::One(text.clone()),
            Value::List(items) => {
                ForkValue::List(items.iter().map(|it| ForkValue::of(it).to_string()).collect())
            }
            Value::Map(pairs) => {
                ForkValue::Several(pairs.iter().map(|(key, it)| (key.clone(), ForkValue::of(it))).collect())
            }
        }
    }

    /// The whole number, with 1 and 0 for true and false.
    pub fn number(&self) -> Option<i64> {
        let ForkValue::One(text) = self else { return None };
        match text.as_str() {
            "True" | "true" => Some(1),
            "False" | "false" => Some(0),
            other => other.parse().ok(),
        }
    }

    /// The numbers of a list.
    pub fn numbers(&self) -> Option<Vec<i64>> {
        let ForkValue::List(items) = self else { return None };
        items.iter().map(|it| it.parse().ok()).collect()
    }
}

impl std::fmt::Display for ForkValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ForkValue::One(text) => f.write_str(text),
            ForkValue::List(items) => write!(f, "[{}]", items.join(", ")),
            ForkValue::Several(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(name, it)| format!("{name}: {it}")).collect();
                write!(f, "{{{}}}", pairs.join(", "))
            }
        }
    }
}

/// A parameter with its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fork {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<ForkValue>,
}

/// A group of solutions of one problem type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BenchmarkGroup {
    /// Number of the problem, from 1.
    pub problem: usize,
    /// Number of the group within the problem, from 1.
    pub group: usize,
    /// Line it begins on.
    pub line: u32,
    /// Transposition of both factors: `TN`.
    pub layout: String,
    /// Type of the factors, in the file's words.
    pub types: String,
    /// Parameters of all solutions.
    pub common: Vec<Fork>,
    /// Parameters whose values are all combined.
    pub forked: Vec<Fork>,
    /// Parameters of which the joined solutions differ.
    pub joined: Vec<String>,
    /// Sizes that every solution runs, `None` for ranges.
    pub sizes: Option<u64>,
    /// Kernels by name, beside the solutions of the space.
    pub custom_kernels: u64,
    /// LDS that the file allows a workgroup, if it says so.
    pub most_lds: Option<u64>,
    /// Kind of the data of factors A and B by the tool's numbers, if the file names one: 0 zeros, 1 ones.
    pub data: [Option<u64>; 2],
}

/// The groups of a configuration.
///
/// # Errors
/// If the text is no YAML, or a problem is no list of type and groups.
pub fn groups(bytes: &[u8]) -> Result<Vec<BenchmarkGroup>, Error> {
    let root = parse(text(bytes)?)?;
    let global = |key: &str| root.get("GlobalParameters").and_then(|it| it.get(key)).and_then(Node::number);
    let mut all = Vec::new();
    for (at, problem) in root.get("BenchmarkProblems").map(Node::list).unwrap_or_default().iter().enumerate()
    {
        let Some((head, groups)) = problem.list().split_first() else {
            return Err(Error::new(problem.line, "a benchmark problem is no list of type and groups"));
        };
        let (layout, types) = problem_type(head);
        for (number, node) in groups.iter().enumerate() {
            let last = node.get("BenchmarkFinalParameters").map(Node::list).unwrap_or_default();
            let sizes = last.iter().filter_map(|it| it.get("ProblemSizes")).flat_map(Node::list);
            let exact: Option<Vec<()>> = sizes.map(|it| it.get("Exact").map(|_| ())).collect();
            let joined = node.get("JoinParameters").map(Node::list).unwrap_or_default();
            all.push(BenchmarkGroup {
                problem: at + 1,
                group: number + 1,
                line: node.line,
                layout: layout.clone(),
                types: types.clone(),
                common: forks(node, &["InitialSolutionParameters", "BenchmarkCommonParameters"])?,
                forked: forked(node)?,
                joined: joined.iter().map(|it| ForkValue::of(it).to_string()).collect(),
                sizes: exact.map(|it| it.len() as u64),
                custom_kernels: node.get("CustomKernels").map_or(0, |it| it.list().len() as u64),
                most_lds: global("MaxLDS"),
                // -1 or nothing: the kind for both.
                data: ["DataInitTypeA", "DataInitTypeB"]
                    .map(|it| global(it).or_else(|| global("DataInitTypeAB"))),
            });
        }
    }
    Ok(all)
}

/// Layout and types of a problem type of Tensile or find_exact.
pub(crate) fn problem_type(node: &Node) -> (String, String) {
    let transposed = |key: &str| node.get(key).is_some_and(Node::is_true);
    let letter = |is: bool| if is { 'T' } else { 'N' };
    let layout = format!("{}{}", letter(transposed("TransposeA")), letter(transposed("TransposeB")));
    let named = |key: &str| node.get(key).and_then(Node::text);
    let types = named("DataTypeA").or_else(|| named("DataType")).unwrap_or_default();
    (layout, types.to_owned())
}

/// Parameters of a group whose values are all combined.
pub(crate) fn forked(group: &Node) -> Result<Vec<Fork>, Error> {
    forks(group, &["ForkParameters", "BenchmarkForkParameters", "BenchmarkJoinParameters"])
}

/// Parameters of the steps of a group with these names.
fn forks(group: &Node, steps: &[&str]) -> Result<Vec<Fork>, Error> {
    let mut forks = Vec::new();
    for step in steps.iter().filter_map(|it| group.get(it)) {
        parameters(step, &mut forks)?;
    }
    Ok(forks)
}

/// Adds the parameters of a step. One that is named again has its last values.
fn parameters(node: &Node, forks: &mut Vec<Fork>) -> Result<(), Error> {
    for item in node.list() {
        for (key, value) in item.map() {
            // Sizes of a step that is benchmarked on its own.
            if key == "ProblemSizes" {
                continue;
            }
            let values: Vec<ForkValue> = match &value.value {
                Value::List(items) => items.iter().map(ForkValue::of).collect(),
                _ => vec![ForkValue::of(value)],
            };
            if values.len() > MOST_VALUES {
                return Err(Error::new(value.line, format!("`{key}` has more than {MOST_VALUES} values")));
            }
            // Each list of `Groups` is a choice of its own.
            if key == "Groups" {
                for (at, group) in value.list().iter().enumerate() {
                    let values = group.list().iter().map(ForkValue::of).collect();
                    forks.push(Fork { name: format!("Groups {}", at + 1), values });
                }
                continue;
            }
            match forks.iter_mut().find(|it| it.name == *key) {
                Some(found) => found.values = values,
                None => forks.push(Fork { name: key.clone(), values }),
            }
        }
    }
    forks.retain(|it| !it.values.is_empty());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "GlobalParameters:\n  MaxLDS: 65536\nBenchmarkProblems:\n  -\n    - OperationType: GEMM\n      DataType: h\n      TransposeA: 1\n      TransposeB: 0\n    -\n      InitialSolutionParameters:\n      BenchmarkCommonParameters:\n        - KernelLanguage: [\"Assembly\"]\n      ForkParameters:\n        - MatrixInstruction:\n          - [16, 16, 16, 1, 1, 4, 4, 2, 2]\n          - [32, 32, 8, 1, 1, 2, 4, 2, 2]\n        - DepthU: [16, 32]\n        - DepthU: [32, 64, 128]\n        - SourceSwap: [True]\n        - Groups:\n          -\n            - { VectorWidthA: 1, VectorWidthB: 2 }\n            - { VectorWidthA: 2, VectorWidthB: 4 }\n      JoinParameters:\n        - MacroTile\n      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [128, 128, 1, 128]\n          - Exact: [256, 128, 1, 128]\n";

    #[test]
    fn parameters_of_a_group() {
        let all = groups(TEXT.as_bytes()).unwrap();
        let [group] = &all[..] else { panic!("{all:?}") };
        assert_eq!((group.layout.as_str(), group.types.as_str(), group.sizes), ("TN", "h", Some(2)));
        let counts: Vec<(&str, usize)> =
            group.forked.iter().map(|it| (it.name.as_str(), it.values.len())).collect();
        assert_eq!(counts, [("MatrixInstruction", 2), ("DepthU", 3), ("SourceSwap", 1), ("Groups 1", 2)]);
        let instruction = group.forked[0].values[1].numbers().unwrap();
        assert_eq!((instruction.len(), instruction[2]), (9, 8));
        assert_eq!(group.forked[2].values[0].number(), Some(1));
        assert_eq!(group.forked[3].values[1].to_string(), "{VectorWidthA: 2, VectorWidthB: 4}");
        assert_eq!((group.joined.as_slice(), group.most_lds), (&["MacroTile".to_owned()][..], Some(65536)));
        assert_eq!(group.common[0].values[0], ForkValue::One("Assembly".to_owned()));
    }

    #[test]
    fn what_is_no_configuration_is_an_error_or_empty() {
        assert!(groups(b"BenchmarkProblems:\n  - 3\n").is_err());
        assert!(groups(b"a: [\n").is_err());
        assert_eq!(groups(b"BenchmarkProblems:\n").unwrap(), []);
        assert_eq!(groups(b"BenchmarkProblems:\n  - - DataType: s\n").unwrap(), []);
    }
}
