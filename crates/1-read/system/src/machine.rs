//! One machine, and how its facts are gathered.

use crate::outputs::{docker::DockerContainer, vllm::ServerLog};
use crate::{BootArguments, Document, Environment, Fact, IdleState, KfdNode, Surroundings, Tree};
use crate::{boot_arguments, cpu, cpu_list, kfd, merge, pci, place};
use std::collections::BTreeMap;

/// Why a field of a GPU is not known where no source named it.
pub(crate) const NOT_GIVEN: &str = "not given";

/// A PCIe link of a GPU to its host.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// GT/s now.
    pub speed: Fact<f64>,
    /// Lanes now.
    pub width: Fact<f64>,
    /// GT/s at most.
    pub max_speed: Fact<f64>,
    /// Lanes at most.
    pub max_width: Fact<f64>,
}

/// One GPU: a board, however many partitions it is divided into.
#[derive(Clone, PartialEq, Debug)]
pub struct Gpu {
    /// How it is called: its PCI address, or `GPU 3`.
    pub name: String,
    /// PCI address.
    pub bdf: Option<String>,
    /// Number in the tools of AMD.
    pub index: Option<u32>,
    /// Node of the compute driver; what runtime messages call `node-N`.
    pub node: Option<u32>,
    /// Whether the PCI bus shows it.
    pub on_pci_bus: bool,
    /// Entries with this PCI address: partitions in CPX and DPX mode.
    pub partitions: u32,
    /// Product: `AMD Instinct MI300X`.
    pub product: Fact<String>,
    /// Target in LLVM's spelling.
    pub target: Fact<String>,
    /// Compute units, of all partitions.
    pub compute_units: Fact<u64>,
    /// PCI device number: `0x74a1`.
    pub device_id: Fact<String>,
    /// Link to the host.
    pub link: Link,
    /// Link replays since the driver was loaded.
    pub replays: Fact<u64>,
    /// `SPX`, `CPX`, ...
    pub compute_partition: Fact<String>,
    /// `NPS1`, `NPS4`, ...
    pub memory_partition: Fact<String>,
    /// `auto`, `determinism`, `high`, ...; lower case.
    pub perf_level: Fact<String>,
    /// Highest clock allowed, MHz.
    pub max_clock_mhz: Fact<f64>,
    /// Clock now, MHz.
    pub clock_mhz: Fact<f64>,
    /// NUMA node of its host.
    pub numa_node: Fact<i64>,
    /// Power limit in force, W.
    pub power_cap_w: Fact<f64>,
    /// Highest power limit, W.
    pub power_cap_max_w: Fact<f64>,
    /// Limits that hold it back now; empty when none does.
    pub throttled_by: Fact<Vec<String>>,
    /// Temperature of the hottest place, degrees Celsius.
    pub hotspot_c: Fact<f64>,
    /// Memory errors corrected.
    pub ecc_correctable: Fact<u64>,
    /// Memory errors not corrected.
    pub ecc_uncorrectable: Fact<u64>,
    /// Version of the firmware of the compute queues (MEC).
    pub mec_firmware: Fact<u64>,
}

impl Gpu {
    /// A GPU of which nothing is known.
    pub fn new(name: impl Into<String>) -> Gpu {
        fn none<T>() -> Fact<T> {
            Fact::unknown(NOT_GIVEN)
        }
        Gpu {
            name: name.into(),
            bdf: None,
            index: None,
            node: None,
            on_pci_bus: false,
            partitions: 1,
            product: none(),
            target: none(),
            compute_units: none(),
            device_id: none(),
            link: Link { speed: none(), width: none(), max_speed: none(), max_width: none() },
            replays: none(),
            compute_partition: none(),
            memory_partition: none(),
            perf_level: none(),
            max_clock_mhz: none(),
            clock_mhz: none(),
            numa_node: none(),
            power_cap_w: none(),
            power_cap_max_w: none(),
            throttled_by: none(),
            hotspot_c: none(),
            ecc_correctable: none(),
            ecc_uncorrectable: none(),
            mec_firmware: none(),
        }
    }
}

/// The link between two GPUs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairLink {
    /// GPU, as named in the source.
    pub from: String,
    /// The other one.
    pub to: String,
    /// `XGMI` or `PCIE`.
    pub kind: String,
    /// Hops, where given.
    pub hops: Option<u64>,
}

/// PCIe access control of one port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcsPort {
    /// PCI address; `None` where only the lines with `ACSCtl` were kept.
    pub bdf: Option<String>,
    /// Whether requests are checked against their source (`SrcValid+`), which sends peer traffic through the root.
    pub source_validation: bool,
}

