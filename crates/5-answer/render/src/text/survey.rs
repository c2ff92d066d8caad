//! What traces and files of communication show.

use super::page::{Page, dim, plain, span, width};
use super::report::{findings, notes, tables_of};
use crate::{Role, Style};
use view::{Survey, Table, counted};

/// Renders a survey; `decimals` after the point.
pub fn survey(survey: &Survey, decimals: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    for input in &survey.inputs {
        page.wrapped(0, 4, &[span(Role::Heading, &input.path), dim(format!("  {}", input.kind))]);
        let names = input.facts.iter().map(|fact| width(&fact.name)).max().unwrap_or(0).max(7);
        for fact in &input.facts {
            let name = format!("  {:<names$}  ", fact.name);
            page.prefixed(&[dim(name)], &[plain(" ".repeat(names + 4))], &[plain(&fact.value)]);
        }
    }
    notes(&mut page, &survey.notes);
    if !(survey.findings.is_empty() && survey.not_checked.is_empty()) {
        page.blank();
        let word = match survey.findings.len() {
            0 => "no findings".to_owned(),
            n => counted(n, "finding"),
        };
        let order = if survey.findings.len() > 1 { ", worst first" } else { "" };
        page.wrapped(0, 2, &[span(Role::Heading, word), dim(order)]);
        for finding in &survey.findings {
            findings::message(&mut page, finding);
            findings::advice(&mut page, finding);
        }
        findings::not_checked(&mut page, &survey.not_checked);
    }
    let tables: Vec<&Table> = survey.tables.iter().collect();
    let names: Vec<&str> = survey.inputs.iter().map(|input| input.name.as_str()).collect();
    tables_of(&mut page, &tables, &names, decimals);
    page.finish()
}
