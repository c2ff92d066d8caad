//! The limiter of a kernel does not depend on the other recorded counters: the verdict of a part of a
//! recording keeps its kind, or names the missing counters. A limiter excluded by a part is not the limiter
//! of the whole.
//!
//! A part is again a recording. Blocks are removed from its files as by a profiler told to leave them out,
//! and passes as by a profiler that was stopped.

use csv::StringRecord;
use metrics::Compiled;
use rockhound_analysis::WorkloadEvidence;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

type Files = BTreeMap<String, Vec<u8>>;

/// Blocks by the prefix of their counters, and passes of a long recording by number.
#[derive(Clone, Debug, Default)]
struct Without {
    blocks: BTreeSet<&'static str>,
    passes: BTreeSet<usize>,
    /// Counters by name.
    counters: BTreeSet<String>,
}

/// Counters that verdicts turn on, each left out alone.
const COUNTERS: &[&str] = &[
    "SQ_INSTS_VALU_MFMA_MOPS_F8",
    "SQ_INSTS_VALU_MFMA_MOPS_F16",
    "SQ_INSTS_VALU_FMA_F32",
    "SQ_ACTIVE_INST_VALU",
    "SQ_BUSY_CU_CYCLES",
    "SQ_LDS_BANK_CONFLICT",
    "TCP_TOTAL_CACHE_ACCESSES_sum",
    "TCP_TCC_READ_REQ_sum",
    "TCC_EA0_RDREQ_sum",
    "TCC_EA_RDREQ_sum",
    "TCC_EA0_WRREQ_64B_sum",
    "GRBM_GUI_ACTIVE",
];

const BLOCKS: &[&str] = &["GRBM_", "SQ_", "SQC_", "TA_", "TD_", "TCP_", "TCC_", "SPI_", "CPC_", "CPF_"];

/// Folders with a recording, ours and the shared ones.
fn folders() -> Vec<PathBuf> {
    let mut out = vec![testkit::root().join("examples/heat3d")];
    let shared = ["workloads", "foreign"].into_iter().filter_map(testkit::shared);
    let mut open: Vec<PathBuf> = shared.collect();
    while let Some(folder) = open.pop() {
        let inside: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().flatten().map(|e| e.path()).collect();
        if folder.join("pmc_perf.csv").exists() {
            out.push(folder);
        } else {
            open.extend(inside.into_iter().filter(|path| path.is_dir()));
        }
    }
    out.sort();
    out
}

/// The tables at the top of a recording.
fn files(folder: &Path) -> Files {
    let mut files = testkit::files(folder);
    files.retain(|name, _| name.ends_with(".csv") && !name.contains('/'));
    files
}

/// A table of counters.
struct Table {
    headings: StringRecord,
    /// Rows; of a long table each with its counter and the number of its pass.
    rows: Vec<(StringRecord, Option<(String, usize)>)>,
}

/// The tables of counters among the files.
fn tables(files: &Files) -> BTreeMap<&str, Table> {
    let counted = files.iter().filter(|(name, _)| *name == "pmc_perf.csv" || workload::is_level_file(name));
    let table = |bytes: &[u8]| {
        let mut reader = csv::Reader::from_reader(bytes);
        let headings = reader.headers().unwrap().clone();
        let column = |heading: &str| headings.iter().position(|it| it == heading);
        let long = column("Counter_Name").zip(column("Dispatch_ID")).zip(column("Start_Timestamp"));
        let mut starts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let place = |record: &StringRecord| {
            let ((counter, dispatch), start) = long?;
            let starts = starts.entry(record[dispatch].to_string()).or_default();
            let pass = starts.iter().position(|it| *it == record[start]).unwrap_or_else(|| {
                starts.push(record[start].to_string());
                starts.len() - 1
            });
            Some((record[counter].to_string(), pass))
        };
        let records: Vec<StringRecord> = reader.records().map(Result::unwrap).collect();
        let places: Vec<_> = records.iter().map(place).collect();
        Table { headings, rows: records.into_iter().zip(places).collect() }
    };
    counted.map(|(name, bytes)| (name.as_str(), table(bytes))).collect()
}

