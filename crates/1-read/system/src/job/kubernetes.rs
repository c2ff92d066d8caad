//! Manifests of Kubernetes: the containers of every pod, whatever kind of object makes it.

use super::{Job, bytes, defaulted, is_true, text, texts};
use crate::DockerContainer;
use crate::command::Command;
use serde_json::Value;

/// Resource by which AMD's device plugin hands out GPUs.
const GPUS: &str = "amd.com/gpu";
/// Objects within objects beyond which a manifest is not followed.
const DEEPEST: usize = 24;

pub(super) fn read(name: &str, documents: &[Value]) -> Vec<Job> {
    let mut jobs = Vec::new();
    documents.iter().for_each(|it| pods(name, it, 0, &mut jobs));
    jobs
}

/// Looks for specifications of pods: objects with `containers`.
fn pods(file: &str, value: &Value, depth: usize, jobs: &mut Vec<Job>) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(map) => {
            if let Some(Value::Array(containers)) = map.get("containers") {
                jobs.extend(containers.iter().map(|it| job(file, value, it)));
            }
            map.iter()
                .filter(|(key, _)| *key != "containers")
                .for_each(|(_, it)| pods(file, it, depth + 1, jobs));
        }
        Value::Array(items) => items.iter().for_each(|it| pods(file, it, depth + 1, jobs)),
        _ => {}
    }
}

fn job(file: &str, pod: &Value, value: &Value) -> Job {
    let own = text(value.get("name")).unwrap_or("without a name");
    let name = format!("{file}, container {own}");
    let mut notes = Vec::new();
    let mut environment = Vec::new();
    for it in value.get("env").and_then(Value::as_array).into_iter().flatten() {
        let Some(variable) = text(it.get("name")) else { continue };
        match it.get("value").and_then(Value::as_str) {
            Some(value) => environment.push((variable.to_owned(), defaulted(value))),
            None => notes.push(format!(
                "{name}: {variable} comes from elsewhere (`valueFrom`): its value is not known"
            )),
        }
    }
    if value.get("envFrom").is_some() {
        notes.push(format!("{name}: variables of `envFrom` are not known: give the output of `env` in it"));
    }
    let mut words = texts(value.get("command"));
    words.extend(texts(value.get("args")));
    Job {
        environment,
        command: (!words.is_empty()).then(|| Command::parse(&words)),
        container: Some(container(own, pod, value)),
        kind: "container of Kubernetes",
        name,
        notes,
    }
}

fn container(name: &str, pod: &Value, value: &Value) -> DockerContainer {
    let resources = value.get("resources");
    let limit = |key: &str| {
        let of = |part: &str| text(resources?.get(part)?.get(key));
        of("limits").or(of("requests"))
    };
    let gpus = limit(GPUS).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    let host_path = |volume: &Value| text(volume.get("hostPath")?.get("path")).map(str::to_owned);
    let mut devices: Vec<String> =
        mounts(pod, value).filter_map(|(_, it)| host_path(it)).filter(|it| it.starts_with("/dev/")).collect();
    if gpus > 0 {
        devices.extend(["/dev/kfd".to_owned(), "/dev/dri".to_owned()]);
    }
    let context = |key: &str| {
        let of = |it: &Value| it.get("securityContext").and_then(|it| it.get(key)).cloned();
        of(value).or_else(|| of(pod))
    };
    let added = context("capabilities").and_then(|it| it.get("add").cloned());
    let seccomp = context("seccompProfile");
    let unconfined = seccomp.is_some_and(|it| text(it.get("type")) == Some("Unconfined"));
    let shared =
        mounts(pod, value).find(|(path, _)| *path == "/dev/shm").and_then(|(_, it)| it.get("emptyDir"));
    let (mode, size) = match shared {
        _ if is_true(pod.get("hostIPC")) => ("host", None),
        Some(volume) => {
            let size = text(volume.get("sizeLimit")).and_then(bytes);
            (if size.is_none() { "of the pod, as large as its memory" } else { "private" }, size)
        }
        // The default of container runtimes.
        None => ("private", Some(64 << 20)),
    };
    let cpus = text(resources.and_then(|it| it.get("limits")?.get("cpu")));
    DockerContainer {
        name: name.to_owned(),
        source: "manifest of Kubernetes",
        devices,
        privileged: is_true(context("privileged").as_ref()),
        ipc_mode: mode.to_owned(),
        shm_bytes: size,
        capabilities: texts(added.as_ref()),
        security: if unconfined { vec!["seccomp=unconfined".to_owned()] } else { Vec::new() },
        groups: Vec::new(),
        user: text(context("runAsUser").as_ref()).unwrap_or_default().to_owned(),
        // A manifest cannot set the limit: the container runtime does.
        memlock: Some(-1),
        cpus: String::new(),
        nano_cpus: cpus.and_then(cpu_time).unwrap_or(0),
        memory_bytes: text(resources.and_then(|it| it.get("limits")?.get("memory")))
            .and_then(bytes)
            .unwrap_or(0),
        environment: Vec::new(),
    }
}

/// `16` or `500m` CPUs in billionths.
fn cpu_time(text: &str) -> Option<u64> {
    let (number, unit) = text.strip_suffix('m').map_or((text, 1e9), |it| (it, 1e6));
    Some((number.parse::<f64>().ok()? * unit) as u64)
}

/// Paths at which volumes are mounted, with the volumes.
fn mounts<'a>(pod: &'a Value, container: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let volumes = pod.get("volumes").and_then(Value::as_array);
    let mounts = container.get("volumeMounts").and_then(Value::as_array);
    mounts.into_iter().flatten().filter_map(move |mount| {
        let name = text(mount.get("name"))?;
        let volume = volumes?.iter().find(|it| text(it.get("name")) == Some(name))?;
        Some((text(mount.get("mountPath"))?, volume))
    })
}
