//! What is left of a kernel when there are too many for cards, and what is counted over all of them.
//!
//! The one idea to keep in mind: a row is small and flat, so a library of 25,000 kernels fits in memory as
//! rows while its cards stream past.

use crate::{KernelCard, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

/// One kernel as a table row.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "named after the fields of the card")]
pub struct KernelRow {
    pub name: String,
    pub target: String,
    pub vgprs: Option<u32>,
    pub agprs: Option<u32>,
    pub sgprs: Option<u32>,
    /// VGPR and SGPR spills together.
    pub spills: Option<u32>,
    /// LDS at launch where known, else static LDS.
    pub lds_bytes: Option<u32>,
    pub scratch_bytes: Option<u32>,
    pub waves_per_simd: Option<f64>,
    pub waves_per_cu: Option<u32>,
    pub limiter: String,
    pub instructions: Option<u32>,
    pub mfma: Option<u32>,
    pub loops: u32,
    /// Findings as (severity, rule, times), worst first.
    pub findings: Vec<(Severity, &'static str, u32)>,
}

impl From<&KernelCard> for KernelRow {
    fn from(card: &KernelCard) -> Self {
        let mut findings: Vec<(Severity, &'static str, u32)> = Vec::new();
        for finding in &card.findings {
            match findings.iter_mut().find(|(_, rule, _)| *rule == finding.rule) {
                Some((severity, _, times)) => {
                    *severity = finding.severity.max(*severity);
                    *times += 1;
                }
                None => findings.push((finding.severity, finding.rule, 1)),
            }
        }
        findings.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let resources = &card.resources;
        let spills = match (resources.vgpr_spills, resources.sgpr_spills) {
            (None, None) => None,
            (vgprs, sgprs) => Some(vgprs.unwrap_or(0).saturating_add(sgprs.unwrap_or(0))),
        };
        KernelRow {
            name: card.display_name().to_owned(),
            target: card.processor().to_owned(),
            vgprs: resources.vgprs,
            agprs: resources.agprs,
            sgprs: resources.sgprs,
            spills,
            lds_bytes: resources.launch_lds_bytes.or(resources.lds_bytes),
            scratch_bytes: resources.scratch_bytes,
            waves_per_simd: card.occupancy.as_ref().map(|occupancy| occupancy.waves_per_simd),
            waves_per_cu: card.occupancy.as_ref().map(|occupancy| occupancy.waves_per_cu),
            limiter: card.occupancy.as_ref().map(|occupancy| occupancy.limiter.clone()).unwrap_or_default(),
            instructions: card.instructions,
            mfma: card.mix.as_ref().map(|mix| mix.mfma),
            loops: u32::try_from(card.loops.len()).unwrap_or(u32::MAX),
            findings,
        }
    }
}

impl KernelRow {
    /// Findings of each severity: severe, warning, info.
    pub fn counts(&self) -> [u32; 3] {
        Severity::ALL.map(|severity| {
            self.findings.iter().filter(|(found, _, _)| *found == severity).map(|(_, _, times)| times).sum()
        })
    }
}

/// Counts over everything that was read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Summary {
    /// Kernels shown.
    pub kernels: u64,
    /// Of these, the ones without an instruction: the compiler left nothing of them for their target.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Findings by severity.
    pub severities: BTreeMap<&'static str, u64>,
    /// Findings by rule.
    pub rules: BTreeMap<&'static str, RuleCount>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How often one rule fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RuleCount {
    /// Findings.
    pub findings: u64,
    /// Kernels with at least one.
    pub kernels: u64,
    /// Of the findings, the severe ones.
    pub severe: u64,
    /// Of the findings, the warnings.
    pub warning: u64,
    /// Of the findings, the informative ones.
    pub info: u64,
}

impl Summary {
    /// Counts one more kernel.
    pub fn add(&mut self, row: &KernelRow) {
        self.kernels += 1;
        self.empty += u64::from(row.instructions == Some(0));
        self.instructions += u64::from(row.instructions.unwrap_or(0));
        for (severity, rule, times) in &row.findings {
            let times = u64::from(*times);
            *self.severities.entry(severity.as_str()).or_default() += times;
            let count = self.rules.entry(rule).or_default();
            count.findings += times;
            count.kernels += 1;
            match severity {
                Severity::Severe => count.severe += times,
                Severity::Warning => count.warning += times,
                Severity::Info => count.info += times,
            }
        }
    }
}
