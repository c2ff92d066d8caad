//! One kernel as a card: resources, limiter, loops, findings.
//!
//! A reader scans the left column; every line begins with its label, and the answer comes before its
//! evidence.

use super::names::shorten;
use super::number::{bytes, short};
use super::page::{Page, Span, VALUES, dim, field, join, plain, span, width};
use crate::{Role, Style};
use std::collections::BTreeMap;
use view::{
    CompilerCard, Finding, GateMark, KernelCard, LoopCard, Mix, NotChecked, OccupancyCard, OccupancyStep,
    Place, Severity, SourceLine, counted, noun_of, thousands, thousands_of,
};

/// Loops shown before the rest is only counted.
const LOOPS_SHOWN: usize = 24;
/// Findings of one rule shown before the rest is only counted.
const FINDINGS_PER_RULE: usize = 4;

/// Renders the card of one kernel.
pub fn card(kernel: &KernelCard, style: &Style) -> String {
    let mut page = Page::new(style);
    title(&mut page, kernel);
    // IR without code knows nothing of registers; a build's log knows nothing of code.
    let built = kernel.compiler.as_ref();
    let code = kernel.triton.is_none() || kernel.instructions.is_some() || kernel.resources.vgprs.is_some();
    resources(&mut page, kernel, code);
    match &kernel.occupancy {
        None if !code => {}
        Some(occupancy) => occupancy_lines(&mut page, occupancy),
        None => field(
            &mut page,
            "occupancy",
            &[dim("unknown: no facts for this target, or no register counts in the file")],
        ),
    }
    if let Some(pressure) = &kernel.pressure {
        let mut spans = vec![span(Role::Strong, pressure.live_vgprs.to_string()), plain(" VGPRs")];
        if pressure.live_agprs > 0 {
            spans.push(plain(" and "));
            spans.push(span(Role::Strong, pressure.live_agprs.to_string()));
            spans.push(plain(" AGPRs"));
        }
        spans.push(plain(" live at most"));
        spans.extend(place(&pressure.at, true));
        field(&mut page, "pressure", &spans);
    }
    if let Some(compiler) = built {
        compiler_lines(&mut page, compiler);
    } else if code {
        mix_lines(&mut page, kernel);
    }
    loop_lines(&mut page, &kernel.loops);
    if let Some(ir) = &kernel.triton {
        super::triton::lines(&mut page, kernel, ir);
    }
    argument_lines(&mut page, kernel);
    if !kernel.calls.is_empty() {
        let room = style.width.saturating_sub(VALUES + 4).max(20);
        let names = kernel.calls.iter().map(|call| vec![plain(short_name(call, room, style))]).collect();
        field(&mut page, "calls", &join(names, ", "));
    }
    for warning in &kernel.warnings {
        field(&mut page, "warning", &[span(Role::Warning, warning)]);
    }
    page.blank();
    finding_lines(&mut page, &kernel.findings);
    not_checked_lines(&mut page, &kernel.not_checked);
    page.finish()
}

pub(super) fn short_name(name: &str, room: usize, style: &Style) -> String {
    if style.full_names { name.to_owned() } else { shorten(name, room).into_owned() }
}

fn title(page: &mut Page, kernel: &KernelCard) {
    let style = page.style;
    // Two lines of name before it is shortened.
    let name = short_name(kernel.display_name(), 2 * style.width - 4, &style);
    page.wrapped(0, 4, &[span(Role::Heading, name)]);
    let mut parts = vec![vec![plain(&kernel.target)]];
    let file = if kernel.origin.is_empty() {
        kernel.file.clone()
    } else {
        format!("{} {}", kernel.file, kernel.origin)
    };
    parts.push(vec![plain(file)]);
    if kernel.code_object_version > 0 {
        parts.push(vec![plain(format!("code object v{}", kernel.code_object_version))]);
    }
    if let Some(source) = &kernel.source {
        parts.push(vec![plain(source_text(source))]);
    }
    let mut line = join(parts, " · ");
    for span in &mut line {
        span.role = Role::Dim;
    }
    page.wrapped(2, 4, &line);
}

