//! Reads recordings and removes them.

use super::Archive;
use super::blobs::{Base, unpack};
use super::model::{Selection, Stored};
use crate::engine::{Cell, Row};
use crate::error::StoreError;
use std::collections::{BTreeMap, HashMap};
use view::{StoredFile, StoredFinding, StoredKernel, StoredRecording, StoredSort};

const ENTRIES: &str =
    "SELECT r.id, r.name, r.path, r.opened, r.kind, m.gpu, r.emulated_by, r.version, r.dispatches, r.bytes,
    r.measured, r.added, r.sort FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine";
const LABELS: &str = "SELECT recording, name, value FROM {s}labels";
const FILES: &str =
    "SELECT f.name, b.bytes, f.is_code FROM {s}recording_files f JOIN {s}blobs b ON b.id = f.blob
    WHERE f.recording = ?1 ORDER BY f.name";
const KERNELS: &str =
    "SELECT k.name, r.dispatches, r.total_ns, r.median_ns, r.spread_ns FROM {s}kernel_runs r
    JOIN {s}kernels k ON k.id = r.kernel WHERE r.recording = ?1 ORDER BY coalesce(r.total_ns, 0) DESC, k.id";
const FINDINGS: &str = "SELECT k.name, f.rule, f.severity, f.time_lost_ns FROM {s}recording_findings f
    LEFT JOIN {s}kernels k ON k.id = f.kernel WHERE f.recording = ?1 ORDER BY coalesce(f.time_lost_ns, 0) DESC, f.rule";
const BLOBS: &str =
    "SELECT f.name, b.base, b.bytes, b.packed FROM {s}recording_files f JOIN {s}blobs b ON b.id = f.blob
    WHERE f.recording = ?1 ORDER BY f.name";
const BASE: &str = "SELECT bytes, packed FROM {s}blobs WHERE id = ?1 AND base IS NULL";
const REMOVE: &str = "DELETE FROM {s}recordings WHERE id = ?1 RETURNING id";
const SWEEP: [&str; 2] = [
    "DELETE FROM {s}blobs WHERE base IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM {s}recording_files f WHERE f.blob = {s}blobs.id) RETURNING id",
    "DELETE FROM {s}blobs WHERE base IS NULL
       AND NOT EXISTS (SELECT 1 FROM {s}recording_files f WHERE f.blob = {s}blobs.id)
       AND NOT EXISTS (SELECT 1 FROM {s}blobs other WHERE other.base = {s}blobs.id) RETURNING id",
];

