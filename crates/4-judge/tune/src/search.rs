//! What to run next.

use crate::space::{Id, Space};
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

/// What is expected of configurations before the first run.
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

/// A search: asked what to run, told what came of it.
#[derive(Debug)]
pub struct Search {
    space: Arc<Space>,
    settings: Settings,
    order: Vec<Id>,
    asked: Vec<Id>,
    told: Vec<(Id, Told)>,
}

impl Search {
    /// A search of a space.
    pub fn new(space: Arc<Space>, settings: Settings, prior: Prior) -> Search {
        let mut order: Vec<Id> = (0..space.len()).filter(|it| !prior.rejected.contains(it)).collect();
        if settings.strategy != Strategy::Exhaustive {
            let mut state = settings.seed | 1;
            for at in (1..order.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                order.swap(at, ((state >> 33) % (at as u64 + 1)) as usize);
            }
        }
        order.reverse();
        Search { space, settings, order, asked: Vec::new(), told: Vec::new() }
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The next configuration to run.
    pub fn ask(&mut self) -> Asked {
        if self.asked.len() as u64 >= self.settings.budget {
            return Asked::Finished;
        }
        if self.asked.len() - self.told.len() >= self.settings.lag.max(1) as usize {
            return Asked::Wait;
        }
        match self.order.pop() {
            Some(it) => {
                self.asked.push(it);
                Asked::Run(it)
            }
            None => Asked::Finished,
        }
    }

    /// Tells the result of a configuration that was asked for, in any order.
    pub fn tell(&mut self, id: Id, told: Told) {
        self.told.push((id, told));
    }

    /// The fastest so far, with its time.
    pub fn best(&self) -> Option<(Id, f64)> {
        let times = self.told.iter().filter_map(|&(id, told)| match told {
            Told::Took(time) => Some((id, time)),
            Told::Failed => None,
        });
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}
