//! The default strategy: Bayesian optimisation.
//!
//! A Gaussian process models the logarithm of the time, with the prior as its mean; configurations are proposed by
//! expected improvement. Slow configurations are all alike to it (winsorised outcomes), so that it learns what makes
//! fast ones fast. Candidates are a sample of the space and the neighbours of what is best, measured and modelled. After:
//! Jones, Schonlau, Welch, "Efficient global optimization of expensive black-box functions", 1998; Ginsbourger, Le Riche,
//! Carraro, "Kriging is well-suited to parallelize optimization", 2010 (results that are not known yet); Willemsen, van
//! Nieuwpoort, van Werkhoven, "Bayesian optimization for auto-tuning GPU kernels", 2021.

use super::axes::{Axis, axes};
use super::expected::Expected;
use super::gaussian::{Cholesky, Fit, Outcomes, Shape, Tables};
use super::improvement::Improvements;
use super::knobs::Knobs;
use super::{Prior, Propose, Told};
use crate::random::Random;
use crate::space::{Id, Neighbourhood, Space};
use foldhash::fast::FixedState;
use sorting::Sort;
use std::collections::HashSet;
use std::sync::Arc;

/// Measured configurations whose neighbours are candidates.
const BEST: usize = 6;
/// Rounds of local search on the model.
const ROUNDS: usize = 2;
/// Configurations of each round whose neighbours are looked at.
const FRONT: usize = 6;

type Ids = HashSet<Id, FixedState>;

/// A configuration as the model sees it.
#[derive(Clone, Debug)]
struct Candidate {
    id: Id,
    row: Vec<u16>,
}

/// The strategy.
#[derive(Debug)]
pub(super) struct Model {
    knobs: Knobs,
    improvements: Improvements,
    space: Arc<Space>,
    axes: Vec<Axis>,
    expected: Option<Expected>,
    rejected: Ids,
    random: Random,
    shape: Shape,
    /// Results, in the order of the proposals.
    seen: Vec<(Candidate, Told)>,
    /// Results up to the best.
    improved: usize,
    best: f64,
    /// Proposals without result, in their order.
    open: Vec<Candidate>,
    taken: Ids,
    /// Results with which the next fit is made.
    next_fit: usize,
    fitted: Option<Fitted>,
}

/// The process given the results and proposals so far, and what it says of the candidates.
#[derive(Debug)]
struct Fitted {
    tables: Tables,
    cholesky: Cholesky,
    variance: f64,
    mean: f64,
    weight: f64,
    scale: f64,
    cut: f64,
    /// How outcomes are scaled.
    centre: f64,
    spread: f64,
    /// The configurations of the rows of `cholesky`. The last are open.
    rows: Vec<Candidate>,
    /// Solution for the outcomes; 0 for open proposals, which says that they will be as expected.
    solved: Vec<f64>,
    known: usize,
    candidates: Vec<Id>,
    /// Classes of their values.
    classes: Vec<u16>,
    /// Solution for each row and candidate.
    solutions: Vec<Vec<f32>>,
    variances: Vec<f32>,
    estimates: Vec<f32>,
}

impl Fitted {
    fn outcome(&self, told: Told) -> f64 {
        match told {
            Told::Took(time) => ((time.ln() - self.centre) / self.spread).min(self.cut),
            Told::Failed => self.cut,
        }
    }

    /// Adds a configuration whose outcome is not known yet.
    fn push(&mut self, it: Candidate) {
        let covariances = self.rows.iter().map(|row| f64::from(self.tables.correlation(&it.row, &row.row)));
        self.cholesky.push(covariances, self.variance);
        self.rows.push(it);
        self.solved.push(0.0);
        self.follow();
    }

    /// Computes what the next row of the process says of the candidates.
    fn follow(&mut self) {
        let at = self.solutions.len();
        let row = self.cholesky.row(at);
        let mut new = vec![0.0f32; self.candidates.len()];
        self.tables.correlations(&self.rows[at].row, &self.classes, &mut new);
        subtract(&mut new, &row[..at], &self.solutions);
        let (scale, solved) = ((1.0 / row[at]) as f32, self.solved[at] as f32);
        let candidates = self.variances.iter_mut().zip(&mut self.estimates);
        for (new, (variance, estimate)) in new.iter_mut().zip(candidates) {
            *new *= scale;
            *variance -= *new * *new;
            *estimate += solved * *new;
        }
        self.solutions.push(new);
    }

