//! Program-counter samples of each instruction, as columns of a listing.
//!
//! Hardware samples come from a code object that the recording does not hold, so the given file must have the
//! same instructions at sampled addresses; operands may be printed differently by another disassembler.

use crate::KernelEvidence;
use crate::listing_run::Mismatch;
use sorting::Sort;
use std::collections::{BTreeMap, HashMap};
use view::{LineSamples, Listing, ListingLine, ListingSamples, SourceLine, WaitShare};
use workload::{KernelSamples, SAMPLE_STALLS, SampleCounts, SampledInstruction, Samples};

/// Sampling method and source of the samples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SampledBy {
    /// Methods in words.
    pub method: String,
    /// Files.
    pub sources: Vec<String>,
}

impl SampledBy {
    /// Method and source of a recording's samples.
    pub fn of(samples: &Samples) -> Self {
        let methods: Vec<&str> = samples.methods.iter().map(|method| method.describe()).collect();
        SampledBy { method: methods.join(" and "), sources: samples.sources.clone() }
    }
}

/// Adds the samples of a kernel to the listing of `evidence`.
pub fn add_samples(
    listing: &mut Listing,
    evidence: &KernelEvidence<'_>,
    samples: &KernelSamples,
    by: &SampledBy,
) -> Result<(), Mismatch> {
    let Some(start) = evidence.address(0) else { return Err(Mismatch::Text) };
    let body = start..start.saturating_add(evidence.code_bytes);
    let places: BTreeMap<u64, usize> =
        (0..evidence.insts.len()).filter_map(|at| Some((evidence.address(at)?, at))).collect();
    let by_text = ByText::new(evidence);
    let mut sums: BTreeMap<usize, SampleCounts> = BTreeMap::new();
    let (mut elsewhere, mut ambiguous) = (0, 0);
    let mut strange: Option<&SampledInstruction> = None;
    for (instruction, counts) in &samples.rows {
        let at = match instruction.address {
            Some(address) if !body.contains(&address) => {
                elsewhere += counts.samples;
                continue;
            }
            Some(address) => match places.get(&address).map(|&at| (at, evidence.text(at))) {
                Some((at, text)) if same_mnemonic(&instruction.text, &text) => at,
                found => {
                    let found =
                        found.map_or_else(|| "no instruction".to_owned(), |(_, text)| format!("`{text}`"));
                    return Err(Mismatch::Instruction { address, recorded: instruction.text.clone(), found });
                }
            },
            None => match by_text.find(instruction) {
                Found::One(at) => at,
                Found::Several => {
                    ambiguous += counts.samples;
                    continue;
                }
                Found::None => {
                    strange = strange.or(Some(instruction));
                    elsewhere += counts.samples;
                    continue;
                }
            },
        };
        sums.entry(at).or_default().add(counts);
    }
    if let (Some(instruction), true, 0) = (strange, sums.is_empty(), ambiguous) {
        return Err(Mismatch::Absent { recorded: instruction.text.clone() });
    }
    for (at, counts) in sums {
        listing.lines[at].samples = Some(line(&counts, &samples.total));
    }
    listing.samples = Some(ListingSamples { elsewhere, ambiguous, ..of_kernel(samples, by, false) });
    Ok(())
}

/// A listing of the instructions that were sampled, for want of the code object.
pub fn sampled_listing(samples: &KernelSamples, by: &SampledBy) -> Listing {
    let lines = recorded_lines(&samples.rows, |line_of, counts| {
        line_of.samples = Some(line(counts, &samples.total));
    });
    Listing {
        kernel: workload::plain_kernel_name(&samples.kernel.name).to_owned(),
        text_lines: false,
        run: None,
        samples: Some(of_kernel(samples, by, true)),
        trace: None,
        lines,
    }
}

/// Lines of instructions that are known from a recording alone; `put` adds what it says of one.
pub(crate) fn recorded_lines<C>(
    rows: &BTreeMap<SampledInstruction, C>,
    put: impl Fn(&mut ListingLine, &C),
) -> Vec<ListingLine> {
    let mut last: Option<SourceLine> = None;
    let lines = rows.iter().map(|(instruction, counts)| {
        let source = source_line(&instruction.source);
        let changed = source.is_some() && source != last;
        if changed {
            last.clone_from(&source);
        }
        let mut line = ListingLine {
            source: source.filter(|_| changed),
            ..ListingLine::new(instruction.address.unwrap_or(0), &*instruction.text)
        };
        put(&mut line, counts);
        line
    });
    lines.collect()
}

fn of_kernel(samples: &KernelSamples, by: &SampledBy, sampled_only: bool) -> ListingSamples {
    let total = &samples.total;
    ListingSamples {
        method: by.method.clone(),
        sources: by.sources.clone(),
        dispatches: samples.dispatches,
        count: total.samples,
        elsewhere: 0,
        ambiguous: 0,
        issued: issued(total),
        waits: waits(total),
        sampled_only,
    }
}

fn line(counts: &SampleCounts, total: &SampleCounts) -> LineSamples {
    LineSamples {
        count: counts.samples,
        share: percent(counts.samples, total.samples),
        issued: issued(counts),
        waits: waits(counts),
    }
}

pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Percent of samples that issued, if known.
pub(crate) fn issued(counts: &SampleCounts) -> Option<f64> {
    counts.says_issued().then(|| percent(counts.issued, counts.samples))
}

/// Reasons of samples that did not issue, most first, in percent of all.
pub(crate) fn waits(counts: &SampleCounts) -> Vec<WaitShare> {
    let mut waits: Vec<WaitShare> = SAMPLE_STALLS
        .iter()
        .zip(counts.stalls)
        .filter(|(_, samples)| *samples > 0)
        .map(|((why, _), samples)| WaitShare {
            why: (*why).to_owned(),
            share: percent(samples, counts.samples),
        })
        .collect();
    waits.in_order_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

/// The first word without the suffix that names an encoding.
fn mnemonic(text: &str) -> &str {
    let word = text.split_whitespace().next().unwrap_or_default();
    ["_e32", "_e64", "_sdwa", "_dpp"].iter().find_map(|suffix| word.strip_suffix(suffix)).unwrap_or(word)
}

pub(crate) fn same_mnemonic(recorded: &str, found: &str) -> bool {
    recorded.is_empty() || mnemonic(recorded) == mnemonic(found)
}

/// `dir/a.cpp:12` as file and line; a line that the compiler does not know is 0.
pub(crate) fn source_line(recorded: &str) -> Option<SourceLine> {
    let (file, line) = recorded.rsplit_once(':')?;
    let line = line.trim().parse().unwrap_or(0);
    (!file.is_empty()).then(|| SourceLine { file: file.to_owned(), line, function: None })
}

/// Instructions by their text, for recordings without addresses.
struct ByText<'a, 'b> {
    evidence: &'a KernelEvidence<'b>,
    places: HashMap<String, Vec<usize>>,
}

enum Found {
    None,
    One(usize),
    Several,
}

impl<'a, 'b> ByText<'a, 'b> {
    fn new(evidence: &'a KernelEvidence<'b>) -> Self {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for at in 0..evidence.insts.len() {
            places.entry(evidence.text(at)).or_default().push(at);
        }
        ByText { evidence, places }
    }

    fn find(&self, instruction: &SampledInstruction) -> Found {
        let all = self.places.get(&instruction.text).map_or(&[][..], Vec::as_slice);
        let [_, _, ..] = all else {
            return all.first().map_or(Found::None, |at| Found::One(*at));
        };
        let Some(wanted) = source_line(&instruction.source) else { return Found::Several };
        let name = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
        let mut there = all.iter().filter(|at| {
            let source = self.evidence.source_line(**at);
            source.is_some_and(|it| it.line == wanted.line && name(&it.file) == name(&wanted.file))
        });
        match (there.next(), there.next()) {
            (Some(at), None) => Found::One(*at),
            _ => Found::Several,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_no_other_instruction() {
        for (recorded, found, same) in [
            ("v_max_i32_e32 v1, v2, v0", "v_max_i32 v1, v2, v0", true),
            ("s_cbranch_scc1 65520", "s_cbranch_scc1 L1", true),
            ("", "s_endpgm", true),
            ("s_nop 0", "s_endpgm", false),
        ] {
            assert_eq!(same_mnemonic(recorded, found), same, "{recorded}");
        }
    }

    #[test]
    fn sampled_instructions_make_a_listing_of_their_own() {
        let counts = |samples: u64, issued: u64| {
            let mut stalls = [0; SAMPLE_STALLS.len()];
            stalls[3] = samples - issued;
            SampleCounts { samples, issued, stalled: samples - issued, stalls }
        };
        let at = |address: u64, text: &str, source: &str| SampledInstruction {
            address: Some(address),
            text: text.into(),
            source: source.into(),
        };
        let samples = KernelSamples {
            dispatches: 2,
            total: counts(4, 1),
            rows: BTreeMap::from([
                (at(32, "s_waitcnt vmcnt(0)", "d/a.cpp:7"), counts(3, 0)),
                (at(16, "v_mov_b32_e32 v0, v1", "d/a.cpp:7"), counts(1, 1)),
            ]),
            ..KernelSamples::default()
        };
        let by = SampledBy { method: "stochastic".into(), sources: vec!["a.json".into()] };
        let listing = sampled_listing(&samples, &by);
        let lines: Vec<_> =
            listing.lines.iter().map(|it| (it.address, it.samples.clone().unwrap())).collect();
        assert_eq!((lines[0].0, lines[1].0), (16, 32));
        assert_eq!((lines[0].1.issued, lines[0].1.share), (Some(100.0), 25.0));
        assert_eq!(lines[1].1.waits, [WaitShare { why: "waitcnt".into(), share: 100.0 }]);
        assert_eq!(listing.lines[0].source.as_ref().unwrap().line, 7);
        assert_eq!(listing.lines[1].source, None);
        let all = listing.samples.unwrap();
        assert_eq!((all.count, all.issued, all.waits[0].share), (4, Some(25.0), 75.0));
    }
}
