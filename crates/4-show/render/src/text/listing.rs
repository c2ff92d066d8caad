//! The annotated disassembly of one kernel.
//!
//! The one idea to keep in mind: the margin on the left says where and how full, the margin on the right says
//! what is wrong; between them stands the instruction as the disassembler writes it.

use super::card::{severity_role, short_name, source_text};
use super::page::{Page, Span, dim, plain, span, width};
use crate::{Role, Style};
use view::{Finding, Listing, Severity};

/// Column the findings start at, when the terminal has room for it.
const MARGIN: usize = 72;

/// Renders a listing; `findings` gives the severities of the rules named in the margin.
pub fn listing(listing: &Listing, findings: &[Finding], style: &Style) -> String {
    let mut page = Page::new(style);
    let name = short_name(&listing.kernel, 2 * style.width - 4, style);
    page.wrapped(0, 4, &[span(Role::Heading, name)]);
    let address = |value: u64| if listing.text_lines { value.to_string() } else { format!("{value:x}") };
    let address_width =
        listing.lines.iter().map(|line| address(line.address).len()).max().unwrap_or(4).max(7);
    let has_agprs = listing.lines.iter().any(|line| line.live_agprs > 0);
    let head = if listing.text_lines { "line" } else { "address" };
    let mut head = format!("  {head:>address_width$}  live");
    if has_agprs {
        head.push_str("  acc");
    }
    head.push_str("  loop");
    page.raw(&[dim(head)]);
    let mut function = None;
    for line in &listing.lines {
        if let Some(label) = &line.label {
            page.raw(&[span(Role::Strong, format!("{label}:"))]);
        }
        if let Some(source) = line.source.as_ref().filter(|source| source.line > 0) {
            let mut text = format!("  ; {}", source_text(source));
            // Code of another function is inlined here; the kernel's own name stands above all of it.
            if source.function != function {
                function.clone_from(&source.function);
                if let Some(name) = &function {
                    text.push_str(&format!("  {}", short_name(name, 60, style)));
                }
            }
            page.raw(&[span(Role::Info, text)]);
        }
        let live_role = if line.peak { Role::Severe } else { Role::Dim };
        let mut spans = vec![
            dim(format!("  {:>address_width$}  ", address(line.address))),
            span(live_role, format!("{:>4}", line.live_vgprs)),
        ];
        if has_agprs {
            spans.push(span(live_role, format!(" {:>4}", line.live_agprs)));
        }
        let bars = "│".repeat(line.loop_depth.min(4) as usize);
        spans.push(dim(format!("  {bars:<4}  ")));
        spans.push(plain(line.text.trim()));
        let mut notes: Vec<Span> = Vec::new();
        if line.peak {
            notes.push(span(Role::Severe, " ◀ most live registers"));
        }
        for rule in &line.findings {
            let severity =
                findings.iter().filter(|finding| finding.rule == *rule).map(|finding| finding.severity).max();
            notes.push(span(severity_role(severity.unwrap_or(Severity::Info)), format!(" ◀ {rule}")));
        }
        if !notes.is_empty() {
            let used: usize = spans.iter().map(|span| width(&span.text)).sum();
            spans.push(plain(
                " ".repeat(MARGIN.min(style.width.saturating_sub(12)).saturating_sub(used).max(1)),
            ));
            spans.extend(notes);
        }
        page.raw(&spans);
    }
    page.finish()
}
