//! Summary rows for files with too many kernels for cards, and counts over all kernels.
//!
//! A row is small and flat, so a library of 25,000 kernels fits in memory as rows while its cards stream
//! past.

use crate::{Finding, KernelCard, Severity};
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
    /// Rules whose findings another rule's finding includes, once for each finding.
    pub joined: Vec<&'static str>,
    /// The warnings and worse among them, for [`Summary::facts`], which takes them.
    pub said: Vec<Said>,
}

/// One finding in words.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "named after the fields of the finding")]
pub struct Said {
    pub rule: &'static str,
    pub severity: Severity,
    pub message: String,
    pub advice: String,
}

impl From<&Finding> for Said {
    fn from(finding: &Finding) -> Self {
        Said {
            rule: finding.rule,
            severity: finding.severity,
            message: finding.message.clone(),
            advice: finding.advice.clone(),
        }
    }
}

impl From<&KernelCard> for KernelRow {
    fn from(card: &KernelCard) -> Self {
        let mut findings: Vec<(Severity, &'static str, u32)> = Vec::new();
        for finding in &card.findings {
            let same = |(severity, rule, _): &&mut (Severity, &'static str, u32)| {
                *rule == finding.rule && *severity == finding.severity
            };
            match findings.iter_mut().find(same) {
                Some((_, _, times)) => *times += 1,
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
            joined: card.findings.iter().flat_map(|finding| finding.joined.iter().copied()).collect(),
            said: card
                .findings
                .iter()
                .filter(|finding| finding.severity > Severity::Info)
                .map(Said::from)
                .collect(),
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

/// Counts over all kernels read.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Kernels shown.
    pub kernels: u64,
    /// Of these, kernels without instructions: the compiler removed their bodies for the target.
    #[serde(skip_serializing_if = "is_zero")]
    pub empty: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Findings by severity.
    pub severities: BTreeMap<&'static str, u64>,
    /// Findings by rule.
    pub rules: BTreeMap<&'static str, RuleCount>,
    /// Warnings and worse with the same advice in several kernels: one fact each.
    #[serde(skip_serializing_if = "Facts::is_empty")]
    pub facts: Facts,
}

/// A finding that several kernels share: a rule and a change, with numbers ignored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// Rule.
    pub rule: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Message for the first kernel.
    pub message: String,
    /// Advice for the first kernel.
    pub advice: String,
    /// Findings.
    pub findings: u64,
    /// Kernels.
    pub kernels: u64,
    /// The first different names of these kernels; the kernels of one Triton function often share a name.
    pub names: Vec<String>,
    /// Number of the kernel counted last: findings of one kernel are consecutive.
    #[serde(skip)]
    last: u64,
}

/// Facts by rule, severity and change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    by_change: BTreeMap<(&'static str, Severity, String), Fact>,
}

impl Facts {
    /// Most findings kept by text; later ones are counted by rule only.
    const MOST: usize = 4096;
    /// Kernels named of each.
    const NAMES: usize = 8;

    /// Counts the findings of kernel `number`.
    fn add(&mut self, said: Said, number: u64, name: &str) {
        let change: String = said.advice.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let key = (said.rule, said.severity, change);
        if self.by_change.len() == Self::MOST && !self.by_change.contains_key(&key) {
            return;
        }
        let Said { rule, severity, message, advice } = said;
        let fact = self.by_change.entry(key).or_insert_with(|| Fact {
            rule,
            severity,
            message,
            advice,
            findings: 0,
            kernels: 0,
            names: Vec::new(),
            last: number,
        });
        fact.findings += 1;
        if fact.kernels == 0 || fact.last != number {
            fact.kernels += 1;
            fact.last = number;
            if fact.names.len() < Self::NAMES && !fact.names.iter().any(|known| known == name) {
                fact.names.push(name.to_owned());
            }
        }
    }

    /// Findings of several kernels: the worst first, then the most frequent.
    pub fn shared(&self) -> Vec<&Fact> {
        self.all().into_iter().filter(|fact| fact.kernels > 1).collect()
    }

    /// Distinct warnings and worse: the worst first, then the most frequent.
    pub fn all(&self) -> Vec<&Fact> {
        let mut facts: Vec<&Fact> = self.by_change.values().collect();
        facts.sort_by_key(|fact| (std::cmp::Reverse((fact.severity, fact.kernels)), fact.rule));
        facts
    }

    /// True if no two kernels share a finding.
    pub fn is_empty(&self) -> bool {
        self.by_change.values().all(|fact| fact.kernels < 2)
    }
}

impl Serialize for Facts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.shared())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Facts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Facts".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Vec<Fact>>::json_schema(generator)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How often one rule fired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    pub fn add(&mut self, row: &mut KernelRow) {
        for said in std::mem::take(&mut row.said) {
            self.facts.add(said, self.kernels, &row.name);
        }

        self.kernels += 1;
        self.empty += u64::from(row.instructions == Some(0));
        self.instructions += u64::from(row.instructions.unwrap_or(0));
        for (severity, rule, times) in &row.findings {
            let times = u64::from(*times);
            *self.severities.entry(severity.as_str()).or_default() += times;
            let count = self.rules.entry(rule).or_default();
            count.findings += times;
            // The rows of one rule differ in severity and need not be adjacent.
            let first = row.findings.iter().find(|(_, other, _)| other == rule);
            count.kernels += u64::from(first.is_some_and(|(first, ..)| first == severity));
            match severity {
                Severity::Severe => count.severe += times,
                Severity::Warning => count.warning += times,
                Severity::Info => count.info += times,
            }
        }
    }
}
