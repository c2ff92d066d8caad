//! Gathers the facts of a machine from its files.

use crate::{Document, Environment, Fact, Machine, Tree};
use crate::{boot_arguments, cpu, cpu_list, kfd, merge, pci, place};
use std::collections::BTreeMap;

impl Machine {
    /// Gathers the facts of a machine from its files and the output of its tools.
    pub fn read(tree: &Tree, documents: &[Document]) -> Machine {
        let mut machine = Machine::of_tree(tree);
        merge::add_documents(&mut machine, documents);
        machine
    }

    fn of_tree(tree: &Tree) -> Machine {
        let kfd = kfd::nodes(tree);
        let pci = pci::gpus(tree);
        let list = |path: &str| tree.text(path).parse("not a list of CPUs", |text| cpu_list(&text));
        Machine {
            name: tree.name().to_owned(),
            surroundings: place::surroundings(tree),
            kernel: tree.text("proc/version"),
            boot: tree.text("proc/cmdline").map(|text| boot_arguments(&text)),
            numa_balancing: tree.text("proc/sys/kernel/numa_balancing"),
            numad: numad(tree),
            huge_pages: tree
                .text("sys/kernel/mm/transparent_hugepage/enabled")
                .parse("no value in brackets", |text| in_brackets(&text)),
            smt: tree.text("sys/devices/system/cpu/smt/control"),
            governors: cpu::governors(tree),
            idle_states: cpu::idle_states(tree),
            cpu_model: cpu_field(tree, "model name").or(cpu_field(tree, "vendor_id")),
            cpus_present: list("sys/devices/system/cpu/present"),
            cpus_online: list("sys/devices/system/cpu/online"),
            cpus_allowed: allowed(tree),
            numa_cpus: numa_cpus(tree),
            has_sys: tree.has_below("sys"),
            driver: driver(tree),
            bios: dmi(tree, "bios_version"),
            product: dmi(tree, "product_name"),
            rocm: tree.text("opt/rocm/.info/version").or(tree.text("opt/rocm/.info/version-dev")),
            system: Fact::unknown("no report of collect_env given"),
            versions: Vec::new(),
            gpus: merge::gpus_of_tree(&kfd, &pci),
            pci: pci.map(|gpus| gpus.len() as u64),
            kfd,
            pairs: Fact::unknown("no `amd-smi topology` or `rocm-smi --showtopo` given"),
            acs: Fact::unknown("no `lspci -vvv` given"),
            docker: Vec::new(),
            environment: environment(tree),
            server_log: None,
            inductor: None,
            sources: if tree.is_empty() { Vec::new() } else { vec!["/proc and /sys".to_owned()] },
        }
    }
}

fn in_brackets(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn dmi(tree: &Tree, field: &str) -> Fact<String> {
    tree.text(&format!("sys/devices/virtual/dmi/id/{field}"))
        .or(tree.text(&format!("sys/class/dmi/id/{field}")))
}

fn cpu_field(tree: &Tree, field: &str) -> Fact<String> {
    tree.text("proc/cpuinfo").parse(&format!("no `{field}`"), |text| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim() == field).map(|(_, value)| value.trim().to_owned())
    })
}

fn driver(tree: &Tree) -> Fact<String> {
    let version = tree.text("sys/module/amdgpu/version");
    if version.get().is_some() {
        return version;
    }
    // The driver of the kernel itself has no version file.
    if tree.has_below("sys/module/amdgpu") {
        return Fact::known("in the kernel".to_owned(), "/sys/module/amdgpu");
    }
    if !tree.has_below("sys") {
        return Fact::unknown("/sys: absent");
    }
    version
}

fn numad(tree: &Tree) -> Fact<bool> {
    let names: Vec<String> =
        tree.children("proc").into_iter().filter(|name| name.parse::<u32>().is_ok()).collect();
    let mut seen = 0;
    for pid in names {
        if let Some(comm) = tree.text(&format!("proc/{pid}/comm")).get() {
            seen += 1;
            if comm == "numad" {
                return Fact::known(true, format!("/proc/{pid}/comm"));
            }
        }
    }
    // With `hidepid` or a PID namespace, process 1 of others does not show.
    match seen {
        0 => Fact::unknown("/proc/*/comm: absent"),
        1..=3 => Fact::unknown(format!(
            "/proc/*/comm: only {seen} processes are visible (hidepid, or a PID namespace)"
        )),
        _ => Fact::known(false, format!("/proc/*/comm of {seen} processes")),
    }
}

fn allowed(tree: &Tree) -> Fact<Vec<u32>> {
    tree.text("proc/self/status").parse("no `Cpus_allowed_list`", |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        cpu_list(line)
    })
}

fn numa_cpus(tree: &Tree) -> Fact<BTreeMap<i64, Vec<u32>>> {
    const NODES: &str = "sys/devices/system/node";
    let children = tree.children(NODES);
    let nodes: BTreeMap<i64, Vec<u32>> = children
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            Some((number, cpu_list(tree.text(&format!("{NODES}/{name}/cpulist")).get()?)?))
        })
        .collect();
    if nodes.is_empty() {
        Fact::unknown(format!("/{NODES}: absent"))
    } else {
        Fact::known(nodes, format!("/{NODES}/node*/cpulist"))
    }
}

fn environment(tree: &Tree) -> Fact<Environment> {
    let own = tree.bytes("environment");
    match own {
        Fact::Known { value, .. } => Fact::known(Environment::read(value), "the captured environment"),
        Fact::Unknown { .. } => Fact::unknown("environment not given"),
    }
}
