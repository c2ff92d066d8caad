//! The annotated disassembly of one kernel.
//!
//! The left margin shows position and occupancy of registers, the right margin shows problems; between them
//! is the instruction in the disassembler's syntax. A recording adds columns on the left: executions, lanes,
//! cost.

use super::card::{severity_role, short_name, source_text};
use super::listing_samples::{self, Sampled};
use super::listing_trace::{self, Traced};
use super::number::scaled;
use super::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use view::{Finding, LineRun, LineStall, Listing, ListingLine, Severity, WaitShare, thousands, thousands_of};

/// Column the findings start at, when the terminal has room for it.
const MARGIN: usize = 72;

/// From this width on a measured listing has the live registers too.
const WIDE: usize = 120;

/// Minimum width for all columns of a recording.
const MEDIUM: usize = 100;

/// Columns of a recording; empty ones are omitted.
struct Measured {
    /// Executions of the hottest line.
    most: u64,
    /// Executions of the first line: what exceeds them is in a loop.
    first: u64,
    lines: bool,
    conflicts: bool,
    stalls: bool,
    /// True if the line is too narrow to show shares and wait reasons beside the instruction.
    narrow: bool,
}

impl Measured {
    fn of(listing: &Listing, columns: usize) -> Option<Measured> {
        listing.run.as_ref()?;
        let runs = || listing.lines.iter().filter_map(|line| line.run.as_ref());
        Some(Measured {
            most: runs().map(|run| run.count).max().unwrap_or(0),
            first: runs().next().map_or(0, |run| run.count),
            lines: runs().any(|run| run.lines_per_access.is_some()),
            conflicts: runs().any(|run| run.conflict_cycles.is_some()),
            stalls: runs().any(|run| run.stall.is_some()),
            narrow: columns < MEDIUM && runs().any(|run| run.stall.is_some()),
        })
    }

    fn head(&self) -> String {
        let lines = if self.lines { "  lines" } else { "" };
        let conflicts = if self.conflicts { "  confl" } else { "" };
        let stalls = match (self.stalls, self.narrow) {
            (false, _) => "",
            (true, true) => "  stall",
            (true, false) => "   stall  of all why     ",
        };
        let share = if self.narrow { "" } else { "  share" };
        format!("   count{share}  lanes{lines}{conflicts}{stalls}")
    }

    fn cells(&self, run: Option<&LineRun>) -> Vec<Span> {
        let Some(run) = run else {
            return vec![dim(format!("{:>8}{}", "-", " ".repeat(width(&self.head()) - 8)))];
        };
        let lanes =
            if run.lanes.fract() == 0.0 { format!("{:.0}", run.lanes) } else { format!("{:.1}", run.lanes) };
        let share = if self.narrow { String::new() } else { format!(" {:>5.1}%", run.share) };
        let mut spans = vec![
            span(self.heat(run.count), format!("{:>8}{share}", scaled(run.count))),
            span(if run.lanes < HALF_LANES { Role::Warning } else { Role::Plain }, format!("{lanes:>7}")),
        ];
        if self.lines {
            let lines = run.lines_per_access.map_or_else(String::new, |it| format!("{it:.1}"));
            spans.push(plain(format!("{lines:>7}")));
        }
        if self.conflicts {
            let conflicts = run.conflict_cycles.unwrap_or(0);
            let role = if conflicts > 0 { Role::Warning } else { Role::Plain };
            let text = run.conflict_cycles.map_or_else(String::new, scaled);
            spans.push(span(role, format!("{text:>7}")));
        }
        if self.stalls {
            let much = run.stall.as_ref().is_some_and(|stall| stall.share >= MUCH_STALLED);
            let role = if much { Role::Severe } else { Role::Plain };
            let text = if self.narrow {
                let share =
                    run.stall.as_ref().map_or_else(String::new, |stall| format!("{:.1}%", stall.share));
                format!("{share:>7}")
            } else {
                format!("{:<25}", run.stall.as_ref().map_or_else(String::new, stalled))
            };
            spans.push(span(role, text));
        }
        spans
    }

    /// Colour by how much of the hottest line's executions a line has; without loops none is hot.
    fn heat(&self, count: u64) -> Role {
        if self.most <= self.first {
            return Role::Plain;
        }
        match 100 * u128::from(count) / u128::from(self.most.max(1)) {
            75.. => Role::Severe,
            25.. => Role::Warning,
            5.. => Role::Plain,
            _ => Role::Dim,
        }
    }
}

/// An instruction before which more than this percentage of all waiting happens is marked.
const MUCH_STALLED: f64 = 20.0;