impl Archive {
    /// Recordings with all labels of a selection, oldest first.
    ///
    /// # Errors
    /// With the database.
    pub fn list(&mut self, selection: &Selection) -> Result<Vec<StoredRecording>, StoreError> {
        let (mut condition, mut cells) = having(&selection.labels, 0);
        if let Some(sort) = selection.sort {
            cells.push(sort.word().into());
            condition += &format!(" AND r.sort = ?{}", cells.len());
        }
        let order = " ORDER BY r.measured DESC, r.id DESC";
        let limit = selection.newest.map_or_else(String::new, |it| format!(" LIMIT {it}"));
        let sql = self.sql(&format!("{ENTRIES} WHERE 1 = 1{condition}{order}{limit}"));
        let rows = self.engine.rows(&sql, &cells)?;
        let mut all = rows
            .iter()
            .map(entry)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| self.unreadable("recordings"))?;
        all.reverse();
        let labels = match &all[..] {
            [] => Vec::new(),
            [one] => {
                self.engine.rows(&self.sql(&format!("{LABELS} WHERE recording = ?1")), &[one.id.into()])?
            }
            _ => self.engine.rows(&self.sql(LABELS), &[])?,
        };
        let place: HashMap<i64, usize> = all.iter().enumerate().map(|(at, it)| (it.id, at)).collect();
        for row in labels {
            if let [Cell::Integer(id), Cell::Text(name), Cell::Text(value)] = &row[..]
                && let Some(at) = place.get(id)
            {
                all[*at].labels.insert(name.clone(), value.clone());
            }
        }
        Ok(all)
    }

    /// The recording of an address: its number, or `label=NAME=VALUE` for the newest with the label.
    ///
    /// # Errors
    /// If there is none, or with the database.
    pub fn resolve(&mut self, wanted: &str) -> Result<StoredRecording, StoreError> {
        let selection = match wanted.strip_prefix("label=") {
            Some(label) => Some(label.split_once('=').unwrap_or((label, ""))),
            None => None,
        };
        let found = match (selection, wanted.parse::<i64>()) {
            (Some((name, value)), _) => {
                let labels = vec![(name.to_owned(), value.to_owned())];
                self.list(&Selection { labels, newest: Some(1), sort: Some(StoredSort::Recording) })?.pop()
            }
            (None, Ok(id)) => {
                let sql = self.sql(&format!("{ENTRIES} WHERE r.id = ?1"));
                let rows = self.engine.rows(&sql, &[id.into()])?;
                let mut found = rows.first().and_then(entry);
                if let Some(found) = &mut found {
                    let labels = self.sql(&format!("{LABELS} WHERE recording = ?1"));
                    for row in self.engine.rows(&labels, &[id.into()])? {
                        if let [_, Cell::Text(name), Cell::Text(value)] = &row[..] {
                            found.labels.insert(name.clone(), value.clone());
                        }
                    }
                }
                found
            }
            (None, Err(_)) => None,
        };
        let place = self.engine.place().to_owned();
        found.ok_or_else(|| StoreError::NoRecording { place, wanted: wanted.to_owned() })
    }

    /// A recording with its kernels, files and findings.
    ///
    /// # Errors
    /// If there is none, or with the database.
    pub fn show(&mut self, wanted: &str) -> Result<Stored, StoreError> {
        let entry = self.resolve(wanted)?;
        let id = [Cell::Integer(entry.id)];
        let kernels = self.engine.rows(&self.sql(KERNELS), &id)?;
        let files = self.engine.rows(&self.sql(FILES), &id)?;
        let findings = self.engine.rows(&self.sql(FINDINGS), &id)?;
        let (configurations, cells) = (self.configurations(entry.id, true)?, self.cells(entry.id)?);
        let stored = |entry| {
            Some(Stored {
                entry,
                kernels: kernels.iter().map(kernel).collect::<Option<_>>()?,
                files: files.iter().map(file).collect::<Option<_>>()?,
                findings: findings.iter().map(finding).collect::<Option<_>>()?,
                configurations,
                cells,
            })
        };
        stored(entry).ok_or_else(|| self.unreadable("kernel_runs"))
    }

    /// Calls `take` with the name and bytes of each file of a recording.
    ///
    /// # Errors
    /// If `take` fails, or with the database.
    pub fn files<E: From<StoreError>>(
        &mut self,
        id: i64,
        mut take: impl FnMut(&str, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let rows = self.engine.rows(&self.sql(BLOBS), &[id.into()])?;
        let mut bases: HashMap<i64, Base> = HashMap::new();
        for row in rows {
            let [Cell::Text(name), base, Cell::Integer(bytes), Cell::Bytes(packed)] = &row[..] else {
                return Err(self.unreadable("blobs").into());
            };
            let base = match base {
                Cell::Integer(id) if !bases.contains_key(id) => {
                    let base = self.base(*id)?;
                    bases.insert(*id, base.clone());
                    Some(base)
                }
                Cell::Integer(id) => bases.get(id).cloned(),
                _ => None,
            };
            let unpacked = unpack(packed, base.as_ref(), *bytes)?;
            take(name, unpacked)?;
        }
        Ok(())
    }

    fn base(&mut self, id: i64) -> Result<Base, StoreError> {
        let rows = self.engine.rows(&self.sql(BASE), &[id.into()])?;
        let Some([Cell::Integer(bytes), Cell::Bytes(packed)]) = rows.first().map(|row| &row[..]) else {
            return Err(StoreError::Damaged {
                why: format!("blob {id}, which others are packed against, is not there"),
            });
        };
        Ok(Base::new(id, unpack(packed, None, *bytes)?))
    }

    /// Removes a recording. Its files stay until [`Archive::compact`], because other recordings may have them too.
    ///
    /// # Errors
    /// If there is none, or with the database.
    pub fn remove(&mut self, wanted: &str) -> Result<StoredRecording, StoreError> {
        let entry = self.resolve(wanted)?;
        self.engine.rows(&self.sql(REMOVE), &[entry.id.into()])?;
        Ok(entry)
    }

    /// Removes files that no recording has, and frees their space. Returns their number.
    ///
    /// # Errors
    /// With the database.
    pub fn compact(&mut self) -> Result<usize, StoreError> {
        let sweep = SWEEP.map(|it| self.sql(it));
        let lock = self.engine.dialect().blobs.map(|(_, alone)| alone);
        let mut removed = 0;
        self.engine.transaction(&mut |statements| {
            removed = 0;
            if let Some(lock) = lock {
                statements.rows(lock, &[])?;
            }
            for sql in &sweep {
                removed += statements.rows(sql, &[])?.len();
            }
            Ok(())
        })?;
        self.bases.clear();
        self.engine.vacuum()?;
        Ok(removed)
    }
}

