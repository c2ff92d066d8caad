//! A tuning file as a value: its rows, the versions it is valid for, and the defects of its text.
//!
//! A row knows the bytes it was read from, so a file is written back as the text between its rows and the
//! text of its rows; text that no reader understands is kept verbatim.

use crate::columns::Columns;
use crate::config_name::ConfigName;
use crate::error::Error;
use crate::format::Format;
use crate::logic_parts::Logic;
use crate::moe_name::MoeName;
use crate::space_parts::Space;
use sorting::Sort;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of rows; files with more are rejected. Bounds the memory for a file of gigabytes.
pub(crate) const MOST_ROWS: usize = 2_000_000;
/// Lines that cannot be read beyond which a file is something else.
pub(crate) const MOST_FLAWS: usize = 1_000_000;
/// Lines about versions beyond which a file is something else.
const MOST_VERSIONS: usize = 100_000;

/// A value, or the reason why the file does not say it.
pub type Said<T> = Result<T, &'static str>;

/// Reasons why a row has no time. A file may hold one of these where a time belongs; none of them is a
/// measurement.
pub mod time {
    /// The row ends before its time.
    pub const ABSENT: &str = "the row has no time";
    /// Nothing was measured.
    pub const ZERO: &str = "the time is 0: nothing was measured";
    /// Every candidate failed.
    pub const INFINITE: &str = "the time is infinite: the candidate failed";
    /// Not a number.
    pub const NAN: &str = "the time is NaN";
    /// Below 0.
    pub const NEGATIVE: &str = "the time is negative";
    /// Text that is not a number.
    pub const NO_NUMBER: &str = "the time is not a number";
    /// The format has no times at all.
    pub(crate) const NO_COLUMN: &str = "the format holds no times";

    /// A time as text, times `scale`.
    pub fn parse(text: &str, scale: f64) -> super::Said<f64> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ABSENT);
        }
        check(text.parse::<f64>().map_err(|_| NO_NUMBER)? * scale)
    }

    /// A time that is a measurement.
    pub fn check(value: f64) -> super::Said<f64> {
        match value {
            value if value.is_nan() => Err(NAN),
            value if value.is_infinite() => Err(INFINITE),
            value if value < 0.0 => Err(NEGATIVE),
            0.0 => Err(ZERO),
            value => Ok(value),
        }
    }

    /// True if a reason says that the file has a placeholder instead of a time.
    pub fn is_placeholder(reason: &str) -> bool {
        [ZERO, INFINITE, NAN, NEGATIVE, NO_NUMBER].contains(&reason)
    }
}

/// Operation that a row tunes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kind {
    /// A matrix product.
    Gemm,
    /// A fused mixture of experts.
    Moe,
    /// A convolution.
    Convolution,
    /// A kernel known by its name only.
    Kernel,
}

impl Kind {
    /// The word on the command line: `gemm`, `moe`, `conv`, `kernel`.
    pub const fn key(self) -> &'static str {
        match self {
            Kind::Gemm => "gemm",
            Kind::Moe => "moe",
            Kind::Convolution => "conv",
            Kind::Kernel => "kernel",
        }
    }
}

/// Sizes of a matrix product, in the order the file's library uses.
///
/// The integer type matches most libraries; databases of hundreds of thousands of rows are held in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct GemmShape {
    /// Rows of the result.
    pub m: u32,
    /// Columns of the result.
    pub n: u32,
    /// Length of the sums.
    pub k: u32,
    /// Products in one call.
    pub batch: u32,
    /// Leading dimensions of A, B, C and D, where the file holds them.
    pub leading: Option<[u32; 4]>,
}

impl GemmShape {
    /// M, N, K and batch.
    pub fn sizes(&self) -> [u64; 4] {
        [self.m, self.n, self.k, self.batch].map(u64::from)
    }