/// What the log of a build says besides the resources.
fn compiler_lines(page: &mut Page, compiler: &CompilerCard) {
    let mut said = vec![vec![plain(match compiler.line {
        line if line == compiler.last_line => format!("line {line} of the log"),
        line => format!("lines {line} to {} of the log", compiler.last_line),
    })]];
    if let Some(waves) = compiler.waves_per_simd {
        said.push(vec![plain(format!("occupancy {waves} by its calculation"))]);
    }
    field(page, "compiler", &join(said, " · "));
    for diagnostic in &compiler.diagnostics {
        field(page, "", &[span(Role::Warning, diagnostic)]);
    }
}

fn resources(page: &mut Page, kernel: &KernelCard, code: bool) {
    let resources = &kernel.resources;
    let mut registers: Vec<Vec<Span>> = Vec::new();
    let mut count = |name: &str, value: Option<u32>| match value {
        Some(value) => registers.push(vec![plain(format!("{name} ")), span(Role::Strong, value.to_string())]),
        None => registers.push(vec![plain(format!("{name} ")), dim("unknown")]),
    };
    count("VGPR", resources.vgprs);
    count("AGPR", resources.agprs);
    count("SGPR", resources.sgprs);
    if let Some(allocated) = resources.vgprs_allocated {
        registers.push(vec![plain(format!("{allocated} allocated per lane"))]);
    }
    match (resources.vgpr_spills.unwrap_or(0), resources.sgpr_spills.unwrap_or(0)) {
        (0, 0) if resources.vgpr_spills.is_none() => {}
        (0, 0) => registers.push(vec![plain("no spills")]),
        (vgprs, sgprs) => {
            registers.push(vec![span(Role::Severe, format!("spills {vgprs} VGPR, {sgprs} SGPR"))]);
        }
    }
    if code {
        field(page, "registers", &join(registers, " · "));
    }

    let mut memory: Vec<Vec<Span>> = Vec::new();
    match (resources.lds_bytes, resources.launch_lds_bytes) {
        (_, Some(launch)) => memory.push(vec![
            plain("LDS "),
            span(Role::Strong, bytes(u64::from(launch))),
            plain(" at launch"),
        ]),
        (Some(lds), None) => memory.push(vec![plain("LDS "), span(Role::Strong, bytes(u64::from(lds)))]),
        (None, None) => memory.push(vec![plain("LDS "), dim("unknown")]),
    }
    if !code {
        // Decided when the code is made.
    } else if resources.dynamic_stack {
        memory.push(vec![span(Role::Warning, "scratch of unknown size (dynamic stack)")]);
    } else {
        match resources.scratch_bytes {
            Some(0) => memory.push(vec![plain("scratch "), span(Role::Strong, "0 B")]),
            Some(scratch) => memory.push(vec![
                plain("scratch "),
                span(Role::Warning, bytes(u64::from(scratch))),
                plain(" per lane"),
            ]),
            None => memory.push(vec![plain("scratch "), dim("unknown")]),
        }
    }
    if let Some(kernarg) = resources.kernarg_bytes {
        memory.push(vec![plain(format!("kernel arguments {}", bytes(u64::from(kernarg))))]);
    }
    field(page, "memory", &join(memory, " · "));

    let mut launch: Vec<Vec<Span>> = Vec::new();
    if let Some([x, y, z]) = resources.required_workgroup {
        launch.push(vec![plain(format!("workgroup of exactly {x}x{y}x{z}"))]);
    } else if let Some(most) = resources.max_workgroup {
        launch.push(vec![plain(format!("workgroup of at most {most}"))]);
    }
    if let Some(waves) = resources.waves_per_workgroup {
        launch.push(vec![plain(counted(waves, "wave"))]);
    }
    if !launch.is_empty() {
        field(page, "launch", &join(launch, " · "));
    }
}

