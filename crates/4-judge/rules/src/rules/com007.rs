//! COM007: few channels.
//!
//! Channels are the workgroups that move data.

use crate::comm::CommEvidence;
use crate::{Check, Outcome, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "COM007",
    title: "few channels",
    severity: Severity::Info,
    page: PAGE,
    checks: &[Check::Comm(check)],
    panels: &[],
};

const PAGE: &str = r"## What it does
Fires when a debug log shows fewer than 16 channels between the GPUs of a node, or when `NCCL_MIN_NCHANNELS` is not set on a node with eight GPUs.

## Why it is slow
Each channel is a workgroup that moves data over a ring of links. With few of them a collective that runs beside computation, on
whatever compute units are free, cannot fill the links.

## Evidence
Channels of the communicator, and the setting.

## What to do
For end-to-end training and inference set `NCCL_MIN_NCHANNELS=112`. rccl-tests alone needs it less.

## Source
The tuning guide on RCCL: `NCCL_MIN_NCHANNELS=112` for end-to-end workloads on eight GPUs.
";

/// Channels that fill the links of a board, and the variable that requests more.
const CHANNELS: u64 = 16;
const VARIABLE: &str = "NCCL_MIN_NCHANNELS";

fn check(evidence: &CommEvidence<'_>) -> Outcome {
    let findings = evidence.logs().filter_map(|(name, log)| {
        let set = log.settings.get(VARIABLE);
        let few = log.channels > 0 && log.channels < CHANNELS;
        if set.is_some() && !few || log.channels == 0 || log.ranks < 8 {
            return None;
        }
        let finding = RULE
            .finding(
                if few { Severity::Warning } else { Severity::Info },
                format!(
                    "{name}: {} channels, and `{VARIABLE}` is {}",
                    log.channels,
                    set.map_or_else(|| "not set".to_owned(), Clone::clone)
                ),
                "set `NCCL_MIN_NCHANNELS=112` for end-to-end workloads",
            )
            .with_evidence("channels", log.channels);
        Some(finding)
    });
    Outcome::from_findings(findings.collect())
}