    /// Takes the outcome of the first configuration that has none.
    fn learn(&mut self, outcome: f64, expected: f64) {
        let at = self.known;
        let value = outcome - self.mean - self.weight * expected;
        let solved = self.cholesky.solve_next(&self.solved[..at], value);
        self.solved[at] = solved;
        if let Some(solution) = self.solutions.get(at) {
            for (estimate, it) in self.estimates.iter_mut().zip(solution) {
                *estimate += solved as f32 * it;
            }
        }
        self.known += 1;
    }

    /// Where the process expects the outcomes of configurations beside what the prior says.
    fn estimates(&self, weights: &[f64], classes: &[u16], count: usize) -> Vec<f32> {
        let rows = self.rows.iter().map(|it| &it.row[..]);
        self.tables.estimates(self.mean, rows.zip(weights.iter().copied()), classes, count)
    }

    /// Weights of the outcomes in an estimate.
    fn weights(&self) -> Vec<f64> {
        self.cholesky.weights(&self.solved[..self.known])
    }
}

/// Subtracts solutions with their factors. Four are read in one pass, one after the other, so that the sums are those of
/// a pass for each.
fn subtract(sums: &mut [f32], factors: &[f64], solutions: &[Vec<f32>]) {
    let count = sums.len();
    let (factors, solutions) = (factors.chunks(4), solutions.chunks(4));
    for (factors, solutions) in factors.zip(solutions) {
        if let ([f0, f1, f2, f3], [s0, s1, s2, s3]) = (factors, solutions) {
            let (f0, f1, f2, f3) = (*f0 as f32, *f1 as f32, *f2 as f32, *f3 as f32);
            let (s0, s1, s2, s3) = (&s0[..count], &s1[..count], &s2[..count], &s3[..count]);
            for at in 0..count {
                sums[at] = (((sums[at] - f0 * s0[at]) - f1 * s1[at]) - f2 * s2[at]) - f3 * s3[at];
            }
            continue;
        }
        for (factor, solution) in factors.iter().zip(solutions) {
            let factor = *factor as f32;
            for (sum, it) in sums.iter_mut().zip(solution) {
                *sum -= factor * it;
            }
        }
    }
}

impl Model {
    pub(super) fn new(space: &Arc<Space>, seed: u64, prior: &Prior, knobs: Knobs) -> Model {
        let axes = axes(space.parameters());
        Model {
            knobs,
            improvements: Improvements::new(),
            space: space.clone(),
            expected: Expected::of(prior),
            rejected: prior.rejected.iter().copied().collect(),
            random: Random::new(seed),
            shape: Shape::expected(&axes, &knobs),
            axes,
            seen: Vec::new(),
            improved: 0,
            best: f64::INFINITY,
            open: Vec::new(),
            taken: Ids::default(),
            next_fit: knobs.first,
            fitted: None,
        }
    }
}

impl Propose for Model {
    fn learn(&mut self, told: Told) {
        if self.open.is_empty() {
            return;
        }
        let it = self.open.remove(0);
        let expected = self.expects(it.id);
        if let Some(fitted) = &mut self.fitted {
            fitted.learn(fitted.outcome(told), expected);
        }
        self.seen.push((it, told));
        if rank(told) < self.best {
            (self.best, self.improved) = (rank(told), self.seen.len());
        }
    }

    fn propose(&mut self) -> Option<Id> {
        if self.seen.len() < self.next_fit {
            let next = self.candidate();
            if next.is_some() || self.seen.len() < self.knobs.first {
                return next.or_else(|| self.first());
            }
        }
        self.fit();
        self.candidate().or_else(|| self.first())
    }

    fn proposed(&mut self, id: Id) {
        let it = self.describe(id);
        self.taken.insert(id);
        if let Some(fitted) = &mut self.fitted {
            fitted.push(it.clone());
        }
        self.open.push(it);
    }
}

impl Model {
    fn describe(&self, id: Id) -> Candidate {
        self.describe_with(id, &mut vec![0; self.space.parameters().len()])
    }

    /// As `describe`, with room for the places.
    fn describe_with(&self, id: Id, places: &mut [u32]) -> Candidate {
        self.space.write_places(id, places);
        let row = self.axes.iter().map(|it| it.class[places[it.parameter] as usize]).collect();
        Candidate { id, row }
    }

    fn expects(&self, id: Id) -> f64 {
        self.expected.as_ref().map_or(0.0, |it| it.score(id).min(self.knobs.cut))
    }

    fn free(&self, id: Id) -> bool {
        !self.taken.contains(&id) && !self.rejected.contains(&id)
    }

