//! A random forest (Breiman 2001): the mean of regression trees on samples of the results.

use crate::random::Random;
use sorting::Sort;

const TREES: usize = 32;
/// Fewest results of a leaf.
const LEAF: usize = 2;
/// Most results that a tree is grown from.
const MOST_RESULTS: usize = 2000;

enum Node {
    Leaf(f64),
    /// Values of a feature up to a bound go to the first child, others to the second.
    Split {
        feature: usize,
        bound: f64,
        children: [usize; 2],
    },
}

/// A forest.
pub(super) struct Forest {
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// Grows a forest on rows of features and their outcomes.
    pub(super) fn grow(rows: &[Vec<f64>], outcomes: &[f64], seed: u64) -> Forest {
        let mut random = Random::new(seed);
        let trees = (0..TREES).map(|_| {
            let count = rows.len().min(MOST_RESULTS);
            let sample: Vec<usize> = (0..count).map(|_| random.below(rows.len() as u64) as usize).collect();
            let mut nodes = Vec::new();
            grow(rows, outcomes, sample, &mut random, &mut nodes);
            nodes
        });
        Forest { trees: trees.collect() }
    }

    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let predict = |nodes: &Vec<Node>| {
            // The root was finished last.
            let mut at = nodes.len() - 1;
            loop {
                match &nodes[at] {
                    Node::Leaf(it) => return *it,
                    Node::Split { feature, bound, children } => {
                        at = children[usize::from(row[*feature] > *bound)];
                    }
                }
            }
        };
        self.trees.iter().map(predict).sum::<f64>() / self.trees.len() as f64
    }
}

/// Grows a tree below its children first; returns the place of its root.
fn grow(
    rows: &[Vec<f64>],
    outcomes: &[f64],
    sample: Vec<usize>,
    random: &mut Random,
    nodes: &mut Vec<Node>,
) -> usize {
    let node = match split(rows, outcomes, &sample, random) {
        None => Node::Leaf(sample.iter().map(|&it| outcomes[it]).sum::<f64>() / sample.len().max(1) as f64),
        Some((feature, bound)) => {
            let (low, high): (Vec<usize>, Vec<usize>) =
                sample.into_iter().partition(|&it| rows[it][feature] <= bound);
            let low = grow(rows, outcomes, low, random, nodes);
            let high = grow(rows, outcomes, high, random, nodes);
            Node::Split { feature, bound, children: [low, high] }
        }
    };
    nodes.push(node);
    nodes.len() - 1
}

/// The split that leaves the least variance, of a random two thirds of the features.
fn split(rows: &[Vec<f64>], outcomes: &[f64], sample: &[usize], random: &mut Random) -> Option<(usize, f64)> {
    let features = rows.first().map_or(0, Vec::len);
    let values_of = |feature: usize| sample.iter().map(move |&it| (rows[it][feature], outcomes[it]));
    let mut best: Option<(f64, usize, f64)> = None;
    let total: f64 = sample.iter().map(|&it| outcomes[it]).sum();
    let least = total * total / sample.len().max(1) as f64 + 1e-12;
    for feature in 0..features {
        if features > 2 && random.below(3) == 0 {
            continue;
        }
        let mut values: Vec<(f64, f64)> = values_of(feature).collect();
        values.in_order_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        for at in 1..values.len() {
            sum += values[at - 1].1;
            let (low, high) = (at, values.len() - at);
            if values[at].0 > values[at - 1].0 && low >= LEAF && high >= LEAF {
                let gain = sum * sum / low as f64 + (total - sum).powi(2) / high as f64;
                if gain > best.map_or(least, |it| it.0) {
                    best = Some((gain, feature, f64::midpoint(values[at - 1].0, values[at].0)));
                }
            }
        }
    }
    best.map(|it| (it.1, it.2))
}
