//! Per-instruction counts, the side file of an emulated recording.
//!
//! One line per dispatch and executed instruction, identified by its address in the code object; a listing
//! shows sums over lines. docs/recording.md describes every column.

use crate::folder::{Files, Folder};
use crate::problem::{Error, Problems};
use crate::table::{self, Table, Want};
use crate::{Options, Values};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Name of the file.
pub const INSTRUCTIONS_FILE: &str = "pmc_instructions.csv";

/// Its header.
pub const INSTRUCTIONS_HEADER: &str = "Dispatch_ID,Kernel_Name,Kernel_Symbol,Code_Object,Address,Instruction,Executions,\
Active_Lanes,Vector_Accesses,L1_Accesses,L1_Lookups,L1_Lines,LDS_Accesses,LDS_Cycles,LDS_Conflict_Cycles,\
Stall_Memory,Stall_LDS_Scalar,Stall_Barrier,Stall_Dependency,Stall_Issue,Stall_Matrix,Stall_Fetch";

/// Name of the copy of a code object, by the hash of its bytes.
pub fn code_object_file(hash: &str) -> String {
    format!("code_{hash}.hsaco")
}

/// Name of the file that keeps what the waves of a dispatch did.
pub fn events_file(dispatch: u64) -> String {
    format!("events_{dispatch}.zst")
}

/// Whether a file has such a name.
pub fn is_events_file(name: &str) -> bool {
    let number = name.strip_prefix("events_").and_then(|rest| rest.strip_suffix(".zst"));
    number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Totals of a vector memory instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VectorUse {
    /// Accesses of waves.
    pub accesses: u64,
    /// Accesses of the vector L1 they became.
    pub l1_accesses: u64,
    /// Tags looked up there.
    pub lookups: u64,
    /// Different cache lines of each access of a wave, summed.
    pub lines: u64,
}

/// Totals of an LDS instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LdsUse {
    /// Accesses of waves.
    pub accesses: u64,
    /// Cycles they took.
    pub cycles: u64,
    /// Part of them lost to conflicts.
    pub conflicts: u64,
}

/// Stall reasons in the order of the columns, each in a word or two for a listing.
pub const STALLS: [&str; 7] = ["memory", "lds/smem", "barrier", "hazard", "busy", "matrix", "fetch"];

/// Cycles that waves waited before an instruction, by reason, in the order of [`STALLS`].
pub type StallCycles = [u64; STALLS.len()];

/// One instruction that ran, in one dispatch or in several.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstructionRow {
    /// Virtual address in the code object.
    pub address: u64,
    /// Its text.
    pub text: String,
    /// Executions by waves.
    pub executions: u64,
    /// Active lanes, summed over the executions.
    pub lanes: u64,
    /// Vector memory.
    pub vector: Option<VectorUse>,
    /// LDS.
    pub lds: Option<LdsUse>,
    /// Waits, where time was modelled.
    pub stalls: Option<StallCycles>,
}

impl InstructionRow {
    fn add(&mut self, other: &InstructionRow) {
        self.executions = self.executions.saturating_add(other.executions);
        self.lanes = self.lanes.saturating_add(other.lanes);
        if let Some(more) = other.vector {
            let sum = self.vector.get_or_insert_default();
            sum.accesses = sum.accesses.saturating_add(more.accesses);
            sum.l1_accesses = sum.l1_accesses.saturating_add(more.l1_accesses);
            sum.lookups = sum.lookups.saturating_add(more.lookups);
            sum.lines = sum.lines.saturating_add(more.lines);
        }
        if let Some(more) = other.lds {
            let sum = self.lds.get_or_insert_default();
            sum.accesses = sum.accesses.saturating_add(more.accesses);
            sum.cycles = sum.cycles.saturating_add(more.cycles);
            sum.conflicts = sum.conflicts.saturating_add(more.conflicts);
        }
        if let Some(more) = other.stalls {
            let sum = self.stalls.get_or_insert_default();
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
    }
}

/// The instructions of one kernel, summed over dispatches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelRun {
    /// Kernel as shown.
    pub kernel: String,
    /// Its linker name; empty if not recorded.
    pub symbol: String,
    /// Hash of the code object; empty if not recorded.
    pub code: String,
    /// Dispatches summed.
    pub dispatches: u64,
    /// Instructions by address.
    pub rows: BTreeMap<u64, InstructionRow>,
}

/// Dispatch and kernel whose instructions are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOf<'a> {
    /// Dispatch.
    pub dispatch: u64,
    /// Kernel as shown.
    pub kernel: &'a str,
    /// Its linker name.
    pub symbol: &'a str,
    /// Hash of the code object.
    pub code: &'a str,
}

