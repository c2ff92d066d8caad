//! AMD GPUs on the PCI bus: `/sys/bus/pci/devices`.

use crate::gpu::{Gpu, Link};
use crate::values::{bdf, leading_number};
use crate::{Fact, Tree};

const DEVICES: &str = "sys/bus/pci/devices";
/// Classes of GPUs: processing accelerators, display and 3D controllers. A display controller of a desktop is
/// one too.
const CLASSES: [&str; 3] = ["0x12", "0x0380", "0x0302"];

/// All GPUs of AMD, by address.
pub(crate) fn gpus(tree: &Tree) -> Fact<Vec<Gpu>> {
    if !tree.has_below(DEVICES) {
        return Fact::unknown(format!("/{DEVICES}: absent"));
    }
    let children = tree.children(DEVICES);
    let found = children.iter().filter_map(|name| {
        let address = bdf(name)?;
        let text = |file: &str| tree.text(&format!("{DEVICES}/{name}/{file}"));
        let is = |fact: Fact<String>, test: &dyn Fn(&str) -> bool| fact.get().is_some_and(|it| test(it));
        let is_gpu = is(text("vendor"), &|it| it == "0x1002")
            && is(text("class"), &|it| CLASSES.iter().any(|class| it.starts_with(class)));
        is_gpu.then(|| gpu(address, &text))
    });
    Fact::known(found.collect(), format!("/{DEVICES}"))
}

fn gpu(address: String, text: &dyn Fn(&str) -> Fact<String>) -> Gpu {
    let number = |file: &str| {
        text(file).parse("not a number", |it| leading_number(&it).filter(|it| it.is_finite() && *it > 0.0))
    };
    let mut gpu = Gpu::new(address.clone());
    gpu.bdf = Some(address);
    gpu.on_pci_bus = true;
    gpu.link = Link {
        speed: number("current_link_speed"),
        width: number("current_link_width"),
        max_speed: number("max_link_speed"),
        max_width: number("max_link_width"),
    };
    gpu.compute_partition = text("current_compute_partition");
    gpu.memory_partition = text("current_memory_partition");
    gpu.perf_level = text("power_dpm_force_performance_level");
    gpu.max_clock_mhz = text("pp_dpm_sclk").parse("not a list of clocks", |it| highest_level(&it));
    gpu.numa_node = text("numa_node").parse("not a number", |it| it.parse().ok());
    gpu.device_id = text("device");
    gpu
}

/// The highest clock of `pp_dpm_sclk`: lines `1: 2100Mhz *`.
fn highest_level(text: &str) -> Option<f64> {
    text.lines().filter_map(|line| leading_number(line.split_once(':')?.1)).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_amd_gpus_count() {
        let mut tree = Tree::new("t");
        for (address, vendor, class) in [
            ("0000:05:00.0", "0x1002", "0x120000"),
            ("0000:06:00.0", "0x10de", "0x030200"),
            ("0000:00:01.0", "0x1002", "0x060400"),
        ] {
            for (file, text) in
                [("vendor", vendor), ("class", class), ("pp_dpm_sclk", "0: 132Mhz *\n1: 2100Mhz \n")]
            {
                tree.insert(format!("{DEVICES}/{address}/{file}"), text.as_bytes().to_vec());
            }
        }
        let found = gpus(&tree);
        let found = found.get().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].max_clock_mhz.get(), Some(&2100.0));
        assert!(found[0].numa_node.reason().unwrap().ends_with("numa_node: absent"));
    }
}
