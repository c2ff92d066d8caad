//! Wrong requests as errors of this layer.

use view::UsageError;

/// Makes a usage error.
pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError::new(message, hint))
}