/// Appends the lines of one dispatch.
pub fn write_instructions(out: &mut String, of: RunOf<'_>, rows: &[InstructionRow]) {
    let RunOf { dispatch, kernel, symbol, code } = of;
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let start = format!("{dispatch},{},{},{code}", quoted(kernel), quoted(symbol));
    for row in rows {
        let InstructionRow { address, text, executions, lanes, vector, lds, stalls } = row;
        let _ = write!(out, "{start},{address:#x},{},{executions},{lanes},", quoted(text));
        let _ = match vector {
            Some(it) => write!(out, "{},{},{},{},", it.accesses, it.l1_accesses, it.lookups, it.lines),
            None => write!(out, ",,,,"),
        };
        let _ = match lds {
            Some(it) => write!(out, "{},{},{}", it.accesses, it.cycles, it.conflicts),
            None => write!(out, ",,"),
        };
        for number in 0..STALLS.len() {
            let _ = match stalls {
                Some(cycles) => write!(out, ",{}", cycles[number]),
                None => write!(out, ","),
            };
        }
        out.push('\n');
    }
}

/// Reads the instructions of the dispatches that `wanted` selects, kernel by kernel in the order they first
/// ran. `None` when the recording has no such file.
pub fn read_instructions(
    folder: &dyn Folder,
    options: &Options,
    wanted: &dyn Fn(u64) -> bool,
) -> Result<Option<Vec<KernelRun>>, Error> {
    let files = Files::new(folder, options.max_unpacked);
    if !files.has(INSTRUCTIONS_FILE) {
        return Ok(None);
    }
    let bytes = files.bytes(INSTRUCTIONS_FILE)?;
    let choose = |name: &str, _: &[u8]| match name {
        "Kernel_Name" | "Kernel_Symbol" | "Code_Object" | "Address" | "Instruction" => Want::Text,
        _ => Want::Number,
    };
    let mut problems = Problems::default();
    let table = table::read(INSTRUCTIONS_FILE, &bytes, &str::to_string, &choose, &mut problems)?;
    for column in ["Dispatch_ID", "Kernel_Name", "Address", "Instruction", "Executions", "Active_Lanes"] {
        if table.position(column).is_none() {
            return Err(Error::NoColumn {
                file: INSTRUCTIONS_FILE.to_string(),
                column: column.to_string(),
                hint: "record again with `rockhound profile`".to_string(),
            });
        }
    }
    Ok(Some(sum(&table, wanted)))
}

fn sum(table: &Table, wanted: &dyn Fn(u64) -> bool) -> Vec<KernelRun> {
    let columns = Columns::new(table);
    let mut runs: Vec<KernelRun> = Vec::new();
    let mut places: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    // Rows of one dispatch are adjacent: the last lookup is nearly always the right one.
    let mut last: Option<(u64, (&str, &str, &str), usize)> = None;
    for row in 0..table.rows {
        let Some((dispatch, key, instruction)) = columns.row(row) else { continue };
        if !wanted(dispatch) {
            continue;
        }
        let place = match last {
            Some((same, of, place)) if same == dispatch && of == key => place,
            _ => {
                let place = *places.entry(key).or_insert_with(|| {
                    let (kernel, symbol, code) = key;
                    runs.push(KernelRun {
                        kernel: kernel.to_string(),
                        symbol: symbol.to_string(),
                        code: code.to_string(),
                        ..KernelRun::default()
                    });
                    runs.len() - 1
                });
                runs[place].dispatches += 1;
                last = Some((dispatch, key, place));
                place
            }
        };
        let rows = &mut runs[place].rows;
        match rows.get_mut(&instruction.address) {
            Some(sum) => sum.add(&instruction),
            None => {
                rows.insert(instruction.address, instruction);
            }
        }
    }
    runs
}

/// The columns, found once.
struct Columns<'a> {
    table: &'a Table,
    numbers: [Option<&'a Values>; NUMBERS.len()],
}

/// Columns of numbers, in the order in which a row uses them.
const NUMBERS: [&str; 10 + STALLS.len()] = [
    "Dispatch_ID",
    "Executions",
    "Active_Lanes",
    "Vector_Accesses",
    "L1_Accesses",
    "L1_Lookups",
    "L1_Lines",
    "LDS_Accesses",
    "LDS_Cycles",
    "LDS_Conflict_Cycles",
    "Stall_Memory",
    "Stall_LDS_Scalar",
    "Stall_Barrier",
    "Stall_Dependency",
    "Stall_Issue",
    "Stall_Matrix",
    "Stall_Fetch",
];

/// First column of [`STALLS`].
const FIRST_STALL: usize = 10;

