//! The SQL of the journal. States of a task: 0 waiting, 1 claimed, 2 done.

use crate::engine::Dialect;

/// Statements by name, each with its text in any dialect.
macro_rules! texts {
    ($($(#[$note:meta])* $name:ident = $text:literal;)*) => {
        /// Texts of one dialect.
        #[derive(Debug)]
        pub(crate) struct Texts {
            $($(#[$note])* pub(crate) $name: String,)*
        }

        impl Texts {
            /// Texts of a dialect; `most_lost` is the number of expired claims that ends a task.
            pub(crate) fn new(dialect: &Dialect, most_lost: i64) -> Texts {
                let sql = |text: &str| dialect.sql(&text.replace("{most_lost}", &most_lost.to_string()));
                Texts { $($name: sql($text),)* }
            }
        }
    };
}

texts! {
    add_study = "INSERT INTO {s}tune_studies (name, fingerprint, settings, population, mixed, state, finished, created)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, {now}) ON CONFLICT (name) DO NOTHING";
    /// An update rather than a look: it locks the row in every engine.
    lock_study = "UPDATE {s}tune_studies SET finished = finished WHERE name = ?1
    RETURNING id, fingerprint, population, mixed";
    lock_number = "UPDATE {s}tune_studies SET finished = finished WHERE id = ?1";
    open_study = "UPDATE {s}tune_studies SET state = 0, settings = ?2, population = ?3, mixed = ?4 WHERE id = ?1";
    bind_study = "UPDATE {s}tune_studies SET population = ?2 WHERE id = ?1 AND population IS NULL AND mixed = 0";
    set_state = "UPDATE {s}tune_studies SET state = ?2 WHERE id = ?1 RETURNING id";
    studies = "SELECT id, name, fingerprint, settings, population, mixed, state FROM {s}tune_studies ORDER BY id";
    study = "SELECT id, name, fingerprint, settings, population, mixed, state FROM {s}tune_studies WHERE id = ?1";
    /// Begin of the statement that inserts tasks.
    push = "INSERT INTO {s}tune_tasks (study, sequence, payload) VALUES ";
    payloads = "SELECT sequence, payload FROM {s}tune_tasks WHERE study = ?1 AND sequence >= ?2 AND sequence <= ?3";
    /// `lost + state`: a claim of a task that was claimed takes over from a lost worker.
    claim = "UPDATE {s}tune_tasks SET state = 1, attempt = attempt + 1, lost = lost + state, token = ?2, worker = ?3,
           population = ?4, lease = ?5, started = {now}, beat = {now}
    WHERE study = ?1 AND sequence = (
       SELECT task.sequence FROM {s}tune_tasks task JOIN {s}tune_studies study ON study.id = task.study
       WHERE task.study = ?1 AND task.state < 2 AND study.state = 0
         AND (study.mixed = 1 OR study.population = ?4)
         AND (task.state = 0 OR (task.beat + task.lease < {now} AND task.lost + 1 < {most_lost}))
       ORDER BY task.sequence LIMIT 1 {skip_locked})
    RETURNING sequence, payload, attempt";
    claimed = "SELECT sequence, payload, attempt FROM {s}tune_tasks WHERE study = ?1 AND state < 2 AND state = 1 AND token = ?2
    ORDER BY sequence";
    beat = "UPDATE {s}tune_tasks SET beat = {now} WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1
    RETURNING sequence";
    release = "UPDATE {s}tune_tasks SET state = 0, token = NULL, worker = NULL, population = NULL
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";
    finish = "UPDATE {s}tune_tasks SET state = 2, result = ?4, ended = {now},
           finished = (SELECT finished + 1 FROM {s}tune_studies WHERE id = ?1)
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";
    count_finish = "UPDATE {s}tune_studies SET finished = finished + 1 WHERE id = ?1 RETURNING finished";
    /// Only where statements nest changes. The row of the study is locked until the commit, so ends become visible in their order.
    finish_at_once = "WITH counted AS (
       UPDATE {s}tune_studies SET finished = finished + 1 WHERE id = ?1 AND EXISTS (
           SELECT 1 FROM {s}tune_tasks WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1)
       RETURNING finished)
    UPDATE {s}tune_tasks SET state = 2, result = ?4, ended = {now}, finished = counted.finished FROM counted
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";
    finished_by = "SELECT sequence FROM {s}tune_tasks
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 2 AND result IS NOT NULL";
    overdue = "SELECT sequence FROM {s}tune_tasks WHERE study = ?1 AND state < 2 AND state = 1
    AND beat + lease < {now} AND lost + 1 >= {most_lost}";
    give_up = "UPDATE {s}tune_tasks SET state = 2, lost = lost + 1, ended = {now}, failure = '{most_lost} workers were lost while they ran it, the last is ' || worker,
           finished = (SELECT finished + 1 FROM {s}tune_studies WHERE id = ?1)
    WHERE study = ?1 AND sequence = ?2 AND state = 1 AND beat + lease < {now} AND lost + 1 >= {most_lost}
    RETURNING sequence";
    /// The clock went back: leases of lost workers would last longer by as much.
    mend_clock = "UPDATE {s}tune_tasks SET beat = {now} WHERE study = ?1 AND state < 2 AND state = 1 AND beat > {now} + 1000";
    results = "SELECT finished, sequence, payload, result, failure, worker, population, attempt, started, ended
    FROM {s}tune_tasks WHERE study = ?1 AND finished > ?2 ORDER BY finished";
    progress = "SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1),
           count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE failure IS NOT NULL)
    FROM {s}tune_tasks WHERE study = ?1";
}
