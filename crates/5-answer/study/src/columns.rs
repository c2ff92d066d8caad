//! A recording as columns, for data frames.
//!
//! Values pass through as recorded; only their accuracy is added.

use view::{COLUMNS_SCHEMA, Columns, DataCells, DataColumn, DataKind, Mark, MissingCells, Note};
use workload::{Counter, TIME, Values, Workload};

/// Reason why a cell has no value.
const NOT_RECORDED: &str = "the recording has no value for the dispatch";

/// All columns of a recording; of counters those that `wanted` takes by their name without instance.
pub fn columns(workload: &Workload, path: &str, wanted: &dyn Fn(&str) -> bool) -> Columns {
    let dispatches = &workload.dispatches;
    let time = workload.marks.as_ref().map(|marks| marks.of(TIME));
    let whole = |values: &[Option<i64>]| DataCells::Whole(values.to_vec());
    let mut columns = vec![
        dispatch(
            "dispatch_id",
            None,
            DataCells::Whole(dispatches.id.iter().map(|id| i64::try_from(*id).ok()).collect()),
        ),
        dispatch(
            "kernel",
            None,
            DataCells::Text((0..dispatches.len()).map(|row| workload.kernel_of(row).to_owned()).collect()),
        ),
        dispatch(
            "gpu",
            None,
            DataCells::Whole(dispatches.gpu.iter().map(|gpu| Some(i64::from(*gpu))).collect()),
        ),
        dispatch("start_ns", time, whole(&dispatches.start)),
        dispatch("end_ns", time, whole(&dispatches.end)),
        dispatch(
            "duration_ns",
            time,
            DataCells::Numbers((0..dispatches.len()).map(|row| dispatches.duration(row)).collect()),
        ),
    ];
    for (name, values) in [
        ("grid_size", &dispatches.grid),
        ("workgroup_size", &dispatches.workgroup),
        ("lds_bytes", &dispatches.lds),
        ("scratch_bytes", &dispatches.scratch),
        ("arch_vgprs", &dispatches.arch_vgpr),
        ("accum_vgprs", &dispatches.accum_vgpr),
        ("sgprs", &dispatches.sgpr),
    ] {
        columns.push(dispatch(name, None, numbers(values, dispatches.len())));
    }
    let counters = workload.counters.iter().filter(|counter| wanted(&counter.name));
    columns.extend(counters.map(|it| counter(it, workload)));
    columns.extend(
        workload.extras.iter().map(|extra| {
            column(extra.name.clone(), DataKind::Extra, numbers(&extra.values, dispatches.len()))
        }),
    );
    Columns {
        schema: COLUMNS_SCHEMA,
        path: path.to_owned(),
        kind: workload.generation.describe().to_owned(),
        machine: workload.machine.facts.clone(),
        emulated_by: workload.machine.emulator().map(str::to_owned),
        settings: workload.settings.clone(),
        dispatches: dispatches.len(),
        columns,
        notes: workload.problems.iter().map(Note::from).collect(),
    }
}

fn counter(counter: &Counter, workload: &Workload) -> DataColumn {
    let mut name = counter.run.as_ref().map_or_else(String::new, |run| format!("{run}/"));
    name += &counter.name;
    if let Some(instance) = counter.instance {
        name += &format!("[{instance}]");
    }
    let cells = numbers(&counter.values, workload.dispatches.len());
    DataColumn {
        counter: Some(counter.name.clone()),
        instance: counter.instance,
        run: counter.run.clone(),
        trust: workload.marks.as_ref().map(|marks| marks.of(&counter.name)),
        ..column(name, DataKind::Counter, cells)
    }
}

fn dispatch(name: &str, trust: Option<Mark>, values: DataCells) -> DataColumn {
    DataColumn { trust, ..column(name.to_owned(), DataKind::Dispatch, values) }
}

fn column(name: String, kind: DataKind, values: DataCells) -> DataColumn {
    let cells = match &values {
        DataCells::Text(_) => 0,
        DataCells::Whole(values) => values.iter().filter(|value| value.is_none()).count(),
        DataCells::Numbers(values) => values.iter().filter(|value| value.is_none()).count(),
    };
    let missing = (cells > 0).then(|| MissingCells { cells, reason: NOT_RECORDED.to_owned() });
    DataColumn { name, kind, counter: None, instance: None, run: None, trust: None, missing, values }
}

fn numbers(values: &Values, dispatches: usize) -> DataCells {
    DataCells::Numbers(
        (0..dispatches).map(|row| (row < values.len()).then(|| values.get(row)).flatten()).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Options, read};

    #[test]
    fn every_column_has_a_cell_per_dispatch_and_says_why_some_are_empty() {
        let csv = "Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0],TCC_HIT[1]\n\
                   0,copy(double*),2,1024,256,0,100,300,16,5,7\n1,copy(double*),2,1024,256,0,400,,16,5,\n";
        let folder: Vec<(String, Vec<u8>)> = vec![("pmc_perf.csv".to_owned(), csv.as_bytes().to_vec())];
        let folder: std::collections::BTreeMap<String, Vec<u8>> = folder.into_iter().collect();
        let workload = read(&folder, &Options::default()).unwrap();
        let all = columns(&workload, "DIR", &|_| true);
        assert_eq!(all.dispatches, 2);
        for it in &all.columns {
            let cells = match &it.values {
                DataCells::Text(values) => values.len(),
                DataCells::Whole(values) => values.len(),
                DataCells::Numbers(values) => values.len(),
            };
            assert_eq!(cells, 2, "{}", it.name);
        }
        let named = |name: &str| all.columns.iter().find(|it| it.name == name).unwrap();
        assert_eq!(named("duration_ns").values, DataCells::Numbers(vec![Some(200.0), None]));
        assert_eq!(named("end_ns").missing.as_ref().map(|it| it.cells), Some(1));
        assert_eq!(named("SQ_WAVES").values, DataCells::Numbers(vec![Some(16.0); 2]));
        assert_eq!(named("SQ_WAVES").missing, None);
        assert_eq!(
            (named("TCC_HIT[1]").instance, named("TCC_HIT[1]").counter.as_deref()),
            (Some(1), Some("TCC_HIT"))
        );
        let some = columns(&workload, "DIR", &|name| name == "SQ_WAVES");
        assert!(some.columns.iter().all(|it| it.counter.as_deref() != Some("TCC_HIT")));
    }
}
