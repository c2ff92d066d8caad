//! Verdicts on the captured samples of ../shared/system: those its NOTES.md gives.

use rockhound_study::doctor::examine;
use rules::Profile;
use system::command::{Command, split};
use system::{Document, Environment, Machine, Tree, read_archive, recognize};
use view::{Examined, HostVerdict};

fn read(name: &str) -> Option<Vec<u8>> {
    Some(std::fs::read(testkit::shared(&format!("system/{name}"))?).unwrap())
}

fn verdicts(examined: &Examined, check: &str) -> Vec<(HostVerdict, String)> {
    examined.checks.iter().filter(|it| it.check == check).map(|it| (it.verdict, it.message.clone())).collect()
}

fn worst(examined: &Examined, check: &str) -> HostVerdict {
    verdicts(examined, check)
        .iter()
        .map(|(verdict, _)| *verdict)
        .max()
        .unwrap_or_else(|| panic!("no {check}"))
}

fn outputs(names: &[&str]) -> Option<Examined> {
    let documents: Option<Vec<Document>> =
        names.iter().map(|name| Some(recognize(name, &read(name)?).unwrap())).collect();
    Some(examine(&Machine::read(&Tree::new("t"), &documents?), None, None))
}

#[test]
fn boxes() {
    use HostVerdict::{Fail, Pass, Unknown, Warn};
    const BOXES: [&str; 5] =
        ["good-8xmi350x", "bad-8xmi350x-one-missing", "vm-8xmi350x", "container-4-of-8", "no-gpu"];
    let expected: [(&str, [HostVerdict; 5]); 11] = [
        ("numa-balancing", [Pass, Fail, Pass, Fail, Unknown]),
        ("iommu-pt", [Pass, Fail, Unknown, Pass, Fail]),
        ("pci-realloc", [Pass, Fail, Fail, Fail, Fail]),
        ("cpu-governor", [Pass, Fail, Unknown, Unknown, Unknown]),
        ("c-state", [Pass, Fail, Unknown, Unknown, Unknown]),
        ("smt", [Pass, Warn, Pass, Unknown, Unknown]),
        ("gpu-count", [Pass, Fail, Pass, Warn, Unknown]),
        ("pcie-link", [Pass, Fail, Pass, Unknown, Unknown]),
        ("clock-cap", [Pass, Fail, Pass, Unknown, Unknown]),
        ("xgmi-all", [Pass, Fail, Pass, Unknown, Unknown]),
        ("driver-loaded", [Pass, Pass, Pass, Pass, Unknown]),
    ];
    let mut all = Vec::new();
    for name in BOXES {
        let Some(bytes) = read(&format!("boxes/made-{name}.tar.gz")) else { return };
        let (tree, refused) = read_archive(name, &bytes).unwrap();
        assert!(refused.is_empty());
        all.push(examine(&Machine::read(&tree, &[]), None, None));
    }
    for (check, wanted) in expected {
        for (examined, wanted) in all.iter().zip(wanted) {
            assert_eq!(
                worst(examined, check),
                wanted,
                "{check} of {}: {:?}",
                examined.name,
                verdicts(examined, check)
            );
        }
    }
    let says = |at: usize, check: &str, words: &[&str]| {
        let text = &verdicts(&all[at], check)[0].1;
        assert!(words.iter().all(|word| text.contains(word)), "{check}: {text}");
    };
    says(1, "cpu-governor", &["4 of 8 CPUs schedutil"]);
    says(1, "gpu-count", &["7 GPUs", "8 on the PCI bus", "0000:85:00.0", "node 7"]);
    says(1, "pcie-link", &["0000:f5:00.0 x8 of x16", "0000:e5:00.0 16 of 32 GT/s"]);
    says(1, "clock-cap", &["0000:65:00.0 determinism 1900"]);
    says(2, "iommu-pt", &["Hyper-V"]);
    says(3, "gpu-count", &["4 GPUs visible of 8"]);
    says(0, "xgmi-all", &["7 links"]);
}

