//! Tables of recordings, as one step of the schema.
//!
//! The large tables have numbers instead of names. A kernel of a recording is one row: its counters and metrics are one
//! list of numbers, whose names are a set that recordings share, because a row per number would take ten times the space
//! of the files. Views show one row per number.

/// Statements of the step.
pub(crate) const RECORDINGS: &[&str] = &[
    "CREATE TABLE {s}machines (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        gpu TEXT,
        facts TEXT NOT NULL
    )",
    "CREATE TABLE {s}kernels (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        name TEXT NOT NULL,
        base_name TEXT NOT NULL
    )",
    "CREATE TABLE {s}quantities (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        unit TEXT NOT NULL
    )",
    "CREATE TABLE {s}quantity_sets (
        id {serial},
        hash {bytes} NOT NULL UNIQUE
    )",
    "CREATE TABLE {s}quantity_set_members (
        quantity_set BIGINT NOT NULL REFERENCES {s}quantity_sets (id),
        position BIGINT NOT NULL,
        quantity BIGINT NOT NULL REFERENCES {s}quantities (id),
        PRIMARY KEY (quantity_set, position)
    )",
    "CREATE TABLE {s}recordings (
        id {serial},
        identity {bytes} NOT NULL UNIQUE,
        name TEXT NOT NULL,
        path TEXT NOT NULL,
        opened TEXT NOT NULL,
        kind TEXT NOT NULL,
        machine BIGINT NOT NULL REFERENCES {s}machines (id),
        emulated_by TEXT,
        version TEXT NOT NULL,
        dispatches BIGINT NOT NULL,
        bytes BIGINT NOT NULL,
        measured BIGINT NOT NULL,
        added BIGINT NOT NULL
    )",
    // Other blobs are packed against a blob with a `form`: files of one form differ little.
    "CREATE TABLE {s}blobs (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        form {bytes} UNIQUE,
        base BIGINT REFERENCES {s}blobs (id),
        bytes BIGINT NOT NULL,
        packed {bytes} NOT NULL
    )",
    "CREATE INDEX blobs_base ON {s}blobs (base) WHERE base IS NOT NULL",
    "CREATE TABLE {s}recording_files (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        blob BIGINT NOT NULL REFERENCES {s}blobs (id),
        is_code BIGINT NOT NULL
    )",
    "CREATE INDEX recording_files_recording ON {s}recording_files (recording)",
    "CREATE INDEX recording_files_blob ON {s}recording_files (blob)",
    "CREATE TABLE {s}labels (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (recording, name)
    )",
    "CREATE INDEX labels_value ON {s}labels (name, value)",
    "CREATE TABLE {s}kernel_runs (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        dispatches BIGINT NOT NULL,
        grid DOUBLE PRECISION,
        workgroup DOUBLE PRECISION,
        total_ns DOUBLE PRECISION,
        mean_ns DOUBLE PRECISION,
        median_ns DOUBLE PRECISION,
        spread_ns DOUBLE PRECISION,
        quantity_set BIGINT NOT NULL REFERENCES {s}quantity_sets (id),
        numbers {numbers} NOT NULL,
        times {numbers} NOT NULL,
        PRIMARY KEY (kernel, recording)
    )",
    "{inline_numbers}",
    "CREATE INDEX kernel_runs_recording ON {s}kernel_runs (recording)",
    "CREATE TABLE {s}recording_findings (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT REFERENCES {s}kernels (id),
        rule TEXT NOT NULL,
        severity TEXT NOT NULL,
        time_lost_ns DOUBLE PRECISION
    )",
    "CREATE INDEX recording_findings_recording ON {s}recording_findings (recording)",
    "CREATE VIEW {s}counter_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'counter'",
    "CREATE VIEW {s}metric_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'metric'",
    "CREATE VIEW {s}peak_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'peak'",
    "CREATE VIEW {s}dispatch_times AS
        SELECT run.recording, run.kernel, {place} AS dispatch, e.value AS ns FROM {s}kernel_runs run, {each}",
];

