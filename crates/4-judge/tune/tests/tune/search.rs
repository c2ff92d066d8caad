//! Searches of a space whose times are a function.

use rockhound_tune::{
    Asked, Id, Limits, Parameter, Prior, Random, Search, Settings, Space, Strategy, Told, Value, extended,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn space() -> Arc<Space> {
    let parameter = |name: &str, values: &str| Parameter {
        name: name.to_owned(),
        values: values.split(' ').map(Value::parse).collect(),
    };
    let parameters = vec![
        parameter("block_x", "16 32 48 64 80 96 112 128 160 192 224 256"),
        parameter("block_y", "1 2 4 8 16"),
        parameter("tile", "1 2 3 4 5 6"),
        parameter("layout", "row column swizzled"),
        parameter("padding", "0 1"),
    ];
    let constraints = ["block_x * block_y <= 1024".to_owned(), "padding == 0 or layout != 'row'".to_owned()];
    Arc::new(Space::new(parameters, &constraints, Limits::default()).unwrap())
}

/// A time with a narrow valley: best is 128 x 2, tile 4, swizzled, padding. Large tiles of many threads fail.
fn told(space: &Space, id: Id) -> Told {
    let number = |at: usize| space.values(id)[at].number().unwrap_or(0.0);
    let (x, y, tile) = (number(0), number(1), number(2));
    if x * y > 512.0 && tile > 4.0 {
        return Told::Failed;
    }
    let threads = ((x * y).log2() - 8.0).abs();
    let aligned = if x % 64.0 == 0.0 { 1.0 } else { 1.6 };
    let layout = [1.7, 1.4, 1.0][space.places(id)[3] as usize];
    let padding = if number(4) == 1.0 { 1.0 } else { 1.2 };
    let shape = 1.0 + 0.1 * (y.log2() - 1.0).powi(2) + 0.15 * (tile - 4.0).powi(2);
    Told::Took((1.0 + threads) * aligned * layout * padding * shape)
}

fn times(space: &Space) -> Vec<Option<f64>> {
    let time = |id| match told(space, id) {
        Told::Took(it) => Some(it),
        Told::Failed => None,
    };
    (0..space.len()).map(time).collect()
}

fn settings(seed: u64, budget: u64, lag: u32) -> Settings {
    Settings { strategy: Strategy::Model, seed, budget, lag, first: Vec::new() }
}

/// Proposals of a search whose results come in an order that `late` chooses of those out.
fn run(
    settings: Settings,
    prior: Prior,
    mut late: impl FnMut(usize) -> usize,
) -> (Vec<Id>, Option<(Id, f64)>) {
    let space = space();
    let mut search = Search::new(space.clone(), settings, prior);
    let (mut asked, mut out) = (Vec::new(), Vec::new());
    loop {
        match search.ask() {
            Asked::Run(id) => {
                asked.push(id);
                out.push(id);
            }
            Asked::Wait => {
                let id = out.remove(late(out.len()));
                search.tell(id, told(&space, id));
            }
            Asked::Finished if out.is_empty() => return (asked, search.best()),
            Asked::Finished => {
                let id = out.remove(0);
                search.tell(id, told(&space, id));
            }
        }
    }
}

#[test]
fn searches_find_the_best_with_a_twentieth_of_the_runs() {
    let space = space();
    let times = times(&space);
    let optimum = times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let budget = space.len() / 20;
    for lag in [1, 8] {
        let of = |seed| {
            run(settings(seed, budget, lag), Prior::default(), |_| 0).1.map_or(0.0, |it| optimum / it.1)
        };
        let found: Vec<f64> = (0..20).map(of).collect();
        let mean = found.iter().sum::<f64>() / 20.0;
        assert!(mean > 0.92, "lag {lag}: {found:?}");
    }
}

#[test]
fn proposals_do_not_depend_on_the_order_of_results() {
    for lag in [1, 3, 8] {
        let first = run(settings(4, 60, lag), Prior::default(), |_| 0).0;
        let mut random = Random::new(9);
        let other = run(settings(4, 60, lag), Prior::default(), |out| random.below(out as u64) as usize).0;
        assert_eq!(first, other, "lag {lag}");
        let another_seed = run(settings(5, 60, lag), Prior::default(), |_| 0).0;
        assert_ne!(first, another_seed);
    }
}

#[test]
fn budgets_are_used_and_nothing_is_proposed_twice() {
    let space = space();
    let rejected: Vec<Id> = (0..space.len()).filter(|it| it % 3 == 0).collect();
    for strategy in [Strategy::Model, Strategy::Random, Strategy::Exhaustive] {
        for budget in [1, 7, 40, 100_000] {
            let prior = Prior { rejected: rejected.clone(), ..Prior::default() };
            let settings = Settings { strategy, budget, first: vec![5, 5, 1, 999_999], ..settings(1, 0, 4) };
            let (asked, _) = run(settings, prior, |_| 0);
            let different: BTreeSet<Id> = asked.iter().copied().collect();
            assert_eq!(different.len(), asked.len(), "{strategy:?}");
            let all = space.len() - rejected.len() as u64;
            assert_eq!(asked.len() as u64, budget.min(all), "{strategy:?} {budget}");
            assert!(different.iter().all(|it| it % 3 != 0), "{strategy:?}");
            assert_eq!(asked[0], 5);
        }
    }
}

#[test]
fn searches_survive_what_evaluators_tell() {
    let space = space();
    for result in [Told::Failed, Told::Took(f64::NAN), Told::Took(0.0), Told::Took(1.0), Told::Took(1e300)] {
        let mut search = Search::new(space.clone(), settings(1, 60, 1), Prior::default());
        let mut runs = 0;
        while let Asked::Run(id) = search.ask() {
            search.tell(id, result);
            search.tell(id, Told::Took(1e-9));
            search.tell(u64::MAX, Told::Took(1e-9));
            runs += 1;
        }
        let kept = matches!(result, Told::Took(it) if it > 0.0);
        assert_eq!((runs, search.best().is_some()), (60, kept), "{result:?}");
    }
}

#[test]
fn failures_are_learned_from() {
    let space = space();
    let share = |ids: &[Id]| {
        ids.iter().filter(|&&it| told(&space, it) == Told::Failed).count() as f64 / ids.len() as f64
    };
    let all: Vec<Id> = (0..space.len()).collect();
    let asked: Vec<Id> = (0..10)
        .flat_map(|seed| run(settings(seed, 60, 1), Prior::default(), |_| 0).0.split_off(20))
        .collect();
    assert!(share(&asked) < share(&all) * 0.7, "{} of {}", share(&asked), share(&all));
}

/// Mean of optimum over best after `budget` runs, with a prior of the true times to a power and with noise.
fn with_prior(budget: u64, power: f64, noise: f64) -> f64 {
    let times = times(&space());
    let optimum = times.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let of = |seed| {
        let mut random = Random::new(seed);
        let mut disturbed = |time: f64| {
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            // Wrong by a factor too.
            1000.0 * (power * time.ln() + noise * normal).exp()
        };
        let expected = times.iter().map(|it| it.map(&mut disturbed)).collect();
        let found = run(settings(seed, budget, 1), Prior { expected, rejected: Vec::new() }, |_| 0);
        found.1.map_or(0.0, |it| optimum / it.1)
    };
    (0..30).map(of).sum::<f64>() / 30.0
}

#[test]
fn good_priors_help_and_wrong_ones_cost_little() {
    let budget = space().len() / 100;
    let without = with_prior(budget, 0.0, 0.0);
    // Deviations of the logarithm of the times are about 0.5: a rank correlation of 0.9 and of 0.6.
    let (good, fair) = (with_prior(budget, 1.0, 0.25), with_prior(budget, 1.0, 0.7));
    let (noise, inverted) = (with_prior(3 * budget, 0.0, 1.0), with_prior(3 * budget, -1.0, 0.25));
    let long_without = with_prior(3 * budget, 0.0, 0.0);
    let row = format!("{without:.3} {good:.3} {fair:.3}; {long_without:.3} {noise:.3} {inverted:.3}");
    assert!(good > without + 0.1 && fair > without, "{row}");
    assert!(noise > long_without - 0.1 && inverted > long_without - 0.1, "{row}");
}

#[test]
fn times_of_some_configurations_tell_of_all() {
    let space = space();
    let step = (space.len() / 80) as usize;
    let some: Vec<(Id, Told)> = (0..space.len()).step_by(step).map(|it| (it, told(&space, it))).collect();
    let expected = extended(&space, &some);
    let slowest = some.iter().filter_map(|it| match it.1 {
        Told::Took(time) => Some(time),
        Told::Failed => None,
    });
    let slowest = slowest.fold(0.0, f64::max);
    for &(id, told) in &some {
        let time = if let Told::Took(time) = told { time } else { slowest };
        assert!((expected[id as usize].unwrap() / time - 1.0).abs() < 1e-9);
    }
    // Of pairs of others, most are in the right order.
    let others: Vec<Id> = (0..space.len()).filter(|it| it % step as u64 != 0).collect();
    let time = |id: Id| if let Told::Took(time) = told(&space, id) { time } else { f64::INFINITY };
    let mut random = Random::new(1);
    let mut right = 0;
    for _ in 0..2000 {
        let [a, b] = [0; 2].map(|_| others[random.below(others.len() as u64) as usize]);
        let said = expected[a as usize].unwrap() < expected[b as usize].unwrap();
        right += u32::from(said == (time(a) < time(b)));
    }
    assert!(right > 1600, "{right} of 2000");

    // A few times say nothing of others, and failures alone nothing at all.
    let few = extended(&space, &some[..4]);
    assert_eq!(few.iter().flatten().count(), 4);
    let failed: Vec<(Id, Told)> = (0..20).map(|it| (it, Told::Failed)).collect();
    assert!(extended(&space, &failed).iter().all(Option::is_none));
    assert!(extended(&space, &[]).iter().all(Option::is_none));
    // Equal times, and one that is no configuration.
    let equal: Vec<(Id, Told)> =
        (0..20).map(|it| (it, Told::Took(2.0))).chain([(1 << 40, Told::Failed)]).collect();
    assert!(extended(&space, &equal).iter().flatten().all(|it| (it - 2.0).abs() < 0.01));
}
