//! Parts of a logic file: its header, its solutions, its table of sizes.

use std::borrow::Cow;
use std::ops::Range;

/// The two ways a logic file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A list of 12 values.
    List,
    /// A map, with what solutions have in common written once.
    Map,
}

/// Header, problem type and solutions of a logic file.
#[derive(Clone, PartialEq, Debug)]
pub struct Logic<'a> {
    /// List form or map form.
    pub form: Form,
    /// Name of the schedule: `aquavanjaram`.
    pub schedule: &'a str,
    /// Target: `gfx942`.
    pub architecture: &'a str,
    /// Compute units, where the file is for one number of them.
    pub cu_count: Option<u32>,
    /// `Equality`, `GridBased`, `FreeSize`, `Range`, `Prediction`, as the file writes it.
    pub library: &'a str,
    /// The problem type.
    pub problem: Vec<Pair<'a>>,
    /// Defaults shared by all solutions of the map form, as text; empty in the list form.
    pub defaults: &'a str,
    /// Solutions, in the order that the table of sizes counts them.
    pub solutions: Vec<Solution<'a>>,
    /// The table of sizes, in addition to the rows.
    pub sizes: Vec<Size>,
    /// Line of the first map with a YAML anchor or alias: the text of a solution may need that of another.
    pub anchored: Option<u32>,
    /// Bytes of the list of solutions, from its first line to the end of its last.
    pub(crate) solution_span: Range<usize>,
    /// Bytes of the table of sizes, from its first line to the end of its last.
    pub(crate) size_span: Range<usize>,
}

/// One line of the table of sizes.
#[derive(Clone, PartialEq, Debug)]
pub struct Size {
    /// `m, n, batch, k` and, where the file has them, four leading dimensions.
    pub numbers: Vec<u64>,
    /// Position of its solution.
    pub solution: usize,
    /// Gflops; 0 is unknown.
    pub efficiency: f64,
    /// The efficiency as written.
    pub written: String,
    /// Line.
    pub line: u32,
}

impl<'a> Logic<'a> {
    /// A value of the problem type.
    pub fn problem_value(&self, key: &str) -> Option<&'a str> {
        self.problem.iter().find(|pair| pair.key == key).map(|pair| pair.value)
    }
}

/// Sizes as the table writes them.
pub(crate) fn numbers(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    words.join(", ")
}

/// Keys by which equal kernels may differ.
const NAMES: [&str; 4] = ["SolutionIndex", "SolutionNameMin", "KernelNameMin", "BaseName"];
/// Keys that have no effect if `StaggerU` is 0, with their normalized value.
const STAGGER: [&str; 3] = ["StaggerUMapping", "StaggerUStride", "_staggerStrideShift"];

/// A key with its value as text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair<'a> {
    /// Key.
    pub key: &'a str,
    /// Value, without blanks around it; may run over several lines.
    pub value: &'a str,
}

/// One solution: a kernel with all its parameters.
#[derive(Clone, PartialEq, Debug)]
pub struct Solution<'a> {
    /// Line.
    pub line: u32,
    /// Bytes from behind the dash of the list to the end of the last line, with its line end.
    pub(crate) span: Range<usize>,
    /// Bytes of the value of `SolutionIndex`.
    pub(crate) index_span: Option<Range<usize>>,
    /// Index that the solution states.
    pub index: Option<u64>,
    /// Its keys, sorted.
    pub pairs: Vec<Pair<'a>>,
}

impl<'a> Solution<'a> {
    /// A value.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.pairs.binary_search_by(|it| it.key.cmp(key)).ok().map(|at| self.pairs[at].value)
    }

    /// Its name, shortened to tile and mapping where the name is long; the file may leave it out.
    pub fn name(&self) -> &'a str {
        self.value("SolutionNameMin").or_else(|| self.value("KernelNameMin")).unwrap_or("?")
    }

    /// Identity of the kernel: all keys but the names, with the keys of an unused stagger as zero.
    pub fn identity(&self) -> String {
        let unstaggered = self.value("StaggerU") == Some("0");
        let mut out = String::with_capacity(4096);
        for pair in &self.pairs {
            if NAMES.contains(&pair.key) {
                continue;
            }
            out.push_str(pair.key);
            out.push(':');
            if unstaggered && STAGGER.contains(&pair.key) {
                out.push('0');
            } else {
                out.push_str(&plain(pair.value));
            }
            out.push('\n');
        }
        out
    }
}

/// A value without the breaks of its lines, and `True` as `true`.
pub(crate) fn plain(value: &str) -> Cow<'_, str> {
    match value {
        "True" => Cow::Borrowed("true"),
        "False" => Cow::Borrowed("false"),
        _ if value.bytes().any(|it| it == b'\n') => {
            Cow::Owned(value.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
        }
        _ => Cow::Borrowed(value),
    }
}
