//! Answers about tuning databases as JSON, CSV and markdown.
//!
//! The one idea to keep in mind: a row of a table is an object by the keys of its columns in JSON; CSV has the first table,
//! or the findings where there is none.

use crate::github::place;
use crate::report_markdown;
use serde_json::{Map, Value, json};
use view::{Finding, Sheet, SheetCell, TuneReport};

/// The document of `docs/tunedb.md`, indented.
pub fn json(report: &TuneReport) -> String {
    let sheets: Vec<Value> = report.sheets.iter().map(sheet_value).collect();
    let document = json!({
        "schema": report.schema,
        "question": report.question,
        "tables": sheets,
        "findings": report.findings,
        "not_checked": report.not_checked,
        "flows": report.flows,
        "notes": report.notes,
        "errors": report.errors,
    });
    let mut out = serde_json::to_string_pretty(&document).unwrap_or_else(|_| "null".to_owned());
    out.push('\n');
    out
}

fn sheet_value(sheet: &Sheet) -> Value {
    let rows: Vec<Value> = sheet
        .rows
        .iter()
        .map(|row| {
            let cells =
                sheet.columns.iter().zip(row).map(|(column, cell)| (column.key.to_owned(), json!(cell)));
            Value::Object(cells.collect::<Map<_, _>>())
        })
        .collect();
    let facts: Map<String, Value> =
        sheet.facts.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "title": sheet.title,
        "facts": facts,
        "columns": sheet.columns,
        "rows": rows,
        "rows_left_out": sheet.more,
        "notes": sheet.notes,
    })
}

/// The tables of an answer as CSV, one below the other without a gap where their columns are the same.
pub fn csv(report: &TuneReport) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if report.sheets.is_empty() {
        write(&mut writer, &["rule", "severity", "file", "line", "message", "advice"].map(str::to_owned));
        for finding in &report.findings {
            let (file, line) = place(finding);
            let severity = finding.severity.as_str();
            let cells = [finding.rule, severity, file, &line.to_string(), &finding.message, &finding.advice];
            write(&mut writer, &cells.map(str::to_owned));
        }
    }
    let mut header: Vec<&str> = Vec::new();
    for sheet in &report.sheets {
        let own: Vec<&str> = sheet.columns.iter().map(|it| it.key).collect();
        if own != header {
            let mut cells = vec!["table".to_owned()];
            cells.extend(own.iter().map(|it| (*it).to_owned()));
            write(&mut writer, &cells);
            header = own;
        }
        for row in &sheet.rows {
            let mut cells = vec![sheet.title.clone()];
            cells.extend(row.iter().map(plain));
            write(&mut writer, &cells);
        }
    }
    writer.into_inner().ok().and_then(|it| String::from_utf8(it).ok()).unwrap_or_default()
}

/// Writing to memory cannot fail.
fn write(writer: &mut csv::Writer<Vec<u8>>, cells: &[String]) {
    let _ = writer.write_record(cells);
}

fn plain(cell: &SheetCell) -> String {
    match cell {
        SheetCell::Text(text) => text.clone(),
        SheetCell::Count(count) => count.to_string(),
        SheetCell::Number(value) => value.to_string(),
        SheetCell::Missing(missing) => format!("n/a: {missing}"),
    }
}

/// Markdown, for pull requests.
pub fn markdown(report: &TuneReport) -> String {
    let mut out = String::new();
    for sheet in &report.sheets {
        out.push_str(&format!("## {}\n\n", words(&sheet.title)));
        for (name, value) in &sheet.facts {
            out.push_str(&format!("- {}: {}\n", words(name), words(value)));
        }
        if !sheet.facts.is_empty() {
            out.push('\n');
        }
        if !sheet.rows.is_empty() {
            let titles: Vec<String> =
                sheet.columns.iter().map(|it| format!("{} {}", it.title, it.unit)).collect();
            out.push_str(&format!("| {} |\n", titles.join(" | ")));
            out.push_str(&format!("|{}\n", "---|".repeat(titles.len())));
            for row in &sheet.rows {
                let cells: Vec<String> = row.iter().map(|it| words(&plain(it))).collect();
                out.push_str(&format!("| {} |\n", cells.join(" | ")));
            }
            out.push('\n');
        }
        for note in &sheet.notes {
            out.push_str(&format!("{}\n\n", words(note)));
        }
    }
    for finding in &report.findings {
        out.push_str(&finding_item(finding));
    }
    for flow in &report.flows {
        out.push_str(&format!("## {}\n\n{}\n\n", words(&flow.title), words(&flow.why)));
        for (at, step) in flow.steps.iter().enumerate() {
            out.push_str(&format!("{}. {}\n", at + 1, words(&step.text)));
            if !step.command.is_empty() {
                out.push_str(&format!("\n```sh\n{}\n```\n\n", step.command));
            }
        }
    }
    for note in &report.notes {
        out.push_str(&format!("{}\n\n", words(note)));
    }
    out
}

fn finding_item(finding: &Finding) -> String {
    let (file, line) = place(finding);
    let cost = finding.cost.as_ref().map_or_else(String::new, |cost| format!("; costs {}", words(cost)));
    format!(
        "- **{}** ({}) {}:{line}: {}{cost}. {}\n",
        finding.rule,
        finding.severity.as_str(),
        words(file),
        words(&finding.message),
        words(&finding.advice)
    )
}

/// Text in which markdown sees no markup of its own; code marks stay.
fn words(text: &str) -> String {
    report_markdown::words(text).replace("\\`", "`")
}
