//! Code of kernels: the part written into the page for readers without scripts, and the columns the script
//! draws from.

use super::tables::{short_name, whole_name};
use crate::text::{self, visible};
use serde::Serialize;
use std::borrow::Cow;
use view::{Listing, ListingLine, PageCode, thousands, thousands_of};

/// Lines of a listing that are in the page for readers without scripts.
const PLAIN: usize = 3000;

/// A kernel's code as the template writes it.
pub(crate) struct CodeView<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) short: String,
    pub(crate) file: Cow<'a, str>,
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) has_source: bool,
    pub(crate) counted: bool,
    pub(crate) sampled: bool,
    pub(crate) traced: bool,
    /// Only instructions that were sampled are listed.
    pub(crate) sampled_only: bool,
    /// Only instructions of a thread trace are listed.
    pub(crate) traced_only: bool,
    /// Reasons waves waited for, with their percents.
    pub(crate) waits: Vec<(&'a str, String)>,
    pub(crate) plain: String,
    pub(crate) cut: Option<String>,
}

impl<'a> CodeView<'a> {
    pub(crate) fn of(code: &'a PageCode) -> Self {
        let mut facts = Vec::new();
        let r = &code.resources;
        for (what, value) in [
            ("VGPR", r.vgprs),
            ("AGPR", r.agprs),
            ("SGPR", r.sgprs),
            ("spilled", r.vgpr_spills.filter(|n| *n > 0)),
            ("LDS B", r.lds_bytes),
            ("scratch B", r.scratch_bytes.filter(|n| *n > 0)),
        ] {
            if let Some(value) = value {
                facts.push((what, thousands(u64::from(value))));
            }
        }
        facts.push(("instructions", thousands(code.listing.lines.len() as u64)));
        if let Some(run) = &code.listing.run {
            facts.push(("dispatches", thousands(run.dispatches)));
            facts.push(("issued", thousands(run.issued)));
            if run.elsewhere > 0 {
                facts.push(("issued in functions", thousands(run.elsewhere)));
            }
        }
        if let Some(samples) = &code.listing.samples {
            facts.push(("samples", thousands(samples.count)));
            facts.push(("taken by", samples.method.clone()));
            if let Some(issued) = samples.issued {
                facts.push(("issued %", format!("{issued:.1}")));
            }
            if samples.elsewhere > 0 {
                facts.push(("in code not listed", thousands(samples.elsewhere)));
            }
            if samples.ambiguous > 0 {
                facts.push(("at instructions that read alike", thousands(samples.ambiguous)));
            }
        }
        if let Some(trace) = &code.listing.trace {
            let waves =
                trace.waves.map_or_else(String::new, |it| format!("{} of ", thousands_of(it, "wave")));
            facts.push(("traced", format!("{waves}{}", thousands_of(trace.dispatches, "dispatch"))));
            facts.push(("cycles", thousands(trace.latency)));
            facts.push(("stalled", thousands(trace.stall)));
        }
        let samples = code.listing.samples.iter().flat_map(|samples| &samples.waits);
        let waits = code.listing.run.iter().flat_map(|run| &run.waits).chain(samples);
        let waits = waits.map(|it| (it.why.as_str(), format!("{:.1}", it.share))).collect();
        let all = code.listing.lines.len();
        let shown = Listing {
            lines: code.listing.lines.iter().take(PLAIN).cloned().collect(),
            ..code.listing.clone()
        };
        let style = crate::Style { width: 140, ..crate::Style::default() };
        CodeView {
            name: whole_name(&code.kernel),
            short: short_name(&code.kernel),
            file: visible(&code.file),
            facts,
            has_source: !code.sources.is_empty(),
            counted: code.listing.run.is_some(),
            sampled: code.listing.samples.is_some(),
            traced: code.listing.trace.is_some(),
            sampled_only: code.listing.samples.as_ref().is_some_and(|it| it.sampled_only),
            traced_only: code.listing.trace.as_ref().is_some_and(|it| it.traced_only),
            waits,
            plain: text::listing(&shown, &code.findings, &style),
            cut: (all > PLAIN).then(|| thousands((all - PLAIN) as u64)),
        }
    }
}

/// Wait or stall reason of an instruction.
fn why(line: &ListingLine) -> Option<&str> {
    match (&line.run, &line.samples) {
        (Some(run), _) => Some(&run.stall.as_ref()?.why),
        (None, Some(samples)) => Some(&samples.waits.first()?.why),
        (None, None) => None,
    }
}

