-- Tunings, timelines and answers beside recordings, as rows of `recordings` of another sort.
ALTER TABLE {s}recordings ADD COLUMN sort TEXT NOT NULL DEFAULT 'recording';
CREATE TABLE {s}tuned_configurations (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        study TEXT NOT NULL,
        configuration TEXT NOT NULL,
        us DOUBLE PRECISION,
        status TEXT NOT NULL,
        why TEXT,
        PRIMARY KEY (recording, sequence)
    );
CREATE TABLE {s}answer_cells (
        recording BIGINT NOT NULL REFERENCES {s}recordings (id) ON DELETE CASCADE,
        place BIGINT NOT NULL,
        table_title TEXT NOT NULL,
        line BIGINT NOT NULL,
        column_title TEXT NOT NULL,
        unit TEXT NOT NULL,
        value DOUBLE PRECISION,
        words TEXT,
        PRIMARY KEY (recording, place)
    );
DROP VIEW {s}recordings_with_labels;
-- Answers are not recordings: dashboards of recordings do not show them.
CREATE VIEW {s}recordings_with_labels AS
        SELECT r.id, r.name, coalesce(m.gpu, 'not recorded') AS gpu,
            CASE WHEN r.emulated_by IS NULL THEN 'GPU' ELSE 'emulator' END AS made_by, r.dispatches, r.measured, r.added,
            c.value AS revision, b.value AS branch
        FROM {s}recordings r JOIN {s}machines m ON m.id = r.machine
        LEFT JOIN {s}labels c ON c.recording = r.id AND c.name = 'commit'
        LEFT JOIN {s}labels b ON b.recording = r.id AND b.name = 'branch'
        WHERE r.sort = 'recording';
CREATE VIEW {s}tunings AS
        SELECT t.recording, r.name, coalesce(m.gpu, 'not recorded') AS gpu, t.study, count(*) AS configurations,
            count(t.us) AS timed, min(t.us) AS best_us, r.measured, r.added
        FROM {s}tuned_configurations t JOIN {s}recordings r ON r.id = t.recording JOIN {s}machines m ON m.id = r.machine
        GROUP BY t.recording, r.name, m.gpu, t.study, r.measured, r.added;
