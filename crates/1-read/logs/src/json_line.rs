//! Lines that are JSON objects: Docker's `json-file`, structured loggers.

use serde_json::{Map, Value};

/// Text, time, level and speaker of a JSON line.
pub(crate) struct JsonLine {
    pub(crate) text: String,
    pub(crate) time: Option<String>,
    pub(crate) level: Option<String>,
    pub(crate) rank: Option<u32>,
    pub(crate) pid: Option<u64>,
    pub(crate) host: Option<String>,
    pub(crate) unit: Option<String>,
}

const TEXT: &[&str] = &["message", "msg", "log", "text", "MESSAGE", "event", "textPayload", "body"];
const TIME: &[&str] =
    &["time", "timestamp", "ts", "@timestamp", "asctime", "__REALTIME_TIMESTAMP", "datetime"];
const LEVEL: &[&str] = &["level", "levelname", "severity", "lvl", "PRIORITY", "log_level"];
const RANK: &[&str] = &["rank", "global_rank", "local_rank", "process_index"];
const HOST: &[&str] = &["host", "hostname", "node", "_HOSTNAME"];
const PID: &[&str] = &["pid", "process", "_PID", "process_id"];
const UNIT: &[&str] = &["pod", "pod_name", "container", "container_name", "service", "_SYSTEMD_UNIT"];

/// Reads a line that is a JSON object with a message.
pub(crate) fn read(line: &str) -> Option<JsonLine> {
    let line = line.trim();
    if !line.starts_with("{\"") || !line.ends_with('}') {
        return None;
    }
    let Ok(Value::Object(map)) = serde_json::from_str::<Value>(line) else { return None };
    let text = string(&map, TEXT)?;
    let number = |names: &[&str]| string(&map, names).and_then(|it| it.parse::<u64>().ok());
    Some(JsonLine {
        text: text.trim_end_matches(['\n', '\r']).to_owned(),
        time: string(&map, TIME),
        level: string(&map, LEVEL),
        rank: number(RANK).and_then(|it| u32::try_from(it).ok()),
        pid: number(PID),
        host: string(&map, HOST),
        unit: string(&map, UNIT),
    })
}

fn string(map: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| match map.get(*name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}