/// A listing in columns.
#[derive(Serialize)]
pub(crate) struct CodeData<'a> {
    kernel: Cow<'a, str>,
    counted: bool,
    sampled: bool,
    traced: bool,
    live_known: bool,
    lines_are_text: bool,
    address: Vec<u64>,
    text: Vec<Cow<'a, str>>,
    label: Vec<Option<&'a str>>,
    depth: Vec<u32>,
    vgprs: Vec<u32>,
    agprs: Vec<u32>,
    peak: Option<usize>,
    findings: Vec<String>,
    count: Vec<Option<u64>>,
    share: Vec<Option<f64>>,
    lanes: Vec<Option<f64>>,
    lines: Vec<Option<f64>>,
    conflicts: Vec<Option<f64>>,
    waited: Vec<Option<f64>>,
    wait_share: Vec<Option<f64>>,
    why: Vec<&'a str>,
    samples: Vec<Option<u64>>,
    sample_share: Vec<Option<f64>>,
    issued: Vec<Option<f64>>,
    stalled: Vec<Option<f64>>,
    hits: Vec<Option<u64>>,
    latency: Vec<Option<u64>>,
    stall: Vec<Option<u64>>,
    stall_share: Vec<Option<f64>>,
    idle: Vec<Option<u64>>,
    cause: Vec<Option<u64>>,
    files: Vec<Cow<'a, str>>,
    file: Vec<i32>,
    line: Vec<u32>,
    sources: Vec<Option<&'a [String]>>,
}

impl<'a> CodeData<'a> {
    pub(crate) fn of(code: &'a PageCode) -> Self {
        let listing = &code.listing;
        let mut files: Vec<&str> = Vec::new();
        let (mut file, mut line) = (Vec::new(), Vec::new());
        let mut now = (-1, 0);
        for it in &listing.lines {
            if let Some(source) = &it.source {
                let at = files.iter().position(|f| *f == source.file).unwrap_or_else(|| {
                    files.push(&source.file);
                    files.len() - 1
                });
                now = (i32::try_from(at).unwrap_or(-1), source.line);
            }
            file.push(now.0);
            line.push(now.1);
        }
        let round = |v: f64| (v * 100.0).round() / 100.0;
        let run = |of: fn(&view::LineRun) -> Option<f64>| -> Vec<Option<f64>> {
            listing.lines.iter().map(|l| l.run.as_ref().and_then(of).map(round)).collect()
        };
        let samples = |of: fn(&view::LineSamples) -> Option<f64>| -> Vec<Option<f64>> {
            listing.lines.iter().map(|l| l.samples.as_ref().and_then(of).map(round)).collect()
        };
        let trace = |of: fn(&view::LineTrace) -> Option<u64>| -> Vec<Option<u64>> {
            listing.lines.iter().map(|l| l.trace.as_ref().and_then(of)).collect()
        };
        CodeData {
            kernel: whole_name(&code.kernel),
            counted: listing.run.is_some(),
            sampled: listing.samples.is_some(),
            traced: listing.trace.is_some(),
            live_known: !listing.measured_only(),
            lines_are_text: listing.text_lines,
            address: listing.lines.iter().map(|l| l.address).collect(),
            text: listing.lines.iter().map(|l| visible(&l.text)).collect(),
            label: listing.lines.iter().map(|l| l.label.as_deref()).collect(),
            depth: listing.lines.iter().map(|l| l.loop_depth).collect(),
            vgprs: listing.lines.iter().map(|l| l.live_vgprs).collect(),
            agprs: listing.lines.iter().map(|l| l.live_agprs).collect(),
            peak: listing.lines.iter().position(|l| l.peak),
            findings: listing.lines.iter().map(|l| l.findings.join(" ")).collect(),
            count: listing.lines.iter().map(|l| l.run.as_ref().map(|r| r.count)).collect(),
            share: run(|r| Some(r.share)),
            lanes: run(|r| Some(r.lanes)),
            lines: run(|r| r.lines_per_access),
            conflicts: run(|r| {
                let (lost, all) = (r.conflict_cycles?, r.lds_cycles?);
                (all > 0).then(|| 100.0 * lost as f64 / all as f64)
            }),
            waited: run(|r| Some(r.stall.as_ref()?.cycles)),
            wait_share: run(|r| Some(r.stall.as_ref()?.share)),
            why: listing.lines.iter().map(|l| why(l).unwrap_or_default()).collect(),
            samples: listing.lines.iter().map(|l| l.samples.as_ref().map(|s| s.count)).collect(),
            sample_share: samples(|s| Some(s.share)),
            issued: samples(|s| s.issued),
            stalled: samples(|s| s.waits.first().map(|wait| wait.share)),
            hits: trace(|t| Some(t.hits)),
            latency: trace(|t| Some(t.latency)),
            stall: trace(|t| Some(t.stall)),
            stall_share: listing.lines.iter().map(|l| l.trace.as_ref().map(|t| round(t.share))).collect(),
            idle: trace(|t| Some(t.idle)),
            cause: trace(|t| t.cause.filter(|_| t.stall > 0)),
            sources: files
                .iter()
                .map(|f| code.sources.iter().find(|s| s.file == **f).map(|s| s.lines.as_slice()))
                .collect(),
            files: files.into_iter().map(visible).collect(),
            file,
            line,
        }
    }
}
