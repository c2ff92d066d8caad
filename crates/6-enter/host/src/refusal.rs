//! Requests that are wrong in themselves, whatever is in the files.

/// A wrong request, with what to ask instead.
#[derive(Debug)]
pub struct UsageError {
    /// Description of the problem.
    pub message: String,
    /// Remedy; may be empty.
    pub hint: String,
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UsageError {}

/// Makes a usage error.
pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError { message: message.into(), hint: hint.into() })
}