/// Tables and views of dashboards beside the tables of recordings: metrics per wave, cycle and second, rooflines, changes
/// of level.
pub(crate) const DASHBOARDS: &[&str] = &[
    // A row of its own per kernel, so that a series of a metric does not read the numbers that it does not need.
    "CREATE TABLE {s}kernel_normals (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        quantity_set BIGINT NOT NULL REFERENCES {s}quantity_sets (id),
        numbers {numbers} NOT NULL,
        PRIMARY KEY (kernel, recording)
    )",
    "{fast_numbers}",
    "CREATE INDEX kernel_normals_recording ON {s}kernel_normals (recording)",
    "CREATE TABLE {s}roofline_ceilings (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        value DOUBLE PRECISION NOT NULL,
        unit TEXT NOT NULL,
        is_used BIGINT NOT NULL,
        PRIMARY KEY (recording, kind, name)
    )",
    "CREATE TABLE {s}roofline_points (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        level TEXT NOT NULL,
        intensity DOUBLE PRECISION,
        rate DOUBLE PRECISION,
        bandwidth DOUBLE PRECISION,
        PRIMARY KEY (recording, kernel, level)
    )",
    "CREATE TABLE {s}level_changes (
        metric TEXT NOT NULL,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        value_before DOUBLE PRECISION NOT NULL,
        value_since DOUBLE PRECISION NOT NULL,
        percent DOUBLE PRECISION,
        chance DOUBLE PRECISION,
        PRIMARY KEY (metric, kernel, recording)
    )",
    "CREATE INDEX level_changes_recording ON {s}level_changes (recording)",
    "CREATE VIEW {s}normal_values AS
        SELECT run.recording, run.kernel, q.kind AS normal_unit, q.name, q.unit, {element} AS value
        FROM {s}kernel_normals run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity",
    // The word of a unit is replaced where the text ends in `/norm`.
    "CREATE VIEW {s}values_by_unit AS
        SELECT v.recording, v.kernel, v.name, 'per_kernel' AS normal_unit, replace(v.unit, '/norm', ' per kernel') AS unit, v.value
        FROM {s}metric_values v
        UNION ALL SELECT n.recording, n.kernel, n.name, n.normal_unit, replace(n.unit, '/norm', ' ' || replace(n.normal_unit, '_', ' ')), n.value
        FROM {s}normal_values n
        UNION ALL SELECT v.recording, v.kernel, v.name, u.normal_unit, v.unit, v.value
        FROM {s}metric_values v CROSS JOIN (SELECT 'per_wave' AS normal_unit UNION ALL SELECT 'per_cycle' UNION ALL SELECT 'per_second') u
        WHERE v.unit NOT LIKE '%/norm'",
    "CREATE VIEW {s}recordings_with_labels AS
        SELECT r.id, r.name, coalesce(m.gpu, 'not recorded') AS gpu,
            CASE WHEN r.emulated_by IS NULL THEN 'GPU' ELSE 'emulator' END AS made_by, r.dispatches, r.measured, r.added,
            c.value AS revision, b.value AS branch
        FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine
        LEFT JOIN {s}labels c ON c.recording = r.id AND c.name = 'commit'
        LEFT JOIN {s}labels b ON b.recording = r.id AND b.name = 'branch'",
    "CREATE VIEW {s}series_values AS
        SELECT recording, kernel, 'time' AS name, 'ns' AS unit, median_ns AS value, spread_ns AS spread FROM {s}kernel_runs
        UNION ALL SELECT recording, kernel, name, unit, value, NULL FROM {s}metric_values
        UNION ALL SELECT recording, kernel, name, unit, value, NULL FROM {s}counter_values",
    // Results are text of the tuner: an object with the times of the runs.
    "CREATE VIEW {s}tune_results AS
        SELECT s.id AS study, t.sequence, t.finished, t.worker, t.population, t.started, t.ended,
            coalesce(t.failure, CASE WHEN t.result LIKE '%\"failed\":%' THEN 'failed' END) AS failure,
            CASE WHEN t.result LIKE '{\"runs_us\":[%' THEN {first_run} END AS us
        FROM {s}tune_studies s JOIN {s}tune_tasks t ON t.study = s.id WHERE t.state = 2",
];

/// Tunings, timelines and answers beside recordings, as rows of `recordings` of another sort.
pub(crate) const ANSWERS: &[&str] = &[
    "ALTER TABLE {s}recordings ADD COLUMN sort TEXT NOT NULL DEFAULT 'recording'",
    "CREATE TABLE {s}tuned_configurations (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        study TEXT NOT NULL,
        configuration TEXT NOT NULL,
        us DOUBLE PRECISION,
        status TEXT NOT NULL,
        why TEXT,
        PRIMARY KEY (recording, sequence)
    )",
    "CREATE TABLE {s}answer_cells (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        place BIGINT NOT NULL,
        table_title TEXT NOT NULL,
        line BIGINT NOT NULL,
        column_title TEXT NOT NULL,
        unit TEXT NOT NULL,
        value DOUBLE PRECISION,
        words TEXT,
        PRIMARY KEY (recording, place)
    )",
    "DROP VIEW {s}recordings_with_labels",
    // Answers are not recordings: dashboards of recordings do not show them.
    "CREATE VIEW {s}recordings_with_labels AS
        SELECT r.id, r.name, coalesce(m.gpu, 'not recorded') AS gpu,
            CASE WHEN r.emulated_by IS NULL THEN 'GPU' ELSE 'emulator' END AS made_by, r.dispatches, r.measured, r.added,
            c.value AS revision, b.value AS branch
        FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine
        LEFT JOIN {s}labels c ON c.recording = r.id AND c.name = 'commit'
        LEFT JOIN {s}labels b ON b.recording = r.id AND b.name = 'branch'
        WHERE r.sort = 'recording'",
    "CREATE VIEW {s}tunings AS
        SELECT t.recording, r.name, coalesce(m.gpu, 'not recorded') AS gpu, t.study, count(*) AS configurations,
            count(t.us) AS timed, min(t.us) AS best_us, r.measured, r.added
        FROM {s}tuned_configurations t JOIN {s}recordings r ON r.id = t.recording JOIN {s}machines m ON m.id = r.machine
        GROUP BY t.recording, r.name, m.gpu, t.study, r.measured, r.added",
];