fn occupancy_lines(page: &mut Page, occupancy: &OccupancyCard) {
    field(page, "occupancy", &occupancy_spans(occupancy));
    let steps = step_spans(occupancy);
    if !steps.is_empty() {
        field(page, "", &join(steps, " · "));
    }
    if !occupancy.assumptions.is_empty() {
        field(page, "", &[dim(format!("assumes {}", occupancy.assumptions.join("; ")))]);
    }
    for reason in &occupancy.reasons {
        field(page, "", &[plain(reason)]);
    }
}

/// "shed 4 VGPRs for 3 waves", one group of spans per way to gain waves.
pub(super) fn step_spans(occupancy: &OccupancyCard) -> Vec<Vec<Span>> {
    let what = |step: &OccupancyStep| match step.unit.as_str() {
        "registers" => counted(step.shed, &step.resource),
        "bytes" => format!("{} of {}", bytes(u64::from(step.shed)), step.resource),
        unit => format!("{} {unit} ({})", step.shed, step.resource),
    };
    let sentence = |what: String, waves: f64| {
        vec![
            plain("shed "),
            span(Role::Good, what),
            plain(" for "),
            span(
                Role::Good,
                format!("{} {}", short(waves), noun_of(if waves == 1.0 { 1_u64 } else { 2 }, "wave")),
            ),
        ]
    };
    let mut ways: Vec<Vec<Span>> =
        occupancy.next.iter().map(|step| sentence(what(step), step.waves_per_simd)).collect();
    if let Some(first) = occupancy.together.first() {
        let all: Vec<String> = occupancy.together.iter().map(what).collect();
        ways.push(sentence(all.join(" and "), first.waves_per_simd));
    }
    ways
}

/// "3 of 8 waves per SIMD, limited by VGPR".
pub(super) fn occupancy_spans(occupancy: &OccupancyCard) -> Vec<Span> {
    let most = f64::from(occupancy.max_waves_per_simd);
    let role = if occupancy.waves_per_simd >= most { Role::Good } else { Role::Strong };
    let mut spans = vec![
        span(role, short(occupancy.waves_per_simd)),
        plain(format!(" of {} per SIMD", counted(occupancy.max_waves_per_simd, "wave"))),
    ];
    if occupancy.waves_per_simd == 0.0 {
        spans.push(span(Role::Severe, ": not even one workgroup fits"));
    }
    if occupancy.waves_per_simd < most {
        let all: Vec<&str> = occupancy.together.iter().map(|step| step.resource.as_str()).collect();
        let limiter = if all.is_empty() { occupancy.limiter.clone() } else { all.join(" and ") };
        spans.extend([plain(", limited by "), span(Role::Strong, limiter)]);
    }
    spans
}

