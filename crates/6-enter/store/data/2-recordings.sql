-- Tables of recordings. The large tables have numbers instead of names. A kernel of a recording is one row: its counters and
-- metrics are one list of numbers, whose names are a set that recordings share, because a row per number would take ten times
-- the space of the files. Views show one row per number.
CREATE TABLE {s}machines (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        gpu TEXT,
        facts TEXT NOT NULL
    );
CREATE TABLE {s}kernels (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        name TEXT NOT NULL,
        base_name TEXT NOT NULL
    );
CREATE TABLE {s}quantities (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        unit TEXT NOT NULL
    );
CREATE TABLE {s}quantity_sets (
        id {serial},
        hash {bytes} NOT NULL UNIQUE
    );
CREATE TABLE {s}quantity_set_members (
        quantity_set BIGINT NOT NULL REFERENCES {s}quantity_sets (id),
        position BIGINT NOT NULL,
        quantity BIGINT NOT NULL REFERENCES {s}quantities (id),
        PRIMARY KEY (quantity_set, position)
    );
CREATE TABLE {s}recordings (
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
    );
-- Other blobs are packed against a blob with a `form`: files of one form differ little.
CREATE TABLE {s}blobs (
        id {serial},
        hash {bytes} NOT NULL UNIQUE,
        form {bytes} UNIQUE,
        base BIGINT REFERENCES {s}blobs (id),
        bytes BIGINT NOT NULL,
        packed {bytes} NOT NULL
    );
CREATE INDEX blobs_base ON {s}blobs (base) WHERE base IS NOT NULL;
CREATE TABLE {s}recording_files (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        blob BIGINT NOT NULL REFERENCES {s}blobs (id),
        is_code BIGINT NOT NULL
    );
CREATE INDEX recording_files_recording ON {s}recording_files (recording);
CREATE INDEX recording_files_blob ON {s}recording_files (blob);
CREATE TABLE {s}labels (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (recording, name)
    );
CREATE INDEX labels_value ON {s}labels (name, value);
CREATE TABLE {s}kernel_runs (
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
    );
{inline_numbers};
CREATE INDEX kernel_runs_recording ON {s}kernel_runs (recording);
CREATE TABLE {s}recording_findings (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT REFERENCES {s}kernels (id),
        rule TEXT NOT NULL,
        severity TEXT NOT NULL,
        time_lost_ns DOUBLE PRECISION
    );
CREATE INDEX recording_findings_recording ON {s}recording_findings (recording);
CREATE VIEW {s}counter_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'counter';
CREATE VIEW {s}metric_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'metric';
CREATE VIEW {s}peak_values AS
        SELECT run.recording, run.kernel, q.name, q.unit, {element} AS value
        FROM {s}kernel_runs run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity WHERE q.kind = 'peak';
CREATE VIEW {s}dispatch_times AS
        SELECT run.recording, run.kernel, {place} AS dispatch, e.value AS ns FROM {s}kernel_runs run, {each};
