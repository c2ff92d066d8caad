//! SARIF 2.1.0, as GitHub code scanning takes it.
//!
//! A result needs a file and a line. With debug information it is the source line; for assembly text the line
//! of the text; otherwise the binary itself, line 1, with the address in SARIF's own address object.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use view::{Answer, FileError, Finding, GateState, KernelCard, Place, RuleInfo, Severity, SourceLine};

/// Separator between two results.
pub const SEPARATOR: &str = ",\n";

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// SARIF's word for a severity.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Severe => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Opening of the document.
pub fn begin(version: &str, rules: &[RuleInfo]) -> String {
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "name": rule.id,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": rule.title },
                "help": { "text": rule.page, "markdown": rule.page },
                "defaultConfiguration": { "level": level(rule.severity) },
                "properties": { "tags": ["performance", "gpu"], "problem.severity": match rule.severity {
                    Severity::Severe => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "recommendation",
                } },
            })
        })
        .collect();
    let driver = json!({
        "name": "rockhound",
        "version": version,
        "semanticVersion": version,
        "rules": rules,
    });
    format!(
        "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
    )
}

/// The results of one kernel, joined by [`SEPARATOR`]; empty without findings.
pub fn kernel(card: &KernelCard) -> String {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let results: Vec<String> =
        card.findings.iter().map(|finding| result(card, finding, &mut seen).to_string()).collect();
    results.join(SEPARATOR)
}

/// Results of many kernels. Findings of one rule that ask for the same change at the same location are merged
/// into one result with its kernels.
#[derive(Default)]
pub struct Results {
    held: Vec<Held>,
    by_change: HashMap<String, usize>,
}

/// A result that waits for more kernels.
struct Held {
    value: Value,
    kernels: Vec<String>,
    more: u64,
}

impl Results {
    /// Most results held for merging; later ones are not merged.
    const MOST: usize = 16_384;
    /// Kernels and places listed of each.
    const LISTED: usize = 64;

    /// Takes the findings of a kernel; gives the results that nothing is joined to, as [`kernel`] does.
    pub fn add(&mut self, card: &KernelCard) -> String {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut alone: Vec<String> = Vec::new();
        for finding in &card.findings {
            let value = result(card, finding, &mut seen);
            let place = &value["locations"][0]["physicalLocation"];
            let change: String = finding.advice.chars().filter(|letter| !letter.is_ascii_digit()).collect();
            let key = format!(
                "{}|{:?}|{change}|{:?}|{}|{}",
                finding.rule,
                finding.severity,
                finding.gate,
                place["artifactLocation"]["uri"],
                place["region"]["startLine"]
            );
            match self.by_change.get(&key) {
                Some(&at) => self.held[at].join(card, &value),
                None if self.held.len() == Self::MOST => alone.push(value.to_string()),
                None => {
                    self.by_change.insert(key, self.held.len());
                    self.held.push(Held { value, kernels: vec![card.name.clone()], more: 0 });
                }
            }
        }
        alone.join(SEPARATOR)
    }

    /// The results that were held, joined by [`SEPARATOR`].
    pub fn finish(self) -> String {
        let results: Vec<String> = self.held.into_iter().map(|held| held.finish().to_string()).collect();
        results.join(SEPARATOR)
    }
}

impl Held {
    fn join(&mut self, card: &KernelCard, other: &Value) {
        // Findings of one kernel come together.
        if self.kernels.last() != Some(&card.name) {
            if self.kernels.len() < Results::LISTED {
                self.kernels.push(card.name.clone());
            } else {
                self.more += 1;
            }
        }
        let related = &mut self.value["relatedLocations"];
        if related.is_null() {
            *related = json!([]);
        }
        if let Some(list) = related.as_array_mut().filter(|list| list.len() < Results::LISTED) {
            let mut place = other["locations"][0].clone();
            place["id"] = json!(list.len() + 1);
            list.push(place);
        }
    }

    fn finish(mut self) -> Value {
        let kernels = self.kernels.len() as u64 + self.more;
        if kernels > 1 {
            let text = self.value["message"]["text"].as_str().unwrap_or_default();
            self.value["message"]["text"] =
                json!(format!("{text}. The same in {} more kernels", kernels - 1));
            self.value["properties"]["kernels"] = json!(self.kernels);
            self.value["properties"]["kernelCount"] = json!(kernels);
        }
        self.value
    }
}

fn result(card: &KernelCard, finding: &Finding, seen: &mut BTreeMap<String, u32>) -> Value {
    let mut text = format!("{} in kernel {}", finding.message.trim_end_matches('.'), card.display_name());
    if let Some(cost) = &finding.cost {
        text.push_str(&format!(". Cost: {}", cost.trim_end_matches('.')));
    }
    text.push_str(&format!(". {}", sentence(&finding.advice)));
    // The same finding keeps its identity when code moves: rule, kernel, and which of them it is.
    let key = format!("{}|{}|{}", finding.rule, card.processor(), card.name);
    let number = seen.entry(key.clone()).or_default();
    *number += 1;
    let main = finding.places.first().cloned().unwrap_or_default();
    let related: Vec<Value> = finding
        .places
        .iter()
        .skip(1)
        .take(16)
        .enumerate()
        .map(|(index, place)| {
            let mut value = location(card, place);
            value["id"] = json!(index + 1);
            value
        })
        .collect();
    let evidence: serde_json::Map<String, Value> =
        finding.evidence.iter().map(|evidence| (evidence.what.clone(), json!(evidence.value))).collect();
    let mut value = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [location(card, &main)],
        "partialFingerprints": { "primaryLocationLineHash": format!("{:016x}:{number}", fingerprint(&key)) },
        "properties": { "kernel": card.name, "target": card.target, "evidence": evidence },
    });
    if !related.is_empty() {
        value["relatedLocations"] = json!(related);
    }
    add_gate(&mut value, finding);
    value
}

