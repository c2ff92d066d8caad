//! The space of a space file, and configurations by their values.

use super::spec::{Spec, Start};
use anyhow::{Result, anyhow, bail};
use tune::{Id, Parameter, Space, Value};

/// The valid configurations of a space file.
///
/// # Errors
/// If none is valid, or a constraint cannot be read.
pub fn space_of(spec: &Spec) -> Result<Space> {
    Ok(Space::new(spec.parameters.clone(), &spec.constraints, tune::Limits::default())?)
}

/// One value of each parameter, in their order. A parameter that is not named has its first value.
///
/// # Errors
/// If a name is no parameter, or a value is not one of its values.
pub(super) fn values_of(parameters: &[Parameter], named: &[(String, Value)]) -> Result<Vec<Value>> {
    for (name, value) in named {
        let Some(parameter) = parameters.iter().find(|it| it.name == *name) else {
            let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
            bail!("`{name}` is not a parameter; the parameters are {}", names.join(", "));
        };
        if !parameter.values.contains(value) {
            let known: Vec<String> = parameter.values.iter().map(ToString::to_string).collect();
            bail!("`{name}` has no value {value}; its values are {}", known.join(", "));
        }
    }
    let value = |parameter: &Parameter| {
        let named = named.iter().rev().find(|it| it.0 == parameter.name).map(|it| it.1.clone());
        let value = named.or_else(|| parameter.values.first().cloned());
        value.ok_or_else(|| anyhow!("`{}` has no values", parameter.name))
    };
    parameters.iter().map(value).collect()
}

/// The configuration with these values, one of each parameter; `None` if a constraint removes it.
pub fn place(space: &Space, values: &[Value]) -> Option<Id> {
    let place = |(parameter, value): (&Parameter, &Value)| {
        parameter.values.iter().position(|it| it == value).map(|it| it as u32)
    };
    space.id(&space.parameters().iter().zip(values).map(place).collect::<Option<Vec<u32>>>()?)
}

/// The configuration of `[start]`; a parameter that it does not name has its first value.
///
/// # Errors
/// If a name or value is not the space's, or the configuration breaks a constraint.
pub fn id_of(space: &Space, start: &Start) -> Result<Id> {
    let values = values_of(space.parameters(), start).map_err(|error| error.context("`[start]`"))?;
    place(space, &values).ok_or_else(|| anyhow!("the configuration of `[start]` breaks a constraint"))
}
