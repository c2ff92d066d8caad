//! Output of rccl-tests (`all_reduce_perf` and similar).

/// One measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// us.
    pub time_us: f64,
    /// Bytes by time, GB/s.
    pub algorithm: f64,
    /// Bus bandwidth: the rate over the links, GB/s.
    pub bus: f64,
    /// Wrong values; absent if they were not checked.
    pub wrong: Option<u64>,
}

/// A size.
#[derive(Clone, PartialEq, Debug)]
pub struct TestRow {
    /// Bytes.
    pub bytes: u64,
    /// Elements.
    pub count: u64,
    /// `float`, …
    pub data_type: String,
    /// `sum`, `none`, …
    pub operation: String,
    /// Root; -1 for none.
    pub root: i64,
    /// With a separate buffer for the result.
    pub out_of_place: Measured,
    /// With the result in the input's buffer.
    pub in_place: Option<Measured>,
    /// Line of the file, 1-based.
    pub line: u32,
}

/// A run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RcclTest {
    /// The program as its first line names it, or what follows from factor and operation.
    pub collective: Option<String>,
    /// Whether the file names it.
    pub named: bool,
    /// Hosts, processes and GPUs of the ranks, in their order.
    pub ranks: Vec<(String, u64, String)>,
    /// GPUs of a process.
    pub gpus_per_process: Option<u64>,
    /// Whether graphs launched it.
    pub graph: bool,
    /// Sizes.
    pub rows: Vec<TestRow>,
    /// Average over all sizes as printed. It mixes latency and bandwidth.
    pub average: Option<f64>,
    /// Values out of bounds as the trailer counts them.
    pub out_of_bounds: Option<u64>,
    /// Versions and hosts of the banner.
    pub banner: Vec<(String, String)>,
    /// Lines that look like rows and are not whole.
    pub broken: Vec<u32>,
}

/// Whether a line begins a run: its settings.
fn is_start(words: &str) -> bool {
    words.starts_with("# nThread") || words.starts_with("# nGpus")
}

