//! ENV010: vLLM servers whose settings do not fit their model.

use crate::{Check, HostEvidence, Judged, Rule};
use system::Environment;
use system::command::{Kind, Stage};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV010",
    title: "settings of a vLLM server do not fit its model",
    severity: Severity::Severe,
    page: include_str!("env010.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

const CHECK: &str = "vllm-settings";
const AITER: &str = "VLLM_ROCM_USE_AITER";
const UNIFIED: &str = "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION";
const MHA: &str = "VLLM_ROCM_USE_AITER_MHA";

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let mut judged = log(evidence);
    if let Some(stage) = evidence.command.and_then(|command| command.stage(Kind::VllmServe)) {
        match evidence.environment(CHECK) {
            Ok(environment) => {
                judged.extend(server(stage, environment, has_aiter(evidence, environment)));
            }
            Err(unknown) => judged.push(unknown),
        }
    }
    let sglang = evidence.command.and_then(|command| command.stage(Kind::SglangServe));
    judged.extend(sglang.and_then(graphs_of_sglang));
    if evidence.command.is_some_and(|it| it.stage(Kind::VllmServe).is_some()) && judged.is_empty() {
        judged.push(
            Judged::pass(CHECK, "arguments and variables fit the model").read("the command", "vllm serve"),
        );
    }
    judged.push(prefer(evidence));
    judged
}

fn prefer(evidence: &HostEvidence<'_>) -> Judged {
    const PREFER: &str = "hipblaslt-prefer";
    const NAME: &str = "TORCH_BLAS_PREFER_HIPBLASLT";
    match evidence.environment(PREFER) {
        Err(judged) => judged,
        Ok(environment) if environment.is_on(NAME) => {
            Judged::pass(PREFER, "hipBLASLt is preferred").read(evidence.environment_from(NAME), "1")
        }
        Ok(environment) => match environment.said(NAME) {
            Some(value) => Judged::warn(PREFER, format!("{NAME}={value}: rocBLAS is preferred"))
                .read(evidence.environment_from(NAME), value),
            None => Judged::unknown(
                PREFER,
                "not set; which library is preferred depends on the GPU and on PyTorch",
            ),
        },
    }
}

/// Checks of the log.
fn log(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    let Some(log) = &evidence.machine.server_log else { return Vec::new() };
    let mut judged: Vec<Judged> = log
        .missing_moe
        .iter()
        .map(|(config, line)| {
            Judged::warn(CHECK, format!("expert layers without a tuned configuration: {config}"))
                .read(format!("{}:{line}", log.file), config)
        })
        .collect();
    if let Some((backend, line)) = log.backend {
        let text = format!("attention backend {backend}");
        judged.push(Judged::pass(CHECK, text.clone()).read(format!("{}:{line}", log.file), text));
    }
    judged
}

fn server(stage: &Stage, environment: &Environment, has_aiter: bool) -> Vec<Judged> {
    let model = stage
        .value(&["--model"])
        .or(stage.words.first().map(String::as_str))
        .unwrap_or_default()
        .to_ascii_lowercase();
    let aiter = environment.is_on(AITER);
    let mut judged = Vec::new();
    if !aiter && has_aiter {
        judged.push(
            Judged::warn(CHECK, format!("{AITER} is not 1: the AITER kernels are off, which is the default"))
                .read(AITER, environment.get(AITER).unwrap_or("not set"))
                .set_by(format!("export {AITER}=1")),
        );
    }
    judged.extend(attention(stage, environment, &model, aiter));
    judged.extend(options(stage, environment));
    if stage.value(&["--compilation-config", "-O", "-cc"]).is_some_and(|it| it.contains("\"FULL"))
        && aiter
        && environment.get(MHA) != Some("0")
    {
        judged.push(
            Judged::warn(
                CHECK,
                "AITER's attention captures full graphs for uniform batches only; others run without",
            )
            .read("--compilation-config", "cudagraph_mode FULL"),
        );
    }
    judged
}

