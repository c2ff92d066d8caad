//! Triton's part of a card, and the lines of a kernel with IR and instructions side by side.

use super::number::bytes;
use super::page::{Page, Span, dim, field, join, plain, span};
use crate::{Role, Style};
use view::{IrAccess, IrLoop, IrPlace, KernelCard, TritonCard, counted, thousands};

/// Rows of one kind shown before the rest is only counted.
const SHOWN: usize = 12;

/// The lines of a card that come from the IR.
pub(super) fn lines(page: &mut Page, kernel: &KernelCard, ir: &TritonCard) {
    let mut head = vec![vec![plain(ir.form)]];
    if kernel.resources.waves_per_workgroup.is_none()
        && let Some(waves) = ir.waves
    {
        head.push(vec![plain(counted(waves, "wave"))]);
    }
    if kernel.file != ir.file {
        head.push(vec![dim(&ir.file)]);
    }
    field(page, "IR", &join(head, " · "));
    rows(page, "products", ir.products.iter().map(product).collect());
    rows(page, "IR loops", ir.loops.iter().map(loop_spans).collect());
    rows(page, "IR memory", ir.accesses.iter().map(access).collect());
    conversions(page, ir);
    lds(page, ir);
}

fn rows(page: &mut Page, name: &str, rows: Vec<Vec<Span>>) {
    let total = rows.len();
    for (at, spans) in rows.into_iter().take(SHOWN).enumerate() {
        field(page, if at == 0 { name } else { "" }, &spans);
    }
    if total > SHOWN {
        field(page, "", &[dim(format!("{} more (`--format json` has all)", total - SHOWN))]);
    }
}

/// `kernels.py:28 · IR line 71 · loop 1`.
fn place(at: &IrPlace) -> Vec<Span> {
    let mut text = match &at.source {
        Some(source) => {
            let file = source.file.rsplit('/').next().unwrap_or(&source.file);
            format!(" at {file}:{} (IR line {})", source.line, at.ir_line)
        }
        None => format!(" at IR line {}", at.ir_line),
    };
    if let Some(id) = at.in_loop {
        text.push_str(&format!(" in IR loop {id}"));
    }
    vec![dim(text)]
}

fn product(it: &view::IrProduct) -> Vec<Span> {
    let [m, n, k] = it.mnk;
    let [a, b, sum] = &it.elements;
    let mut spans = vec![span(Role::Strong, format!("{m}x{n}x{k}")), plain(format!(" {a} * {b} -> {sum}"))];
    if let Some(instruction) = &it.instruction {
        let turned = if it.transposed { ", transposed" } else { "" };
        spans.push(plain(format!(" by MFMA {instruction}{turned}")));
        if let Some(count) = it.per_wave {
            spans.push(plain(format!(", {} a wave", thousands(count))));
        }
        if it.k_width[0] > 0 {
            spans.push(plain(format!(", kWidth {}", it.k_width[0])));
        }
    }
    spans.extend(place(&it.at));
    spans
}

fn loop_spans(it: &IrLoop) -> Vec<Span> {
    let indent = "  ".repeat(it.depth.clamp(1, 12) as usize - 1);
    let mut parts: Vec<Vec<Span>> = Vec::new();
    let mut head = vec![plain(indent), span(Role::Strong, format!("#{}", it.id))];
    if let Some(counts) = &it.counts {
        head.push(plain(format!(" {counts}")));
    }
    if let Some(count) = it.iterations {
        head.push(plain(format!(", {}", counted(count, "iteration"))));
    }
    head.extend(place(&IrPlace { in_loop: None, ..it.at.clone() }));
    parts.push(head);
    if it.loads > 0 {
        parts.push(vec![plain(loads(it))]);
    }
    if it.products > 0 {
        parts.push(vec![plain(counted(it.products, "product"))]);
    }
    if it.lds_stores + it.lds_loads > 0 {
        let stores = counted(it.lds_stores, "store");
        let loads = counted(it.lds_loads, "load");
        parts.push(vec![plain(format!("LDS {stores}, {loads}"))]);
    }
    if !it.async_waits.is_empty() {
        let list: Vec<String> = it.async_waits.iter().map(i64::to_string).collect();
        parts.push(vec![plain(format!("async waits leave {}", list.join(", ")))]);
    }
    if it.ping_pong {
        parts.push(vec![plain("ping-pong")]);
    }
    join(parts, " · ")
}

/// `2 loads, 1 iteration ahead`.
fn loads(it: &IrLoop) -> String {
    let mut text = counted(it.loads, "load");
    if it.loads_to_lds == it.loads {
        text.push_str(" straight to the LDS");
    } else if it.loads_to_lds > 0 {
        text.push_str(&format!(" ({} straight to the LDS)", it.loads_to_lds));
    }
    let least = it.prefetch.iter().min().copied();
    let most = it.prefetch.iter().max().copied();
    match (least, most) {
        (Some(0), Some(0)) => text.push_str(", not prefetched"),
        (Some(a), Some(b)) if a == b => {
            text.push_str(&format!(", {} ahead", counted(a, "iteration")));
        }
        (Some(a), Some(b)) => text.push_str(&format!(", {a} to {b} iterations ahead")),
        _ => {}
    }
    text
}

