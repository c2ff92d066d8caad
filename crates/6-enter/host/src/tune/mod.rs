//! Runs of a search: the space file, evaluation of configurations, and the loop that asks, runs and tells.

mod child;
pub mod emit;
mod evaluate;
mod evaluation;
mod floor;
mod init;
mod live;
mod number;
mod objective;
mod prior;
mod products;
mod proof;
mod queue;
mod recorded;
mod results;
mod search;
mod shapes;
mod space;
mod spec;
mod triton;
mod why;
pub mod worker;
mod written;

pub use child::{Buffer, Job, JobResult, difference_of};
pub use evaluate::{Built, Configuration, Evaluator};
pub use evaluation::{Evaluation, Failed, Failure};
pub use init::init;
pub use live::{
    CacheFile, LeftOut, Live, LiveRequest, LiveStudy, Patch, ProductPrior, config_text, live, patches,
};
pub use number::{NoNumber, Pattern, ResultFile};
pub use objective::{Objective, TIME};
pub use prior::prior_of;
pub use products::Products;
pub use proof::{Proof, Proving, proof};
pub(crate) use queue::evaluation as evaluation_of;
pub use queue::{Queue, QueueRequest, Shared, serve};
pub use recorded::{Recorded, described};
pub use results::t4;
pub use search::{
    Attempt, Course, Evaluate, Found, Known, Limit, LookUp, Plan, Pool, Watching, drive, search,
};
pub use shapes::Shape;
pub use space::{id_of, place, space_of};
pub use spec::{Limits, Measure, PriorTable, Run, Spec, SpecFile, Start, TilePrior};
pub use tune::{Id, Prior, Search, Settings, Space, Strategy, Told, extended};
pub use why::{Earlier, broken, chosen, earlier};