fn attention(stage: &Stage, environment: &Environment, model: &str, aiter: bool) -> Vec<Judged> {
    let mut judged = Vec::new();
    let latent = ["deepseek-r1", "deepseek-v2", "deepseek-v3", "kimi-k2"].iter().any(|it| model.contains(it));
    if latent && aiter && stage.value(&["--block-size"]) != Some("1") {
        judged.push(
            Judged::fail(CHECK, "a model with latent attention (MLA) needs --block-size 1 with AITER")
                .read("--block-size", stage.value(&["--block-size"]).unwrap_or("not given"))
                .set_by("vllm serve ... --block-size 1"),
        );
    }
    let unified = environment.is_on(UNIFIED);
    let split = environment.is_on("VLLM_V1_USE_PREFILL_DECODE_ATTENTION");
    let needed = format!("{AITER}=1 {UNIFIED}=1 {MHA}=0 VLLM_V1_USE_PREFILL_DECODE_ATTENTION=0");
    if model.contains("gpt-oss") && !(aiter && unified && environment.get(MHA) == Some("0") && !split) {
        judged.push(
            Judged::fail(CHECK, "gpt-oss needs unified attention")
                .read(UNIFIED, environment.get(UNIFIED).unwrap_or("not set"))
                .set_by(format!("export {needed}")),
        );
    } else if unified && (environment.get(MHA) != Some("0") || split) {
        let what = if split {
            "VLLM_V1_USE_PREFILL_DECODE_ATTENTION=0".to_owned()
        } else {
            format!("{MHA}=0 (its default is 1)")
        };
        judged.push(
            Judged::fail(CHECK, format!("unified attention needs {what}"))
                .read(MHA, environment.get(MHA).unwrap_or("not set"))
                .set_by(format!("export {needed}")),
        );
    }
    judged
}

fn options(stage: &Stage, environment: &Environment) -> Vec<Judged> {
    let mut judged = Vec::new();
    let number = |names: &[&str]| stage.value(names).and_then(|it| it.parse::<f64>().ok());
    if let Some(share) = number(&["--gpu-memory-utilization"]).filter(|it| *it > 0.95) {
        judged.push(
            Judged::fail(
                CHECK,
                format!(
                    "--gpu-memory-utilization {share}: at most 0.95, or graphs and RCCL run out of memory"
                ),
            )
            .read("--gpu-memory-utilization", share)
            .set_by("vllm serve ... --gpu-memory-utilization 0.95"),
        );
    }
    if stage.value(&["--quantization", "-q"]) == Some("awq") && !environment.is_on("VLLM_USE_TRITON_AWQ") {
        judged.push(
            Judged::warn(
                CHECK,
                "AWQ runs on Triton kernels only: vLLM sets VLLM_USE_TRITON_AWQ=1 itself and warns",
            )
            .read("--quantization", "awq")
            .set_by("export VLLM_USE_TRITON_AWQ=1"),
        );
    }
    if stage.has(&["--enforce-eager"]) {
        judged.push(
            Judged::warn(CHECK, "--enforce-eager: no graphs, so small batches wait for launches")
                .read("--enforce-eager", "given")
                .set_by("vllm serve without --enforce-eager"),
        );
    }
    if let Some(size) = number(&["--tensor-parallel-size", "-tp"]).filter(|it| *it > 8.0) {
        judged.push(
            Judged::warn(CHECK, format!("tensor parallel over {size} GPUs: beyond the 8 that XGMI links"))
                .read("--tensor-parallel-size", size)
                .set_by("vllm serve ... -tp 8 with pipeline, data or expert parallelism between nodes"),
        );
    }
    judged
}

/// Options of SGLang that turn graphs off.
fn graphs_of_sglang(stage: &Stage) -> Option<Judged> {
    let option =
        ["--disable-cuda-graph", "--disable-cuda-graph-padding"].into_iter().find(|it| stage.has(&[it]))?;
    let padding = option.ends_with("padding");
    let text = match padding {
        true => "graphs only for batches of exactly the captured sizes",
        false => "no graphs, so small batches wait for launches",
    };
    let judged = Judged::warn(CHECK, format!("{option}: {text}")).read(option, "given");
    Some(judged.set_by(format!("sglang.launch_server without {option}")))
}

/// True unless every GPU that is known, or for which PyTorch was built, is one without AITER's kernels.
fn has_aiter(evidence: &HostEvidence<'_>, environment: &Environment) -> bool {
    let gpus = evidence.machine.known_gpus();
    let known: Vec<&str> = gpus.iter().filter_map(|it| it.target.get().map(String::as_str)).collect();
    let built = environment.get("PYTORCH_ROCM_ARCH").unwrap_or_default();
    let built: Vec<&str> = built.split([';', ',', ' ']).filter(|it| !it.is_empty()).collect();
    let targets = if known.is_empty() { built } else { known };
    let name = |it: &str| it.split(':').next().unwrap_or(it).to_owned();
    targets.is_empty() || targets.iter().any(|it| arch::Target::by_name(&name(it)).is_some())
}
