//! Errors of databases.

/// Why a database does not do what it is asked to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StoreError {
    /// An address of no engine.
    #[error(
        "`{address}` is no address of a database: {why}\nhint: give a path, `sqlite:PATH` or `postgres://USER@HOST/DATABASE`"
    )]
    Address {
        /// The address.
        address: String,
        /// The fault in it.
        why: String,
    },
    /// PostgreSQL without the feature.
    #[error(
        "this build has no PostgreSQL\nhint: build with `--features postgres`, or give the path of an SQLite file"
    )]
    NotBuilt,
    /// Parquet without the feature.
    #[error("this build writes no Parquet\nhint: build with `--features parquet`, or give `--to FILE.db`")]
    NoParquet,
    /// Not reachable.
    #[error("cannot reach `{place}`: {why}")]
    Unreachable {
        /// Address without password.
        place: String,
        /// The reason.
        why: String,
    },
    /// No file at the address.
    #[error("there is no database `{place}`\nhint: `rockhound store add FOLDER --store {place}` makes one")]
    NoDatabase {
        /// Path.
        place: String,
    },
    /// Rows or blobs that changed after they were written.
    #[error(
        "the database is damaged: {why}\nhint: restore a copy of the database, or add the recordings again"
    )]
    Damaged {
        /// The damage.
        why: String,
    },
    /// No metric or counter of a name.
    #[error(
        "no recording has a metric or counter `{name}`\nhint: `time` is the time of a dispatch; `rockhound store query 'SELECT DISTINCT name FROM metric_values'` lists the others"
    )]
    NoMetric {
        /// Name.
        name: String,
    },
    /// A query that cannot be answered.
    #[error("the query cannot be answered: {why}")]
    Query {
        /// The reason.
        why: String,
    },
    /// No recording of a number or label.
    #[error("`{place}` has no recording `{wanted}`\nhint: `rockhound store list` lists its recordings")]
    NoRecording {
        /// Address without password.
        place: String,
        /// Number or label.
        wanted: String,
    },
    /// A file or label that the database cannot hold.
    #[error("`{what}` cannot be stored: {why}")]
    Unstorable {
        /// File or label.
        what: String,
        /// The reason and the remedy.
        why: String,
    },
    /// Not a database, or a database of another program.
    #[error("`{place}` is not a database of Rockhound: {why}\nhint: name another file")]
    Foreign {
        /// Address without password.
        place: String,
        /// The reason.
        why: String,
    },
    /// Written by a newer version.
    #[error(
        "`{place}` has schema {found}, this version knows schemas up to {known}\nhint: use the version of Rockhound that wrote it, or another database"
    )]
    Newer {
        /// Address without password.
        place: String,
        /// Its schema.
        found: i64,
        /// The newest known schema.
        known: i64,
    },
    /// Not writable.
    #[error(
        "`{place}` cannot be written: {why}\nhint: make it and its folder writable, or name another place"
    )]
    ReadOnly {
        /// Address without password.
        place: String,
        /// The reason.
        why: String,
    },
    /// Held by another process for longer than this one waits.
    #[error(
        "`{place}` is locked by another process for over {seconds} s\nhint: end that process; for many workers use PostgreSQL"
    )]
    Locked {
        /// Address without password.
        place: String,
        /// How long this process waited.
        seconds: u64,
    },
    /// No space is left.
    #[error("the disk of `{place}` is full\nhint: make room and go on: committed results are kept")]
    Full {
        /// Address without password.
        place: String,
    },
    /// Anything else that the engine says.
    #[error("`{place}`: {why}")]
    Engine {
        /// Address without password.
        place: String,
        /// The engine's words.
        why: String,
    },
    /// A study of this name has other settings.
    #[error(
        "study `{name}` exists with another space or other settings\nhint: name another study, or give what it began with to go on with it"
    )]
    OtherStudy {
        /// Name of the study.
        name: String,
    },
    /// No study of this name or number.
    #[error("no study `{name}`\nhint: the studies are: {known}")]
    NoStudy {
        /// Name or number.
        name: String,
        /// Names of the studies.
        known: String,
    },
    /// A worker with another GPU than the study's.
    #[error(
        "study `{study}` is of `{bound}`, and this worker has `{population}`: times of different GPUs are not mixed\nhint: make a study for each GPU, or a mixed one"
    )]
    OtherPopulation {
        /// Name of the study.
        study: String,
        /// GPU of the study.
        bound: String,
        /// GPU of the worker.
        population: String,
    },
    /// A task that was pushed before with another payload.
    #[error(
        "task {sequence} of study `{study}` was pushed before as `{before}` and now as `{now}`\nhint: only one process may lead a study, with the same version and seed"
    )]
    OtherTask {
        /// Name of the study.
        study: String,
        /// Number of the task.
        sequence: u64,
        /// Its payload.
        before: String,
        /// The payload of now.
        now: String,
    },
}
