//! SYS011: GPUs or links that are not there.

use crate::device_names::sold_as;
use crate::{Check, HostEvidence, Judged, Rule};
use std::collections::{BTreeMap, BTreeSet};
use system::{Fact, LinkKind, Machine};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS011",
    title: "the driver, a GPU or an XGMI link is missing",
    severity: Severity::Severe,
    page: include_str!("sys011.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let machine = evidence.machine;
    vec![driver(machine), count(machine), links(machine)]
}

fn driver(machine: &Machine) -> Judged {
    const CHECK: &str = "driver-loaded";
    let fact = &machine.driver;
    match fact {
        Fact::Known { value, .. } => Judged::pass(CHECK, format!("amdgpu {value}")).read_fact(fact, value),
        Fact::Unknown { reason } if machine.surroundings.container.is_some() || !machine.has_sys => {
            Judged::unknown(CHECK, reason.clone())
        }
        Fact::Unknown { .. } if machine.kfd.get().is_some() => {
            Judged::pass(CHECK, "its compute nodes are there")
        }
        Fact::Unknown { reason } => {
            let gpus = machine.pci.get().copied().unwrap_or(0);
            if gpus > 0 {
                Judged::fail(CHECK, format!("not loaded, and the PCI bus has {gpus} GPUs of AMD"))
                    .read("/sys/module/amdgpu", "absent")
            } else {
                Judged::unknown(CHECK, reason.clone())
            }
        }
    }
}

/// Nodes that links lead to and that are not there.
fn dangling(machine: &Machine) -> BTreeSet<u32> {
    let nodes = machine.kfd.get().map_or(&[][..], Vec::as_slice);
    let there: BTreeSet<u32> = nodes.iter().map(|node| node.node).collect();
    let ends = nodes.iter().flat_map(|node| node.links.iter().map(|link| link.to));
    ends.filter(|node| !there.contains(node)).collect()
}

fn listed(numbers: &BTreeSet<u32>) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    numbers.join(", ")
}

/// True for products that come on a board of eight.
fn is_of_board(product: &str) -> bool {
    arch::Model::by_name(sold_as(&product.replace(' ', "_"))).is_some_and(|it| it.xcds.value >= 4)
}

/// Outputs of tools list what the driver shows them.
fn of_tools(machine: &Machine, gpus: &[system::Gpu], from: String) -> Judged {
    const CHECK: &str = "gpu-count";
    let boards = gpus.len();
    let partitions: u32 = gpus.iter().map(|gpu| gpu.partitions).sum();
    if boards == 0 {
        return Judged::unknown(CHECK, machine.kfd.reason().unwrap_or("no GPU was found").to_owned());
    }
    let parts =
        if partitions as usize > boards { format!(" in {partitions} partitions") } else { String::new() };
    let text = format!("{boards} GPUs{parts}");
    // A container's part of a board lists as well as a whole one of that size.
    let whole = boards == 8
        || (boards == 4 && gpus.iter().all(|gpu| gpu.product.get().is_some_and(|it| it.contains("MI300A"))));
    match boards {
        _ if whole => Judged::pass(CHECK, text.clone()).read(from, text),
        1 | 2 | 4 => {
            Judged::unknown(CHECK, format!("{text} listed; whether the board has more is not in this output"))
        }
        // Cards in slots come in any number.
        _ if gpus.iter().any(|gpu| gpu.product.get().is_some_and(|it| is_of_board(it))) => {
            Judged::warn(CHECK, format!("{text}: not a whole board")).read(from, text)
        }
        _ => Judged::unknown(
            CHECK,
            format!(
                "{text} listed; whether they are cards in slots or a part of a board is not in this output"
            ),
        ),
    }
}

