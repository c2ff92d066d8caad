//! Markdown of answers, for issues, wikis and pull requests.
//!
//! A table there has no width to fit, so every column is written.

use crate::Style;
use crate::marks;
use crate::text::{self, figure};
use crate::{Part, github::place};
use std::fmt::Write;
use view::{
    Answer, Cell, Change, Comparison, Delta, Finding, Incidents, Input, KernelRow, Note, NoteKind, Number,
    Recordings, Searches, Severity, Summary, Table, Tiles, TriageLine, Verdicts, counted,
};

/// Renders an answer; `decimals` after the point.
pub(crate) fn answer<P: Part>(answer: &Answer<P>, decimals: usize) -> String {
    let mut out = String::new();
    for input in &answer.inputs {
        head(&mut out, input);
    }
    notes(&mut out, &answer.notes);
    P::markdown(answer, &mut out);
    if P::LISTS_FINDINGS {
        findings(&mut out, &answer.findings);
    }
    let names = answer.input_names();
    for t in &answer.tables {
        table(&mut out, &names, t, decimals);
    }
    P::markdown_end(answer, &mut out);
    for recipe in &answer.recipes {
        let _ = writeln!(out, "## {}\n\n{}\n", words(&recipe.title), words(&recipe.why));
        for (at, step) in recipe.steps.iter().enumerate() {
            let _ = writeln!(out, "{}. {}", at + 1, words(&step.text));
            if !step.command.is_empty() {
                let _ = writeln!(out, "\n```sh\n{}\n```\n", step.command);
            }
        }
    }
    out
}

/// Kernels of code: the table, and warnings and worse once for all kernels that share one.
pub fn kernels(rows: &mut [KernelRow], sort: &str, top: usize, summary: &Summary) -> String {
    let count = |severity: &Severity| {
        let count = summary.severities.get(severity.as_str())?;
        Some(format!("{count} {}", severity.as_str()))
    };
    let counts: Vec<String> = Severity::ALL.iter().filter_map(count).collect();
    let found = if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") };
    let mut out = format!("{}: {found}\n\n", counted(summary.kernels, "kernel"));
    out += &text::markdown_table(rows, sort, top, words);
    let facts = summary.facts.all();
    if facts.is_empty() {
        return out;
    }
    out += "\n## Findings\n\n";
    for fact in facts.iter().take(FACTS) {
        let severity = fact.severity.as_str();
        let _ = writeln!(out, "- **{}** ({severity}): {}", fact.rule, words(&fact.message));
        let names: Vec<String> = fact.names.iter().map(|name| words(name)).collect();
        let more = fact.kernels.saturating_sub(names.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "  - in {}{more}\n  - {}", names.join(", "), words(&fact.advice));
    }
    if facts.len() > FACTS {
        let _ = writeln!(out, "\n{} more: `--format json` has all", facts.len() - FACTS);
    }
    out
}

/// Findings listed of many kernels.
const FACTS: usize = 40;

fn head(out: &mut String, input: &Input) {
    let used = if input.used.is_empty() { String::new() } else { format!(", {}", input.used) };
    let _ = writeln!(out, "# {}\n\n{}{}\n", words(&input.path), words(&input.kind), words(&used));
    if let Some(r) = &input.recording {
        let time = r
            .time_ns
            .get()
            .map_or_else(String::new, |t| format!(", {}", marks::signed(r.time_trust, view::duration(t))));
        let _ = writeln!(
            out,
            "{} ({}): {} of {}{time}\n",
            words(&r.gpu),
            words(&r.target),
            counted(r.dispatches, "dispatch"),
            counted(r.kernels, "kernel"),
        );
    }
    for fact in &input.facts {
        let _ = writeln!(out, "- {}: {}", words(&fact.name), words(&fact.value));
    }
    for part in &input.not_used {
        let _ = writeln!(out, "- not used: {}", words(part));
    }
    if let Some(selection) = input.recording.as_ref().map(|r| &r.selection).filter(|it| !it.is_empty()) {
        let _ = writeln!(out, "- selected: {}", words(selection));
    }
    out.push('\n');
}

