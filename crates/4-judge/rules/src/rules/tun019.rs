//! TUN019: configurations that need more LDS than the GPU has.

use crate::device_names::sold_as;
use crate::tunings::{TuningEvidence, at, outcome};
use crate::{Check, Outcome, Rule};
use arch::{Model, Target};
use tunedb::{Detail, Row, Tunings};
use view::{Finding, Severity, thousands};

pub(crate) const RULE: Rule = Rule {
    id: "TUN019",
    title: "configurations that need more LDS than the GPU has",
    severity: Severity::Severe,
    page: PAGE,
    checks: &[Check::Tunings(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Computes the LDS that each configuration of a Triton kernel needs (vLLM, SGLang, AITER) from its tile, its `num_stages` and its types, and
compares it with the GPU: the one in the file's name or path, else the one of `--gpu`. Files for other GPUs than `--gpu` are left out.

## Why it is slow
Triton refuses to launch the kernel: `OutOfResources: shared memory, Required: 98304, Hardware limit: 65536`. The server ends with that
error when the first batch has the size of the entry, which may be hours after its start.

## Evidence
BLOCK_M x BLOCK_K and BLOCK_K x BLOCK_N elements, times the buffers: one less than `num_stages`, since a stage of the pipeline is in
registers. With asynchronous copies (gfx950), and in older releases, there is a buffer for each stage. Types come from the name of the
file; without one they are of 16 bits. Scratch of reductions and changes of layout is not counted.

## What to do
Lower `num_stages` to the number in the finding, or halve `BLOCK_SIZE_K`. gfx942 has 65,536 bytes, gfx950 163,840.

## Source
Triton 3.2 to 3.9, compiled: LDS of matrix products is the sum of both tiles times the buffers. vLLM pull request 17744.
";

/// A tile of a configuration.
struct Need {
    tile: [u64; 3],
    stages: u64,
    /// Bits of an element of both factors.
    bits: [u64; 2],
}

impl Need {
    fn of(row: &Row<'_>, bits: [u64; 2]) -> Option<Need> {
        let text = row.candidate.as_deref().ok()?;
        let value = |names: [&str; 2]| {
            let mut pairs = text.split(", ").filter_map(|it| it.split_once(": "));
            pairs.find(|it| names.contains(&it.0)).and_then(|it| it.1.parse::<u64>().ok())
        };
        let tile = [
            value(["BLOCK_SIZE_M", "BLOCK_M"])?,
            value(["BLOCK_SIZE_N", "BLOCK_N"])?,
            value(["BLOCK_SIZE_K", "BLOCK_K"])?,
        ];
        // A size that is no tile is another rule's finding.
        let sound = tile.iter().all(|it| (1..=1 << 16).contains(it));
        let stages = value(["num_stages", "num_stages"])?;
        (sound && stages <= 64).then_some(Need { tile, stages, bits })
    }

    /// Bytes of both tiles.
    fn tiles(&self) -> [u64; 2] {
        let [m, n, k] = self.tile;
        [m * k * self.bits[0] / 8, k * n * self.bits[1] / 8]
    }

    fn with_buffers(&self, buffers: u64) -> u64 {
        self.tiles().iter().sum::<u64>() * buffers
    }

    /// With a stage in registers.
    fn least(&self) -> u64 {
        match self.stages {
            0 | 1 => self.tiles().into_iter().max().unwrap_or(0),
            stages => self.with_buffers(stages - 1),
        }
    }
}

fn check(evidence: &TuningEvidence<'_>) -> Outcome {
    let mut findings = Vec::new();
    for file in evidence.files {
        let (Some(bits), Some(target)) = (bits(file), target(evidence, file)) else { continue };
        let most = lds(target);
        for row in &file.rows {
            let Some(need) = Need::of(row, bits) else { continue };
            findings.extend(one(file, row, &need, target, most));
        }
    }
    outcome(findings)
}

fn lds(target: &Target) -> u64 {
    u64::from(target.lds.bytes_per_workgroup.value)
}

/// Bits of the elements of both factors, by the file's name.
fn bits(file: &Tunings<'_>) -> Option<[u64; 2]> {
    match &file.detail {
        Detail::Moe(name) => Some(match name.dtype.as_deref() {
            None => [16, 16],
            Some(dtype) if dtype.contains("w8a8") => [8, 8],
            // Packed weights are loaded as bytes.
            Some(dtype) if dtype.contains("a16") => [16, 8],
            Some(_) => return None,
        }),
        Detail::Config(name) => {
            // `gemm_a8w8_blockscale`, `gemm_a16w16`.
            let word = name.kernel.split('_').find(|it| it.starts_with('a') && it.contains('w'))?;
            let (a, w) = word[1..].split_once('w')?;
            Some([a.parse().ok()?, w.parse().ok()?])
        }
        _ => None,
    }
}

/// The target that reads the file: its own, or the machine's where the name tells none. `None` if it is known and
/// not the machine's, which then does not open the file.
fn target(evidence: &TuningEvidence<'_>, file: &Tunings<'_>) -> Option<&'static Target> {
    let machine = evidence.machine.and_then(|it| it.target.as_deref());
    let own = match &file.detail {
        // No GPU of AMD reads a file with such a name.
        Detail::Moe(name) if name.device.starts_with("NVIDIA") => return None,
        Detail::Moe(name) => {
            let sold = sold_as(&name.device);
            Model::by_name(sold).map(Model::target).or_else(|| arch::target_of_product(sold))
        }
        Detail::Config(name) => name.target.as_deref().and_then(Target::by_name),
        _ => None,
    };
    match (own, machine) {
        (Some(own), Some(machine)) if own.name != machine => None,
        (Some(own), _) => Some(own),
        (None, machine) => Target::by_name(machine?),
    }
}

fn one(file: &Tunings<'_>, row: &Row<'_>, need: &Need, target: &Target, most: u64) -> Option<Finding> {
    let (least, each) = (need.least(), need.with_buffers(need.stages.max(1)));
    let [m, n, k] = need.tile;
    let what = format!("entry `{}` ({m}x{n}x{k}, num_stages {}) needs", row.key, need.stages);
    let (severity, message) = if least > most {
        let words = elsewhere(least).map_or_else(String::new, |it| format!("; {it} has enough"));
        (
            Severity::Severe,
            format!("{what} {} B of LDS, {} has {}{words}", thousands(least), target.name, thousands(most)),
        )
    } else if each > most && need.stages > 2 {
        (
            Severity::Warning,
            format!(
                "{what} {} B of LDS where Triton keeps a buffer for each stage, {} has {}",
                thousands(each),
                target.name,
                thousands(most)
            ),
        )
    } else {
        return None;
    };
    let fits =
        (1..need.stages).rev().find(|stages| need.with_buffers(stages.saturating_sub(1).max(1)) <= most);
    let advice = match fits.filter(|it| *it >= 2) {
        Some(stages) => format!("lower `num_stages` to {stages} and measure again"),
        None => "halve `BLOCK_SIZE_K` or `BLOCK_SIZE_N` and measure again".to_owned(),
    };
    let bytes = if severity == Severity::Severe { least } else { each };
    let found =
        RULE.finding(severity, message, advice).with_evidence("LDS", format!("{} B", thousands(bytes)));
    Some(found.with_places([at(file, row.line)]))
}

/// The first target whose LDS is enough.
fn elsewhere(bytes: u64) -> Option<&'static str> {
    let enough = |target: &&Target| lds(target) >= bytes;
    Target::names().filter_map(Target::by_name).find(enough).map(|it| it.name)
}
