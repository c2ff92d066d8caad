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
    page: include_str!("com007.md"),
    checks: &[Check::Comm(check)],
    panels: &[],
};

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