fn access(it: &IrAccess) -> Vec<Span> {
    let mut spans = vec![plain(format!("{} ", it.direction)), span(Role::Strong, &it.shape)];
    if let Some(base) = &it.base {
        spans.push(plain(format!(" of {base}")));
    }
    spans.push(plain(format!(", {}", bytes(it.bytes))));
    let width = |least: u64, most: u64| {
        if least == most { format!("{most} B") } else { format!("{least} to {most} B") }
    };
    match (it.width, it.reached) {
        (Some(allowed), Some([least, most])) if u64::from(least) == allowed && u64::from(most) == allowed => {
            spans.push(plain(format!(", {allowed} B per lane")));
        }
        (Some(allowed), Some([least, most])) => {
            let text = format!(
                ", layout allows {allowed} B per lane, code has {}",
                width(u64::from(least), u64::from(most))
            );
            let role = if u64::from(most) < allowed { Role::Warning } else { Role::Plain };
            spans.push(span(role, text));
        }
        (Some(allowed), None) => spans.push(plain(format!(", layout allows {allowed} B per lane"))),
        (None, Some([least, most])) => {
            spans.push(plain(format!(", {} per lane", width(u64::from(least), u64::from(most)))));
        }
        (None, None) => {}
    }
    for (flag, text) in [(it.masked, ", masked"), (it.indirect, ", indirect")] {
        if flag {
            spans.push(plain(text));
        }
    }
    spans.extend(place(&it.at));
    spans
}

fn conversions(page: &mut Page, ir: &TritonCard) {
    if ir.form != "TTGIR" {
        return;
    }
    if ir.conversions.is_empty() {
        let text = match ir.free_conversions {
            0 => "none".to_owned(),
            some => format!("{}, no data moves", counted(some, "conversion")),
        };
        field(page, "layouts", &[dim(text)]);
        return;
    }
    let row = |it: &view::IrConversion| {
        let [from, to] = &it.kinds;
        let role = if it.how == "through the LDS" { Role::Warning } else { Role::Plain };
        let mut spans =
            vec![span(Role::Strong, &it.shape), plain(format!(" {from} to {to} ")), span(role, it.how)];
        if let Some(size) = it.lds_bytes {
            spans.push(plain(format!(", {}", bytes(size))));
        }
        spans.extend(place(&it.at));
        spans
    };
    rows(page, "layouts", ir.conversions.iter().map(row).collect());
}

fn lds(page: &mut Page, ir: &TritonCard) {
    if ir.form != "TTGIR" {
        return;
    }
    if let Some(reason) = &ir.lds.unknown {
        field(page, "IR LDS", &[dim(format!("sum unknown: {reason}"))]);
    }
    let mut buffers: Vec<&view::IrBuffer> = ir.lds.buffers.iter().collect();
    buffers.sort_by_key(|it| (it.offset, it.ir_lines));
    let row = |it: &&view::IrBuffer| {
        let size = bytes(it.bytes);
        let end = it.offset + it.bytes;
        let [first, last] = it.ir_lines;
        let lived =
            if first == last { format!("IR line {first}") } else { format!("IR lines {first} to {last}") };
        vec![
            plain(format!("{} ", it.purpose)),
            span(Role::Strong, &it.shape),
            plain(format!(" {size} at {} to {}", thousands(it.offset), thousands(end))),
            dim(format!(", {lived}")),
        ]
    };
    rows(page, "IR LDS", buffers.iter().map(row).collect());
}

/// The source lines of a kernel, each with its IR operations and its instructions.
pub fn triton_lines(kernel: &KernelCard, style: &Style) -> String {
    let mut page = Page::new(style);
    let Some(ir) = &kernel.triton else {
        page.wrapped(2, 4, &[dim("no Triton IR beside the code, so no lines of it")]);
        return page.finish();
    };
    for line in &ir.lines {
        let file = line.source.file.rsplit('/').next().unwrap_or(&line.source.file);
        let list = |items: &[(String, u32)], after: bool| {
            let one = |(name, times): &(String, u32)| match (*times, after) {
                (1, false) => name.clone(),
                (times, false) => format!("{name} ×{times}"),
                (times, true) => format!("{name} {times}"),
            };
            items.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let first = [span(Role::Strong, format!("  {file}:{:<5}", line.source.line)), plain(" ")];
        let rest = [plain(" ".repeat(file.chars().count() + 9))];
        let mut spans = vec![plain(list(&line.operations, false))];
        if !line.instructions.is_empty() {
            spans.push(dim(" -> "));
            spans.push(span(Role::Info, list(&line.instructions, true)));
        } else if kernel.instructions.is_some() {
            spans.push(dim(" -> no instruction of its own"));
        }
        page.prefixed(&first, &rest, &spans);
    }
    page.finish()
}
