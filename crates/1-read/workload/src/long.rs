//! Recordings with one row per dispatch and counter as CSV: long `pmc_perf.csv`, or a file of that form for
//! each pass.
//!
//! A file with a column `Counter_Name` has this form, whatever its name.

use crate::check;
use crate::dispatch_columns::{choose, take};
use crate::folder::Files;
use crate::gather::{Gather, Row};
use crate::headers;
use crate::model::Generation;
use crate::multiplex;
use crate::passes::{Part, Passes};
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::side;
use crate::table::{self, Cells, Table, Want};
use crate::times::Time;
use std::collections::HashMap;

/// Number of a kernel, which some tables have without a name.
const KERNEL_ID: &str = "Kernel_Id";

/// Calls kernels by their numbers where counters are recorded without names.
fn name_kernels(file: &str, table: &mut Table, problems: &mut Problems) {
    if table.position("Kernel_Name").is_some() || table.position("Counter_Name").is_none() || table.rows == 0
    {
        return;
    }
    let mut names = table.text(KERNEL_ID).cloned().unwrap_or_default();
    names.distinct.iter_mut().for_each(|id| *id = format!("kernel {id}"));
    if names.cells.is_empty() {
        names.distinct = vec!["(kernel not recorded)".to_string()];
        names.cells = vec![0; table.rows];
    }
    table.names.push("Kernel_Name".to_string());
    table.columns.push(Cells::Text(names));
    problems.warn(
        file,
        0,
        "there is no column `Kernel_Name`",
        "dispatches of one number are taken as one kernel",
    );
}

/// Adds the rows of a CSV file.
pub(crate) fn add_csv(
    gather: &mut Gather,
    part: Part,
    file: &str,
    bytes: &[u8],
    problems: &mut Problems,
) -> Result<usize, Error> {
    let choose = |name: &str, first: &[u8]| match name {
        "Counter_Value" => Want::Number,
        KERNEL_ID => Want::Text,
        "Grid_Size_X" | "Grid_Size_Y" | "Grid_Size_Z" => Want::Number,
        "Workgroup_Size_X" | "Workgroup_Size_Y" | "Workgroup_Size_Z" => Want::Number,
        _ if headers::describes_dispatch(name) => choose(name, first),
        _ => Want::Skip,
    };
    let mut table = table::read(file, bytes, &headers::plain, &choose, problems)?;
    if table.position("Counter_Name").is_some() && table.position("Counter_Value").is_none() && table.rows > 0
    {
        return Err(Error::NoColumn {
            file: file.to_string(),
            column: "Counter_Value".to_string(),
            hint: "the table names counters and has no values of them; record again".to_string(),
        });
    }
    side::multiply_sizes(&mut table);
    name_kernels(file, &mut table, problems);
    let is_numbered = table.position("Dispatch_ID").is_some();
    // Rows of one dispatch repeat its ID, which is not a defect here.
    let (mut d, kernels) = take(file, &mut table, &mut Problems::default())?;
    let sizes = [&d.grid, &d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr];
    let (names, values) = (table.text("Counter_Name"), table.number("Counter_Value"));
    if let Some(names) = names.filter(|_| !is_numbered && table.rows > 0) {
        d.id = by_occurrence(&d.kernel, &names.cells);
        problems.warn(
            file,
            0,
            "there is no column `Dispatch_ID`",
            "the first row of each counter is of the first dispatch of its kernel, and so on",
        );
    }
    for row in 0..table.rows {
        gather.add(
            part,
            &Row {
                dispatch: d.id[row],
                gpu: d.gpu[row],
                kernel: &kernels[d.kernel[row] as usize],
                start: time(d.start[row], d.start_fraction.get(row)),
                end: time(d.end[row], d.end_fraction.get(row)),
                sizes: sizes.map(|s| s.get(row)),
                counter: names.map_or("", |t| t.get(row)),
                value: values.and_then(|v| v.get(row)),
            },
        );
    }
    Ok(table.rows)
}

/// Numbers of dispatches where a table has none: the n-th row of a counter is of the n-th dispatch of its
/// kernel.
fn by_occurrence(kernels: &[u32], counters: &[u32]) -> Vec<u64> {
    let mut rows: HashMap<(u32, u32), u64> = HashMap::new();
    let mut numbers: HashMap<(u32, u64), u64> = HashMap::new();
    let number = |(kernel, counter): (&u32, &u32)| {
        let occurrence = rows.entry((*kernel, *counter)).or_insert(0);
        *occurrence += 1;
        let next = numbers.len() as u64;
        *numbers.entry((*kernel, *occurrence)).or_insert(next)
    };
    kernels.iter().zip(counters).map(number).collect()
}

fn time(whole: Option<i64>, fraction: Option<f64>) -> Option<Time> {
    Some((whole?, fraction.unwrap_or(0.0)))
}

/// Reads a folder whose `pmc_perf.csv` is long, or that has a long file for each pass instead.
pub(crate) fn folder(files: &Files<'_>, names: &[String], mut problems: Problems) -> Result<Workload, Error> {
    let mut gather = Gather::default();
    let passes = Passes::of(names);
    let mut failed = None;
    for (name, part) in passes.files() {
        let added = files.bytes(name).and_then(|bytes| {
            let header = table::header(&bytes).unwrap_or_default();
            if !header.is_empty() && !header.iter().any(|it| headers::plain(it) == "Counter_Name") {
                let hint =
                    "every file of a pass has one row per dispatch and counter, or none has".to_string();
                let column = "Counter_Name".to_string();
                return Err(Error::NoColumn { file: name.to_string(), column, hint });
            }
            match add_csv(&mut gather, part, name, &bytes, &mut problems)? {
                0 => Err(table::without_rows(name, &bytes)),
                rows => Ok(rows),
            }
        });
        match added {
            Ok(_) => {}
            Err(error) if names.len() == 1 => return Err(error),
            Err(error) => {
                problems.error(name, side::first_line(&error.to_string()), "the file is left out");
                failed = Some(error);
            }
        }
    }
    if gather.is_empty()
        && let Some(error) = failed
    {
        return Err(error);
    }
    let mut w = gather.finish(Generation::Long, passes.sources(), &mut problems)?;
    w.machine = side::machine(files, &mut problems);
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    multiplex::fill(&mut w, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}
