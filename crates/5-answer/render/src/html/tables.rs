//! Tables and findings as the templates write them.

use super::alike;
use super::cells::{self, CellView};
use crate::marks::{sign, signed};
use crate::svg::{Picture, rate, short};
use crate::text::{by_rule, shorten, visible};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use view::{Finding, Mark, Number, Page, RooflineChart, RuleInfo, Severity, Table, thousands};

/// Longest kernel name in a table; the whole name is its tooltip.
const NAME: usize = 110;
/// Longest name as a tooltip.
const WHOLE_NAME: usize = 2000;

/// A kernel's row.
pub(crate) struct KernelRow<'a> {
    pub(crate) index: usize,
    pub(crate) name: Cow<'a, str>,
    pub(crate) short: String,
    pub(crate) dispatches: String,
    pub(crate) time: String,
    pub(crate) mean: String,
    pub(crate) percent: Option<String>,
    pub(crate) percent_sign: &'static str,
    pub(crate) occupancy: Option<String>,
    pub(crate) occupancy_sign: &'static str,
    pub(crate) bound: &'a str,
    pub(crate) bound_known: bool,
    pub(crate) roof: Option<String>,
    pub(crate) roof_sign: &'static str,
    pub(crate) verdict: Cow<'a, str>,
    pub(crate) findings: [usize; 3],
    /// Number of findings by severity, without zeros.
    pub(crate) badges: Vec<(usize, &'static str)>,
    pub(crate) base: String,
    pub(crate) change: String,
    pub(crate) beyond: bool,
}

/// A name in at most `WHOLE_NAME` characters.
pub(crate) fn whole_name(name: &str) -> Cow<'_, str> {
    let seen = visible(name);
    match seen.char_indices().nth(WHOLE_NAME) {
        None => seen,
        Some((at, _)) => Cow::Owned(format!("{}…", &seen[..at])),
    }
}

pub(crate) fn short_name(name: &str) -> String {
    shorten(&visible(name), NAME).into_owned()
}

/// `≈52.3 us`, or `n/a`.
fn time(n: &Number, trust: Option<Mark>) -> String {
    n.get().map_or_else(|| "n/a".to_owned(), |ns| signed(trust, view::duration(ns)))
}

/// Rows of the kernels, most time first.
pub(crate) fn kernel_rows(page: &Page) -> Vec<KernelRow<'_>> {
    let mut found: HashMap<&str, [usize; 3]> = HashMap::new();
    for it in &page.report.findings {
        let at = match it.severity {
            Severity::Severe => 0,
            Severity::Warning => 1,
            Severity::Info => 2,
        };
        found.entry(it.kernel()).or_default()[at] += 1;
    }
    let percent = |n: &Number| n.get().map(|p| format!("{:.1}", p.clamp(0.0, 999.9)));
    page.kernels
        .iter()
        .enumerate()
        .map(|(index, k)| (index, k, found.get(k.name.as_str()).copied().unwrap_or_default()))
        .map(|(index, k, counts)| KernelRow {
            index,
            name: whole_name(&k.name),
            short: short_name(&k.name),
            dispatches: thousands(k.dispatches),
            time: time(&k.time_ns, k.time_trust),
            mean: time(&k.mean_ns, k.time_trust),
            percent: percent(&k.time_percent),
            percent_sign: sign(k.percent_trust),
            occupancy: percent(&k.occupancy),
            occupancy_sign: sign(k.occupancy_trust),
            bound: k.bound_by.as_ref().map_or_else(|reason| reason.as_str(), |bound| bound.as_str()),
            bound_known: k.bound_by.is_ok(),
            roof: percent(&k.percent_of_roof),
            roof_sign: sign(k.roof_trust),
            verdict: visible(&k.verdict),
            findings: counts,
            badges: Severity::ALL
                .iter()
                .zip(counts)
                .filter(|(_, n)| *n > 0)
                .map(|(s, n)| (n, s.as_str()))
                .collect(),
            base: k.base.as_ref().map_or_else(String::new, |base| time(&base.mean_ns, base.mean_trust)),
            change: k
                .base
                .as_ref()
                .and_then(|base| base.change_percent)
                .map_or_else(String::new, cells::percent_change),
            beyond: k.base.as_ref().is_some_and(|base| base.beyond_noise == Some(true)),
        })
        .collect()
}