impl<'a> Columns<'a> {
    fn new(table: &'a Table) -> Columns<'a> {
        Columns { table, numbers: NUMBERS.map(|name| table.number(name)) }
    }

    /// Dispatch, kernel and instruction of a row; `None` for a damaged one, which the reader has reported.
    fn row(&self, row: usize) -> Option<(u64, (&'a str, &'a str, &'a str), InstructionRow)> {
        let text = |name: &str| self.table.text(name).map_or("", |texts| texts.get(row));
        let number = |at: usize| {
            let value = self.numbers[at]?.get(row)?;
            (value >= 0.0).then_some(value as u64)
        };
        let address = u64::from_str_radix(text("Address").trim().strip_prefix("0x")?, 16).ok()?;
        let vector = number(3).map(|accesses| VectorUse {
            accesses,
            l1_accesses: number(4).unwrap_or(0),
            lookups: number(5).unwrap_or(0),
            lines: number(6).unwrap_or(0),
        });
        let lds = number(7).map(|accesses| LdsUse {
            accesses,
            cycles: number(8).unwrap_or(0),
            conflicts: number(9).unwrap_or(0),
        });
        let instruction = InstructionRow {
            address,
            text: text("Instruction").to_string(),
            executions: number(1)?,
            lanes: number(2)?,
            vector,
            lds,
            stalls: number(FIRST_STALL)
                .map(|_| std::array::from_fn(|at| number(FIRST_STALL + at).unwrap_or(0))),
        };
        Some((number(0)?, (text("Kernel_Name"), text("Kernel_Symbol"), text("Code_Object")), instruction))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(scale: u64) -> Vec<InstructionRow> {
        vec![
            InstructionRow {
                address: 0x100,
                text: "s_load_dword s0, s[0:1], 0x0".into(),
                executions: 4 * scale,
                lanes: 256 * scale,
                ..InstructionRow::default()
            },
            InstructionRow {
                address: 0x108,
                text: "ds_read_b32 v0, v1".into(),
                executions: 4 * scale,
                lanes: 130 * scale,
                lds: Some(LdsUse { accesses: 4 * scale, cycles: 8 * scale, conflicts: 3 * scale }),
                ..InstructionRow::default()
            },
            InstructionRow {
                address: 0x110,
                text: "global_load_dword v0, v[0:1], off".into(),
                executions: 4,
                lanes: 256,
                vector: Some(VectorUse { accesses: 4, l1_accesses: 64, lookups: 16, lines: 16 }),
                stalls: Some([1, 2, 3, 4, 5, 6, 7]),
                ..InstructionRow::default()
            },
        ]
    }

    fn folder() -> BTreeMap<String, Vec<u8>> {
        let mut text = format!("{INSTRUCTIONS_HEADER}\n");
        let of = RunOf { dispatch: 0, kernel: "a(\"x\")", symbol: "_Za", code: "0a" };
        write_instructions(&mut text, of, &rows(1));
        write_instructions(&mut text, RunOf { dispatch: 1, kernel: "b", symbol: "_Zb", ..of }, &rows(7)[..1]);
        write_instructions(&mut text, RunOf { dispatch: 2, ..of }, &rows(10)[..2]);
        BTreeMap::from([(INSTRUCTIONS_FILE.to_string(), text.into_bytes())])
    }

    #[test]
    fn what_is_written_is_read_and_summed() {
        let runs = read_instructions(&folder(), &Options::default(), &|_| true).unwrap().unwrap();
        assert_eq!(runs.len(), 2);
        let a = &runs[0];
        assert_eq!((a.kernel.as_str(), a.symbol.as_str(), a.code.as_str()), ("a(\"x\")", "_Za", "0a"));
        assert_eq!(a.dispatches, 2);
        let mut expected = rows(11);
        expected[2] = rows(1)[2].clone();
        assert_eq!(a.rows.values().cloned().collect::<Vec<_>>(), expected);
        assert_eq!(runs[1].rows[&0x100].executions, 28);
    }

    #[test]
    fn dispatches_are_selected() {
        let runs = read_instructions(&folder(), &Options::default(), &|dispatch| dispatch == 2).unwrap();
        let runs = runs.unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].dispatches, runs[0].rows.len()), (1, 2));
    }

    #[test]
    fn what_is_damaged_is_no_panic() {
        let read = |text: &str| {
            let folder = BTreeMap::from([(INSTRUCTIONS_FILE.to_string(), text.as_bytes().to_vec())]);
            read_instructions(&folder, &Options::default(), &|_| true)
        };
        assert_eq!(read_instructions(&BTreeMap::new(), &Options::default(), &|_| true), Ok(None));
        assert!(matches!(read(""), Err(Error::EmptyFile { .. })));
        assert!(matches!(read("Dispatch_ID,Address\n0,0x1\n"), Err(Error::NoColumn { .. })));
        let short = "Dispatch_ID,Kernel_Name,Address,Instruction,Executions,Active_Lanes\n";
        for (row, kept) in [("0,k,0x10,s_nop 0,1,64", 1), ("0,k,12,s_nop 0,1,64", 0), ("x,k,0x1,s,1,-1", 0)] {
            let runs = read(&format!("{short}{row}\n")).unwrap().unwrap();
            assert_eq!(runs.iter().map(|run| run.rows.len()).sum::<usize>(), kept, "{row}");
        }
    }
}