/// Conditions that a recording `r` has all labels, and their parameters, numbered after the first `before`.
pub(super) fn having(labels: &[(String, String)], before: usize) -> (String, Vec<Cell>) {
    let mut text = String::new();
    let mut cells = Vec::new();
    for (name, value) in labels {
        let at = before + cells.len() + 1;
        text += &format!(
            " AND EXISTS (SELECT 1 FROM {{s}}labels l WHERE l.recording = r.id AND l.name = ?{at} AND l.value = ?{})",
            at + 1
        );
        cells.extend([Cell::from(name.as_str()), Cell::from(value.as_str())]);
    }
    (text, cells)
}

pub(super) fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(it) => Some(it.clone()),
        _ => None,
    }
}

pub(super) fn real(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Real(it) => Some(*it),
        Cell::Integer(it) => Some(*it as f64),
        _ => None,
    }
}

fn whole(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Integer(it) => Some(*it),
        _ => None,
    }
}

fn entry(row: &Row) -> Option<StoredRecording> {
    let [id, name, path, opened, kind, gpu, emulated_by, version, dispatches, bytes, measured, added, sort] =
        &row[..]
    else {
        return None;
    };
    Some(StoredRecording {
        id: whole(id)?,
        sort: StoredSort::ALL.into_iter().find(|it| text(sort).as_deref() == Some(it.word()))?,
        name: text(name)?,
        path: text(path)?,
        opened: text(opened)?,
        kind: text(kind)?,
        gpu: text(gpu),
        emulated_by: text(emulated_by),
        version: text(version)?,
        dispatches: whole(dispatches)?,
        bytes: whole(bytes)?,
        measured_ms: whole(measured)?,
        added_ms: whole(added)?,
        labels: BTreeMap::new(),
    })
}

fn kernel(row: &Row) -> Option<StoredKernel> {
    let [name, dispatches, total, median, spread] = &row[..] else { return None };
    Some(StoredKernel {
        name: text(name)?,
        dispatches: whole(dispatches)?,
        total_ns: real(total),
        median_ns: real(median),
        spread_ns: real(spread),
    })
}

fn file(row: &Row) -> Option<StoredFile> {
    let [name, bytes, is_code] = &row[..] else { return None };
    Some(StoredFile { name: text(name)?, bytes: whole(bytes)?, is_code: whole(is_code)? != 0 })
}

fn finding(row: &Row) -> Option<StoredFinding> {
    let [kernel, rule, severity, lost] = &row[..] else { return None };
    Some(StoredFinding {
        kernel: text(kernel),
        rule: text(rule)?,
        severity: text(severity)?,
        time_lost_ns: real(lost),
    })
}
