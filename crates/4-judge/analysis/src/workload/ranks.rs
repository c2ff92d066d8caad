//! The table of ranks: distribution of a program's time over the merged recordings.
//!
//! Ranks that do the same work take the same time, so the slowest is compared with the mean of all.

use super::overview::{row, table};
use super::subject::Subject;
use view::{Cell, Column, ColumnKind, Missing, Number, Table};

/// Ranks in the order of their folders; of a recording that was not merged no rows.
pub(crate) fn ranks(subject: &Subject) -> Table {
    let w = &subject.workload;
    let of = |rank: &workload::Rank| {
        let own: Vec<u32> = subject.rows.iter().copied().filter(|row| rank.rows.contains(row)).collect();
        let times: Option<Vec<f64>> = own.iter().map(|row| w.dispatches.duration(*row as usize)).collect();
        (own.len(), times.map(|times| times.iter().sum::<f64>()))
    };
    let sums: Vec<(usize, Option<f64>)> = w.ranks.iter().map(of).collect();
    let known: Option<Vec<f64>> = sums.iter().map(|it| it.1).collect();
    let most = known.as_ref().map(|sums| sums.iter().copied().fold(0.0, f64::max)).filter(|most| *most > 0.0);
    let number = |value: Option<f64>| {
        Cell::Number(value.map_or_else(|| Number::Missing(Missing::Durations), Number::from))
    };
    let rows = w.ranks.iter().zip(&sums).enumerate().map(|(at, (rank, (count, sum)))| {
        let mean = sum.map(|sum| sum / *count as f64).filter(|_| *count > 0);
        let share = sum.zip(most).map(|(sum, most)| 100.0 * sum / most);
        let host = Cell::Text(rank.host.clone().unwrap_or_default());
        let cells =
            vec![host, Cell::Number(Number::from(*count as f64)), number(*sum), number(mean), number(share)];
        row(at.to_string(), &rank.name, cells)
    });
    let columns = vec![
        Column::new("host", ColumnKind::Text, ""),
        Column::new("count", ColumnKind::Number, ""),
        Column::new("sum", ColumnKind::Number, "ns"),
        Column::new("mean", ColumnKind::Number, "ns"),
        Column::new("of slowest", ColumnKind::Percent, "%"),
    ];
    let mut out = table("0.6", "Top Stats", "Ranks", "rank", columns, rows.collect());
    if let (Some(sums), Some(most)) = (known.filter(|sums| sums.len() > 1), most) {
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        let at = sums.iter().position(|sum| *sum == most).unwrap_or_default();
        out.notes.push(format!(
            "the slowest, `{}`, takes {:.1} % more time than the mean of all",
            w.ranks[at].name,
            100.0 * (most / mean - 1.0)
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use view::Wanted;

    #[test]
    fn the_slowest_rank_is_named() {
        let rank = |name: &str, end: u32| {
            let text = format!(
                "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,a,0,100,4\n1,a,100,{end},4\n"
            );
            let files = BTreeMap::from([("pmc_perf.csv".to_string(), text.into_bytes())]);
            (name.to_string(), workload::read(&files, &workload::Options::default()).unwrap())
        };
        let workload = workload::merge(vec![rank("0", 200), rank("1", 400)]).unwrap();
        let mut subject = Subject {
            name: String::new(),
            path: String::new(),
            workload,
            filled: Vec::new(),
            rows: vec![0, 1, 2, 3],
            selection: String::new(),
            wanted: Wanted::default(),
        };
        let table = ranks(&subject);
        let cells: Vec<Vec<Option<f64>>> = table
            .rows
            .iter()
            .map(|row| {
                let number = |cell: &Cell| match cell {
                    Cell::Number(Number::Known(value)) => Some(*value),
                    _ => None,
                };
                row.cells.iter().skip(1).map(number).collect()
            })
            .collect();
        assert_eq!(cells, [[2.0, 200.0, 100.0, 50.0].map(Some), [2.0, 400.0, 200.0, 100.0].map(Some)]);
        let slowest =
            |notes: &[String], rank: &str, more: &str| notes[0].contains(rank) && notes[0].contains(more);
        assert!(slowest(&table.notes, "`1`", " 33.3 % "), "{:?}", table.notes);
        // Only selected dispatches count.
        subject.rows = vec![0, 2];
        let notes = ranks(&subject).notes;
        assert!(slowest(&notes, "`0`", " 0.0 % "), "{notes:?}");
    }
}
