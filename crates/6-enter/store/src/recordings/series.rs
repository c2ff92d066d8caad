//! Metrics of kernels over time.

use super::Archive;
use super::model::{KernelSeries, Point, StoredChange};
use super::read::{having, real, text};
use super::statements::inserted;
use crate::engine::{Cell, Row};
use crate::error::StoreError;
use view::StoredQuantity;

/// The metric that is the median time of a dispatch.
pub const TIME: &str = "time";

const KERNELS: &str = "SELECT id, name, base_name FROM {s}kernels ORDER BY id";

/// `?1` is a kernel. A join adds the label `commit`, because a series has thousands of points.
const POINTS: &str = "SELECT run.recording, ma.gpu, r.emulated_by, r.measured, c.value, run.dispatches, {value}
    FROM {s}kernel_runs run JOIN {s}recordings r ON r.id = run.recording JOIN {s}machines ma ON ma.id = r.machine
    LEFT JOIN {s}labels c ON c.recording = r.id AND c.name = 'commit'";
const TIMES: &str = "run.median_ns, run.spread_ns";
const VALUES: &str = "CASE WHEN m.position IS NULL THEN NULL ELSE {element_of_series} END, NULL";
/// `?2` is a quantity.
const PLACE: &str =
    " LEFT JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set AND m.quantity = ?2";

/// Metrics before counters; the newest unit.
const QUANTITY: &str =
    "SELECT id, unit FROM {s}quantities WHERE name = ?1 AND kind <> 'peak' ORDER BY kind DESC, id DESC";

const VALUES_OF: &str = "SELECT run.quantity_set, run.numbers FROM {s}kernel_runs run WHERE run.kernel = ?1 AND run.recording = ?2";
const CODE: &str = "SELECT b.hash FROM {s}recording_files f JOIN {s}blobs b ON b.id = f.blob
    WHERE f.recording = ?1 AND f.is_code = 1 ORDER BY b.hash";

impl Archive {
    /// Counters and metrics of a kernel in a recording that have a value.
    ///
    /// # Errors
    /// With the database.
    pub fn values(&mut self, kernel: i64, recording: i64) -> Result<Vec<(StoredQuantity, f64)>, StoreError> {
        let rows = self.engine.rows(&self.sql(VALUES_OF), &[kernel.into(), recording.into()])?;
        let Some([Cell::Integer(set), numbers]) = rows.first().map(|row| &row[..]) else {
            return Ok(Vec::new());
        };
        let numbers = super::copy::numbers(numbers).ok_or_else(|| self.unreadable("kernel_runs"))?;
        let names = self.set(*set)?;
        Ok(names.into_iter().zip(numbers).filter_map(|(name, value)| Some((name, value?))).collect())
    }

    /// Hashes of a recording's code objects.
    ///
    /// # Errors
    /// With the database.
    pub fn code(&mut self, recording: i64) -> Result<Vec<Vec<u8>>, StoreError> {
        let rows = self.engine.rows(&self.sql(CODE), &[recording.into()])?;
        let hash = |row: &Row| match &row[..] {
            [Cell::Bytes(hash)] => Some(hash.clone()),
            _ => None,
        };
        rows.iter().map(hash).collect::<Option<_>>().ok_or_else(|| self.unreadable("blobs"))
    }

    /// Names of all kernels, each with its number and its name without arguments.
    ///
    /// # Errors
    /// With the database.
    pub fn kernels(&mut self) -> Result<Vec<(i64, String, String)>, StoreError> {
        let rows = self.engine.rows(&self.sql(KERNELS), &[])?;
        let one = |row: &Row| match &row[..] {
            [Cell::Integer(id), Cell::Text(name), Cell::Text(base)] => {
                Some((*id, name.clone(), base.clone()))
            }
            _ => None,
        };
        rows.iter().map(one).collect::<Option<_>>().ok_or_else(|| self.unreadable("kernels"))
    }

    /// Values of a kernel in all recordings with some labels, oldest first; `metric` is [`TIME`], a metric or a counter.
    ///
    /// # Errors
    /// If no recording has the metric, or with the database.
    pub fn series(
        &mut self,
        kernel: i64,
        metric: &str,
        labels: &[(String, String)],
    ) -> Result<KernelSeries, StoreError> {
        let mut cells = vec![Cell::from(kernel)];
        let (value, place, unit) = if metric == TIME {
            (TIMES, "", "ns".to_owned())
        } else {
            let rows = self.engine.rows(&self.sql(QUANTITY), &[metric.into()])?;
            let Some([Cell::Integer(id), Cell::Text(unit)]) = rows.first().map(|row| &row[..]) else {
                return Err(StoreError::NoMetric { name: metric.to_owned() });
            };
            cells.push(Cell::from(*id));
            (VALUES, PLACE, unit.clone())
        };
        let (condition, labels) = having(labels, cells.len());
        cells.extend(labels);
        let points = POINTS.replace("{value}", value);
        let sql =
            self.sql(&format!("{points}{place} WHERE run.kernel = ?1{condition} ORDER BY r.measured, r.id"));
        let rows = self.engine.rows(&sql, &cells)?;
        let points = rows.iter().map(point).collect::<Option<_>>();
        let points = points.ok_or_else(|| self.unreadable("kernel_runs"))?;
        Ok(KernelSeries { unit, points })
    }
}

impl Archive {
    /// Replaces the changes of level of a metric of kernels.
    ///
    /// # Errors
    /// With the database.
    pub fn set_changes(
        &mut self,
        metric: &str,
        kernels: &[i64],
        changes: &[StoredChange],
    ) -> Result<(), StoreError> {
        let dialect = self.engine.dialect();
        let delete = dialect.sql("DELETE FROM {s}level_changes WHERE metric = ?1 AND kernel = ?2");
        let row = |it: &StoredChange| {
            vec![
                metric.into(),
                it.kernel.into(),
                it.recording.into(),
                Cell::Real(it.before),
                Cell::Real(it.since),
                it.percent.into(),
                it.chance.into(),
            ]
        };
        let rows: Vec<Row> = changes.iter().map(row).collect();
        let begin = "INSERT INTO {s}level_changes
            (metric, kernel, recording, value_before, value_since, percent, chance) VALUES ";
        self.engine.transaction(&mut |statements| {
            for kernel in kernels {
                statements.rows(&delete, &[metric.into(), (*kernel).into()])?;
            }
            inserted(statements, &dialect, begin, &rows, "")
        })
    }
}

fn point(row: &Row) -> Option<Point> {
    let [
        Cell::Integer(recording),
        gpu,
        emulated_by,
        Cell::Integer(measured_ms),
        commit,
        Cell::Integer(dispatches),
        value,
        spread,
    ] = &row[..]
    else {
        return None;
    };
    Some(Point {
        recording: *recording,
        gpu: text(gpu),
        is_emulated: text(emulated_by).is_some(),
        measured_ms: *measured_ms,
        commit: text(commit),
        value: real(value),
        spread: real(spread),
        dispatches: *dispatches,
    })
}
