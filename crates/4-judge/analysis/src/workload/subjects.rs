//! Recordings that are shown together: selection from all of them, and facts of their machines.
//!
//! Kernels are resolved on the first recording; the others follow by name.

use super::compare::Renames;
use super::machine::{COMMAND_LINE, Filled, correct, fill_as};
use super::select::{KernelFilter, select};
use super::subject::Subject;
use arch::{Model, Target, target_of_product};
use view::{UsageError, Wanted};
use workload::Workload;

/// Recordings with their selections.
#[derive(Debug)]
pub struct Subjects {
    /// In the order given.
    pub all: Vec<Subject>,
    /// Kernels under other names.
    pub renames: Renames,
    /// One could not be read.
    pub failed: bool,
}

impl Subjects {
    /// Selects in each recording.
    pub fn select(&mut self, wanted: &Wanted) -> Result<(), UsageError> {
        let Subjects { all, renames, .. } = self;
        let Some(base) = all.first().map(|it| &it.workload) else { return Ok(()) };
        let mut filter = KernelFilter::new(base, &wanted.kernels)?;
        if let Some(filter) = &mut filter {
            for kernel in &base.kernels {
                if filter.admits(kernel) {
                    let others: Vec<&str> = renames.others(workload::plain_kernel_name(kernel)).collect();
                    others.into_iter().for_each(|name| filter.admit(name));
                }
            }
        }
        for s in all {
            (s.rows, s.selection) = select(&s.workload, filter.as_ref(), wanted)?;
            let kernels = filter.as_ref().map_or_else(Vec::new, |filter| filter.named().to_vec());
            s.wanted = Wanted { kernels, ..wanted.clone() };
        }
        Ok(())
    }
}

/// Fills in unrecorded facts of the machine: `corrections` replace recorded ones, and the GPU named `arch`
/// counts if the recording names none.
pub fn complete(
    workload: &mut Workload,
    arch: Option<&str>,
    corrections: Option<&str>,
) -> Result<Vec<Filled>, UsageError> {
    let mut given = Vec::new();
    if let Some(text) = corrections {
        given = correct(&mut workload.machine, text)?;
    }
    let mut named = None;
    if let Some(name) = arch {
        let (target, model) = named_gpu(name)?;
        named = model.as_deref().and_then(Model::by_name);
        let facts = &mut workload.machine;
        for (fact, value) in [("gpu_arch", Some(target)), ("gpu_model", model)] {
            if let (None, Some(value)) = (facts.text(fact), value) {
                facts.facts.insert(fact.to_owned(), value.clone());
                given.push(Filled { fact, value, source: COMMAND_LINE.to_owned() });
            }
        }
    }
    given.extend(fill_as(&mut workload.machine, named));
    if named.is_some() {
        // The recording asks for what the command line says.
        workload.problems.retain(|problem| !problem.consequence.contains("name the GPU"));
    }
    Ok(given)
}

/// Target and model of a GPU by either's name.
pub fn named_gpu(name: &str) -> Result<(String, Option<String>), UsageError> {
    let lower = name.to_ascii_lowercase();
    if let Some(target) = Target::by_name(lower.split(':').next().unwrap_or_default()) {
        return Ok((target.name.to_owned(), None));
    }
    target_of_product(&lower)
        .map(|target| (target.name.to_owned(), Some(lower.to_ascii_uppercase())))
        .ok_or_else(|| unknown_gpu(name))
}

/// Error for a name that is neither a target nor a GPU.
pub fn unknown_gpu(name: &str) -> UsageError {
    let names: Vec<&str> = Target::names().chain(Model::names()).collect();
    UsageError::new(format!("there are no facts about `{name}`"), format!("known are {}", names.join(", ")))
}
