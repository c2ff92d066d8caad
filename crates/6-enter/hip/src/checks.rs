//! Kernels that run checked: findings go to standard error at once.
//!
//! A loop that launches a kernel a thousand times says the same thing once.

use crate::message::say;
use codeobj::LineTable;
use emu::{Fault, Launch, Memory, Program, Summary};
use host::session::findings_file;
use probe::{Checks, Code};
use render::{Style, text};
use rules::{ExecutionEvidence, check_execution};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use view::Finding;

/// Columns of the output.
const WIDTH: usize = 100;

/// Enabled checks, and problems already found.
#[derive(Debug)]
pub(crate) struct Checking {
    checks: Checks,
    /// One line for each finding, which `rockhound` counts and `judge` compares.
    file: PathBuf,
    /// Kernel, rule, source lines or addresses of the instructions.
    seen: BTreeSet<(String, &'static str, Vec<String>)>,
    /// Not all accesses were watched: said once.
    incomplete: bool,
}

impl Checking {
    /// Looks for mistakes and counts them in the session's folder.
    pub(crate) fn new(checks: Checks, session: &Path) -> Checking {
        Checking { checks, file: findings_file(session), seen: BTreeSet::new(), incomplete: false }
    }

    /// Runs a kernel and reports its mistakes.
    pub(crate) fn run(
        &mut self,
        kernel: &str,
        code: &Code,
        program: &Program,
        memory: &Memory,
        launch: &Launch<'_>,
    ) -> Result<Summary, Box<Fault>> {
        let (result, checked) = probe::check(self.checks, program, memory, launch);
        let lines = LineTable::read(code.bytes()).ok();
        let evidence = ExecutionEvidence { program, checked: &checked, memory, lines: lines.as_ref() };
        let mut findings = check_execution(&evidence);
        findings.retain(|finding| {
            let places = finding.places.iter().map(|place| match &place.source {
                Some(source) if source.line > 0 => format!("{}:{}", source.file, source.line),
                _ => place.address.map_or_else(String::new, |it| format!("{it:#x}")),
            });
            let places = places.collect();
            self.seen.insert((kernel.to_string(), finding.rule, places))
        });
        if !findings.is_empty() {
            let style = Style { width: WIDTH, ..Style::default() };
            say(text::findings(kernel, &findings, &style).trim_end());
            self.keep(&findings);
        }
        if checked.unwatched > 0 && !std::mem::replace(&mut self.incomplete, true) {
            say(&format!(
                "`{kernel}` touches more memory than is watched: {} accesses of lanes were not checked",
                checked.unwatched
            ));
        }
        // That is one of the findings.
        result.map(|summary| Summary { outside_lds: None, ..summary })
    }

    fn keep(&self, findings: &[Finding]) {
        let place = |it: &Finding| {
            let source = it.places.first().and_then(|it| it.source.as_ref());
            source.map_or_else(String::new, |it| format!(" ({}:{})", it.file, it.line))
        };
        let line = |it: &Finding| {
            let message = it.message.replace('\n', " ");
            format!("{} {}: {message}{}\n", it.severity.as_str(), it.rule, place(it))
        };
        let lines: String = findings.iter().map(line).collect();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.file);
        let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
        if let Err(error) = written {
            say(&format!("cannot write {}: {error}", self.file.display()));
        }
    }
}
