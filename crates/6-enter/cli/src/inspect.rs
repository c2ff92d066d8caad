//! `rockhound inspect`: cards, tables, listings and documents of every kernel in the inputs.
//!
//! Documents are written kernel by kernel as they come; only text waits, because its form depends on the
//! number of kernels.

use crate::args::{Format, Inspect, Look};
use crate::exit::{Outcome, usage};
use crate::kernels::{Judged, Selection, each_kernel};
use crate::output::Output;
use crate::{gate, terminal};
use anyhow::{Result, anyhow};
use host::Source;
use host::instructions::Recorded;
use render::{Style, csv, github, json, sarif, text};
use std::path::{Path, PathBuf};
use study::Judges;
use view::{KernelCard, KernelRow, Listing, Summary};

/// Up to this many kernels are shown as cards, more as a table.
const CARDS: usize = 5;

/// Summary of a kernel after a core has worked on it.
struct Part {
    row: KernelRow,
    /// Rendered, unless it is not yet known how.
    text: String,
    card: Option<Box<KernelCard>>,
    listing: Option<Listing>,
    /// Reason if the code differs from the recording's.
    refused: Option<String>,
}

/// Inspects.
pub(crate) fn run(args: &Inspect, look: &Look) -> Result<Outcome> {
    let Asked { sources, files, selection, recorded } = asked(args)?;
    let mut gated = gate::open("inspect", Judges::Code, &args.fail_on, &args.memory)?;
    // Findings are compared in file order, so that what is new does not depend on threads.
    let waits = gated.gate.is_active();
    let style = terminal::style(look, args.output.is_some());
    let rules = study::rules();
    let mut output = Output::open(args.output.as_deref())?;
    let streams =
        args.asm || args.details || args.lines || !matches!(args.format, Format::Text | Format::Markdown);

    let (opening, separator) = opening(args.format, &rules);
    output.write(&opening)?;

    let mut summary = Summary::default();
    let mut rows: Vec<KernelRow> = Vec::new();
    let mut cards: Vec<KernelCard> = Vec::new();
    let mut first = true;
    let mut results = sarif::Results::default();
    let remarks = each_kernel(
        &sources,
        &files,
        &selection,
        |judged| {
            let part = part(judged, args, recorded.as_ref(), &sources);
            if waits { part } else { part.rendered(args, streams, &style) }
        },
        |mut part| {
            if let Some(message) = part.refused {
                return Err(anyhow!(message));
            }
            if waits {
                if let Some(card) = &mut part.card {
                    gated.gate.card(card);
                }
                part = part.rendered(args, streams, &style);
            } else {
                gated.gate.row(&part.row);
            }
            summary.add(&mut part.row);
            if let (Format::Sarif, Some(card)) = (args.format, &part.card) {
                part.text = results.add(card);
            }
            if streams {
                if !part.text.is_empty() {
                    if !std::mem::replace(&mut first, false) {
                        output.write(separator)?;
                    }
                    output.write(&part.text)?;
                }
                return Ok(());
            }
            // A sixth kernel makes it a table, and cards are not needed any more.
            match part.card {
                Some(card) if rows.len() < CARDS && args.sort.is_none() => cards.push(*card),
                _ => cards.clear(),
            }
            rows.push(part.row);
            Ok(())
        },
    )?;

    let errors = remarks.errors;
    let held = results.finish();
    if !held.is_empty() && !first {
        output.write(separator)?;
    }
    output.write(&match args.format {
        Format::Json => json::end(&summary, gated.gate.summary().as_ref(), &remarks.notes, &errors),
        Format::Sarif => held + &sarif::end(&errors),
        Format::Text | Format::Markdown => closing(&mut rows, &cards, &summary, &rules, args, &style),
        _ => String::new(),
    })?;
    output.finish()?;
    let met = gated.close(!errors.is_empty())?;
    Ok(Outcome::of(!errors.is_empty(), met))
}

