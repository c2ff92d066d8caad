//! `amd-smi`: JSON of old and new versions, and the indented text.
//!
//! The text is read into the same tree of keys as the JSON, in lower case, so one table of paths serves both.
//!
//! Source: `amd-smi static`, `metric`, `list`, `topology`, `partition`, `version`; the data models of
//! amd/node-scraper.

use crate::Fact;
use crate::gpu::{Gpu, PairLink};
use crate::values::{at, bdf, count, number, said, words};
use serde_json::{Map, Value};

/// GPUs and links of a document's records.
pub(crate) fn read(records: &[Value], from: &str) -> (Vec<Gpu>, Vec<PairLink>) {
    let mut gpus: Vec<Gpu> = Vec::new();
    let mut pairs = Vec::new();
    for record in records {
        let Some(gpu) = gpu(record, from) else { continue };
        pairs.extend(links(record, &gpu));
        match gpus.iter_mut().find(|it| it.bdf.is_some() && it.bdf == gpu.bdf) {
            Some(board) => add_partition(board, &gpu),
            None => gpus.push(gpu),
        }
    }
    (gpus, pairs)
}

/// Counts one more partition of a board: its compute units are the sum.
fn add_partition(board: &mut Gpu, part: &Gpu) {
    board.partitions += 1;
    if let (Fact::Known { value: all, .. }, Fact::Known { value: more, .. }) =
        (&mut board.compute_units, &part.compute_units)
    {
        *all = all.saturating_add(*more);
    }
}

fn gpu(record: &Value, from: &str) -> Option<Gpu> {
    let index = record.get("gpu").and_then(count).and_then(|it| u32::try_from(it).ok())?;
    let address = at(record, &["bdf", "bus.bdf"]).and_then(words).and_then(|it| bdf(&it));
    let mut gpu = Gpu::new(address.clone().unwrap_or_else(|| format!("GPU {index}")));
    let text = |paths: &[&str]| fact(at(record, paths), from, paths[0], words);
    let amount = |paths: &[&str]| fact(at(record, paths), from, paths[0], number);
    let total = |paths: &[&str]| fact(at(record, paths), from, paths[0], count);
    gpu.bdf = address;
    gpu.index = Some(index);
    gpu.node = at(record, &["node_id"]).and_then(count).and_then(|it| u32::try_from(it).ok());
    gpu.product = text(&["asic.market_name"]);
    gpu.target = text(&["asic.target_graphics_version"]);
    gpu.compute_units = total(&["asic.num_compute_units"]);
    gpu.device_id = text(&["asic.device_id"]);
    gpu.link.max_speed = amount(&["bus.max_pcie_speed"]);
    gpu.link.max_width = amount(&["bus.max_pcie_width"]);
    gpu.link.speed = amount(&["pcie.speed"]);
    gpu.link.width = amount(&["pcie.width"]);
    gpu.replays = total(&["pcie.replay_count"]);
    gpu.compute_partition =
        text(&["partition.accelerator_partition", "partition.compute_partition", "compute_partition"]);
    gpu.memory_partition = text(&["partition.memory_partition", "memory_partition"]);
    gpu.perf_level = text(&["perf_level"])
        .map(|level| level.strip_prefix("AMDSMI_DEV_PERF_LEVEL_").unwrap_or(&level).to_ascii_lowercase());
    gpu.max_clock_mhz = amount(&["clock.gfx_0.max_clk"]);
    gpu.clock_mhz = amount(&["clock.gfx_0.clk"]);
    gpu.busy_percent = amount(&["usage.gfx_activity"]);
    gpu.numa_node = amount(&["numa.node"]).map(|it| it as i64);
    gpu.power_cap_w = amount(&["limit.ppt0.socket_power_limit", "limit.socket_power"]);
    gpu.power_cap_max_w = amount(&["limit.ppt0.max_power_limit", "limit.max_power"]);
    gpu.hotspot_c = amount(&["temperature.hotspot"]);
    gpu.ecc_correctable = total(&["ecc.total_correctable_count"]);
    gpu.ecc_uncorrectable = total(&["ecc.total_uncorrectable_count"]);
    gpu.throttled_by = throttle(record, from);
    if let Some(pages) = retired_pages(record) {
        gpu.retired_pages = Fact::known(pages, from);
    }
    Some(gpu)
}

