//! SYS015: a process on the other socket than its GPU.

use crate::{Check, HostEvidence, Judged, Rule};
use std::collections::BTreeSet;
use system::Fact;
use system::command::{Command, Kind};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "SYS015",
    title: "a process runs on another NUMA node than its GPU",
    severity: Severity::Warning,
    page: include_str!("sys015.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let one_node = evidence.command.and_then(one_node);
    let mut judged = if one_node.is_some() { Vec::new() } else { of_gpus(evidence) };
    judged.extend(one_node);
    judged
}

/// Judges `numactl --cpunodebind=0` in front of several processes: the GPUs of a board are on two nodes.
fn one_node(command: &Command) -> Option<Judged> {
    const CHECK: &str = "numa-one-node";
    let stage = command.stage(Kind::Numactl)?;
    let node = stage.value(&["--cpunodebind", "-N"])?;
    let several = node.contains([',', '-', '+', '!']) || node == "all" || node.contains('$');
    let server = command.stage(Kind::VllmServe).or(command.stage(Kind::SglangServe));
    let parallel = server.and_then(|it| it.value(&["--tensor-parallel-size", "-tp", "--tp", "--tp-size"]));
    let parallel = parallel.and_then(|it| it.parse::<u64>().ok());
    let count = command.processes().or(parallel).filter(|it| *it > 1)?;
    (!several).then(|| {
        Judged::warn(CHECK, format!("{count} processes share NUMA node {node}"))
            .read("the command", format!("numactl --cpunodebind={node}"))
    })
}

fn of_gpus(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "gpu-numa";
    let machine = evidence.machine;
    if let Some(command) = evidence.command {
        let bound = command.stage(Kind::Numactl).is_some()
            || command
                .stage(Kind::Mpirun)
                .is_some_and(|it| it.value(&["--bind-to", "-bind-to"]) == Some("numa"));
        if bound {
            return vec![
                Judged::pass(CHECK, "the command binds its processes")
                    .read("the command", "numactl or --bind-to numa"),
            ];
        }
    }
    let gpus = machine.known_gpus();
    let mut nodes: BTreeSet<i64> = BTreeSet::new();
    for gpu in gpus {
        match &gpu.numa_node {
            Fact::Known { value, .. } if *value >= 0 => drop(nodes.insert(*value)),
            Fact::Known { .. } => {
                return vec![Judged::unknown(CHECK, format!("{}: numa_node is -1", gpu.name))];
            }
            Fact::Unknown { reason } => {
                return vec![Judged::unknown(CHECK, format!("{}: {reason}", gpu.name))];
            }
        }
    }
    if gpus.is_empty() {
        return vec![Judged::unknown(CHECK, machine.gpus.reason().unwrap_or("no GPU was found").to_owned())];
    }
    let (cpus, allowed) = match (&machine.numa_cpus, &machine.cpus_allowed) {
        (Fact::Known { value: cpus, .. }, Fact::Known { value: allowed, .. }) => (cpus, allowed),
        (Fact::Unknown { reason }, _) | (_, Fact::Unknown { reason }) => {
            return vec![Judged::unknown(CHECK, reason.clone())];
        }
    };
    let on: BTreeSet<i64> = cpus
        .iter()
        .filter(|(_, list)| list.iter().any(|cpu| allowed.contains(cpu)))
        .map(|(node, _)| *node)
        .collect();
    let text = |set: &BTreeSet<i64>| set.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let both = format!("GPUs on NUMA node {}, process on {}", text(&nodes), text(&on));
    vec![if nodes == on && nodes.len() == 1 {
        Judged::pass(CHECK, both.clone()).read_fact(&machine.cpus_allowed, both)
    } else if nodes.is_disjoint(&on) {
        Judged::fail(CHECK, both.clone()).read_fact(&machine.cpus_allowed, both)
    } else if on.is_subset(&nodes) && on.len() == 1 {
        Judged::unknown(CHECK, format!("{both}: which GPU the process uses is not known"))
    } else {
        Judged::unknown(CHECK, format!("{both}: this process is not bound; a job may be"))
    }]
}