/// Charts of a recording.
pub(crate) fn charts(part: &Recordings, out: &mut String) {
    // Charts are drawn with characters; a block of code keeps them together.
    let style = Style { width: 100, ..Style::default() };
    for chart in [
        part.roofline.as_ref().map(|chart| text::roofline(chart, &style)),
        part.memory_chart.as_ref().map(|chart| text::memory_chart(chart, &style)),
    ]
    .into_iter()
    .flatten()
    {
        let _ = writeln!(out, "```text\n{}```\n", chart.replace("```", ""));
    }
}

/// Reasons for the missing values of a recording.
pub(crate) fn missing(part: &Recordings, out: &mut String) {
    if !part.missing.is_empty() {
        out.push_str("## n/a: why values are missing\n\n");
        for m in &part.missing {
            let hint = m.hint.as_ref().map_or_else(String::new, |h| format!("; {h}"));
            let _ = writeln!(out, "- {}{hint} ({})", words(&m.reason), counted(m.rows.len(), "row"));
        }
    }
}

/// Faults and events of logs.
pub(crate) fn incidents(part: &Incidents, out: &mut String) {
    for (at, it) in part.incidents.iter().enumerate() {
        let _ = writeln!(out, "## {}. {}\n\n{}:{}\n", at + 1, words(&it.title), words(&it.file), it.line);
        if !it.meaning.is_empty() {
            let _ = writeln!(out, "{}\n", words(&it.meaning));
        }
        for fact in &it.facts {
            let _ = writeln!(out, "- {}: {}", words(&fact.name), words(&fact.value));
        }
        let mark = |line: &TriageLine| match (line.current, line.suspect) {
            (true, _) => "=>",
            (_, true) => " *",
            _ => "  ",
        };
        if !it.code.is_empty() {
            out.push_str("\n```text\n");
            for line in &it.code {
                let _ = writeln!(out, "{} {:#x} {}", mark(line), line.address, line.text.replace("```", ""));
            }
            out.push_str("```\n");
        }
        for next in &it.next {
            let _ = writeln!(out, "- next: {}", words(next));
        }
        out.push('\n');
    }
    if !part.events.is_empty() {
        out.push_str(
            "## Messages\n\n| severity | event | device | times | where | what it means | what to do |\n",
        );
        out.push_str("|---|---|---|---:|---|---|---|\n");
        for it in &part.events {
            let device = it.device.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {}:{} | {} | {} |",
                it.severity,
                words(&it.id),
                words(device),
                it.times,
                words(&it.file),
                it.line,
                words(if it.meaning.is_empty() { &it.text } else { &it.meaning }),
                words(&it.next.join("; "))
            );
        }
        out.push('\n');
    }
}

/// Kernels that changed, came and went.
pub(crate) fn comparison(part: &Comparison, out: &mut String) {
    if !part.changed.is_empty() {
        out.push_str("| kernel | target | in all | changes | findings |\n|---|---|---|---|---|\n");
    }
    for it in part.changed.iter().take(part.shown) {
        let changes: Vec<String> = it.changes.iter().map(change).collect();
        let findings = it.appeared.iter().map(|it| format!("+{}", it.rule));
        let findings: Vec<String> =
            findings.chain(it.gone.iter().map(|it| format!("-{}", it.rule))).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            words(&it.new.demangled),
            words(&it.new.target),
            words(&it.balance.words),
            changes.join("; "),
            findings.join(", ")
        );
    }
    let more = part.changed.len().saturating_sub(part.shown);
    if more > 0 {
        let _ = writeln!(out, "\n{}", counted(more as u64, "more changed kernel"));
    }
    for (what, names) in [("added", &part.added), ("removed", &part.removed)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|it| words(&it.demangled)).collect();
            let _ = writeln!(out, "\n{what}: {}", names.join(", "));
        }
    }
    let _ = writeln!(
        out,
        "\n{} changed, {} added, {} removed, {} unchanged; {} beyond a threshold\n",
        part.changed.len(),
        part.added.len(),
        part.removed.len(),
        part.unchanged,
        counted(part.regressions, "change")
    );
}

