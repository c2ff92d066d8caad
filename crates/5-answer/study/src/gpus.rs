//! Names of GPUs, as users write them.

use arch::{LOWEST_MHZ, Model};

/// Names of all GPUs.
pub fn names() -> impl Iterator<Item = &'static str> {
    Model::names()
}

/// A name in lower case if it is a GPU's, `mi300x`, perhaps with a clock, `mi300x@1600`; else the valid names.
pub fn named(text: &str) -> Result<String, Vec<String>> {
    let text = text.to_ascii_lowercase();
    if Model::by_name(&text).is_some() {
        return Ok(text);
    }
    Err(match text.split('@').next().and_then(Model::by_name) {
        None => names().map(str::to_owned).collect(),
        Some(model) => vec![format!("{0}@{LOWEST_MHZ}..{0}@{1}", model.key(), model.engine_mhz.value)],
    })
}
