//! The report of `collect_env.py` of PyTorch and vLLM, old and new form, and of SGLang's `check_env`.
//!
//! Both are lines `key: value` with outputs of tools between them; the new form of vLLM has headings between
//! rules of `=`.

use super::lscpu::{self, Lscpu};
use super::rocm_smi;
use crate::gpu::{Gpu, PairLink};
use crate::{Environment, Fact};
use sorting::Sort;

/// A report.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CollectEnv {
    /// GPUs; how many follows from the topology, or else one represents all.
    pub gpus: Vec<Gpu>,
    /// Links between them.
    pub pairs: Vec<PairLink>,
    /// CPU.
    pub cpu: Lscpu,
    /// Version of ROCm.
    pub rocm: Option<String>,
    /// Operating system.
    pub system: Option<String>,
    /// Versions of programs and libraries: `PyTorch`, `vLLM`, `triton`.
    pub versions: Vec<(String, String)>,
    /// Variables that the report lists; absent if it has no such list.
    pub environment: Option<Environment>,
}

/// Keys whose values are versions, and the names they are shown by.
const VERSIONS: &[(&str, &str)] = &[
    ("PyTorch version", "PyTorch"),
    ("vLLM Version", "vLLM"),
    ("vLLM version", "vLLM"),
    ("PyTorch", "PyTorch"),
    ("sglang", "SGLang"),
    ("triton", "triton"),
    ("vllm", "vLLM"),
    ("ROCM Driver Version", "driver"),
    ("Python version", "Python"),
    ("HIP runtime version", "HIP"),
    ("MIOpen runtime version", "MIOpen"),
    ("Neuron SDK Version", "Neuron"),
];
/// Packages of `pip list` and `conda list` whose versions matter.
const PACKAGES: &[&str] = &[
    "torch",
    "pytorch-triton-rocm",
    "triton",
    "aiter",
    "amd-aiter",
    "flash-attn",
    "flash_attn",
    "transformers",
    "numpy",
    "sgl-kernel",
    "vllm",
    "sglang",
    "deepspeed",
    "accelerate",
    "bitsandbytes",
];

/// Whether a text is such a report.
pub(crate) fn is(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
    has("ROCM available:")
        || has("PyTorch version")
            && (has("ROCM used to build PyTorch") || has("Is debug build") || has("CUDA used to build"))
}

/// Reads a report.
pub(crate) fn read(text: &str, from: &str) -> CollectEnv {
    let mut report = CollectEnv { cpu: lscpu::read(text), ..CollectEnv::default() };
    let mut gpu: Option<(String, Option<String>)> = None;
    let mut listed: Vec<(u32, (String, Option<String>))> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some((name, version)) = package(line)
            && !report.versions.iter().any(|(it, _)| *it == name)
        {
            report.versions.push((name, version));
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if value.is_empty() || value.eq_ignore_ascii_case("n/a") || value.contains("Could not collect") {
            continue;
        }
        // `GPU 0,1,2: AMD Instinct MI300X` of SGLang, a line for each model.
        if let Some(indices) = list_of_gpus(key) {
            listed.extend(indices.into_iter().map(|index| (index, model(value))));
            continue;
        }
        match key {
            "OS" => report.system = Some(value.to_owned()),
            "HIPCC" => {
                let version = value.rsplit(' ').next().unwrap_or(value);
                report.rocm.get_or_insert_with(|| version.to_owned());
            }
            "ROCM used to build PyTorch" | "ROCM Version" | "ROCM version" => {
                report.rocm.get_or_insert_with(|| value.to_owned());
            }
            "GPU models and configuration" => gpu = Some(model(value)),
            _ => {
                if let Some((_, name)) = VERSIONS.iter().find(|(it, _)| *it == key)
                    && !report.versions.iter().any(|(it, _)| it == name)
                {
                    report.versions.push(((*name).to_owned(), value.to_owned()));
                }
            }
        }
    }
    let (mut gpus, pairs) = rocm_smi::read_text(text, from);
    gpus.extend(gpus_of_pairs(&pairs, &gpus));
    for (index, model) in &listed {
        if gpus.iter().all(|it| it.index != Some(*index)) {
            gpus.push(Gpu { index: Some(*index), ..Gpu::new(format!("GPU {index}")) });
        }
        gpus.iter_mut().filter(|it| it.index == Some(*index)).for_each(|it| fill(it, model, from));
    }
    if let Some(model) = gpu {
        if gpus.is_empty() {
            gpus.push(Gpu::new("GPU 0"));
        }
        gpus.iter_mut().for_each(|it| fill(it, &model, from));
    }
    report.gpus = gpus;
    report.pairs = pairs;
    report.environment = environment(text);
    report
}

/// Fills in what is not known of a GPU from its model and target.
fn fill(gpu: &mut Gpu, (product, target): &(String, Option<String>), from: &str) {
    gpu.product.fill(Fact::known(product.clone(), from));
    if let Some(target) = target {
        gpu.target.fill(Fact::known(target.clone(), from));
    }
}

/// Indices of `GPU 0,1,2`.
fn list_of_gpus(key: &str) -> Option<Vec<u32>> {
    key.strip_prefix("GPU ")?.split(',').map(|index| index.trim().parse().ok()).collect()
}