    /// Sizes of which a file has 64 bits: M, N, K, batch; then leading dimensions of A, B, C and D.
    ///
    /// # Errors
    /// One of them is 2^32 or more.
    pub fn of_long(sizes: [u64; 4], leading: Option<[u64; 4]>) -> Said<GemmShape> {
        let short = |sizes: [u64; 4]| -> Result<[u32; 4], std::num::TryFromIntError> {
            let [a, b, c, d] = sizes.map(u32::try_from);
            Ok([a?, b?, c?, d?])
        };
        let shape = || {
            let ([m, n, k, batch], leading) = (short(sizes)?, leading.map(short).transpose()?);
            Ok::<_, std::num::TryFromIntError>(GemmShape { m, n, k, batch, leading })
        };
        shape().map_err(|_| "a size is 2^32 or more")
    }
}

/// Sizes of a fused mixture of experts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct MoeShape {
    /// Tokens.
    pub tokens: u64,
    /// Width of the model.
    pub model: Option<u64>,
    /// Width between the two products, per rank.
    pub inter: Option<u64>,
    /// Experts.
    pub experts: u64,
    /// Experts per token.
    pub top_k: Option<u64>,
}

/// Problem that a row's candidate was tuned for.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape<'a> {
    /// A matrix product.
    Gemm(GemmShape),
    /// A mixture of experts; apart, since it is larger than the sizes of a product and rarer.
    Moe(Box<MoeShape>),
    /// Up to this many rows of the first matrix; none: any number.
    UpTo(Option<u64>),
    /// From this many rows of the first matrix on.
    AtLeast(u64),
    /// As the file writes it.
    Text(Cow<'a, str>),
}

impl Shape<'_> {
    /// The sizes of a matrix product.
    pub fn gemm(&self) -> Option<&GemmShape> {
        if let Shape::Gemm(shape) = self { Some(shape) } else { None }
    }
}

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Gemm(it) => {
                write!(f, "{}x{}x{}", it.m, it.n, it.k)?;
                if it.batch != 1 {
                    write!(f, " batch {}", it.batch)?;
                }
                if let Some([a, b, c, d]) = it.leading {
                    write!(f, " ld {a},{b},{c}")?;
                    if d != c {
                        write!(f, ",{d}")?;
                    }
                }
                Ok(())
            }
            Shape::Moe(it) => {
                write!(f, "{} tokens, {} experts", it.tokens, it.experts)?;
                if let Some(top) = it.top_k {
                    write!(f, " top {top}")?;
                }
                for (word, size) in [("model", it.model), ("inter", it.inter)] {
                    if let Some(size) = size {
                        write!(f, ", {word} {size}")?;
                    }
                }
                Ok(())
            }
            Shape::UpTo(Some(m)) => write!(f, "M <= {m}"),
            Shape::UpTo(None) => write!(f, "any M"),
            Shape::AtLeast(m) => write!(f, "M >= {m}"),
            Shape::Text(text) => f.write_str(text),
        }
    }
}

const NO_RATE: &str = "the file states no rate";
const NO_ERROR: &str = "the file states no error";

/// Values that a file states for a row in addition to the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stated {
    /// Rate, 10^12 operations per second.
    pub tera_flops: Said<f64>,
    /// Share of wrong or inexact results, 0 to 1.
    pub error: Said<f64>,
}

impl Stated {
    /// A rate, in a format without errors.
    pub(crate) fn rate(tera_flops: Said<f64>) -> Option<Box<Stated>> {
        Some(Box::new(Stated { tera_flops, error: Err(NO_ERROR) }))
    }
}

/// One tuned or untuned problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<'a> {
    /// Line it begins on, 1-based.
    pub line: u32,
    /// Its bytes in the file, without the line terminator. Empty if the file is binary.
    pub span: Range<usize>,
    /// Operation.
    pub kind: Kind,
    /// The library's word for it: `GemmAndBiasTunableOp`, `a8w8_blockscale`, the kernel's name.
    pub operation: Cow<'a, str>,
    /// Lookup key of the loader, as one text.
    pub key: Cow<'a, str>,
    /// Types of inputs and output, in the file's words.
    pub types: Said<Cow<'a, str>>,
    /// Transposition of A and B: `TN`.
    pub layout: Said<Cow<'a, str>>,
    /// Sizes.
    pub shape: Said<Shape<'a>>,
    /// GPU target: `gfx942`.
    pub target: Said<Cow<'a, str>>,
    /// Compute units of the GPU it was tuned on.
    pub cu_count: Said<u32>,
    /// The kernel or configuration chosen.
    pub candidate: Said<Cow<'a, str>>,
    /// Time of one call, microseconds.
    pub time_us: Said<f64>,
    /// Values stated in addition to the time, in formats that have any; boxed, since most rows are of formats
    /// without.
    pub stated: Option<Box<Stated>>,
    /// Number of times the file names it: repeated lines of a log count.
    pub calls: u64,
}

