//! GPUs of the compute driver's nodes.
//!
//! The driver numbers nodes of the CPU first, and messages do not say how many a machine has: two with two
//! sockets, four with NUMA nodes per quarter of a socket or with four APUs.

use super::FaultLog;
use system::fault::Message;

/// Numbers of CPU nodes, the most frequent first.
const USUAL: [u32; 2] = [2, 4];
const OTHERS: [u32; 2] = [1, 8];
/// GPUs of a machine, where they are not parted.
const MOST_GPUS: u32 = 8;

/// Numbers of CPU nodes that the nodes of the logs allow.
pub(super) struct Nodes {
    cpus: Vec<u32>,
    highest: u32,
}

impl Nodes {
    /// Of all messages.
    pub(super) fn of(logs: &[FaultLog]) -> Nodes {
        let messages = logs.iter().flat_map(|log| &log.messages);
        Nodes::of_numbers(&messages.filter_map(|it| node(&it.message)).collect::<Vec<u32>>())
    }

    fn of_numbers(nodes: &[u32]) -> Nodes {
        let lowest = nodes.iter().copied().min().unwrap_or(0);
        let highest = nodes.iter().copied().max().unwrap_or(0);
        let fits = |cpus: &u32| *cpus <= lowest && highest - cpus < MOST_GPUS;
        let mut cpus: Vec<u32> = USUAL.into_iter().filter(fits).collect();
        if cpus.is_empty() {
            cpus = OTHERS.into_iter().filter(fits).collect();
        }
        Nodes { cpus, highest }
    }

    /// Indices of HIP that a node may have, the most likely first.
    pub(super) fn gpus(&self, node: u32) -> Vec<u32> {
        self.cpus.iter().filter_map(|cpus| node.checked_sub(*cpus)).collect()
    }

    /// A node in words.
    pub(super) fn words(&self, node: u32) -> String {
        let gpu = |cpus: &u32| node.checked_sub(*cpus);
        let reading = match &self.cpus[..] {
            [only] if self.highest >= USUAL[0] + MOST_GPUS => gpu(only).map(|gpu| {
                format!("GPU {gpu} of HIP, as nodes up to {} mean {only} CPU nodes", self.highest)
            }),
            [only] => gpu(only).map(|gpu| {
                let noun = view::noun_of(*only as usize, "node");
                format!("GPU {gpu} of HIP on a machine of {only} CPU {noun}")
            }),
            [one, other] => gpu(one).zip(gpu(other)).map(|(first, second)| {
                format!("GPU {first} of HIP on a machine of {one} CPU nodes, GPU {second} on one of {other}")
            }),
            _ => None,
        };
        match reading {
            Some(reading) => format!("node {node} of the compute driver: {reading} (rocminfo has the nodes)"),
            None => format!("node {node} of the compute driver (rocminfo says which GPU)"),
        }
    }
}

/// The node that a message names.
fn node(message: &Message) -> Option<u32> {
    match message {
        Message::MemoryFault { node, .. }
        | Message::HardwareException { node, .. }
        | Message::MemoryInUse { node, .. } => Some(*node),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reading_is_impossible() {
        let none: &[u32] = &[];
        for (nodes, node, expected) in [
            (&[2][..], 2, &[0][..]),
            (&[8], 8, &[6, 4]),
            (&[4, 9, 11], 11, &[7]),
            (&[4, 9, 11], 4, &[0]),
            (&[3, 9], 9, &[7]),
            (&[1], 1, &[0]),
            (&[15], 15, &[7]),
            (&[0], 0, none),
            (&[2, 40], 40, none),
        ] {
            assert_eq!(Nodes::of_numbers(nodes).gpus(node), expected, "{nodes:?}");
        }
    }
}