/// A finding as a card.
pub(crate) struct FindingView<'a> {
    pub(crate) kernel: Option<usize>,
    pub(crate) kernel_name: String,
    pub(crate) time: Option<String>,
    pub(crate) rule: &'static str,
    pub(crate) severity: &'static str,
    pub(crate) message: Cow<'a, str>,
    pub(crate) advice: Cow<'a, str>,
    pub(crate) cost: Option<Cow<'a, str>>,
    /// Share of the whole run lost to it, percent.
    pub(crate) lost: Option<String>,
    pub(crate) lost_sign: &'static str,
    pub(crate) evidence: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub(crate) places: Vec<PlaceView<'a>>,
    pub(crate) appeared: bool,
    pub(crate) page: Option<String>,
    /// The same rule's findings on other kernels.
    pub(crate) also: Vec<AlsoView<'a>>,
    /// Kernels it is about, as the script looks them up.
    pub(crate) kernels: String,
}

/// The finding of a rule on another kernel than the first.
pub(crate) struct AlsoView<'a> {
    pub(crate) kernel: Option<usize>,
    pub(crate) kernel_name: String,
    pub(crate) time: Option<String>,
    pub(crate) message: Cow<'a, str>,
    pub(crate) cost: Option<Cow<'a, str>>,
    pub(crate) evidence: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// Location of a finding.
pub(crate) struct PlaceView<'a> {
    pub(crate) source: Option<String>,
    pub(crate) address: Option<u64>,
    pub(crate) address_text: String,
    pub(crate) instruction: Cow<'a, str>,
}

/// Places of a finding that are listed.
const PLACES: usize = 8;

pub(crate) fn findings<'a>(page: &'a Page, list: &'a [Finding]) -> Vec<FindingView<'a>> {
    let index: HashMap<&str, usize> =
        page.kernels.iter().enumerate().map(|(at, k)| (k.name.as_str(), at)).collect();
    let total = page.report.recordings().last().and_then(|r| r.time_ns.get()).filter(|t| *t > 0.0);
    let changes = page.report.part.guide.as_ref().and_then(|guide| guide.changes.as_ref());
    let place = |it: &Finding| index.get(it.kernel()).copied();
    let time = |it: &Finding| it.percent_of_time().map(|percent| signed(it.time_trust, short(percent)));
    let also = |it: &'a Finding| AlsoView {
        kernel: place(it),
        kernel_name: short_name(it.kernel()),
        time: time(it),
        message: visible(it.said()),
        cost: it.cost.as_deref().map(visible),
        evidence: evidence(it),
    };
    by_rule(list)
        .into_iter()
        .map(|group| {
            let it = group[0];
            let mut kernels: Vec<usize> = group.iter().filter_map(|it| place(it)).collect();
            kernels.dedup();
            FindingView {
                kernel: place(it),
                kernels: kernels.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
                kernel_name: short_name(it.kernel()),
                time: time(it),
                appeared: changes.is_some_and(|changes| {
                    let is = |a: &Finding| a.kernel == it.kernel && a.rule == it.rule;
                    changes.appeared.iter().any(is)
                }),
                also: group[1..].iter().map(|it| also(it)).collect(),
                ..FindingView::of(it, total, &page.rules)
            }
        })
        .collect()
}

fn evidence(f: &Finding) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    f.evidence.iter().map(|e| (visible(&e.what), whole_name(&e.value))).collect()
}

/// Percent of the run below which a finding's share of it is not worth a number.
const NO_SHARE: f64 = 0.05;

impl<'a> FindingView<'a> {
    /// A finding on no kernel of a list; `total` is the time of the whole run, ns.
    pub(crate) fn of(f: &'a Finding, total: Option<f64>, rules: &[RuleInfo]) -> Self {
        FindingView {
            kernel: None,
            kernel_name: String::new(),
            time: None,
            rule: f.rule,
            severity: f.severity.as_str(),
            message: visible(f.said()),
            advice: visible(f.advised().unwrap_or_default()),
            cost: f.cost.as_deref().map(visible),
            lost: f
                .time_lost_ns
                .zip(total)
                .map(|(lost, total)| (100.0 * lost / total).clamp(0.0, 100.0))
                .filter(|percent| *percent >= NO_SHARE)
                .map(|percent| format!("{percent:.1}")),
            lost_sign: sign(f.time_lost_trust),
            evidence: evidence(f),
            also: Vec::new(),
            kernels: String::new(),
            places: f.places.iter().take(PLACES).map(place).collect(),
            appeared: false,
            page: rules.iter().find(|rule| rule.id == f.rule).map(|rule| {
                let style = crate::Style { width: 92, ..crate::Style::default() };
                crate::text::markdown(rule.page, &style)
            }),
        }
    }
}

