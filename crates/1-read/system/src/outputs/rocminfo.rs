//! `rocminfo`: agents of the HSA runtime.
//!
//! An agent begins at `Agent N`; its fields come before the fields of its pools and ISAs.

use crate::Fact;
use crate::gpu::Gpu;

/// Whether a text is of this tool.
pub(crate) fn is(text: &str) -> bool {
    text.contains("HSA System Attributes") || text.contains("HSA Agents")
}

/// GPUs, in the order of agents.
pub(crate) fn read(text: &str, from: &str) -> Vec<Gpu> {
    let mut agents: Vec<Vec<(String, String)>> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_end_matches('\\').trim_end();
        if line.strip_prefix("Agent ").is_some_and(|number| number.trim().parse::<u32>().is_ok()) {
            agents.push(Vec::new());
        } else if let (Some(agent), Some((key, value))) = (agents.last_mut(), line.split_once(':')) {
            agent.push((key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    let mut gpus: Vec<(Option<&str>, Gpu)> = Vec::new();
    for (index, (unique, mut gpu)) in agents.iter().filter_map(|fields| gpu(fields, from)).enumerate() {
        // Each GPU in a package of several says the address of the first; partitions of one have one number in common.
        let another = gpus
            .iter()
            .any(|(it, other)| other.bdf == gpu.bdf && *it != unique && it.is_some() && unique.is_some());
        if another {
            gpu.bdf = None;
        }
        gpus.push((unique, numbered(gpu, index)));
    }
    gpus.into_iter().map(|(_, gpu)| gpu).collect()
}

fn numbered(mut gpu: Gpu, index: usize) -> Gpu {
    gpu.index = u32::try_from(index).ok();
    if gpu.bdf.is_none() {
        gpu.name = format!("GPU {index}");
    }
    gpu
}

/// A GPU, and the number that its board alone has.
fn gpu<'a>(fields: &'a [(String, String)], from: &str) -> Option<(Option<&'a str>, Gpu)> {
    // The first of a name is the agent's; the same names come again in its ISAs.
    let field = |name: &str| {
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).filter(|it| !it.is_empty())
    };
    let number = |name: &str| field(name)?.split('(').next()?.trim().parse::<u64>().ok();
    if field("Device Type")? != "GPU" {
        return None;
    }
    let known = |it: Option<String>, name: &str| {
        it.map_or_else(|| Fact::unknown(format!("{from}: no `{name}`")), |it| Fact::known(it, from))
    };
    let location = number("BDFID").filter(|it| *it > 0);
    let bdf = location.map(|it| {
        let domain = number("Domain").unwrap_or(0);
        format!("{domain:04x}:{:02x}:{:02x}.{}", it >> 8 & 0xff, it >> 3 & 0x1f, it & 7)
    });
    let mut gpu = Gpu::new(bdf.clone().unwrap_or_default());
    gpu.bdf = bdf;
    gpu.node = number("Node").and_then(|it| u32::try_from(it).ok());
    gpu.target = known(field("Name"), "Name");
    gpu.product = known(field("Marketing Name"), "Marketing Name");
    gpu.compute_units = number("Compute Unit")
        .map_or_else(|| Fact::unknown(format!("{from}: no `Compute Unit`")), |it| Fact::known(it, from));
    gpu.max_clock_mhz = number("Max Clock Freq. (MHz)")
        .map_or_else(|| Fact::unknown(format!("{from}: no clock")), |it| Fact::known(it as f64, from));
    let unique = fields.iter().find(|(key, _)| key == "Uuid").map(|(_, value)| value.as_str());
    Some((unique.filter(|it| !it.ends_with("-XX")), gpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gpus_and_their_own_fields() {
        let text = "HSA Agents\nAgent 1\n  Name: EPYC\n  Device Type: CPU\nAgent 2\n  Name:   gfx90a \\\n  Node: 2\n  Device Type: GPU\n  BDFID: 33280\n  Compute Unit: 104\n  ISA 1\n    Name: amdgcn-amd-amdhsa--gfx90a\n";
        let gpus = read(text, "t");
        assert_eq!(gpus.len(), 1);
        assert_eq!(gpus[0].target.get().map(String::as_str), Some("gfx90a"));
        assert_eq!(gpus[0].name, "0000:82:00.0");
        assert_eq!(gpus[0].compute_units.get(), Some(&104));
    }

    #[test]
    fn gpus_of_one_address_are_told_apart_by_their_number() {
        let agent = |node: u32, uuid: &str| {
            format!(
                "Agent {node}\n  Name: gfx942\n  Uuid: {uuid}\n  Device Type: GPU\n  BDFID: 256\n  Node: {node}\n"
            )
        };
        let of = |uuids: [&str; 3]| {
            let agents: String = uuids.iter().zip(4..).map(|(uuid, node)| agent(node, uuid)).collect();
            let gpus = read(&format!("HSA Agents\n{agents}"), "t");
            let bdfs: Vec<bool> = gpus.iter().map(|it| it.bdf.is_some()).collect();
            bdfs
        };
        assert_eq!(of(["GPU-1", "GPU-2", "GPU-3"]), [true, false, false]);
        // Partitions of one board, and boards without a number.
        assert_eq!(of(["GPU-1", "GPU-1", "GPU-1"]), [true, true, true]);
        assert_eq!(of(["GPU-XX", "GPU-XX", "GPU-XX"]), [true, true, true]);
    }
}
