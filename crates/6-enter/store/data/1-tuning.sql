-- The tuner's queue.
CREATE TABLE {s}tune_studies (
        id {serial},
        name TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL,
        settings TEXT NOT NULL,
        population TEXT,
        mixed BIGINT NOT NULL,
        state BIGINT NOT NULL,
        finished BIGINT NOT NULL,
        created BIGINT NOT NULL
    );
CREATE TABLE {s}tune_tasks (
        study BIGINT NOT NULL REFERENCES {s}tune_studies (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        payload TEXT NOT NULL,
        state BIGINT NOT NULL DEFAULT 0,
        attempt BIGINT NOT NULL DEFAULT 0,
        lost BIGINT NOT NULL DEFAULT 0,
        token TEXT,
        worker TEXT,
        population TEXT,
        started BIGINT,
        beat BIGINT,
        lease BIGINT,
        ended BIGINT,
        finished BIGINT,
        result TEXT,
        failure TEXT,
        PRIMARY KEY (study, sequence)
    );
-- Done tasks are many, and no claim looks at them.
CREATE INDEX tune_tasks_open ON {s}tune_tasks (study, sequence) WHERE state < 2;
CREATE UNIQUE INDEX tune_tasks_finished ON {s}tune_tasks (study, finished) WHERE finished IS NOT NULL;
