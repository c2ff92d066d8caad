//! The valid configurations of a space.

use crate::value::Value;

/// Number of a configuration within its space, from 0.
pub type Id = u64;

/// A parameter and its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Values, in the order of the file.
    pub values: Vec<Value>,
}

/// A constraint and the configurations that it removes.
#[derive(Clone, PartialEq, Debug)]
pub struct Removed {
    /// The constraint as written.
    pub constraint: String,
    /// Configurations of the product that break it.
    pub configurations: u64,
}

/// A space that cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SpaceError {
    /// no configuration is left
    #[error("no configuration is left")]
    Empty,
    /// parameter `{0}` has no values
    #[error("parameter `{0}` has no values")]
    NoValues(String),
    /// a configuration names value {place} of parameter `{parameter}`, which has fewer
    #[error("a configuration names value {place} of parameter `{parameter}`, which has fewer")]
    NoSuchValue {
        /// The parameter.
        parameter: String,
        /// The value's place.
        place: u32,
    },
}

/// The valid configurations of a space.
#[derive(Clone, Debug)]
pub struct Space {
    parameters: Vec<Parameter>,
    /// Places of values, configuration by configuration.
    rows: Vec<Vec<u32>>,
}

impl Space {
    /// A space whose configurations are listed: for each, the place of each parameter's value.
    ///
    /// # Errors
    /// If a parameter has no values, a place is beyond its parameter's values, or no configuration is listed.
    pub fn listed(parameters: Vec<Parameter>, rows: Vec<Vec<u32>>) -> Result<Space, SpaceError> {
        if let Some(it) = parameters.iter().find(|it| it.values.is_empty()) {
            return Err(SpaceError::NoValues(it.name.clone()));
        }
        for row in &rows {
            for (parameter, &place) in parameters.iter().zip(row) {
                if place as usize >= parameter.values.len() {
                    return Err(SpaceError::NoSuchValue { parameter: parameter.name.clone(), place });
                }
            }
        }
        match rows.is_empty() {
            true => Err(SpaceError::Empty),
            false => Ok(Space { parameters, rows }),
        }
    }

    /// The parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Valid configurations; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a space is never empty")]
    pub fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Combinations of all values; `None` if they are beyond 2^64.
    pub fn combinations(&self) -> Option<u64> {
        self.parameters.iter().try_fold(1u64, |all, it| all.checked_mul(it.values.len() as u64))
    }

    /// The places of a configuration's values.
    ///
    /// # Panics
    /// If the space has no such configuration.
    pub fn places(&self, id: Id) -> Vec<u32> {
        self.rows[id as usize].clone()
    }

    /// The values of a configuration, in the order of the parameters.
    pub fn values(&self, id: Id) -> Vec<&Value> {
        let places = self.places(id);
        self.parameters.iter().zip(places).map(|(it, place)| &it.values[place as usize]).collect()
    }

    /// The configuration with these values, by place.
    pub fn id(&self, places: &[u32]) -> Option<Id> {
        self.rows.iter().position(|it| it == places).map(|it| it as Id)
    }
}