/// Groups of the bar: glyph without colour, colour, share.
fn bar_groups(mix: &Mix) -> [(char, Role, &'static str, u32); 6] {
    [
        ('█', Role::Good, "VALU", mix.valu),
        ('▓', Role::Info, "MFMA", mix.mfma),
        ('░', Role::Dim, "scalar", mix.salu + mix.smem),
        ('▒', Role::Warning, "memory", mix.vmem_load + mix.vmem_store + mix.vmem_atomic),
        ('▚', Role::Strong, "LDS", mix.lds),
        (
            '·',
            Role::Dim,
            "other",
            mix.branch + mix.wait + mix.barrier + mix.message + mix.control + mix.unknown,
        ),
    ]
}

fn mix_lines(page: &mut Page, kernel: &KernelCard) {
    let Some(mix) = kernel.mix.as_ref().filter(|mix| mix.total() > 0) else {
        field(page, "code", &[dim("none that could be read")]);
        return;
    };
    let total = mix.total();
    let mut code = thousands_of(kernel.instructions.unwrap_or(0), "instruction");
    // Assembly text has no size.
    if let Some(size) = kernel.code_bytes {
        code.push_str(&format!(" in {}", bytes(size)));
    }
    let mut spans = vec![plain(code)];
    if let Some(unknown) = kernel.unknown_instructions.filter(|unknown| *unknown > 0) {
        spans.push(span(Role::Warning, format!(" · {} unknown", thousands(u64::from(unknown)))));
    }
    field(page, "code", &spans);
    field(page, "mix", &mix_spans(mix));
    let bar_width = page.style.width.saturating_sub(VALUES).clamp(10, 64);
    let groups = bar_groups(mix);
    let mut bar = Vec::new();
    let (mut sum, mut drawn) = (0u64, 0usize);
    for (glyph, role, _, count) in groups {
        sum += u64::from(count);
        let until = (sum * bar_width as u64 / u64::from(total)) as usize;
        // A value above zero shows at least one cell.
        let until = if count > 0 { until.max(drawn + 1) } else { until }.min(bar_width);
        bar.push(span(role, glyph.to_string().repeat(until.saturating_sub(drawn))));
        drawn = until.max(drawn);
    }
    field(page, "", &bar);
    let legend = groups
        .iter()
        .filter(|(_, _, _, count)| *count > 0)
        .map(|(glyph, role, name, count)| {
            let percent = (u64::from(*count) * 100 + u64::from(total) / 2) / u64::from(total);
            let percent = if percent == 0 { "<1".to_owned() } else { percent.to_string() };
            vec![span(*role, glyph.to_string()), dim(format!("\u{a0}{name}\u{a0}{percent}\u{a0}%"))]
        })
        .collect();
    field(page, "", &join(legend, "  "));
    let widths = width_groups(&kernel.load_widths, &kernel.store_widths, &kernel.lds_widths);
    if !widths.is_empty() {
        field(page, "widths", &join(widths, " · "));
    }
}

/// "VALU 80 · MFMA 32".
fn mix_spans(mix: &Mix) -> Vec<Span> {
    let groups = mix
        .classes()
        .iter()
        .filter(|(_, _, count)| *count > 0)
        .map(|(_, name, count)| {
            let role = if *name == "unknown" { Role::Warning } else { Role::Plain };
            vec![span(role, format!("{name}\u{a0}{count}"))]
        })
        .collect();
    join(groups, " · ")
}

/// "load 4×16 B", "store 2×4 B", "LDS 8×8 B".
fn width_groups(
    loads: &BTreeMap<u32, u32>,
    stores: &BTreeMap<u32, u32>,
    lds: &BTreeMap<u32, u32>,
) -> Vec<Vec<Span>> {
    [("load", loads), ("store", stores), ("LDS", lds)]
        .into_iter()
        .filter(|(_, widths)| !widths.is_empty())
        .map(|(name, widths)| {
            let list: Vec<String> =
                widths.iter().rev().map(|(bytes, times)| format!("{times}×{bytes}\u{a0}B")).collect();
            vec![plain(format!("{name} {}", list.join(" ")))]
        })
        .collect()
}

fn loop_lines(page: &mut Page, loops: &[LoopCard]) {
    if loops.is_empty() {
        return;
    }
    field(page, "loops", &[dim("per iteration, inner loops excluded; widths are bytes per lane")]);
    for card in loops.iter().take(LOOPS_SHOWN) {
        let indent = VALUES + 2 * (card.depth.clamp(1, 12) as usize - 1);
        let first = [plain(" ".repeat(indent)), span(Role::Strong, format!("#{}", card.id)), plain(" ")];
        let rest = [plain(" ".repeat(indent + 3))];
        let mut head: Vec<Vec<Span>> = Vec::new();
        // The header's instruction and the loop's own number would say nothing.
        let at = place(&Place { instruction: None, in_loop: None, ..card.place.clone() }, false);
        if !at.is_empty() {
            head.push(at);
        }
        head.push(vec![plain(counted(card.instructions, "instruction"))]);
        if let Some(function) = &card.function {
            let room = page.style.width.saturating_sub(VALUES + 40).max(20);
            head.push(vec![dim(format!("in {}", short_name(function, room, &page.style)))]);
        }
        page.prefixed(&first, &rest, &join(head, " · "));
        page.prefixed(&rest, &rest, &mix_spans(&card.mix));
        let widths = width_groups(&card.load_widths, &card.store_widths, &card.lds_widths);
        if !widths.is_empty() {
            page.prefixed(&rest, &rest, &join(widths, " · "));
        }
        if !card.waits.is_empty() {
            let waits = runs(&card.waits);
            page.prefixed(&rest, &rest, &[dim("waits "), plain(waits)]);
        }
    }
    if loops.len() > LOOPS_SHOWN {
        field(
            page,
            "",
            &[dim(format!("{} more loops (`--format json` has all)", loops.len() - LOOPS_SHOWN))],
        );
    }
}

/// `["a", "a", "b"]` becomes `a ×2, b`; long patterns end with the number of omitted items.
fn runs(items: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for item in items {
        match runs.last_mut() {
            Some((last, times)) if *last == item => *times += 1,
            _ => runs.push((item, 1)),
        }
    }
    let mut out: Vec<String> = runs
        .iter()
        .take(SHOWN)
        .map(|(item, times)| if *times == 1 { (*item).to_owned() } else { format!("{item}\u{a0}×{times}") })
        .collect();
    if runs.len() > SHOWN {
        let rest: usize = runs[SHOWN..].iter().map(|(_, times)| times).sum();
        out.push(format!("{rest} more"));
    }
    out.join(", ")
}

fn argument_lines(page: &mut Page, kernel: &KernelCard) {
    if kernel.arguments.is_empty() && kernel.hidden_arguments.is_empty() {
        return;
    }
    let mut groups: Vec<Vec<Span>> = kernel
        .arguments
        .iter()
        .take(16)
        .enumerate()
        .map(|(index, argument)| {
            let name = if argument.name.is_empty() { format!("#{index}") } else { argument.name.clone() };
            let what = if argument.type_name.is_empty() { &argument.kind } else { &argument.type_name };
            vec![plain(name), dim(format!("\u{a0}{} ({}\u{a0}B)", shorten(what, 40), argument.size))]
        })
        .collect();
    if kernel.arguments.len() > 16 {
        groups.push(vec![dim(format!("{} more", kernel.arguments.len() - 16))]);
    }
    if !kernel.hidden_arguments.is_empty() {
        groups.push(vec![dim(format!("{} hidden", kernel.hidden_arguments.len()))]);
    }
    field(page, "arguments", &join(groups, ", "));
}

pub(crate) fn severity_role(severity: Severity) -> Role {
    match severity {
        Severity::Severe => Role::Severe,
        Severity::Warning => Role::Warning,
        Severity::Info => Role::Info,
    }
}

/// Findings of one rule that are shown with their evidence; the rest is counted.
const FINDINGS_WITH_EVIDENCE: usize = 8;

/// Findings under a title, each with its evidence.
pub fn findings(title: &str, findings: &[Finding], style: &Style) -> String {
    let mut page = Page::new(style);
    page.wrapped(0, 4, &[span(Role::Heading, short_name(title, 2 * style.width - 4, style))]);
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let times = shown.entry(finding.rule).or_default();
        *times += 1;
        if *times > FINDINGS_WITH_EVIDENCE {
            continue;
        }
        finding_line(&mut page, finding);
        for evidence in &finding.evidence {
            page.wrapped(17, 19, &[dim(format!("{}: ", evidence.what)), plain(&evidence.value)]);
        }
    }
    for (rule, times) in shown.into_iter().filter(|(_, times)| *times > FINDINGS_WITH_EVIDENCE) {
        let more = counted(times - FINDINGS_WITH_EVIDENCE, "more finding");
        page.wrapped(2, 4, &[dim(format!("{rule}: {more}"))]);
    }
    page.finish()
}