/// A whole document on the findings of an answer; those without a place are of the last input.
pub(crate) fn answer<P>(answer: &Answer<P>, version: &str, rules: &[RuleInfo]) -> String {
    let input = answer.inputs.last().map_or("", |input| input.path.as_str());
    begin(version, rules) + &results(&answer.findings, input) + &end(&answer.errors)
}

/// Results of findings; those without a file are of `input`.
fn results(findings: &[Finding], input: &str) -> String {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let results: Vec<String> =
        findings.iter().map(|it| file_result(it, input, &mut seen).to_string()).collect();
    results.join(SEPARATOR)
}

fn file_result(finding: &Finding, input: &str, seen: &mut BTreeMap<String, u32>) -> Value {
    let mut text = finding.message.trim_end_matches('.').to_owned();
    if let Some(kernel) = &finding.kernel {
        text.push_str(&format!(" in kernel {kernel}"));
    }
    if let Some(cost) = &finding.cost {
        text.push_str(&format!(". Cost: {}", cost.trim_end_matches('.')));
    }
    text.push_str(&format!(". {}", sentence(&finding.advice)));
    let location = |place: &Place| {
        let source = place.source.as_ref();
        let (file, line) = source.map_or((input, 1), |it| (it.file.as_str(), it.line.max(1)));
        json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": { "startLine": line } } })
    };
    let main = finding.places.first().cloned().unwrap_or_default();
    let file = main.source.as_ref().map_or(input, |it| it.file.as_str());
    let key = format!("{}|{file}|{}", finding.rule, finding.message);
    let number = seen.entry(key.clone()).or_default();
    *number += 1;
    let related: Vec<Value> = finding.places.iter().skip(1).take(16).map(location).collect();
    let evidence: serde_json::Map<String, Value> =
        finding.evidence.iter().map(|evidence| (evidence.what.clone(), json!(evidence.value))).collect();
    let mut value = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [location(&main)],
        "partialFingerprints": { "primaryLocationLineHash": format!("{:016x}:{number}", fingerprint(&key)) },
        "properties": { "evidence": evidence },
    });
    if let Some(kernel) = &finding.kernel {
        value["properties"]["kernel"] = json!(kernel);
    }
    if !related.is_empty() {
        value["relatedLocations"] = json!(related);
    }
    add_gate(&mut value, finding);
    value
}

/// The judgement of a gate in SARIF's words.
fn add_gate(value: &mut Value, finding: &Finding) {
    let Some(gate) = &finding.gate else { return };
    match gate.state {
        GateState::New => value["baselineState"] = json!("new"),
        GateState::Worse => value["baselineState"] = json!("updated"),
        GateState::Known => value["baselineState"] = json!("unchanged"),
        GateState::Allowed => {}
    }
    let justification = match gate.state {
        GateState::Known => "in the baseline".to_owned(),
        _ => gate.words(),
    };
    if gate.is_accepted() {
        value["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": justification }]);
    }
}

/// The text with a capital first letter.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn location(card: &KernelCard, place: &Place) -> Value {
    // Code that the compiler adds (spills) has no source line: the kernel's first line is used.
    let source = [&place.source, &card.source].into_iter().flatten().find(|source| source.line > 0);
    let mut physical = match (place.text_line, source) {
        (_, Some(SourceLine { file, line, .. })) => {
            json!({ "artifactLocation": { "uri": uri(file) }, "region": { "startLine": line } })
        }
        (Some(line), None) => {
            json!({ "artifactLocation": { "uri": uri(&card.file) }, "region": { "startLine": line } })
        }
        (None, None) => {
            json!({ "artifactLocation": { "uri": uri(&card.file) }, "region": { "startLine": 1 } })
        }
    };
    if let Some(address) = place.address {
        physical["address"] = json!({ "absoluteAddress": address, "kind": "instruction" });
    }
    let mut value = json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "name": card.display_name(), "fullyQualifiedName": card.name, "kind": "function" }],
    });
    if let Some(instruction) = &place.instruction {
        value["message"] = json!({ "text": instruction });
    }
    value
}

/// A path as a URI reference: separators forward, everything unusual escaped.
pub(crate) fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.trim_start_matches("./").bytes() {
        match byte {
            b'\\' => out.push('/'),
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'+'
            | b','
            | b'='
            | b'@' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// FNV-1a, 64 bits: stable between versions and machines.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// End of the document.
pub fn end(errors: &[FileError]) -> String {
    let notifications: Vec<Value> = errors
        .iter()
        .map(|error| {
            json!({
                "level": "error",
                "message": { "text": format!("{}: {}", error.file, error.error) },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&error.file) } } }],
            })
        })
        .collect();
    let invocation =
        json!({ "executionSuccessful": errors.is_empty(), "toolExecutionNotifications": notifications });
    format!("\n],\"invocations\":[{invocation}]}}]}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, expected) in [
            ("src/a.hip", "src/a.hip"),
            ("./a b.hip", "a%20b.hip"),
            ("/tmp/ü.hip", "file:///tmp/%C3%BC.hip"),
            ("C:\\x\\a.hip", "C%3A/x/a.hip"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }
}
