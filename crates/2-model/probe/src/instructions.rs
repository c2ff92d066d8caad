//! What every instruction did, as a file beside the counters.
//!
//! The one idea to keep in mind: one line per dispatch and instruction that ran; only an emulator can know this, and
//! sums over the lines are the counters.

use crate::observe::Counts;
use crate::table::Table;
use emu::Program;
use std::fmt::Write as _;

/// Name of the file in the folder.
pub const FILE: &str = "pmc_instructions.csv";

/// Its header.
pub(crate) const HEADER: &str = "Dispatch_ID,Kernel_Name,Address,Instruction,Executions,Active_Lanes,Accesses,\
Cache_Accesses,Lines,LDS_Accesses,LDS_Cycles,LDS_Conflict_Cycles";

/// One instruction that ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstructionRow {
    /// Virtual address in the code object.
    pub address: u64,
    /// Its text.
    pub text: String,
    /// Executions by waves.
    pub executions: u64,
    /// Active lanes, summed over the executions.
    pub lanes: u64,
    /// For a vector memory instruction: accesses of the vector L1, tags looked up, different lines per access summed.
    pub vector: Option<[u64; 3]>,
    /// For an LDS access: how many, their cycles, and of these the cycles lost to conflicts.
    pub lds: Option<[u64; 3]>,
}

/// The instructions of a program that ran.
pub(crate) fn rows(program: &Program, table: &Table, counts: &Counts) -> Vec<InstructionRow> {
    let ran = counts.executions.iter().enumerate().filter(|(_, executed)| executed.times > 0);
    ran.map(|(index, executed)| {
        let memory = table.memory(counts, index);
        InstructionRow {
            address: program.address(index),
            text: program.text(index),
            executions: executed.times,
            lanes: executed.lanes,
            vector: memory
                .filter(|it| it.vector > 0)
                .map(|it| [it.accesses.iter().sum(), it.lookups, it.lines]),
            lds: memory
                .filter(|it| it.lds > 0)
                .map(|it| [it.lds, it.lds_cycles, it.bank_conflicts + it.address_conflicts]),
        }
    })
    .collect()
}

/// Writes the lines of one dispatch.
pub(crate) fn write(out: &mut String, dispatch: usize, kernel: &str, rows: &[InstructionRow]) {
    let cells = |values: Option<[u64; 3]>| match values {
        Some([a, b, c]) => format!("{a},{b},{c}"),
        None => ",,".to_string(),
    };
    for row in rows {
        let InstructionRow { address, text, executions, lanes, vector, lds } = row;
        let (vector, lds) = (cells(*vector), cells(*lds));
        let (kernel, text) = (kernel.replace('"', "\"\""), text.replace('"', "\"\""));
        let _ = writeln!(
            out,
            "{dispatch},\"{kernel}\",{address:#x},\"{text}\",{executions},{lanes},{vector},{lds}"
        );
    }
}
