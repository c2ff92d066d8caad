//! Output of a report: standard output, or files in a folder.

use crate::answer::{self, Target};
use crate::args::{Analyze, Look};
use crate::exit::usage;
use crate::output::Output;
use anyhow::{Context, Result};
use render::table_csv;
use study::{Measured, ReportQuestion};
use view::{Answer, Format, Recordings};

/// Writes a report.
pub(crate) fn write(report: &Answer<Recordings>, args: &Analyze, look: &Look) -> Result<()> {
    let mut target = Target { format: args.format, output: None, decimals: args.decimal, look };
    let Some(folder) = &args.output else { return answer::write(report, &target) };
    let name = folder.display();
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder `{name}`"))?;
    if args.format == Format::Csv {
        for t in &report.tables {
            let words: String =
                t.title.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            let title: Vec<&str> = words.split('_').filter(|w| !w.is_empty()).collect();
            let mut output = Output::open(Some(&folder.join(format!("{}_{}.csv", t.id, title.join("_")))))?;
            output.write(&table_csv::wide(report, t))?;
            output.finish()?;
        }
        return Ok(());
    }
    let ending = match args.format {
        Format::Text => "txt",
        Format::Markdown => "md",
        Format::Github => "github",
        other => other.as_str(),
    };
    let path = folder.join(format!("report.{ending}"));
    target.output = Some(&path);
    answer::write(report, &target)
}

/// Refuses options that a database cannot honour, before anything is read.
pub(super) fn check(args: &Analyze) -> Result<()> {
    if args.format != Format::Db {
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
pub(super) fn database(args: &Analyze, measured: &Measured<'_>, question: &ReportQuestion) -> Result<()> {
    let Some(path) = &args.output else { return Ok(()) };
    let bytes = measured.database(question);
    let mut output = Output::open(Some(path))?;
    output.write_bytes(&bytes.context("the database cannot be made")?)?;
    output.finish()?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
