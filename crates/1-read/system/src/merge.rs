//! GPUs and facts of several sources as one machine.
//!
//! The PCI address is the identity of a GPU; the numbers of tools only lead to it.

use crate::gpu::{Gpu, NOT_GIVEN};
use crate::machine::Machine;
use crate::recognize::{Contents, Document};
use crate::{CollectEnv, Environment, Fact, KfdNode, Lscpu};
use std::collections::BTreeMap;

/// GPUs that the compute driver and the PCI bus show: in the driver's order, then those only the bus has.
pub(crate) fn gpus_of_tree(kfd: &Fact<Vec<KfdNode>>, pci: &Fact<Vec<Gpu>>) -> Fact<Vec<Gpu>> {
    let from: Vec<&str> = [kfd.from(), pci.from()].into_iter().flatten().collect();
    if from.is_empty() {
        let reasons: Vec<&str> = [kfd.reason(), pci.reason()].into_iter().flatten().collect();
        return Fact::unknown(reasons.join("; "));
    }
    let mut gpus: Vec<Gpu> = Vec::new();
    for node in kfd.get().into_iter().flatten().filter(|node| node.is_gpu()) {
        let gpu = of_node(node);
        match gpus.iter_mut().find(|it| it.bdf.is_some() && it.bdf == gpu.bdf) {
            // Partitions are separate nodes; their addresses differ in the function only.
            Some(board) => board.partitions += 1,
            None => gpus.push(gpu),
        }
    }
    for seen in pci.get().into_iter().flatten() {
        match gpus.iter_mut().find(|it| it.bdf == seen.bdf) {
            Some(gpu) => fill(gpu, seen.clone()),
            None => gpus.push(seen.clone()),
        }
    }
    Fact::known(gpus, from.join(" and "))
}

fn of_node(node: &KfdNode) -> Gpu {
    let from = format!("/sys/class/kfd/kfd/topology/nodes/{}/properties", node.node);
    let bdf = node.bdf();
    let mut gpu = Gpu::new(bdf.clone().unwrap_or_else(|| format!("node {}", node.node)));
    let known =
        |it: Option<u64>| it.map_or_else(|| Fact::unknown(NOT_GIVEN), |it| Fact::known(it, from.clone()));
    gpu.bdf = bdf;
    gpu.node = Some(node.node);
    gpu.compute_units = known(node.compute_units());
    gpu.mec_firmware = known(node.property("fw_version").filter(|it| *it > 0));
    if let Some(target) = node.target() {
        gpu.target = Fact::known(target, from.clone());
    }
    gpu
}

/// Fills unknown fields of a GPU from another reading of it.
fn fill(gpu: &mut Gpu, other: Gpu) {
    gpu.bdf = gpu.bdf.take().or(other.bdf);
    gpu.index = gpu.index.or(other.index);
    gpu.node = gpu.node.or(other.node);
    gpu.on_pci_bus |= other.on_pci_bus;
    gpu.product.fill(other.product);
    gpu.target.fill(other.target);
    gpu.compute_units.fill(other.compute_units);
    gpu.device_id.fill(other.device_id);
    gpu.link.speed.fill(other.link.speed);
    gpu.link.width.fill(other.link.width);
    gpu.link.max_speed.fill(other.link.max_speed);
    gpu.link.max_width.fill(other.link.max_width);
    gpu.replays.fill(other.replays);
    gpu.compute_partition.fill(other.compute_partition);
    gpu.memory_partition.fill(other.memory_partition);
    gpu.perf_level.fill(other.perf_level);
    gpu.max_clock_mhz.fill(other.max_clock_mhz);
    gpu.clock_mhz.fill(other.clock_mhz);
    gpu.busy_percent.fill(other.busy_percent);
    gpu.numa_node.fill(other.numa_node);
    gpu.power_cap_w.fill(other.power_cap_w);
    gpu.power_cap_max_w.fill(other.power_cap_max_w);
    gpu.throttled_by.fill(other.throttled_by);
    gpu.hotspot_c.fill(other.hotspot_c);
    gpu.ecc_correctable.fill(other.ecc_correctable);
    gpu.ecc_uncorrectable.fill(other.ecc_uncorrectable);
    gpu.retired_pages.fill(other.retired_pages);
    gpu.mec_firmware.fill(other.mec_firmware);
}

/// Adds what documents say.
pub(crate) fn add_documents(machine: &mut Machine, documents: &[Document]) {
    // Which address has which number, of all documents: one may have the number only.
    let addresses: BTreeMap<u32, String> = documents
        .iter()
        .flat_map(|document| match &document.contents {
            Contents::Gpus { gpus, .. } => gpus.as_slice(),
            _ => &[],
        })
        .filter_map(|gpu| Some((gpu.index?, gpu.bdf.clone()?)))
        .collect();
    for document in documents {
        add(machine, document, &addresses);
        machine.sources.push(document.kind.to_owned());
    }
    if machine.name.is_empty() {
        machine.name = documents.first().map_or_else(String::new, |it| it.name.clone());
    }
}

