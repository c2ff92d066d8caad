//! The part of traces that a question is about.

use ::trace::Timeline;
use analysis::workload::kernel_pattern;
use regex::Regex;
use timeline::{Selection, select};
use view::UsageError;

/// Part of traces.
#[derive(Default)]
pub struct Wanted {
    /// Only kernels whose name one of these matches; empty: all.
    kernels: Vec<Regex>,
    /// From and to, ns after the trace's begin.
    time: (Option<i64>, Option<i64>),
    /// Only what these steps of the profiler launched.
    steps: Vec<u64>,
}

impl Wanted {
    /// Only kernels whose name one of these regular expressions matches; of none all.
    pub fn kernels<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<Wanted, UsageError> {
        let one = |text: &String| {
            kernel_pattern(text).map_err(|error| {
                UsageError::new(
                    format!("`--kernel {text}`: {error}"),
                    "give a regular expression such as `gemm.*f16`",
                )
            })
        };
        let kernels = texts.into_iter().map(one).collect::<Result<_, _>>()?;
        Ok(Wanted { kernels, ..Wanted::default() })
    }

    /// The same, only between two times and in some steps of the profiler.
    pub fn within(self, time: (Option<i64>, Option<i64>), steps: Vec<u64>) -> Wanted {
        Wanted { time, steps, ..self }
    }

    /// The selected part of a timeline.
    pub fn select(&self, timeline: Timeline) -> Timeline {
        let begin = timeline.range().map_or(0, |(begin, _)| begin);
        let at = |ns: i64| begin.saturating_add(ns);
        let (from, to) = self.time;
        let admits = |name: &str| self.kernels.iter().any(|regex| regex.is_match(name));
        let selection = Selection {
            kernel: (!self.kernels.is_empty()).then_some(&admits as &dyn Fn(&str) -> bool),
            time: (from.is_some() || to.is_some()).then(|| (at(from.unwrap_or(0)), to.map_or(i64::MAX, at))),
            steps: self.steps.clone(),
        };
        if selection.is_all() { timeline } else { select(&timeline, &selection) }
    }
}
