//! Tables of sums that PyTorch's profiler prints: `prof.key_averages().table()`, alone or within the log of a job.
//!
//! A table has operators of the host with the GPU's time of what they launched, calls of the runtime, and kernels. An operator's
//! time on the GPU is that of its kernels once more, so the three are kept apart.

use crate::error::{Error, note_at};
use crate::timeline::{CallSum, Format, Timeline};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use view::NoteKind;

/// Bytes of a line that are looked at; names are cut to some tens by the profiler.
const LINE: u64 = 1 << 16;
/// How names of copies and fills begin, by Kineto and by roctracer.
const COPIES: [&str; 5] = ["Memcpy", "Memset", "CopyHostTo", "CopyDeviceTo", "FillBuffer"];
/// Part of the printed total from which on kernels are called complete, and above which something is counted twice.
const COMPLETE: std::ops::Range<f64> = 0.99..1.01;

/// Whether a text has the header of such a table.
pub(crate) fn is(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| Columns::of(&String::from_utf8_lossy(line)).is_some())
}

/// Cells of a line: two blanks or a tab part them.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").flat_map(|it| it.split('\t')).map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// Whether a line is a rule of a table, whatever a log writes before it.
fn is_rule(line: &str) -> bool {
    line.split_whitespace().next_back().is_some_and(|it| it.len() > 2 && it.bytes().all(|byte| byte == b'-'))
}

/// Nanoseconds of `1.051ms`.
fn ns(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().filter(|it| it.is_finite()).map(|it| it * scale)
}

/// Columns of a table, by their positions behind the name.
struct Columns {
    /// Cells before the name: what a log writes before each line.
    lead: usize,
    count: usize,
    calls: usize,
    own_host: usize,
    host: usize,
    /// Time of the row itself on the GPU, and with everything it calls.
    device: Option<(usize, Option<usize>)>,
    /// The last column may be empty, and goes on in lines without other columns.
    stack: bool,
}

impl Columns {
    fn of(line: &str) -> Option<Columns> {
        if !(line.contains("Self CPU") && line.contains("Name")) {
            return None;
        }
        let all = cells(line);
        let lead = all.iter().position(|it| *it == "Name")?;
        let names = all.get(lead + 1..)?;
        let at = |name: &str| names.iter().position(|it| *it == name);
        let own_device = names.iter().position(|it| {
            it.strip_prefix("Self ")
                .is_some_and(|it| it != "CPU" && !it.ends_with('%') && !it.ends_with("Mem"))
        });
        let total = |own: usize| at(&format!("{} total", names.get(own)?.strip_prefix("Self ")?));
        Some(Columns {
            lead,
            count: names.len(),
            calls: at("# of Calls")?,
            own_host: at("Self CPU")?,
            host: at("CPU total")?,
            device: own_device.map(|own| (own, total(own))),
            stack: names.last() == Some(&"Source Location"),
        })
    }
}

/// A row in nanoseconds.
struct Row {
    name: String,
    calls: u64,
    own_host: f64,
    host: f64,
    own_device: f64,
    device: Option<f64>,
}

impl Row {
    fn of(line: &str, columns: &Columns) -> Option<Row> {
        let all = cells(line);
        let behind = columns.lead + 1 + columns.count;
        let short = usize::from(columns.stack && all.len() + 1 == behind);
        let first = (all.len() + short).checked_sub(columns.count)?;
        let (before, values) = all.split_at_checked(first)?;
        let name = before.get(columns.lead.min(before.len().checked_sub(1)?)..)?.join("  ");
        let time = |at: usize| ns(values.get(at)?);
        Some(Row {
            name,
            calls: values.get(columns.calls)?.parse().ok()?,
            own_host: time(columns.own_host)?,
            host: time(columns.host)?,
            own_device: columns.device.map_or(Some(0.0), |it| time(it.0))?,
            device: columns.device.and_then(|it| time(it.1?)),
        })
    }

