//! The numbers of one recorded kernel, by the names of metrics and machine facts.

use arch::Target;
use metrics::{Evaluation, Value};
use view::{Known, Mark, Missing};
use workload::Workload;

/// Recorded numbers of a kernel's dispatches.
pub struct KernelNumbers<'a> {
    /// The recording.
    pub workload: &'a Workload,
    /// The metrics over the kernel's dispatches.
    pub evaluation: Evaluation<'a>,
    /// Facts of the GPU target, if there are any.
    pub target: Option<&'static Target>,
}

impl KernelNumbers<'_> {
    /// The average of a metric over the kernel's dispatches.
    pub fn value(&self, metric: &str) -> Value {
        self.evaluation.value(metric)
    }

    /// Confidence of `value`, which follows from a metric; `None` if it was measured or is unknown.
    pub fn trust(&self, metric: &str, value: &Value) -> Option<Mark> {
        self.evaluation.trust(metric, value)?.ok()
    }

    /// The average of a metric with how far it can be trusted.
    pub fn known(&self, metric: &str) -> Result<Known, Missing> {
        let value = self.value(metric);
        let trust = self.trust(metric, &value);
        value.map(|value| Known { value, trust })
    }

    /// Value of a machine fact.
    pub fn machine(&self, name: &str) -> Option<f64> {
        self.workload.machine.number(name)
    }
}
