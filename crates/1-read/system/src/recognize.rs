//! Detects the kind of an output from its content, not its name.
//!
//! An unrecognised input is an error that names the supported ones; nothing is guessed.

use crate::gpu::{AcsPort, Gpu, PairLink};
use crate::outputs::{
    amd_smi, collect_env, docker, inductor, lscpu, lspci, rocm_smi, rocminfo, smi_table, vllm,
};
use crate::{BootArguments, Environment, Error, InductorCode, ServerLog, Tree, boot_arguments};
use serde_json::Value;

/// Longest output; a longer text does not come from a tool.
const MOST_BYTES: usize = 64 << 20;

/// The output of one tool, read.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// File or command it came from.
    pub name: String,
    /// Kind: `amd-smi static`.
    pub kind: &'static str,
    pub(crate) contents: Contents,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Contents {
    Gpus { gpus: Vec<Gpu>, pairs: Vec<PairLink> },
    Version { rocm: String },
    Pci { gpus: Vec<Gpu>, acs: Result<Vec<AcsPort>, String> },
    Docker(Vec<docker::DockerContainer>),
    Environment(Environment),
    ServerLog(ServerLog),
    Inductor(InductorCode),
    Collected(Box<collect_env::CollectEnv>),
    Cpu(lscpu::Lscpu),
    Boot(BootArguments),
}

impl Document {
    /// Its environment, if it is one.
    pub fn environment(&self) -> Option<&Environment> {
        match &self.contents {
            Contents::Environment(environment) => Some(environment),
            _ => None,
        }
    }

    /// True for a report of `collect_env`, which has an environment in it.
    pub fn is_report(&self) -> bool {
        matches!(self.contents, Contents::Collected(_))
    }

    /// True if it describes only a program, not the machine that runs it.
    pub fn is_of_program(&self) -> bool {
        matches!(self.contents, Contents::Environment(_) | Contents::ServerLog(_) | Contents::Inductor(_))
    }

    /// True if it is the log of a server, in which a failure is looked for.
    pub fn is_log(&self) -> bool {
        matches!(self.contents, Contents::ServerLog(_))
    }

    /// Facts of a folder of Inductor.
    pub fn of_inductor(code: InductorCode) -> Document {
        Document { name: code.file.clone(), kind: "folder of Inductor", contents: Contents::Inductor(code) }
    }

    /// Facts of a server's log.
    pub fn of_server_log(log: ServerLog) -> Document {
        Document { name: log.file.clone(), kind: "log of vLLM", contents: Contents::ServerLog(log) }
    }

    /// A container as a file starts it.
    pub(crate) fn of_container(
        name: &str,
        kind: &'static str,
        container: docker::DockerContainer,
    ) -> Document {
        Document { name: name.to_owned(), kind, contents: Contents::Docker(vec![container]) }
    }

    /// An environment that was taken from a process or given.
    pub fn of_environment(name: impl Into<String>, environment: Environment) -> Document {
        Document { name: name.into(), kind: "environment", contents: Contents::Environment(environment) }
    }
}

/// Reads the output of a tool.
///
/// # Errors
/// The text is of no tool known here, or of one known whose text has nothing in it.
pub fn recognize(name: &str, bytes: &[u8]) -> Result<Document, Error> {
    if bytes.len() > MOST_BYTES {
        return Err(Error::whole(format!("{} MiB: too large for the output of a tool", bytes.len() >> 20)));
    }
    let make = |kind, contents| Document { name: name.to_owned(), kind, contents };
    if bytes.contains(&0) {
        return if Environment::is(bytes) {
            Ok(make("environment of a process", Contents::Environment(Environment::read(bytes))))
        } else {
            Err(Error::whole("binary data, neither an archive nor an environment"))
        };
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(Error::whole("empty"));
    }
    match text_document(name, &dedented(text)) {
        Some((kind, contents)) => Ok(make(kind, contents?)),
        None => Err(Error::whole(unknown(text))),
    }
}

/// A text without the indentation that all its lines have, as blogs and manuals print outputs.
pub(crate) fn dedented(text: &str) -> std::borrow::Cow<'_, str> {
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    let indent =
        filled.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0);
    if indent == 0 {
        return text.into();
    }
    let lines = text.lines().map(|line| line.get(indent..).unwrap_or_default());
    (lines.collect::<Vec<_>>().join("\n") + "\n").into()
}