/// A part of the files of a recording; `None` if nothing is left out, since no such block or pass is
/// there.
fn part(files: &Files, tables: &BTreeMap<&str, Table>, without: &Without) -> Option<Files> {
    let left_out = |counter: &str| {
        without.counters.contains(counter) || without.blocks.iter().any(|block| counter.starts_with(block))
    };
    let row_is_left_out = |place: &Option<(String, usize)>| {
        place.as_ref().is_some_and(|(counter, pass)| left_out(counter) || without.passes.contains(pass))
    };
    let mut out = files.clone();
    for (name, table) in tables {
        if workload::is_level_file(name) && left_out(name) {
            out.remove(*name);
            continue;
        }
        let keep: Vec<bool> = table.headings.iter().map(|it| !left_out(it)).collect();
        if keep.iter().all(|it| *it) && !table.rows.iter().any(|(_, place)| row_is_left_out(place)) {
            continue;
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows = table.rows.iter().filter(|(_, place)| !row_is_left_out(place)).map(|(record, _)| record);
        for record in std::iter::once(&table.headings).chain(rows) {
            writer.write_record(record.iter().zip(&keep).filter(|(_, keep)| **keep).map(|it| it.0)).unwrap();
        }
        out.insert((*name).to_owned(), writer.into_inner().unwrap());
    }
    (out != *files).then_some(out)
}

/// Definitions of a target, compiled once.
fn compiled(target: &str) -> Arc<Compiled> {
    static KNOWN: Mutex<BTreeMap<String, Arc<Compiled>>> = Mutex::new(BTreeMap::new());
    let one = || Arc::new(metrics::Definitions::built_in().compile(target).unwrap());
    KNOWN.lock().unwrap().entry(target.to_owned()).or_insert_with(one).clone()
}

/// Verdict of a recording on a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Verdict {
    /// Limiter; `None` if it is undetermined.
    bound: Option<String>,
    /// Other possible limiters.
    rivals: Vec<String>,
    /// Excluded limiters.
    excluded: Vec<&'static str>,
    lacks: Vec<&'static str>,
}

impl Verdict {
    fn kinds(&self) -> impl Iterator<Item = &String> {
        self.bound.iter().chain(&self.rivals)
    }

    /// Reason why this verdict, of a part, contradicts the verdict of the whole.
    fn contradiction(&self, whole: &Verdict) -> Option<&'static str> {
        if self.lacks.is_empty() {
            // What is within the noise may change its place.
            let same = self.bound.is_none() || self.kinds().any(|kind| whole.bound.as_ref() == Some(kind));
            if !same {
                return Some("another kind, and nothing is said to lack");
            }
        }
        // Names of types match their unit.
        let is = |excluded: &str, kind: &str| {
            excluded == kind
                || excluded.strip_suffix(" arithmetic").is_some_and(|unit| {
                    kind.strip_prefix(unit).is_some_and(|rest| rest.starts_with(' '))
                        && kind != "vector issue"
                })
        };
        let whole = whole.bound.as_deref().filter(|_| whole.rivals.is_empty())?;
        self.excluded.iter().any(|name| is(name, whole)).then_some("what stops the whole is excluded")
    }
}

/// Verdict of each kernel; empty if the files are not a recording any more.
fn verdicts(files: &Files) -> Option<BTreeMap<String, Verdict>> {
    let mut workload = workload::read(files, &workload::Options::default()).ok()?;
    rockhound_analysis::workload::fill(&mut workload.machine);
    let compiled = compiled(workload.machine.target()?);
    let rows: Vec<u32> = (0..workload.dispatches.len() as u32).collect();
    let kernels = WorkloadEvidence::gather(&compiled, &workload, &rows);
    let verdict = |kernel: &WorkloadEvidence<'_>| {
        let roof = kernel.roof();
        Verdict {
            bound: roof.known_bound().ok().map(|bound| bound.name().to_owned()),
            rivals: roof.rivals.iter().map(|rival| rival.bound.name().to_owned()).collect(),
            excluded: roof.excluded.clone(),
            lacks: roof.lacks.iter().map(|lack| lack.name).collect(),
        }
    };
    Some(kernels.iter().map(|kernel| (kernel.kernel.to_owned(), verdict(kernel))).collect())
}

