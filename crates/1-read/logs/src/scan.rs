//! Reads a log of any size piece by piece and keeps what matters in bounded memory.

use crate::clean::{SOFT_BREAK, clean};
use crate::message::{Field, Kind, Message, has_word};
use crate::pieces::Pieces;
use crate::prefix::{Entry, Who, entry};
use crate::table::messages;
use crate::unknown::{ALARMS, looks_like_error, shape};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use sorting::Sort;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

#[cfg(test)]
mod tests;

/// Longest line that is looked at as a whole, bytes; of a longer one the beginning.
const MOST_LINE: usize = 1 << 16;
/// Bytes before a fault in which activity of the job is looked for.
const LOOK_BACK: usize = 1 << 16;
/// Most events of one message; further ones are counted with the last.
const MOST_EVENTS: usize = 512;
/// Most sets of values that are distinguished, over all events.
const MOST_VALUES: usize = 50_000;
/// Most shapes of unknown errors.
const MOST_UNKNOWN: usize = 200;
/// Most writers of one event.
const MOST_WRITERS: usize = 256;
/// Most bytes of lines kept for readers of blocks.
const MOST_KEPT: usize = 48 << 20;
/// Lines at the beginning in which prefixes are counted.
pub const SAMPLED: u32 = 500;
/// Lines behind the start of a block that belong to it.
const BLOCK_LINES: u32 = 4_000;
/// Longest block other than a dump, lines.
const MOST_SHORT_BLOCK: u32 = 40;

/// Texts of lines that start or belong to blocks, and the number of lines after them that are kept too.
const BLOCKS: &[(&str, u32)] = &[
    ("Memory access fault by GPU", 0),
    ("HW Exception by GPU", 0),
    ("Memory critical error by agent", 0),
    ("inactivated due to async error", 1),
    (" aborting with error :", 40),
    ("callbackQueue aborting with status", 40),
    ("Queue error - HSA_", 0),
    ("Memory Fault Error [", 4),
    ("'omp target in ", 0),
    ("\" received signal SIG", 40),
    ("AMDGPU Wave ", 0),
    ("Queue error (HSA_", BLOCK_LINES),
    ("System event (HSA_", BLOCK_LINES),
    ("(stopped, reason: ", BLOCK_LINES),
    ("Disassembly for function ", BLOCK_LINES),
    ("kernel stopped: ", 5),
    ("hipMalloc", 0),
    ("hipExtMallocWithFlags", 0),
    ("hipHostMalloc", 0),
    ("hipFree", 0),
    ("hipHostFree", 0),
    ("exitcode", 0),
    ("page fault (", 40),
    ("in page starting at address", 20),
];

/// A message or an unknown error, with its repeats.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Row of the table; `None` for an error that no row knows.
    pub message: Option<&'static Message>,
    /// Values of the first occurrence.
    pub fields: Vec<Field>,
    /// First line, 1-based.
    pub line: u32,
    /// Last line.
    pub last_line: u32,
    /// Text of the first, without prefixes.
    pub text: String,
    /// Time of the first, as written.
    pub time: Option<String>,
    /// PCI address of the device, where the line has one.
    pub device: Option<String>,
    /// Number of occurrences.
    pub times: u32,
    /// Sets of values that differ from the first's.
    pub variants: u32,
    /// Distinct writers, in order of appearance.
    pub writers: Vec<Who>,
    /// Activity of the job before a fault: writer and text, latest last.
    pub before: Vec<(Who, String)>,
}

impl Event {
    /// Name of the message; empty for an unknown error.
    pub fn id(&self) -> &str {
        self.message.map_or("", |row| row.id.as_str())
    }

    /// A value of the first occurrence.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|it| it.name == name).map(|it| it.value.as_str())
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A line kept as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Line, 1-based.
    pub number: u32,
    /// Text with prefixes, without terminal control.
    pub text: String,
}

