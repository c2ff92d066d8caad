//! Copies a recording to another database, as it was added.

use super::Archive;
use super::model::{Added, NewRecording};
use super::read::real;
use crate::engine::{Cell, Row};
use crate::error::StoreError;
use std::collections::{BTreeMap, HashMap};
use view::{KernelRun, QuantityKind, StoredCeiling, StoredPoint, StoredQuantity};

const MACHINE: &str =
    "SELECT m.gpu, m.facts FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine WHERE r.id = ?1";
const RUNS: &str = "SELECT k.name, k.base_name, run.dispatches, run.grid, run.workgroup, run.quantity_set, run.numbers, run.times
    FROM {s}kernel_runs run JOIN {s}kernels k ON k.id = run.kernel WHERE run.recording = ?1
    ORDER BY coalesce(run.total_ns, 0) DESC, k.id";
const NORMALS: &str = "SELECT k.name, run.quantity_set, run.numbers
    FROM {s}kernel_normals run JOIN {s}kernels k ON k.id = run.kernel WHERE run.recording = ?1";
const POINTS: &str = "SELECT k.name, p.level, p.intensity, p.rate, p.bandwidth
    FROM {s}roofline_points p JOIN {s}kernels k ON k.id = p.kernel WHERE p.recording = ?1";
const CEILINGS: &str =
    "SELECT kind, name, value, unit, is_used FROM {s}roofline_ceilings WHERE recording = ?1";
const SET: &str =
    "SELECT q.kind, q.name, q.unit FROM {s}quantity_set_members m JOIN {s}quantities q ON q.id = m.quantity
    WHERE m.quantity_set = ?1 ORDER BY m.position";

/// Kernels of a recording, with the names of their numbers.
pub(super) struct KernelNumbers {
    pub(super) quantities: Vec<StoredQuantity>,
    pub(super) normal_quantities: Vec<StoredQuantity>,
    pub(super) kernels: Vec<KernelRun>,
}

impl Archive {
    /// Adds a recording of this database to another one, with its labels and times. Labels there keep their values.
    ///
    /// # Errors
    /// If there is none, or with one of the databases.
    pub fn copy(&mut self, wanted: &str, to: &mut Archive) -> Result<Added, StoreError> {
        let whole = self.whole(wanted)?;
        to.add_missing(&whole)
    }

    /// Members of a set, in their order.
    pub(super) fn set(&mut self, set: i64) -> Result<Vec<StoredQuantity>, StoreError> {
        let rows = self.engine.rows(&self.sql(SET), &[set.into()])?;
        rows.iter().map(quantity).collect::<Option<_>>().ok_or_else(|| self.unreadable("quantities"))
    }

    fn whole(&mut self, wanted: &str) -> Result<NewRecording, StoreError> {
        let stored = self.show(wanted)?;
        let id = [Cell::Integer(stored.entry.id)];
        let machine = self.engine.rows(&self.sql(MACHINE), &id)?;
        let Some([gpu, Cell::Text(facts)]) = machine.first().map(|row| &row[..]) else {
            return Err(self.unreadable("machines"));
        };
        let gpu = match gpu {
            Cell::Text(it) => Some(it.clone()),
            _ => None,
        };
        let KernelNumbers { quantities, normal_quantities, kernels } = self.numbers_of(stored.entry.id)?;
        let ceilings = self.engine.rows(&self.sql(CEILINGS), &id)?;
        let ceilings = ceilings.iter().map(ceiling).collect::<Option<_>>();
        let mut files = BTreeMap::new();
        self.files(stored.entry.id, |name, bytes| {
            files.insert(name.to_owned(), bytes);
            Ok::<(), StoreError>(())
        })?;
        let facts = super::names::facts_of(facts).ok_or_else(|| self.unreadable("machines"))?;
        let entry = stored.entry;
        Ok(NewRecording {
            sort: entry.sort,
            configurations: self.configurations(entry.id, false)?,
            cells: stored.cells,
            name: entry.name,
            path: entry.path,
            opened: entry.opened,
            kind: entry.kind,
            gpu,
            facts,
            emulated_by: entry.emulated_by,
            version: entry.version,
            dispatches: u64::try_from(entry.dispatches).unwrap_or(0),
            measured_ms: Some(entry.measured_ms),
            files,
            code: stored.files.into_iter().filter(|it| it.is_code).map(|it| it.name).collect(),
            quantities,
            normal_quantities,
            ceilings: ceilings.ok_or_else(|| self.unreadable("roofline_ceilings"))?,
            kernels,
            findings: stored.findings,
            labels: entry.labels,
        })
    }

