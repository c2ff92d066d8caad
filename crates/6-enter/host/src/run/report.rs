//! Results of a run, and what it says while it goes on.

use super::request::Request;
use anyhow::Result;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use view::Finding;

/// Results of a run.
#[derive(Debug)]
pub struct Ran {
    /// Folders of recordings, in the order they were begun.
    pub folders: Vec<PathBuf>,
    /// How it ended.
    pub ended: Ended,
    /// Number of findings, if mistakes were looked for.
    pub findings: Option<usize>,
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Everything ran.
    Well,
    /// The program ended with this code; 128 and the signal's number if a signal ended it.
    Program(u8),
    /// The user interrupted it.
    Interrupted,
    /// Only a part was recorded.
    InPart,
    /// Results differ from what was expected.
    Differs,
}

/// Output of a kernel or program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Standard output.
    Standard,
    /// Standard error.
    Error,
}

/// Receives what a run has to say while it goes on.
pub trait Reporter: Sync {
    /// A line for people.
    fn say(&self, line: &str);
    /// Text that a kernel prints.
    fn print(&self, output: Output, text: &[u8]);
    /// A kernel runs for so long; `state` says how far it is.
    fn running(&self, kernel: &str, time: Duration, state: &dyn Fn() -> String);
    /// The kernel no longer runs.
    fn stopped(&self);
    /// A kernel has run: its name and its numbers.
    fn ran(&self, kernel: &str, numbers: &str);
    /// From now on the user may interrupt: the flag that says so.
    fn interrupts(&self) -> Result<Arc<AtomicBool>>;
    /// Mistakes of the kernel of a launch file, and whether it ended well. Programs report theirs themselves.
    fn findings(&self, kernel: &str, findings: &[Finding], well: bool) -> Result<()>;
}

/// Someone who runs what is requested.
pub(super) trait Runner {
    /// Runs it to its end.
    fn run(&self, request: &Request, reporter: &dyn Reporter) -> Result<Ran>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reports to nobody.
    pub(crate) struct Silent;

    impl Reporter for Silent {
        fn say(&self, _: &str) {}
        fn print(&self, _: Output, _: &[u8]) {}
        fn running(&self, _: &str, _: Duration, _: &dyn Fn() -> String) {}
        fn stopped(&self) {}
        fn ran(&self, _: &str, _: &str) {}
        fn interrupts(&self) -> Result<Arc<AtomicBool>> {
            Ok(Arc::default())
        }
        fn findings(&self, _: &str, _: &[Finding], _: bool) -> Result<()> {
            Ok(())
        }
    }
}