/// A log, scanned.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LogText {
    /// Lines read.
    pub lines: u32,
    /// Bytes read.
    pub bytes: u64,
    /// Messages and unknown errors, by first line.
    pub events: Vec<Event>,
    /// Lines of blocks.
    pub kept: Vec<Kept>,
    /// Lines of blocks that were left out for want of memory.
    pub not_kept: u64,
    /// Unknown errors whose shape was left out for want of memory.
    pub not_listed: u64,
    /// Lines of the first [`SAMPLED`] that have a prefix of a log.
    pub prefixed: u32,
    /// Last line that is not empty.
    pub last: String,
}

struct Search {
    automaton: AhoCorasick,
    /// Meaning of each pattern.
    patterns: Vec<Pattern>,
}

#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    Row(usize),
    Alarm,
    Block(u32),
    Test,
}

/// Level words of the kernel's log by `dmesg -x`, which no word of the text need repeat.
const KERNEL_LEVELS: &[&str] = &[":err ", ":crit ", ":alert ", ":emerg "];

/// Texts of the lines in which CTest says which test starts or ended.
const TESTS: &[&str] = &["Test #", "Test  #", "Test   #", " Start "];

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let mut texts: Vec<&str> = Vec::new();
    let mut patterns = Vec::new();
    for (at, row) in messages().iter().enumerate().filter(|(_, row)| row.kind != Kind::Activity) {
        texts.push(&row.words[0]);
        patterns.push(Pattern::Row(at));
    }
    for text in ALARMS.iter().chain(KERNEL_LEVELS) {
        texts.push(text);
        patterns.push(Pattern::Alarm);
    }
    for (text, lines) in BLOCKS {
        texts.push(text);
        patterns.push(Pattern::Block(*lines));
    }
    for text in TESTS {
        texts.push(text);
        patterns.push(Pattern::Test);
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(texts)
        .ok()?;
    Some(Search { automaton, patterns })
});

/// Reader of a log: [`feed`](Scan::feed) pieces of any size, then [`finish`](Scan::finish).
#[derive(Default)]
pub struct Scan {
    log: LogText,
    pieces: Pieces,
    by_key: HashMap<Key, usize>,
    /// Events by row.
    events_of: HashMap<usize, usize>,
    /// Values seen of each event.
    values: HashSet<(usize, Vec<Field>)>,
    writers: HashSet<(usize, Who)>,
    unknown: usize,
    sampled: u32,
    kept_bytes: usize,
    /// Lines still to be kept after a start of a block.
    following: u32,
    /// The event whose following lines hold more of its values.
    open: Option<Open>,
    /// CTest wrote the log: numbers before lines are tests, not ranks.
    is_of_tests: bool,
    /// Raw text before the present piece.
    behind: VecDeque<u8>,
}

/// An event with lines that may follow.
struct Open {
    event: usize,
    who: Who,
    /// Lines still to be looked at.
    lines: u32,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Row(usize, Vec<Field>, Option<String>),
    Unknown(String),
}

impl Scan {
    /// A reader at the beginning of a log.
    pub fn new() -> Scan {
        Scan::default()
    }

    /// Reads a whole text.
    pub fn text(bytes: &[u8]) -> LogText {
        let mut scan = Scan::new();
        scan.feed(bytes);
        scan.finish()
    }

