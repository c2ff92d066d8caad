//! Two builds compared, kernel by kernel.

use crate::thresholds::{self, Limit};
use view::{Answer, Comparison, DIFF_SCHEMA, Finding, Input, KernelCard, KernelComparison, UsageError};

/// One of two builds.
pub struct Build<'a> {
    /// Its path as given.
    pub path: String,
    /// Its kernels.
    pub kernels: &'a [KernelCard],
}

/// The differences between two builds, beyond which limits they are, and the findings that only the new build
/// has; `renamed` are kernels under other names, old and new.
pub fn compare(
    builds: [Build<'_>; 2],
    renamed: &[(String, String)],
    limits: &[Limit],
) -> Result<Answer<Comparison>, UsageError> {
    let [old, new] = [builds[0].kernels, builds[1].kernels];
    for (from, to) in renamed {
        for (name, side, cards) in [(from, "old", old), (to, "new", new)] {
            if !cards.iter().any(|card| card.name == *name || card.demangled == *name) {
                return Err(UsageError::new(
                    format!("`--match`: the {side} build has no kernel `{name}`"),
                    "give linker names or whole demangled names, as `rockhound inspect --format csv` lists them",
                ));
            }
        }
    }
    let mut comparison = analysis::compare(old, new, renamed);
    comparison.regressions = thresholds::apply(limits, &mut comparison);
    let mut answer = Answer::new(DIFF_SCHEMA, comparison);
    answer.inputs = builds.iter().map(input).collect();
    answer.findings = answer.part.changed.iter().flat_map(appeared).collect();
    Ok(answer)
}

fn input(build: &Build<'_>) -> Input {
    let used = view::counted(build.kernels.len() as u64, "kernel");
    Input { used, ..Input::new(&build.path, &build.path, "code") }
}

/// Findings that only the new build of a kernel has, with its name.
fn appeared(kernel: &KernelComparison) -> impl Iterator<Item = Finding> + '_ {
    let name = &kernel.new.demangled;
    kernel.appeared.iter().map(move |it| Finding { kernel: Some(name.clone()), ..it.clone() })
}