fn place(place: &view::Place) -> PlaceView<'_> {
    PlaceView {
        source: place.source.as_ref().map(|s| format!("{}:{}", visible(&s.file), s.line)),
        address: place.address,
        address_text: match (place.address, place.text_line) {
            (Some(address), _) => format!("{address:#x}"),
            (None, Some(line)) => format!("line {line}"),
            (None, None) => String::new(),
        },
        instruction: place.instruction.as_deref().map_or(Cow::Borrowed(""), visible),
    }
}

/// A table.
pub(crate) struct PanelView<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: Cow<'a, str>,
    /// Title of the panel, if this table is its first.
    pub(crate) begins: Option<&'a str>,
    pub(crate) label: &'a str,
    pub(crate) columns: Vec<ColumnView<'a>>,
    pub(crate) units: bool,
    pub(crate) rows: Vec<RowView<'a>>,
    pub(crate) notes: Vec<Cow<'a, str>>,
    /// Whether a chosen kernel has numbers for it.
    pub(crate) swaps: bool,
    /// Reason if it has no number at all.
    pub(crate) empty: Option<String>,
}

/// A column heading.
pub(crate) struct ColumnView<'a> {
    pub(crate) title: Cow<'a, str>,
    pub(crate) of: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) class: &'static str,
}

/// A row.
pub(crate) struct RowView<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) label: Cow<'a, str>,
    pub(crate) metric: &'a str,
    pub(crate) unit: &'a str,
    /// A rate of a part of the GPU, which competes with others for being the limit.
    pub(crate) rate: bool,
    pub(crate) cells: Vec<CellView<'a>>,
}

/// Units of rates.
const RATES: [&str; 4] = ["Gflop/s", "Gop/s", "GB/s", "instr/cycle"];

impl<'a> PanelView<'a> {
    pub(crate) fn one(page: &'a Page, table: &'a Table) -> Self {
        Self::first(page, table, usize::MAX)
    }

    /// The first rows of a table.
    pub(crate) fn first(page: &'a Page, table: &'a Table, rows: usize) -> Self {
        let names: Vec<&'a str> = page.report.input_names();
        let runs = alike::runs(page, table).into_iter().take(rows).collect();
        PanelView { swaps: swaps(page, table), ..Self::of(table, &names, runs) }
    }

    /// Whole tables of one answer.
    pub(crate) fn all(tables: &'a [Table]) -> Vec<Self> {
        tables.iter().map(|it| Self::of(it, &[], (0..it.rows.len()).map(|at| at..at + 1).collect())).collect()
    }

    /// Runs of rows of a table whose columns are of the recordings or traces with these names.
    pub(crate) fn of(table: &'a Table, names: &[&'a str], runs: Vec<Range<usize>>) -> Self {
        let compared = table.columns.iter().any(|c| c.recording > 0);
        let mut columns = Vec::new();
        for column in &table.columns {
            let of = names.get(column.recording).filter(|_| compared);
            let class = if column.kind.is_words() { "t" } else { "n" };
            columns.push(ColumnView {
                title: visible(&column.title),
                of: of.map_or("", |name| name),
                unit: if column.title.contains("percent") { "" } else { &column.unit },
                class,
            });
            if cells::has_change(column) {
                columns.push(ColumnView { title: Cow::Borrowed("change"), of: "", unit: "", class: "n" });
            }
        }
        let more =
            (table.more > 0).then(|| Cow::Owned(format!("{} not shown", view::counted(table.more, "row"))));
        PanelView {
            id: &table.id,
            title: visible(&table.title),
            begins: None,
            label: &table.label,
            columns,
            units: table.rows.iter().any(|r| !r.unit.is_empty()),
            rows: runs
                .into_iter()
                .filter_map(|run| Some((table.rows.get(run.start)?, table.rows.get(run.end - 1)?)))
                .map(|(row, last)| RowView {
                    id: match row.id == last.id {
                        true => Cow::Borrowed(row.id.as_str()),
                        false => {
                            let number = last.id.rsplit('.').next().unwrap_or_default();
                            Cow::Owned(format!("{}–{number}", row.id))
                        }
                    },
                    label: match row.id == last.id {
                        true => whole_name(&row.label),
                        false => format!("{} to {}", whole_name(&row.label), whole_name(&last.label)).into(),
                    },
                    metric: &row.metric,
                    unit: &row.unit,
                    rate: RATES.contains(&row.unit.as_str()),
                    cells: cells::of_row(table, row),
                })
                .collect(),
            notes: more.into_iter().chain(table.notes.iter().map(|note| visible(note))).collect(),
            swaps: false,
            empty: table.only_missing().map(|reason| reason.clone().shortened().to_string()),
        }
    }
}