/// The beginning of a document, and what separates its kernels.
fn opening(format: Format, rules: &[view::RuleInfo]) -> (String, &'static str) {
    let version = env!("CARGO_PKG_VERSION");
    match format {
        Format::Json => (json::begin(version), json::SEPARATOR),
        Format::Csv => (csv::header(), ""),
        Format::Sarif => (sarif::begin(version, rules), sarif::SEPARATOR),
        Format::Text => (String::new(), "\n"),
        _ => (String::new(), ""),
    }
}

/// Request of `inspect`.
struct Asked {
    /// Addresses as typed, whose temporary folders live until the end.
    sources: Vec<Source>,
    files: Vec<PathBuf>,
    selection: Selection,
    recorded: Option<Recorded>,
}

fn asked(args: &Inspect) -> Result<Asked> {
    let mut selection =
        Selection::new(args.select.kernel.as_deref(), &args.select.arch)?.pass(args.pass.as_deref());
    let recorded = match &args.workload {
        Some(_) if !matches!(args.format, Format::Text | Format::Json) => {
            return Err(usage("`--workload` needs a listing", "use `--format text` or `--format json`"));
        }
        Some(folder) => Some(Recorded::read(folder, &args.dispatch, !args.files.is_empty())?),
        None => None,
    };
    let sources: Vec<Source> = args.files.iter().cloned().map(Source::parse).collect();
    let mut files =
        sources.iter().map(|it| it.open().map(Path::to_owned)).collect::<Result<Vec<PathBuf>>>()?;
    if let Some(recorded) = &recorded {
        selection = selection.recorded(recorded.kernels(), recorded.target());
        if files.is_empty() {
            files = recorded.files()?;
        }
    }
    Ok(Asked { sources, files, selection, recorded })
}

/// The card of a kernel, and its listing if asked for.
fn part(mut judged: Judged<'_, '_>, args: &Inspect, recorded: Option<&Recorded>, sources: &[Source]) -> Part {
    let mut listing =
        (args.asm && matches!(args.format, Format::Text | Format::Json)).then(|| judged.listing());
    let added = match (recorded, &mut listing) {
        (Some(recorded), Some(listing)) => recorded.add_to(listing, &mut judged),
        _ => Ok(()),
    };
    let mut card = judged.card();
    card.file = Source::told_of(sources, card.file);
    Part {
        row: KernelRow::from(&card),
        text: String::new(),
        card: Some(Box::new(card)),
        listing,
        refused: added.err().map(|it| it.to_string()),
    }
}

impl Part {
    /// Converts the kernel for the format; the card stays where it is needed later.
    fn rendered(mut self, args: &Inspect, streams: bool, style: &Style) -> Part {
        let Some(card) = self.card.take() else { return self };
        let listing = self.listing.take();
        self.text = match args.format {
            Format::Json => json::kernel(&card, listing.as_ref()),
            Format::Csv => csv::kernel(&card),
            Format::Github => github::kernel(&card),
            Format::Text if streams => {
                let mut text = text::card(&card, style);
                if args.lines {
                    text.push('\n');
                    text.push_str(&text::triton_lines(&card, style));
                }
                if let Some(listing) = listing {
                    text.push('\n');
                    text.push_str(&text::listing(&listing, &card.findings, style));
                }
                text
            }
            // SARIF joins results of several kernels, in their order.
            _ => String::new(),
        };
        self.card = (!streams || args.format == Format::Sarif).then_some(card);
        self
    }
}

/// Output after the last kernel: cards or the table, and the summary.
fn closing(
    rows: &mut [KernelRow],
    cards: &[KernelCard],
    summary: &Summary,
    rules: &[view::RuleInfo],
    args: &Inspect,
    style: &Style,
) -> String {
    let mut out: Vec<String> = Vec::new();
    let top = if args.top == 0 { usize::MAX } else { args.top };
    let sort = args.sort.as_deref().unwrap_or("severity");
    if args.format == Format::Markdown {
        return render::kernels(rows, sort, top, summary);
    }
    if cards.is_empty() && !rows.is_empty() {
        out.push(text::table(rows, sort, top, style));
    }
    out.extend(cards.iter().map(|card| text::card(card, style)));
    if summary.kernels > 1 {
        let gap = if args.asm || args.details { "\n" } else { "" };
        out.push(format!("{gap}{}", text::summary(summary, rules, style)));
    }
    out.join("\n")
}
