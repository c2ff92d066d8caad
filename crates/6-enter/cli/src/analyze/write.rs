//! Where a report goes: standard output, or files in a folder.

use crate::args::{Analyze, Look, ReportFormat};
use crate::exit::usage;
use crate::output::Output;
use crate::terminal;
use analysis::workload::Subject;
use anyhow::{Context, Result};
use metrics::{Compiled, Definitions};
use render::{json, report_csv, report_markdown, text};
use std::path::Path;
use view::Report;

/// Writes a report.
pub(crate) fn write(report: &Report, args: &Analyze, look: &Look) -> Result<()> {
    let decimals = usize::from(args.decimal);
    let Some(folder) = &args.output else {
        let mut output = Output::open(None)?;
        output.write(&match args.format {
            ReportFormat::Text => text::report(report, decimals, &terminal::style(look, false)),
            ReportFormat::Json => json::report(report),
            ReportFormat::Csv => report_csv::long(report),
            ReportFormat::Markdown => report_markdown::report(report, decimals),
            // It is written before there is a report.
            ReportFormat::Db => String::new(),
        })?;
        return output.finish();
    };
    let name = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{name}`"))?;
    match args.format {
        ReportFormat::Text => {
            file(folder, "report.txt", &text::report(report, decimals, &terminal::style(look, true)))
        }
        ReportFormat::Json => file(folder, "report.json", &json::report(report)),
        ReportFormat::Markdown => file(folder, "report.md", &report_markdown::report(report, decimals)),
        ReportFormat::Db => Ok(()),
        ReportFormat::Csv => {
            for t in &report.tables {
                let words: String = t
                    .title
                    .to_lowercase()
                    .chars()
                    .map(|c| if c.is_alphanumeric() { c } else { '_' })
                    .collect();
                let title: Vec<&str> = words.split('_').filter(|w| !w.is_empty()).collect();
                file(folder, &format!("{}_{}.csv", t.id, title.join("_")), &report_csv::wide(report, t))?;
            }
            Ok(())
        }
    }
}

/// Refuses what a database cannot hold, before anything is read.
pub(super) fn check(args: &Analyze) -> Result<()> {
    if args.format != ReportFormat::Db {
        return Ok(());
    }
    if args.output.is_none() {
        return Err(usage("`--format db` writes a file", "name it: `-o analysis.db`"));
    }
    if !args.fail_on.is_empty() || super::wanted_list(args).is_some() {
        return Err(usage(
            "`--format db` writes all tables, and judges nothing",
            "leave out `--fail-on` and lists, or choose another format",
        ));
    }
    Ok(())
}

/// Writes the analysis as a database.
pub(super) fn database(
    args: &Analyze,
    definitions: &Definitions,
    compiled: &[&Compiled],
    subjects: &[Subject],
) -> Result<()> {
    let Some(path) = &args.output else { return Ok(()) };
    let bytes = study::analysis_db(definitions, compiled, subjects, super::settings(args));
    let mut output = Output::open(Some(path))?;
    output.write_bytes(&bytes.context("the database cannot be made")?)?;
    output.finish()?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

fn file(folder: &Path, name: &str, text: &str) -> Result<()> {
    let mut output = Output::open(Some(&folder.join(name)))?;
    output.write(text)?;
    output.finish()
}