/// Tables whose numbers every kernel has, in the order of the page.
pub(crate) fn swapped(page: &Page) -> impl Iterator<Item = &Table> {
    let speed = page.report.tables.iter().filter(|t| t.id == "2.1");
    speed.chain(in_panels(page)).filter(|t| swaps(page, t))
}

/// Tables of predicted times; their rows are kernels with the savings of each.
const PREDICTIONS: [&str; 2] = ["0.3", "0.4"];

fn swaps(page: &Page, table: &Table) -> bool {
    if PREDICTIONS.contains(&table.id.as_str()) {
        return false;
    }
    let has =
        |k: &view::PageKernel| k.detail.as_ref().is_some_and(|d| d.tables.iter().any(|t| t.id == table.id));
    page.kernels.iter().any(has)
}

/// Tables below the charts.
fn in_panels(page: &Page) -> impl Iterator<Item = &Table> {
    let apart = |t: &&Table| matches!(t.id.as_str(), "0.1" | "0.2" | "1.1" | "2.1");
    page.report.tables.iter().filter(move |t| !apart(t) && !PREDICTIONS.contains(&t.id.as_str()))
}

/// Gains of lifted limits and of changes, for the kernels with the most time.
pub(crate) fn predictions(page: &Page) -> Vec<PanelView<'_>> {
    let tables = page.report.tables.iter();
    tables
        .filter(|t| PREDICTIONS.contains(&t.id.as_str()) && !t.rows.is_empty())
        .map(|table| PanelView::one(page, table))
        .collect()
}

/// Tables below the charts, grouped by panel.
pub(crate) fn panels(page: &Page) -> Vec<PanelView<'_>> {
    let mut before = "";
    in_panels(page)
        .map(|table| {
            let mut view = PanelView::one(page, table);
            if table.panel != before {
                view.begins = Some(&table.panel);
                before = &table.panel;
            }
            view
        })
        .collect()
}

/// A kernel of the roofline in numbers.
pub(crate) struct RoofRow<'a> {
    pub(crate) mark: char,
    pub(crate) kernel: usize,
    pub(crate) name: String,
    pub(crate) rate: Marked,
    pub(crate) levels: Vec<[Marked; 3]>,
    pub(crate) trust: Option<Mark>,
    pub(crate) verdict: Cow<'a, str>,
}

/// A number of a chart with how far it can be trusted.
pub(crate) struct Marked {
    pub(crate) text: String,
    pub(crate) trust: Option<Mark>,
}

impl Marked {
    fn new(n: &Number, trust: Option<Mark>, text: impl Fn(f64) -> String) -> Self {
        let text = n.get().map_or_else(|| "n/a".to_owned(), |v| signed(trust, text(v)));
        Marked { text, trust }
    }
}

pub(crate) fn roof_rows(chart: &RooflineChart) -> Vec<RoofRow<'_>> {
    chart
        .kernels
        .iter()
        .enumerate()
        .map(|(at, kernel)| RoofRow {
            mark: kernel.mark,
            kernel: at,
            name: shorten(&visible(&kernel.name), 70).into_owned(),
            rate: Marked::new(&kernel.rate, kernel.rate_trust, |v| rate(v, "Gflop/s")),
            trust: kernel.verdict.trust,
            levels: kernel
                .levels
                .iter()
                .map(|level| {
                    let trust = level.bandwidth_trust;
                    [
                        Marked::new(&level.intensity, level.intensity_trust, short),
                        Marked::new(&level.bandwidth, trust, |v| rate(v, "GB/s")),
                        Marked::new(&level.percent, trust, |p| format!("{} %", short(p))),
                    ]
                })
                .collect(),
            verdict: visible(&kernel.verdict.text),
        })
        .collect()
}

/// A kernel's occupancy over time.
pub(crate) struct WavesView<'a> {
    /// Position in the list of kernels.
    pub(crate) kernel: Option<usize>,
    pub(crate) name: Cow<'a, str>,
    pub(crate) short: String,
    pub(crate) svg: String,
    pub(crate) text: String,
    pub(crate) trust: Option<Mark>,
}

pub(crate) fn waves(page: &Page) -> Vec<WavesView<'_>> {
    let Some(chart) = &page.report.part.occupancy_over_time else { return Vec::new() };
    let view = |it: &'_ view::KernelWaves| WavesView {
        kernel: page.kernels.iter().position(|kernel| kernel.name == it.name),
        name: Cow::Owned(whole_name(&it.name).into_owned()),
        short: short_name(&it.name),
        svg: crate::svg::waves(it, chart, &Picture::in_page(980.0, 170.0)),
        text: crate::text::describe_waves(it, chart),
        trust: it.trust,
    };
    chart.kernels.iter().map(view).collect()
}