    /// Reads the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        self.log.bytes += piece.len() as u64;
        if let Some(lines) = self.pieces.lines(piece) {
            self.block(&lines);
        }
    }

    /// Ends the log.
    pub fn finish(mut self) -> LogText {
        let last = self.pieces.end();
        self.block(&last.rest);
        self.log.lines = self.log.lines.saturating_add(u32::from(last.unended));
        self.log.events.in_order_by_key(|it| it.line);
        if self.is_of_tests {
            self.log.events.iter_mut().for_each(of_test);
        }
        self.log
    }

    /// Whole lines.
    fn block(&mut self, block: &[u8]) {
        let text = clean(block);
        let text: &[u8] = &text;
        let Some(search) = &*SEARCH else { return };
        self.sample(text);
        let mut at = 0;
        let mut counted = 0;
        while at < text.len() {
            let start = if self.following > 0 || self.open.is_some() {
                at
            } else {
                match search.automaton.find(&text[at..]) {
                    Some(hit) => line_start(text, at, at + hit.start()),
                    None => break,
                }
            };
            let end = line_end(text, start);
            self.log.lines = self.log.lines.saturating_add(newlines(&text[counted..start]));
            counted = start;
            let line = String::from_utf8_lossy(&text[start..end.min(start + MOST_LINE)]).into_owned();
            self.line(search, &line, &text[start.saturating_sub(LOOK_BACK)..start]);
            at = end + 1;
        }
        self.log.lines = self.log.lines.saturating_add(newlines(&text[counted..]));
        self.look_behind(text);
    }

    /// Counts prefixes at the beginning of the log.
    fn sample(&mut self, text: &[u8]) {
        let missing = SAMPLED.saturating_sub(self.sampled) as usize;
        for line in text.split_inclusive(|byte| *byte == b'\n').take(missing) {
            self.sampled += 1;
            let it = entry(&String::from_utf8_lossy(&line[..line.len().min(MOST_LINE)]));
            self.log.prefixed += u32::from(it.time.is_some() || it.level.is_some() || !it.who.is_unknown());
        }
    }

    /// Keeps the end of a piece for the faults at the beginning of the next, and the last line.
    fn look_behind(&mut self, text: &[u8]) {
        let tail = &text[text.len().saturating_sub(LOOK_BACK)..];
        self.behind.extend(tail);
        let excess = self.behind.len().saturating_sub(LOOK_BACK);
        self.behind.drain(..excess);
        let lines = tail.rsplit(|byte| *byte == b'\n' || *byte == SOFT_BREAK);
        if let Some(last) = lines.map(|it| it.trim_ascii()).find(|it| !it.is_empty()) {
            self.log.last = String::from_utf8_lossy(&last[..last.len().min(400)]).into_owned();
        }
    }

    fn line(&mut self, search: &Search, line: &str, before: &[u8]) {
        let number = self.log.lines.saturating_add(1);
        let mut rows: Vec<usize> = Vec::new();
        let mut is_alarm = false;
        let mut block: Option<u32> = None;
        for hit in search.automaton.find_overlapping_iter(line) {
            match search.patterns[hit.pattern().as_usize()] {
                Pattern::Row(row) => rows.push(row),
                Pattern::Alarm => is_alarm = true,
                Pattern::Block(lines) => block = Some(block.unwrap_or(0).max(lines)),
                Pattern::Test => self.is_of_tests = self.is_of_tests || names_test(line),
            }
        }
        if let Some(lines) = block {
            self.following = self.following.max(lines.saturating_add(1));
        }
        if self.following > 0 {
            self.following -= 1;
            self.keep(number, line);
        }
        if rows.is_empty() && !is_alarm && self.open.is_none() {
            return;
        }
        let entry = entry(line);
        let is_more = self.more(&entry);
        if rows.is_empty() && !is_alarm {
            return;
        }
        rows.in_order();
        rows.dedup();
        let known = rows.iter().find_map(|at| {
            let row = &messages()[*at];
            let mut fields = row.read(&entry)?;
            // The rank is a prefix as often as a part of the message.
            let is_missing =
                row.distinct.iter().any(|it| it == "rank") && fields.iter().all(|it| it.name != "rank");
            if let Some(rank) = entry.who.rank.filter(|_| is_missing) {
                fields.push(Field { name: "rank".to_owned(), value: rank.to_string() });
            }
            Some((*at, row, fields))
        });
        match known {
            Some((_, row, _)) if row.kind == Kind::Info => {}
            Some((at, row, fields)) => {
                let device = device(&entry.text);
                let parts = fields.iter().filter(|it| row.distinct.contains(&it.name)).cloned().collect();
                let key = Key::Row(at, parts, device.clone());
                let (event, is_new) = self.record(key, number, &entry, |event| {
                    event.message = Some(row);
                    event.fields.clone_from(&fields);
                    event.device = device;
                });
                // The end of a process is within what is said of its fault.
                if is_new && !row.then.is_empty() && !(row.ends && self.open.is_some()) {
                    self.open = Some(Open { event, who: entry.who, lines: row.then_lines });
                }
                let is_other = self.values.len() < MOST_VALUES && self.values.insert((event, fields));
                self.log.events[event].variants += u32::from(is_other && !is_new);
                if let Some(at) =
                    Some(event).filter(|_| is_new && (row.kind == Kind::Fault || block.is_some()))
                {
                    self.log.events[at].before = self.activity(before);
                }
            }
            // A dump has a reader of its own.
            None if block.is_some() || self.following > MOST_SHORT_BLOCK => {}
            // A part of the message before it.
            None if is_more => {}
            None if is_alarm && looks_like_error(&entry.text, entry.level) => self.unknown(number, &entry),
            None => {}
        }
    }

    /// Counts an error that no row knows.
    fn unknown(&mut self, number: u32, entry: &Entry) {
        let key = Key::Unknown(shape(&entry.text));
        if self.unknown >= MOST_UNKNOWN && !self.by_key.contains_key(&key) {
            self.log.not_listed += 1;
            return;
        }
        let (_, is_new) = self.record(key, number, entry, |event| event.device = device(&event.text));
        self.unknown += usize::from(is_new);
    }

    /// Adds the values of a line to the message before it; true if it has one.
    fn more(&mut self, entry: &Entry) -> bool {
        let Some(open) = &mut self.open else { return false };
        let (at, is_same) = (open.event, open.who == entry.who);
        open.lines = open.lines.saturating_sub(1);
        if open.lines == 0 {
            self.open = None;
        }
        let event = &mut self.log.events[at];
        let Some(row) = event.message.filter(|_| is_same) else { return false };
        let found = row.more(&entry.text);
        let is_more = !found.is_empty();
        for field in found {
            if event.fields.iter().all(|it| it.name != field.name) {
                event.fields.push(field);
            }
        }
        is_more
    }

    /// Counts an event: its index, and whether it is seen for the first time.
    fn record(
        &mut self,
        key: Key,
        number: u32,
        entry: &Entry,
        fill: impl FnOnce(&mut Event),
    ) -> (usize, bool) {
        let row = if let Key::Row(row, ..) = &key { Some(*row) } else { None };
        let known = self.by_key.get(&key).copied().or_else(|| {
            let row = row?;
            let is_full = self.events_of.get(&row).is_some_and(|count| *count >= MOST_EVENTS);
            // The last event stands for all later ones.
            is_full.then(|| self.log.events.iter().rposition(|it| it.message == Some(&messages()[row])))?
        });
        if let Some(at) = known {
            let event = &mut self.log.events[at];
            event.times = event.times.saturating_add(1);
            event.last_line = number;
            if !entry.who.is_unknown()
                && event.writers.len() < MOST_WRITERS
                && self.writers.insert((at, entry.who.clone()))
            {
                event.writers.push(entry.who.clone());
            }
            return (at, false);
        }
        let at = self.log.events.len();
        let mut event = Event {
            message: None,
            fields: Vec::new(),
            line: number,
            last_line: number,
            text: entry.text.chars().take(2_000).collect(),
            time: entry.time.clone(),
            device: None,
            times: 1,
            variants: 0,
            writers: Vec::new(),
            before: Vec::new(),
        };
        if !entry.who.is_unknown() {
            self.writers.insert((at, entry.who.clone()));
            event.writers.push(entry.who.clone());
        }
        fill(&mut event);
        self.log.events.push(event);
        self.by_key.insert(key, at);
        if let Some(row) = row {
            *self.events_of.entry(row).or_default() += 1;
        }
        (at, true)
    }

    fn keep(&mut self, number: u32, line: &str) {
        if self.kept_bytes + line.len() > MOST_KEPT {
            self.log.not_kept += 1;
            return;
        }
        self.kept_bytes += line.len() + 32;
        self.log.kept.push(Kept { number, text: line.to_owned() });
    }

    /// The latest activity of each writer in the text before a fault.
    fn activity(&self, before: &[u8]) -> Vec<(Who, String)> {
        let mut all: Vec<u8> = Vec::new();
        if before.len() < LOOK_BACK {
            let missing = (LOOK_BACK - before.len()).min(self.behind.len());
            all.extend(self.behind.iter().skip(self.behind.len() - missing));
        }
        all.extend_from_slice(before);
        let mut found: Vec<(Who, String)> = Vec::new();
        for line in all.split(|byte| *byte == b'\n' || *byte == SOFT_BREAK) {
            let line = String::from_utf8_lossy(&line[..line.len().min(MOST_LINE)]);
            let rows = messages().iter().filter(|row| row.kind == Kind::Activity);
            if rows.clone().any(|row| row.words.iter().all(|word| has_word(&line, word))) {
                let entry = entry(&line);
                let text = entry.text.chars().take(300).collect();
                found.retain(|(who, _)| *who != entry.who);
                found.push((entry.who, text));
            }
        }
        found
    }
}

