//! `docker inspect` (podman's has the same fields).

use serde_json::Value;

/// A container as it is started.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DockerContainer {
    /// Name.
    pub name: String,
    /// Kind of the source: `docker inspect`.
    pub source: &'static str,
    /// Devices handed in, by their path on the host.
    pub devices: Vec<String>,
    /// Everything is allowed.
    pub privileged: bool,
    /// `host`, `private`, ...
    pub ipc_mode: String,
    /// Size of `/dev/shm`, bytes.
    pub shm_bytes: Option<u64>,
    /// Capabilities added, without `CAP_`.
    pub capabilities: Vec<String>,
    /// Security options.
    pub security: Vec<String>,
    /// Groups added.
    pub groups: Vec<String>,
    /// User; empty is root.
    pub user: String,
    /// Soft limit of locked memory, bytes; -1 is none.
    pub memlock: Option<i64>,
    /// CPUs allowed; empty is all.
    pub cpus: String,
    /// CPU time allowed, in billionths of a CPU; 0 is all.
    pub nano_cpus: u64,
    /// Memory allowed, bytes; 0 is all.
    pub memory_bytes: u64,
    /// Variables, `NAME=VALUE`.
    pub environment: Vec<String>,
}

/// Whether JSON is of this tool.
pub(crate) fn is(value: &Value) -> bool {
    value.as_array().and_then(|list| list.first()).is_some_and(|it| it.get("HostConfig").is_some())
}

/// All containers.
pub(crate) fn read(value: &Value) -> Vec<DockerContainer> {
    value.as_array().into_iter().flatten().filter_map(container).collect()
}

fn container(value: &Value) -> Option<DockerContainer> {
    let host = value.get("HostConfig")?;
    let list = |value: Option<&Value>| -> Vec<String> {
        value
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let devices = host.get("Devices").and_then(Value::as_array);
    let ulimits = host.get("Ulimits").and_then(Value::as_array);
    let memlock =
        ulimits.into_iter().flatten().find(|it| it.get("Name").and_then(Value::as_str) == Some("memlock"));
    let config = value.get("Config");
    Some(DockerContainer {
        name: text(value.get("Name")).trim_start_matches('/').to_owned(),
        source: "docker inspect",
        devices: devices
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("PathOnHost")?.as_str())
            .map(str::to_owned)
            .collect(),
        privileged: host.get("Privileged").and_then(Value::as_bool).unwrap_or(false),
        ipc_mode: text(host.get("IpcMode")),
        shm_bytes: host.get("ShmSize").and_then(Value::as_u64),
        capabilities: list(host.get("CapAdd"))
            .iter()
            .map(|it| it.trim_start_matches("CAP_").to_owned())
            .collect(),
        security: list(host.get("SecurityOpt")),
        groups: list(host.get("GroupAdd")),
        user: text(config.and_then(|it| it.get("User"))),
        memlock: memlock.and_then(|it| it.get("Soft")).and_then(Value::as_i64),
        cpus: text(host.get("CpusetCpus")),
        nano_cpus: host.get("NanoCpus").and_then(Value::as_u64).unwrap_or(0),
        memory_bytes: host.get("Memory").and_then(Value::as_u64).unwrap_or(0),
        environment: list(config.and_then(|it| it.get("Env"))),
    })
}
