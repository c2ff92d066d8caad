//! Execution counts of every instruction of a dispatch.
//!
//! Only an emulator can know them; the counters are sums over the instructions.

use emu::Program;
use probe::Counts;
use probe::Table;
use workload::{InstructionRow, LdsUse, VectorUse};

/// The instructions of a program that ran.
pub(crate) fn rows(
    program: &Program,
    table: &Table,
    counts: &Counts,
    stalls: Option<&[[u64; clock::Stall::COUNT]]>,
) -> Vec<InstructionRow> {
    let ran = counts.executions.iter().enumerate().filter(|(_, executed)| executed.times > 0);
    ran.map(|(index, executed)| {
        let memory = table.memory(counts, index);
        InstructionRow {
            address: program.address(index),
            text: program.text(index),
            executions: executed.times,
            lanes: executed.lanes,
            vector: memory.filter(|it| it.vector > 0).map(|it| VectorUse {
                accesses: it.vector,
                l1_accesses: it.accesses.iter().sum(),
                lookups: it.lookups,
                lines: it.lines,
            }),
            lds: memory.filter(|it| it.lds > 0).map(|it| LdsUse {
                accesses: it.lds,
                cycles: it.lds_cycles,
                conflicts: it.bank_conflicts + it.address_conflicts,
            }),
            stalls: stalls.and_then(|stalls| stalls.get(index).copied()),
        }
    })
    .collect()
}
