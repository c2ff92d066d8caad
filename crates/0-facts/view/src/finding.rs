//! A finding: one thing that costs time, its location, its cost and the advice.

use crate::{GateMark, Known, Mark, Missing, Number};
use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; often nothing to do.
    Info,
    /// Likely costs time.
    Warning,
    /// Costs time in nearly every launch.
    Severe,
}

impl Severity {
    /// All, worst first.
    pub const ALL: [Severity; 3] = [Severity::Severe, Severity::Warning, Severity::Info];

    /// The word used in every format: `severe`, `warning`, `info`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Severe => "severe",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// Location of a finding or an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// Address of the instruction within the code object; for text the byte offset its instruction would have
    /// is unknown and the line is given instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Instruction text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Line in the assembly text, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_line: Option<u32>,
    /// Source position, innermost frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceLine>,
    /// Loop that contains it, by the loop's number on the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_loop: Option<u32>,
}

/// A source position.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// File as the debug information names it.
    pub file: String,
    /// Line, 1-based; 0 when the compiler gave none.
    pub line: u32,
    /// Function, when known; the inlined one first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// One number a finding rests on.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// Subject of the evidence: "VGPRs", "loads in the loop narrower than 16 bytes".
    pub what: String,
    /// Its value with unit, as read: "170", "4 of 6".
    pub value: String,
}

/// One thing found.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Kernel or problem it is about; absent on a kernel's card, and if it is about no kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Percent of the selected time the kernel takes; absent without a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_percent: Option<Number>,
    /// Mark of that percentage; absent if measured, and if the kernel is all there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trust: Option<Mark>,
    /// Rule that found it, for example `RES003`.
    pub rule: &'static str,
    /// Severity.
    pub severity: Severity,
    /// One sentence: what is the case here, with numbers.
    pub message: String,
    /// Advice, one or two sentences.
    pub advice: String,
    /// Cost, if it can be computed: "1 of 3 waves per SIMD", "12 of 40 instructions per iteration".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// Time lost to it in the recording, ns, at most: what orders findings of different rules and kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_lost_ns: Option<f64>,
    /// Trust in the value; absent if measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_lost_trust: Option<Mark>,
    /// Marks of its signed numbers, each once; those without a sign are exact or were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<Mark>,
    /// Numbers it rests on.
    pub evidence: Vec<Evidence>,
    /// Locations; the first is the main one.
    pub places: Vec<Place>,
    /// Judgement of a gate: known, allowed, new or worse; absent without baseline and exceptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateMark>,
    /// Rules whose findings of the same cause are said by this one, among its evidence.
    #[serde(skip)]
    pub joined: Vec<&'static str>,
    /// The verdict above the findings says the same; its text is not repeated here.
    #[serde(skip)]
    pub in_verdict: bool,
}

impl Finding {
    /// True if a baseline or an exception keeps it from failing a gate.
    pub fn is_accepted(&self) -> bool {
        self.gate.as_ref().is_some_and(GateMark::is_accepted)
    }

    /// Message of the finding, for display below the verdict.
    pub fn said(&self) -> &str {
        if self.in_verdict { "the verdict above, in numbers" } else { &self.message }
    }

    /// Advice, for display below the verdict; `None` if the verdict gives the same advice.
    pub fn advised(&self) -> Option<&str> {
        (!self.in_verdict).then_some(self.advice.as_str())
    }

    /// A finding without cost, evidence and places.
    pub fn new(
        rule: &'static str,
        severity: Severity,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Finding {
            kernel: None,
            time_percent: None,
            time_trust: None,
            rule,
            severity,
            message: message.into(),
            advice: advice.into(),
            cost: None,
            time_lost_ns: None,
            time_lost_trust: None,
            trust: Vec::new(),
            evidence: Vec::new(),
            places: Vec::new(),
            gate: None,
            joined: Vec::new(),
            in_verdict: false,
        }
    }

    /// Names the kernel it is about, with its part of the time.
    pub fn of_kernel(mut self, kernel: impl Into<String>, time_percent: Number, trust: Option<Mark>) -> Self {
        self.kernel = Some(kernel.into());
        self.time_percent = Some(time_percent);
        self.time_trust = trust;
        self
    }

    /// Kernel or problem it is about; empty if it is about none.
    pub fn kernel(&self) -> &str {
        self.kernel.as_deref().unwrap_or_default()
    }

    /// Percent of the selected time the kernel takes, if known.
    pub fn percent_of_time(&self) -> Option<f64> {
        self.time_percent.as_ref().and_then(Number::get)
    }

    /// States what it costs.
    pub fn with_cost(mut self, cost: impl Into<String>) -> Self {
        self.cost = Some(cost.into());
        self
    }

    /// States how much of the recorded time it costs at most.
    pub fn with_time_lost(mut self, ns: Option<Known>) -> Self {
        let ns = ns.filter(|ns| ns.value.is_finite() && ns.value >= 0.0);
        self.time_lost_ns = ns.map(|ns| ns.value);
        self.time_lost_trust = ns.and_then(|ns| ns.trust);
        self
    }

    /// Adds one number it rests on.
    pub fn with_evidence(mut self, what: impl Into<String>, value: impl ToString) -> Self {
        self.evidence.push(Evidence { what: what.into(), value: value.to_string() });
        self
    }

    /// Adds the marks of numbers that its words name.
    pub fn with_trust(mut self, numbers: impl IntoIterator<Item = Known>) -> Self {
        for mark in numbers.into_iter().filter_map(|number| number.trust) {
            if mark != Mark::Exact && !self.trust.contains(&mark) {
                self.trust.push(mark);
            }
        }
        self
    }

    /// Adds places; the first of all is the main place.
    pub fn with_places(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.places.extend(places);
        self
    }
}

/// A rule that could not be checked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotChecked {
    /// Rule.
    pub rule: &'static str,
    /// Inputs the rule needs; in JSON as a phrase.
    #[serde(serialize_with = "as_phrase")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub needs: Missing,
    /// The kernels that lack them and those judged, where some have them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<[u64; 2]>,
    /// The same in as few words as a person wants to read, where that is less.
    #[serde(skip)]
    pub in_short: Option<String>,
}

impl NotChecked {
    /// A rule that lacks an input.
    pub fn new(rule: &'static str, needs: impl Into<Missing>) -> NotChecked {
        NotChecked { rule, needs: needs.into(), kernels: None, in_short: None }
    }

    /// Inputs the rule needs, in short, for a person.
    pub fn needs_in_short(&self) -> String {
        let needs = self.in_short.clone().unwrap_or_else(|| self.needs.needed());
        match self.kernels {
            Some([some, all]) => format!("{needs} (in {some} of {all} kernels)"),
            None => needs,
        }
    }
}

fn as_phrase<S: serde::Serializer>(needs: &Missing, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&needs.needed())
}

/// Facts about a rule that renderers need.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleInfo {
    /// For example `RES003`.
    pub id: &'static str,
    /// One line: what it looks for.
    pub title: &'static str,
    /// Severity its findings have most often.
    pub severity: Severity,
    /// Its page, markdown.
    pub page: &'static str,
}