    /// A configuration before there is a model: by chance, and every second by the prior.
    fn first(&mut self) -> Option<Id> {
        let number = self.seen.len() + self.open.len();
        if let Some(expected) = &self.expected
            && number.is_multiple_of(2)
        {
            // Not only the very best: these are often alike.
            let place = (1usize << (number / 2).min(20)) - 1;
            let best = expected.best_from(place).find(|&it| self.free(it));
            if best.is_some() {
                return best;
            }
        }
        // Far from what was proposed: the least similar of some.
        let tables = Tables::of(&self.axes, &self.shape);
        let mut best: Option<(f32, Id)> = None;
        for _ in 0..self.knobs.spread {
            let it = self.space.random(&mut self.random);
            if self.free(it) {
                let row = self.describe(it).row;
                let others = self.seen.iter().map(|it| &it.0).chain(&self.open);
                let likeness = others.map(|it| tables.correlation(&row, &it.row)).fold(0.0, f32::max);
                if best.is_none_or(|best| likeness < best.0) {
                    best = Some((likeness, it));
                }
            }
        }
        best.map(|it| it.1)
    }

    /// The candidate with the highest expected improvement.
    fn candidate(&self) -> Option<Id> {
        let fitted = self.fitted.as_ref()?;
        let best = ((self.best - fitted.centre) / fitted.spread).min(fitted.cut);
        // Without progress every second proposal goes where less is known.
        let stuck = self.seen.len() - self.improved >= self.knobs.patience;
        let bold = stuck && (self.seen.len() + self.open.len()).is_multiple_of(2);
        let scale = if bold { fitted.scale * self.knobs.boldness } else { fitted.scale };
        let (best, scale) = (best as f32, scale as f32);
        let mut top: Option<(f32, Id)> = None;
        for (at, &it) in fitted.candidates.iter().enumerate() {
            if self.taken.contains(&it) {
                continue;
            }
            let variance = fitted.variances[at].max(1e-9);
            let gain = (best - fitted.estimates[at]) / (variance.sqrt() * scale);
            let it = (self.improvements.log(gain) + variance.ln() / 2.0, it);
            if top.is_none_or(|top| it.0 > top.0) {
                top = Some(it);
            }
        }
        top.map(|it| it.1)
    }

    /// Fits the process to the results and chooses candidates.
    fn fit(&mut self) {
        self.next_fit =
            self.seen.len() + ((self.seen.len() as f64 * self.knobs.growth) as usize).clamp(2, 64);
        self.fitted = None;
        let mut logs: Vec<f64> = self.seen.iter().filter_map(|(_, told)| log_time(*told)).collect();
        logs.in_order_by(f64::total_cmp);
        if logs.is_empty() {
            return;
        }
        let n = logs.len() as f64;
        let centre = logs.iter().sum::<f64>() / n;
        let spread = (logs.iter().map(|it| (it - centre).powi(2)).sum::<f64>() / n).sqrt().max(1e-3);
        let mut fitted = Fitted {
            tables: Tables::default(),
            cholesky: Cholesky::default(),
            variance: 1.0,
            mean: 0.0,
            weight: 0.0,
            scale: 1.0,
            cut: self.knobs.cut,
            centre,
            spread,
            rows: Vec::new(),
            solved: Vec::new(),
            known: 0,
            candidates: Vec::new(),
            classes: Vec::new(),
            solutions: Vec::new(),
            variances: Vec::new(),
            estimates: Vec::new(),
        };
        let learned = self.chosen(self.knobs.learned);
        let outcomes = self.outcomes(&fitted, &learned);
        let random = self.random.clone();
        self.shape = self.shape.learned(&self.axes, &outcomes, &self.knobs, random);
        fitted.tables = Tables::of(&self.axes, &self.shape);
        fitted.variance = 1.0 + self.shape.noise();
        let used = self.chosen(self.knobs.outcomes);
        let outcomes = self.outcomes(&fitted, &used);
        let fit = Fit::of(&fitted.tables, &self.shape, &outcomes, &self.knobs);
        (fitted.mean, fitted.weight, fitted.scale) = (fit.mean, fit.weight, fit.scale);
        let values = outcomes.values;
        fitted.cholesky = fit.cholesky;
        fitted.rows = used.iter().map(|&it| self.seen[it].0.clone()).collect();
        fitted.solved = vec![0.0; used.len()];
        for (&at, &value) in used.iter().zip(&values) {
            fitted.learn(value, self.expects(self.seen[at].0.id));
        }
        // The outcomes decide which candidates there are.
        let candidates = self.candidates(&fitted);
        let estimate = |it: &Candidate| (fitted.mean + fitted.weight * self.expects(it.id)) as f32;
        fitted.estimates = candidates.iter().map(estimate).collect();
        fitted.variances = vec![1.0; candidates.len()];
        fitted.classes = candidates.iter().flat_map(|it| it.row.iter().copied()).collect();
        fitted.candidates = candidates.into_iter().map(|it| it.id).collect();
        for _ in 0..used.len() {
            fitted.follow();
        }
        for it in &self.open {
            fitted.push(it.clone());
        }
        self.fitted = Some(fitted);
    }

