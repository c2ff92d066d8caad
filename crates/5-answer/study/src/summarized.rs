//! Summary of a recording for a database: times, counters, metrics and findings of each kernel.
//!
//! The numbers equal the tables of `analyze` on each kernel alone.

use analysis::workload::Subject;
use analysis::{WorkloadEvidence, roofline_chart};
use metrics::{Compiled, Definitions, Evaluation, Settings};
use std::collections::BTreeMap;
use view::{
    Finding, KernelRun, Norm, QuantityKind, RooflineChart, RooflineKernel, StoredCeiling, StoredPoint,
    StoredQuantity,
};
use workload::{Counter, Workload};

/// Most kernels judged by rules, by total time.
const JUDGED: usize = 50;

/// Summary of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Summarized {
    /// Form of its files.
    pub kind: &'static str,
    /// Target of the GPU.
    pub gpu: Option<String>,
    /// Facts of the machine, recorded or filled in.
    pub facts: BTreeMap<String, String>,
    /// Emulator that made the recording.
    pub emulated_by: Option<String>,
    /// Dispatches.
    pub dispatches: u64,
    /// Names of the numbers of each kernel.
    pub quantities: Vec<StoredQuantity>,
    /// Names of the numbers per wave, cycle and second of each kernel.
    pub normal_quantities: Vec<StoredQuantity>,
    /// Ceilings of the roofline.
    pub ceilings: Vec<StoredCeiling>,
    /// Kernels, most time first.
    pub kernels: Vec<KernelRun>,
    /// Findings, most time lost first.
    pub findings: Vec<Finding>,
}

/// Sums up a recording.
pub(crate) fn summarized(definitions: &Definitions, compiled: &Compiled, subject: &Subject) -> Summarized {
    let w = &subject.workload;
    let whole = Evaluation::new(compiled, w, subject.rows.clone(), Settings::default());
    let evidence = WorkloadEvidence::gather(compiled, w, &subject.rows);
    let counters = counters(w);
    let metrics: Vec<(&str, &str)> = definitions
        .metrics()
        .iter()
        .filter(|it| whole.defined(&it.id))
        .map(|it| (it.id.as_str(), it.unit_text.as_str()))
        .collect();
    let mut columns: Vec<(StoredQuantity, Vec<Option<f64>>)> = Vec::new();
    let evaluations: Vec<Evaluation<'_>> =
        evidence.iter().map(|it| whole.over(it.evaluation.rows().to_vec())).collect();
    for (name, instances) in &counters {
        let values = evaluations.iter().map(|it| mean_of(instances, it.rows())).collect();
        columns.push((quantity(QuantityKind::Counter, name, ""), values));
    }
    for (name, unit) in &metrics {
        let values = evaluations.iter().map(|it| it.value(name).ok()).collect();
        columns.push((quantity(QuantityKind::Metric, name, unit), values));
        let peaks = evaluations.iter().map(|it| it.peak(name).and_then(Result::ok)).collect();
        columns.push((quantity(QuantityKind::Peak, name, unit), peaks));
    }
    columns.retain(|(_, values)| values.iter().any(Option::is_some));
    let per_norm: Vec<(&str, &str)> = metrics
        .iter()
        .copied()
        .filter(|it| definitions.metric(it.0).is_some_and(|it| it.is_per_norm()))
        .collect();
    let normals = normals(&evaluations, &per_norm);
    let chart = roofline_chart::chart(&evidence, evidence.len());
    let kernel = |(at, it): (usize, &WorkloadEvidence<'_>)| {
        let rows = it.evaluation.rows();
        let first = rows.first().map(|row| *row as usize);
        KernelRun {
            name: it.kernel.to_owned(),
            base_name: base_name(it.kernel).to_owned(),
            dispatches: rows.len() as u64,
            grid: first.and_then(|row| w.dispatches.grid.get(row)),
            workgroup: first.and_then(|row| w.dispatches.workgroup.get(row)),
            times: rows.iter().map(|row| w.dispatches.duration(*row as usize)).collect(),
            numbers: columns.iter().map(|(_, values)| values[at]).collect(),
            normals: normals.iter().map(|(_, values)| values[at]).collect(),
            roofline: chart.kernels.get(at).map_or_else(Vec::new, points),
        }
    };
    let kernels = evidence.iter().enumerate().map(kernel).collect();
    Summarized {
        kind: w.generation.describe(),
        gpu: w.machine.target().map(str::to_owned),
        facts: w.machine.facts.clone(),
        emulated_by: w.machine.emulator().map(str::to_owned),
        dispatches: w.dispatches.len() as u64,
        findings: findings(&evidence),
        quantities: columns.into_iter().map(|(quantity, _)| quantity).collect(),
        normal_quantities: normals.iter().map(|(quantity, _)| quantity.clone()).collect(),
        ceilings: ceilings(&chart),
        kernels,
    }
}

