//! Tables of rocprof v1 and v2, and what its JSON, databases and tables have in common.

use crate::chrome::workgroups;
use crate::error::Error;
use crate::names::Name;
use crate::row_text::{is_barrier, note_barriers, plain};
use crate::table::{Bad, Table};
use crate::timeline::{Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Timeline};
use view::NoteKind;

/// How counters of the hardware begin, in small letters.
const COUNTERS: [&str; 12] =
    ["sq_", "sqc_", "tcc_", "tcp_", "ta_", "td_", "grbm_", "spi_", "cpc_", "cpf_", "gds_", "tca_"];
/// Rows with a span before its launch or after its completion, of all, from which on the clocks are not one.
const CLOCKS_DIFFER: f64 = 0.01;

/// Columns of a table.
struct Columns {
    name: Option<usize>,
    gpu: Option<usize>,
    queue: Option<usize>,
    grid: Option<usize>,
    block: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    dispatched: Option<usize>,
    completed: Option<usize>,
    correlation: Option<usize>,
}

impl Columns {
    fn of(table: &Table<'_>) -> Columns {
        let first = |names: &[&str]| names.iter().find_map(|name| table.column(name));
        Columns {
            name: first(&["kernelname", "kernel_name"]),
            gpu: first(&["gpu-id", "gpu_id"]),
            queue: first(&["queue-id", "queue_id"]),
            grid: first(&["grd", "grid_size"]),
            block: first(&["wgr", "workgroup_size"]),
            start: first(&["beginns", "start_timestamp"]),
            end: first(&["endns", "end_timestamp"]),
            dispatched: first(&["dispatchns"]),
            completed: first(&["completens"]),
            correlation: first(&["correlation_id"]),
        }
    }
}

/// Counts over the rows of a table, and its launches.
#[derive(Default)]
struct Seen {
    bad: Bad,
    rows: u64,
    barriers: u64,
    /// Rows whose kernel runs before its launch or after its completion.
    misplaced: u64,
    launches: Vec<HostSpan>,
}

/// Kernels of rocprof v1 and v2, and of rocprof-compute's table of counters.
pub(crate) fn read(mut table: Table<'_>) -> Result<Timeline, Error> {
    let columns = Columns::of(&table);
    if columns.start.is_none() || columns.end.is_none() {
        let what = "the table has no start and end times (`rocprof --timestamp on`)";
        return Err(Error::Unknown(what.to_owned()));
    }
    let version1 = table.has(&["kernelname"]);
    let mut timeline = Timeline::new(if version1 { Format::Rocprofv1Csv } else { Format::Rocprofv2Csv });
    let mut seen = Seen::default();
    let launch = timeline.names.add("queued");
    while let Some(row) = table.next() {
        seen.rows += 1;
        let times = (table.time(columns.start), table.time(columns.end));
        match (row, times, is_barrier(table.text(columns.name))) {
            (Ok(()), (Some(_), Some(_)), true) => seen.barriers += 1,
            (Ok(()), (Some(start), Some(end)), false) => {
                kernel(&mut timeline, &table, &columns, (start, end), (launch, &mut seen));
            }
            _ => seen.bad.row(&table),
        }
    }
    let rows = seen.rows;
    if seen.misplaced as f64 > rows as f64 * CLOCKS_DIFFER {
        let text = format!(
            "DispatchNs and BeginNs are of clocks that differ: {} of {rows} kernels begin after their completion or before their launch. \
             No launch is read, so latency and the reason of idle time are not known",
            seen.misplaced
        );
        timeline.problem(NoteKind::Warning, text);
    } else {
        seen.launches.into_iter().for_each(|it| timeline.host.push(it));
    }
    seen.bad.report(&mut timeline);
    note_barriers(&mut timeline, seen.barriers);
    note_counters(&mut timeline, &table);
    Ok(timeline)
}

/// A row.
fn kernel(
    timeline: &mut Timeline,
    table: &Table<'_>,
    columns: &Columns,
    (start, end): (i64, i64),
    (launch, seen): (Name, &mut Seen),
) {
    let size = |column| table.number(column).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let block = [size(columns.block), 1, 1];
    let correlation = table.number(columns.correlation).unwrap_or(seen.rows);
    let queue = Queue {
        device: table.number(columns.gpu).unwrap_or(0),
        stream: table.number(columns.queue).unwrap_or(0),
    };
    let span = GpuSpan {
        start,
        end,
        name: timeline.names.add(plain(table.text(columns.name))),
        kind: GpuKind::Kernel,
        queue: timeline.queue(queue),
        correlation,
        external: 0,
        grid: workgroups([size(columns.grid), 1, 1], block),
        block,
        detail: 0,
    };
    timeline.gpu.push(span);
    let Some(time) = table.time(columns.dispatched) else { return };
    let completed = table.time(columns.completed);
    seen.misplaced += u64::from(start < time || completed.is_some_and(|completed| start > completed));
    let thread = timeline.thread(Name::NONE, Name::NONE);
    let (kind, name) = (HostKind::Runtime, launch);
    seen.launches.push(HostSpan {
        start: time,
        end: time,
        name,
        kind,
        thread,
        correlation,
        external: 0,
        shapes: 0,
    });
}

/// Says what a table of counters has besides times.
fn note_counters(timeline: &mut Timeline, table: &Table<'_>) {
    if table.has_fractions() {
        let text = "times have fractions of 1 ns: they are means over the passes of the profiler, so idle time between kernels is that of no run";
        timeline.problem(NoteKind::Warning, text);
    }
    if table.columns().any(|name| COUNTERS.iter().any(|begin| name.starts_with(begin))) {
        timeline.problem(NoteKind::Info, "the table has counters: `rockhound analyze -p` shows them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Timeline {
        let mut input = text.as_bytes();
        super::read(Table::open(&mut input).unwrap()).unwrap()
    }

    const HEAD: &str =
        "\"Index\",\"KernelName\",\"gpu-id\",\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\"\n";

    #[test]
    fn launches_of_another_clock_are_no_launches() {
        for (rows, launches, notes) in [
            ("0,\"k.kd\",1,10,20,30,40\n1,\"k.kd\",1,50,60,70,80\n", 2, 0),
            ("0,\"k.kd\",1,10,2000,3000,40\n1,\"k.kd\",1,50,6000,7000,80\n", 0, 1),
            ("0,\"k.kd\",1,1000,20,30,4000\n", 0, 1),
            ("0,\"k.kd\",1,10,20,30,40\n1,\"<barrier packet>\",1,50,60,70,80\n", 1, 1),
        ] {
            let it = read(&format!("{HEAD}{rows}"));
            assert_eq!((it.host.len(), it.problems.len()), (launches, notes), "{rows} {:?}", it.problems);
            assert_eq!(it.names.get(it.gpu.name[0]), "k");
        }
    }

    #[test]
    fn means_over_passes_are_times() {
        let head = "Dispatch_ID,GPU_ID,Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp\n";
        let it = read(&format!("{head}0,0,k,4,1000.25,2000.5\n1,0,k,4,1.5e4,16000\n2,0,k,4,,\n"));
        assert_eq!((it.gpu.start.clone(), it.gpu.end.clone()), (vec![1000, 15_000], vec![2000, 16_000]));
        assert_eq!((it.format, it.problems.len()), (Format::Rocprofv2Csv, 3), "{:?}", it.problems);
    }
}
