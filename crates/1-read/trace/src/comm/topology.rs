//! Topology files of RCCL (`NCCL_TOPO_DUMP_FILE`): a subset of XML.

use crate::error::Error;

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

/// How deep elements may nest.
const DEEPEST: usize = 200;

impl Topology {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Result<Topology, Error> {
        let broken = |at: usize, what: &str| Error::Broken {
            kind: "topology",
            offset: at as u64,
            what: what.to_owned(),
        };
        let mut topology = Topology::default();
        // Open elements with their PCI address, link and NUMA node.
        let mut open: Vec<(String, [String; 3])> = Vec::new();
        let mut at = 0;
        let mut system = false;
        while let Some(start) = text[at..].find('<').map(|found| at + found) {
            let rest = &text[start..];
            if rest.starts_with("<!--") || rest.starts_with("<?") {
                let end = if rest.starts_with("<?") { "?>" } else { "-->" };
                let Some(found) = rest.find(end) else { return Err(broken(start, "a comment does not end")) };
                at = start + found + end.len();
                continue;
            }
            let Some(found) = rest.find('>') else { return Err(broken(start, "an element does not end")) };
            let tag = &rest[1..found];
            at = start + found + 1;
            if let Some(name) = tag.strip_prefix('/') {
                match open.pop() {
                    Some((opened, _)) if opened == name.trim() => continue,
                    _ => return Err(broken(start, &format!("`</{}>` ends no element", name.trim()))),
                }
            }
            let closed = tag.ends_with('/');
            let name = tag.trim_end_matches('/').split_whitespace().next().unwrap_or("").to_owned();
            system |= name == "system";
            let mut context = open.last().map(|(_, context)| context.clone()).unwrap_or_default();
            topology.element(&name, tag, &mut context);
            if !closed {
                if open.len() >= DEEPEST {
                    return Err(broken(start, "elements nest more than 200 deep"));
                }
                open.push((name, context));
            }
        }
        match open.pop() {
            Some((name, _)) => Err(broken(text.len(), &format!("the file ends within `<{name}>`"))),
            None if !system => Err(Error::Unknown("XML without `<system>`".to_owned())),
            None => Ok(topology),
        }
    }

    fn element(&mut self, name: &str, tag: &str, context: &mut [String; 3]) {
        let text = |key: &str| attribute(tag, key).unwrap_or_default().to_owned();
        let number = |key: &str| attribute(tag, key).and_then(|v| v.parse().ok()).unwrap_or(0);
        match name {
            "cpu" => {
                self.cpus += 1;
                context[2] = text("numaid");
            }
            "pci" => {
                context[0] = text("busid");
                context[1] = format!("{} x{}", text("link_speed"), text("link_width"));
            }
            "gpu" => self.gpus.push(TopologyGpu {
                device: number("dev"),
                bus: context[0].clone(),
                target: text("gcn"),
                compute_units: number("sm"),
                numa: context[2].clone(),
                links: Vec::new(),
                pcie: context[1].clone(),
            }),
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

/// The value of an attribute.
fn attribute<'a>(tag: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = tag;
    while let Some(at) = rest.find(key) {
        let before = rest[..at].chars().next_back();
        let after = &rest[at + key.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = after.trim_start().strip_prefix('=')
        {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            return value[1..].split(quote).next();
        }
        rest = after;
    }
    None
}