/// Metrics that count, per wave, cycle and second: a column of one value per kernel for each.
fn normals(
    evaluations: &[Evaluation<'_>],
    metrics: &[(&str, &str)],
) -> Vec<(StoredQuantity, Vec<Option<f64>>)> {
    let mut columns = Vec::new();
    for (norm, kind) in [
        (Norm::Wave, QuantityKind::PerWave),
        (Norm::Cycle, QuantityKind::PerCycle),
        (Norm::Second, QuantityKind::PerSecond),
    ] {
        let evaluations: Vec<Evaluation<'_>> = evaluations.iter().map(|it| it.with_norm(norm)).collect();
        for (name, unit) in metrics {
            let values: Vec<Option<f64>> = evaluations.iter().map(|it| it.value(name).ok()).collect();
            columns.push((quantity(kind, name, unit), values));
        }
    }
    columns.retain(|(_, values)| values.iter().any(Option::is_some));
    columns
}

fn ceilings(chart: &RooflineChart) -> Vec<StoredCeiling> {
    let one = |it: &view::Ceiling, is_bandwidth| StoredCeiling {
        is_bandwidth,
        name: it.name.clone(),
        value: it.value,
        unit: it.unit.to_owned(),
        is_used: it.used,
    };
    let bandwidths = chart.bandwidths.iter().map(|it| one(it, true));
    bandwidths.chain(chart.rates.iter().map(|it| one(it, false))).collect()
}

fn points(kernel: &RooflineKernel) -> Vec<StoredPoint> {
    let one = |it: &view::RooflineLevel| StoredPoint {
        level: it.level.clone(),
        intensity: it.intensity.get(),
        rate: kernel.rate.get(),
        bandwidth: it.bandwidth.get(),
    };
    kernel.levels.iter().map(one).collect()
}

fn quantity(kind: QuantityKind, name: &str, unit: &str) -> StoredQuantity {
    StoredQuantity { kind, name: name.to_owned(), unit: unit.to_owned() }
}

/// Instances of each counter, by its name with the level run before it.
fn counters(w: &Workload) -> BTreeMap<String, Vec<&Counter>> {
    let mut all: BTreeMap<String, Vec<&Counter>> = BTreeMap::new();
    for counter in w.counters.iter() {
        let name = match &counter.run {
            Some(run) => format!("{run}/{}", counter.name),
            None => counter.name.clone(),
        };
        all.entry(name).or_default().push(counter);
    }
    all
}

/// Mean over dispatches of the sum over instances, without dispatches in which an instance has no value.
fn mean_of(instances: &[&Counter], rows: &[u32]) -> Option<f64> {
    let sum = |row: &u32| instances.iter().map(|it| it.values.get(*row as usize)).sum::<Option<f64>>();
    let known: Vec<f64> = rows.iter().filter_map(sum).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn findings(evidence: &[WorkloadEvidence<'_>]) -> Vec<Finding> {
    let mut all = Vec::new();
    for kernel in evidence.iter().take(JUDGED).filter(|it| !it.evaluation.target().is_empty()) {
        let percent = view::Number::from(kernel.time_percent.clone());
        let (findings, _) = rules::check_workload(kernel);
        let trust = kernel.time_percent_trust();
        all.extend(findings.into_iter().map(|it| it.of_kernel(kernel.kernel, percent.clone(), trust)));
    }
    crate::judge::sort(&mut all);
    all
}

/// A kernel's name without return type, arguments of templates and parameters: `ns::gemm` of
/// `void ns::gemm<float, 4>(float*)`.
pub fn base_name(name: &str) -> &str {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let mut depth = 0i32;
    let mut begin = 0;
    let bytes = name.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'(' if name[at..].starts_with(ANONYMOUS) => at += ANONYMOUS.len() - 1,
            b'<' | b'(' if at > begin && !name[..at].ends_with("operator") => return &name[begin..at],
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
        at += 1;
    }
    &name[begin..]
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn kernels_have_a_name_without_arguments() {
        for (name, expected) in [
            ("vector_add", "vector_add"),
            ("copy(double*, double const*)", "copy"),
            ("void ns::gemm<float, 4>(float*)", "ns::gemm"),
            ("void (anonymous namespace)::run<A<B>>(int)", "(anonymous namespace)::run"),
            ("void a::(anonymous namespace)::run(int)", "a::(anonymous namespace)::run"),
            ("Cijk_Ailk_Bljk_SB_MT128x128x16", "Cijk_Ailk_Bljk_SB_MT128x128x16"),
            ("", ""),
            ("é<", "é"),
        ] {
            assert_eq!(base_name(name), expected, "{name}");
        }
    }
}
