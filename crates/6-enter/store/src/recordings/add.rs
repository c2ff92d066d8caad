//! Adds a recording: first its names, which are never removed, then everything else in one transaction.

use super::blobs::{Digest, digest, form_of, pack};
use super::model::{Added, NewRecording};
use super::names::kernel_hash;
use super::statements::{inserted, placeholders};
use super::{Archive, MOST_BYTES};
use crate::engine::{Cell, Dialect, Row, Statements};
use crate::error::StoreError;
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use view::KernelRun;

/// The label that distinguishes recordings with equal files.
const COMMIT: &str = "commit";
/// Most bytes of the name and the value of a label.
const LONGEST_LABEL: (usize, usize) = (100, 1000);
/// Most hashes of one statement.
const AT_ONCE: usize = 500;
/// Bytes of blobs after which a statement is sent.
const MOST_AT_ONCE: usize = 8 << 20;
/// Attempts to add while other processes remove rows that the recording refers to.
const ATTEMPTS: usize = 3;

const BASE: &str = "SELECT id, bytes, packed FROM {s}blobs WHERE form = ?1 AND base IS NULL";
const KNOWN: &str = "SELECT id FROM {s}recordings WHERE identity = ?1";
const INSERT: &str = "INSERT INTO {s}recordings
    (identity, name, path, opened, kind, machine, emulated_by, version, dispatches, bytes, measured, sort, added)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, coalesce(?11, {now}), ?12, {now})
    ON CONFLICT (identity) DO NOTHING RETURNING id";
const LABEL: &str = "INSERT INTO {s}labels (recording, name, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (recording, name) DO UPDATE SET value = excluded.value";
const LABEL_IF_NEW: &str = "INSERT INTO {s}labels (recording, name, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (recording, name) DO NOTHING";
const HASHES: &str = "SELECT r.opened, f.name, b.hash FROM {s}recordings r
    JOIN {s}recording_files f ON f.recording = r.id JOIN {s}blobs b ON b.id = f.blob WHERE r.id = ?1";
const IDENTIFY: &str = "UPDATE {s}recordings SET identity = ?2 WHERE id = ?1";

/// A file, packed.
struct Packed {
    hash: Digest,
    form: Option<Digest>,
    base: Option<i64>,
    bytes: i64,
    packed: Vec<u8>,
}

/// Numbers of the rows that a recording refers to.
struct Known {
    machine: i64,
    kernels: Vec<i64>,
    set: i64,
    normal_set: i64,
}

impl Archive {
    /// Adds a recording, or adds its labels to the one with the same files and commit; newer values replace older ones.
    ///
    /// # Errors
    /// If a file or label is too long, or with the database.
    pub fn add(&mut self, recording: &NewRecording) -> Result<Added, StoreError> {
        self.added(recording, LABEL)
    }

    /// The same, but a label that the recording here has keeps its value.
    pub(super) fn add_missing(&mut self, recording: &NewRecording) -> Result<Added, StoreError> {
        self.added(recording, LABEL_IF_NEW)
    }

    fn added(&mut self, recording: &NewRecording, label: &str) -> Result<Added, StoreError> {
        check(recording)?;
        let hashes: BTreeMap<&str, Digest> =
            recording.files.iter().map(|(name, bytes)| (name.as_str(), digest([&bytes[..]]))).collect();
        let commit = recording.labels.get(COMMIT).map(String::as_str);
        let identity = identity(&recording.opened, commit, &hashes);
        let mut attempt = 1;
        loop {
            match self.attempt(recording, &hashes, &identity, label) {
                // Rows that this process knows may be removed: it asks for them again.
                Err(StoreError::Engine { .. } | StoreError::Damaged { .. }) if attempt < ATTEMPTS => {
                    self.names.clear();
                    self.bases.clear();
                    attempt += 1;
                }
                ended => return ended,
            }
        }
    }

