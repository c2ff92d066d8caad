//! Checks by timelines and by communication tests, for rules that also judge a job's command line.
//!
//! A timeline shows the effect that a command line only promises.

use crate::Outcome;
use crate::comm::{CommEvidence, board};
use crate::traced::{benchmarked, lost, ms, needs_model, percent};
use std::collections::{BTreeMap, BTreeSet};
use timeline::{TimelineEvidence, Why};
use view::{Finding, Severity};

pub(crate) fn collective_gpus(evidence: &TimelineEvidence<'_>) -> Outcome {
    if evidence.total.communicating > 0 && evidence.collectives.is_empty() {
        return Outcome::needs("arguments of collectives (PyTorch 2.2 or later)");
    }
    let device = evidence.timeline.devices.iter().find(|device| !device.name.is_empty());
    let Some(board) = device.and_then(|device| arch::fabric::Board::of(&device.name)) else {
        return Outcome::Silent;
    };
    let part = evidence.collectives.iter().filter(|it| it.ranks > 1 && it.ranks < board.gpus);
    let time: i64 = part.clone().map(|it| it.durations.total).sum();
    let Some(most) = part.max_by_key(|it| it.durations.total) else { return Outcome::Silent };
    let finding = Finding::new(
        "SYS005",
        Severity::Warning,
        format!(
            "collectives run over {} GPUs, which use {} of the {} links of each",
            most.ranks,
            (most.ranks - 1).min(board.links),
            board.links
        ),
        "use all GPUs of the board in a collective, or one GPU per replica",
    )
    .with_evidence("time in them", ms(time))
    .with_evidence(
        "share of the communication",
        format!("{:.1} %", percent(time, evidence.total.communicating)),
    );
    // With all links the same bytes take the share of the links that were used.
    let used = (most.ranks - 1) as f64 / board.links as f64;
    Outcome::Findings(vec![lost(finding, evidence, (time as f64 * (1.0 - used)) as i64)])
}

pub(crate) fn collective_gpus_of_tests(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.tests().filter_map(|(name, test)| {
        let (board, ranks) = (board(test)?, test.rank_count());
        let part = test.hosts().len() == 1 && ranks > 1 && ranks < board.gpus;
        let pair = test.collective.as_deref() == Some("sendrecv");
        part.then_some(()).filter(|()| !pair)?;
        let best = test.best().map_or_else(String::new, |(bus, _)| format!("; {bus:.1} GB/s at best"));
        let finding = Finding::new("SYS005", 
                Severity::Info,
                format!(
                    "{name}: {ranks} of {} GPUs use {} of the {} links of each{best}: no defect, a part of the board",
                    board.gpus,
                    ranks - 1,
                    board.links
                ),
                "compare with figures of as many GPUs, and use all or one where there is a choice",
            );
        Some(match board.to_peers(ranks - 1) {
            Some((low, high)) => finding.with_evidence("a GPU's links to the others", format!("{low:.0} to {high:.0} GB/s")),
            None => finding,
        })
    });
    Outcome::from_findings(findings.collect())
}

pub(crate) fn gpus_per_process(evidence: &TimelineEvidence<'_>) -> Outcome {
    if evidence.overviews.len() < 2 || evidence.total.communicating == 0 {
        return Outcome::Silent;
    }
    let timeline = evidence.timeline;
    let mut by_process: BTreeMap<trace::Name, BTreeSet<u64>> = BTreeMap::new();
    for at in 0..timeline.gpu.len() {
        let Some(row) = evidence.links.launch_of(at) else { continue };
        let thread = timeline.threads.get(timeline.host.thread[row] as usize);
        let queue = timeline.queues.get(timeline.gpu.queue[at] as usize);
        if let (Some(thread), Some(queue)) = (thread, queue) {
            by_process.entry(thread.process).or_default().insert(queue.device);
        }
    }
    if by_process.is_empty() {
        return Outcome::needs("launches in the trace");
    }
    let Some((process, devices)) = by_process.iter().max_by_key(|(_, devices)| devices.len()) else {
        return Outcome::Silent;
    };
    if devices.len() < 2 {
        return Outcome::Silent;
    }
    let idle = evidence.total.idle() / i64::try_from(evidence.overviews.len()).unwrap_or(1);
    let finding = Finding::new(
        "SYS006",
        Severity::Warning,
        format!("process {} drives {} GPUs", evidence.text(*process), devices.len()),
        "one process per GPU: `torchrun --nproc-per-node 8`, `-g 1` for RCCL's tests",
    )
    .with_evidence("idle of a GPU", ms(idle))
    .with_evidence("idle", format!("{:.1} %", percent(evidence.total.idle(), evidence.total.span)));
    Outcome::Findings(vec![lost(finding, evidence, idle)])
}

