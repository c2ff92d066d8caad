//! Spaces of the projects' tuned files and the commands that measure them, from `data/shape-spaces.toml`.

use super::{Operation, TuneFor};
use serde::Deserialize;
use std::sync::OnceLock;
use tune::{Limits, Parameter, Space, SpaceError, Value};
use view::{Recipe, RecipeStep};

const DATA: &str = include_str!("../../../data/shape-spaces.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    space: Vec<ProjectSpace>,
    measure: Vec<Measure>,
}

/// The configurations that a project's tuner tries.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectSpace {
    #[serde(rename = "for")]
    projects: Vec<String>,
    operation: String,
    bits: Vec<u32>,
    /// Files of the project that define the space.
    pub(super) source: String,
    constraints: Vec<String>,
    /// Its parameters, in the order of the project's files.
    pub(super) parameters: Vec<ProjectParameter>,
}

/// A parameter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectParameter {
    /// Its name.
    pub(super) name: String,
    values: Vec<i64>,
    /// Preferred values in order, if the model does not use the parameter.
    #[serde(default)]
    pub(super) prefer: Vec<i64>,
    /// Preferred values in order, where modelled times are equal.
    #[serde(default)]
    ties: Vec<i64>,
}

/// The commands that measure shapes for a project.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Measure {
    #[serde(rename = "for")]
    project: String,
    operation: String,
    /// Kind of the kernel names in entries, which only a measurement chooses; empty if entries are settings.
    pub(super) names: String,
    steps: Vec<MeasureStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasureStep {
    text: String,
    command: String,
}

fn file() -> &'static File {
    static READ: OnceLock<File> = OnceLock::new();
    READ.get_or_init(|| toml::from_str(DATA).expect("validated by a test"))
}

/// The space of a project for factors of this width; `None` if the project tunes no such kernels.
pub(super) fn space_of(target: TuneFor, operation: Operation, bits: u32) -> Option<&'static ProjectSpace> {
    let is = |it: &&ProjectSpace| {
        it.projects.iter().any(|it| it == target.key())
            && it.operation == operation.key()
            && it.bits.contains(&bits)
    };
    file().space.iter().find(is)
}

/// The commands that measure for a project; `None` if the project keeps no entries of the operation.
pub(super) fn measure_of(target: TuneFor, operation: Operation) -> Option<&'static Measure> {
    file().measure.iter().find(|it| it.project == target.key() && it.operation == operation.key())
}

impl ProjectParameter {
    /// The value where an entry lacks the parameter: the last preferred one, which every shape allows, or the first.
    pub(super) fn default(&self) -> Option<i64> {
        self.prefer.last().or(self.values.first()).copied()
    }
}

impl ProjectSpace {
    /// The valid configurations for sizes, which the constraints name.
    pub(super) fn of(&self, sizes: &[(&str, u64)]) -> Result<Space, SpaceError> {
        let own = self.parameters.iter().map(|it| Parameter {
            name: it.name.clone(),
            values: it.values.iter().map(|it| Value::Int(*it)).collect(),
        });
        let fixed = sizes.iter().map(|(name, size)| Parameter {
            name: (*name).to_owned(),
            values: vec![Value::Int(i64::try_from(*size).unwrap_or(i64::MAX))],
        });
        Space::new(own.chain(fixed).collect(), &self.constraints, Limits::default())
    }

    /// The place of a parameter.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|it| it.name == name)
    }

    /// Rank of each value among the preferred ones; lower is better.
    pub(super) fn preference(&self, values: &[i64]) -> Vec<usize> {
        let rank = |(parameter, value): (&ProjectParameter, &i64)| {
            let order = if parameter.prefer.is_empty() { &parameter.ties } else { &parameter.prefer };
            order.iter().position(|it| it == value).unwrap_or(order.len())
        };
        self.parameters.iter().zip(values).map(rank).collect()
    }

    /// Names of parameters that the model does not use.
    pub(super) fn unseen(&self) -> Vec<&str> {
        self.parameters.iter().filter(|it| !it.prefer.is_empty()).map(|it| it.name.as_str()).collect()
    }
}

impl Measure {
    /// The steps for lists of these names.
    pub(super) fn recipe(&self, files: &str, dtype: &str) -> Recipe {
        let step = |it: &MeasureStep| RecipeStep {
            text: it.text.clone(),
            command: it.command.replace("FILES", files).replace("DTYPE", dtype),
        };
        Recipe {
            title: format!("measuring for {}", self.project),
            why: match self.names.is_empty() {
                true => "Modelled times rank tiles; only a GPU times them.".to_owned(),
                false => format!("The entries name {}, which only a measurement chooses.", self.names),
            },
            steps: self.steps.iter().map(step).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_space_of_the_data_can_be_built() {
        let sizes = [
            ("M", 64u64),
            ("N", 4096),
            ("K", 7168),
            ("N1", 4096),
            ("K1", 7168),
            ("N2", 7168),
            ("K2", 2048),
            ("BYTES", 1),
            ("LDS", 65536),
            ("SCALE_N", 128),
            ("SCALE_K", 128),
            ("MX_UNITS", 0),
        ];
        for data in &file().space {
            let space = data.of(&sizes).unwrap_or_else(|error| panic!("{}: {error}", data.source));
            assert!(space.len() > 10 && !data.source.is_empty(), "{}", data.source);
            for name in ["BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "num_warps", "num_stages"] {
                assert!(data.place(name).is_some(), "{}: {name}", data.source);
            }
            for it in &data.parameters {
                let mut named = it.prefer.iter().chain(&it.ties);
                assert!(named.all(|value| it.values.contains(value)), "{}", it.name);
            }
        }
        for target in TuneFor::ALL {
            assert!(measure_of(target, Operation::Gemm).is_some(), "{}", target.key());
        }
    }
}
