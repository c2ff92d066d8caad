//! The space of a space file.

use super::spec::{Spec, Start};
use anyhow::{Result, anyhow, bail};
use tune::{Id, Space};

/// The valid configurations of a space file.
///
/// # Errors
/// If none is valid, or a constraint cannot be read.
pub fn space_of(spec: &Spec) -> Result<Space> {
    Ok(Space::new(spec.parameters.clone(), &spec.constraints, tune::Limits::default())?)
}

/// The configuration with these values; parameters that are not named have their first value.
///
/// # Errors
/// If a name or value is not the space's, or the configuration breaks a constraint.
pub fn id_of(space: &Space, start: &Start) -> Result<Id> {
    let mut places = vec![0; space.parameters().len()];
    for (name, value) in start {
        let Some(at) = space.parameters().iter().position(|it| it.name == *name) else {
            bail!("`[start]` names `{name}`, which is no parameter");
        };
        let values = &space.parameters()[at].values;
        let Some(place) = values.iter().position(|it| it == value) else {
            let known: Vec<String> = values.iter().map(ToString::to_string).collect();
            bail!("`[start]` gives `{name}` the value {value}; its values are {}", known.join(", "));
        };
        places[at] = place as u32;
    }
    space.id(&places).ok_or_else(|| anyhow!("the configuration of `[start]` breaks a constraint"))
}
