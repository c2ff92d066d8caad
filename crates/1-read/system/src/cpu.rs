//! CPUs: frequency policy, idle states, lists of CPUs.

use crate::{Fact, Tree};
use sorting::Sort;
use std::collections::BTreeMap;

const CPUS: &str = "sys/devices/system/cpu";
/// CPUs of a list that are spelled out: no machine has more.
const MOST_CPUS: u32 = 16_384;

/// An idle state of one CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdleState {
    /// CPU.
    pub cpu: u32,
    /// Number of the state; differs between machines for one name.
    pub state: u32,
    /// Name: `C2`.
    pub name: String,
    /// Whether it is switched off.
    pub disabled: bool,
}

/// CPUs of a list such as `0-3,8`.
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut out = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last >= MOST_CPUS {
            return None;
        }
        out.extend(first..=last);
    }
    out.in_order();
    out.dedup();
    Some(out)
}

fn numbered(tree: &Tree) -> Vec<u32> {
    let children = tree.children(CPUS);
    children.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect()
}

/// Frequency policy by CPU.
pub(crate) fn governors(tree: &Tree) -> Fact<BTreeMap<u32, String>> {
    let mut found = BTreeMap::new();
    let mut refused = None;
    for cpu in numbered(tree) {
        let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
        match tree.text(&path) {
            Fact::Known { value, .. } => {
                found.insert(cpu, value);
            }
            Fact::Unknown { reason } if tree.has(&path) => refused = Some(reason),
            Fact::Unknown { .. } => {}
        }
    }
    match refused {
        Some(reason) => Fact::unknown(reason),
        None if found.is_empty() => Fact::unknown(format!("/{CPUS}/cpu*/cpufreq: absent")),
        None => Fact::known(found, format!("/{CPUS}/cpu*/cpufreq/scaling_governor")),
    }
}

/// Idle states of all CPUs.
pub(crate) fn idle_states(tree: &Tree) -> Fact<Vec<IdleState>> {
    let mut found = Vec::new();
    for cpu in numbered(tree) {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for name in tree.children(&folder) {
            let Some(state) = name.strip_prefix("state").and_then(|it| it.parse().ok()) else { continue };
            let (title, disable) =
                (tree.text(&format!("{folder}/{name}/name")), tree.text(&format!("{folder}/{name}/disable")));
            match (title, disable) {
                (Fact::Known { value: title, .. }, Fact::Known { value, .. }) => {
                    found.push(IdleState { cpu, state, name: title, disabled: value != "0" });
                }
                (Fact::Unknown { reason }, _) | (_, Fact::Unknown { reason }) => {
                    return Fact::unknown(reason);
                }
            }
        }
    }
    if found.is_empty() {
        return Fact::unknown(format!("/{CPUS}/cpu*/cpuidle: absent"));
    }
    Fact::known(found, format!("/{CPUS}/cpu*/cpuidle/state*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        for (text, expected) in [
            ("0-3,8", Some(vec![0, 1, 2, 3, 8])),
            ("5\n", Some(vec![5])),
            ("", Some(vec![])),
            ("3-1", None),
            ("0-4294967295", None),
            ("a", None),
        ] {
            assert_eq!(cpu_list(text), expected, "{text:?}");
        }
    }
}