    fn attempt(
        &mut self,
        recording: &NewRecording,
        hashes: &BTreeMap<&str, Digest>,
        identity: &Digest,
        label: &str,
    ) -> Result<Added, StoreError> {
        let known = self.sql(KNOWN);
        if let Some([Cell::Integer(id)]) =
            self.engine.rows(&known, &[Cell::from(&identity[..])])?.first().map(|row| &row[..])
        {
            let id = *id;
            self.write_labels(id, &recording.labels, label)?;
            return Ok(Added { id, is_new: false });
        }
        let packed = self.packed(recording, hashes)?;
        let known = self.known(recording)?;
        let dialect = self.engine.dialect();
        let mut added = None;
        self.engine.transaction(&mut |statements| {
            if let Some((share, _)) = dialect.blobs {
                statements.rows(share, &[])?;
            }
            let row = row_of(recording, identity, known.machine);
            let id = match statements.rows(&dialect.sql(INSERT), &row)?.first().map(|row| &row[..]) {
                Some([Cell::Integer(id)]) => *id,
                // Another process was faster.
                _ => {
                    added = None;
                    return Ok(());
                }
            };
            rows_of(statements, &dialect, (recording, id), &known, &packed)?;
            added = Some(id);
            Ok(())
        })?;
        match added {
            Some(id) => Ok(Added { id, is_new: true }),
            None => {
                let rows = self.engine.rows(&self.sql(KNOWN), &[Cell::from(&identity[..])])?;
                let Some([Cell::Integer(id)]) = rows.first().map(|row| &row[..]) else {
                    return Err(StoreError::Damaged {
                        why: "a recording was removed while it was added".to_owned(),
                    });
                };
                self.write_labels(*id, &recording.labels, label)?;
                Ok(Added { id: *id, is_new: false })
            }
        }
    }

    /// Adds or changes labels of a recording.
    ///
    /// # Errors
    /// If a label is too long, another recording has the same files and the new commit, or with the database.
    pub fn label(&mut self, id: i64, labels: &BTreeMap<String, String>) -> Result<(), StoreError> {
        self.write_labels(id, labels, LABEL)
    }

    fn write_labels(
        &mut self,
        id: i64,
        labels: &BTreeMap<String, String>,
        label: &str,
    ) -> Result<(), StoreError> {
        check_labels(labels)?;
        if labels.is_empty() {
            return Ok(());
        }
        let dialect = self.engine.dialect();
        let sql = dialect.sql(label);
        // The commit is a part of the identity.
        let commit = labels.get(COMMIT).filter(|_| label == LABEL);
        self.engine.transaction(&mut |statements| {
            for (name, value) in labels {
                statements.rows(&sql, &[id.into(), name.as_str().into(), value.as_str().into()])?;
            }
            commit.map_or(Ok(()), |commit| identify(statements, &dialect, id, commit))
        })
    }

    /// Packs the files that the database does not have.
    fn packed<'a>(
        &mut self,
        recording: &'a NewRecording,
        hashes: &BTreeMap<&'a str, Digest>,
    ) -> Result<HashMap<&'a str, Packed>, StoreError> {
        let (base, dialect) = (self.sql(BASE), self.engine.dialect());
        let there = blobs(&mut *self.engine, &dialect, hashes.values())?;
        let mut all = HashMap::new();
        for (name, bytes) in &recording.files {
            let hash = hashes[name.as_str()];
            let (mut form, mut found, mut packed) = (None, None, Vec::new());
            if !there.contains_key(&hash) {
                form = form_of(name, bytes);
                found = match &form {
                    Some(form) => self.bases.of(form, &base, &mut *self.engine)?,
                    None => None,
                };
                packed = pack(name, bytes, found.as_ref())?;
            }
            let base = found.as_ref().map(|it| it.id);
            all.insert(name.as_str(), Packed { hash, form, base, bytes: bytes.len() as i64, packed });
        }
        Ok(all)
    }

    /// Numbers of the names of a recording.
    fn known(&mut self, recording: &NewRecording) -> Result<Known, StoreError> {
        let dialect = self.engine.dialect();
        let names = &mut self.names;
        let mut found = None;
        self.engine
            .transaction(&mut |statements| {
                let machine =
                    names.machine(statements, &dialect, recording.gpu.as_deref(), &recording.facts)?;
                let kernels = names.kernels(statements, &dialect, &recording.kernels)?;
                let set = names.set(statements, &dialect, &recording.quantities)?;
                let normal_set = names.set(statements, &dialect, &recording.normal_quantities)?;
                found = Some(Known { machine, kernels, set, normal_set });
                Ok(())
            })
            .inspect_err(|_| names.clear())?;
        found.ok_or_else(|| StoreError::Damaged { why: "names were not added".to_owned() })
    }
}

