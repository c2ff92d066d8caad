//! Expressions of Python over named values, as constraints and value lists of tuning spaces use them.
//!
//! [`Expression::parse`] reads the text once; [`Expression::evaluate`] computes it for given values. Both are bounded:
//! text, nesting, steps, list lengths and the size of integers have limits, and exceeding one is an error with its
//! position. Arithmetic is Python's: `/` is true division, `//` and `%` round down, comparisons chain.
//!
//! ```
//! use rockhound_expression::{Expression, Value};
//! let rule = Expression::parse("32 <= x * y <= 1024 and x % y == 0")?;
//! assert_eq!(rule.names(), ["x", "y"]);
//! assert_eq!(rule.evaluate(&[Value::Int(64), Value::Int(2)])?, Value::Bool(true));
//! # Ok::<(), rockhound_expression::ExpressionError>(())
//! ```

mod call;
mod error;
mod evaluate;
mod lex;
mod parse;
mod tree;
mod value;

pub use call::Function;
pub use error::{ErrorKind, ExpressionError};
pub use tree::{Binary, Comparison, Expression, Node, NodeId};
pub use value::{Value, equal};

/// Longest text of an expression, in bytes.
pub const LONGEST_TEXT: usize = 1 << 16;
/// Deepest nesting of operators and brackets.
pub const DEEPEST: u32 = 200;
/// Most values of a list or range.
pub const LONGEST_LIST: usize = 100_000;
/// Most steps of one evaluation.
pub const MOST_STEPS: u32 = 2_000_000;
