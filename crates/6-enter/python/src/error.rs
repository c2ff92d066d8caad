//! Errors as Python sees them: one class, with message and hint.

use pyo3::prelude::*;
use view::UsageError;

/// Module and name of the class.
const CLASS: (&str, &str) = ("rockhound._error", "RockhoundError");

/// Separator before the hint in a message.
const HINT: &str = "\nhint: ";

/// The exception for an error.
pub(crate) fn raise(py: Python<'_>, error: &anyhow::Error) -> PyErr {
    let (message, hint) = parts(error);
    let class = py.import(CLASS.0).and_then(|module| module.getattr(CLASS.1));
    match class.and_then(|class| class.call1((message, hint))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

/// Message and hint.
fn parts(error: &anyhow::Error) -> (String, Option<String>) {
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        return (usage.message.clone(), Some(usage.hint.clone()).filter(|hint| !hint.is_empty()));
    }
    let text = format!("{error:#}");
    match text.split_once(HINT) {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (text, None),
    }
}
