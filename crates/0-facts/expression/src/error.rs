//! Errors in expressions, with their place.

/// An error in an expression.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("column {}: {message}", at + 1)]
pub struct ExpressionError {
    /// Characters before the place.
    pub at: usize,
    /// The class of error.
    pub kind: ErrorKind,
    /// The error in words.
    pub message: String,
}

/// Classes of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The text is not an expression of this language.
    Syntax,
    /// A name that has no value.
    UnknownName,
    /// A division by zero.
    DivisionByZero,
    /// An operator or function on values that it does not accept.
    Type,
    /// A limit on size, depth, steps or integers was exceeded.
    TooLarge,
}

impl ExpressionError {
    pub(crate) fn new(at: usize, kind: ErrorKind, message: impl Into<String>) -> ExpressionError {
        ExpressionError { at, kind, message: message.into() }
    }
}

/// A name that does not exist, with the nearest that does.
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|it| (strsim::jaro_winkler(&name.to_lowercase(), &it.to_lowercase()), it))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, it)) => format!("unknown {what} `{name}`; the nearest is `{it}`"),
        None => format!("unknown {what} `{name}`"),
    }
}
