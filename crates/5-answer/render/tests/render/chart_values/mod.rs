//! A memory chart with every kind of block and link, its numbers multiples of one or all missing.

use view::{
    BlockId, Flow, KernelWaves, Mark, MemoryBlock, MemoryChart, MemoryFact, MemoryLink, Number, WaveChart,
};

/// Reason why the memory-side cache is unknown.
pub(crate) const UNSEEN: &str = "nobody counts what the cache behind the fabric answers";

/// The same of an emulated recording: requests are exact, bytes about right, rates and facts less so,
/// latencies never compared.
pub(crate) fn emulated_memory(value: Option<f64>) -> MemoryChart {
    let mut chart = memory(value);
    for fact in chart.blocks.iter_mut().flat_map(|block| &mut block.facts) {
        fact.trust = Some(Mark::Modelled(fact.is_share.then_some(46.1)));
    }
    for link in &mut chart.links {
        link.requests_trust = link.requests.get().map(|_| Mark::Exact);
        link.bytes_trust = link.bytes.as_ref().map(|_| Mark::Modelled(Some(5.8)));
        link.bandwidth_trust = link.bandwidth.as_ref().map(|_| Mark::Modelled(Some(46.1)));
    }
    chart
}

pub(crate) fn memory(value: Option<f64>) -> MemoryChart {
    let number =
        |scale: f64| value.map_or_else(|| Number::missing("not recorded"), |v| Number::Known(v * scale));
    let fact = |label, unit, is_share| MemoryFact { label, value: number(1.0), unit, is_share, trust: None };
    let ids = [
        BlockId::ComputeUnits,
        BlockId::Lds,
        BlockId::VectorL1,
        BlockId::ScalarL1,
        BlockId::Instructions,
        BlockId::L2,
        BlockId::Fabric,
        BlockId::MemorySide,
        BlockId::Hbm,
    ];
    let link = |from, to, flow| MemoryLink {
        from,
        to,
        flow,
        requests: number(1e5),
        bytes: Some(number(1e7)),
        bandwidth: Some(number(10.0)),
        percent: Some(value.map_or_else(|| number(1.0), |value| Number::Known(value.min(100.0)))),
        requests_trust: None,
        bytes_trust: None,
        bandwidth_trust: None,
    };
    let block = |id| MemoryBlock {
        id,
        facts: vec![fact("latency", "cycle", false), fact("peak", "%", true)],
        unseen: (id == BlockId::MemorySide).then_some(UNSEEN),
    };
    MemoryChart {
        per: "kernel".to_owned(),
        blocks: ids.map(block).into(),
        links: vec![
            link(BlockId::ComputeUnits, BlockId::Lds, Flow::Any),
            link(BlockId::ComputeUnits, BlockId::VectorL1, Flow::Read),
            link(BlockId::ComputeUnits, BlockId::VectorL1, Flow::Write),
            link(BlockId::VectorL1, BlockId::L2, Flow::Read),
            link(BlockId::VectorL1, BlockId::L2, Flow::Atomic),
            link(BlockId::L2, BlockId::Fabric, Flow::Write),
            link(BlockId::Fabric, BlockId::MemorySide, Flow::Read),
            link(BlockId::Fabric, BlockId::MemorySide, Flow::Write),
            MemoryLink {
                requests: Number::missing(UNSEEN),
                bytes: None,
                bandwidth: None,
                percent: None,
                ..link(BlockId::MemorySide, BlockId::Hbm, Flow::Any)
            },
        ],
    }
}

/// Two kernels over time: one that fills the GPU but for a tail, one that hardly does anything.
pub(crate) fn over_time() -> WaveChart {
    let kernel = |name: &str, waves: Vec<f64>, mark| KernelWaves {
        name: name.to_owned(),
        dispatches: 2,
        mean_ns: 12_345.0,
        mean_waves: waves.iter().sum::<f64>() / waves.len() as f64,
        peak_waves: waves.iter().copied().fold(0.0, f64::max),
        mean_units: 52.0,
        tail_percent: 25.0,
        busy_units: waves.iter().map(|waves| (waves / 8.0).min(104.0)).collect(),
        waves,
        trust: mark,
    };
    let tail = (0..64).map(|part| if part < 48 { 3328.0 } else { 32.0 }).collect();
    WaveChart {
        wave_slots: Number::Known(3328.0),
        compute_units: Number::Known(104.0),
        kernels: vec![
            kernel("a_kernel_with_a_tail(float*)", tail, Some(Mark::Modelled(Some(36.2)))),
            kernel("empty", vec![0.0; 64], None),
        ],
        left_out: 1,
    }
}
