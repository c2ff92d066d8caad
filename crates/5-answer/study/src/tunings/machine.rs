//! The machine that tuning files are to be used on.

use arch::{Model, Target};
use rules::TuneMachine;
use view::UsageError;

/// The machine named on a command line; `None` if nothing is said of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedMachine<'a> {
    /// A GPU by its name.
    pub gpu: Option<&'a str>,
    /// Compute units of a partition of it.
    pub compute_units: Option<u32>,
    /// Target and compute units of the GPU that the files are to be used on.
    pub here: Option<&'a (String, u32)>,
    /// Versions of libraries: `NAME=VALUE`.
    pub expect: &'a [String],
}

impl NamedMachine<'_> {
    /// The facts that rules and loaders use.
    pub fn known(self) -> Result<Option<TuneMachine>, UsageError> {
        let mut machine = TuneMachine::default();
        if let Some(model) = self.gpu.and_then(Model::by_name) {
            machine.target = Some(model.target().name.to_owned());
            machine.cu_count = Some(self.compute_units.unwrap_or(model.compute_units.value));
            machine.model = Some(model.key());
        }
        if let Some((target, units)) = self.here {
            machine.model = Target::by_name(target).and_then(|target| {
                let mut models = Model::of_target(target);
                models.find(|model| model.compute_units.value == *units).map(Model::key)
            });
            (machine.target, machine.cu_count) = (Some(target.clone()), Some(*units));
        }
        for pair in self.expect {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(UsageError::new(
                    format!("`--expect {pair}` has no value"),
                    "write NAME=VALUE, as in the file",
                ));
            };
            machine.versions.insert(name.to_owned(), value.to_owned());
        }
        let is_known = self.gpu.is_some() || self.here.is_some() || !self.expect.is_empty();
        Ok(is_known.then_some(machine))
    }
}