/// A machine, as far as its files and the output of its tools say.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Name: of the host, the bundle, or the file.
    pub name: String,
    /// Container, virtual machine.
    pub surroundings: Surroundings,
    /// Kernel: `/proc/version`.
    pub kernel: Fact<String>,
    /// Arguments of the kernel.
    pub boot: Fact<BootArguments>,
    /// `0`, `1` or `2`.
    pub numa_balancing: Fact<String>,
    /// Whether a NUMA daemon runs.
    pub numad: Fact<bool>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Fact<String>,
    /// `on`, `off`, `notsupported`, ...
    pub smt: Fact<String>,
    /// Frequency policy by CPU.
    pub governors: Fact<BTreeMap<u32, String>>,
    /// Idle states of all CPUs.
    pub idle_states: Fact<Vec<IdleState>>,
    /// CPU model.
    pub cpu_model: Fact<String>,
    /// CPUs there are.
    pub cpus_present: Fact<Vec<u32>>,
    /// CPUs in use.
    pub cpus_online: Fact<Vec<u32>>,
    /// CPUs the process may run on.
    pub cpus_allowed: Fact<Vec<u32>>,
    /// CPUs of each NUMA node.
    pub numa_cpus: Fact<BTreeMap<i64, Vec<u32>>>,
    /// Version of the loaded amdgpu driver.
    pub driver: Fact<String>,
    /// BIOS version.
    pub bios: Fact<String>,
    /// Product of the machine.
    pub product: Fact<String>,
    /// Version of ROCm.
    pub rocm: Fact<String>,
    /// Nodes of the compute driver.
    pub kfd: Fact<Vec<KfdNode>>,
    /// Whether the PCI bus could be looked at.
    pub pci: Fact<u64>,
    /// GPUs, of all sources.
    pub gpus: Fact<Vec<Gpu>>,
    /// Links between GPUs, of the tools.
    pub pairs: Fact<Vec<PairLink>>,
    /// Ports with access control.
    pub acs: Fact<Vec<AcsPort>>,
    /// Containers described by `docker inspect`.
    pub docker: Vec<DockerContainer>,
    /// Environment of the job.
    pub environment: Fact<Environment>,
    /// What a vLLM server said.
    pub server_log: Option<ServerLog>,
    /// What was read, one word each: `KFD`, `amd-smi static`.
    pub sources: Vec<String>,
}

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
            driver: driver(tree),
            bios: dmi(tree, "bios_version"),
            product: dmi(tree, "product_name"),
            rocm: tree.text("opt/rocm/.info/version").or(tree.text("opt/rocm/.info/version-dev")),
            gpus: merge::gpus_of_tree(&kfd, &pci),
            pci: pci.map(|gpus| gpus.len() as u64),
            kfd,
            pairs: Fact::unknown("no `amd-smi topology` or `rocm-smi --showtopo` given"),
            acs: Fact::unknown("no `lspci -vvv` given"),
            docker: Vec::new(),
            environment: environment(tree),
            server_log: None,
            sources: if tree.is_empty() { Vec::new() } else { vec!["/proc and /sys".to_owned()] },
        }
    }

    /// Its GPUs; none where none is known.
    pub fn known_gpus(&self) -> &[Gpu] {
        self.gpus.get().map_or(&[], Vec::as_slice)
    }

    /// Why something that is not there may be hidden: the container or virtual machine around.
    pub fn hidden_by(&self) -> Option<String> {
        match (&self.surroundings.container, &self.surroundings.virtual_machine) {
            (Some(sign), _) => Some(format!("a container ({sign})")),
            (None, Some(sign)) => Some(format!("a virtual machine ({sign})")),
            (None, None) => None,
        }
    }
}

fn in_brackets(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn dmi(tree: &Tree, field: &str) -> Fact<String> {
    tree.text(&format!("sys/devices/virtual/dmi/id/{field}")).or(tree.text(&format!("sys/class/dmi/id/{field}")))
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
    let names: Vec<String> = tree.children("proc").into_iter().filter(|name| name.parse::<u32>().is_ok()).collect();
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
        1..=3 => Fact::unknown(format!("/proc/*/comm: only {seen} processes are visible (hidepid, or a PID namespace)")),
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
    if nodes.is_empty() { Fact::unknown(format!("/{NODES}: absent")) } else { Fact::known(nodes, format!("/{NODES}/node*/cpulist")) }
}

fn environment(tree: &Tree) -> Fact<Environment> {
    let own = tree.bytes("environment");
    match own {
        Fact::Known { value, .. } => Fact::known(Environment::read(value), "the captured environment"),
        Fact::Unknown { .. } => Fact::unknown("environment not given"),
    }
}
