//! The captured samples of ../shared/system: their facts equal the ones in its NOTES.md.

use rockhound_system::{Document, Machine, Tree, recognize};

fn document(name: &str) -> Option<Document> {
    let path = testkit::shared(&format!("system/{name}"))?;
    let bytes = std::fs::read(path).unwrap();
    Some(recognize(name, &bytes).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn machine(names: &[&str]) -> Option<Machine> {
    let documents: Option<Vec<Document>> = names.iter().map(|name| document(name)).collect();
    Some(Machine::read(&Tree::new("t"), &documents?))
}

#[test]
fn amd_smi_old_and_new() {
    for (file, gpus, target, units, watts, partition) in [
        ("amd-smi/made-static-8xmi300x-old.json", 8, "gfx942", 304, 750.0, "SPX"),
        ("amd-smi/made-static-8xmi350x-new.json", 8, "gfx950", 256, 1000.0, "SPX"),
        ("amd-smi/made-static-8xmi300x-cpx-nps4.json", 8, "gfx942", 304, f64::NAN, "CPX"),
    ] {
        let Some(machine) = machine(&[file]) else { return };
        let found = machine.known_gpus();
        assert_eq!(found.len(), gpus, "{file}");
        for gpu in found {
            assert_eq!(gpu.target.get().map(String::as_str), Some(target), "{file}");
            assert_eq!(gpu.compute_units.get(), Some(&units), "{file}");
            // Partitions show no limit.
            assert_eq!(gpu.power_cap_max_w.get().copied(), Some(watts).filter(|it| !it.is_nan()), "{file}");
            assert_eq!(gpu.compute_partition.get().map(String::as_str), Some(partition), "{file}");
        }
    }
    let Some(mi300a) = machine(&["amd-smi/static-4xmi300a.txt"]) else { return };
    let gpus = mi300a.known_gpus();
    assert_eq!(gpus.len(), 4);
    assert_eq!(gpus[0].device_id.get().map(String::as_str), Some("0x74a0"));
    assert_eq!(gpus[3].power_cap_w.get(), Some(&550.0));
    assert_eq!(gpus[0].memory_partition.get().map(String::as_str), Some("NPS1"));
}

#[test]
fn metrics_in_trouble() {
    let Some(machine) = machine(&["amd-smi/made-list.json", "amd-smi/made-metric-8xmi300x-trouble.json"])
    else {
        return;
    };
    let gpus = machine.known_gpus();
    assert_eq!(gpus.len(), 8);
    assert_eq!(gpus[0].bdf.as_deref(), Some("0000:05:00.0"), "the list names the addresses");
    assert_eq!(gpus[3].throttled_by.get().map(Vec::len), Some(1));
    assert_eq!((gpus[3].hotspot_c.get(), gpus[3].clock_mhz.get()), (Some(&101.0), Some(&1180.0)));
    assert_eq!(
        (gpus[4].link.width.get(), gpus[4].link.speed.get(), gpus[4].replays.get()),
        (Some(&8.0), Some(&16.0), Some(&4211))
    );
    assert_eq!((gpus[5].ecc_uncorrectable.get(), gpus[5].ecc_correctable.get()), (Some(&2), Some(&145)));
    assert_eq!(gpus[6].perf_level.get().map(String::as_str), Some("determinism"));
    assert_eq!(gpus[6].max_clock_mhz.get(), Some(&1900.0));
    assert!(gpus[7].max_clock_mhz.get().is_none() && gpus[7].ecc_uncorrectable.get().is_none());
}

#[test]
fn the_new_throttle_block() {
    let Some(machine) = machine(&["amd-smi/made-metric-8xmi350x-new.json"]) else { return };
    let active: Vec<Option<usize>> =
        machine.known_gpus().iter().map(|gpu| gpu.throttled_by.get().map(Vec::len)).collect();
    assert_eq!(active, [Some(0), Some(0), Some(0), Some(0), Some(0), Some(1), Some(0), Some(0)]);
}

#[test]
fn links_between_gpus() {
    for (file, bad) in [
        ("amd-smi/made-topology-8xmi300x.json", 0),
        ("amd-smi/made-topology-pcie-link.json", 2),
        ("rocm-smi/made-showtopo-8xmi300x.txt", 0),
    ] {
        let Some(machine) = machine(&[file]) else { return };
        let pairs = machine.pairs.get().unwrap();
        assert_eq!(pairs.len(), 56, "{file}");
        assert_eq!(pairs.iter().filter(|pair| pair.kind != "XGMI").count(), bad, "{file}");
    }
    let Some(partition) = machine(&["amd-smi/made-partition-several-documents.txt"]) else { return };
    assert!(
        partition
            .known_gpus()
            .iter()
            .all(|gpu| gpu.memory_partition.get().map(String::as_str) == Some("NPS1"))
    );
}

#[test]
fn rocm_smi_and_rocminfo() {
    let Some(concise) = machine(&["rocm-smi/rocm-smi-4xmi300a.txt"]) else { return };
    let gpus = concise.known_gpus();
    assert_eq!(gpus.len(), 4);
    assert_eq!(gpus[0].node, Some(4));
    assert_eq!(gpus[0].perf_level.get().map(String::as_str), Some("auto"));
    assert_eq!(gpus[0].memory_partition.get().map(String::as_str), Some("NPS1"));
    assert_eq!(gpus[0].compute_partition.get().map(String::as_str), Some("SPX"));
    assert_eq!((gpus[2].power_cap_w.get(), gpus[2].clock_mhz.get()), (Some(&550.0), Some(&100.0)));
    let Some(all) = machine(&["rocm-smi/made-showallinfo-cut.json"]) else { return };
    assert_eq!(all.known_gpus()[3].perf_level.get().map(String::as_str), Some("determinism"));
    assert_eq!(all.known_gpus()[0].clock_mhz.get(), Some(&2094.0));
    for (file, gpus, target, units) in [
        ("rocminfo/rocminfo-8xmi210.txt", 8, "gfx90a", 104),
        ("rocminfo/rocminfo-mi300x-gfx941.txt", 1, "gfx941", 304),
    ] {
        let Some(machine) = machine(&[file]) else { return };
        assert_eq!(machine.known_gpus().len(), gpus, "{file}");
        let gpu = &machine.known_gpus()[0];
        assert_eq!(
            (gpu.target.get().map(String::as_str), gpu.compute_units.get()),
            (Some(target), Some(&units)),
            "{file}"
        );
    }
}

#[test]
fn pci_containers_and_environments() {
    for (file, ports) in [
        ("lspci/made-acs-off.txt", Some((8, 0))),
        ("lspci/made-acs-on-two-ports.txt", Some((8, 2))),
        ("lspci/made-access-denied.txt", None),
        ("lspci/made-grep-acsctl-only.txt", Some((8, 1))),
    ] {
        let Some(machine) = machine(&[file]) else { return };
        let found = machine
            .acs
            .get()
            .map(|ports| (ports.len(), ports.iter().filter(|it| it.source_validation).count()));
        assert_eq!(found, ports, "{file}");
    }
    let Some(slow) = machine(&["lspci/made-link-downgraded.txt"]) else { return };
    let link = |bdf: &str| {
        slow.known_gpus()
            .iter()
            .find(|it| it.bdf.as_deref() == Some(bdf))
            .map(|it| (it.link.speed.get().copied(), it.link.width.get().copied()))
    };
    assert_eq!(link("0000:85:00.0"), Some((Some(16.0), Some(8.0))));
    assert_eq!(link("0000:c6:00.0"), Some((Some(16.0), Some(16.0))));
    let Some(bad) = machine(&["docker/made-inspect-bad.json"]) else { return };
    assert_eq!(bad.docker[0].devices, ["/dev/kfd", "/dev/dri/renderD128"]);
    assert_eq!(
        (bad.docker[0].shm_bytes, bad.docker[0].user.as_str(), bad.docker[0].memory_bytes),
        (Some(64 << 20), "1000", 32 << 30)
    );
    let Some(environment) = document("env/made-environ-nul-separated.bin") else { return };
    let environment = environment.environment().unwrap();
    assert_eq!(environment.len(), 5);
    assert_eq!(environment.get("MULTI"), Some("line one\nline two"));
    assert_eq!((environment.get("EMPTY"), environment.get("LS_COLORS")), (Some(""), Some("a=b")));
    let Some(log) = machine(&["vllm/made-serve.log"]) else { return };
    let log = log.server_log.unwrap();
    assert_eq!(log.backend.map(|(name, _)| name), Some("AITER MHA"));
    assert!(log.missing_moe[0].0.starts_with("E=8,N=1792"));
}

#[test]
fn every_sample_is_read_or_refused_and_cuts_never_panic() {
    let Some(folder) = testkit::shared("system") else { return };
    let mut random = testkit::Random(28);
    for (name, bytes) in testkit::files(&folder) {
        if name.ends_with(".tsv") || name.ends_with(".md") {
            continue;
        }
        for _ in 0..12 {
            let mut cut = bytes[..random.below(bytes.len() + 1)].to_vec();
            for _ in 0..random.below(4) {
                if !cut.is_empty() {
                    let at = random.below(cut.len());
                    cut[at] = random.next() as u8;
                }
            }
            if rockhound_system::is_archive(&cut) {
                if let Ok((tree, _)) = rockhound_system::read_archive("x", &cut) {
                    Machine::read(&tree, &tree.documents().0);
                }
            } else if let Ok(document) = recognize(&name, &cut) {
                Machine::read(&Tree::new("x"), &[document]);
            }
        }
    }
}