/// `AMD Instinct MI300X (gfx942:sramecc+:xnack-)`.
fn model(text: &str) -> (String, Option<String>) {
    let text = text.strip_prefix("GPU 0:").unwrap_or(text).trim();
    match text.split_once('(') {
        Some((name, rest)) => {
            let target = rest.split([':', ')']).next().unwrap_or_default().trim();
            (name.trim().to_owned(), target.starts_with("gfx").then(|| target.to_owned()))
        }
        None => (text.to_owned(), None),
    }
}

/// GPUs that only the matrix of links names.
fn gpus_of_pairs(pairs: &[PairLink], known: &[Gpu]) -> Vec<Gpu> {
    let mut indices: Vec<u32> =
        pairs.iter().filter_map(|it| it.from.strip_prefix("GPU ")?.parse().ok()).collect();
    indices.in_order();
    indices.dedup();
    let missing = indices.into_iter().filter(|index| known.iter().all(|it| it.index != Some(*index)));
    missing.map(|index| Gpu { index: Some(index), ..Gpu::new(format!("GPU {index}")) }).collect()
}

/// `[pip3] torch==2.9.0`, `[conda] numpy 1.26.4 py310`.
fn package(line: &str) -> Option<(String, String)> {
    let rest = line
        .strip_prefix("[pip3]")
        .or_else(|| line.strip_prefix("[conda]"))
        .or_else(|| line.strip_prefix("[pip]"))?;
    let (name, version) = rest.trim().split_once("==").or_else(|| rest.trim().split_once(' '))?;
    let version = version.split_whitespace().next()?;
    PACKAGES.contains(&name.trim()).then(|| (name.trim().to_owned(), version.to_owned()))
}

/// Assignments under the heading `Environment Variables`, or at the end of the old form.
fn environment(text: &str) -> Option<Environment> {
    let is_assignment = |line: &&str| {
        line.split_once('=').is_some_and(|(name, _)| {
            name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let start = lines.iter().position(|line| line.eq_ignore_ascii_case("environment variables"));
    let from = start.map_or(0, |at| at + 1);
    let assignments: Vec<&str> = lines[from..].iter().copied().filter(|line| is_assignment(line)).collect();
    (start.is_some() || !assignments.is_empty()).then(|| Environment::read(assignments.join("\n").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let new = "==============\n  System Info\n==============\nOS      : Ubuntu 22.04\n==============\n PyTorch Info\n==============\nPyTorch version  : 2.9.0\nROCM used to build PyTorch : 7.0.5\nGPU models and configuration : AMD Instinct MI300X (gfx942:sramecc+:xnack-)\nHIP runtime version : 7.0.5\nCPU(s): 4\nModel name: EPYC\nNUMA node0 CPU(s): 0-3\n===== Link Type between two GPUs =====\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n==============\n     Environment Variables\n==============\nNCCL_DEBUG=INFO\n";
        let old = "Collecting environment information...\nPyTorch version: 2.9.0\nIs debug build: False\nROCM used to build PyTorch: 7.0.5\n\nOS: Ubuntu 22.04\nGPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)\nHIP runtime version: 7.0.5\nCPU:\nCPU(s): 4\nModel name: EPYC\nNUMA node0 CPU(s): 0-3\n[pip3] triton==3.4.0\n==== Link Type between two GPUs ====\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\nNCCL_DEBUG=INFO\n";
        for text in [new, old] {
            assert!(is(text));
            let it = read(text, "f");
            assert_eq!(it.gpus.len(), 2, "{text}");
            assert_eq!(it.gpus[1].product.get().map(String::as_str), Some("AMD Instinct MI300X"));
            assert_eq!(it.gpus[1].target.get().map(String::as_str), Some("gfx942"));
            assert_eq!((it.rocm.as_deref(), it.system.as_deref()), (Some("7.0.5"), Some("Ubuntu 22.04")));
            assert_eq!(it.cpu.model.as_deref(), Some("EPYC"));
            assert_eq!(it.environment.as_ref().and_then(|it| it.get("NCCL_DEBUG")), Some("INFO"));
            assert_eq!(it.versions[0], ("PyTorch".to_owned(), "2.9.0".to_owned()));
        }
        assert_eq!(read(old, "f").versions.last(), Some(&("triton".to_owned(), "3.4.0".to_owned())));
        let sglang = "Python: 3.12.8\nROCM available: True\nGPU 0,1: AMD Instinct MI300X\nHIPCC: HIP version: 6.3.4-fa1\nPyTorch: 2.6.0\nsglang: 0.5.2\nAMD Topology:\n==== Link Type between two GPUs ====\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n";
        assert!(is(sglang));
        let it = read(sglang, "f");
        assert_eq!((it.gpus.len(), it.rocm.as_deref()), (2, Some("6.3.4-fa1")));
        assert_eq!(it.gpus[0].product.get().map(String::as_str), Some("AMD Instinct MI300X"));
        assert_eq!(it.versions[1], ("SGLang".to_owned(), "0.5.2".to_owned()));
        // A pasted matrix breaks off, and GPUs differ.
        let it = read(&sglang.replace("0,1: AMD", "0,1,2: AMD Instinct MI250X\nGPU 3: AMD"), "f");
        let models: Vec<_> = it.gpus.iter().map(|it| it.product.get().map(String::as_str)).collect();
        let [old, new] = ["AMD Instinct MI250X", "AMD Instinct MI300X"].map(Some);
        assert_eq!(models, [old, old, old, new]);
        assert!(!is("hello\n"));
    }
}