fn fact<T>(value: Option<&Value>, from: &str, path: &str, read: impl Fn(&Value) -> Option<T>) -> Fact<T> {
    match value {
        None => Fact::unknown(format!("{from}: no `{path}`")),
        Some(value) => match read(value) {
            Some(value) => Fact::known(value, from),
            None => Fact::unknown(format!(
                "{from}: `{path}` is {}",
                words(value).unwrap_or_else(|| "N/A".to_owned())
            )),
        },
    }
}

/// Pages of memory that are not used any more, or will not be: `bad-pages` as JSON (a list, or a word that there is none) and as
/// text (a block for each).
fn retired_pages(record: &Value) -> Option<u64> {
    let in_text = record.as_object()?.keys().filter(|key| key.starts_with("bad_page_")).count() as u64;
    let lists = ["retired", "pending", "un_res"].into_iter().filter_map(|key| record.get(key));
    let in_json: Vec<u64> = lists.map(|it| it.as_array().map_or(0, |pages| pages.len() as u64)).collect();
    (in_text > 0 || !in_json.is_empty()).then(|| in_text + in_json.iter().sum::<u64>())
}

/// Limits in force: the old single status, or one status per limit of the new block. Newer tools keep the old
/// field as `N/A`.
fn throttle(record: &Value, from: &str) -> Fact<Vec<String>> {
    if let Some(Value::Object(block)) = record.get("throttle") {
        let mut known = false;
        let mut active = Vec::new();
        for (key, value) in block {
            let Some(limit) = key.strip_suffix("_violation_status") else { continue };
            let Some(status) = words(value) else { continue };
            // Tools on the host of virtual machines say TRUE and FALSE.
            match status.to_ascii_lowercase().as_str() {
                "active" | "true" => active.push(limit.replace('_', " ")),
                "not active" | "inactive" | "false" => {}
                _ => continue,
            }
            known = true;
        }
        if known {
            return Fact::known(active, from);
        }
    }
    fact(at(record, &["power.throttle_status"]), from, "power.throttle_status", |value| {
        match words(value)?.to_ascii_uppercase().as_str() {
            "UNTHROTTLED" => Some(Vec::new()),
            "THROTTLED" => Some(vec!["a limit the tool does not name".to_owned()]),
            _ => None,
        }
    })
}

fn links(record: &Value, gpu: &Gpu) -> Vec<PairLink> {
    let links = record.get("links").and_then(Value::as_array);
    let link = |link: &Value| {
        let kind = words(link.get("link_type")?)?.to_ascii_uppercase();
        let to = link.get("bdf").and_then(words).and_then(|it| bdf(&it));
        let to = to.or_else(|| Some(format!("GPU {}", link.get("gpu").and_then(count)?)))?;
        (kind != "SELF").then(|| PairLink {
            from: gpu.name.clone(),
            to,
            kind,
            hops: link.get("num_hops").and_then(count),
        })
    };
    links.into_iter().flatten().filter_map(link).collect()
}

/// The records of JSON: a list, or `{"gpu_data": [...]}`, or one record.
pub(crate) fn records(value: Value) -> Vec<Value> {
    match value {
        Value::Array(list) => list,
        Value::Object(mut map) => match map.remove("gpu_data") {
            Some(Value::Array(list)) => list,
            _ => vec![Value::Object(map)],
        },
        _ => Vec::new(),
    }
}

/// Every JSON document of a text, one after the other; legends between and after them are left out.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['[', '{']) {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                out.push(value);
                rest = &rest[start + stream.byte_offset()..];
            }
            // Not JSON here: text that happens to hold a bracket.
            _ => rest = &rest[start + 1..],
        }
        if out.len() > 10_000 {
            break;
        }
    }
    out
}