impl<'a> Row<'a> {
    /// A row with its line, span and kind only; all other fields are empty.
    pub fn new(line: u32, span: Range<usize>, kind: Kind, operation: impl Into<Cow<'a, str>>) -> Row<'a> {
        Row {
            line,
            span,
            kind,
            operation: operation.into(),
            key: Cow::Borrowed(""),
            types: Err("the file names no types"),
            layout: Err("the file names no transposition"),
            shape: Err("the file names no sizes"),
            target: Err("the file names no target"),
            cu_count: Err("the file names no number of compute units"),
            candidate: Err("the row names no candidate"),
            time_us: Err(time::NO_COLUMN),
            stated: None,
            calls: 1,
        }
    }

    /// The same row that borrows nothing.
    pub(crate) fn into_owned(self) -> Row<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        Row {
            line: self.line,
            span: self.span,
            kind: self.kind,
            operation: own(self.operation),
            key: own(self.key),
            types: self.types.map(own),
            layout: self.layout.map(own),
            shape: self.shape.map(|it| match it {
                Shape::Gemm(it) => Shape::Gemm(it),
                Shape::Moe(it) => Shape::Moe(it),
                Shape::UpTo(it) => Shape::UpTo(it),
                Shape::AtLeast(it) => Shape::AtLeast(it),
                Shape::Text(it) => Shape::Text(own(it)),
            }),
            target: self.target.map(own),
            cu_count: self.cu_count,
            candidate: self.candidate.map(own),
            time_us: self.time_us,
            stated: self.stated,
            calls: self.calls,
        }
    }

    /// Rate the file states, 10^12 operations per second.
    pub fn tera_flops(&self) -> Said<f64> {
        self.stated.as_ref().map_or(Err(NO_RATE), |it| it.tera_flops)
    }

    /// Share of wrong or inexact results the file states, 0 to 1.
    pub fn error(&self) -> Said<f64> {
        self.stated.as_ref().map_or(Err(NO_ERROR), |it| it.error)
    }

    /// Floating-point operations of one call, if the sizes describe a matrix product.
    pub fn flop(&self) -> Option<f64> {
        let it = self.shape.as_ref().ok()?.gemm()?;
        let [m, n, k, batch] = [it.m, it.n, it.k, it.batch].map(f64::from);
        Some(2.0 * m * n * k * batch)
    }
}

/// A version, target or setting that the whole file was made for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version<'a> {
    /// Its name: `PT_VERSION`, `Git Version`.
    pub key: Cow<'a, str>,
    /// Its value.
    pub value: Cow<'a, str>,
    /// Line, 1-based; 0 if the file's name says it.
    pub line: u32,
}

/// Kind of defect in a file's text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum FlawKind {
    /// Lines end in CR LF.
    CarriageReturn,
    /// A byte-order mark before the first line.
    ByteOrderMark,
    /// Lines without text.
    EmptyLine,
    /// The last line ends too early.
    CutLine,
    /// A row that the loader leaves out or cannot read.
    Malformed,
    /// A kernel that was measured and computed wrong results.
    WrongResult,
    /// An operation that the library does not know.
    UnknownOperation,
    /// Two parts of a row contradict each other.
    Contradiction,
    /// A field is missing in the middle, so the ones after it are in wrong columns.
    ShiftedFields,
    /// The last fields, which are empty, are missing.
    ShortFields,
    /// An entry that occurs twice in one record.
    RepeatedEntry,
    /// An entry without its parts.
    IllFormedEntry,
    /// Entries that are not in the order of their times.
    NotSorted,
    /// A record of an older generation of the format.
    OldGeneration,
    /// An index that points nowhere.
    BadIndex,
    /// Something in the file that nothing uses.
    Unused,
}

