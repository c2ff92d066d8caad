//! Values of the journal.

use std::time::Duration;

/// A study: one search over one space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Study {
    /// Name, unique in the database.
    pub name: String,
    /// Hash of all that must be equal for results to go on with.
    pub fingerprint: String,
    /// Settings that workers need, in the caller's form.
    pub settings: String,
    /// GPUs whose workers may take part.
    pub population: Population,
}

/// GPUs whose workers may take part in a study.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Population {
    /// The GPU of the first worker, and others of its name.
    #[default]
    First,
    /// GPUs of this name.
    Only(String),
    /// Any; times of different GPUs are mixed.
    Any,
}

/// Number of a study in its database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StudyId(pub i64);

/// Whether a study has work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Tasks may be pushed and claimed.
    Open,
    /// Interrupted: workers end, and `begin` opens it again.
    Stopped,
    /// Finished: workers end.
    Closed,
}

/// A study and its state, as lists show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StudyEntry {
    /// Number.
    pub id: StudyId,
    /// The study; `First` became `Only` with the first claim.
    pub study: Study,
    /// Whether it has work.
    pub state: State,
}

/// One evaluation to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Number in its study; claims are made in this order.
    pub sequence: u64,
    /// Work to do, in the caller's form.
    pub payload: String,
}

/// Who evaluates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worker {
    /// Name, for reports: machine and process.
    pub name: String,
    /// Name of its GPU.
    pub population: String,
}

/// A task that a worker holds until its lease expires.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// Study.
    pub study: StudyId,
    /// Number of the task.
    pub sequence: u64,
    /// Work to do.
    pub payload: String,
    /// Number of this claim among the claims of its task, from 1.
    pub attempt: u32,
    /// Time until it expires unless renewed.
    pub lease: Duration,
    /// Proof of this claim.
    pub(crate) token: String,
}

/// Whether a result was kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Finish {
    /// It is the result of the task.
    Kept,
    /// The claim had expired and the task went to another worker, or ended.
    Late,
}

/// A task that ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// Number of this end among the ends of its study, from 1: the cursor of `results`.
    pub order: u64,
    /// Number of the task.
    pub sequence: u64,
    /// Work to do.
    pub payload: String,
    /// The worker's result, or why there is none.
    pub result: Result<String, String>,
    /// The last worker.
    pub worker: String,
    /// Name of its GPU.
    pub population: String,
    /// Claims of the task.
    pub attempt: u32,
    /// When the last claim was made, milliseconds since 1970 by the clock of the database.
    pub started_ms: i64,
    /// When it ended.
    pub ended_ms: i64,
}

/// Counts of a study's tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Whether the study has work.
    pub state: State,
    /// Tasks that nobody holds.
    pub waiting: u64,
    /// Tasks that a worker holds.
    pub claimed: u64,
    /// Tasks that ended.
    pub done: u64,
    /// Of those, tasks without a result.
    pub lost: u64,
}