    /// Kernels of a recording with their numbers.
    pub(super) fn numbers_of(&mut self, recording: i64) -> Result<KernelNumbers, StoreError> {
        let rows = self.engine.rows(&self.sql(RUNS), &[recording.into()])?;
        let mut kernels =
            rows.iter().map(run).collect::<Option<Vec<_>>>().ok_or_else(|| self.unreadable("kernel_runs"))?;
        let quantities = match kernels.first() {
            Some((set, _)) => self.set(*set)?,
            None => Vec::new(),
        };
        let normal_quantities = self.dashboards_of(recording, &mut kernels)?;
        let kernels = kernels.into_iter().map(|(_, run)| run).collect();
        Ok(KernelNumbers { quantities, normal_quantities, kernels })
    }

    /// Adds numbers per wave, cycle and second and places in the roofline to kernels. Returns the names of the numbers.
    fn dashboards_of(
        &mut self,
        recording: i64,
        kernels: &mut [(i64, KernelRun)],
    ) -> Result<Vec<StoredQuantity>, StoreError> {
        let place: HashMap<String, usize> =
            kernels.iter().enumerate().map(|(at, (_, run))| (run.name.clone(), at)).collect();
        let mut set = None;
        for row in self.engine.rows(&self.sql(NORMALS), &[recording.into()])? {
            let [Cell::Text(name), Cell::Integer(own), values] = &row[..] else {
                return Err(self.unreadable("kernel_normals"));
            };
            set = Some(*own);
            if let Some(at) = place.get(name) {
                let values = numbers(values).ok_or_else(|| self.unreadable("kernel_normals"))?;
                kernels[*at].1.normals = values;
            }
        }
        for row in self.engine.rows(&self.sql(POINTS), &[recording.into()])? {
            let [Cell::Text(name), Cell::Text(level), intensity, rate, bandwidth] = &row[..] else {
                return Err(self.unreadable("roofline_points"));
            };
            if let Some(at) = place.get(name) {
                let (intensity, rate, bandwidth) = (real(intensity), real(rate), real(bandwidth));
                let level = level.clone();
                kernels[*at].1.roofline.push(StoredPoint { level, intensity, rate, bandwidth });
            }
        }
        set.map_or(Ok(Vec::new()), |set| self.set(set))
    }
}

fn ceiling(row: &Row) -> Option<StoredCeiling> {
    let [Cell::Text(kind), Cell::Text(name), value, Cell::Text(unit), Cell::Integer(is_used)] = &row[..]
    else {
        return None;
    };
    Some(StoredCeiling {
        is_bandwidth: kind == "bandwidth",
        name: name.clone(),
        value: real(value)?,
        unit: unit.clone(),
        is_used: *is_used != 0,
    })
}

fn run(row: &Row) -> Option<(i64, KernelRun)> {
    let [
        Cell::Text(name),
        Cell::Text(base_name),
        Cell::Integer(dispatches),
        grid,
        workgroup,
        Cell::Integer(set),
        values,
        times,
    ] = &row[..]
    else {
        return None;
    };
    let run = KernelRun {
        name: name.clone(),
        base_name: base_name.clone(),
        dispatches: u64::try_from(*dispatches).ok()?,
        grid: real(grid),
        workgroup: real(workgroup),
        times: numbers(times)?,
        numbers: numbers(values)?,
        normals: Vec::new(),
        roofline: Vec::new(),
    };
    Some((*set, run))
}

/// A list of numbers: an array in PostgreSQL, text of JSON in SQLite.
pub(super) fn numbers(cell: &Cell) -> Option<Vec<Option<f64>>> {
    match cell {
        Cell::Numbers(it) => Some(it.clone()),
        Cell::Text(text) => match text.strip_prefix('[')?.strip_suffix(']')? {
            "" => Some(Vec::new()),
            list => list
                .split(',')
                .map(|it| if it == "null" { Some(None) } else { it.parse().ok().map(Some) })
                .collect(),
        },
        _ => None,
    }
}

fn quantity(row: &Row) -> Option<StoredQuantity> {
    let [Cell::Text(kind), Cell::Text(name), Cell::Text(unit)] = &row[..] else { return None };
    let kind = QuantityKind::ALL.into_iter().find(|it| it.word() == kind)?;
    Some(StoredQuantity { kind, name: name.clone(), unit: unit.clone() })
}
