//! Which dispatches of an emulated recording were followed on some XCDs only, as the file that stands beside the counters.
//!
//! The one idea to keep in mind: a dispatch without a line was followed on all. docs/recording.md describes every column.

use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use crate::side;
use crate::table::{self, Want};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Name of the file.
pub const SHARES_FILE: &str = "pmc_shares.csv";

/// Its header.
pub const SHARES_HEADER: &str = "Dispatch_ID,Kernel_Name,XCDs_Followed,XCDs,Time_Error,Count_Error";

/// A dispatch whose caches and times are from some XCDs that stand for all.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// Row of the dispatch.
    pub row: u32,
    /// XCDs that were followed.
    pub followed: u32,
    /// All XCDs.
    pub xcds: u32,
    /// How far the times of the followed ones lie from their mean, as a share of it.
    pub time_error: f64,
    /// The same of counts of cache requests, the one that lies farthest.
    pub count_error: f64,
}

/// Appends the line of a dispatch.
pub fn write_share(out: &mut String, dispatch: u64, kernel: &str, share: &Share) {
    let kernel = kernel.replace('"', "\"\"");
    let Share { followed, xcds, time_error, count_error, .. } = share;
    let _ = writeln!(out, "{dispatch},\"{kernel}\",{followed},{xcds},{time_error:.4},{count_error:.4}");
}

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, dispatches: &Dispatches, problems: &mut Problems) -> Vec<Share> {
    let Some(bytes) = side::try_bytes(files, SHARES_FILE, problems) else { return Vec::new() };
    let choose = |name: &str, _: &[u8]| if name == "Kernel_Name" { Want::Text } else { Want::Number };
    let table = match table::read(SHARES_FILE, &bytes, &str::to_string, &choose, problems) {
        Ok(table) => table,
        Err(error) => {
            problems.error(SHARES_FILE, side::first_line(&error.to_string()), "the file is left out");
            return Vec::new();
        }
    };
    let columns = ["Dispatch_ID", "XCDs_Followed", "XCDs", "Time_Error", "Count_Error"];
    let [Some(ids), Some(followed), Some(xcds), Some(times), Some(counts)] =
        columns.map(|name| table.number(name))
    else {
        problems.error(
            SHARES_FILE,
            format!("one of the columns `{}` is absent", columns.join("`, `")),
            "the file is left out",
        );
        return Vec::new();
    };
    let rows: HashMap<u64, u32> = (0..).zip(&dispatches.id).map(|(row, id)| (*id, row)).collect();
    let mut left_out = 0;
    let mut shares = Vec::new();
    for line in 0..table.rows {
        let number = |values: &crate::Values| values.get(line).filter(|it| *it >= 0.0);
        let row = number(ids).and_then(|id| rows.get(&(id as u64)));
        let (Some(&row), Some(followed), Some(xcds), Some(time_error), Some(count_error)) =
            (row, number(followed), number(xcds), number(times), number(counts))
        else {
            left_out += 1;
            continue;
        };
        let (followed, xcds) = (followed as u32, xcds as u32);
        shares.push(Share { row, followed, xcds, time_error, count_error });
    }
    if left_out > 0 {
        problems.warn(
            SHARES_FILE,
            left_out,
            format!("{left_out} lines have no dispatch, or a number is absent"),
            "they are left out",
        );
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};
    use std::collections::BTreeMap;

    fn workload(shares: &str) -> Workload {
        let counters =
            "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n3,a,0,100,4\n7,copy,100,300,4\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (SHARES_FILE.to_string(), shares.as_bytes().to_vec()),
        ]);
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let share = Share { row: 1, followed: 2, xcds: 8, time_error: 0.0125, count_error: 0.5 };
        let mut text = format!("{SHARES_HEADER}\n");
        assert_eq!(workload(&text).shares, []);
        write_share(&mut text, 7, "copy(\"a\", b)", &share);
        let found = workload(&text);
        assert_eq!(found.shares, vec![share]);
        assert!(!found.problems.iter().any(|it| it.file == SHARES_FILE), "{:?}", found.problems);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        let header = SHARES_HEADER;
        for (text, problem) in [
            ("Dispatch_ID,XCDs\n7,8\n".to_string(), "columns"),
            (format!("{header}\n9,a,2,8,0,0\n"), "no dispatch"),
            (format!("{header}\n7,a,2,,0,0\n"), "absent"),
        ] {
            let found = workload(&text);
            assert_eq!(found.shares, [], "{text}");
            assert!(found.problems.iter().any(|it| it.to_string().contains(problem)), "{:?}", found.problems);
        }
    }
}
