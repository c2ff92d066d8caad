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
    page: include_str!("tun019.md"),
    checks: &[Check::Tunings(check)],
    panels: &[],
};

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
        Detail::Moe(name) => match name.dtype.as_deref() {
            None => Some([16, 16]),
            Some(dtype) => dtype.split('_').find_map(bits_of),
        },
        Detail::Config(name) => name.kernel.split('_').find_map(bits_of),
        _ => None,
    }
}

/// Bits of both factors by a word of a name: `a8w8`, `afp4wfp4`, `a16wfp4`, and the other way round `w8a16`.
fn bits_of(word: &str) -> Option<[u64; 2]> {
    let width = |text: &str| {
        let digits = text.trim_start_matches("bf").trim_start_matches("mx").trim_start_matches("fp");
        digits.trim_start_matches("int").parse::<u64>().ok().filter(|it| [4, 6, 8, 16, 32].contains(it))
    };
    let (left, right) = match word.as_bytes().first()? {
        b'a' => word[1..].split_once('w')?,
        b'w' => word[1..].split_once('a').map(|(w, a)| (a, w))?,
        _ => return None,
    };
    let (left, right) = (width(left)?, width(right)?);
    // Packed weights of wider factors are loaded as bytes.
    Some([left, if left > 8 { right.max(8) } else { right }])
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
    let mut found =
        RULE.finding(severity, message, advice).with_evidence("LDS", format!("{} B", thousands(bytes)));
    if matches!(&file.detail, Detail::Moe(name) if name.dtype.is_none()) {
        let narrow = Need { bits: [8, 8], ..*need };
        let (least, each) = (narrow.least(), narrow.with_buffers(need.stages.max(1)));
        found = found.with_evidence(
            "LDS with factors of 8 bits, which the name does not say",
            format!("{} B, {} B with a buffer for each stage", thousands(least), thousands(each)),
        );
    }
    Some(found.with_places([at(file, row.line)]))
}

/// The first target whose LDS is enough.
fn elsewhere(bytes: u64) -> Option<&'static str> {
    let enough = |target: &&Target| lds(target) >= bytes;
    Target::names().filter_map(Target::by_name).find(enough).map(|it| it.name)
}
