-- Tables and views of dashboards beside the tables of recordings: metrics per wave, cycle and second, rooflines, changes of level.
-- A row of its own per kernel, so that a series of a metric does not read the numbers that it does not need.
CREATE TABLE {s}kernel_normals (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        quantity_set BIGINT NOT NULL REFERENCES {s}quantity_sets (id),
        numbers {numbers} NOT NULL,
        PRIMARY KEY (kernel, recording)
    );
{fast_numbers};
CREATE INDEX kernel_normals_recording ON {s}kernel_normals (recording);
CREATE TABLE {s}roofline_ceilings (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        value DOUBLE PRECISION NOT NULL,
        unit TEXT NOT NULL,
        is_used BIGINT NOT NULL,
        PRIMARY KEY (recording, kind, name)
    );
CREATE TABLE {s}roofline_points (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        level TEXT NOT NULL,
        intensity DOUBLE PRECISION,
        rate DOUBLE PRECISION,
        bandwidth DOUBLE PRECISION,
        PRIMARY KEY (recording, kernel, level)
    );
CREATE TABLE {s}level_changes (
        metric TEXT NOT NULL,
        kernel BIGINT NOT NULL REFERENCES {s}kernels (id),
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        value_before DOUBLE PRECISION NOT NULL,
        value_since DOUBLE PRECISION NOT NULL,
        percent DOUBLE PRECISION,
        chance DOUBLE PRECISION,
        PRIMARY KEY (metric, kernel, recording)
    );
CREATE INDEX level_changes_recording ON {s}level_changes (recording);
CREATE VIEW {s}normal_values AS
        SELECT run.recording, run.kernel, q.kind AS normal_unit, q.name, q.unit, {element} AS value
        FROM {s}kernel_normals run JOIN {s}quantity_set_members m ON m.quantity_set = run.quantity_set
        JOIN {s}quantities q ON q.id = m.quantity;
-- The word of a unit is replaced where the text ends in `/norm`.
CREATE VIEW {s}values_by_unit AS
        SELECT v.recording, v.kernel, v.name, 'per_kernel' AS normal_unit, replace(v.unit, '/norm', ' per kernel') AS unit, v.value
        FROM {s}metric_values v
        UNION ALL SELECT n.recording, n.kernel, n.name, n.normal_unit, replace(n.unit, '/norm', ' ' || replace(n.normal_unit, '_', ' ')), n.value
        FROM {s}normal_values n
        UNION ALL SELECT v.recording, v.kernel, v.name, u.normal_unit, v.unit, v.value
        FROM {s}metric_values v CROSS JOIN (SELECT 'per_wave' AS normal_unit UNION ALL SELECT 'per_cycle' UNION ALL SELECT 'per_second') u
        WHERE v.unit NOT LIKE '%/norm';
CREATE VIEW {s}recordings_with_labels AS
        SELECT r.id, r.name, coalesce(m.gpu, 'not recorded') AS gpu,
            CASE WHEN r.emulated_by IS NULL THEN 'GPU' ELSE 'emulator' END AS made_by, r.dispatches, r.measured, r.added,
            c.value AS revision, b.value AS branch
        FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine
        LEFT JOIN {s}labels c ON c.recording = r.id AND c.name = 'commit'
        LEFT JOIN {s}labels b ON b.recording = r.id AND b.name = 'branch';
CREATE VIEW {s}series_values AS
        SELECT recording, kernel, 'time' AS name, 'ns' AS unit, median_ns AS value, spread_ns AS spread FROM {s}kernel_runs
        UNION ALL SELECT recording, kernel, name, unit, value, NULL FROM {s}metric_values
        UNION ALL SELECT recording, kernel, name, unit, value, NULL FROM {s}counter_values;
-- Results are text of the tuner: an object with the times of the runs.
CREATE VIEW {s}tune_results AS
        SELECT s.id AS study, t.sequence, t.finished, t.worker, t.population, t.started, t.ended,
            coalesce(t.failure, CASE WHEN t.result LIKE '%"failed":%' THEN 'failed' END) AS failure,
            CASE WHEN t.result LIKE '{"runs_us":[%' THEN {first_run} END AS us
        FROM {s}tune_studies s JOIN {s}tune_tasks t ON t.study = s.id WHERE t.state = 2;
