//! Logs of builds: what compilers print of each kernel's resources.
//!
//! A log is read piece by piece. A kernel's lines need not be consecutive: builds run several compilers at
//! once, so lines belong together by source position and writer.

use crate::clean::clean;
use crate::pieces::Pieces;
use crate::prefix::entry;
use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde::Deserialize;
use sorting::Sort;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

/// Longest line that is looked at as a whole, bytes.
const MOST_LINE: usize = 1 << 16;
/// Kernels whose lines are not complete, at most.
const MOST_OPEN: usize = 2048;
/// A kernel without a new line for this many lines is complete.
const OPEN_LINES: u32 = 4000;
/// Complete kernels that wait for a later line with their target, at most.
const MOST_HELD: usize = 4096;
/// Source files whose targets are remembered, and kernels that are counted, at most.
const MOST_REMEMBERED: usize = 1 << 18;
/// Warnings and errors of kernels whose other lines are still to come, at most.
const MOST_DIAGNOSTICS: usize = 4096;
/// Labels that are not known, at most.
const MOST_LABELS: usize = 16;

/// Resources of a kernel as a compiler printed them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuiltKernel {
    /// Linker name, or the name of XLA's module.
    pub name: String,
    /// Line of the log, 1-based.
    pub line: u32,
    /// Last line of the log that belongs to it.
    pub last_line: u32,
    /// Source file and line.
    pub source: Option<(String, u32)>,
    /// Target with features.
    pub target: Option<String>,
    /// The target was chosen by position: the command names several, and they are compiled in order.
    pub target_by_order: bool,
    /// SGPRs.
    pub sgprs: Option<u32>,
    /// VGPRs without AGPRs.
    pub vgprs: Option<u32>,
    /// AGPRs.
    pub agprs: Option<u32>,
    /// Scratch per lane, bytes.
    pub scratch_bytes: Option<u32>,
    /// The stack has no fixed size.
    pub dynamic_stack: Option<bool>,
    /// Waves per SIMD by the compiler's calculation.
    pub waves_per_simd: Option<u32>,
    /// SGPRs spilled.
    pub sgpr_spills: Option<u32>,
    /// VGPRs spilled.
    pub vgpr_spills: Option<u32>,
    /// Static LDS, bytes.
    pub lds_bytes: Option<u32>,
    /// Warnings and errors about it, as printed.
    pub diagnostics: Vec<String>,
}

/// Counts of the lines and kernels of a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BuildCounts {
    /// Lines of the log.
    pub lines: u32,
    /// Lines about resources of kernels.
    pub used: u64,
    /// Lines about resources whose kernel is not named: the log begins in the middle of one.
    pub nameless: u64,
    /// Values that are formulas of the compiler in place of numbers.
    pub formulas: u64,
    /// Labels that are not known.
    pub labels: BTreeSet<String>,
    /// Kernels.
    pub kernels: u64,
    /// Of these, kernels whose target is not known.
    pub without_target: u64,
}

#[derive(Deserialize)]
struct Table {
    remark: Lines,
    block: Block,
    diagnostic: Vec<DiagnosticRow>,
    targets: Targets,
}

#[derive(Deserialize)]
struct Lines {
    start: String,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Block {
    opening: String,
    #[serde(flatten)]
    lines: Lines,
}

#[derive(Deserialize)]
struct DiagnosticRow {
    words: String,
    #[serde(with = "pattern")]
    pattern: Regex,
    field: String,
}

mod pattern {
    use regex::Regex;
    use serde::{Deserialize, Deserializer, de::Error};

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Regex, D::Error> {
        Regex::new(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct Targets {
    options: Vec<String>,
    ends: String,
}

/// Meaning of a text that a line of interest holds.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Remark,
    /// A line of remarks whose `remark:` and position are cut off, as scripts and people cut them.
    Bare,
    Block,
    Diagnostic(usize),
    Option,
    End,
}

struct Search {
    table: Table,
    automaton: AhoCorasick,
    signs: Vec<Sign>,
}

const REMARK: &str = "remark: ";
const SUFFIX: &str = " [-R";

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../data/build.toml")).ok()?;
    let mut words = vec![REMARK.to_owned(), table.block.opening.clone()];
    let mut signs = vec![Sign::Remark, Sign::Block];
    for label in table.block.lines.labels.keys().chain([&table.block.lines.start]) {
        words.push(format!("] {label}: "));
        signs.push(Sign::Block);
    }
    for label in table.remark.labels.keys().chain([&table.remark.start]) {
        words.push(format!("{label}: "));
        signs.push(Sign::Bare);
    }
    for (at, row) in table.diagnostic.iter().enumerate() {
        words.push(row.words.clone());
        signs.push(Sign::Diagnostic(at));
    }
    for option in &table.targets.options {
        words.push(option.clone());
        signs.push(Sign::Option);
    }
    words.push(table.targets.ends.clone());
    signs.push(Sign::End);
    let automaton = AhoCorasick::new(&words).ok()?;
    Some(Search { table, automaton, signs })
});

/// Source position before `remark:`, without prefixes.
static POSITION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|\s)(?P<file>\S+?):(?P<line>\d+):\d+: *$").ok());
/// Source position behind `remark:`.
static BEHIND: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?P<file>\S+?):(?P<line>\d+):\d+: ").ok());
/// Name of a target with its features.
static TARGET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bgfx\d[0-9a-z]*(?:-\d+)*(?:-generic)?(?::[a-z]+[+-])*").ok());

