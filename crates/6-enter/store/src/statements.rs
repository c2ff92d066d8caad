//! The SQL of the journal. States of a task: 0 waiting, 1 claimed, 2 done.

use crate::engine::Dialect;

const ADD_STUDY: &str =
    "INSERT INTO {s}tune_studies (name, fingerprint, settings, population, mixed, state, finished, created)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, {now}) ON CONFLICT (name) DO NOTHING";

/// An update rather than a look: it locks the row in every engine.
const LOCK_STUDY: &str = "UPDATE {s}tune_studies SET finished = finished WHERE name = ?1
    RETURNING id, fingerprint, population, mixed";

const LOCK_NUMBER: &str = "UPDATE {s}tune_studies SET finished = finished WHERE id = ?1";

const OPEN_STUDY: &str =
    "UPDATE {s}tune_studies SET state = 0, settings = ?2, population = ?3, mixed = ?4 WHERE id = ?1";

const BIND_STUDY: &str =
    "UPDATE {s}tune_studies SET population = ?2 WHERE id = ?1 AND population IS NULL AND mixed = 0";

const SET_STATE: &str = "UPDATE {s}tune_studies SET state = ?2 WHERE id = ?1 RETURNING id";

const STUDIES: &str =
    "SELECT id, name, fingerprint, settings, population, mixed, state FROM {s}tune_studies ORDER BY id";

const STUDY: &str =
    "SELECT id, name, fingerprint, settings, population, mixed, state FROM {s}tune_studies WHERE id = ?1";

const PUSH: &str = "INSERT INTO {s}tune_tasks (study, sequence, payload) VALUES ";

const PAYLOADS: &str =
    "SELECT sequence, payload FROM {s}tune_tasks WHERE study = ?1 AND sequence >= ?2 AND sequence <= ?3";

/// `lost + state`: a claim of a task that was claimed takes over from a lost worker.
const CLAIM: &str =
    "UPDATE {s}tune_tasks SET state = 1, attempt = attempt + 1, lost = lost + state, token = ?2, worker = ?3,
           population = ?4, lease = ?5, started = {now}, beat = {now}
    WHERE study = ?1 AND sequence = (
       SELECT task.sequence FROM {s}tune_tasks task JOIN {s}tune_studies study ON study.id = task.study
       WHERE task.study = ?1 AND task.state < 2 AND study.state = 0
         AND (study.mixed = 1 OR study.population = ?4)
         AND (task.state = 0 OR (task.beat + task.lease < {now} AND task.lost + 1 < {most_lost}))
       ORDER BY task.sequence LIMIT 1 {skip_locked})
    RETURNING sequence, payload, attempt";

const CLAIMED: &str = "SELECT sequence, payload, attempt FROM {s}tune_tasks WHERE study = ?1 AND state < 2 AND state = 1 AND token = ?2
    ORDER BY sequence";

const BEAT: &str =
    "UPDATE {s}tune_tasks SET beat = {now} WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1
    RETURNING sequence";

const RELEASE: &str = "UPDATE {s}tune_tasks SET state = 0, token = NULL, worker = NULL, population = NULL
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";

const FINISH: &str = "UPDATE {s}tune_tasks SET state = 2, result = ?4, ended = {now},
           finished = (SELECT finished + 1 FROM {s}tune_studies WHERE id = ?1)
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";

const COUNT_FINISH: &str =
    "UPDATE {s}tune_studies SET finished = finished + 1 WHERE id = ?1 RETURNING finished";

/// The row of the study is locked until the commit, so ends become visible in their order.
const FINISH_AT_ONCE: &str = "WITH counted AS (
       UPDATE {s}tune_studies SET finished = finished + 1 WHERE id = ?1 AND EXISTS (
           SELECT 1 FROM {s}tune_tasks WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1)
       RETURNING finished)
    UPDATE {s}tune_tasks SET state = 2, result = ?4, ended = {now}, finished = counted.finished FROM counted
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 1 RETURNING sequence";

const FINISHED_BY: &str = "SELECT sequence FROM {s}tune_tasks
    WHERE study = ?1 AND sequence = ?2 AND token = ?3 AND state = 2 AND result IS NOT NULL";

const OVERDUE: &str = "SELECT sequence FROM {s}tune_tasks WHERE study = ?1 AND state < 2 AND state = 1
    AND beat + lease < {now} AND lost + 1 >= {most_lost}";

const GIVE_UP: &str = "UPDATE {s}tune_tasks SET state = 2, lost = lost + 1, ended = {now}, failure = '{most_lost} workers were lost while they ran it, the last is ' || worker,
           finished = (SELECT finished + 1 FROM {s}tune_studies WHERE id = ?1)
    WHERE study = ?1 AND sequence = ?2 AND state = 1 AND beat + lease < {now} AND lost + 1 >= {most_lost}
    RETURNING sequence";

/// The clock went back: leases of lost workers would last longer by as much.
const MEND_CLOCK: &str = "UPDATE {s}tune_tasks SET beat = {now} WHERE study = ?1 AND state < 2 AND state = 1 AND beat > {now} + 1000";

const RESULTS: &str =
    "SELECT finished, sequence, payload, result, failure, worker, population, attempt, started, ended
    FROM {s}tune_tasks WHERE study = ?1 AND finished > ?2 ORDER BY finished";

const PROGRESS: &str = "SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 1),
           count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE failure IS NOT NULL)
    FROM {s}tune_tasks WHERE study = ?1";

/// Texts of one dialect.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) add_study: String,
    pub(crate) lock_study: String,
    pub(crate) lock_number: String,
    pub(crate) open_study: String,
    pub(crate) bind_study: String,
    pub(crate) set_state: String,
    pub(crate) studies: String,
    pub(crate) study: String,
    pub(crate) payloads: String,
    pub(crate) claim: String,
    pub(crate) claimed: String,
    pub(crate) beat: String,
    pub(crate) release: String,
    pub(crate) finish: String,
    pub(crate) count_finish: String,
    pub(crate) finish_at_once: Option<String>,
    pub(crate) finished_by: String,
    pub(crate) overdue: String,
    pub(crate) give_up: String,
    pub(crate) mend_clock: String,
    pub(crate) results: String,
    pub(crate) progress: String,
    /// Begin of the statement that inserts tasks.
    pub(crate) push: String,
}

impl Texts {
    /// Texts of a dialect; `most_lost` is the number of expired claims that ends a task.
    pub(crate) fn new(dialect: &Dialect, most_lost: i64) -> Texts {
        let sql = |text: &str| dialect.sql(&text.replace("{most_lost}", &most_lost.to_string()));
        Texts {
            add_study: sql(ADD_STUDY),
            lock_study: sql(LOCK_STUDY),
            lock_number: sql(LOCK_NUMBER),
            open_study: sql(OPEN_STUDY),
            bind_study: sql(BIND_STUDY),
            set_state: sql(SET_STATE),
            studies: sql(STUDIES),
            study: sql(STUDY),
            push: sql(PUSH),
            payloads: sql(PAYLOADS),
            claim: sql(CLAIM),
            claimed: sql(CLAIMED),
            beat: sql(BEAT),
            release: sql(RELEASE),
            finish: sql(FINISH),
            count_finish: sql(COUNT_FINISH),
            finish_at_once: dialect.nests_changes.then(|| sql(FINISH_AT_ONCE)),
            finished_by: sql(FINISHED_BY),
            overdue: sql(OVERDUE),
            give_up: sql(GIVE_UP),
            mend_clock: sql(MEND_CLOCK),
            results: sql(RESULTS),
            progress: sql(PROGRESS),
        }
    }
}