    /// The runtime whose function it is.
    fn runtime(&self) -> Option<&'static str> {
        let begins = |prefix: &str| {
            self.name.strip_prefix(prefix).is_some_and(|it| it.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        if begins("hip") {
            return Some("HIP API");
        }
        (begins("cuda") || begins("cu")).then_some("CUDA API")
    }

    fn is_of_gpu(&self) -> bool {
        self.host == 0.0 && self.own_host == 0.0 && self.own_device > 0.0
    }

    /// Its sums: domain, own time, and that time with what it calls.
    fn sums(&self, of_host: &HashSet<String>) -> Vec<(&'static str, f64, Option<f64>)> {
        if self.is_of_gpu() {
            // A range that the program named is printed for host and GPU, and holds kernels that have rows of their own.
            let range = self.name.starts_with("ProfilerStep") || of_host.contains(&self.name);
            let copy = COPIES.iter().any(|it| self.name.starts_with(it));
            let domain = match (range, copy) {
                (true, _) => "ranges on the GPU",
                (_, true) => "memory copies",
                _ => "kernels",
            };
            return vec![(domain, self.own_device, None)];
        }
        if let Some(runtime) = self.runtime() {
            return vec![(runtime, self.own_host, None)];
        }
        let mut sums = vec![("operators, own time on the host", self.own_host, Some(self.host))];
        if self.own_device > 0.0 {
            sums.push(("operators, own time on the GPU", self.own_device, self.device));
        }
        sums
    }
}

/// What is read of a file, table by table.
struct Reader {
    timeline: Timeline,
    columns: Option<Columns>,
    /// Rules passed of the table: its rows are between the first behind its header and the second.
    rules: u32,
    rows: Vec<Row>,
    tables: usize,
    /// Time of the last table's kernels and copies, ns.
    kernels: f64,
    /// The printed sum of own times of the host, ns.
    host: Option<f64>,
    bad: Option<(u64, u64)>,
}

impl Reader {
    fn line(&mut self, at: u64, line: &str) {
        if let Some(found) = Columns::of(line) {
            self.end_table();
            (self.columns, self.rules) = (Some(found), 0);
            return;
        }
        if let Some((_, rest)) = line.split_once("Self ")
            && let Some((device, total)) = rest.split_once(" time total:")
        {
            return self.total(device, ns(total.trim()));
        }
        let Some(columns) = &self.columns else { return };
        if is_rule(line) {
            self.rules += 1;
            if self.rules > 1 {
                self.end_table();
            }
        } else if self.rules == 1 && !line.trim().is_empty() {
            match Row::of(line, columns) {
                Some(row) => self.rows.push(row),
                None if columns.stack && cells(line).len() == 1 + columns.lead => {}
                None => self.bad = Some(self.bad.map_or((at, 1), |(first, count)| (first, count + 1))),
            }
        }
    }

    /// The sums of a table that is over.
    fn end_table(&mut self) {
        if self.columns.take().is_none() || self.rows.is_empty() {
            return;
        }
        self.tables += 1;
        self.kernels = 0.0;
        let rows = std::mem::take(&mut self.rows);
        let of_host: HashSet<String> =
            rows.iter().filter(|it| !it.is_of_gpu()).map(|it| it.name.clone()).collect();
        for row in &rows {
            for (domain, own, whole) in row.sums(&of_host) {
                if matches!(domain, "kernels" | "memory copies") {
                    self.kernels += own;
                }
                let domain = match self.tables {
                    1 => domain.to_owned(),
                    table => format!("{domain} (table {table})"),
                };
                self.timeline.calls.push(CallSum {
                    domain,
                    name: self.timeline.names.add(&row.name),
                    thread: None,
                    depth: 0,
                    calls: row.calls,
                    total_ns: own,
                    mean_ns: (row.calls > 0).then(|| own / row.calls as f64),
                    min_ns: None,
                    max_ns: None,
                    stddev_ns: None,
                    self_percent: whole.filter(|it| *it > 0.0).map(|it| 100.0 * own / it),
                });
            }
        }
    }

