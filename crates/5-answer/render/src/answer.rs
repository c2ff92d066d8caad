//! An answer in any format: one function for all commands.
//!
//! [`Part`] is the text and the rows that only one command has.

use crate::junit::{self, Case};
use crate::{Part, Style, csv, doctor, github, json, markdown, sarif, table_csv, text};
use view::{
    Accuracy, Answer, Candidate, Comparison, Format, Incidents, Machines, MetricsReport, OccupancyReport,
    Plain, Recordings, Rooflines, Roofs, RuleInfo, Searches, Sets, Stored, Tiles, Tuned, Verdicts,
};

/// Settings of a rendering.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Decimals of numbers in tables.
    pub decimals: usize,
    /// Width and colours of text.
    pub style: Style,
    /// Version of the program.
    pub version: &'static str,
    /// The rules, for SARIF.
    pub rules: &'a [RuleInfo],
}

/// Writes an answer in a format of its command.
pub fn answer<P: Part>(answer: &Answer<P>, format: Format, how: &How<'_>) -> String {
    match format {
        Format::Text => P::text(answer, how.decimals, &how.style),
        Format::Json => json::answer(answer),
        Format::Csv => P::csv(answer),
        Format::Markdown => markdown::answer(answer, how.decimals),
        Format::Sarif => sarif::answer(answer, how.version, how.rules),
        Format::Github => github::annotations(&answer.findings),
        Format::Junit => junit::suite(answer.schema, &P::tests(answer)),
        // Databases are bytes and no rendering of an answer.
        Format::Db => String::new(),
    }
}

/// The formats of most commands.
const USUAL: &[Format] =
    &[Format::Text, Format::Json, Format::Csv, Format::Markdown, Format::Sarif, Format::Github];

/// The formats of answers that have neither findings nor tables.
const SHORT: &[Format] = &[Format::Text, Format::Json];

impl Part for Plain {
    const FORMATS: &'static [Format] = USUAL;
}

impl Part for Tuned {
    const FORMATS: &'static [Format] = USUAL;

    fn csv(answer: &Answer<Self>) -> String {
        table_csv::joined(answer)
    }
}

impl Part for Stored {
    const FORMATS: &'static [Format] = USUAL;

    fn csv(answer: &Answer<Self>) -> String {
        table_csv::joined(answer)
    }
}

impl Part for Verdicts {
    const FORMATS: &'static [Format] = &[
        Format::Text,
        Format::Json,
        Format::Csv,
        Format::Markdown,
        Format::Sarif,
        Format::Github,
        Format::Junit,
    ];

    fn tests(answer: &Answer<Self>) -> Vec<Case<'_>> {
        fn case(it: &Candidate) -> Case<'_> {
            Case {
                name: &it.name,
                seconds: it.time_us.map(|it| it * 1e-6),
                failure: (!it.verdict.is_right()).then(|| {
                    let inputs = it.inputs.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
                    (it.verdict.words(), format!("{}{inputs}", it.because))
                }),
                output: if it.verdict.is_right() {
                    format!("{}: {}", it.verdict.words(), it.because)
                } else {
                    String::new()
                },
            }
        }
        answer.part.candidates.iter().map(case).collect()
    }

    fn text(answer: &Answer<Self>, decimals: usize, style: &Style) -> String {
        text::verdicts(answer, decimals, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        table_csv::joined(answer)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::verdicts(&answer.part, out);
    }
}

impl Part for Searches {
    const FORMATS: &'static [Format] = USUAL;

    fn text(answer: &Answer<Self>, decimals: usize, style: &Style) -> String {
        text::searches(answer, decimals, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        table_csv::joined(answer)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::searches(&answer.part, out);
    }
}

impl Part for Recordings {
    const FORMATS: &'static [Format] = &[
        Format::Text,
        Format::Json,
        Format::Csv,
        Format::Markdown,
        Format::Sarif,
        Format::Github,
        Format::Db,
    ];

    fn text(answer: &Answer<Self>, decimals: usize, style: &Style) -> String {
        text::report(answer, decimals, style)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::charts(&answer.part, out);
    }

    fn markdown_end(answer: &Answer<Self>, out: &mut String) {
        markdown::missing(&answer.part, out);
    }
}

impl Part for Machines {
    const FORMATS: &'static [Format] = USUAL;
    const LISTS_FINDINGS: bool = false;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::doctor(&answer.part, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        doctor::csv(&answer.part)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        doctor::markdown(&answer.part, out);
    }
}

impl Part for Incidents {
    const FORMATS: &'static [Format] = USUAL;
    const LISTS_FINDINGS: bool = false;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::triage(answer, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        table_csv::incidents(&answer.part)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::incidents(&answer.part, out);
    }
}

impl Part for Tiles {
    const FORMATS: &'static [Format] = USUAL;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::tile(answer, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        csv::tile(&answer.part)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::tiles(&answer.part, out);
    }
}

impl Part for Comparison {
    const FORMATS: &'static [Format] = USUAL;
    const LISTS_FINDINGS: bool = false;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::comparison(&answer.part, style)
    }

    fn csv(answer: &Answer<Self>) -> String {
        csv::comparison(&answer.part)
    }

    fn markdown(answer: &Answer<Self>, out: &mut String) {
        markdown::comparison(&answer.part, out);
    }
}

impl Part for Rooflines {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::rooflines(answer, style)
    }
}

impl Part for MetricsReport {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::metrics(&answer.part, style)
    }
}

impl Part for Sets {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, _style: &Style) -> String {
        text::sets(&answer.part)
    }
}

impl Part for Roofs {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, _style: &Style) -> String {
        text::roofs(&answer.part)
    }
}

impl Part for Accuracy {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::accuracy(&answer.part, style.width)
    }
}

impl Part for OccupancyReport {
    const FORMATS: &'static [Format] = SHORT;

    fn text(answer: &Answer<Self>, _decimals: usize, style: &Style) -> String {
        text::occupancy(&answer.part, style)
    }
}