/// Verdicts of a part that contradict the whole.
fn others(folder: &Path, whole: &BTreeMap<String, Verdict>, part: &Files, what: &str) -> Vec<String> {
    let Some(of_part) = verdicts(part) else { return Vec::new() };
    of_part
        .into_iter()
        .filter_map(|(kernel, verdict)| {
            let of_whole = whole.get(&kernel)?;
            let why = verdict.contradiction(of_whole)?;
            Some(format!("{} {what}: {kernel}: {why}: {verdict:?}, the whole {of_whole:?}", folder.display()))
        })
        .collect()
}

#[test]
fn a_part_of_a_recording_has_the_verdict_of_the_whole_or_none() {
    let mut wrong = Vec::new();
    let (mut parts, mut known) = (0, 0);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for folder in folders() {
        let files = files(&folder);
        let Some(whole) = verdicts(&files) else { continue };
        known += whole.values().filter(|it| it.bound.is_some()).count();
        let tables = tables(&files);
        let mut list: Vec<Without> = Vec::new();
        for (i, block) in BLOCKS.iter().enumerate() {
            list.push(Without { blocks: [*block].into(), ..Without::default() });
            list.push(Without {
                blocks: [*block, BLOCKS[(i + 3) % BLOCKS.len()]].into(),
                ..Without::default()
            });
        }
        for counter in COUNTERS {
            list.push(Without { counters: [(*counter).to_owned()].into(), ..Without::default() });
        }
        for pass in 0..12 {
            list.push(Without { passes: [pass].into(), ..Without::default() });
        }
        for _ in 0..12 {
            // xorshift
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let one = |bit: usize| random >> bit & 3 == 0;
            list.push(Without {
                blocks: BLOCKS.iter().enumerate().filter(|(i, _)| one(2 * i)).map(|(_, b)| *b).collect(),
                passes: (0..12).filter(|pass| one(24 + 2 * pass)).collect(),
                counters: BTreeSet::new(),
            });
        }
        for without in &list {
            let Some(part) = part(&files, &tables, without) else { continue };
            parts += 1;
            wrong.extend(others(&folder, &whole, &part, &format!("{without:?}")));
        }
    }
    println!("{parts} parts, {known} verdicts of whole recordings");
    assert!(known > 0 && wrong.is_empty(), "{} of {parts}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Newer GPUs count operations of a type that older recordings lack: without a matrix instruction there are
/// none.
#[test]
fn a_type_that_was_not_recorded_takes_no_verdict_away() {
    let mut judged = 0;
    for folder in folders() {
        let files = files(&folder);
        let Some(whole) = verdicts(&files) else { continue };
        let without =
            Without { counters: ["SQ_INSTS_VALU_MFMA_MOPS_F8".to_owned()].into(), ..Without::default() };
        let Some(part) = part(&files, &tables(&files), &without) else { continue };
        let of_part = verdicts(&part).expect("a recording");
        for (kernel, verdict) in whole {
            let computes = verdict.bound.as_deref().is_some_and(|bound| bound.starts_with("matrix"));
            if verdict.lacks.is_empty() && !computes && verdict.bound.is_some() {
                assert_eq!(of_part[&kernel].bound, verdict.bound, "{} {kernel}", folder.display());
                judged += 1;
            }
        }
    }
    assert!(judged > 0 || testkit::shared("workloads").is_none(), "no recording has the counter");
}

#[test]
fn the_order_of_lines_changes_no_verdict() {
    for folder in folders() {
        let files = files(&folder);
        let Some(whole) = verdicts(&files) else { continue };
        let mut reader = csv::Reader::from_reader(files["pmc_perf.csv"].as_slice());
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(reader.headers().unwrap()).unwrap();
        let records: Vec<StringRecord> = reader.records().map(Result::unwrap).collect();
        for record in records.iter().rev() {
            writer.write_record(record).unwrap();
        }
        let mut turned = files.clone();
        turned.insert("pmc_perf.csv".to_string(), writer.into_inner().unwrap());
        assert_eq!(verdicts(&turned), Some(whole), "{}", folder.display());
    }
}