    /// The line below a table with the sum of all own times.
    fn total(&mut self, device: &str, total: Option<f64>) {
        self.end_table();
        let Some(total) = total.filter(|_| self.tables > 0) else { return };
        let of = match self.tables {
            1 => String::new(),
            table => format!("table {table}: "),
        };
        if device == "CPU" {
            self.host = Some(total);
            return;
        }
        let part = if total > 0.0 { self.kernels / total } else { 1.0 };
        let (kind, said) = if self.kernels == 0.0 {
            (NoteKind::Info, "the table has no rows of kernels: times on the GPU are by operator".to_owned())
        } else if part < COMPLETE.start {
            let text = format!(
                "kernels and copies of the table have {:.1} % of it; the others were not printed (`row_limit`)",
                100.0 * part
            );
            (NoteKind::Warning, text)
        } else if part > COMPLETE.end {
            let text = format!(
                "kernels of the table have {:.1} % of it: some rows are ranges that hold other rows",
                100.0 * part
            );
            (NoteKind::Warning, text)
        } else {
            (NoteKind::Info, "kernels and copies of the table have all of it".to_owned())
        };
        let host =
            self.host.take().map_or_else(String::new, |it| format!(", the host {}", view::duration(it)));
        let time = view::duration(total);
        self.timeline.problem(kind, format!("{of}the GPU worked {time}{host} (own times, added up); {said}"));
    }
}

/// Reads the tables of a text.
pub(crate) fn read(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut reader = Reader {
        timeline: Timeline::new(Format::TorchTable),
        columns: None,
        rules: 0,
        rows: Vec::new(),
        tables: 0,
        kernels: 0.0,
        host: None,
        bad: None,
    };
    let mut input = BufReader::new(input);
    let mut at = 0;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| Error::Table { line: at + 1, what: error.to_string() })? == 0 {
            break;
        }
        at += 1;
        reader.line(at, &String::from_utf8_lossy(&line));
    }
    let open = reader.columns.is_some() && !reader.rows.is_empty();
    reader.end_table();
    let mut timeline = reader.timeline;
    if timeline.calls.is_empty() {
        return Err(Error::Unknown("text without the header of a profiler's table".to_owned()));
    }
    if open {
        timeline.problem(
            NoteKind::Warning,
            "the last table has no line at its end: rows may be missing".to_owned(),
        );
    }
    if let Some((line, rows)) = reader.bad {
        let text = format!("{rows} rows are no rows of their table; they are left out");
        timeline.problems.push(note_at(NoteKind::Error, &format!("line {line}"), &text));
    }
    timeline.problem(
        NoteKind::Info,
        "the file holds sums of calls; it has no times, so no idle time or overlap".to_owned(),
    );
    Ok(timeline)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two runs of a benchmark in one log, with what a launcher writes before each line; the second table is cut.
    const LOG: &str = "step 1\n\
        (Worker pid=7) -------------  ----------  ----------  ----------  ----------  ----------  ----------  ----------  ----------\n\
        (Worker pid=7)          Name  Self CPU %    Self CPU   CPU total    CPU time avg   Self CUDA  Self CUDA %    CUDA total    # of Calls\n\
        (Worker pid=7) -------------  ----------  ----------  ----------  ----------  ----------  ----------  ----------  ----------\n\
        (Worker pid=7)  ProfilerStep*      1.00%    10.000us       1.000ms       1.000ms     0.000us        0.00%      60.000us             1\n\
        (Worker pid=7)  ProfilerStep*      0.00%     0.000us       0.000us       0.000us    90.000us       90.00%      90.000us             1\n\
        (Worker pid=7)  aten::mm          20.00%   200.000us     800.000us     400.000us    60.000us       60.00%      60.000us             2\n\
        (Worker pid=7)  void f<1,  2>(int)  0.00%    0.000us       0.000us       0.000us    60.000us       60.00%      60.000us             2\n\
        (Worker pid=7)  Memcpy HtoD (Host -> Device)  0.00%  0.000us  0.000us  0.000us    40.000us       40.00%      40.000us             1\n\
        (Worker pid=7)  hipLaunchKernel   60.00%   600.000us     600.000us     300.000us     0.000us        0.00%       0.000us             2\n\
        (Worker pid=7)  broken            60.00%\n\
        (Worker pid=7) -------------  ----------  ----------  ----------  ----------  ----------  ----------  ----------  ----------\n\
        (Worker pid=7) Self CPU time total: 1.000ms\n\
        (Worker pid=7) Self CUDA time total: 100.000us\n\
        Name  Self CPU %  Self CPU  CPU total  Self CUDA  CUDA total  # of Calls\n-----  -----\n\
        kernel_of_b  0.00%  0.000us  0.000us  1.500s  1.500s  3\n";

    #[test]
    fn rows_are_kept_apart_by_what_they_are() {
        let timeline = read(&mut LOG.as_bytes()).unwrap();
        let sums: Vec<_> = timeline
            .calls
            .iter()
            .map(|it| {
                (it.domain.as_str(), timeline.names.get(it.name), it.calls, it.total_ns, it.self_percent)
            })
            .collect();
        let expected = [
            ("operators, own time on the host", "ProfilerStep*", 1, 10_000.0, Some(1.0)),
            ("ranges on the GPU", "ProfilerStep*", 1, 90_000.0, None),
            ("operators, own time on the host", "aten::mm", 2, 200_000.0, Some(25.0)),
            ("operators, own time on the GPU", "aten::mm", 2, 60_000.0, Some(100.0)),
            ("kernels", "void f<1,  2>(int)", 2, 60_000.0, None),
            ("memory copies", "Memcpy HtoD (Host -> Device)", 1, 40_000.0, None),
            ("HIP API", "hipLaunchKernel", 2, 600_000.0, None),
            ("kernels (table 2)", "kernel_of_b", 3, 1.5e9, None),
        ];
        assert_eq!(sums, expected);
        let kinds: Vec<NoteKind> = timeline.problems.iter().map(|it| it.kind).collect();
        // The sum below the first table, the second one's missing end, the broken row, no times.
        assert_eq!(kinds, [NoteKind::Info, NoteKind::Warning, NoteKind::Error, NoteKind::Info]);
        assert!(timeline.problems[2].text.starts_with("line 11: 1 rows"), "{:?}", timeline.problems);
    }

    #[test]
    fn a_table_that_was_cut_to_some_rows_says_so() {
        let text = "Name  Self CPU %  Self CPU  CPU total  Self CUDA  CUDA total  # of Calls\n---  ---\n\
            k  0.00%  0.000us  0.000us  50.000us  50.000us  3\n---  ---\nSelf CPU time total: 1.000s\nSelf CUDA time total: ";
        for (total, kind) in [
            ("50.000us", NoteKind::Info),
            ("80.000us", NoteKind::Warning),
            ("40.000us", NoteKind::Warning),
            ("0.000us", NoteKind::Info),
        ] {
            let timeline = read(&mut format!("{text}{total}\n").as_bytes()).unwrap();
            assert_eq!(timeline.problems[0].kind, kind, "{total}: {:?}", timeline.problems);
        }
    }

    #[test]
    fn any_cut_of_the_text_is_read_or_refused() {
        for end in 0..LOG.len() {
            let _ = read(&mut LOG.as_bytes().get(..end).unwrap());
        }
        assert!(read(&mut "Name  Self CPU  # of Calls\n".as_bytes()).is_err());
    }
}
