//! What built code says of a configuration before it runs.

use crate::Contents;
use analysis::{KernelEvidence, Source};
use anyhow::{Context, Result, anyhow};
use codeobj::{CodeObject, Wanted};
use std::path::Path;

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