/// Refuses files and labels that the engines cannot hold.
fn check(recording: &NewRecording) -> Result<(), StoreError> {
    for (name, bytes) in &recording.files {
        if bytes.len() as u64 > MOST_BYTES {
            let why = format!("it has {} bytes, and {MOST_BYTES} are the most", bytes.len());
            return Err(StoreError::Unstorable { what: name.clone(), why });
        }
    }
    check_labels(&recording.labels)
}

fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), StoreError> {
    for (name, value) in labels {
        let why = if name.is_empty() || name.len() > LONGEST_LABEL.0 {
            format!("the name of a label has 1 to {} bytes", LONGEST_LABEL.0)
        } else if value.len() > LONGEST_LABEL.1 {
            format!("the value of a label has at most {} bytes", LONGEST_LABEL.1)
        } else if name.contains(['=', '\0']) || value.contains('\0') {
            "the name of a label has no `=`, and no label a zero byte".to_owned()
        } else {
            continue;
        };
        return Err(StoreError::Unstorable { what: format!("{name}={value}"), why });
    }
    Ok(())
}

/// Hash that identifies a recording: of the file or run to open, the commit, and the files.
fn identity(opened: &str, commit: Option<&str>, hashes: &BTreeMap<&str, Digest>) -> Digest {
    let files = hashes.iter().flat_map(|(name, hash)| [name.as_bytes(), &hash[..]]);
    digest([opened.as_bytes(), commit.unwrap_or_default().as_bytes()].into_iter().chain(files))
}

/// Gives a recording the identity that it has with a commit.
fn identify(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    id: i64,
    commit: &str,
) -> Result<(), StoreError> {
    let rows = statements.rows(&dialect.sql(HASHES), &[id.into()])?;
    let (mut opened, mut hashes) = ("", BTreeMap::new());
    for row in &rows {
        if let [Cell::Text(it), Cell::Text(name), Cell::Bytes(hash)] = &row[..]
            && let Ok(hash) = Digest::try_from(&hash[..])
        {
            opened = it;
            hashes.insert(name.as_str(), hash);
        }
    }
    let identity = identity(opened, Some(commit), &hashes);
    match statements.rows(&dialect.sql(KNOWN), &[Cell::from(&identity[..])])?.first().map(|row| &row[..]) {
        Some([Cell::Integer(other)]) if *other == id => Ok(()),
        Some([Cell::Integer(other)]) => Err(StoreError::Unstorable {
            what: format!("{COMMIT}={commit}"),
            why: format!("recording {other} has the same files and this commit"),
        }),
        _ => statements.rows(&dialect.sql(IDENTIFY), &[id.into(), Cell::from(&identity[..])]).map(|_| ()),
    }
}

fn row_of(recording: &NewRecording, identity: &Digest, machine: i64) -> Row {
    let bytes: usize = recording.files.values().map(Vec::len).sum();
    vec![
        Cell::from(&identity[..]),
        recording.name.as_str().into(),
        recording.path.as_str().into(),
        recording.opened.as_str().into(),
        recording.kind.as_str().into(),
        machine.into(),
        recording.emulated_by.as_deref().into(),
        recording.version.as_str().into(),
        Cell::Integer(recording.dispatches.cast_signed()),
        Cell::Integer(bytes as i64),
        recording.measured_ms.into(),
        recording.sort.word().into(),
    ]
}