    /// Results that a model is fitted to: all, or the best half and others by chance, in the order of the proposals.
    fn chosen(&mut self, most: usize) -> Vec<usize> {
        let all = self.seen.len();
        if all <= most {
            return (0..all).collect();
        }
        let mut order: Vec<usize> = (0..all).collect();
        order.in_order_by(|&a, &b| rank(self.seen[a].1).total_cmp(&rank(self.seen[b].1)));
        for at in most / 2..most {
            order.swap(at, at + self.random.below((all - at) as u64) as usize);
        }
        order.truncate(most);
        order.in_order();
        order
    }

    fn outcomes(&self, fitted: &Fitted, chosen: &[usize]) -> Outcomes<'_> {
        let seen = || chosen.iter().map(|&it| &self.seen[it]);
        let expected = match self.expected {
            Some(_) => seen().map(|it| self.expects(it.0.id)).collect(),
            None => Vec::new(),
        };
        let values = seen().map(|it| fitted.outcome(it.1)).collect();
        Outcomes { rows: seen().map(|it| &it.0.row[..]).collect(), values, expected }
    }

    /// Configurations that may be proposed next: a sample of the space, neighbours of the best results, and what local
    /// search on the model finds from there. Half are the best by the model, the others chance.
    fn candidates(&mut self, fitted: &Fitted) -> Vec<Candidate> {
        let weights = fitted.weights();
        let mut found: Vec<(f64, Candidate)> = Vec::new();
        let mut known = Ids::default();
        let mut places = vec![0; self.space.parameters().len()];
        let (fewest, most) = self.knobs.candidates;
        let most = (self.knobs.work / fitted.rows.len().max(1)).clamp(fewest, most);
        let sample = (2 * most).clamp(self.knobs.sample.0, self.knobs.sample.1) as u64;
        let mut ids: Vec<Id> = match self.space.len() {
            all if all <= sample => (0..all).collect(),
            _ => (0..sample).map(|_| self.space.random(&mut self.random)).collect(),
        };
        let mut best: Vec<usize> = (0..self.seen.len()).collect();
        best.in_order_by(|&a, &b| rank(self.seen[a].1).total_cmp(&rank(self.seen[b].1)));
        for &at in best.iter().take(BEST) {
            ids.extend(self.space.neighbours(self.seen[at].0.id, Neighbourhood::Any));
        }
        if let Some(expected) = &self.expected {
            ids.extend(expected.best_from(0).filter(|&it| self.free(it)).take(most / 8));
        }
        for round in 0..=ROUNDS {
            let mut new: Vec<Candidate> = Vec::new();
            for id in std::mem::take(&mut ids) {
                if self.free(id) && known.insert(id) {
                    new.push(self.describe_with(id, &mut places));
                }
            }
            let classes: Vec<u16> = new.iter().flat_map(|it| it.row.iter().copied()).collect();
            let estimates = fitted.estimates(&weights, &classes, new.len());
            for (it, estimate) in new.into_iter().zip(estimates) {
                found.push((f64::from(estimate) + fitted.weight * self.expects(it.id), it));
            }
            if round < ROUNDS {
                let front = found.len().min(FRONT);
                if front < found.len() {
                    found.select_nth_unstable_by(front, |a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id)));
                }
                for (_, it) in &found[..front] {
                    ids.extend(self.space.neighbours(it.id, Neighbourhood::Any));
                }
            }
        }
        found.in_order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.id.cmp(&b.1.id)));
        for at in most / 2..found.len().min(most) {
            let other = at + self.random.below((found.len() - at) as u64) as usize;
            found.swap(at, other);
        }
        found.truncate(most);
        found.into_iter().map(|it| it.1).collect()
    }
}

pub(super) fn log_time(told: Told) -> Option<f64> {
    match told {
        Told::Took(time) => Some(time.ln()),
        Told::Failed => None,
    }
}

/// Faster results first, failures last.
fn rank(told: Told) -> f64 {
    log_time(told).unwrap_or(f64::INFINITY)
}