fn count(machine: &Machine) -> Judged {
    const CHECK: &str = "gpu-count";
    let gpus = match &machine.gpus {
        Fact::Known { value, .. } => value,
        Fact::Unknown { reason } => return Judged::unknown(CHECK, reason.clone()),
    };
    let from = machine.gpus.from().unwrap_or_default().to_owned();
    let Some(nodes) = machine.kfd.get() else {
        return of_tools(machine, gpus, from);
    };
    let unreadable = nodes.iter().filter(|node| node.properties.is_err()).count();
    if unreadable > 0 {
        return Judged::unknown(
            CHECK,
            format!(
                "properties of {unreadable} of {} nodes cannot be read: hidden by a container",
                nodes.len()
            ),
        );
    }
    let in_driver = nodes.iter().filter(|node| node.is_gpu()).count();
    let lost: Vec<&str> =
        gpus.iter().filter(|gpu| gpu.node.is_none() && gpu.on_pci_bus).map(|gpu| gpu.name.as_str()).collect();
    let missing = dangling(machine);
    let judged = if !lost.is_empty() {
        let nodes = if missing.is_empty() {
            String::new()
        } else {
            format!(" (links lead to node {}, which is not there)", listed(&missing))
        };
        Judged::fail(
            CHECK,
            format!(
                "{in_driver} GPUs in the compute driver, {} on the PCI bus: {} missing{nodes}",
                gpus.len(),
                lost.join(", ")
            ),
        )
    } else if !missing.is_empty() {
        Judged::warn(
            CHECK,
            format!(
                "{in_driver} GPUs visible of {}: links lead to node {}, hidden by a container or by device selection",
                in_driver + missing.len(),
                listed(&missing)
            ),
        )
    } else if in_driver == 0 {
        Judged::fail(CHECK, "no GPU in the compute driver")
    } else {
        Judged::pass(CHECK, format!("{in_driver} GPUs"))
    };
    judged.read(from, format!("{in_driver} in the compute driver"))
}

fn links(machine: &Machine) -> Judged {
    const CHECK: &str = "xgmi-all";
    if let Fact::Known { value: pairs, from } = &machine.pairs {
        let bad: BTreeSet<(&str, &str, String)> = pairs
            .iter()
            .filter(|pair| pair.kind != "XGMI" || pair.hops.is_some_and(|hops| hops != 1))
            .map(|pair| {
                let (a, b) =
                    if pair.from <= pair.to { (&pair.from, &pair.to) } else { (&pair.to, &pair.from) };
                let hops = pair.hops.map_or_else(String::new, |hops| format!(", {hops} hops"));
                (a.as_str(), b.as_str(), format!("{}{hops}", pair.kind))
            })
            .collect();
        let count = pairs.len() / 2;
        if bad.is_empty() {
            return Judged::pass(CHECK, format!("{count} pairs by XGMI")).read(from, "XGMI, one hop");
        }
        let text: Vec<String> = bad.iter().map(|(a, b, kind)| format!("{a} and {b}: {kind}")).collect();
        return Judged::fail(CHECK, text.join("; ")).read(from, format!("{} of {count} pairs", bad.len()));
    }
    let Some(nodes) = machine.kfd.get() else {
        return Judged::unknown(CHECK, machine.pairs.reason().unwrap_or_default().to_owned());
    };
    let gpus: Vec<_> = nodes.iter().filter(|node| node.is_gpu()).collect();
    if gpus.len() < 2 {
        return Judged::unknown(CHECK, format!("{} GPUs: there is no pair", gpus.len()));
    }
    let missing = dangling(machine);
    if !missing.is_empty() {
        let lost = machine.known_gpus().iter().any(|gpu| gpu.node.is_none() && gpu.on_pci_bus);
        let text = format!("links lead to node {}, which is not there", listed(&missing));
        return if lost {
            Judged::fail(CHECK, text)
        } else {
            Judged::unknown(CHECK, format!("{text}: hidden by a container"))
        };
    }
    let mut without: BTreeMap<(u32, u32), &str> = BTreeMap::new();
    for a in &gpus {
        for b in gpus.iter().filter(|b| b.node > a.node) {
            let link = a.links.iter().find(|link| link.to == b.node && link.kind == LinkKind::Xgmi);
            let why = match link {
                None => "no XGMI",
                Some(link) if link.weight.is_some_and(|weight| weight != 15) => "more than one hop",
                Some(_) => continue,
            };
            without.insert((a.node, b.node), why);
        }
    }
    let from = machine.kfd.from().unwrap_or_default();
    let pairs = gpus.len() * (gpus.len() - 1) / 2;
    if without.is_empty() {
        return Judged::pass(CHECK, format!("{} links of XGMI per GPU", gpus.len() - 1))
            .read(from, format!("{pairs} pairs by XGMI"));
    }
    let text: Vec<String> = without.iter().map(|((a, b), why)| format!("nodes {a} and {b}: {why}")).collect();
    Judged::fail(CHECK, text.join("; ")).read(from, format!("{} of {pairs} pairs", without.len()))
}
