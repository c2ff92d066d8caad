//! Strategies that choose the next run.

mod axes;
mod expected;
mod extended;
mod gaussian;
mod improvement;
mod knobs;
mod model;
mod plain;

pub use extended::extended;
pub use knobs::Knobs;

use crate::space::{Id, Space};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// How the next configuration is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Strategy {
    /// A model of the results so far, with the prior as its mean.
    #[default]
    Model,
    /// In random order.
    Random,
    /// All, in their order.
    Exhaustive,
}

/// Expectations of configurations before the first run.
#[derive(Clone, Default, Debug)]
pub struct Prior {
    /// Expected time of each configuration in any unit; `None`: not known. Empty: nothing is known.
    pub expected: Vec<Option<f64>>,
    /// Configurations that are known not to work and are never proposed.
    pub rejected: Vec<Id>,
}

/// Settings of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How configurations are chosen.
    pub strategy: Strategy,
    /// Seed: the same seed, space, prior and results give the same proposals.
    pub seed: u64,
    /// Most configurations to run.
    pub budget: u64,
    /// Proposals that may be out at once. A proposal sees the results of all but this many before it, so that the
    /// number of workers changes nothing.
    pub lag: u32,
    /// Configurations to begin with, such as the one in use.
    pub first: Vec<Id>,
}

/// Result of a configuration that was run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Told {
    /// It took this long, in the unit of the search.
    Took(f64),
    /// It did not work.
    Failed,
}

/// A proposal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Run this configuration.
    Run(Id),
    /// Tell a result first.
    Wait,
    /// The budget is used or every configuration was run.
    Finished,
}

/// A way to choose configurations. It is told of proposals and, in their order, of results.
trait Propose: fmt::Debug + Send {
    /// A configuration that was not proposed yet; `None` if it has none to propose.
    fn propose(&mut self) -> Option<Id>;

    /// Notes a proposal, its own or another.
    fn proposed(&mut self, id: Id);

    /// Takes the result of the oldest proposal without one.
    fn learn(&mut self, told: Told);
}

/// A search: asked what to run, told what came of it.
#[derive(Debug)]
pub struct Search {
    space: Arc<Space>,
    settings: Settings,
    strategy: Box<dyn Propose>,
    /// Takes over where the strategy has nothing to propose, so that the budget is used.
    rest: plain::Shuffled,
    asked: Vec<Id>,
    told: Vec<Option<Told>>,
    /// Number of each proposal.
    numbers: HashMap<Id, usize>,
    /// Results that the strategy was told.
    learned: usize,
}

impl Search {
    /// A search of a space.
    pub fn new(space: Arc<Space>, settings: Settings, prior: Prior) -> Search {
        Search::with_knobs(space, settings, prior, Knobs::default())
    }

    /// A search whose model works otherwise, to measure the model.
    pub fn with_knobs(space: Arc<Space>, settings: Settings, prior: Prior, knobs: Knobs) -> Search {
        let rejected: Arc<HashSet<Id>> = Arc::new(prior.rejected.iter().copied().collect());
        let strategy: Box<dyn Propose> = match settings.strategy {
            Strategy::Model => Box::new(model::Model::new(&space, settings.seed, &prior, knobs)),
            Strategy::Random => Box::new(plain::Shuffled::new(&space, settings.seed, rejected.clone())),
            Strategy::Exhaustive => Box::new(plain::InOrder::new(&space, rejected.clone())),
        };
        let rest = plain::Shuffled::new(&space, !settings.seed, rejected);
        let (asked, told, numbers) = (Vec::new(), Vec::new(), HashMap::new());
        Search { space, settings, strategy, rest, asked, told, numbers, learned: 0 }
    }

    /// The next configuration to run.
    pub fn ask(&mut self) -> Asked {
        let number = self.asked.len();
        if number as u64 >= self.settings.budget {
            return Asked::Finished;
        }
        // Exactly these results, whatever else is known: so the order in which they arrive changes nothing.
        let needed = (number + 1).saturating_sub(self.settings.lag.max(1) as usize);
        while self.learned < needed {
            let Some(told) = self.told[self.learned] else { return Asked::Wait };
            self.strategy.learn(told);
            self.learned += 1;
        }
        let first = self.settings.first.iter().copied().find(|it| !self.numbers.contains_key(it));
        let first = first.filter(|&it| it < self.space.len());
        let next = first.or_else(|| self.strategy.propose()).filter(|it| !self.numbers.contains_key(it));
        let Some(id) = next.or_else(|| self.rest.propose()) else { return Asked::Finished };
        self.strategy.proposed(id);
        self.rest.proposed(id);
        self.numbers.insert(id, number);
        self.asked.push(id);
        self.told.push(None);
        Asked::Run(id)
    }

    /// Tells the result of a configuration that was asked for, in any order. A time that is not a positive number is a
    /// failure; a second result of a configuration, or one that was not asked for, is ignored.
    pub fn tell(&mut self, id: Id, told: Told) {
        let told = match told {
            Told::Took(time) if time > 0.0 && time.is_finite() => told,
            _ => Told::Failed,
        };
        if let Some(&number) = self.numbers.get(&id) {
            self.told[number].get_or_insert(told);
        }
    }

    /// The fastest so far, with its time.
    pub fn best(&self) -> Option<(Id, f64)> {
        let times = self.asked.iter().zip(&self.told).filter_map(|(&id, told)| match told {
            Some(Told::Took(time)) => Some((id, *time)),
            _ => None,
        });
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
