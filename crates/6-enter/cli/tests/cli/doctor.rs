//! `rockhound doctor` and `triage` on small machines of ours, as their users run them.

use crate::run::{folder, golden, good, rockhound, rockhound_with_input};
use crate::schema::Schema;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A machine of two CPUs and two linked GPUs that is set up badly.
fn machine(root: &Path, balancing: &str) {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |path: &str, text: &str| drop(files.insert(path.to_owned(), text.to_owned()));
    add("proc/cmdline", "BOOT_IMAGE=/x root=/dev/sda ro iommu=pt pci=realloc=off\n");
    add("proc/version", "Linux version 6.8.0 (made)\n");
    add("proc/sys/kernel/numa_balancing", &format!("{balancing}\n"));
    for cpu in 0..2 {
        let cpu = format!("sys/devices/system/cpu/cpu{cpu}");
        add(&format!("{cpu}/cpufreq/scaling_governor"), "schedutil\n");
        for (state, name) in [(0, "POLL"), (1, "C1"), (2, "C2")] {
            add(&format!("{cpu}/cpuidle/state{state}/name"), &format!("{name}\n"));
            add(&format!("{cpu}/cpuidle/state{state}/disable"), "0\n");
        }
    }
    for (node, bus) in [(1, 5), (2, 0x26)] {
        let folder = format!("sys/class/kfd/kfd/topology/nodes/{node}");
        let location = bus * 256;
        add(
            &format!("{folder}/properties"),
            &format!(
                "simd_count 1216\nsimd_per_cu 4\ngfx_target_version 90402\nlocation_id {location}\ndomain 0\n"
            ),
        );
        add(
            &format!("{folder}/io_links/0/properties"),
            &format!("type 11\nnode_from {node}\nnode_to {}\nweight 15\n", 3 - node),
        );
        let device = format!("sys/bus/pci/devices/0000:{bus:02x}:00.0");
        for (file, text) in [
            ("vendor", "0x1002"),
            ("class", "0x120000"),
            ("current_link_width", "8"),
            ("max_link_width", "16"),
            ("current_link_speed", "32.0 GT/s PCIe"),
            ("max_link_speed", "32.0 GT/s PCIe"),
        ] {
            add(&format!("{device}/{file}"), &format!("{text}\n"));
        }
    }
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn all_files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    testkit::files(root)
        .into_iter()
        .filter(|(path, _)| path.starts_with("proc") || path.starts_with("sys"))
        .collect()
}

fn verdicts(json: &str) -> BTreeMap<String, String> {
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!(Schema::of("doctor-2").problems(&value), [""; 0]);
    let checks = value["machines"][0]["checks"].as_array().unwrap().clone();
    checks
        .iter()
        .map(|it| (it["check"].as_str().unwrap().to_owned(), it["verdict"].as_str().unwrap().to_owned()))
        .collect()
}

/// Words of a check, without its name and verdict.
fn said(json: &str, check: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap();
    let checks = value["machines"][0]["checks"].as_array().unwrap();
    let check = checks.iter().find(|it| it["check"] == check).unwrap();
    let readings = check["readings"].as_array().unwrap();
    let readings = readings.iter().map(|it| format!("\n{}: {}", it["from"], it["value"]));
    format!("{}{}", check["message"], readings.collect::<String>())
}

#[test]
fn set_read_back_and_reset_to_the_byte() {
    let root = folder("doctor-fix");
    machine(&root, "1");
    let before = all_files(&root);
    let at = root.display().to_string();
    let found = verdicts(&good(&["doctor", "--root", &at, "--format", "json"]));
    for (check, verdict) in [
        ("numa-balancing", "fail"),
        ("cpu-governor", "fail"),
        ("c-state", "fail"),
        ("pcie-link", "fail"),
        ("gpu-count", "pass"),
        ("xgmi-all", "pass"),
        ("iommu-pt", "pass"),
        ("clock-cap", "unknown"),
        ("smt", "unknown"),
    ] {
        assert_eq!(found[check], verdict, "{check}");
    }
    let script = good(&["doctor", "--root", &at, "--fix"]);
    assert!(
        script.starts_with("#!/bin/sh") && script.contains("put '/proc/sys/kernel/numa_balancing' '0'"),
        "{script}"
    );
    assert_eq!(all_files(&root), before, "--fix alone changes nothing");
    let set = rockhound(&["doctor", "--root", &at, "--fix", "--apply"]);
    assert_eq!(set.code, 0, "{set:?}");
    assert!(set.stdout.contains("/proc/sys/kernel/numa_balancing: 1 -> 0"), "{}", set.stdout);
    let after = verdicts(&good(&["doctor", "--root", &at, "--format", "json"]));
    for check in ["numa-balancing", "cpu-governor", "c-state"] {
        assert_eq!(after[check], "pass", "{check}");
    }
    let reset = rockhound(&["doctor", "--root", &at, "--reset"]);
    assert_eq!(reset.code, 0, "{reset:?}");
    assert_eq!(all_files(&root), before);
    let again = rockhound(&["doctor", "--root", &at, "--reset"]);
    assert_eq!(again.code, 1);
    again.golden("nothing was set");
}