/// A value before and after.
fn change(change: &Change) -> String {
    let side = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), text::number::short);
    let limit = change.breaks.as_ref().map_or_else(String::new, |it| format!(" (beyond {it})"));
    format!("{} {} → {}{limit}", words(&change.label), side(change.old), side(change.new))
}

/// Tiles, a table per shape.
pub(crate) fn tiles(part: &Tiles, out: &mut String) {
    let _ = writeln!(
        out,
        "# {} {} on {}: {} CUs, {} XCDs\n",
        part.dtype,
        part.layout.to_uppercase(),
        words(&part.gpu),
        part.compute_units,
        part.xcds
    );
    for problem in &part.problems {
        let _ = writeln!(out, "## {}\n", problem.name());
        out.push_str(
            "| tile | time us | bound by | of peak % | workgroups | utilisation % | workgroups per CU |\n",
        );
        out.push_str("|---|---:|---|---:|---:|---:|---:|\n");
        for row in &problem.tiles {
            let time = row.time.as_ref().and_then(|it| it.total.as_ref());
            let number = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |it| format!("{it:.2}"));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {:.1} | {} |",
                words(&row.name),
                number(time.map(|it| it.total_us)),
                time.map_or("n/a", |it| it.bound),
                number(time.map(|it| it.peak_share)),
                row.workgroups,
                row.utilisation,
                row.workgroups_per_cu
            );
        }
        out.push('\n');
    }
}

fn notes(out: &mut String, notes: &[Note]) {
    for note in notes {
        let word = match note.kind {
            NoteKind::Error => "Error",
            NoteKind::Warning => "Warning",
            NoteKind::Info => "Note",
        };
        let _ = writeln!(out, "> **{word}:** {}\n", words(&note.text));
    }
}

fn finding(out: &mut String, f: &Finding) {
    let cost = f.cost.as_ref().map_or_else(String::new, |c| format!("; costs {}", words(c)));
    let (file, line) = place(f);
    let at = if file.is_empty() { String::new() } else { format!(" {}:{line}", words(file)) };
    let _ = writeln!(out, "- **{}** ({}){at}: {}{cost}", f.rule, f.severity.as_str(), words(&f.message));
    if let Some(gate) = &f.gate {
        let _ = writeln!(out, "  - {}", words(&gate.words()));
    }
    if let Some(kernel) = &f.kernel {
        let _ = writeln!(out, "  - kernel: {}", words(kernel));
    }
    let _ = writeln!(out, "  - {}", words(&f.advice));
    if !f.evidence.is_empty() {
        let list: Vec<String> =
            f.evidence.iter().map(|e| format!("{}: {}", words(&e.what), words(&e.value))).collect();
        let _ = writeln!(out, "  - {}", list.join(" · "));
    }
}

fn findings(out: &mut String, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    out.push_str("## Findings\n\n");
    findings.iter().for_each(|it| finding(out, it));
    if let Some(legend) = marks::legend(marks::of_findings(findings)) {
        let _ = writeln!(out, "\n{}", words(&legend));
    }
    out.push('\n');
}

