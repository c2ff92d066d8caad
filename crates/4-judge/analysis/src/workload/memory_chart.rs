//! The memory chart of the selected dispatches.
//!
//! Two tables, blocks and links, place the metrics; the rate of a link is its bytes divided by the time of a
//! dispatch.

use super::models;
use arch::Target;
use metrics::{Evaluation, Value};
use view::BlockId::{ComputeUnits, Fabric, Hbm, Instructions, L2, Lds, MemorySide, ScalarL1, VectorL1};
use view::{
    BlockId, Flow, Known, Mark, MemoryBlock, MemoryChart, MemoryFact, MemoryLink, Missing, Norm, Number,
};
use workload::Machine;

/// Block, label, metric, unit.
type Fact = (BlockId, &'static str, &'static str, &'static str);

/// Within a block in the order shown. `%%` is a metric's percent of its peak.
const FACTS: &[Fact] = &[
    (ComputeUnits, "waves", "wave.occupancy", ""),
    (ComputeUnits, "of slots", "wave.occupancy", "%%"),
    (ComputeUnits, "CUs", "gpu.cus", ""),
    (ComputeUnits, "CUs busy", "gpu.simd_utilization", "%"),
    (ComputeUnits, "life", "wave.life", "cycle"),
    (ComputeUnits, "workgroups", "dispatch.workgroups", ""),
    (ComputeUnits, "waves run", "dispatch.waves", ""),
    (ComputeUnits, "VGPR", "dispatch.vgpr_count", ""),
    (ComputeUnits, "AGPR", "dispatch.agpr_count", ""),
    (ComputeUnits, "SGPR", "dispatch.sgpr_count", ""),
    (ComputeUnits, "LDS", "dispatch.lds_allocation", "B"),
    (ComputeUnits, "scratch", "dispatch.scratch_allocation", "B"),
    (ComputeUnits, "VALU", "instructions.valu", ""),
    (ComputeUnits, "MFMA", "instructions.matrix", ""),
    (ComputeUnits, "SALU", "instructions.salu", ""),
    (ComputeUnits, "branch", "instructions.branch", ""),
    (ComputeUnits, "VMEM", "instructions.vmem_all", ""),
    (ComputeUnits, "SMEM", "instructions.smem", ""),
    (ComputeUnits, "LDS instr", "instructions.lds", ""),
    (Lds, "busy", "lds.utilization", "%"),
    (Lds, "latency", "lds.latency", "cycle"),
    (Lds, "conflicts", "lds.conflicts_per_access", "/acc"),
    (VectorL1, "hit", "vl1d.hit_rate", "%"),
    (VectorL1, "rate", "vl1d.bandwidth", "GB/s"),
    (VectorL1, "peak", "vl1d.bandwidth", "%%"),
    (VectorL1, "latency", "vl1d.latency", "cycle"),
    (VectorL1, "coalesced", "vl1d.coalescing", "%"),
    (VectorL1, "wait data", "vl1d.stall_l2_data", "%"),
    (VectorL1, "wait L2", "vl1d.stall_l2_request", "%"),
    (ScalarL1, "hit", "sl1d.hit_rate_of_lines", "%"),
    (ScalarL1, "latency", "latency.smem", "cycle"),
    (Instructions, "hit", "l1i.hit_rate_of_lines", "%"),
    (Instructions, "latency", "l1i.fetch_latency", "cycle"),
    (L2, "hit", "l2.hit_rate", "%"),
    (L2, "L1-L2", "vl1d.l2_bandwidth", "GB/s"),
    (L2, "peak", "vl1d.l2_bandwidth", "%%"),
    (L2, "busy", "l2.utilization", "%"),
    (L2, "read", "vl1d.l2_read_latency", "cycle"),
    (L2, "write", "vl1d.l2_write_latency", "cycle"),
    (Fabric, "read", "fabric.read_latency", "cycle"),
    (Fabric, "write", "fabric.write_latency", "cycle"),
    (Fabric, "to HBM", "fabric.hbm_read_share", "%"),
    (Fabric, "remote", "fabric.remote_read_share", "%"),
    (Hbm, "rate", "roofline.hbm_bandwidth", "GB/s"),
    (Hbm, "peak", "roofline.hbm_bandwidth", "%%"),
];

/// Time of a dispatch.
const DURATION: &str = "dispatch.duration";

/// Notes on the memory-side cache: for a hardware recording, and for an emulated one.
const UNSEEN: [&str; 2] = [
    "no counter sees its hits; HBM gets at most what the fabric sends",
    "its hits are modelled but not recorded; HBM gets at most what the fabric sends",
];

/// A link: requests, bytes, the metric whose peak is the link's.
struct Link {
    from: BlockId,
    to: BlockId,
    flow: Flow,
    requests: &'static str,
    bytes: Option<&'static str>,
    peak: Option<&'static str>,
}

const fn link(
    from: BlockId,
    to: BlockId,
    flow: Flow,
    requests: &'static str,
    bytes: Option<&'static str>,
    peak: Option<&'static str>,
) -> Link {
    Link { from, to, flow, requests, bytes, peak }
}

const LINKS: &[Link] = &[
    link(ComputeUnits, Lds, Flow::Any, "instructions.lds", Some("roofline.lds_bytes"), Some("lds.bandwidth")),
    link(ComputeUnits, VectorL1, Flow::Read, "vl1d.reads", None, None),
    link(ComputeUnits, VectorL1, Flow::Write, "vl1d.writes", None, None),
    link(ComputeUnits, VectorL1, Flow::Atomic, "vl1d.atomics", None, None),
    link(ComputeUnits, ScalarL1, Flow::Read, "sl1d.requests", Some("sl1d.bytes"), Some("sl1d.bandwidth")),
    link(ComputeUnits, Instructions, Flow::Read, "l1i.requests", Some("l1i.bytes"), Some("l1i.bandwidth")),
    link(VectorL1, L2, Flow::Read, "vl1d.l2_reads", Some("vl1d.l2_read_bytes"), Some("vl1d.l2_bandwidth")),
    link(VectorL1, L2, Flow::Write, "vl1d.l2_writes", Some("vl1d.l2_write_bytes"), Some("vl1d.l2_bandwidth")),
    link(
        VectorL1,
        L2,
        Flow::Atomic,
        "vl1d.l2_atomics",
        Some("vl1d.l2_atomic_bytes"),
        Some("vl1d.l2_bandwidth"),
    ),
    link(ScalarL1, L2, Flow::Any, "sl1d.l2_reads", Some("sl1d.l2_bytes"), None),
    link(Instructions, L2, Flow::Read, "l1i.l2_requests", Some("l1i.l2_bytes"), None),
    link(L2, Fabric, Flow::Read, "fabric.reads", Some("fabric.read_bytes"), Some("fabric.read_bandwidth")),
    link(
        L2,
        Fabric,
        Flow::Write,
        "fabric.writes",
        Some("fabric.write_bytes"),
        Some("fabric.write_bandwidth"),
    ),
    link(L2, Fabric, Flow::Atomic, "fabric.atomics", None, None),
    link(
        Fabric,
        Hbm,
        Flow::Read,
        "fabric.hbm_reads",
        Some("fabric.hbm_read_bytes"),
        Some("fabric.read_bandwidth"),
    ),
    link(
        Fabric,
        Hbm,
        Flow::Write,
        "fabric.hbm_writes_and_atomics",
        Some("fabric.hbm_write_bytes"),
        Some("fabric.write_bandwidth"),
    ),
];

/// The chart of what `evaluation` selects on a machine; `norm` is what it divides counts by.
pub(crate) fn chart(evaluation: &Evaluation<'_>, norm: Norm, machine: &Machine) -> MemoryChart {
    let mut blocks: Vec<MemoryBlock> = Vec::new();
    for (id, label, metric, unit) in FACTS {
        let share = *unit == "%%";
        let value = if share {
            let none = || Err(Missing::because("there is no peak"));
            evaluation.percent_of_peak(metric).unwrap_or_else(none)
        } else {
            evaluation.value(metric)
        };
        let unit = if share { "%" } else { unit };
        let trust = trust(evaluation, metric, &value);
        let fact = MemoryFact { label, value: Number::from(value), unit, is_share: share, trust };
        match blocks.last_mut().filter(|block| block.id == *id) {
            Some(block) => block.facts.push(fact),
            None => blocks.push(MemoryBlock { id: *id, facts: vec![fact], unseen: None }),
        }
    }
    // Bytes are per what the caller divides by; rates need them per dispatch.
    let duration = evaluation.value(DURATION);
    let per_dispatch = per_dispatch(evaluation, norm);
    let links = LINKS.iter().map(|link| measure(evaluation, link, &duration, &per_dispatch)).collect();
    let mut chart = MemoryChart { per: norm.name().to_owned(), blocks, links };
    if Target::by_name(evaluation.target()).is_some_and(|t| t.memory_side_cache.line_bytes.value().is_some())
    {
        put_memory_side_cache(&mut chart, machine);
    }
    chart
}

/// Inserts the memory-side cache before HBM: traffic from the fabric to HBM passes it, and no counter sees
/// the traffic behind it.
fn put_memory_side_cache(chart: &mut MemoryChart, machine: &Machine) {
    let unseen = UNSEEN[usize::from(machine.emulator().is_some())];
    let mut sizes = models(machine).into_iter().map(|model| model.memory_side_cache.bytes.value());
    let size = sizes.next().flatten().filter(|first| sizes.all(|size| size == Some(*first)));
    let none = || Number::missing("the recording does not name the GPU model");
    let fact = |label, value, unit| MemoryFact { label, value, unit, is_share: false, trust: None };
    let block = MemoryBlock {
        id: MemorySide,
        facts: vec![
            fact("size", size.map_or_else(none, |bytes| Number::from(f64::from(bytes >> 20))), "MiB"),
            fact("hit", Number::missing(unseen), "%"),
        ],
        unseen: Some(unseen),
    };
    let at = chart.blocks.iter().position(|block| block.id == Hbm).unwrap_or(chart.blocks.len());
    chart.blocks.insert(at, block);
    for fact in chart.blocks.iter_mut().filter(|block| block.id == Hbm).flat_map(|block| &mut block.facts) {
        fact.label = if fact.is_share { "peak \u{2264}" } else { "rate \u{2264}" };
    }
    for link in chart.links.iter_mut().filter(|link| link.to == Hbm) {
        link.to = MemorySide;
        // The peak belongs to HBM.
        link.percent = None;
    }
    chart.links.push(MemoryLink {
        from: MemorySide,
        to: Hbm,
        flow: Flow::Any,
        requests: Number::missing(unseen),
        bytes: None,
        bandwidth: None,
        percent: None,
        requests_trust: None,
        bytes_trust: None,
        bandwidth_trust: None,
    });
}

/// Confidence of a value that follows from a metric; `None` if it was measured or is unknown.
fn trust(evaluation: &Evaluation<'_>, metric: &str, value: &Value) -> Option<Mark> {
    evaluation.trust(metric, value)?.ok()
}

/// Factor that converts a normalized count to a count per dispatch.
fn per_dispatch(evaluation: &Evaluation<'_>, norm: Norm) -> Value {
    match norm {
        Norm::Kernel => Ok(1.0),
        Norm::Wave => evaluation.value("dispatch.waves"),
        Norm::Cycle => evaluation.value("dispatch.cycles"),
        Norm::Second => evaluation.value("dispatch.duration").map(|ns| ns / 1e9),
    }
}

fn measure(evaluation: &Evaluation<'_>, link: &Link, duration: &Value, per_dispatch: &Value) -> MemoryLink {
    let bytes = link.bytes.map(|metric| evaluation.value(metric));
    let bandwidth = bytes.clone().map(|bytes| Ok(bytes? * per_dispatch.clone()? / duration.clone()?));
    let percent = link.peak.zip(bandwidth.clone()).and_then(|(metric, bandwidth)| {
        let peak = evaluation.peak(metric)?;
        Some(bandwidth.and_then(|bandwidth| Ok(100.0 * bandwidth / peak?)))
    });
    let requests = evaluation.value(link.requests);
    let bytes_trust = bytes.as_ref().zip(link.bytes).and_then(|(it, metric)| trust(evaluation, metric, it));
    let known = |value: &Value, trust| value.as_ref().ok().map(|value| Known { value: *value, trust });
    let time = known(duration, trust(evaluation, DURATION, duration));
    let bandwidth_trust = bytes.as_ref().and_then(|it| known(it, bytes_trust)?.over(time?).trust);
    MemoryLink {
        from: link.from,
        to: link.to,
        flow: link.flow,
        requests_trust: trust(evaluation, link.requests, &requests),
        bytes_trust,
        bandwidth_trust,
        requests: requests.into(),
        bytes: bytes.map(Number::from),
        bandwidth: bandwidth.map(Number::from),
        percent: percent.map(Number::from),
    }
}
