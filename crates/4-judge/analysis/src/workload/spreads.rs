//! The table of run-to-run spreads of a recording whose passes were run several times.
//!
//! The widest spreads come first, times before counters: a difference between two recordings smaller than the
//! spread of one is not significant.

use super::overview::{row, table};
use super::subject::Subject;
use sorting::Sort;
use std::collections::BTreeSet;
use view::{Cell, Column, ColumnKind, Note, NoteKind, Number, Table};
use workload::{Spread, TIME, plain_kernel_name};

/// Spreads of the kernels selected; of a recording whose passes ran once no rows.
pub(crate) fn spreads(subject: &Subject, top: usize) -> Table {
    let w = &subject.workload;
    let mut own = selected(subject);
    own.in_order_by(|a, b| {
        let key = |it: &Spread| it.quantity != TIME;
        key(a).cmp(&key(b)).then(b.most.total_cmp(&a.most)).then(a.kernel.cmp(&b.kernel))
    });
    let equal = own.iter().filter(|it| it.most == 0.0).count();
    let shown = own.iter().filter(|it| it.most > 0.0 || it.quantity == TIME);
    let number = |value: f64| Cell::Number(Number::from(value));
    let rows = shown.take(top).enumerate().map(|(at, it)| {
        let kernel = w.kernels.get(it.kernel as usize).map_or("", |name| plain_kernel_name(name));
        let cells = vec![
            Cell::Text(kernel.to_string()),
            number(f64::from(it.runs)),
            number(f64::from(it.dispatches)),
            number(100.0 * it.typical),
            number(100.0 * it.most),
        ];
        row(at.to_string(), &it.quantity, cells)
    });
    let columns = vec![
        Column::new("kernel", ColumnKind::Text, ""),
        Column::new("runs", ColumnKind::Number, ""),
        Column::new("dispatches", ColumnKind::Number, ""),
        Column::new("spread", ColumnKind::Percent, "%"),
        Column::new("at most", ColumnKind::Percent, "%"),
    ];
    let mut out = table("0.8", "Top Stats", "Spread over Runs", "quantity", columns, rows.collect());
    if !out.rows.is_empty() {
        out.notes.push(format!(
            "largest minus smallest value of a dispatch as a share of its median; {equal} of {} counters and times are equal in all runs",
            own.len()
        ));
    }
    out
}

fn selected(subject: &Subject) -> Vec<&Spread> {
    let kernels: BTreeSet<u32> = subject
        .rows
        .iter()
        .filter_map(|row| subject.workload.dispatches.kernel.get(*row as usize).copied())
        .collect();
    subject.workload.spreads.iter().filter(|it| kernels.contains(&it.kernel)).collect()
}

/// Note on a recording with repeated passes, shown before its numbers.
pub(crate) fn note(subject: &Subject, named: bool) -> Option<Note> {
    let own = selected(subject);
    let runs = own.iter().map(|it| it.runs).max()?;
    let widest = |is_time: bool| {
        let of = own.iter().filter(|it| (it.quantity == TIME) == is_time);
        of.max_by(|a, b| a.most.total_cmp(&b.most))
    };
    let time = widest(true).map(|it| format!("times of a dispatch differ by up to {:.1} %", 100.0 * it.most));
    let counter =
        widest(false).map(|it| format!("counters up to {:.1} % (`{}`)", 100.0 * it.most, it.quantity));
    let parts: Vec<String> = time.into_iter().chain(counter).collect();
    let before = if named { format!("{}: ", subject.name) } else { String::new() };
    let text =
        format!("{before}each pass ran {runs} times, values are medians: {} (`-b 0.8`)", parts.join(", "));
    Some(Note { kind: NoteKind::Info, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use view::Wanted;

    #[test]
    fn the_widest_come_first_and_times_before_counters() {
        let text =
            "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,a,0,100,4\n1,b,100,300,4\n";
        let spreads = "Kernel_Name,Quantity,Runs,Dispatches,Spread_Percent,Most_Percent\n\
             a,SQ_WAVES,3,1,0,0\na,TCC_HIT,3,1,5,9\na,time,3,1,2,2\nb,TCC_HIT,3,1,50,60\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), text.as_bytes().to_vec()),
            ("pmc_spreads.csv".to_string(), spreads.as_bytes().to_vec()),
        ]);
        let mut subject = Subject {
            name: "x".to_string(),
            path: String::new(),
            workload: workload::read(&files, &workload::Options::default()).unwrap(),
            filled: Vec::new(),
            rows: vec![0, 1],
            selection: String::new(),
            wanted: Wanted::default(),
        };
        let labels = |subject: &Subject| {
            spreads_of(subject).rows.iter().map(|row| row.label.clone()).collect::<Vec<_>>()
        };
        assert_eq!(labels(&subject), ["time", "TCC_HIT", "TCC_HIT"]);
        testkit::golden("table", &spreads_of(&subject).notes.join("\n"));
        testkit::golden("note", &note(&subject, true).unwrap().text);
        // Only selected dispatches count.
        subject.rows = vec![1];
        assert_eq!(labels(&subject), ["TCC_HIT"]);
        subject.workload.spreads.clear();
        assert_eq!(note(&subject, false), None);
    }

    fn spreads_of(subject: &Subject) -> Table {
        spreads(subject, usize::MAX)
    }
}