/// Inserts all rows that refer to the row of the recording.
fn rows_of(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    (recording, id): (&NewRecording, i64),
    known: &Known,
    packed: &HashMap<&str, Packed>,
) -> Result<(), StoreError> {
    let number = written(statements, dialect, packed)?;
    let file = |name: &String| {
        let is_code = i64::from(recording.code.contains(name));
        vec![id.into(), name.as_str().into(), number[&packed[name.as_str()].hash].into(), is_code.into()]
    };
    let files: Vec<Row> = recording.files.keys().map(file).collect();
    let begin = "INSERT INTO {s}recording_files (recording, name, blob, is_code) VALUES ";
    inserted(statements, dialect, begin, &files, "")?;
    let runs: Vec<Row> = recording
        .kernels
        .iter()
        .zip(&known.kernels)
        .map(|(run, kernel)| run_row(id, *kernel, known.set, run))
        .collect();
    let begin = "INSERT INTO {s}kernel_runs (recording, kernel, dispatches, grid, workgroup, total_ns, mean_ns, median_ns,
        spread_ns, quantity_set, numbers, times) VALUES ";
    inserted(statements, dialect, begin, &runs, " ON CONFLICT (kernel, recording) DO NOTHING")?;
    rows_of_dashboards(statements, dialect, (recording, id), known)?;
    super::answers::written(statements, dialect, (recording, id))?;
    let number: HashMap<Digest, i64> =
        recording.kernels.iter().zip(&known.kernels).map(|(run, id)| (kernel_hash(&run.name), *id)).collect();
    let finding = |it: &view::StoredFinding| {
        let kernel = it.kernel.as_ref().and_then(|name| number.get(&kernel_hash(name)).copied());
        vec![
            id.into(),
            kernel.into(),
            it.rule.as_str().into(),
            it.severity.as_str().into(),
            it.time_lost_ns.into(),
        ]
    };
    let findings: Vec<Row> = recording.findings.iter().map(finding).collect();
    let begin = "INSERT INTO {s}recording_findings (recording, kernel, rule, severity, time_lost_ns) VALUES ";
    inserted(statements, dialect, begin, &findings, "")?;
    let label =
        |(name, value): (&String, &String)| vec![id.into(), name.as_str().into(), value.as_str().into()];
    let labels: Vec<Row> = recording.labels.iter().map(label).collect();
    inserted(statements, dialect, "INSERT INTO {s}labels (recording, name, value) VALUES ", &labels, "")
}

/// Inserts what only dashboards read.
fn rows_of_dashboards(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    (recording, id): (&NewRecording, i64),
    known: &Known,
) -> Result<(), StoreError> {
    let (mut normals, mut points): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for (run, kernel) in recording.kernels.iter().zip(&known.kernels) {
        if !run.normals.is_empty() {
            let numbers = Cell::Numbers(run.normals.clone());
            normals.push(vec![id.into(), (*kernel).into(), known.normal_set.into(), numbers]);
        }
        points.extend(run.roofline.iter().map(|it| {
            let level = it.level.as_str().into();
            vec![id.into(), (*kernel).into(), level, it.intensity.into(), it.rate.into(), it.bandwidth.into()]
        }));
    }
    let begin = "INSERT INTO {s}kernel_normals (recording, kernel, quantity_set, numbers) VALUES ";
    inserted(statements, dialect, begin, &normals, " ON CONFLICT (kernel, recording) DO NOTHING")?;
    let begin =
        "INSERT INTO {s}roofline_points (recording, kernel, level, intensity, rate, bandwidth) VALUES ";
    inserted(statements, dialect, begin, &points, " ON CONFLICT (recording, kernel, level) DO NOTHING")?;
    let ceiling = |it: &view::StoredCeiling| {
        let kind = if it.is_bandwidth { "bandwidth" } else { "rate" };
        let (name, unit) = (it.name.as_str().into(), it.unit.as_str().into());
        vec![id.into(), kind.into(), name, Cell::Real(it.value), unit, i64::from(it.is_used).into()]
    };
    let ceilings: Vec<Row> = recording.ceilings.iter().map(ceiling).collect();
    let begin = "INSERT INTO {s}roofline_ceilings (recording, kind, name, value, unit, is_used) VALUES ";
    inserted(statements, dialect, begin, &ceilings, "")
}

