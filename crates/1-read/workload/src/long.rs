//! Recordings with one row per dispatch and counter as CSV: long `pmc_perf.csv`, or a file of that form for each pass.
//!
//! The one idea to keep in mind: a file with a column `Counter_Name` is of this form, whatever it is called.

use crate::check;
use crate::dispatch_columns::{choose, take};
use crate::folder::Files;
use crate::gather::{Gather, Part, Row};
use crate::headers;
use crate::model::Generation;
use crate::multiplex;
use crate::passes::Passes;
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::side;
use crate::table::{self, Want};
use crate::times::Time;

/// Whether a CSV file has one row per dispatch and counter, by its header.
pub(crate) fn is_long(bytes: &[u8]) -> bool {
    let header = bytes.split(|b| *b == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or(&[]);
    let header = header.strip_prefix(b"\xef\xbb\xbf").unwrap_or(header);
    header.split(|b| *b == b',').any(|field| {
        headers::plain(String::from_utf8_lossy(field).trim().trim_matches('"')) == "Counter_Name"
    })
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
        "Grid_Size_X" | "Grid_Size_Y" | "Grid_Size_Z" => Want::Number,
        "Workgroup_Size_X" | "Workgroup_Size_Y" | "Workgroup_Size_Z" => Want::Number,
        _ if headers::describes_dispatch(name) => choose(name, first),
        _ => Want::Skip,
    };
    let mut table = table::read(file, bytes, &headers::plain, &choose, problems)?;
    side::multiply_sizes(&mut table);
    // Rows of one dispatch repeat its ID, which is no defect here.
    let (d, kernels) = take(file, &mut table, &mut Problems::default())?;
    let sizes = [&d.grid, &d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr];
    let (names, values) = (table.text("Counter_Name"), table.number("Counter_Value"));
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
            if !is_long(&bytes) {
                let hint =
                    "every file of a pass has one row per dispatch and counter, or none has".to_string();
                let column = "Counter_Name".to_string();
                return Err(Error::NoColumn { file: name.to_string(), column, hint });
            }
            match add_csv(&mut gather, part, name, &bytes, &mut problems)? {
                0 => Err(Error::HeaderOnly { file: name.to_string() }),
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