impl RcclTest {
    /// Reads the lines of all runs of a text, one after the other.
    pub(super) fn read_all(text: &str) -> Vec<RcclTest> {
        let lines: Vec<&str> = text.lines().collect();
        let mut starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(lines[*at].trim())).collect();
        // What is before the first settings, the name of the test, belongs to it.
        if let Some(first) = starts.first_mut() {
            *first = 0;
        } else {
            starts.push(0);
        }
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let runs =
            starts.iter().zip(ends).filter_map(|(start, end)| RcclTest::read(&lines[*start..end], *start));
        runs.collect()
    }

    /// Reads the lines of a run, which begins after `before` others; `None` without header and rows.
    fn read(lines: &[&str], before: usize) -> Option<RcclTest> {
        let mut test = RcclTest::default();
        let mut header = false;
        let mut has_root = true;
        for (at, line) in lines.iter().enumerate() {
            let number = u32::try_from(before + at + 1).unwrap_or(u32::MAX);
            let words = line.trim();
            let said = ["# Collective test starting:", "# Collective test concluded:"];
            if let Some(name) = said.iter().find_map(|it| words.strip_prefix(it)) {
                test.collective = Some(name.trim().trim_end_matches("_perf").to_owned());
                test.named = true;
            } else if is_start(words) {
                test.settings(words);
                header = true;
            } else if words.starts_with('#') && words.contains("Rank") && words.contains("Pid") {
                test.rank(words);
            } else if let Some(rest) = words.strip_prefix("# Avg bus bandwidth") {
                test.average = rest.trim_start_matches([' ', ':']).trim().parse().ok();
            } else if let Some(rest) = words.strip_prefix("# Out of bounds values :") {
                test.out_of_bounds = rest.split_whitespace().next().and_then(|n| n.parse().ok());
            } else if let Some((name, value)) = banner(words) {
                test.banner.push((name.to_owned(), value.to_owned()));
            } else if words.starts_with('#') && words.contains("redop") {
                has_root = words.contains("root");
            } else if words.as_bytes().first().is_some_and(u8::is_ascii_digit) {
                match row(words, number, has_root) {
                    Some(row) => test.rows.push(row),
                    // A row cut off still begins like one: a size, a count, a type.
                    None if header && is_cut(words) => test.broken.push(number),
                    None => {}
                }
            }
        }
        if test.rows.is_empty() && (test.ranks.is_empty() || !header) {
            return None;
        }
        if test.collective.is_none() {
            test.collective = test.infer().map(str::to_owned);
        }
        Some(test)
    }

    fn settings(&mut self, words: &str) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| word.trim_end_matches(':') == name)?;
            words.get(at + 1)?.parse::<u64>().ok()
        };
        self.gpus_per_process = after("nGpus").map(|n| n * after("nThread").unwrap_or(1));
        self.graph = after("graph").unwrap_or(0) > 0;
    }

    fn rank(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |name: &str| words.iter().position(|w| *w == name).and_then(|at| words.get(at + 1));
        let process = after("Pid").and_then(|n| n.parse().ok()).unwrap_or(0);
        let host = after("on").map_or_else(String::new, |host| (*host).to_owned());
        let gpu = line.rsplit_once(']').map_or("", |(_, gpu)| gpu).trim().to_owned();
        self.ranks.push((host, process, gpu));
    }

    /// Number of ranks, from the device lines; 0 without such lines.
    pub fn rank_count(&self) -> u64 {
        self.ranks.len() as u64
    }

    /// The collective that factor, operation and root leave; `None` if several do.
    fn infer(&self) -> Option<&'static str> {
        let last = self.rows.last()?;
        let ranks = self.rank_count() as f64;
        let factor = last.out_of_place.bus / last.out_of_place.algorithm;
        let is = |value: f64| (factor - value).abs() < 0.01;
        match (last.operation.as_str(), last.root) {
            ("none", root) if root >= 0 => Some("broadcast"),
            ("none", _) if is(1.0) => Some("sendrecv"),
            ("none", _) => None,
            (_, root) if root >= 0 => Some("reduce"),
            _ if ranks > 1.0 && is(2.0 * (ranks - 1.0) / ranks) => Some("all_reduce"),
            _ if ranks > 1.0 && is((ranks - 1.0) / ranks) => Some("reduce_scatter"),
            _ => None,
        }
    }

    /// Hosts, each once.
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = self.ranks.iter().map(|(host, _, _)| host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// Processes, each once.
    pub fn processes(&self) -> usize {
        let mut all: Vec<(&str, u64)> = self.ranks.iter().map(|(h, p, _)| (h.as_str(), *p)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The best bus bandwidth and its bytes.
    pub fn best(&self) -> Option<(f64, u64)> {
        let cells = self.rows.iter().flat_map(|row| {
            let cells = [Some(row.out_of_place), row.in_place];
            cells.into_iter().flatten().map(move |cell| (cell.bus, row.bytes))
        });
        // Of equal bests the first.
        cells.fold(None, |best: Option<(f64, u64)>, it| match best {
            Some(best) if best.0 >= it.0 => Some(best),
            _ => Some(it),
        })
    }

    /// Wrong values; absent if none were counted.
    pub fn wrong(&self) -> Option<u64> {
        let cells = self.rows.iter().flat_map(|row| [Some(row.out_of_place), row.in_place]);
        let counted: Vec<u64> = cells.flatten().filter_map(|cell| cell.wrong).collect();
        (!counted.is_empty()).then(|| counted.iter().sum())
    }
}

/// A line of the banner: `RCCL version : 2.27.7`.
fn banner(line: &str) -> Option<(&'static str, &str)> {
    const NAMES: [(&str, &str); 6] = [
        ("RCCL version", "RCCL"),
        ("HIP version", "HIP"),
        ("ROCm version", "ROCm"),
        ("Hostname", "host"),
        ("Librccl path", "library"),
        ("rccl-tests: Version", "rccl-tests"),
    ];
    NAMES.iter().find_map(|(prefix, name)| {
        let rest = line.strip_prefix(prefix)?;
        Some((*name, rest.trim_start_matches([' ', ':']).trim()))
    })
}

fn is_cut(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() < 13 && words.iter().take(2).all(|word| word.parse::<u64>().is_ok())
}

fn row(line: &str, number: u32, has_root: bool) -> Option<TestRow> {
    let words: Vec<&str> = line.split_whitespace().collect();
    // Columns behind these may be added. Tests before version 2.12 have no root: 12 columns in place of 13.
    let is_old = !has_root || words.len() == 12 && words[4].contains('.');
    if words.len() < if is_old { 12 } else { 13 } {
        return None;
    }
    let times = if is_old { 4 } else { 5 };
    // Old tests of one root have its column in the place of the operation.
    let only_root = words[3].parse().ok().filter(|_| is_old);
    let cell = |from: usize| {
        let value = |at: usize| words[at].parse::<f64>().ok().filter(|v| v.is_finite());
        Some(Measured {
            time_us: value(from)?,
            algorithm: value(from + 1)?,
            bus: value(from + 2)?,
            wrong: words[from + 3].parse().ok().or_else(|| (words[from + 3].parse() == Ok(0.0)).then_some(0)),
        })
    };
    Some(TestRow {
        bytes: words[0].parse().ok()?,
        count: words[1].parse().ok()?,
        data_type: words[2].to_owned(),
        operation: only_root.map_or(words[3], |_| "none").to_owned(),
        root: match only_root {
            Some(root) => root,
            None if is_old => -1,
            None => words[4].parse().ok()?,
        },
        out_of_place: cell(times)?,
        in_place: cell(times + 4),
        line: number,
    })
}