pub(super) fn finding_lines(page: &mut Page, findings: &[Finding]) {
    if findings.is_empty() {
        page.wrapped(2, 4, &[span(Role::Good, "no findings")]);
        return;
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let times = shown.entry(finding.rule).or_default();
        *times += 1;
        if *times <= FINDINGS_PER_RULE {
            finding_line(page, finding);
        }
    }
    for (rule, times) in shown {
        if times > FINDINGS_PER_RULE {
            let more = times - FINDINGS_PER_RULE;
            page.wrapped(
                2,
                4,
                &[dim(format!("{rule}: {} (`--format json` has all)", counted(more, "more finding")))],
            );
        }
    }
}

fn finding_line(page: &mut Page, finding: &Finding) {
    let severity = finding.severity.as_str();
    let first = [
        plain("  "),
        span(severity_role(finding.severity), format!("{severity:<7} {}", finding.rule)),
        plain(" "),
    ];
    let hang = first.iter().map(|span| width(&span.text)).sum();
    let rest = [plain(" ".repeat(hang))];
    let mut message = vec![plain(&finding.message)];
    message.extend(gate_span(finding.gate.as_ref()));
    page.prefixed(&first, &rest, &message);
    if let Some(cost) = &finding.cost {
        page.prefixed(&rest, &rest, &[dim("cost "), span(Role::Strong, cost)]);
    }
    let mut places: Vec<Vec<Span>> = finding.places.iter().take(3).map(|at| place(at, false)).collect();
    places.retain(|spans| !spans.is_empty());
    for (index, spans) in places.into_iter().enumerate() {
        let mut line = vec![dim(if index == 0 { "at " } else { "and " })];
        line.extend(spans);
        page.prefixed(&rest, &rest, &line);
    }
    if finding.places.len() > 3 {
        page.prefixed(&rest, &rest, &[dim(format!("and {} more places", finding.places.len() - 3))]);
    }
    page.prefixed(&rest, &[plain(" ".repeat(hang + 2))], &[span(Role::Good, "→ "), plain(&finding.advice)]);
}

