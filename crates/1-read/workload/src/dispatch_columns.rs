//! The columns of a table that describe dispatches, made into [`Dispatches`].
//!
//! Only the kernel's name is required; every other column may be absent and is then a column of gaps.

use crate::headers;
use crate::join::Launch;
use crate::model::Dispatches;
use crate::problem::{Error, Problem, Problems};
use crate::table::{Table, Want};
use crate::values::Values;
use std::collections::HashMap;
use view::NoteKind;

/// Parser of a column, chosen by its plain name and the first field.
pub(crate) fn choose(name: &str, first: &[u8]) -> Want {
    match name {
        "Kernel_Name" | "GPU_ID" | "Counter_Name" => Want::Text,
        "Start_Timestamp" | "End_Timestamp" => Want::Time,
        "Wave_Size" => Want::Skip,
        _ if headers::describes_dispatch(name) => Want::Number,
        _ if headers::is_counter(name) => Want::Number,
        _ if name.is_empty() || headers::is_bookkeeping(name) => Want::Skip,
        // Anything else is kept when it holds numbers; the first may be blank.
        _ if crate::number::number(first).is_ok() => Want::Number,
        _ => Want::Skip,
    }
}

/// Takes the dispatch columns out of a table. Returns the dispatches and their kernels' names.
pub(crate) fn take(
    file: &str,
    table: &mut Table,
    problems: &mut Problems,
) -> Result<(Dispatches, Vec<String>), Error> {
    let rows = table.rows;
    let kernels = table.text("Kernel_Name").ok_or_else(|| Error::NoColumn {
        file: file.to_string(),
        column: "Kernel_Name".to_string(),
        hint: "the file is no recording of kernels, or its header line is missing".to_string(),
    })?;
    let kernel = kernels.cells.clone();
    let kernels = kernels.distinct.clone();
    let gpu = gpu_numbers(table);
    let id: Vec<u64> = match table.number("Dispatch_ID") {
        Some(v) => v.iter().enumerate().map(|(i, v)| v.map_or(i as u64, |v| v.max(0.0) as u64)).collect(),
        None => (0..rows as u64).collect(),
    };
    let time = |name: &str| table.time(name).map_or_else(|| vec![None; rows], |times| times.whole.clone());
    let (start, end) = (time("Start_Timestamp"), time("End_Timestamp"));
    let fraction = |name: &str| {
        let fractions = table.time(name).map(|times| &times.fraction);
        fractions.filter(|it| it.iter().any(|it| it != Some(0.0))).cloned().unwrap_or_default()
    };
    let (start_fraction, end_fraction) = (fraction("Start_Timestamp"), fraction("End_Timestamp"));
    let mut number = |name: &str| {
        table
            .position(name)
            .and_then(|p| table.take_number(p))
            .unwrap_or_else(|| Values::constant(None, rows))
    };
    let dispatches = Dispatches {
        kernel,
        gpu,
        start,
        end,
        start_fraction,
        end_fraction,
        grid: number("Grid_Size"),
        workgroup: number("Workgroup_Size"),
        lds: number("LDS_Per_Workgroup"),
        scratch: number("Scratch_Per_Workitem"),
        arch_vgpr: number("Arch_VGPR"),
        accum_vgpr: number("Accum_VGPR"),
        sgpr: number("SGPR"),
        id,
    };
    check_ids(file, &dispatches, problems);
    Ok((dispatches, kernels))
}

/// GPU numbers: the column holds numbers or texts that end in one (`Agent 4`).
fn gpu_numbers(table: &Table) -> Vec<u32> {
    let Some(texts) = table.text("GPU_ID") else { return vec![0; table.rows] };
    let numbers: Vec<u32> = texts
        .distinct
        .iter()
        .map(|t| {
            let digits = t.trim().rsplit(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or("");
            digits.parse::<f64>().map_or(0, |v| v as u32)
        })
        .collect();
    texts.cells.iter().map(|c| numbers[*c as usize]).collect()
}

/// Launches of a run in order, for [`crate::join`].
pub(crate) fn launches(d: &Dispatches, kernels: &[String]) -> Vec<Launch> {
    (0..d.len())
        .map(|i| Launch {
            kernel: kernels.get(d.kernel[i] as usize).cloned().unwrap_or_default(),
            grid: d.grid.get(i).map_or(0, |v| v as u64),
            workgroup: d.workgroup.get(i).map_or(0, |v| v as u64),
            gpu: d.gpu.get(i).copied().unwrap_or(0),
        })
        .collect()
}

fn check_ids(file: &str, d: &Dispatches, problems: &mut Problems) {
    let mut seen: HashMap<(u32, u64), ()> = HashMap::with_capacity(d.len());
    let twice = (0..d.len()).filter(|i| seen.insert((d.gpu[*i], d.id[*i]), ()).is_some()).count() as u64;
    if twice > 0 {
        problems.add(Problem {
            kind: NoteKind::Warning,
            file: file.to_string(),
            line: None,
            column: Some("Dispatch_ID".to_string()),
            rows: twice,
            message: "dispatch IDs occur more than once".to_string(),
            consequence:
                "every row counts as a dispatch of its own; selecting such an ID selects all of its rows"
                    .to_string(),
        });
    }
}
