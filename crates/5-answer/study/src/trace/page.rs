//! The timeline as lanes to look at.

use super::{Input, Options, PAGE_ROWS, survey};
use ::trace::{GpuKind, HostKind, Name, Timeline};
use sorting::Sort;
use std::collections::{BTreeSet, HashMap};
use timeline::category::category;
use view::{Answer, TimelineChart, TimelineLane, TimelinePage, TimelineSpan, UsageError};

/// Classes that are not kernel categories.
const HOST: [(HostKind, &str); 8] = [
    (HostKind::Operator, "operator"),
    (HostKind::Python, "python"),
    (HostKind::Runtime, "runtime call"),
    (HostKind::Annotation, "range"),
    (HostKind::GpuAnnotation, "range"),
    (HostKind::Collective, "communication"),
    (HostKind::Other, "other"),
    (HostKind::Overhead, "other"),
];

/// The page of traces; with `compared` the first is the base of the second.
pub fn compared(inputs: &[Input<'_>], compared: bool) -> Result<TimelinePage, UsageError> {
    if compared {
        super::check_two(inputs.len())?;
    }
    let every = ["all".to_owned()];
    let options = Options { top: PAGE_ROWS, blocks: &every, tunings: &[], compared };
    Ok(page(inputs, survey(inputs, &options)))
}

/// Page of some timelines; `survey` holds the findings.
pub fn page(inputs: &[Input<'_>], survey: Answer) -> TimelinePage {
    let found: BTreeSet<&str> = survey.findings.iter().map(|finding| finding.rule).collect();
    TimelinePage {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules: crate::rules().into_iter().filter(|rule| found.contains(rule.id)).collect(),
        chart: chart(inputs),
        survey,
        live: None,
    }
}

/// Lanes of some timelines: GPUs first, then threads, each timeline separately. All begin with the earliest
/// span.
pub fn chart(inputs: &[Input<'_>]) -> TimelineChart {
    let mut chart = TimelineChart {
        from: inputs.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", "),
        ..TimelineChart::default()
    };
    let begin = inputs.iter().filter_map(|it| it.timeline.range()).map(|(begin, _)| begin).min();
    let Some(begin) = begin else { return chart };
    let mut texts = HashMap::new();
    for input in inputs {
        let mut builder = Builder {
            chart: &mut chart,
            timeline: input.timeline,
            begin,
            prefix: if inputs.len() > 1 { format!("{}: ", input.name) } else { String::new() },
            names: HashMap::new(),
            texts,
        };
        builder.gpus();
        builder.threads();
        texts = builder.texts;
    }
    let ends = chart.lanes.iter().flat_map(|lane| &lane.spans).map(|span| span.start + span.duration);
    chart.length = ends.max().unwrap_or(0);
    chart
}

struct Builder<'c, 'a> {
    chart: &'c mut TimelineChart,
    timeline: &'a Timeline,
    begin: i64,
    prefix: String,
    /// Names of the chart by name and class of the timeline.
    names: HashMap<(Name, u8), u32>,
    /// The same by text: all timelines share them.
    texts: HashMap<(&'a str, u8), u32>,
}

impl<'a> Builder<'_, 'a> {
    fn class(&mut self, class: &str) -> u8 {
        let classes = &mut self.chart.classes;
        let at = classes.iter().position(|it| it == class).unwrap_or_else(|| {
            classes.push(class.to_owned());
            classes.len() - 1
        });
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    fn name(&mut self, name: Name, class: u8) -> u32 {
        let Builder { chart, timeline, names, texts, .. } = self;
        let timeline: &'a Timeline = timeline;
        *names.entry((name, class)).or_insert_with(|| {
            let text = timeline.names.get(name);
            *texts.entry((text, class)).or_insert_with(|| {
                chart.names.push(text.to_owned());
                chart.class_of.push(class);
                u32::try_from(chart.names.len() - 1).unwrap_or(0)
            })
        })
    }

    fn span(&self, start: i64, end: i64, name: u32) -> TimelineSpan {
        let ns = |from: i64, to: i64| u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        TimelineSpan { start: ns(self.begin, start), duration: ns(start, end), name, depth: 0 }
    }

    fn gpus(&mut self) {
        let timeline = self.timeline;
        let mut lanes: Vec<Vec<TimelineSpan>> = vec![Vec::new(); timeline.queues.len()];
        let mut known: HashMap<Name, &'static str> = HashMap::new();
        for at in 0..timeline.gpu.len() {
            let span = timeline.gpu.get(at);
            let text = timeline.names.get(span.name);
            let class = match span.kind {
                GpuKind::Kernel => *known.entry(span.name).or_insert_with(|| category(text, None)),
                GpuKind::Copy | GpuKind::Set => timeline::category::COPY,
            };
            let class = self.class(class);
            let name = self.name(span.name, class);
            let span_of_chart = self.span(span.start, span.end, name);
            if let Some(lane) = lanes.get_mut(span.queue as usize) {
                lane.push(span_of_chart);
            }
        }
        let mut order: Vec<usize> = (0..lanes.len()).filter(|at| !lanes[*at].is_empty()).collect();
        order.in_order_by_key(|at| (timeline.queues[*at].device, timeline.queues[*at].stream));
        for at in order {
            let queue = timeline.queues[at];
            let name = format!("{}GPU {}, stream {}", self.prefix, queue.device, queue.stream);
            self.chart.lanes.push(lane(name, true, std::mem::take(&mut lanes[at])));
        }
    }

    fn threads(&mut self) {
        let timeline = self.timeline;
        let mut lanes: Vec<Vec<TimelineSpan>> = vec![Vec::new(); timeline.threads.len()];
        for at in 0..timeline.host.len() {
            let span = timeline.host.get(at);
            let class = HOST.iter().find(|(kind, _)| *kind == span.kind).map_or("other", |(_, class)| class);
            let class = self.class(class);
            let name = self.name(span.name, class);
            let span_of_chart = self.span(span.start, span.end, name);
            if let Some(lane) = lanes.get_mut(span.thread as usize) {
                lane.push(span_of_chart);
            }
        }
        for (thread, spans) in timeline.threads.iter().zip(lanes).filter(|(_, spans)| !spans.is_empty()) {
            let text = |name: Name| timeline.names.get(name);
            // PyTorch's own names say `thread 7 (python)` and, of ranges on the GPU, `stream 4`.
            let own = text(thread.name).trim();
            let name = match own.starts_with("stream") {
                _ if own.is_empty() => format!("thread {}", text(thread.thread)),
                true => format!("ranges on {own}"),
                false => own.to_owned(),
            };
            let name = format!("{}{name}", self.prefix);
            self.chart.lanes.push(lane(name, false, spans));
        }
    }
}

/// A lane with its spans in order and in rows: a span that overlaps others is placed below all of them.
fn lane(name: String, gpu: bool, mut spans: Vec<TimelineSpan>) -> TimelineLane {
    spans.in_order_by_key(|span| (span.start, std::cmp::Reverse(span.duration)));
    // End of the last span of each row.
    let mut rows: Vec<u64> = Vec::new();
    for span in &mut spans {
        while rows.last().is_some_and(|end| *end <= span.start) {
            rows.pop();
        }
        span.depth = u16::try_from(rows.len()).unwrap_or(u16::MAX);
        rows.push(span.start + span.duration);
    }
    TimelineLane { name, gpu, spans }
}