/// The judgement of a gate behind a message: ` [allowed: rarely launched]`.
pub(super) fn gate_span(gate: Option<&GateMark>) -> Option<Span> {
    let gate = gate?;
    let role = if gate.is_accepted() { Role::Dim } else { Role::Warning };
    Some(span(role, format!(" [{}]", gate.words())))
}

pub(super) fn not_checked_lines(page: &mut Page, not_checked: &[NotChecked]) {
    if not_checked.is_empty() {
        return;
    }
    // Rules that need the same thing share one sentence.
    let mut needs: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for rule in not_checked {
        needs.entry(rule.needs_in_short()).or_default().push(rule.rule);
    }
    let groups =
        needs.iter().map(|(need, rules)| vec![dim(format!("{} ({need})", rules.join(" ")))]).collect();
    let mut spans = vec![dim("not checked: ")];
    spans.extend(join(groups, ", "));
    page.wrapped(2, 4, &spans);
}

/// `gemm.hip:33`, with the function when known.
pub(super) fn source_text(source: &SourceLine) -> String {
    let file = source.file.rsplit(['/', '\\']).next().unwrap_or(&source.file);
    if source.line == 0 { file.to_owned() } else { format!("{file}:{}", source.line) }
}

/// "0x1a30 `s_waitcnt vmcnt(0)` gemm.hip:33 in loop #2".
pub(super) fn place(place: &Place, short: bool) -> Vec<Span> {
    let mut parts: Vec<Vec<Span>> = Vec::new();
    match (place.address, place.text_line) {
        (_, Some(line)) => parts.push(vec![dim(format!("line {line}"))]),
        (Some(address), None) => parts.push(vec![dim(format!("{address:#x}"))]),
        (None, None) => {}
    }
    if let (Some(instruction), false) = (&place.instruction, short) {
        parts.push(vec![plain(shorten(instruction.trim(), 60))]);
    }
    if let Some(source) = &place.source {
        parts.push(vec![plain(source_text(source))]);
    }
    if let Some(id) = place.in_loop {
        parts.push(vec![plain(format!("loop\u{a0}#{id}"))]);
    }
    let mut spans = join(parts, ", ");
    if short && !spans.is_empty() {
        spans.insert(0, plain(" at "));
    }
    spans
}