fn table(out: &mut String, names: &[&str], t: &Table, decimals: usize) {
    let _ = writeln!(out, "## {}\n", words(format!("{} {}", t.id, t.title).trim_start()));
    for fact in &t.facts {
        let _ = writeln!(out, "- {}: {}", words(&fact.name), words(&fact.value));
    }
    if !t.facts.is_empty() {
        out.push('\n');
    }
    if t.rows.is_empty() {
        return;
    }
    let labelled = !t.label.is_empty();
    let several = t.columns.iter().any(|c| c.recording > 0);
    let units = t.rows.iter().any(|r| !r.unit.is_empty());
    let mut head = if labelled { vec!["id".to_owned(), t.label.clone()] } else { Vec::new() };
    let mut rule = if labelled { vec!["---", "---"] } else { Vec::new() };
    for c in &t.columns {
        let of = names.get(c.recording).filter(|_| several);
        let of = of.map_or_else(String::new, |name| format!("{} ", words(name)));
        let unit = if c.unit.is_empty() || c.title.contains("percent") {
            String::new()
        } else {
            format!(" {}", c.unit)
        };
        head.push(format!("{of}{}{unit}", words(&c.title)));
        rule.push(if c.kind.is_words() { "---" } else { "---:" });
        if c.recording > 0 && !c.kind.is_words() {
            head.push("change".to_owned());
            rule.push("---:");
        }
    }
    if units {
        head.push("unit".to_owned());
        rule.push("---");
    }
    let _ = writeln!(out, "| {} |\n|{}|", head.join(" | "), rule.join("|"));
    for r in &t.rows {
        let mut cells = if labelled { vec![words(&r.id), words(&r.label)] } else { Vec::new() };
        for (c, cell) in t.columns.iter().zip(&r.cells) {
            cells.push(match cell {
                Cell::Empty => String::new(),
                Cell::Text(text) => words(text),
                Cell::Number(n) | Cell::Change(Delta { value: n, .. }) => number(n, decimals),
            });
            if c.recording > 0 && !c.kind.is_words() {
                let percent = if let Cell::Change(d) = cell { d.change_percent } else { None };
                let beyond = matches!(cell, Cell::Change(Delta { beyond_noise: Some(true), .. }));
                let mark = if beyond { " \\*" } else { "" };
                cells.push(percent.map_or_else(String::new, |p| format!("{p:+.1} %{mark}")));
            }
        }
        if units {
            cells.push(words(&r.unit));
        }
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
    for note in &t.notes {
        let _ = writeln!(out, "{}\n", words(note));
    }
}

fn number(n: &Number, decimals: usize) -> String {
    match n {
        Number::Known(v) => figure::figure(*v, decimals).text().replace('<', "&lt;"),
        Number::Missing(_) => "n/a".to_owned(),
    }
}

/// Escapes text so that markdown reads no markup in it.
pub(crate) fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '~' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Verdicts on candidates.
pub(crate) fn verdicts(part: &Verdicts, out: &mut String) {
    let _ = write!(out, "| candidate | verdict | speedup | because |\n|---|---|---:|---|\n");
    for it in &part.candidates {
        let speedup = it.speedup_words().filter(|_| it.verdict.is_right()).unwrap_or_default();
        let because = words(&it.because);
        let _ = writeln!(out, "| {} | {} | {speedup} | {because} |", words(&it.name), it.verdict.words());
    }
    out.push('\n');
}

/// Searches: the winner beside the start.
pub(crate) fn searches(part: &Searches, out: &mut String) {
    for search in &part.searches {
        let _ = writeln!(out, "## {}\n\n{}\n", words(&search.name), words(search.verdict.words()));
        let head = if search.unit == "us" { "time" } else { "objective" };
        let _ = write!(out, "| | {head} | configuration |\n|---|---:|---|\n");
        for (name, it) in [("start", &search.start), ("winner", &search.winner)] {
            if let Some(it) = it {
                let _ = writeln!(
                    out,
                    "| {name} | {} | {} |",
                    words(&it.value_words(&search.unit)),
                    words(&it.words())
                );
            }
        }
        if let Some(gain) = &search.gain {
            let _ = writeln!(out, "\nGain: {}; {}", words(&gain.words()), words(&gain.method));
        }
        for step in &search.proof {
            let _ =
                writeln!(out, "\n* {}: {}: {}", step.what.words(), step.outcome.word(), words(&step.text));
        }
        out.push('\n');
    }
}