/// Lines that belong together: source position and writer.
type Key = (String, String);

/// Reader of a build's log: [`feed`](BuildLog::feed) pieces of any size, [`take`](BuildLog::take) the
/// kernels from time to time, then [`finish`](BuildLog::finish).
#[derive(Default)]
pub struct BuildLog {
    counts: BuildCounts,
    pieces: Pieces,
    open: HashMap<Key, BuiltKernel>,
    held: Vec<BuiltKernel>,
    /// Values of warnings and errors by kernel, until its other lines come.
    diagnosed: HashMap<String, BuiltKernel>,
    /// Targets of the last command.
    targets: Vec<String>,
    /// Targets by the name of the source file in a command.
    of_file: HashMap<String, Vec<String>>,
    /// Times each kernel was seen, by the hash of name and position.
    seen: HashMap<u64, usize>,
    /// Number of kernels held when the last target's messages ended.
    settled: usize,
}

impl BuildLog {
    /// Reads the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        if let Some(lines) = self.pieces.lines(piece) {
            self.block(&lines);
        }
    }

    /// Kernels that are complete, if they are many; all are given at the end.
    pub fn take(&mut self) -> Vec<BuiltKernel> {
        if self.held.len() < MOST_HELD {
            return Vec::new();
        }
        self.release()
    }

    /// Ends the log: the remaining kernels, and what the log held.
    pub fn finish(mut self) -> (Vec<BuiltKernel>, BuildCounts) {
        let last = self.pieces.end();
        self.block(&last.rest);
        self.counts.lines = self.counts.lines.saturating_add(u32::from(last.unended));
        self.close(|_| true);
        let alone = std::mem::take(&mut self.diagnosed);
        for kernel in alone.into_values() {
            self.hold(kernel);
        }
        let last = self.release();
        (last, self.counts)
    }

    fn release(&mut self) -> Vec<BuiltKernel> {
        self.settled = 0;
        let mut kernels = std::mem::take(&mut self.held);
        kernels.in_order_by_key(|it| it.line);
        self.counts.kernels += kernels.len() as u64;
        self.counts.without_target += kernels.iter().filter(|it| it.target.is_none()).count() as u64;
        kernels
    }

    /// Whole lines.
    fn block(&mut self, block: &[u8]) {
        let text = clean(block);
        let text: &[u8] = &text;
        let Some(search) = &*SEARCH else { return };
        let (mut at, mut counted) = (0, 0);
        while let Some(hit) = text.get(at..).and_then(|rest| search.automaton.find(rest)) {
            let start = memchr::memrchr(b'\n', &text[..at + hit.start()]).map_or(0, |it| it + 1);
            let end = memchr::memchr(b'\n', &text[at + hit.start()..])
                .map_or(text.len(), |it| at + hit.start() + it);
            self.counts.lines = self.counts.lines.saturating_add(newlines(&text[counted..start]));
            counted = start;
            let line = String::from_utf8_lossy(&text[start..end.min(start + MOST_LINE)]);
            self.line(search, &line);
            at = end + 1;
        }
        self.counts.lines = self.counts.lines.saturating_add(newlines(&text[counted..]));
    }

    fn line(&mut self, search: &Search, line: &str) {
        let number = self.counts.lines.saturating_add(1);
        let Some(hit) = search.automaton.find(line) else { return };
        let sign = search.signs[hit.pattern().as_usize()];
        if sign != Sign::Remark && line.contains(REMARK) {
            return self.remark(search, line, number);
        }
        match sign {
            Sign::Remark => self.remark(search, line, number),
            Sign::Bare => self.bare(search, line, number),
            Sign::Block => self.xla(search, line, number),
            Sign::Diagnostic(at) => self.diagnostic(&search.table.diagnostic[at], line, number),
            Sign::Option => self.command(search, line),
            Sign::End => self.end_of_target(&line[hit.end()..]),
        }
    }

    fn remark(&mut self, search: &Search, line: &str, number: u32) {
        let Some((before, text)) = line.split_once(REMARK) else { return };
        let is_ours = line.contains("kernel-resource-usage]");
        let text = text.rfind(SUFFIX).map_or(text, |at| &text[..at]).trim();
        // Clang names the source before the word, LLVM's other programs behind it.
        let (behind, text) = behind(text);
        let Some((label, value)) = text.split_once(": ") else { return };
        let lines = &search.table.remark;
        let field = lines.labels.get(label.trim());
        if field.is_none() && label != lines.start {
            if is_ours && self.counts.labels.len() < MOST_LABELS {
                self.counts.labels.insert(label.trim().to_owned());
            }
            return;
        }
        let (source, place) = behind.unwrap_or_else(|| position(before));
        // Clock times differ from line to line, so only the writer counts.
        let key = (place, entry(before).who.words());
        match field {
            None => self.begin(key, BuiltKernel { source, ..kernel(value, number) }),
            Some(field) => self.value(&key, field, value, number),
        }
    }

    fn bare(&mut self, search: &Search, line: &str, number: u32) {
        let entry = entry(line);
        let Some((label, value)) = entry.text.trim().split_once(": ") else { return };
        let key = (String::new(), entry.who.words());
        match search.table.remark.labels.get(label) {
            None if label == search.table.remark.start => self.begin(key, kernel(value, number)),
            Some(field) if self.open.contains_key(&key) => self.value(&key, field, value, number),
            // Registers are named in other texts too.
            _ => {}
        }
    }

    fn xla(&mut self, search: &Search, line: &str, number: u32) {
        let entry = entry(line);
        let key = (search.table.block.opening.clone(), entry.who.words());
        let lines = &search.table.block.lines;
        if entry.text.contains(&search.table.block.opening) {
            self.counts.used += 1;
            return;
        }
        let Some((label, value)) = entry.text.split_once(": ") else { return };
        match lines.labels.get(label) {
            None if label == lines.start => self.begin(key, kernel(value, number)),
            None => {}
            Some(field) => self.value(&key, field, value, number),
        }
    }

    fn begin(&mut self, key: Key, kernel: BuiltKernel) {
        self.counts.used += 1;
        let line = kernel.line;
        if let Some(before) = self.open.insert(key, kernel) {
            self.hold(before);
        }
        if self.open.len() > MOST_OPEN {
            self.close(|it| it.last_line.saturating_add(OPEN_LINES) < line);
        }
        if self.open.len() > MOST_OPEN {
            self.close(|it| it.last_line < line);
        }
    }

    fn value(&mut self, key: &Key, field: &str, value: &str, number: u32) {
        let Some(kernel) = self.open.get_mut(key) else {
            self.counts.nameless += 1;
            return;
        };
        self.counts.used += 1;
        kernel.last_line = number;
        if !set(kernel, field, value) {
            self.counts.formulas += 1;
        }
    }

    fn diagnostic(&mut self, row: &DiagnosticRow, line: &str, number: u32) {
        let Some(found) = row.pattern.captures(line) else { return };
        let Some(name) = found.name("kernel") else { return };
        self.counts.used += 1;
        let word = ["error: ", "warning: "].into_iter().find_map(|it| Some((line.find(it)?, it.len())));
        let (said, word) = word.unwrap_or((0, 0));
        let before = || position(&line[..said]);
        let (source, _) = behind(&line[said + word..]).0.unwrap_or_else(before);
        if self.diagnosed.len() >= MOST_DIAGNOSTICS {
            let all: Vec<BuiltKernel> = std::mem::take(&mut self.diagnosed).into_values().collect();
            all.into_iter().for_each(|it| self.hold(it));
        }
        let kernel = self
            .diagnosed
            .entry(name.as_str().to_owned())
            .or_insert_with(|| BuiltKernel { source, ..kernel(name.as_str(), number) });
        kernel.last_line = number;
        let text = line[said..].trim().to_owned();
        if kernel.diagnostics.len() < MOST_LABELS && !kernel.diagnostics.contains(&text) {
            kernel.diagnostics.push(text);
        }
        if let Some(value) = found.name("value") {
            set(kernel, &row.field, value.as_str());
        }
    }

    /// Remembers the targets of a command and the source files it compiles.
    fn command(&mut self, search: &Search, line: &str) {
        let Some(pattern) = &*TARGET else { return };
        let mut targets = BTreeSet::new();
        for option in &search.table.targets.options {
            for (at, _) in line.match_indices(option.as_str()) {
                let rest = line[at + option.len()..].trim_start_matches(['=', ' ', ':', '\'', '"']);
                let rest = rest.strip_prefix("STRING=").unwrap_or(rest);
                let list = rest.split([' ', '\'', '"']).next().unwrap_or_default();
                targets.extend(pattern.find_iter(list).map(|it| it.as_str().to_owned()));
            }
        }
        if targets.is_empty() {
            return;
        }
        self.targets = targets.into_iter().collect();
        for word in line.split_ascii_whitespace() {
            let name = file_name(word.trim_matches(['\'', '"']));
            let is_source = [".hip", ".cu", ".cpp", ".cc", ".cxx", ".c", ".cl", ".ll"]
                .iter()
                .any(|ending| name.ends_with(ending));
            if is_source && self.of_file.len() < MOST_REMEMBERED {
                self.of_file.insert(name.to_owned(), self.targets.clone());
            }
        }
    }

    /// Messages of one target end: they were about kernels whose target no single option gave.
    fn end_of_target(&mut self, rest: &str) {
        let Some(target) = TARGET.as_ref().and_then(|it| it.find(rest)).filter(|it| it.start() == 0) else {
            return;
        };
        self.close(|_| true);
        for kernel in self.held.iter_mut().skip(self.settled) {
            if kernel.target.is_none() || kernel.target_by_order {
                kernel.target = Some(target.as_str().to_owned());
                kernel.target_by_order = false;
            }
        }
        for kernel in self.diagnosed.values_mut() {
            kernel.target.get_or_insert_with(|| target.as_str().to_owned());
        }
        self.settled = self.held.len();
    }

    /// Closes open kernels.
    fn close(&mut self, is_complete: impl Fn(&BuiltKernel) -> bool) {
        let mut done: Vec<BuiltKernel> =
            self.open.extract_if(|_, it| is_complete(it)).map(|(_, it)| it).collect();
        done.in_order_by_key(|it| it.line);
        done.into_iter().for_each(|it| self.hold(it));
    }

    /// Gives a complete kernel its target and its warnings.
    fn hold(&mut self, mut kernel: BuiltKernel) {
        if let Some(before) = self.diagnosed.remove(&kernel.name) {
            kernel.diagnostics = before.diagnostics;
            kernel.target = before.target;
            kernel.source = kernel.source.or(before.source);
        }
        let of_file = kernel.source.as_ref().and_then(|(file, _)| self.of_file.get(file_name(file)));
        let targets = of_file.unwrap_or(&self.targets);
        if kernel.target.is_none() {
            match targets.as_slice() {
                [] => {}
                [one] => kernel.target = Some(one.clone()),
                several => {
                    let mut hasher = DefaultHasher::new();
                    (&kernel.name, &kernel.source).hash(&mut hasher);
                    if self.seen.len() < MOST_REMEMBERED {
                        let times = self.seen.entry(hasher.finish()).or_default();
                        kernel.target = Some(several[*times % several.len()].clone());
                        kernel.target_by_order = true;
                        *times += 1;
                    }
                }
            }
        }
        self.held.push(kernel);
    }
}

