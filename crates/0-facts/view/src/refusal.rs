//! Requests that are wrong in themselves, whatever is in the files.

/// A wrong request, with what to ask instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UsageError {
    /// Description of the problem.
    pub message: String,
    /// Remedy; may be empty.
    pub hint: String,
}

impl UsageError {
    /// An error of this text and remedy.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> UsageError {
        UsageError { message: message.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UsageError {}
