//! The expectation of a prior, by rank.

use super::Prior;
use crate::space::Id;
use sorting::Sort;

/// Normal scores of a prior's ranks: a prior may be wrong by a factor or in shape, so only its order counts.
#[derive(Debug)]
pub(super) struct Expected {
    scores: Vec<f32>,
    /// Configurations from the best.
    order: Vec<Id>,
}

impl Expected {
    /// `None` where the prior says nothing.
    pub(super) fn of(prior: &Prior) -> Option<Expected> {
        let time = |it: Id| prior.expected[it as usize].filter(|it| it.is_finite()).unwrap_or(f64::INFINITY);
        let known = prior.expected.iter().flatten().filter(|it| it.is_finite()).count();
        let mut order: Vec<Id> = (0..prior.expected.len() as Id).filter(|&it| time(it).is_finite()).collect();
        order.in_order_by(|&a, &b| time(a).total_cmp(&time(b)).then(a.cmp(&b)));
        // What the prior does not know is expected in the middle.
        let mut scores = vec![0.0; prior.expected.len()];
        let mut start = 0;
        while start < known {
            // Equal times share the middle of their ranks.
            let equal = order[start..].iter().take_while(|&&it| time(it) == time(order[start])).count();
            let score = quantile((start as f64 + equal as f64 / 2.0) / known as f64);
            for &it in &order[start..start + equal] {
                scores[it as usize] = score as f32;
            }
            start += equal;
        }
        let varied = order.first().map(|&it| time(it)) != order.last().map(|&it| time(it));
        varied.then_some(Expected { scores, order })
    }

    /// How slow a configuration is expected to be, in standard deviations.
    pub(super) fn score(&self, id: Id) -> f64 {
        self.scores.get(id as usize).copied().map_or(0.0, f64::from)
    }

    /// Configurations from the best but `skip`.
    pub(super) fn best_from(&self, skip: usize) -> impl Iterator<Item = Id> {
        self.order.iter().copied().skip(skip)
    }
}

/// The value below which a normal variable is with a probability (Abramowitz and Stegun 26.2.23; error below 0.0005).
fn quantile(probability: f64) -> f64 {
    let tail = probability.min(1.0 - probability).max(1e-12);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = t
        - (2.515_517 + 0.802_853 * t + 0.010_328 * t * t)
            / (1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t);
    if probability < 0.5 { -above } else { above }
}
