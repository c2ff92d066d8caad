//! Topology files of RCCL (`NCCL_TOPO_DUMP_FILE`): a subset of XML.

use crate::error::Error;
use roxmltree::{Document, Node};

/// A GPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopologyGpu {
    /// Number.
    pub device: u64,
    /// PCI address of the element above it.
    pub bus: String,
    /// Target as written: a number such as `910`, or a name such as `gfx942`.
    pub target: String,
    /// Compute units.
    pub compute_units: u64,
    /// NUMA node of the CPU above it.
    pub numa: String,
    /// Links to other GPUs.
    pub links: Vec<Xgmi>,
    /// Speed and width of its PCIe link.
    pub pcie: String,
}

/// A link to another GPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Xgmi {
    /// PCI address of the other.
    pub target: String,
    /// Width: links side by side.
    pub count: u64,
}

/// A network card's port.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Net {
    /// Name: `mlx5_0`.
    pub name: String,
    /// Mbit/s.
    pub speed: u64,
}

/// A machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Topology {
    /// GPUs.
    pub gpus: Vec<TopologyGpu>,
    /// Ports of network cards.
    pub nets: Vec<Net>,
    /// CPUs with a NUMA node.
    pub cpus: u64,
}

impl Topology {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Result<Topology, Error> {
        let document = Document::parse(text).map_err(|error| {
            let lines = text.split_inclusive('\n').take(error.pos().row.saturating_sub(1) as usize);
            Error::Broken {
                kind: "topology",
                offset: lines.map(str::len).sum::<usize>() as u64,
                what: error.to_string(),
            }
        })?;
        if !document.descendants().any(|node| node.has_tag_name("system")) {
            return Err(Error::Unknown("XML without `<system>`".to_owned()));
        }
        let mut topology = Topology::default();
        for node in document.descendants().filter(Node::is_element) {
            topology.element(node);
        }
        Ok(topology)
    }

    fn element(&mut self, node: Node<'_, '_>) {
        let text = |key: &str| node.attribute(key).unwrap_or_default().to_owned();
        let number = |key: &str| node.attribute(key).and_then(|v| v.parse().ok()).unwrap_or(0);
        match node.tag_name().name() {
            "cpu" => self.cpus += 1,
            "gpu" => {
                let above = |name: &str, key: &str| {
                    let element = node.ancestors().find(|it| it.has_tag_name(name));
                    element.and_then(|it| it.attribute(key)).unwrap_or_default().to_owned()
                };
                self.gpus.push(TopologyGpu {
                    device: number("dev"),
                    bus: above("pci", "busid"),
                    target: text("gcn"),
                    compute_units: number("sm"),
                    numa: above("cpu", "numaid"),
                    links: Vec::new(),
                    pcie: format!("{} x{}", above("pci", "link_speed"), above("pci", "link_width")),
                });
            }
            "xgmi" | "nvlink" => {
                let link = Xgmi { target: text("target"), count: number("count").max(1) };
                if let Some(gpu) = self.gpus.last_mut() {
                    gpu.links.push(link);
                }
            }
            "net" => self.nets.push(Net { name: text("name"), speed: number("speed") }),
            _ => {}
        }
    }

    /// Links in all, both ends counted.
    pub fn links(&self) -> usize {
        self.gpus.iter().map(|gpu| gpu.links.len()).sum()
    }

    /// Whether each GPU has a link to each other one.
    pub fn is_full_mesh(&self) -> bool {
        self.gpus.len() > 1 && self.gpus.iter().all(|gpu| gpu.links.len() + 1 >= self.gpus.len())
    }
}