#[test]
fn outputs_of_tools() {
    use HostVerdict::{Fail, Pass, Unknown, Warn};
    for (files, check, verdict, words) in [
        (&["amd-smi/made-metric-8xmi300x-trouble.json"][..], "throttle", Fail, "GPU 3"),
        (&["amd-smi/made-metric-8xmi300x-trouble.json"], "ecc", Fail, "2 on GPU 5"),
        (&["amd-smi/made-metric-8xmi300x-trouble.json"], "pcie-errors", Warn, "GPU 4 4211"),
        (&["amd-smi/made-metric-8xmi300x-trouble.json"], "pcie-link", Fail, "GPU 4 x8 of x16"),
        (&["amd-smi/made-metric-8xmi300x-trouble.json"], "clock-cap", Fail, "GPU 6 determinism 1900"),
        (&["amd-smi/made-metric-8xmi300x-old.json"], "throttle", Pass, ""),
        (&["amd-smi/made-metric-8xmi300x-old.json"], "ecc", Pass, ""),
        (&["amd-smi/made-metric-8xmi300x-old.json"], "clock-cap", Pass, "auto 2100"),
        (&["amd-smi/made-metric-8xmi350x-new.json"], "throttle", Fail, "GPU 5: ppt"),
        (&["amd-smi/made-static-8xmi300x-old.json"], "power-cap", Pass, "750"),
        (&["amd-smi/made-static-8xmi300x-old.json"], "throttle", Unknown, ""),
        (&["amd-smi/made-static-8xmi300x-cpx-nps4.json"], "partition", Warn, "CPX NPS4 on 8"),
        (&["amd-smi/made-static-8xmi300x-cpx-nps4.json"], "gpu-count", Pass, "64 partitions"),
        (&["amd-smi/static-4xmi300a.txt"], "gpu-count", Pass, "4 GPUs"),
        (&["rocminfo/rocminfo-mi300x-gfx941.txt"], "gpu-count", Unknown, "1 GPUs listed"),
        (&["rocminfo/rocminfo-8xmi210.txt"], "gpu-count", Pass, "8 GPUs"),
        (&["amd-smi/static-4xmi300a.txt"], "partition", Pass, "SPX NPS1 on 4"),
        (&["amd-smi/made-topology-8xmi300x.json"], "xgmi-all", Pass, "28 pairs"),
        (&["amd-smi/made-topology-pcie-link.json"], "xgmi-all", Fail, "0000:26:00.0 and 0000:c6:00.0: PCIE"),
        (&["rocm-smi/made-setperfdeterminism.txt"], "clock-cap", Pass, "determinism 1900"),
        (&["rocm-smi/made-showallinfo-cut.json"], "clock-cap", Fail, "0000:65:00.0 determinism"),
        (&["lspci/made-acs-off.txt"], "acs", Pass, "8 ports"),
        (&["lspci/made-acs-on-two-ports.txt"], "acs", Fail, "2 of 8"),
        (&["lspci/made-access-denied.txt"], "acs", Unknown, "access denied"),
        (&["lspci/made-grep-acsctl-only.txt"], "acs", Fail, "1 of 8"),
        (
            &["lspci/made-link-downgraded.txt"],
            "pcie-link",
            Fail,
            "0000:85:00.0 x8 of x16, 16 of 32 GT/s; 0000:c6:00.0 16 of 32 GT/s",
        ),
        (&["docker/made-inspect-good.json"], "docker-devices", Pass, ""),
        (&["docker/made-inspect-good.json"], "docker-ipc", Pass, ""),
        (&["docker/made-inspect-good.json"], "docker-limits", Pass, ""),
        (&["docker/made-inspect-good.json"], "docker-cpus", Pass, ""),
        (&["docker/made-inspect-bad.json"], "docker-devices", Warn, "one render node"),
        (&["docker/made-inspect-bad.json"], "docker-ipc", Fail, "64 MiB"),
        (&["docker/made-inspect-bad.json"], "docker-limits", Warn, "group render for user 1000"),
        (&["docker/made-inspect-bad.json"], "docker-cpus", Warn, "4 CPUs (0-3), 32 GiB"),
        (&["env/made-bad-measurement.env"], "dev-kernarg", Fail, "=0"),
        (&["env/made-bad-measurement.env"], "debug-variables", Fail, "AMD_SERIALIZE_KERNEL=3"),
        (&["env/made-bad-measurement.env"], "miopen-find", Fail, "SEARCH_DB_UPDATE"),
        (&["env/made-bad-measurement.env"], "tunableop-tuning", Warn, "tuning is on"),
        (&["env/made-bad-measurement.env"], "rccl-debug-name", Warn, "NCCL_DEBUG"),
        (&["env/made-bad-measurement.env"], "nccl-p2p", Fail, "NCCL_P2P_DISABLE=1"),
        (&["env/made-bad-measurement.env"], "gfx-override", Fail, "9.4.2"),
        (&["env/made-vllm-aiter-submaster-off.env"], "sub-switches", Fail, "VLLM_ROCM_USE_AITER_MOE"),
        (&["env/made-vllm-aiter-submaster-off.env"], "visible-devices", Warn, "vLLM"),
        (&["env/made-vllm-aiter-submaster-off.env"], "rccl-debug-name", Warn, ""),
        (&["vllm/made-serve.log"], "vllm-settings", Warn, "E=8,N=1792"),
    ] {
        let Some(examined) = outputs(files) else { return };
        let found = verdicts(&examined, check);
        assert!(
            found.iter().any(|(it, text)| *it == verdict && text.contains(words))
                && worst(&examined, check) == verdict,
            "{files:?} {check}: {found:?}, wanted {verdict:?} {words}"
        );
    }
    for file in ["env/made-good-training.env", "env/made-vllm-good.env"] {
        let Some(examined) = outputs(&[file]) else { return };
        let bad: Vec<_> = examined
            .checks
            .iter()
            .filter(|it| it.verdict >= HostVerdict::Warn)
            .map(|it| (it.check, &it.message))
            .collect();
        assert!(bad.is_empty(), "{file}: {bad:?}");
    }
}

