//! GPUs and the links between them, from all sources.

use crate::Fact;

/// Reason for a GPU field that no source named.
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
    /// Name: its PCI address, or `GPU 3`.
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
    /// Share of the time in which it works, percent.
    pub busy_percent: Fact<f64>,
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
    /// Pages of memory that are retired for their errors, or wait for it.
    pub retired_pages: Fact<u64>,
    /// Version of the firmware of the compute queues (MEC).
    pub mec_firmware: Fact<u64>,
}

impl Gpu {
    /// True if anything is known of it beside its number.
    pub(crate) fn has_facts(&self) -> bool {
        let texts = [
            &self.product,
            &self.target,
            &self.device_id,
            &self.compute_partition,
            &self.memory_partition,
            &self.perf_level,
        ];
        let amounts = [
            &self.link.speed,
            &self.link.width,
            &self.link.max_speed,
            &self.link.max_width,
            &self.max_clock_mhz,
            &self.clock_mhz,
            &self.busy_percent,
            &self.power_cap_w,
            &self.power_cap_max_w,
            &self.hotspot_c,
        ];
        let counts = [
            &self.compute_units,
            &self.replays,
            &self.ecc_correctable,
            &self.ecc_uncorrectable,
            &self.retired_pages,
            &self.mec_firmware,
        ];
        self.bdf.is_some()
            || self.node.is_some()
            || texts.iter().any(|it| it.get().is_some())
            || amounts.iter().any(|it| it.get().is_some())
            || counts.iter().any(|it| it.get().is_some())
            || self.numa_node.get().is_some()
            || self.throttled_by.get().is_some()
    }

    /// A GPU without facts.
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
            busy_percent: none(),
            numa_node: none(),
            power_cap_w: none(),
            power_cap_max_w: none(),
            throttled_by: none(),
            hotspot_c: none(),
            ecc_correctable: none(),
            ecc_uncorrectable: none(),
            retired_pages: none(),
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
    /// Whether requests are checked against their source (`SrcValid+`), which sends peer traffic through the
    /// root.
    pub source_validation: bool,
}