pub(crate) fn gpus_per_process_of_tests(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.tests().filter_map(|(name, test)| {
        let (ranks, processes) = (test.ranks.len(), test.processes());
        (ranks > processes && processes > 0).then(|| {
            Finding::new(
                "SYS006",
                Severity::Warning,
                format!("{name}: {processes} processes drive {ranks} GPUs"),
                "one process per GPU: `mpirun -np 8 ... -g 1`",
            )
        })
    });
    Outcome::from_findings(findings.collect())
}

/// Streams that get a hardware queue each.
const SYS007_QUEUES: usize = 4;

pub(crate) fn streams(evidence: &TimelineEvidence<'_>) -> Outcome {
    let total = &evidence.total;
    for overview in &evidence.overviews {
        let of_device = evidence.streams.iter().filter(|s| s.queue.device == overview.device);
        let streams = of_device.clone().count();
        let communicating = of_device.filter(|s| s.communication > 0).count();
        if streams <= SYS007_QUEUES || communicating == 0 {
            continue;
        }
        let hidden = percent(total.communicating - total.exposed_communication, total.communicating);
        let finding = Finding::new(
            "SYS007",
            Severity::Info,
            format!("GPU {} runs kernels on {streams} streams or queues", overview.device),
            "use few streams; with FSDP set `GPU_MAX_HW_QUEUES=2` and `TORCH_NCCL_HIGH_PRIORITY=1`",
        )
        .with_evidence("streams with communication", communicating)
        .with_evidence("communication hidden", format!("{hidden:.1} %"));
        return Outcome::Findings(vec![finding]);
    }
    Outcome::Silent
}

/// The variable.
const LCH006_VARIABLE: &str = "HIP_FORCE_DEV_KERNARG";
/// Maximum saving per launch, ns.
const LCH006_SAVED: i64 = 3_000;
/// Percent of the span spent in launches from which the variable matters.
const LCH006_MUCH: f64 = 1.0;

pub(crate) fn kernel_arguments(evidence: &TimelineEvidence<'_>) -> Outcome {
    let idle = |why| evidence.idle.by_reason.get(&why).copied().unwrap_or_default();
    let (launching, queued) = (idle(Why::Launching), idle(Why::Queued));
    let waiting = launching.ns + queued.ns;
    if percent(waiting, evidence.total.span) < LCH006_MUCH || evidence.is_capture() {
        return Outcome::Silent;
    }
    let Some(environment) = &evidence.timeline.environment else {
        return Outcome::needs("the environment of the process (rocpd databases record it)");
    };
    if environment.iter().any(|(name, value)| name == LCH006_VARIABLE && value == "1") {
        return Outcome::Silent;
    }
    let gaps = i64::try_from(launching.gaps + queued.gaps).unwrap_or(0);
    let saved = waiting.min(gaps.saturating_mul(LCH006_SAVED));
    let finding = Finding::new(
        "LCH006",
        Severity::Info,
        format!(
            "`{LCH006_VARIABLE}` is not set, and {gaps} gaps end with a kernel that was launched already"
        ),
        "set `HIP_FORCE_DEV_KERNARG=1`",
    )
    .with_evidence("idle with a launch under way", ms(waiting));
    Outcome::Findings(vec![lost(finding, evidence, saved)])
}

pub(crate) fn rotating_buffer(evidence: &TimelineEvidence<'_>) -> Outcome {
    let Some(it) = benchmarked(evidence) else { return Outcome::Silent };
    let Some(model) = evidence.model else { return needs_model(evidence) };
    let Some(cache) = model.memory_side_cache.bytes.value() else {
        return Outcome::needs("the size of the GPU's memory-side cache");
    };
    let Some(element) = it.element() else { return Outcome::needs("the type of the product") };
    let p = &it.product;
    let elements =
        p.batch.saturating_mul(p.m.saturating_mul(p.k) + p.k.saturating_mul(p.n) + p.m.saturating_mul(p.n));
    let bytes = element.bytes_of(elements);
    if bytes >= u64::from(cache) {
        return Outcome::Silent;
    }
    let share = percent(it.durations.total, evidence.gpu_time());
    let mib = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let finding = Finding::new("ENV005", 
            Severity::Warning,
            format!(
                "the product {} × {} × {} is called {} times with {} of operands, which stay in a cache of {}",
                p.m, p.n, p.k, it.durations.count, mib(bytes), mib(u64::from(cache))
            ),
            "rotate between sets of inputs larger than the cache (`--rotating 512`, `PYTORCH_TUNABLEOP_ROTATING_BUFFER_SIZE`)",
        )
        .with_evidence("share of the GPU's time", format!("{share:.1} %"));
    Outcome::Findings(vec![finding])
}
