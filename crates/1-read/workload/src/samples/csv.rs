//! `*_pc_sampling_host_trap.csv` and `*_pc_sampling_stochastic.csv` of rocprofv3: one line per sample.
//!
//! An instruction is identified by its text and source line, since the file has no address.

use super::{Collect, SampleCounts, SampledInstruction, SampledKernel, SamplingMethod, stall_reason};
use crate::folder::Files;
use crate::problem::{Error, Problems};
use crate::side::first_line;
use crate::table::{self, Table, Want};

const HINT: &str = "the file is no output of `rocprofv3 --pc-sampling-beta-enabled`";

/// Reads one file; a damaged one is a problem and is left out.
pub(super) fn file(
    files: &Files<'_>,
    name: &str,
    method: SamplingMethod,
    collect: &mut Collect,
    problems: &mut Problems,
) {
    let choose = |column: &str, _: &[u8]| match column {
        "Dispatch_Id" | "Process_Id" => Want::Number,
        "Instruction" | "Instruction_Comment" | "Wave_Issued_Instruction" | "Stall_Reason" => Want::Text,
        _ => Want::Skip,
    };
    let read = files.bytes(name).and_then(|bytes| {
        let table = table::read(name, &bytes, &plain, &choose, problems)?;
        match ["Dispatch_Id", "Instruction"].iter().find(|column| table.position(column).is_none()) {
            Some(column) => Err(Error::NoColumn {
                file: name.to_string(),
                column: (*column).to_string(),
                hint: HINT.to_string(),
            }),
            None => Ok(table),
        }
    });
    match read {
        Ok(table) => add(name, &table, method, collect, problems),
        Err(error) => {
            problems.error(name, first_line(&error.to_string()), "the samples of this file are left out");
        }
    }
}

/// Spellings differ by case.
fn plain(header: &str) -> String {
    let known = [
        "Dispatch_Id",
        "Instruction",
        "Instruction_Comment",
        "Wave_Issued_Instruction",
        "Stall_Reason",
        "Process_Id",
    ];
    let header = header.trim();
    let header = if header.eq_ignore_ascii_case("pid") { "Process_Id" } else { header };
    known.iter().find(|name| name.eq_ignore_ascii_case(header)).map_or(header, |name| name).to_string()
}

fn add(name: &str, table: &Table, method: SamplingMethod, collect: &mut Collect, problems: &mut Problems) {
    let text = |column: &str, row: usize| table.text(column).map_or("", |texts| texts.get(row)).trim();
    let (dispatches, processes) = (table.number("Dispatch_Id"), table.number("Process_Id"));
    let kernel = collect.kernel(SampledKernel::default());
    let mut damaged = 0;
    for row in 0..table.rows {
        let dispatch = dispatches.and_then(|values| values.get(row)).filter(|id| *id >= 0.0);
        let instruction = text("Instruction", row);
        let (Some(dispatch), false) = (dispatch, instruction.is_empty()) else {
            damaged += 1;
            continue;
        };
        let issued = match text("Wave_Issued_Instruction", row) {
            "1" | "true" | "True" => Some(true),
            "0" | "false" | "False" => Some(false),
            _ => None,
        };
        let process = processes.and_then(|values| values.get(row)).filter(|id| *id >= 0.0);
        collect.process = process.map_or_else(|| super::process_of(name), |id| id as u64);
        let mut counts = SampleCounts::default();
        counts.one(issued, stall_reason(text("Stall_Reason", row)));
        let instruction = collect.instruction(SampledInstruction {
            address: None,
            text: instruction.to_string(),
            source: text("Instruction_Comment", row).to_string(),
        });
        collect.add(dispatch as u64, kernel, instruction, &counts);
    }
    if damaged > 0 {
        problems.warn(name, damaged, "samples without a dispatch or an instruction", "they are left out");
    }
    if table.rows as u64 > damaged {
        collect.method(method);
        collect.samples.sources.push(name.to_string());
    }
}