fn kernel(name: &str, number: u32) -> BuiltKernel {
    BuiltKernel { name: name.trim().to_owned(), line: number, last_line: number, ..BuiltKernel::default() }
}

/// Sets a field; false if the value cannot be read.
fn set(kernel: &mut BuiltKernel, field: &str, value: &str) -> bool {
    if field == "stack" {
        let value = value.trim();
        kernel.dynamic_stack = match value {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        };
        return kernel.dynamic_stack.is_some();
    }
    let digits = value.trim().split(' ').next().unwrap_or_default();
    let number = digits.parse::<u32>().ok();
    let place = match field {
        "sgprs" => &mut kernel.sgprs,
        "vgprs" => &mut kernel.vgprs,
        "agprs" => &mut kernel.agprs,
        "scratch" => &mut kernel.scratch_bytes,
        "occupancy" => &mut kernel.waves_per_simd,
        "sgpr_spills" => &mut kernel.sgpr_spills,
        "vgpr_spills" => &mut kernel.vgpr_spills,
        "lds" => &mut kernel.lds_bytes,
        _ => return true,
    };
    if number.is_some() {
        *place = number;
    }
    number.is_some()
}

/// Source file and line, if known, and the position as written.
type Position = (Option<(String, u32)>, String);

/// Source position at the beginning of a text, and the rest of the text.
fn behind(text: &str) -> (Option<Position>, &str) {
    match BEHIND.as_ref().and_then(|it| it.captures(text)) {
        None => (None, text),
        Some(found) => (Some(of(&found)), &text[found[0].len()..]),
    }
}

/// Source position at the end of a text.
fn position(before: &str) -> Position {
    let found = POSITION.as_ref().and_then(|it| it.captures(before));
    found.map_or((None, String::new()), |found| of(&found))
}

fn of(found: &Captures<'_>) -> Position {
    let (file, line) = (&found["file"], found["line"].parse().unwrap_or(0));
    let known = !file.starts_with('<') && line > 0;
    (known.then(|| (file.to_owned(), line)), format!("{file}:{line}"))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn newlines(text: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
