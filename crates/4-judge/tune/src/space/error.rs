//! Why a space cannot be built.

use super::Limits;
use expression::ExpressionError;

/// A space that cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SpaceError {
    /// A constraint leaves no configuration.
    #[error("no configuration is left: `{constraint}` removes the last {before}{}", alone_words(*alone))]
    Empty {
        /// The first constraint with which none is left.
        constraint: String,
        /// Configurations that the constraints before it leave.
        before: u64,
        /// Whether no configuration satisfies it even without the others.
        alone: bool,
    },
    /// A listed space has no rows.
    #[error("no configuration is listed")]
    NoRows,
    /// A row of a listed space has too few or too many places.
    #[error("configuration {row} has {places} values for {parameters} parameters")]
    WrongLength {
        /// The row, from 0.
        row: usize,
        /// Its places.
        places: usize,
        /// Parameters of the space.
        parameters: usize,
    },
    /// A configuration is listed twice.
    #[error("configuration {0} is listed twice")]
    RepeatedRow(usize),
    /// A parameter has no values.
    #[error("parameter `{0}` has no values")]
    NoValues(String),
    /// Two parameters have one name.
    #[error("parameter `{0}` is given twice")]
    RepeatedParameter(String),
    /// A parameter has a value twice.
    #[error("parameter `{parameter}` has the value {value} twice")]
    RepeatedValue {
        /// The parameter.
        parameter: String,
        /// The value.
        value: String,
    },
    /// A configuration names a value that its parameter does not have.
    #[error("a configuration names value {place} of parameter `{parameter}`, which has fewer")]
    NoSuchValue {
        /// The parameter.
        parameter: String,
        /// The value's place.
        place: u32,
    },
    /// A constraint is not an expression over the parameters.
    #[error("constraint `{constraint}`: {error}")]
    Constraint {
        /// The constraint.
        constraint: String,
        /// The error in it.
        error: ExpressionError,
    },
    /// A constraint is neither true nor false.
    #[error("constraint `{constraint}` is {value}, and neither true nor false: compare it, as in `… != 0`")]
    NotLogical {
        /// The constraint.
        constraint: String,
        /// Its value.
        value: String,
    },
    /// A constraint cannot be computed for a configuration that all others allow.
    #[error("constraint `{constraint}`: {error}, for {configuration}")]
    NotComputed {
        /// The constraint.
        constraint: String,
        /// The error.
        error: ExpressionError,
        /// The configuration.
        configuration: String,
    },
    /// A limit is exceeded.
    #[error("the space is too large: more than {} edges or {} steps; constrain it further", _0.edges, _0.steps)]
    TooLarge(Limits),
}

fn alone_words(alone: bool) -> &'static str {
    if alone { "; no configuration satisfies it" } else { "" }
}
