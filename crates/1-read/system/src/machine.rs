//! One machine: every fact with its source.

use crate::gpu::{AcsPort, Gpu, PairLink};
use crate::outputs::{docker::DockerContainer, inductor::InductorCode, vllm::ServerLog};
use crate::{BootArguments, Environment, Fact, IdleState, KfdNode, Surroundings};
use std::collections::BTreeMap;

/// A machine, from its files and the output of its tools.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Name: of the host, the bundle, or the file.
    pub name: String,
    /// Container, virtual machine.
    pub surroundings: Surroundings,
    /// Something of `/sys` was there to be read.
    pub has_sys: bool,
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
    /// CPUs present.
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
    /// Operating system.
    pub system: Fact<String>,
    /// Versions of programs and libraries, by name.
    pub versions: Vec<(String, String)>,
    /// Nodes of the compute driver.
    pub kfd: Fact<Vec<KfdNode>>,
    /// Unknown, with the reason, if the PCI bus could not be read.
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
    /// Facts from the log of a vLLM server.
    pub server_log: Option<ServerLog>,
    /// Facts from Inductor's code.
    pub inductor: Option<InductorCode>,
    /// Sources of the facts, one word each: `KFD`, `amd-smi static`.
    pub sources: Vec<String>,
}

impl Machine {
    /// Its GPUs; empty if none is known.
    pub fn known_gpus(&self) -> &[Gpu] {
        self.gpus.get().map_or(&[], Vec::as_slice)
    }
}
