//! Confidence of each quantity of an emulated recording, a side file of the counters.
//!
//! A recording without the file is a measurement, and its values carry no mark. In a recording with the file,
//! a quantity without a line is not known to be exact, and so counts as modelled.

use crate::folder::Files;
use crate::problem::Problems;
use crate::side;
use crate::table::Want;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use view::Mark;

/// Name of the file.
pub const MARKS_FILE: &str = "pmc_marks.csv";

/// Its header.
pub(crate) const MARKS_HEADER: &str = "Quantity,Mark,Error_Percent";

/// Name under which the times of dispatches are marked.
pub const TIME: &str = "time";

/// Word for a modelled quantity that was only compared where it is 0.
const ZERO: &str = "zero";

/// Maximum number of quantities.
const MOST: usize = 1 << 16;

/// The marks of a recording, by quantity: a counter, or [`TIME`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    of: BTreeMap<String, Mark>,
    zeros: BTreeSet<String>,
}

impl Marks {
    /// Marks by quantity, and the modelled quantities that were compared only where they are 0, in the model
    /// and on hardware.
    pub fn new(of: BTreeMap<String, Mark>, zeros: BTreeSet<String>) -> Marks {
        Marks { of, zeros }
    }

    /// The mark of a counter or of [`TIME`].
    pub fn of(&self, quantity: &str) -> Mark {
        self.of.get(quantity).copied().unwrap_or(Mark::Modelled(None))
    }

    /// The mark of a counter whose value is 0.
    pub fn of_zero(&self, quantity: &str) -> Mark {
        if self.zeros.contains(quantity) { Mark::Modelled(Some(0.0)) } else { self.of(quantity) }
    }

    /// The file.
    pub fn write(&self) -> String {
        let mut out = format!("{MARKS_HEADER}\n");
        for (quantity, mark) in &self.of {
            let (word, error) = match mark {
                Mark::Exact => ("exact", None),
                Mark::Sampled => ("sampled", None),
                Mark::Modelled(_) if self.zeros.contains(quantity) => (ZERO, None),
                Mark::Modelled(error) => ("modelled", *error),
            };
            let error = error.map_or_else(String::new, |error| format!("{error:.2}"));
            let _ = writeln!(out, "{quantity},{word},{error}");
        }
        out
    }
}

/// Reads the file, if there is one.
pub(crate) fn read(files: &Files<'_>, problems: &mut Problems) -> Option<Marks> {
    if !files.has(MARKS_FILE) {
        return None;
    }
    let choose = |name: &str, _: &[u8]| if name == "Error_Percent" { Want::Number } else { Want::Text };
    let consequence = "no value is marked as exact";
    let Some(table) = side::table(files, MARKS_FILE, &choose, consequence, problems) else {
        return Some(Marks::default());
    };
    let (Some(quantities), Some(words)) = (table.text("Quantity"), table.text("Mark")) else {
        problems.error(MARKS_FILE, "one of the columns `Quantity`, `Mark` is absent", consequence);
        return Some(Marks::default());
    };
    let errors = table.number("Error_Percent");
    let mut marks = Marks::default();
    let mut left_out = 0;
    for line in 0..table.rows {
        let error = errors.and_then(|it| it.get(line)).filter(|error| *error >= 0.0);
        let mark = match words.get(line) {
            "exact" => Mark::Exact,
            "sampled" => Mark::Sampled,
            "modelled" => Mark::Modelled(error),
            ZERO => Mark::Modelled(None),
            _ => {
                left_out += 1;
                continue;
            }
        };
        if marks.of.len() < MOST {
            let quantity = quantities.get(line).to_string();
            if words.get(line) == ZERO {
                marks.zeros.insert(quantity.clone());
            }
            marks.of.insert(quantity, mark);
        }
    }
    if left_out > 0 {
        problems.warn(
            MARKS_FILE,
            left_out,
            format!("{left_out} lines have another mark than `exact`, `sampled`, `modelled` or `zero`"),
            "what they name counts as modelled",
        );
    }
    Some(marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Workload};

    fn workload(marks: Option<&str>) -> Workload {
        let counters = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,copy,0,100,4\n";
        let mut files = BTreeMap::from([("pmc_perf.csv".to_string(), counters.as_bytes().to_vec())]);
        files.extend(marks.map(|text| (MARKS_FILE.to_string(), text.as_bytes().to_vec())));
        crate::read(&files, &Options::default()).unwrap()
    }

    #[test]
    fn what_is_written_is_read() {
        let marks = BTreeMap::from([
            ("SQ_WAVES".to_string(), Mark::Exact),
            ("SQ_INSTS".to_string(), Mark::Sampled),
            ("TCC_HIT".to_string(), Mark::Modelled(Some(5.83))),
            ("TCC_CC_REQ".to_string(), Mark::Modelled(None)),
            (TIME.to_string(), Mark::Modelled(None)),
        ]);
        let marks = Marks::new(marks, BTreeSet::from(["TCC_CC_REQ".to_string()]));
        let found = workload(Some(&marks.write()));
        assert_eq!(found.marks, Some(marks));
        let marks = found.marks.unwrap();
        for (quantity, mark, of_zero) in [
            ("SQ_WAVES", Mark::Exact, Mark::Exact),
            ("TCC_CC_REQ", Mark::Modelled(None), Mark::Modelled(Some(0.0))),
            // No file states that it is exact.
            ("TCC_MISS", Mark::Modelled(None), Mark::Modelled(None)),
        ] {
            assert_eq!([marks.of(quantity), marks.of_zero(quantity)], [mark, of_zero], "{quantity}");
        }
        assert_eq!(workload(None).marks, None, "a measurement has no marks");
    }

    #[test]
    fn an_emulated_recording_that_lost_its_marks_is_no_measurement() {
        let counters = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,copy,0,100,4\n";
        let machine = "emulated_by,gpu_arch\nrockhound 0.1.0,gfx942\n";
        let files = [("pmc_perf.csv", counters), ("sysinfo.csv", machine)];
        let files = BTreeMap::from(files.map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())));
        let found = crate::read(&files, &Options::default()).unwrap();
        assert_eq!(found.marks.map(|marks| marks.of(TIME)), Some(Mark::Modelled(None)));
    }

    #[test]
    fn what_cannot_be_used_marks_nothing_as_exact() {
        for (text, problem) in
            [("Quantity\nSQ_WAVES\n", "columns"), ("Quantity,Mark,Error_Percent\nSQ_WAVES,sure,\n", "mark")]
        {
            let found = workload(Some(text));
            assert_eq!(found.marks.unwrap().of("SQ_WAVES"), Mark::Modelled(None));
            assert!(found.problems.iter().any(|it| it.to_string().contains(problem)), "{:?}", found.problems);
        }
    }
}
