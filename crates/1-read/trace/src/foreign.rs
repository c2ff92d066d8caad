//! Files of tools that are not read, with what to give in their place: `foreign.tsv`.

use std::fmt;

/// First bytes in which a path of an XLA plane is.
const PLANE: usize = 64;
/// How names of planes in XLA's protobuf begin.
const PLANES: [&str; 6] =
    ["/host:CPU", "/host:metadata", "/device:GPU:", "/device:TPU:", "/host:TFStreamz", "/device:CUSTOM"];

/// A kind of file that is not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Foreign {
    /// Words for it: `a profile of Caliper`.
    pub what: &'static str,
    /// Advice: the file or command to use in its place.
    pub instead: &'static str,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no timeline, {}; {}", self.what, self.instead)
    }
}

/// A line of the table.
struct Line {
    how: &'static str,
    words: &'static str,
    foreign: Foreign,
}

fn lines() -> impl Iterator<Item = Line> {
    let lines = include_str!("../data/foreign.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        let (how, words) = (cells.next()?, cells.next()?);
        Some(Line { how, words, foreign: Foreign { what: cells.next()?, instead: cells.next()? } })
    })
}

/// Bytes of a cell's word.
fn bytes(word: &str) -> Vec<u8> {
    word.replace("\\0", "\0").replace("\\x03", "\x03").into_bytes()
}

/// The kind of a file that another tool wrote and that is not read, by its name and first bytes.
pub fn foreign(name: &str, head: &[u8]) -> Option<Foreign> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    // Arguments of a trace's events may be any words.
    if memchr::memmem::find(head, b"\"traceEvents\"").is_some() {
        return None;
    }
    let has = |word: &str| memchr::memmem::find(head, &bytes(word)).is_some();
    let fits = |line: &Line| match line.how {
        "begin" => head.starts_with(&bytes(line.words)),
        "words" => line.words.split('|').all(has),
        "ending" => name.ends_with(line.words),
        "columns" => has_columns(head, line.words, true),
        "wide" => has_columns(head, line.words, false),
        _ => false,
    };
    // The protobuf of XLA begins with a plane, whose name is a path of a device.
    let begin = head.get(..head.len().min(PLANE)).unwrap_or_default();
    let plane = head.first() == Some(&0x0a)
        && PLANES.iter().any(|path| memchr::memmem::find(begin, path.as_bytes()).is_some());
    let is_plane = |line: &Line| plane && line.words == ".xplane.pb";
    lines().find(|line| fits(line) || is_plane(line)).map(|line| line.foreign)
}

/// True if the first line has these columns, and no others where they are `all`.
fn has_columns(head: &[u8], words: &str, all: bool) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let columns: Vec<&str> =
        line.trim_start_matches('\u{feff}').split(',').map(|it| it.trim().trim_matches('"')).collect();
    let words: Vec<&str> = words.split('|').collect();
    words.iter().all(|word| columns.contains(word)) && (!all || columns.len() == words.len())
}

/// The kind of a database that is not read, by its tables.
pub(crate) fn database<E>(mut has: impl FnMut(&str) -> Result<bool, E>) -> Result<Option<Foreign>, E> {
    for line in lines().filter(|line| line.how == "database") {
        let mut all = true;
        for table in line.words.split('|') {
            all = all && has(table)?;
        }
        if all {
            return Ok(Some(line.foreign));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_whole() {
        let written =
            include_str!("../data/foreign.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!((lines().count(), written > 20), (written, true));
        for line in lines() {
            let known = ["begin", "words", "columns", "wide", "ending", "database"].contains(&line.how);
            assert!(known && !line.words.is_empty() && !line.foreign.instead.is_empty(), "{}", line.words);
        }
    }

    #[test]
    fn files_are_told_by_what_they_hold() {
        for (name, head, what) in [
            (
                "a.json",
                &b"{\"schema\": \"1.0.1\", \"pid\": 7, \"start_ts\": 1, \"nodes\": ["[..],
                "execution trace",
            ),
            ("a.json", b"{\"workload_graph\": [", "graph of an execution"),
            ("a.json", b"{\"backend\": \"vllm\", \"request_throughput\": 8.1}", "serving benchmark"),
            ("a.pickle", b"\x80\x04\x95}(\x8c\x08segments]\x8c\x0ddevice_traces", "memory snapshot"),
            ("a.raw", b"[[-1, 1, 512, 7], [5, 0, 512, 7]]", "memory timeline"),
            ("traces.otf2", b"\x03BOTF2\0\x03", "OTF2"),
            ("anchor", b"\x03BOTF2\0\x03", "OTF2"),
            ("experiment.xml", b"<?xml?>\n<!DOCTYPE HPCToolkitExperiment [", "HPCToolkit"),
            ("x.metric-db", b"HPCPROF-metricdb", "HPCToolkit"),
            ("profile.0.0.0", b"2 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl", "TAU"),
            ("x.cali", b"__rec=node,id=1", "Caliper"),
            ("x.xplane.pb", b"", "XSpace"),
            ("x", b"\x0a\x10\x12\x0e/device:GPU:0", "XSpace"),
            (
                "sysinfo.csv",
                b"workload_name,command,ip_blocks,gpu_arch,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n",
                "facts of the machine",
            ),
            ("pmc_dispatch_info.csv", b"Dispatch_ID,Kernel_Name,GPU_ID\n0,k,0\n", "list of dispatches"),
        ] {
            let found = foreign(name, head).unwrap_or_else(|| panic!("{name} {what}"));
            assert!(found.what.contains(what), "{name}: {found}");
        }
        for (name, head) in [
            ("a.json", &b"{\"traceEvents\": [{\"name\": \"device_traces, segments\"}]}"[..]),
            ("a.csv", b"Dispatch_ID,Kernel_Name,GPU_ID,Start_Timestamp,End_Timestamp\n"),
            ("pmc_perf.csv", b"Dispatch_ID,GPU_ID,Kernel_Name,a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v\n"),
            ("a.txt", b"a log of segments\n"),
        ] {
            assert_eq!(foreign(name, head), None, "{name}");
        }
    }
}