#[test]
fn bundles_of_a_fleet() {
    let dir = folder("doctor-fleet");
    let mut bundles = Vec::new();
    for (name, balancing) in [("a", "0"), ("b", "0"), ("c", "1")] {
        let root = dir.join(name);
        machine(&root, balancing);
        let bundle = dir.join(format!("{name}.tar.zst")).display().to_string();
        let ran =
            rockhound(&["doctor", "--root", &root.display().to_string(), "--capture", &bundle, "--names"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        bundles.push(bundle);
    }
    let text = good(&["doctor", &bundles[0], &bundles[1], &bundles[2], "--compare"]);
    let head: Vec<&str> = text.lines().take(4).collect();
    assert!(
        head[0].starts_with("3 machines") && head[1].ends_with("/c") && head[2].contains("numa-balancing"),
        "{text}"
    );
    let one = verdicts(&good(&["doctor", &bundles[2], "--format", "json"]));
    assert_eq!(one["numa-balancing"], "fail");
    let bytes = std::fs::read(&bundles[0]).unwrap();
    for end in [1, 20, bytes.len() / 2, bytes.len() - 1] {
        let cut = dir.join("cut.tar.zst");
        std::fs::write(&cut, &bytes[..end]).unwrap();
        let ran = rockhound(&["doctor", &cut.display().to_string()]);
        assert_eq!(ran.code, 1, "{end}: {ran:?}");
    }
}

#[test]
fn environments_and_commands() {
    let environment = b"HIP_FORCE_DEV_KERNARG=1\nNCCL_MIN_NCHANELS=112\nAMD_SERIALIZE_KERNEL=3\n";
    let ran = rockhound_with_input(
        &[
            "doctor",
            "-",
            "--env",
            "--fail-on",
            "fail",
            "--",
            "vllm",
            "serve",
            "deepseek-ai/DeepSeek-R1",
            "-tp",
            "8",
        ],
        environment,
    );
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stdout.contains("NCCL_MIN_NCHANNELS exists") && ran.stdout.contains("unset AMD_SERIALIZE_KERNEL"),
        "{}",
        ran.stdout
    );
    let ran = rockhound_with_input(
        &[
            "doctor",
            "-",
            "--env",
            "--format",
            "json",
            "--",
            "VLLM_ROCM_USE_AITER=1",
            "vllm",
            "serve",
            "deepseek-ai/DeepSeek-R1",
        ],
        b"A=1\n",
    );
    assert!(ran.stdout.contains("--block-size 1"), "{}", ran.stdout);
    for form in ["sh", "docker", "slurm"] {
        let text = good(&[
            "doctor",
            "--emit",
            form,
            "--profile",
            "inference",
            "--root",
            &folder("doctor-empty").display().to_string(),
        ]);
        assert!(text.contains("VLLM_ROCM_USE_AITER=1"), "{text}");
    }
    for wrong in [&["doctor", "--fail-on", "nonsense"][..], &["doctor", "--emit", "sh"]] {
        assert_eq!(rockhound(wrong).code, 64, "{wrong:?}");
    }
    let ran = rockhound_with_input(&["doctor", "-"], b"hello\n");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("not recognised"), "{}", ran.stderr);
}

