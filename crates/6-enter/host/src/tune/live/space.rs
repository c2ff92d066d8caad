//! The space of an autotuned kernel: the configurations that the program lists, or a wider one.

use super::super::results;
use super::message::{Begin, Configured, Values};
use super::widen::{LeftOut, Widened, widened};
use anyhow::{Context, Result};
use arch::Model;
use serde_json::Map;
use sorting::Sort;
use std::collections::HashMap;
use std::sync::Arc;
use tune::{Id, Parameter, Space, Value};

/// Text of a parameter that a configuration does not set.
pub(super) const UNSET: &str = "unset";

/// A space with what its configurations are to the program.
#[derive(Clone, Debug)]
pub(super) struct LiveSpace {
    pub(super) space: Arc<Space>,
    /// Place in the program's list, of those that are there.
    listed: HashMap<Id, usize>,
    /// Parameters that a configuration outside of the list sets.
    set: Vec<usize>,
    pub(super) left_out: Vec<LeftOut>,
}

impl LiveSpace {
    /// The space of a kernel, on a GPU if that is known.
    pub(super) fn new(begin: &Begin, widen: bool, model: Option<&'static Model>) -> Result<LiveSpace> {
        let parameters = parameters(&begin.configurations);
        let rows: Vec<Vec<u32>> = begin.configurations.iter().map(|it| row(&parameters, it)).collect();
        let pruned = begin.all.saturating_sub(begin.configurations.len() as u64);
        let mut left_out = Vec::new();
        if pruned > 0 {
            left_out.push(LeftOut {
                configurations: pruned,
                why: "the kernel's own `prune_configs_by`".to_owned(),
            });
        }
        if let (true, Some(model)) = (widen, model) {
            let Widened { space, set, left_out: more } = widened(begin, &parameters, model)?;
            left_out.extend(more);
            let places = |row: &Vec<u32>| {
                let values = parameters.iter().zip(row).map(|(it, at)| (&it.name, &it.values[*at as usize]));
                let by_name: HashMap<_, _> = values.collect();
                let place = |it: &Parameter| {
                    let value = by_name.get(&it.name).copied().or_else(|| it.values.first())?;
                    it.values.iter().position(|other| other == value).map(|at| at as u32)
                };
                space.parameters().iter().map(place).collect::<Option<Vec<u32>>>()
            };
            let found = rows.iter().enumerate().filter_map(|(at, row)| Some((space.id(&places(row)?)?, at)));
            let listed = found.collect();
            return Ok(LiveSpace { space: Arc::new(space), listed, set, left_out });
        }
        let mut listed = HashMap::new();
        let mut unique: Vec<Vec<u32>> = Vec::new();
        let mut places = Vec::new();
        for (at, row) in rows.into_iter().enumerate() {
            if !unique.contains(&row) {
                unique.push(row);
                places.push(at);
            }
        }
        let space = Space::listed(parameters, unique.clone()).context("the configurations of the kernel")?;
        for (row, at) in unique.iter().zip(places) {
            if let Some(id) = space.id(row) {
                listed.insert(id, at);
            }
        }
        Ok(LiveSpace { space: Arc::new(space), listed, set: Vec::new(), left_out })
    }

    /// A configuration as the program hears it.
    pub(super) fn configured(&self, id: Id) -> Configured {
        if let Some(at) = self.listed.get(&id) {
            return Configured { id, listed: Some(*at), values: Map::new() };
        }
        let values = self.space.values(id);
        let set = self.set.iter().filter(|at| *values[**at] != Value::Text(UNSET.to_owned()));
        let set = set.map(|at| (self.space.parameters()[*at].name.clone(), results::value(values[*at])));
        Configured { id, listed: None, values: set.collect() }
    }

    /// Configurations of the program's list, in its order.
    pub(super) fn listed(&self) -> Vec<Id> {
        let mut listed: Vec<(usize, Id)> = self.listed.iter().map(|(id, at)| (*at, *id)).collect();
        listed.in_order();
        listed.into_iter().map(|(_, id)| id).collect()
    }
}

/// Parameters in the order in which configurations name them, each with its values in order of appearance.
fn parameters(configurations: &[Values]) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (name, _) in configurations.iter().flatten() {
        if !parameters.iter().any(|it| it.name == *name) {
            parameters.push(Parameter { name: name.clone(), values: Vec::new() });
        }
    }
    for parameter in &mut parameters {
        for configuration in configurations {
            let value = value(configuration, &parameter.name);
            if !parameter.values.contains(&value) {
                parameter.values.push(value);
            }
        }
    }
    if parameters.is_empty() {
        // Triton's own default: one configuration without a parameter.
        parameters.push(Parameter { name: "num_warps".to_owned(), values: vec![Value::Int(4)] });
    }
    parameters
}

fn row(parameters: &[Parameter], configuration: &Values) -> Vec<u32> {
    let place = |it: &Parameter| {
        let value = value(configuration, &it.name);
        it.values.iter().position(|other| *other == value).unwrap_or(0) as u32
    };
    parameters.iter().map(place).collect()
}

fn value(configuration: &Values, name: &str) -> Value {
    let given = configuration.iter().find(|it| it.0 == name);
    given.and_then(|it| results::of_json(&it.1)).unwrap_or_else(|| Value::Text(UNSET.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(configurations: &str) -> Begin {
        Begin { configurations: serde_json::from_str(configurations).unwrap(), all: 5, ..Begin::default() }
    }

    #[test]
    fn lists_become_spaces() {
        let begin = begin(
            r#"[[["BLOCK", 64], ["num_warps", 4]], [["BLOCK", 128], ["num_warps", 4], ["kpack", 2]],
                [["BLOCK", 64], ["num_warps", 4]]]"#,
        );
        let space = LiveSpace::new(&begin, false, None).unwrap();
        assert_eq!(space.space.len(), 2, "one is there twice");
        assert_eq!(space.listed(), [0, 1]);
        let second: Vec<String> = space.space.values(1).iter().map(ToString::to_string).collect();
        assert_eq!(second, ["128", "4", "2"]);
        let first: Vec<String> = space.space.values(0).iter().map(ToString::to_string).collect();
        assert_eq!(first, ["64", "4", UNSET]);
        assert_eq!(space.left_out[0].configurations, 2, "pruned");
        assert_eq!(space.configured(1).listed, Some(1));
    }
}