/// Reads the indented text: `GPU: 0` and blocks below it. A key that repeats keeps its first value.
pub(crate) fn text_records(text: &str) -> Vec<Value> {
    let mut records: Vec<Value> = Vec::new();
    // Keys that lead to the current block, each with its indentation.
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        let indent = line.len() - line.trim_start().len();
        let (key, value) = (key.trim().to_ascii_lowercase().replace(' ', "_"), value.trim());
        if indent == 0 && key == "gpu" {
            let mut record = Map::new();
            record.insert("gpu".to_owned(), Value::String(value.to_owned()));
            records.push(Value::Object(record));
            path.clear();
            continue;
        }
        let Some(record) = records.last_mut() else { continue };
        path.retain(|(at, _)| *at < indent);
        if value.is_empty() {
            path.push((indent, key));
            continue;
        }
        let Some(block) = block(record, &path) else { continue };
        block.entry(key).or_insert_with(|| Value::String(value.to_owned()));
    }
    records
}

/// The object at a path, created if missing.
fn block<'a>(record: &'a mut Value, path: &[(usize, String)]) -> Option<&'a mut Map<String, Value>> {
    let mut at = record.as_object_mut()?;
    for (_, key) in path {
        at = at.entry(key.clone()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
    }
    Some(at)
}

/// The version of ROCm in `amd-smi version`.
pub(crate) fn rocm_version(records: &[Value]) -> Option<String> {
    records.iter().find_map(|it| it.get("rocm_version").and_then(words).filter(|it| said(it)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn old_and_new_blocks_give_the_same_facts() {
        for record in [
            json!({"gpu": 0, "bus": {"bdf": "05:00.0"}, "limit": {"max_power": {"value": 750, "unit": "W"}, "socket_power": "700 W"},
                   "partition": {"compute_partition": "SPX"}, "power": {"throttle_status": "UNTHROTTLED"}}),
            json!({"gpu": 0, "bus": {"bdf": "0000:05:00.0"}, "limit": {"ppt0": {"max_power_limit": 750, "socket_power_limit": 700}},
                   "partition": {"accelerator_partition": "SPX"}, "power": {"throttle_status": "N/A"},
                   "throttle": {"ppt_violation_status": "NOT ACTIVE", "ppt_accumulated": 3}}),
        ] {
            let (gpus, _) = read(&[record], "t");
            assert_eq!(gpus[0].name, "0000:05:00.0");
            assert_eq!(gpus[0].power_cap_max_w.get(), Some(&750.0));
            assert_eq!(gpus[0].power_cap_w.get(), Some(&700.0));
            assert_eq!(gpus[0].compute_partition.get().map(String::as_str), Some("SPX"));
            assert_eq!(gpus[0].throttled_by.get(), Some(&Vec::new()));
        }
    }

    #[test]
    fn a_block_that_is_not_available_is_unknown() {
        let (gpus, _) = read(&[json!({"gpu": 7, "clock": "N/A", "ecc": "N/A"})], "m");
        assert!(gpus[0].max_clock_mhz.reason().is_some());
        assert!(gpus[0].ecc_uncorrectable.reason().is_some());
        assert!(gpus[0].throttled_by.reason().is_some());
    }

    #[test]
    fn text_is_the_same_tree() {
        let text = "GPU: 1\n    BUS:\n        BDF: 0000:01:00.0\n        MAX_PCIE_SPEED: 32 GT/s\n    XGMI_PLPD:\n        PLPDS:\n            POLICY_ID: 0\n            POLICY_ID: 1\n    NUMA:\n        NODE: 0\n";
        let (gpus, _) = read(&text_records(text), "t");
        assert_eq!(gpus[0].index, Some(1));
        assert_eq!(gpus[0].link.max_speed.get(), Some(&32.0));
        assert_eq!(gpus[0].numa_node.get(), Some(&0));
        assert!(gpus[0].product.reason().unwrap().contains("market_name"));
    }

    #[test]
    fn several_documents_and_a_legend() {
        assert_eq!(documents("[{\"gpu\": 0}]\n[{\"a\": 1}]\n\nLegend [x:\n  * = {current}").len(), 2);
        assert_eq!(documents("no json"), Vec::<Value>::new());
    }
}