#[test]
fn kernel_arguments() {
    let Some(bytes) = read("cmdline.tsv") else { return };
    let text = String::from_utf8(bytes).unwrap();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (id, arguments, iommu, realloc, blacklisted) =
            (fields[0], fields[1], fields[2], fields[3], fields[4]);
        let mut tree = Tree::new(id);
        tree.insert("proc/cmdline", arguments.as_bytes().to_vec());
        tree.insert("sys/devices/system/cpu/online", b"0-7".to_vec());
        let machine = Machine::read(&tree, &[]);
        let boot = machine.boot.get().unwrap();
        assert_eq!(boot.last("iommu").unwrap_or("absent"), iommu.split(' ').next().unwrap(), "{id}");
        let examined = examine(&machine, None, None);
        let pass = |check: &str| worst(&examined, check) == HostVerdict::Pass;
        assert_eq!(pass("iommu-pt"), iommu == "pt", "{id}");
        assert_eq!(pass("pci-realloc"), realloc.starts_with("yes"), "{id}");
        assert_eq!(pass("amdgpu-blacklist"), blacklisted == "no", "{id}");
    }
}

#[test]
fn names_that_nobody_reads() {
    use HostVerdict::{Fail, Pass, Warn};
    for (line, verdict, words) in [
        ("HIP_FORCE_QUEUE_PROFILING=1", Warn, "GPU_FORCE_QUEUE_PROFILING is read"),
        ("RCCL_ENABLE_MSCCLPP=1", Warn, "RCCL_MSCCLPP_ENABLE is read"),
        ("SAFETENSORS_FAST_GPU=1", Pass, "nobody reads SAFETENSORS_FAST_GPU"),
        ("HIP_FORCE_DEVKERNARG=1", Fail, "HIP_FORCE_DEV_KERNARG exists"),
        ("NCCL_PXN_DISABLE=1", Pass, "all known"),
        // Neighbours of other names, and real.
        ("VLLM_ROCM_USE_AITER_FP4BMM=0", Pass, "all known"),
        ("NCCL_COLLNET_ENABLE=0", Pass, "all known"),
    ] {
        let environment = Environment::read(line.as_bytes());
        let machine = Machine::read(&Tree::new("t"), &[Document::of_environment("t", environment)]);
        let examined = examine(&machine, None, None);
        let found = verdicts(&examined, "unknown-variables");
        assert!(found.iter().any(|(it, text)| *it == verdict && text.contains(words)), "{line}: {found:?}");
        assert_eq!(worst(&examined, "unknown-variables"), verdict, "{line}");
    }
}