/// True for `26/28 Test #26: name` and `Start 26: name`, by which CTest tells of a test.
fn names_test(line: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("Start ") {
        return rest.trim_start().split_once(": ").is_some_and(|(number, _)| digits(number));
    }
    let Some((count, rest)) = line.split_once(" Test ") else { return false };
    let number = rest.trim_start().strip_prefix('#').and_then(|it| it.split_once(':'));
    count.split_once('/').is_some_and(|(one, all)| digits(one) && digits(all))
        && number.is_some_and(|(number, _)| digits(number))
}

/// The number before a line is the one of a test.
fn of_test(event: &mut Event) {
    let before = event.before.iter_mut().map(|(who, _)| who);
    for who in event.writers.iter_mut().chain(before) {
        if let (Some(number), None) = (who.rank, &who.unit) {
            who.rank = None;
            who.unit = Some(format!("test {number}"));
        }
    }
}

/// Start of the line that holds a place.
fn line_start(text: &[u8], from: usize, place: usize) -> usize {
    memchr::memrchr2(b'\n', SOFT_BREAK, &text[from..place]).map_or(from, |it| from + it + 1)
}

fn line_end(text: &[u8], start: usize) -> usize {
    memchr::memchr2(b'\n', SOFT_BREAK, &text[start..]).map_or(text.len(), |it| start + it)
}

fn newlines(text: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

/// The first PCI address of a text: `0000:05:00.0`, or `device=05:00.0`.
fn device(text: &str) -> Option<String> {
    let is_address = |word: &str| {
        let parts: Vec<&str> = word.split([':', '.']).collect();
        let hex =
            |text: &str, length: usize| text.len() == length && text.chars().all(|c| c.is_ascii_hexdigit());
        matches!(parts[..], [domain, bus, device, function]
            if hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1))
    };
    if let Some((_, rest)) = text.split_once("device=") {
        let word = format!("0000:{}", rest.split([' ', ',', ']']).next().unwrap_or_default());
        if is_address(&word) {
            return Some(word.to_ascii_lowercase());
        }
    }
    let words = text.split([' ', '=', '[', ']', '(', ')']).map(|it| it.trim_end_matches([':', ',']));
    words.filter(|it| it.len() == 12).find(|it| is_address(it)).map(str::to_ascii_lowercase)
}