/// One flaw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// First line it concerns, 1-based.
    pub line: u32,
    /// Kind of defect.
    pub kind: FlawKind,
    /// Description of the defect, as a phrase.
    pub text: String,
    /// Whether the row of this line is left out when files are merged.
    pub spoils_row: bool,
}

/// Data that only one format has.
#[derive(Clone, PartialEq, Debug)]
pub enum Detail<'a> {
    /// Nothing more.
    None,
    /// Columns of a table.
    Columns(Columns<'a>),
    /// Header and solutions of a logic file.
    Logic(Box<Logic<'a>>),
    /// Facts in the name of a fused-MoE file.
    Moe(MoeName),
    /// Facts in the path of one of AITER's Triton configurations.
    Config(ConfigName),
    /// Parameters and trials of a search space.
    Space(Box<Space>),
}

/// A tuning file.
#[derive(Clone, PartialEq, Debug)]
pub struct Tunings<'a> {
    /// Its path as given. Some formats keep a part of their key in it.
    pub name: String,
    /// Format.
    pub format: Format,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Versions it was made for.
    pub versions: Vec<Version<'a>>,
    /// Rows, in the order of the file.
    pub rows: Vec<Row<'a>>,
    /// Defects of the text, by line.
    pub flaws: Vec<Flaw>,
    /// Data that only its format has.
    pub detail: Detail<'a>,
}

impl<'a> Tunings<'a> {
    /// A file without rows.
    pub fn new(name: &str, format: Format, bytes: &'a [u8]) -> Tunings<'a> {
        Tunings {
            name: name.to_owned(),
            format,
            bytes,
            versions: Vec::new(),
            rows: Vec::new(),
            flaws: Vec::new(),
            detail: Detail::None,
        }
    }

    /// Refuses a file that has more rows, flaws or versions than any tuning database, so that its memory is
    /// bounded.
    pub(crate) fn bounded(&self, line: u32) -> Result<(), Error> {
        let (what, most) = match () {
            () if self.rows.len() >= MOST_ROWS => ("rows", MOST_ROWS),
            () if self.flaws.len() >= MOST_FLAWS => ("lines that cannot be read", MOST_FLAWS),
            () if self.versions.len() >= MOST_VERSIONS => ("lines about versions", MOST_VERSIONS),
            () => return Ok(()),
        };
        Err(Error::new(line, format!("more than {most} {what}")))
    }

    pub(crate) fn flaw(&mut self, line: u32, kind: FlawKind, text: impl Into<String>) {
        self.flaws.push(Flaw { line, kind, text: text.into(), spoils_row: false });
    }

    pub(crate) fn bad_row(&mut self, line: u32, kind: FlawKind, text: impl Into<String>) {
        self.flaws.push(Flaw { line, kind, text: text.into(), spoils_row: true });
    }

    /// The last part of its path.
    pub fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The value of a version.
    pub fn version(&self, key: &str) -> Option<&str> {
        self.versions.iter().find(|it| it.key == key).map(|it| it.value.as_ref())
    }

    /// The text of a row.
    pub fn text(&self, row: &Row<'_>) -> &'a [u8] {
        self.bytes.get(row.span.clone()).unwrap_or_default()
    }

    /// The flaw for which the row of a line is left out, if there is one.
    pub fn spoiled(&self, line: u32) -> Option<&Flaw> {
        self.flaws.iter().find(|flaw| flaw.spoils_row && flaw.line == line)
    }

    /// The file's bytes: the text of its rows and the text between them.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut at = 0;
        let mut spans: Vec<_> =
            self.rows.iter().map(|row| row.span.clone()).filter(|it| !it.is_empty()).collect();
        spans.in_order_by_key(|span| span.start);
        for span in spans {
            // A row within another one was written with it.
            if span.start < at {
                continue;
            }
            out.extend_from_slice(self.bytes.get(at..span.start).unwrap_or_default());
            out.extend_from_slice(self.bytes.get(span.clone()).unwrap_or_default());
            at = span.end;
        }
        out.extend_from_slice(self.bytes.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_a_database_of_hundreds_of_thousands_is_small() {
        assert!(size_of::<Row<'_>>() <= 256, "{} bytes", size_of::<Row<'_>>());
    }
}
