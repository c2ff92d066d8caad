//! Nodes of the kernel's compute driver: `/sys/class/kfd/kfd/topology/nodes`.
//!
//! Source: Linux `drivers/gpu/drm/amd/amdkfd/kfd_topology.c`.

use crate::{Fact, Tree};
use std::collections::BTreeMap;

const NODES: &str = "sys/class/kfd/kfd/topology/nodes";

/// Kind of link between two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkKind {
    /// Type 2.
    Pcie,
    /// Type 11.
    Xgmi,
    /// Another type.
    Other(u64),
}

/// A link from a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KfdLink {
    /// Node at the other end.
    pub to: u32,
    /// Kind.
    pub kind: LinkKind,
    /// 15 is one hop of XGMI.
    pub weight: Option<u64>,
}

/// A node: CPUs or a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KfdNode {
    /// Number; what runtime messages call `node-N`.
    pub node: u32,
    /// Fields of `properties`; `Err` if they could not be read.
    pub properties: Result<BTreeMap<String, u64>, String>,
    /// Links.
    pub links: Vec<KfdLink>,
}

impl KfdNode {
    /// A field of `properties`.
    pub fn property(&self, name: &str) -> Option<u64> {
        self.properties.as_ref().ok()?.get(name).copied()
    }

    /// Whether it is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.property("simd_count").is_some_and(|count| count > 0)
    }

    /// PCI address of a GPU.
    pub fn bdf(&self) -> Option<String> {
        let (location, domain) = (self.property("location_id")?, self.property("domain").unwrap_or(0));
        let (bus, device, function) = (location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
        self.is_gpu().then(|| format!("{domain:04x}:{bus:02x}:{device:02x}.{function}"))
    }

    /// Target: `gfx_target_version` is major x 10000 + minor x 100 + step, and steps are written in
    /// hexadecimal.
    pub fn target(&self) -> Option<String> {
        let version = self.property("gfx_target_version").filter(|it| *it > 0)?;
        Some(format!("gfx{}{}{:x}", version / 10_000, version / 100 % 100, version % 100))
    }

    /// Compute units.
    pub fn compute_units(&self) -> Option<u64> {
        let per_cu = self.property("simd_per_cu").filter(|it| *it > 0)?;
        Some(self.property("simd_count")? / per_cu)
    }
}

/// All nodes.
pub(crate) fn nodes(tree: &Tree) -> Fact<Vec<KfdNode>> {
    if !tree.has_below(NODES) {
        let why = if tree.has_below("sys") {
            "absent: the amdgpu driver is not loaded, or it is hidden"
        } else {
            "absent"
        };
        return Fact::unknown(format!("/{NODES}: {why}"));
    }
    let children = tree.children(NODES);
    let numbers = children.iter().filter_map(|name| name.parse::<u32>().ok());
    let nodes = numbers
        .map(|node| {
            let folder = format!("{NODES}/{node}");
            KfdNode {
                node,
                properties: match tree.text(&format!("{folder}/properties")) {
                    Fact::Known { value, .. } => Ok(properties(&value)),
                    Fact::Unknown { reason } => Err(reason),
                },
                links: links(tree, &format!("{folder}/io_links")),
            }
        })
        .collect();
    Fact::known(nodes, format!("/{NODES}"))
}

/// Lines `name value`.
pub(crate) fn properties(text: &str) -> BTreeMap<String, u64> {
    let fields = text.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(' ')?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    });
    fields.collect()
}

fn links(tree: &Tree, folder: &str) -> Vec<KfdLink> {
    let children = tree.children(folder);
    let read = children.iter().filter_map(|name| {
        let fields = properties(tree.text(&format!("{folder}/{name}/properties")).get()?);
        Some(KfdLink {
            to: u32::try_from(*fields.get("node_to")?).ok()?,
            kind: match fields.get("type")? {
                2 => LinkKind::Pcie,
                11 => LinkKind::Xgmi,
                other => LinkKind::Other(*other),
            },
            weight: fields.get("weight").copied(),
        })
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_addresses() {
        let node = |text: &str| KfdNode { node: 2, properties: Ok(properties(text)), links: Vec::new() };
        for (version, expected) in
            [(90402, "gfx942"), (90010, "gfx90a"), (90500, "gfx950"), (110001, "gfx1101")]
        {
            assert_eq!(node(&format!("gfx_target_version {version}")).target().as_deref(), Some(expected));
        }
        let it =
            node("simd_count 1024\nsimd_per_cu 4\nlocation_id 29952\ndomain 0\nhive_id 17332996360099338395");
        assert_eq!(it.bdf().as_deref(), Some("0000:75:00.0"));
        assert_eq!(it.compute_units(), Some(256));
        assert_eq!(node("simd_count 0\nlocation_id 0").bdf(), None);
    }
}
