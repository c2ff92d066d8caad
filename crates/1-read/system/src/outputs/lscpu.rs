//! `lscpu`: the CPU's model and the CPUs of each NUMA node.

use crate::cpu_list;
use std::collections::BTreeMap;

/// Facts of a CPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lscpu {
    /// Model.
    pub model: Option<String>,
    /// CPUs in use.
    pub online: Option<Vec<u32>>,
    /// CPUs of each NUMA node.
    pub numa: BTreeMap<i64, Vec<u32>>,
}

/// Whether a text is an output of `lscpu`.
pub(crate) fn is(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    has("Model name:") && has("CPU(s):") && (has("Thread(s) per core:") || has("Architecture:"))
}

/// Reads `key: value` lines.
pub(crate) fn read(text: &str) -> Lscpu {
    let mut cpu = Lscpu::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "Model name" => cpu.model = cpu.model.take().or_else(|| Some(value.to_owned())),
            "On-line CPU(s) list" => cpu.online = cpu_list(value),
            _ => {
                let node = key.strip_prefix("NUMA node").and_then(|it| it.strip_suffix(" CPU(s)"));
                if let Some((node, cpus)) = node.and_then(|it| it.parse().ok()).zip(cpu_list(value)) {
                    cpu.numa.insert(node, cpus);
                }
            }
        }
    }
    cpu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_nodes() {
        let text = "Architecture: x86_64\nCPU(s):   4\nOn-line CPU(s) list: 0-3\nModel name:  EPYC\nNUMA node0 CPU(s): 0,1\nNUMA node1 CPU(s): 2-3\n";
        assert!(is(text) && !is("Model name: x\n"));
        let cpu = read(text);
        assert_eq!(cpu.model.as_deref(), Some("EPYC"));
        assert_eq!(cpu.online, Some(vec![0, 1, 2, 3]));
        assert_eq!(cpu.numa, BTreeMap::from([(0, vec![0, 1]), (1, vec![2, 3])]));
    }
}