fn add(machine: &mut Machine, document: &Document, addresses: &BTreeMap<u32, String>) {
    let from = format!("{} ({})", document.name, document.kind);
    match &document.contents {
        Contents::Gpus { gpus, pairs } => {
            if !gpus.is_empty() {
                add_gpus(machine, gpus, &from, addresses);
            }
            if !pairs.is_empty() {
                machine.pairs.fill(Fact::known(pairs.clone(), from));
            }
        }
        Contents::Version { rocm } => machine.rocm.fill(Fact::known(rocm.clone(), from)),
        Contents::Pci { gpus, acs } => {
            if !gpus.is_empty() {
                add_gpus(machine, gpus, &from, addresses);
            }
            machine.acs = match acs {
                Ok(ports) => Fact::known(ports.clone(), from),
                Err(reason) => Fact::unknown(format!("{from}: {reason}")),
            };
        }
        Contents::Docker(containers) => machine.docker.extend(containers.iter().cloned()),
        Contents::Environment(environment) => {
            let mut all = machine.environment.get().cloned().unwrap_or_else(|| Environment::read(b""));
            all.add(environment);
            machine.environment = Fact::known(all, document.name.clone());
        }
        Contents::Inductor(code) => match &mut machine.inductor {
            Some(own) => own.add(code),
            None => machine.inductor = Some(code.clone()),
        },
        Contents::Collected(report) => add_report(machine, report, &from, &document.name, addresses),
        Contents::Cpu(cpu) => add_cpu(machine, cpu, &from),
        Contents::ServerLog(log) => machine.server_log = Some(log.clone()),
        Contents::Boot(arguments) => machine.boot.fill(Fact::known(arguments.clone(), from)),
    }
}

fn add_report(
    machine: &mut Machine,
    report: &CollectEnv,
    from: &str,
    name: &str,
    addresses: &BTreeMap<u32, String>,
) {
    let known =
        |it: &Option<String>| it.clone().map_or_else(|| Fact::unknown(NOT_GIVEN), |it| Fact::known(it, from));
    if !report.gpus.is_empty() {
        add_gpus(machine, &report.gpus, from, addresses);
    }
    if !report.pairs.is_empty() {
        machine.pairs.fill(Fact::known(report.pairs.clone(), from));
    }
    add_cpu(machine, &report.cpu, from);
    machine.rocm.fill(known(&report.rocm));
    machine.system.fill(known(&report.system));
    machine.versions.extend(report.versions.iter().cloned());
    if let Some(environment) = &report.environment {
        let mut all = machine.environment.get().cloned().unwrap_or_default();
        all.add(environment);
        machine.environment = Fact::known(all, name);
    }
}

fn add_cpu(machine: &mut Machine, cpu: &Lscpu, from: &str) {
    if let Some(model) = &cpu.model {
        machine.cpu_model.fill(Fact::known(model.clone(), from));
    }
    if let Some(online) = &cpu.online {
        machine.cpus_online.fill(Fact::known(online.clone(), from));
    }
    if !cpu.numa.is_empty() {
        machine.numa_cpus.fill(Fact::known(cpu.numa.clone(), from));
    }
}

fn add_gpus(machine: &mut Machine, gpus: &[Gpu], from: &str, addresses: &BTreeMap<u32, String>) {
    let (mut all, sources) = match std::mem::replace(&mut machine.gpus, Fact::unknown("")) {
        Fact::Known { value, from } => (value, from),
        Fact::Unknown { .. } => (Vec::new(), String::new()),
    };
    for gpu in gpus {
        let bdf = gpu.bdf.clone().or_else(|| addresses.get(&gpu.index?).cloned());
        let known = all.iter_mut().find(|it| match (&it.bdf, &bdf) {
            (Some(a), Some(b)) => a == b,
            // Each process of a job may call its own GPU 0.
            _ if it.node.is_some() && gpu.node.is_some() => it.node == gpu.node,
            _ => it.index.is_some() && it.index == gpu.index,
        });
        match known {
            Some(it) => {
                let partitions = gpu.partitions;
                fill(it, gpu.clone());
                it.partitions = it.partitions.max(partitions);
            }
            None => {
                let mut gpu = gpu.clone();
                if let Some(node) = gpu.node.filter(|_| all.iter().any(|it| it.name == gpu.name)) {
                    gpu.name = format!("{} of node {node}", gpu.name);
                }
                if let Some(bdf) = bdf {
                    gpu.name.clone_from(&bdf);
                    gpu.bdf = Some(bdf);
                }
                all.push(gpu);
            }
        }
    }
    let from = if sources.is_empty() { from.to_owned() } else { format!("{sources} and {from}") };
    machine.gpus = Fact::known(all, from);
}
