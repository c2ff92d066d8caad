//! Knowledge of configurations before they run: from their code, and from times of another place.

use crate::Contents;
use analysis::{KernelEvidence, Source};
use anyhow::{Context, Result, anyhow};
use codeobj::{CodeObject, Wanted};
use std::collections::HashMap;
use std::path::Path;
use tune::{Id, Prior, Space, Told};

/// Why the kernels in a code object cannot run or cannot be fast: no workgroup fits, or registers are spilled.
/// `None` if nothing speaks against it.
pub(super) fn rejection(path: &Path) -> Result<Option<String>> {
    let name = path.display();
    let contents = Contents::open(path).with_context(|| format!("cannot read the built `{name}`"))?;
    let scan =
        codeobj::scan(contents.bytes(), &Wanted::all()).map_err(|error| anyhow!("`{name}`: {error}"))?;
    for found in scan {
        let found = found.map_err(|error| anyhow!("`{name}`: {error}"))?;
        let object = CodeObject::read(&found.data)?;
        for kernel in &object.kernels {
            let source = Source::Binary { data: &found.data, lines: None };
            let evidence = KernelEvidence::gather(&object, kernel, source);
            if let Some(why) = of(&evidence) {
                return Ok(Some(format!("`{}` {why}", kernel.demangled)));
            }
        }
    }
    Ok(None)
}

fn of(evidence: &KernelEvidence<'_>) -> Option<String> {
    if let Some(occupancy) = evidence.occupancy.as_ref().filter(|it| it.workgroups_per_cu == 0) {
        let limit = occupancy.limits.iter().find(|it| it.resource == occupancy.limiter)?;
        return Some(format!(
            "fits in no compute unit: {} needs {} of {} {}",
            limit.resource.name(),
            limit.allocated,
            limit.capacity,
            limit.resource.unit()
        ));
    }
    let metadata = &evidence.kernel.metadata;
    match metadata.vgpr_spills {
        Some(spills) if spills > 0 => Some(format!("spills {spills} VGPRs to scratch")),
        _ => None,
    }
}

/// A prior from times that were taken elsewhere: on another GPU, or emulated. Configurations are equal if they agree in
/// the parameters that both have; the fastest counts. What failed there is expected to be slow, and what was not run
/// there as a model of the times says. Returns the number of configurations with a time, too.
///
/// # Errors
/// If no parameter has the same name in both.
pub fn prior_of(
    space: &Space,
    elsewhere: &Space,
    time_us: &dyn Fn(Id) -> Option<f64>,
) -> Result<(Prior, u64)> {
    let place = |it: &Space, name: &str| it.parameters().iter().position(|it| it.name == name);
    let shared: Vec<(usize, usize)> = (0..space.parameters().len())
        .filter_map(|at| Some((at, place(elsewhere, &space.parameters()[at].name)?)))
        .collect();
    if shared.is_empty() {
        anyhow::bail!("no parameter of it has the name of one of the space");
    }
    let mut times: HashMap<Vec<String>, f64> = HashMap::new();
    for id in 0..elsewhere.len() {
        let time = time_us(id).unwrap_or(f64::INFINITY);
        let values = elsewhere.values(id);
        let key = shared.iter().map(|(_, at)| values[*at].to_string()).collect();
        times.entry(key).and_modify(|it| *it = it.min(time)).or_insert(time);
    }
    let mut known = 0;
    let mut results = Vec::new();
    for id in 0..space.len() {
        let values = space.values(id);
        let key: Vec<String> = shared.iter().map(|(at, _)| values[*at].to_string()).collect();
        let Some(&time) = times.get(&key) else { continue };
        known += u64::from(time.is_finite());
        results.push((id, if time.is_finite() { Told::Took(time) } else { Told::Failed }));
    }
    Ok((Prior { expected: tune::extended(space, &results), rejected: Vec::new() }, known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tune::{Limits, Parameter, Value};

    fn space(all: &[(&str, &[i64])]) -> Space {
        let of = |(name, values): &(&str, &[i64])| Parameter {
            name: (*name).to_owned(),
            values: values.iter().map(|it| Value::Int(*it)).collect(),
        };
        Space::new(all.iter().map(of).collect(), &[], Limits::default()).unwrap()
    }

    #[test]
    fn times_of_another_place() {
        let here = space(&[("x", &[1, 2]), ("y", &[1, 2])]);
        let there = space(&[("y", &[2, 3]), ("z", &[0, 1])]);
        // y=2 z=0, y=2 z=1, y=3 z=0, y=3 z=1
        let (prior, known) =
            prior_of(&here, &there, &|id| [Some(8.0), Some(5.0), Some(1.0), None][id as usize]).unwrap();
        assert_eq!((prior.expected, known), (vec![None, Some(5.0), None, Some(5.0)], 2));
        assert!(prior_of(&here, &space(&[("z", &[0])]), &|_| None).is_err());

        // Some times tell of other configurations, and failures are slow.
        let upto = |most: i64| space(&[("x", &(1..=most).collect::<Vec<i64>>())]);
        let (here, there) = (upto(12), upto(10));
        let (prior, known) = prior_of(&here, &there, &|id| (id > 0).then_some(f64::from(id as u32))).unwrap();
        let [first, .., eleventh, twelfth] = &prior.expected[..] else { panic!("twelve") };
        assert!((first.unwrap() - 9.0).abs() < 1e-9 && eleventh.unwrap() > 5.0 && twelfth.is_some());
        assert_eq!(known, 9);
    }
}
