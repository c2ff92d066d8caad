//! Logs of `NCCL_DEBUG`, which RCCL writes too.

use std::collections::{BTreeMap, BTreeSet};

/// A warning, counted over ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Its text.
    pub text: String,
    /// Number of occurrences.
    pub count: u64,
    /// Line of the first, 1-based.
    pub line: u32,
    /// Host of the first.
    pub host: String,
}

/// Channels by how they reach the peer.
pub type Channels = BTreeMap<String, u64>;

/// Facts in a log.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CommLog {
    /// Lines of the library.
    pub lines: u64,
    /// RCCL's or NCCL's version line.
    pub version: Option<String>,
    /// Hosts.
    pub hosts: BTreeSet<String>,
    /// Ranks that began to initialise.
    pub started: BTreeSet<u64>,
    /// Ranks of the communicator.
    pub ranks: u64,
    /// Communicators of ranks that were completed.
    pub completed: u64,
    /// Connections of channels by transport: `P2P/IPC`, `SHM`, `NET/IB`.
    pub connections: Channels,
    /// Channels of the communicator.
    pub channels: u64,
    /// The network: `IB`, `Socket`.
    pub networks: BTreeSet<String>,
    /// Settings from the environment.
    pub settings: BTreeMap<String, String>,
    /// Calls of collectives by name.
    pub calls: BTreeMap<String, u64>,
    /// Protocols and algorithms in use, where the log has them: `Ring/Simple`.
    pub protocols: BTreeMap<String, u64>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Names of collectives as the log begins its call lines.
const CALLS: [&str; 12] = [
    "AllReduce:",
    "AllGather:",
    "ReduceScatter:",
    "Broadcast:",
    "Reduce:",
    "AllToAll:",
    "AllToAllv:",
    "Gather:",
    "Scatter:",
    "Send:",
    "Recv:",
    "AllToAllpair:",
];

impl CommLog {
    /// Reads the lines of the library, anywhere in the text.
    pub(super) fn read(text: &str) -> CommLog {
        let mut log = CommLog::default();
        for (at, line) in text.lines().enumerate() {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            if line.starts_with("RCCL version") || line.starts_with("NCCL version") {
                log.version.get_or_insert_with(|| line.trim().to_owned());
                continue;
            }
            let (warning, head, body) = match (line.split_once(" NCCL INFO "), line.split_once(" NCCL WARN "))
            {
                (Some((head, body)), _) => (false, head, body),
                (None, Some((head, body))) => (true, head, body),
                (None, None) => continue,
            };
            // A date in brackets may come first.
            let head =
                head.rsplit_once("] ").filter(|_| head.starts_with('[')).map_or(head, |(_, rest)| rest);
            let Some((host, rest)) = head.trim().split_once(':') else { continue };
            // Documents show the form of these lines with words in place of the process.
            if !rest.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            log.lines += 1;
            log.hosts.insert(host.to_owned());
            if warning { log.warning(body.trim(), number, host) } else { log.info(body.trim()) }
        }
        log
    }

    fn warning(&mut self, text: &str, line: u32, host: &str) {
        if let Some(known) = self.warnings.iter_mut().find(|it| it.text == text) {
            known.count += 1;
        } else if self.warnings.len() < 1000 {
            // A log of thousands of different warnings says no more by the last.
            let text = text.to_owned();
            self.warnings.push(Warning { text, count: 1, line, host: host.to_owned() });
        }
    }

    fn info(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| word.eq_ignore_ascii_case(name))?;
            words.get(at + 1).copied()
        };
        let count = |name: &str| after(name).and_then(|n| n.parse::<u64>().ok());
        if text.ends_with("Init START") {
            self.started.extend(count("rank"));
            self.ranks = self.ranks.max(count("nranks").unwrap_or(0));
        } else if text.contains("Init COMPLETE") {
            self.completed += 1;
            self.started.extend(count("rank"));
            self.ranks = self.ranks.max(count("nranks").unwrap_or(0));
        } else if let Some((name, value)) = text.split_once(" set by environment to ") {
            let value = value.trim().trim_end_matches('.');
            self.settings.insert(name.trim().to_owned(), value.to_owned());
        } else if let Some(network) = text.strip_prefix("Using network ") {
            self.networks.insert(network.trim().to_owned());
        } else if text.starts_with("Channel ") {
            match text.split_once(" via ") {
                Some((_, way)) => {
                    let way = way.split_whitespace().next().unwrap_or("");
                    // `NET/IB/1/GDRDMA` names the card, `P2P/IPC/read` the direction.
                    let parts: Vec<&str> = way.split('/').filter(|p| p.parse::<u32>().is_err()).collect();
                    *self.connections.entry(parts.join("/")).or_default() += 1;
                }
                // `Channel 00/16 : 0 1 2 3` counts the channels.
                None => {
                    let total =
                        words.get(1).and_then(|w| w.split_once('/')).and_then(|(_, n)| n.parse().ok());
                    self.channels = self.channels.max(total.unwrap_or(0));
                }
            }
        } else if let Some(name) = words.first().filter(|word| CALLS.contains(word)) {
            *self.calls.entry(name.trim_end_matches(':').to_owned()).or_default() += 1;
        } else if let (Some(algorithm), Some(protocol)) = (after("algorithm"), after("protocol")) {
            *self.protocols.entry(format!("{algorithm}/{protocol}")).or_default() += 1;
        }
    }

    /// Ranks of the communicator that the log never names.
    pub fn missing_ranks(&self) -> Vec<u64> {
        if self.ranks > 100_000 {
            return Vec::new();
        }
        (0..self.ranks).filter(|rank| !self.started.contains(rank)).collect()
    }
}