#[test]
fn every_format_and_this_machine() {
    for format in ["text", "json", "csv", "markdown", "sarif", "github"] {
        let ran = rockhound(&["doctor", "--format", format]);
        assert_eq!(ran.code, 0, "{format}: {ran:?}");
        assert!(
            ran.stdout.to_lowercase().contains("unknown") || format == "sarif" || format == "github",
            "{format}: {}",
            ran.stdout
        );
    }
    let sarif: Value = serde_json::from_str(&rockhound(&["doctor", "--format", "sarif"]).stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
}

#[test]
fn faults_in_a_log() {
    let log = b"step 1 41%|Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7ed3b5a00000. Reason: Page not present or supervisor privilege.\nHW Exception by GPU node-4 (Agent handle: 0x1) reason :GPU Hang\n";
    let ran = rockhound_with_input(&["triage", "-", "--format", "json", "--fail-on-fault"], log);
    assert_eq!(ran.code, 2, "{ran:?}");
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(Schema::of("triage-3").problems(&value), [""; 0]);
    assert_eq!(value["incidents"][0]["consequence"], false);
    assert_eq!(value["incidents"][1]["consequence"], true);
    // A log without errors is an answer; text that is no log is not.
    let clean = rockhound_with_input(&["triage", "-", "--format", "json"], b"[rank0]: all is well\n");
    let value: Value = serde_json::from_str(&clean.stdout).unwrap();
    assert_eq!((clean.code, value["notes"].as_array().map(Vec::len)), (0, Some(1)), "{clean:?}");
    assert_eq!(rockhound_with_input(&["triage", "-"], b"all is well\n").code, 1);
    let core = [&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0"[..], &[0; 64]].concat();
    let ran = rockhound_with_input(&["triage", "-"], &core);
    assert_eq!(ran.code, 0, "{ran:?}");
    golden("a core dump of nothing", &ran.stdout);
}

#[test]
fn commands_of_every_launcher() {
    // Command, check, verdict; the golden file has what is said.
    for (command, check, verdict) in [
        ("torchrun --nproc_per_node 4 train.py", "collective-gpus", "warn"),
        ("torchrun --nproc-per-node=8 train.py", "collective-gpus", "pass"),
        ("mpirun -np 8 all_reduce_perf -g 1", "gpus-per-process", "pass"),
        ("mpirun -np 1 all_reduce_perf -g 8", "gpus-per-process", "warn"),
        ("mpirun -np 8 all_reduce_perf -g 1", "nccl-channels", "warn"),
        ("mpirun -np 8 -x NCCL_MIN_NCHANNELS=112 all_reduce_perf -g 1", "nccl-channels", "pass"),
        ("srun -n 8 --gpus 8 python train.py", "gpus-per-process", "pass"),
        ("NCCL_P2P_DISABLE=1 torchrun --nproc_per_node 8 train.py", "nccl-p2p", "fail"),
        ("numactl --cpunodebind=0 mpirun -np 8 all_reduce_perf", "numa-one-node", "warn"),
        ("numactl -N 1 vllm serve m -tp 8", "numa-one-node", "warn"),
        ("python -m sglang.launch_server --disable-cuda-graph", "vllm-settings", "warn"),
        ("NCCL_PROTO=Simple vllm serve m", "nccl-forced", "warn"),
        ("NCCL_PROTO=Simple vllm serve m", "debug-variables", "pass"),
        ("RCCL_MSCCLPP_THRESHOLD=9 torchrun --nproc-per-node 8 t.py", "sub-switches", "pass"),
        ("PYTORCH_ROCM_ARCH=gfx1201 vllm serve m", "vllm-settings", "pass"),
        ("VLLM_ROCM_USE_AITER=1 HIP_VISIBLE_DEVICES=0 vllm serve m", "visible-devices", "warn"),
        ("VLLM_ROCM_USE_AITER=1 HIP_VISIBLE_DEVICES=0 vllm serve m", "vllm-settings", "pass"),
        ("VLLM_USE_AITER_UNIFIED_ATTENTION=1 vllm serve m", "unknown-variables", "warn"),
        ("NCCL_CHECKS_DISABLE=1 RCCL_AINIC_ROCE=1 torchrun t.py", "unknown-variables", "pass"),
    ] {
        let words_of: Vec<&str> = command.split(' ').collect();
        let args = [&["doctor", "-", "--env", "--format", "json", "--"], words_of.as_slice()].concat();
        let ran = rockhound_with_input(&args, b"A=1\n");
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        assert_eq!(verdicts(&ran.stdout)[check], verdict, "{command}: {check}");
        golden(&format!("{command}: {check}"), &said(&ran.stdout, check));
    }
}

#[test]
fn files_that_start_jobs() {
    let scratch = testkit::Scratch::new("doctor-jobs");
    // File, its text, a check with its verdict; the golden file has what is said.
    for (name, text, check, verdict) in [
        (
            "compose.yaml",
            "services:\n  llm:\n    image: i\n    devices: [/dev/kfd, /dev/dri]\n    environment: [NCCL_P2P_DISABLE=1]\n    command: vllm serve m -tp 8\n",
            "docker-ipc",
            "fail",
        ),
        (
            "pod.yaml",
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: a\n      args: [vllm, serve, m]\n      env: [{name: HSA_OVERRIDE_GFX_VERSION, value: 9.4.2}]\n",
            "gfx-override",
            "fail",
        ),
        (
            "job.sh",
            "#!/bin/bash\n#SBATCH --ntasks-per-node=8\nexport AMD_SERIALIZE_KERNEL=3\nsrun python t.py\n",
            "debug-variables",
            "fail",
        ),
        ("Dockerfile", "FROM a\nENV HIP_LAUNCH_BLOCKING=1\nCMD vllm serve m\n", "debug-variables", "fail"),
    ] {
        let path = scratch.write(name, text.as_bytes());
        let ran = rockhound(&["doctor", &path.to_string_lossy(), "--format", "json"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        assert_eq!(verdicts(&ran.stdout)[check], verdict, "{name}: {}", ran.stdout);
        golden(&format!("{name}: {check}"), &said(&ran.stdout, check));
        assert!(!verdicts(&ran.stdout).contains_key("numa-balancing"), "{name}: the machine is not given");
    }
    // With a machine's output the job is judged on it.
    let cpu = scratch.write("cmdline", b"BOOT_IMAGE=/x root=/dev/sda ro\n");
    let compose = scratch.path("compose.yaml");
    let ran = rockhound(&["doctor", &compose.to_string_lossy(), &cpu.to_string_lossy(), "--format", "json"]);
    assert!(verdicts(&ran.stdout).contains_key("iommu-pt"), "{ran:?}");
    let nothing = scratch.write("empty.yaml", b"services:\n");
    let ran = rockhound(&["doctor", &nothing.to_string_lossy()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.golden("empty.yaml");
}

#[test]
#[cfg(target_os = "linux")]
fn a_running_process() {
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .env("NCCL_P2P_DISABLE", "1")
        .env("AMD_SERIALIZE_KERNEL", "3")
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    // The environment is the program's once it runs.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let ran = rockhound(&["doctor", "--pid", &pid, "--format", "json"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = verdicts(&ran.stdout);
    assert_eq!(found["nccl-p2p"], "fail");
    assert!(
        ran.stdout.contains(&format!("/proc/{pid}/environ")) && ran.stdout.contains("AMD_SERIALIZE_KERNEL")
    );
    assert!(!found.contains_key("numa-balancing"), "the machine is left out");
    let gone = rockhound(&["doctor", "--pid", &pid]);
    assert!(gone.code == 1 && gone.stderr.contains(&pid), "{gone:?}");
}

#[test]
fn code_of_inductor() {
    let code = b"from torch._inductor.runtime import triton_heuristics\n@triton_heuristics.pointwise(inductor_meta={'max_autotune': False, 'force_disable_caches': True, 'is_hip': True})\n";
    let ran = rockhound_with_input(&["doctor", "-", "--format", "json"], code);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(verdicts(&ran.stdout)["inductor-switches"], "warn");
    golden("inductor-switches: no cache", &said(&ran.stdout, "inductor-switches"));
}

#[test]
fn folder_of_inductors_cache() {
    let folder = folder("torchinductor");
    let code = "from torch._inductor.runtime import triton_heuristics\n@triton_heuristics.pointwise(inductor_meta={'max_autotune': True, 'is_hip': True})\n";
    let winner = "{\"XBLOCK\": 512, \"found_by_coordesc\": false, \"time_taken_ms\": 250}";
    for (path, text) in [("fxgraph/ab/fabc/entry", ""), ("ab/cab1.py", code), ("ab/cab1.best_config", winner)]
    {
        let path = folder.join("cache").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let cache = folder.join("cache").display().to_string();
    let ran = rockhound(&["doctor", "--env", &cache, "--format", "json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(verdicts(&ran.stdout)["inductor-switches"], "pass", "{}", ran.stdout);
    golden("inductor-switches: a cache", &said(&ran.stdout, "inductor-switches"));
    assert!(ran.stdout.contains(" 1 winner "), "{}", ran.stdout);
    // The program in the folder was written with autotuning, the environment given beside it asks for none.
    let environment = folder.join("env");
    std::fs::write(&environment, "TORCHINDUCTOR_MAX_AUTOTUNE=0\n").unwrap();
    let ran = rockhound(&["doctor", "--env", &cache, &environment.display().to_string(), "--format", "json"]);
    golden("inductor-switches: other environment", &said(&ran.stdout, "inductor-switches"));
    // Another folder is none.
    let ran = rockhound(&["doctor", &folder.join("cache/ab/..").display().to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    let ran = rockhound(&["doctor", &folder.join("empty").display().to_string()]);
    assert_eq!(ran.code, 1, "{ran:?}");
    ran.golden("an empty folder");
}
