//! JSON: the versioned schema documented in `docs/inspect-json.md`.
//!
//! One kernel is one line of the output, so a document of gigabytes can be cut by line tools too, and pieces
//! rendered apart are joined by [`SEPARATOR`].

use serde::Serialize;
use view::{
    Answer, Baseline, Columns, Fidelity, FileError, GateSummary, Guide, INSPECT_SCHEMA, KernelCard, Listing,
    Note, RuleInfo, Summary,
};

/// Separator between two kernels.
pub const SEPARATOR: &str = ",\n";

/// Usual size of a kernel's JSON, reserved up front.
const KERNEL_BYTES: usize = 4096;

/// Opening of the document.
pub fn begin(version: &str) -> String {
    format!(
        "{{\"schema\":\"{INSPECT_SCHEMA}\",\"tool\":{{\"name\":\"rockhound\",\"version\":{}}},\"kernels\":[\n",
        text(version)
    )
}

/// One kernel, on one line, with its listing if given.
pub fn kernel(card: &KernelCard, listing: Option<&Listing>) -> String {
    #[derive(Serialize)]
    struct WithListing<'a> {
        #[serde(flatten)]
        card: &'a KernelCard,
        listing: &'a Listing,
    }
    match listing {
        None => compact(card),
        Some(listing) => compact(&WithListing { card, listing }),
    }
}

/// End of the document.
pub fn end(summary: &Summary, gate: Option<&GateSummary>, notes: &[Note], errors: &[FileError]) -> String {
    let gate = gate.map_or_else(String::new, |gate| format!(",\"gate\":{}", compact(gate)));
    let notes = if notes.is_empty() { String::new() } else { format!(",\"notes\":{}", compact(&notes)) };
    format!("\n],\"summary\":{}{gate}{notes},\"errors\":{}}}\n", compact(summary), compact(&errors))
}

/// A baseline: a line per finding, so that versions of the file can be compared by lines.
pub fn baseline(baseline: &Baseline) -> String {
    let findings: Vec<String> = baseline.findings.iter().map(compact).collect();
    format!(
        "{{\"schema\":{},\"command\":{},\"findings\":[\n{}\n]}}\n",
        text(&baseline.schema),
        text(&baseline.command),
        findings.join(",\n")
    )
}

/// A report of a run, indented.
pub fn fidelity(report: &Fidelity) -> String {
    pretty(report)
}

/// An answer, on one line.
pub fn answer<P: Serialize>(answer: &Answer<P>) -> String {
    compact(answer) + "\n"
}

/// A recording as columns, on one line.
pub fn columns(columns: &Columns) -> String {
    compact(columns) + "\n"
}

/// A guide, indented.
pub fn guide(guide: &Guide) -> String {
    pretty(guide)
}

/// Rules with their pages, indented.
pub fn rules(rules: &[RuleInfo]) -> String {
    pretty(&rules)
}

fn text(value: &str) -> String {
    compact(&value)
}

/// The values of `view` have string keys and finite numbers, so writing them cannot fail; should one ever do,
/// the reader sees `null` instead of half a document.
fn compact<T: Serialize>(value: &T) -> String {
    let mut out = Vec::with_capacity(KERNEL_BYTES);
    match serde_json::to_writer(&mut out, value) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => "null".to_owned(),
    }
}

fn pretty<T: Serialize>(value: &T) -> String {
    let mut out = serde_json::to_string_pretty(value).unwrap_or_else(|_| "null".to_owned());
    out.push('\n');
    out
}
