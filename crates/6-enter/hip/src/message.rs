//! Messages of the library on standard error.
//!
//! The program owns its output; a line of the library begins with `rockhound:` and is printed once.

use host::session::{self, Reliance};
use std::collections::BTreeSet;
use std::path::PathBuf;
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

/// Tells the command where times that the program saw come from.
pub(crate) fn rely_on_times(what: &str) {
    rely(&Reliance::Times { what: what.to_owned() });
}

/// Tells the command, once, what the program relies on.
pub(crate) fn rely(reliance: &Reliance) {
    static NOTED: Mutex<BTreeSet<Reliance>> = Mutex::new(BTreeSet::new());
    let mut noted = NOTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !noted.insert(reliance.clone()) {
        return;
    }
    if let Some(folder) = std::env::var_os(session::VARIABLE).map(PathBuf::from) {
        // Without the file the end of the run lacks a line; the program has its answer.
        let _ = session::add_reliance(&folder, reliance);
    }
}