type Found = (&'static str, Result<Contents, Error>);

fn text_document(name: &str, text: &str) -> Option<Found> {
    if text.trim_start().starts_with(['[', '{'])
        && let Some(found) = json(name, text)
    {
        return Some(found);
    }
    if collect_env::is(text) {
        let report = collect_env::read(text, name);
        return Some(("report of collect_env", Ok(Contents::Collected(Box::new(report)))));
    }
    if rocminfo::is(text) {
        let gpus = rocminfo::read(text, name);
        return Some(("rocminfo", some_gpus(gpus, Vec::new(), "rocminfo lists no GPU")));
    }
    if text.contains(rocm_smi::BANNER) {
        let (gpus, pairs) = rocm_smi::read_text(text, name);
        return Some(("rocm-smi", some_gpus(gpus, pairs, "rocm-smi lists no GPU")));
    }
    if let Some(found) = smi_tables(name, text) {
        return Some(found);
    }
    if vllm::is(text) {
        return Some(("log of vLLM", Ok(Contents::ServerLog(vllm::read(text, name)))));
    }
    if inductor::is(text) {
        return Some(("code of Inductor", Ok(Contents::Inductor(inductor::read(text, name)))));
    }
    if text.lines().any(|line| line.strip_prefix("GPU:").is_some_and(|it| it.trim().parse::<u32>().is_ok())) {
        let (gpus, pairs) = amd_smi::read(&amd_smi::text_records(text), name);
        return Some(("amd-smi", some_gpus(gpus, pairs, "amd-smi lists no GPU")));
    }
    if lscpu::is(text) {
        return Some(("lscpu", Ok(Contents::Cpu(lscpu::read(text)))));
    }
    if lspci::is(text) {
        let (gpus, acs) = lspci::read(text, name);
        return Some(("lspci", Ok(Contents::Pci { gpus, acs })));
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let one = lines.next().filter(|_| lines.next().is_none());
    if one.is_some_and(|line| {
        line.starts_with("BOOT_IMAGE=") || line.contains(" root=") || line.starts_with("root=")
    }) {
        return Some(("/proc/cmdline", Ok(Contents::Boot(boot_arguments(text)))));
    }
    Environment::is(text.as_bytes())
        .then(|| ("environment", Ok(Contents::Environment(Environment::read(text.as_bytes())))))
}

/// Tables of amd-smi and CSV of both tools.
fn smi_tables(name: &str, text: &str) -> Option<Found> {
    let of_records = |kind, records: &[Value]| {
        let (gpus, pairs) = amd_smi::read(records, name);
        Some((kind, some_gpus(gpus, pairs, "amd-smi lists no GPU")))
    };
    if let Some(records) = smi_table::page(text) {
        return of_records("amd-smi", &records);
    }
    if let Some(records) = smi_table::monitor(text) {
        return of_records("amd-smi monitor", &records);
    }
    match smi_table::csv(text)? {
        smi_table::Csv::AmdSmi(records) => of_records("amd-smi", &records),
        smi_table::Csv::RocmSmi(cards) => {
            let gpus = rocm_smi::read_json(&cards, name);
            Some(("rocm-smi", some_gpus(gpus, Vec::new(), "rocm-smi lists no GPU")))
        }
    }
}

fn some_gpus(gpus: Vec<Gpu>, pairs: Vec<PairLink>, why: &str) -> Result<Contents, Error> {
    if gpus.is_empty() && pairs.is_empty() {
        Err(Error::whole(why))
    } else if pairs.is_empty() && !gpus.iter().any(Gpu::has_facts) {
        Err(Error::whole(format!(
            "an output of GPUs, {} of them, without a value that a check uses",
            gpus.len()
        )))
    } else {
        Ok(Contents::Gpus { gpus, pairs })
    }
}

fn json(name: &str, text: &str) -> Option<Found> {
    let documents = amd_smi::documents(text);
    let first = documents.first()?;
    if docker::is(first) {
        return Some(("docker inspect", Ok(Contents::Docker(docker::read(first)))));
    }
    if let Value::Object(map) = first
        && map.keys().any(|key| key.strip_prefix("card").is_some_and(|it| it.parse::<u32>().is_ok()))
    {
        let gpus = rocm_smi::read_json(map, name);
        return Some(("rocm-smi", some_gpus(gpus, Vec::new(), "rocm-smi lists no GPU")));
    }
    let records: Vec<Value> = documents.into_iter().flat_map(amd_smi::records).collect();
    if let Some(rocm) = amd_smi::rocm_version(&records) {
        return Some(("amd-smi version", Ok(Contents::Version { rocm })));
    }
    if !records.iter().any(|it| it.get("gpu").is_some()) {
        return None;
    }
    let has = |key: &str| records.iter().any(|it| it.get(key).is_some());
    let kind = [
        ("asic", "amd-smi static"),
        ("links", "amd-smi topology"),
        ("process_list", "amd-smi process"),
        ("usage", "amd-smi metric"),
        ("power", "amd-smi metric"),
        ("ecc", "amd-smi metric"),
        ("memory_partition", "amd-smi partition"),
        ("throttle", "amd-smi metric"),
        ("fw_list", "amd-smi firmware"),
        ("retired", "amd-smi bad-pages"),
        ("pending", "amd-smi bad-pages"),
    ]
    .into_iter()
    .find(|(key, _)| has(key))
    .map_or("amd-smi list", |(_, kind)| kind);
    let (gpus, pairs) = amd_smi::read(&records, name);
    Some((kind, some_gpus(gpus, pairs, "amd-smi lists no GPU")))
}

fn unknown(text: &str) -> String {
    let first: String = text.trim_start().lines().next().unwrap_or_default().chars().take(60).collect();
    format!(
        "not recognised (begins with `{first}`); understood are amd-smi, rocm-smi, rocminfo, reports of collect_env, lscpu, lspci -vvv, docker inspect, env, \
         /proc/cmdline, logs of vLLM, code of Inductor (`output_code.py`) and the folder of its cache, and bundles of `rockhound doctor --capture`"
    )
}

/// The outputs kept in a bundle below `commands/`; the second part names those not understood.
pub(crate) fn of_tree(tree: &Tree) -> (Vec<Document>, Vec<String>) {
    let mut documents = Vec::new();
    let mut problems = Vec::new();
    for (path, content) in tree.files() {
        let (Some(name), crate::Content::Bytes(bytes)) = (path.strip_prefix("commands/"), content) else {
            continue;
        };
        match recognize(name, bytes) {
            Ok(document) => documents.push(document),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    (documents, problems)
}

impl Tree {
    /// The outputs of tools that were captured with its files, and what of them is not understood.
    pub fn documents(&self) -> (Vec<Document>, Vec<String>) {
        of_tree(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_apart_by_content() {
        for (bytes, kind) in [
            (&b"[{\"gpu\": 0, \"asic\": {\"market_name\": \"x\"}}]"[..], "amd-smi static"),
            (b"{\"gpu_data\": [{\"gpu\": 0, \"usage\": {\"gfx_activity\": 3}}]}", "amd-smi metric"),
            (b"[{\"gpu\": 0, \"bdf\": \"05:00.0\"}]", "amd-smi list"),
            (b"[{\"gpu\": 0, \"bdf\": \"05:00.0\", \"links\": []}]", "amd-smi topology"),
            (b"[{\"gpu\": 0, \"retired\": [{}], \"pending\": \"NO_PAGES\"}]", "amd-smi bad-pages"),
            (b"gpu,bdf\n0,05:00.0\n", "amd-smi"),
            (b"[{\"tool\": \"x\", \"rocm_version\": \"6.3.2\"}]", "amd-smi version"),
            (b"{\"card0\": {\"Device Name\": \"x\"}}", "rocm-smi"),
            (b"[{\"HostConfig\": {}}]", "docker inspect"),
            (b"\t\tACSCtl:\tSrcValid-\n", "lspci"),
            (b"BOOT_IMAGE=/x root=/dev/sda ro quiet\n", "/proc/cmdline"),
            (b"root=/dev/sda1 ro iommu=pt\n", "/proc/cmdline"),
            (b"A=1\nB_C=x y\n", "environment"),
            (b"@pointwise(inductor_meta={'max_autotune': False})\n", "code of Inductor"),
            (b"A=1\0B=2\0", "environment of a process"),
            (b"GPU: 0\n    ASIC:\n        MARKET_NAME: x\n", "amd-smi"),
        ] {
            let found = recognize("f", bytes).map(|it| it.kind);
            assert_eq!(found, Ok(kind), "{}", String::from_utf8_lossy(bytes));
        }
        for bytes in [
            &b""[..],
            b" \n",
            b"hello world",
            b"[1, 2",
            b"[{\"gpu\": 0, \"fw_list\": []}]",
            b"\0\x01\x02",
            b"{\"a\": 1}",
        ] {
            assert!(recognize("f", bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }
}