fn stalled(stall: &LineStall) -> String {
    format!("{:>8} {:>6.1}% {}", scaled(stall.cycles.round() as u64), stall.share, stall.why)
}

/// Fewer active lanes than this waste more than half of the unit.
const HALF_LANES: f64 = 32.0;

/// Bars for the loops around an instruction.
const LOOPS: [&str; 5] = ["        ", "  │     ", "  ││    ", "  │││   ", "  ││││  "];

/// Bytes of a usual line.
const BYTES_PER_LINE: usize = 64;

/// Writes a number right-aligned in `columns` columns.
fn aligned(out: &mut String, value: u64, radix: u64, columns: usize) {
    let (mut digits, mut at, mut rest) = ([b' '; 24], 24, value);
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdef"[(rest % radix) as usize];
        rest /= radix;
        if rest == 0 {
            break;
        }
    }
    at = at.min(digits.len().saturating_sub(columns));
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// Renders a listing; `findings` gives the severities of the rules named in the margin.
pub fn listing(listing: &Listing, findings: &[Finding], style: &Style) -> String {
    listing_with_places(listing, findings, style).0
}

/// Renders a listing, and returns the text line of each instruction.
pub fn listing_with_places(listing: &Listing, findings: &[Finding], style: &Style) -> (String, Vec<usize>) {
    let mut page = Page::new(style);
    let mut places = Vec::with_capacity(listing.lines.len());
    introduce(&mut page, listing, style);
    let columns = Columns::of(listing, style);
    page.raw(&[dim(columns.head(listing))]);
    page.reserve(listing.lines.len().saturating_mul(BYTES_PER_LINE));
    let mut function = None;
    let mut cell = String::new();
    for line in &listing.lines {
        if let Some(label) = &line.label {
            page.raw(&[span(Role::Strong, format!("{label}:"))]);
        }
        source(&mut page, line, &mut function, style);
        let used = columns.instruction(&mut page, line, &mut cell);
        if line.peak || !line.findings.is_empty() {
            let room = columns.margin.min(style.width.saturating_sub(12)).saturating_sub(used).max(1);
            page.put(Role::Plain, &" ".repeat(room));
            margin(&mut page, line, findings);
        }
        places.push(page.lines());
        page.end_line();
    }
    (page.finish(), places)
}

/// Name of the kernel, and totals of recordings.
fn introduce(page: &mut Page, listing: &Listing, style: &Style) {
    let name = short_name(&listing.kernel, 2 * style.width - 4, style);
    page.wrapped(0, 4, &[span(Role::Heading, name)]);
    if let Some(run) = &listing.run {
        let (issued, dispatches) =
            (thousands_of(run.issued, "instruction"), thousands_of(run.dispatches, "dispatch"));
        let mut text = format!("{issued} issued in {dispatches}");
        if run.elsewhere > 0 {
            text.push_str(&format!(", {} of them in functions called, not listed", thousands(run.elsewhere)));
        }
        page.wrapped(2, 4, &[dim(text)]);
        // Below one percent a kernel needs no further look.
        let said =
            |wait: &WaitShare| (wait.share >= 1.0).then(|| format!("{} {:.0} %", wait.why, wait.share));
        let waits: Vec<String> = run.waits.iter().filter_map(said).collect();
        if !waits.is_empty() {
            page.wrapped(2, 4, &[dim(format!("waves waited for {}", waits.join(", ")))]);
        }
    }
    if let Some(samples) = &listing.samples {
        listing_samples::introduce(page, samples);
    }
    if let Some(trace) = &listing.trace {
        listing_trace::introduce(page, trace);
    }
}

/// Columns of a listing, from the left: address, what recordings say, live registers, loops.
struct Columns {
    measured: Option<Measured>,
    sampled: Option<Sampled>,
    traced: Option<Traced>,
    /// Columns of the address.
    address: usize,
    /// Addresses are lines of assembly text, in decimal.
    text_lines: bool,
    /// The recording is the only source of data on instructions.
    measured_only: bool,
    /// True if live registers fit.
    live: bool,
    /// Some instruction has live accumulation registers.
    agprs: bool,
    /// Column at which findings begin.
    margin: usize,
}

