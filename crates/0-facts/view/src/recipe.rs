//! Steps to follow, each with its command.

use serde::Serialize;

/// Steps that lead to something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recipe {
    /// Purpose of the commands.
    pub title: String,
    /// Why they are worth it here.
    pub why: String,
    /// The steps.
    pub steps: Vec<RecipeStep>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecipeStep {
    /// Instruction for the reader.
    pub text: String,
    /// Command to paste; may be several lines, may be empty.
    pub command: String,
}
