//! Compose files of docker and podman.

use super::{Job, assignment, bytes, defaulted, is_true, text, texts};
use crate::DockerContainer;
use crate::command::{Command, split};
use serde_json::Value;

pub(super) fn read(name: &str, documents: &[Value]) -> Vec<Job> {
    let services = documents.iter().filter_map(|it| it.get("services")?.as_object()).flatten();
    services.map(|(service, value)| job(name, service, value)).collect()
}

fn job(file: &str, service: &str, value: &Value) -> Job {
    let name = format!("{file}, service {service}");
    let mut notes = Vec::new();
    let files = texts(value.get("env_file"));
    if !files.is_empty() {
        notes.push(format!("{}: variables of {} are not read: give the file too", name, files.join(", ")));
    }
    let mut words = command(value.get("entrypoint"));
    words.extend(command(value.get("command")));
    let container = container(service, value);
    Job {
        environment: environment(value.get("environment")),
        command: (!words.is_empty()).then(|| Command::parse(&words)),
        container: Some(container),
        kind: "service of a compose file",
        name,
        notes,
    }
}

/// A command as a list of words, or as a text that a shell splits.
fn command(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => split(&text.replace("\\\n", " ").replace('\n', " ")),
        other => texts(other),
    }
}

/// A map, or a list of `NAME=VALUE`.
fn environment(value: Option<&Value>) -> Vec<(String, String)> {
    match value {
        Some(Value::Object(map)) => {
            map.iter().filter_map(|(name, value)| Some((name.clone(), defaulted(value.as_str()?)))).collect()
        }
        other => texts(other).iter().filter_map(|it| assignment(it)).collect(),
    }
}

fn container(service: &str, value: &Value) -> DockerContainer {
    let devices = texts(value.get("devices"));
    let memlock = value.get("ulimits").and_then(|it| it.get("memlock"));
    let memlock = match memlock {
        Some(Value::Object(map)) => text(map.get("soft")),
        other => text(other),
    };
    let size = |key: &str| text(value.get(key)).and_then(bytes);
    let limits = value.get("deploy").and_then(|it| it.get("resources")).and_then(|it| it.get("limits"));
    let cpus = text(value.get("cpus")).or(text(limits.and_then(|it| it.get("cpus"))));
    let memory = text(limits.and_then(|it| it.get("memory"))).and_then(bytes);
    DockerContainer {
        name: service.to_owned(),
        source: "compose file",
        devices: devices.iter().map(|it| it.split(':').next().unwrap_or(it).to_owned()).collect(),
        privileged: is_true(value.get("privileged")),
        ipc_mode: text(value.get("ipc")).unwrap_or("private").to_owned(),
        shm_bytes: Some(size("shm_size").unwrap_or(64 << 20)),
        capabilities: texts(value.get("cap_add"))
            .iter()
            .map(|it| it.trim_start_matches("CAP_").to_owned())
            .collect(),
        security: texts(value.get("security_opt")),
        groups: texts(value.get("group_add")),
        user: text(value.get("user")).unwrap_or_default().to_owned(),
        memlock: memlock.and_then(|it| it.parse().ok()),
        cpus: text(value.get("cpuset")).unwrap_or_default().to_owned(),
        nano_cpus: cpus.and_then(|it| it.parse::<f64>().ok()).map_or(0, |it| (it * 1e9) as u64),
        memory_bytes: size("mem_limit").or(memory).unwrap_or(0),
        environment: Vec::new(),
    }
}