impl Columns {
    fn of(listing: &Listing, style: &Style) -> Columns {
        let measured = Measured::of(listing, style.width);
        let sampled = Sampled::of(listing);
        let traced = Traced::of(listing, style.width);
        let last = listing.lines.iter().map(|line| line.address).max().unwrap_or(0);
        let last = if listing.text_lines { last.to_string() } else { format!("{last:x}") };
        let bare = measured.is_none() && sampled.is_none() && traced.is_none();
        let measured_only = listing.measured_only();
        let mut columns = Columns {
            address: last.len().max(7),
            text_lines: listing.text_lines,
            measured_only,
            live: !measured_only && (bare || style.width >= WIDE),
            agprs: listing.lines.iter().any(|line| line.live_agprs > 0),
            margin: MARGIN,
            measured,
            sampled,
            traced,
        };
        columns.margin += width(&columns.recorded_head());
        columns
    }

    /// Names of the columns of recordings.
    fn recorded_head(&self) -> String {
        let heads = [
            self.measured.as_ref().map(Measured::head),
            self.sampled.as_ref().map(Sampled::head),
            self.traced.as_ref().map(Traced::head),
        ];
        heads.into_iter().flatten().collect()
    }

    fn head(&self, listing: &Listing) -> String {
        let address = if listing.text_lines { "line" } else { "address" };
        let live = if self.live { "  live" } else { "" };
        let agprs = if self.live && self.agprs { "  acc" } else { "" };
        let loops = if self.measured_only { "" } else { "  loop" };
        format!("  {address:>0$}{1}{live}{agprs}{loops}", self.address, self.recorded_head())
    }

    /// Writes an instruction up to its text. Returns the columns it takes where something follows in the
    /// margin.
    fn instruction(&self, page: &mut Page, line: &ListingLine, cell: &mut String) -> usize {
        let live_role = if line.peak { Role::Severe } else { Role::Dim };
        let mut used = 0;
        let mut put = |role: Role, text: &str| {
            used += if line.findings.is_empty() && !line.peak { 0 } else { width(text) };
            page.put(role, text);
        };
        cell.clear();
        cell.push_str("  ");
        aligned(cell, line.address, if self.text_lines { 10 } else { 16 }, self.address);
        put(Role::Dim, cell);
        let cells = [
            self.measured.as_ref().map(|it| it.cells(line.run.as_ref())),
            self.sampled.as_ref().map(|it| it.cells(line.samples.as_ref())),
            self.traced.as_ref().map(|it| it.cells(line.trace.as_ref())),
        ];
        for span in cells.iter().flatten().flatten() {
            put(span.role, &span.text);
        }
        if self.live {
            cell.clear();
            cell.push_str("  ");
            aligned(cell, u64::from(line.live_vgprs), 10, 4);
            put(live_role, cell);
            if self.agprs {
                cell.clear();
                cell.push(' ');
                aligned(cell, u64::from(line.live_agprs), 10, 4);
                put(live_role, cell);
            }
        }
        put(Role::Dim, if self.measured_only { "  " } else { LOOPS[line.loop_depth.min(4) as usize] });
        put(Role::Plain, line.text.trim());
        used
    }
}

/// Writes the source line above the first of its instructions.
fn source(page: &mut Page, line: &ListingLine, function: &mut Option<String>, style: &Style) {
    let Some(source) = line.source.as_ref().filter(|source| source.line > 0) else { return };
    let mut text = format!("  ; {}", source_text(source));
    // Code of another function is inlined here; the kernel's name heads the whole listing.
    if source.function != *function {
        function.clone_from(&source.function);
        if let Some(name) = function {
            text.push_str(&format!("  {}", short_name(name, 60, style)));
        }
    }
    page.raw(&[span(Role::Info, text)]);
}

/// Writes the findings of an instruction.
fn margin(page: &mut Page, line: &ListingLine, findings: &[Finding]) {
    if line.peak {
        page.put(Role::Severe, " ◀ most live registers");
    }
    for rule in &line.findings {
        let found = findings.iter().filter(|finding| finding.rule == *rule);
        let severity = found.map(|finding| finding.severity).max().unwrap_or(Severity::Info);
        page.put(severity_role(severity), &format!(" ◀ {rule}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOPS, aligned};

    #[test]
    fn numbers_end_in_their_column() {
        for (value, radix, columns, expected) in [
            (0, 10, 4, "   0"),
            (255, 16, 4, "  ff"),
            (123_456, 10, 4, "123456"),
            (u64::MAX, 10, 4, "18446744073709551615"),
            (u64::MAX, 16, 20, "    ffffffffffffffff"),
        ] {
            let mut text = String::new();
            aligned(&mut text, value, radix, columns);
            assert_eq!(text, expected);
        }
        assert!(LOOPS.iter().all(|bars| bars.chars().count() == 8));
    }
}
