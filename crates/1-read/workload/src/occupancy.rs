//! Waves in flight over the time of each dispatch of an emulated recording, a side file of the counters.
//!
//! The time of a dispatch is cut into equal parts, one per number of the line; each number is the mean over
//! its part. docs/recording.md describes every column.

use crate::by_dispatch::ByDispatch;
use crate::digits::whole_number;
use crate::folder::Files;
use crate::model::Dispatches;
use crate::problem::Problems;
use std::fmt::Write as _;

/// Name of the file.
pub const OCCUPANCY_FILE: &str = "pmc_occupancy.csv";

/// Its header.
pub const OCCUPANCY_HEADER: &str = "Dispatch_ID,Kernel_Name,Waves,Compute_Units";

/// Maximum number of parts of a dispatch.
const MOST: usize = 1 << 12;

/// Waves in flight over the time of a dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct Occupancy {
    /// Row of the dispatch.
    pub row: u32,
    /// Waves in flight on the GPU, on average over each equal part of the time.
    pub waves: Vec<f64>,
    /// Compute units that held waves, as many numbers.
    pub units: Vec<f64>,
}

/// Appends the line of a dispatch.
pub fn write_occupancy(out: &mut String, dispatch: u64, kernel: &str, waves: &[f64], units: &[f64]) {
    let kernel = kernel.replace('"', "\"\"");
    let _ = write!(out, "{dispatch},\"{kernel}\"");
    for means in [waves, units] {
        for (at, &mean) in means.iter().enumerate() {
            out.push(if at == 0 { ',' } else { ' ' });
            write_rounded(out, mean);
        }
    }
    out.push('\n');
}

/// Appends five digits of a mean, which is not negative but for its own rounding. A launch has 200 of them, so
/// they are digits of a whole number, which take a tenth of the time of a formatted fraction.
fn write_rounded(out: &mut String, mean: f64) {
    let (mut decimals, scale) = match mean {
        size if size >= 1000.0 => (1, 10.0),
        size if size >= 100.0 => (2, 100.0),
        size if size >= 10.0 => (3, 1000.0),
        _ => (4, 10_000.0),
    };
    let mut digits = (mean * scale).round() as u64;
    while decimals > 0 && digits.is_multiple_of(10) {
        (digits, decimals) = (digits / 10, decimals - 1);
    }
    let unit = 10u64.pow(decimals);
    whole_number(out, digits / unit);
    if decimals > 0 {
        out.push('.');
        let mut rest = digits % unit;
        for place in (0..decimals).rev() {
            let unit = 10u64.pow(place);
            out.push(char::from(b'0' + (rest / unit) as u8));
            rest %= unit;
        }
    }
}

/// Parses the numbers of a cell; `None` if one is invalid, or if there are too many.
fn numbers(cell: &str) -> Option<Vec<f64>> {
    let number = |word: &str| word.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    let words = cell.split_ascii_whitespace();
    let found: Option<Vec<f64>> = words.take(MOST + 1).map(number).collect();
    found.filter(|it| (1..=MOST).contains(&it.len()))
}

/// The file's columns.
const COLUMNS: ByDispatch = ByDispatch {
    file: OCCUPANCY_FILE,
    texts: &["Waves", "Compute_Units"],
    numbers: &[],
    optional: &[],
    unusable: "have no dispatch, or not as many numbers of waves as of compute units",
};

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, dispatches: &Dispatches, problems: &mut Problems) -> Vec<Occupancy> {
    let mut all = Vec::new();
    COLUMNS.read(files, dispatches, problems, |row, line| {
        let (waves, units) = (numbers(line.text("Waves"))?, numbers(line.text("Compute_Units"))?);
        (waves.len() == units.len()).then(|| all.push(Occupancy { row, waves, units }))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};
    use std::collections::BTreeMap;

    fn workload(occupancy: &str) -> Workload {
        let counters =
            "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n3,a,0,100,4\n7,copy,100,300,4\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), counters.as_bytes().to_vec()),
            (OCCUPANCY_FILE.to_string(), occupancy.as_bytes().to_vec()),
        ]);
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_with_five_digits() {
        let mut text = format!("{OCCUPANCY_HEADER}\n");
        assert_eq!(workload(&text).occupancy, []);
        let waves = [0.0, 3328.0, 1234.5678, 12.34567, 0.000_012, -0.000_001];
        write_occupancy(&mut text, 7, "copy(\"a\", b)", &waves, &[1.0; 6]);
        assert!(text.ends_with("0 3328 1234.6 12.346 0 0,1 1 1 1 1 1\n"), "{text}");
        let found = workload(&text);
        let waves = vec![0.0, 3328.0, 1234.6, 12.346, 0.0, 0.0];
        assert_eq!(found.occupancy, [Occupancy { row: 1, waves, units: vec![1.0; 6] }]);
        assert!(!found.problems.iter().any(|it| it.file == OCCUPANCY_FILE), "{:?}", found.problems);
    }

    #[test]
    fn what_cannot_be_used_is_left_out_and_said() {
        let header = OCCUPANCY_HEADER;
        let long = "1 ".repeat(MOST + 1);
        for (text, problem) in [
            ("Dispatch_ID,Waves\n7,8\n".to_string(), "no column `Compute_Units`;"),
            (format!("{header}\n9,a,1 2,1 2\n"), "no dispatch"),
            (format!("{header}\n7,a,1 2,1\n"), "not as many"),
            (format!("{header}\n7,a,,\n"), "not as many"),
            (format!("{header}\n7,a,1 -2,1 2\n"), "not as many"),
            (format!("{header}\n7,a,1 inf,1 2\n"), "not as many"),
            (format!("{header}\n7,a,1 x,1 2\n"), "not as many"),
            (format!("{header}\n7,a,{long},{long}\n"), "not as many"),
        ] {
            let found = workload(&text);
            assert_eq!(found.occupancy, [], "{text}");
            assert!(found.problems.iter().any(|it| it.to_string().contains(problem)), "{:?}", found.problems);
        }
    }
}