#[test]
fn commands_of_vllm() {
    let Some(bytes) = read("vllm/commands.tsv") else { return };
    let text = String::from_utf8(bytes).unwrap();
    let wanted = |id: &str| match id {
        "good-dense" | "mla-good" | "equals-form" => None,
        "mla-block-size" => Some(("vllm-settings", "--block-size 1")),
        "sub-without-master" => Some(("sub-switches", "VLLM_ROCM_USE_AITER=1")),
        "unified-conflict" => Some(("sub-switches", "VLLM_ROCM_USE_AITER_MHA=1")),
        "gpt-oss" => Some(("vllm-settings", "unified attention")),
        "memory-too-high" => Some(("vllm-settings", "at most 0.95")),
        "hip-visible" => Some(("visible-devices", "CUDA_VISIBLE_DEVICES")),
        "awq" => Some(("vllm-settings", "VLLM_USE_TRITON_AWQ=1")),
        "eager" => Some(("vllm-settings", "no graphs")),
        "tp-over-node" => Some(("vllm-settings", "beyond the 8")),
        "compile-config" => Some(("vllm-settings", "uniform batches only")),
        other => panic!("a new row `{other}`"),
    };
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (id, variables, command) = (fields[0], fields[2], fields[3]);
        let mut environment = Environment::default();
        for (name, value) in variables.split(' ').filter_map(|it| it.split_once('=')) {
            environment.set(name, value);
        }
        let machine = Machine::read(&Tree::new(id), &[Document::of_environment("t", environment)]);
        let command = Command::parse(&split(command));
        let examined = examine(&machine, Some(&command), Some(Profile::Inference));
        let bad: Vec<_> = examined
            .checks
            .iter()
            .filter(|it| it.verdict >= HostVerdict::Warn && it.rule.starts_with("ENV"))
            .collect();
        let bad: Vec<_> = bad.iter().map(|it| (it.check, it.message.as_str())).collect();
        match wanted(id) {
            None => assert!(bad.is_empty(), "{id}: {bad:?}"),
            Some((check, words)) => {
                assert!(bad.iter().any(|(it, text)| *it == check && text.contains(words)), "{id}: {bad:?}");
            }
        }
    }
}

#[test]
fn clocks_of_gpus_at_work() {
    use HostVerdict::{Fail, Pass, Unknown};
    let row = |clock: &str, busy: &str| {
        format!(
            "=== ROCm System Management Interface ===\n=== Concise Info ===\nDevice  Node  IDs              Temp        Power     Partitions          SCLK     MCLK    Fan  Perf  PwrCap  VRAM%  GPU%  \n              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)                                                  \n===\n0       2     0x74a1,   60024  50.0°C      157.0W    NPS1, SPX, 0        {clock:<8} 900Mhz  0%   auto  750.0W  86%    {busy:<5} \n===\n"
        )
    };
    for (clock, busy, verdict) in [
        ("59Mhz", "100%", Fail),
        ("839Mhz", "95%", Fail),
        ("841Mhz", "95%", Pass),
        ("1250Mhz", "100%", Pass),
        ("132Mhz", "0%", Unknown),
        ("N/A", "100%", Unknown),
    ] {
        let document = recognize("rocm-smi.txt", row(clock, busy).as_bytes()).unwrap();
        let examined = examine(&Machine::read(&Tree::new("t"), &[document]), None, None);
        assert_eq!(worst(&examined, "clock-load"), verdict, "{clock} {busy}");
    }
}