/// Numbers of the blobs that the database has, by hash.
fn blobs<'a>(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    hashes: impl Iterator<Item = &'a Digest>,
) -> Result<HashMap<Digest, i64>, StoreError> {
    let mut found = HashMap::new();
    let hashes: Vec<Cell> = hashes.map(|it| Cell::from(&it[..])).collect();
    for some in hashes.chunks(AT_ONCE) {
        let text = format!("SELECT id, hash FROM {{s}}blobs WHERE hash IN {}", placeholders(1, some.len()));
        for row in statements.rows(&dialect.sql(&text), some)? {
            if let [Cell::Integer(id), Cell::Bytes(hash)] = &row[..]
                && let Ok(hash) = Digest::try_from(&hash[..])
            {
                found.insert(hash, *id);
            }
        }
    }
    Ok(found)
}

/// Adds the blobs that the database does not have. Returns the numbers of all.
fn written(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    packed: &HashMap<&str, Packed>,
) -> Result<HashMap<Digest, i64>, StoreError> {
    let mut found = blobs(statements, dialect, packed.values().map(|it| &it.hash))?;
    // Only a blob without base is the base of its form. If another process adds the form's base now, or two files of
    // this recording have the form, a blob gets no form.
    for takes_form in [true, false] {
        let mut missing: Vec<&Packed> = packed.values().filter(|it| !found.contains_key(&it.hash)).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        // Processes add blobs in the order of hashes, so that two that add the same blobs cannot deadlock.
        missing.in_order_by_key(|it| it.hash);
        // The blob was there when the files were packed, and was removed: the caller packs them again.
        if missing.iter().any(|it| it.packed.is_empty()) {
            break;
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut bytes = 0;
        for (at, it) in missing.iter().enumerate() {
            let form = it.form.as_ref().filter(|_| takes_form && it.base.is_none());
            rows.push(vec![
                Cell::from(&it.hash[..]),
                form.map_or(Cell::Null, |it| Cell::from(&it[..])),
                it.base.into(),
                it.bytes.into(),
                Cell::Bytes(it.packed.clone()),
            ]);
            bytes += it.packed.len();
            if bytes > MOST_AT_ONCE || at + 1 == missing.len() {
                let begin = "INSERT INTO {s}blobs (hash, form, base, bytes, packed) VALUES ";
                inserted(statements, dialect, begin, &rows, " ON CONFLICT DO NOTHING")?;
                rows.clear();
                bytes = 0;
            }
        }
        found = blobs(statements, dialect, packed.values().map(|it| &it.hash))?;
    }
    match packed.values().any(|it| !found.contains_key(&it.hash)) {
        false => Ok(found),
        true => {
            Err(StoreError::Damaged { why: "a blob was removed while its recording was added".to_owned() })
        }
    }
}

/// Total, mean, median and standard deviation of the known times of a kernel, ns.
pub(super) fn summary_of(run: &KernelRun) -> [Option<f64>; 4] {
    let mut known: Vec<f64> = run.times.iter().flatten().copied().collect();
    known.in_order_by(f64::total_cmp);
    let n = known.len();
    let total: f64 = known.iter().sum();
    let mean = (n > 0).then(|| total / n as f64);
    let median = (n > 0).then(|| (known[(n - 1) / 2] + known[n / 2]) / 2.0);
    let spread = mean
        .filter(|_| n > 1)
        .map(|mean| (known.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt());
    [(n > 0).then_some(total), mean, median, spread]
}

fn run_row(recording: i64, kernel: i64, set: i64, run: &KernelRun) -> Row {
    let [total, mean, median, spread] = summary_of(run);
    vec![
        recording.into(),
        kernel.into(),
        Cell::Integer(run.dispatches.cast_signed()),
        run.grid.into(),
        run.workgroup.into(),
        total.into(),
        mean.into(),
        median.into(),
        spread.into(),
        set.into(),
        Cell::Numbers(run.numbers.clone()),
        Cell::Numbers(run.times.clone()),
    ]
}
