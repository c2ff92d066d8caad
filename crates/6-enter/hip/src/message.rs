//! Messages of the library on standard error.
//!
//! The program owns its output; a line of the library begins with `rockhound:` and is printed once.

use std::collections::BTreeSet;
use std::sync::Mutex;

static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says something.
pub(crate) fn say(text: &str) {
    crate::progress::clear();
    eprintln!("rockhound: {text}");
}

/// Says something the first time only.
pub(crate) fn say_once(text: &str) {
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if said.insert(text.to_string()) {
        say(text);
    }
}
