//! Dispatches of an emulated recording that were simulated on some XCDs only, or of which the first workgroups
//! were simulated; a side file of the counters.
//!
//! A dispatch without a line was simulated with all workgroups on all XCDs. docs/recording.md describes every column.

use crate::by_dispatch::ByDispatch;
use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use std::fmt::Write as _;

/// Name of the file.
pub const SHARES_FILE: &str = "pmc_shares.csv";

/// Its header.
pub const SHARES_HEADER: &str =
    "Dispatch_ID,Kernel_Name,XCDs_Followed,XCDs,Time_Error,Count_Error,Workgroups_Followed,Workgroups";

/// A dispatch whose cache counts and times come from representative XCDs, or from its first workgroups.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// Row of the dispatch.
    pub row: u32,
    /// XCDs that were simulated.
    pub followed: u32,
    /// All XCDs.
    pub xcds: u32,
    /// Likely error of the time as a share of it: deviation of the simulated XCDs' times from their mean, and
    /// error of the extrapolation.
    pub time_error: f64,
    /// The same for counts of cache requests; the largest over all counts.
    pub count_error: f64,
    /// Workgroups that the simulated XCDs followed, of their workgroups; `None` if they followed all.
    pub workgroups: Option<[u64; 2]>,
}

/// Appends the line of a dispatch.
pub fn write_share(out: &mut String, dispatch: u64, kernel: &str, share: &Share) {
    let kernel = kernel.replace('"', "\"\"");
    let Share { followed, xcds, time_error, count_error, .. } = share;
    let workgroups = share.workgroups.map_or_else(|| ",".to_owned(), |[some, all]| format!("{some},{all}"));
    let _ = writeln!(
        out,
        "{dispatch},\"{kernel}\",{followed},{xcds},{time_error:.4},{count_error:.4},{workgroups}"
    );
}

/// Columns of workgroups.
const SOME: &str = "Workgroups_Followed";
const ALL: &str = "Workgroups";

/// The file's columns.
const COLUMNS: ByDispatch = ByDispatch {
    file: SHARES_FILE,
    texts: &[],
    numbers: &["XCDs_Followed", "XCDs", "Time_Error", "Count_Error", SOME, ALL],
    // Recordings of earlier versions have none.
    optional: &[SOME, ALL],
    unusable: "have no dispatch, or a number is absent",
};

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, dispatches: &Dispatches, problems: &mut Problems) -> Vec<Share> {
    let mut shares = Vec::new();
    COLUMNS.read(files, dispatches, problems, |row, line| {
        shares.push(Share {
            row,
            followed: line.number("XCDs_Followed")? as u32,
            xcds: line.number("XCDs")? as u32,
            time_error: line.number("Time_Error")?,
            count_error: line.number("Count_Error")?,
            workgroups: line.number(SOME).zip(line.number(ALL)).map(|(some, all)| [some as u64, all as u64]),
        });
        Some(())
    });
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
        let all =
            Share { row: 1, followed: 2, xcds: 8, time_error: 0.0125, count_error: 0.5, workgroups: None };
        assert_eq!(workload(&format!("{SHARES_HEADER}\n")).shares, []);
        for share in [all, Share { workgroups: Some([1254, 10_000]), ..all }] {
            let mut text = format!("{SHARES_HEADER}\n");
            write_share(&mut text, 7, "copy(\"a\", b)", &share);
            let found = workload(&text);
            assert_eq!(found.shares, vec![share]);
            assert!(!found.problems.iter().any(|it| it.file == SHARES_FILE), "{:?}", found.problems);
        }
        // As earlier versions wrote it.
        let old = "Dispatch_ID,Kernel_Name,XCDs_Followed,XCDs,Time_Error,Count_Error\n7,a,2,8,0.0125,0.5\n";
        assert_eq!(workload(old).shares, [all]);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        let header = SHARES_HEADER;
        for (text, problem) in [
            (
                "Dispatch_ID,XCDs\n7,8\n".to_string(),
                "no column `XCDs_Followed`, `Time_Error`, `Count_Error`;",
            ),
            (format!("{header}\n9,a,2,8,0,0,,\n"), "no dispatch"),
            (format!("{header}\n7,a,2,,0,0,,\n"), "absent"),
        ] {
            let found = workload(&text);
            assert_eq!(found.shares, [], "{text}");
            assert!(found.problems.iter().any(|it| it.to_string().contains(problem)), "{:?}", found.problems);
        }
    }
}
