//! Metrics, counters and sets of metrics explained.

use analysis::workload::{explain as explained, named_gpu};
use arch::Target;
use metrics::{Compiled, Definitions, Set, WrongDefinitions};
use view::{Answer, METRICS_SCHEMA, MetricsReport, SETS_SCHEMA, SetCard, SetOnTarget, Sets, UsageError};

/// The targets of a question: the one of a GPU or target that is named, or all.
pub fn targets(named: Option<&str>) -> Result<Vec<String>, UsageError> {
    Ok(match named {
        Some(name) => vec![named_gpu(name)?.0],
        None => Target::names().map(str::to_owned).collect(),
    })
}

/// The metrics of each target.
pub fn compile(definitions: &Definitions, targets: &[String]) -> Result<Vec<Compiled>, WrongDefinitions> {
    targets.iter().map(|target| definitions.compile(target)).collect()
}

/// Meaning and needs of metrics and counters on some targets; without names, of all.
pub fn explain(
    definitions: &Definitions,
    targets: &[Compiled],
    names: &[String],
) -> Result<Answer<MetricsReport>, UsageError> {
    Ok(Answer::new(METRICS_SCHEMA, explained(definitions, targets, names)?))
}

/// A set that exists; the error lists those that do.
pub fn known_set(name: &str) -> Result<&'static str, UsageError> {
    Set::named(name).map(|set| set.name)
}

/// All sets, with their requirements on some targets.
pub fn sets(targets: &[Compiled]) -> Answer<Sets> {
    let needs = |set: &Set, it: &Compiled| SetOnTarget {
        counters: set.counters(it).into_iter().collect(),
        metrics: set.metrics_on(it),
        passes: set.passes(it),
        target: it.target().to_owned(),
    };
    let card = |set: &Set| SetCard {
        name: set.name,
        metrics: set.metrics().collect(),
        targets: targets.iter().map(|it| needs(set, it)).collect(),
        title: set.title,
    };
    Answer::new(SETS_SCHEMA, Sets { sets: metrics::sets().iter().map(card).collect() })
}
