//! `clients`: runs programs that nobody here wrote on the emulated GPU and writes `docs/clients.md`.
//!
//! Programs are data (`data/clients.toml`, `data/hecbench.toml`). Results are kept in `tests/clients/results.json`, so that a
//! run of one program changes one row of the page. Packages come from PyPI by name into a virtual environment for each
//! client; HeCBench is a folder that the caller names. Nothing of others is in the repository.

mod hecbench;
mod page;

use crate::run::{root, run as run_program, target};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const CLIENTS: &str = include_str!("../data/clients.toml");
const RESULTS: &str = "tests/clients/results.json";
/// Seconds after which a client is ended.
const LONGEST: &str = "3600";

/// A program from the package index.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct Client {
    name: String,
    /// With versions; the first is the program itself.
    packages: Vec<String>,
    /// Below `tests/clients`.
    script: String,
    ran: String,
    equal_to: String,
    /// Environment variables that name folders the package index does not have, and their contents.
    #[serde(default)]
    needs: BTreeMap<String, String>,
    /// Of `rockhound profile`.
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Clients {
    client: Vec<Client>,
}

/// All results.
#[derive(Serialize, Deserialize, Default, Debug)]
struct Results {
    clients: BTreeMap<String, ClientResult>,
    hecbench: BTreeMap<String, hecbench::ProgramResult>,
    /// Test suites, run by hand: building them takes compilers, headers and patience.
    #[serde(default)]
    suites: BTreeMap<String, SuiteResult>,
}

/// Result of a test suite.
#[derive(Serialize, Deserialize, Debug)]
struct SuiteResult {
    version: String,
    ran: String,
    passed: u64,
    failed: u64,
    skipped: u64,
    /// Why cases fail.
    why: String,
}

/// Result of a client.
#[derive(Serialize, Deserialize, Default, PartialEq, Debug)]
struct ClientResult {
    passed: u64,
    failed: u64,
    #[serde(default)]
    skipped: u64,
    /// Check with the largest error in parts of its limit.
    largest: Option<Largest>,
    /// Checks that failed, with the reason.
    failures: BTreeMap<String, String>,
    dispatches: u64,
    counters: u64,
    seconds: u64,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Largest {
    check: String,
    error: f64,
    limit: f64,
}

/// Runs the named clients, all without names, or HeCBench; then writes the page.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let clients: Clients = toml::from_str(CLIENTS).context("data/clients.toml")?;
    let file = root().join(RESULTS);
    let mut results: Results = match std::fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).context(RESULTS)?,
        Err(_) => Results::default(),
    };
    let save = |results: &Results| -> Result<()> {
        std::fs::write(&file, serde_json::to_string_pretty(results)? + "\n").context(RESULTS)?;
        page::write(&clients.client, results)
    };
    match arguments.split_first() {
        Some((first, _)) if first == "page" => return save(&results),
        Some((first, [folder, names @ ..])) if first == "hecbench" => {
            build()?;
            return hecbench::run(Path::new(folder), names, |name, result| {
                results.hecbench.insert(name.to_owned(), result);
                save(&results)
            });
        }
        Some((first, [])) if first == "hecbench" => {
            bail!("`clients hecbench FOLDER [PROGRAM…]`: FOLDER is a checkout of HeCBench")
        }
        _ => {}
    }
    if let Some(unknown) = arguments.iter().find(|it| clients.client.iter().all(|client| client.name != **it))
    {
        let names: Vec<&str> = clients.client.iter().map(|it| it.name.as_str()).collect();
        bail!("no client `{unknown}`; there are {}, `hecbench FOLDER` and `page`", names.join(", "));
    }
    build()?;
    let wanted = clients.client.iter().filter(|it| arguments.is_empty() || arguments.contains(&it.name));
    for client in wanted {
        match ran(client)? {
            Some(result) => {
                println!("{}: {} checks passed, {} failed", client.name, result.passed, result.failed);
                results.clients.insert(client.name.clone(), result);
                save(&results)?;
            }
            None => println!("{}: left out", client.name),
        }
    }
    Ok(())
}

/// The command and the library as users have them.
fn build() -> Result<()> {
    run_program("cargo", &["build", "--quiet", "--release", "-p", "rockhound", "-p", "rockhound-hip"])
}

/// Path of the command.
fn command() -> PathBuf {
    target().join("release/rockhound")
}

/// Python of a virtual environment with the client's packages, which is made if it is not there.
fn python(client: &Client) -> Result<PathBuf> {
    let place = std::env::var_os("ROCKHOUND_CLIENTS").map_or_else(|| target().join("clients"), PathBuf::from);
    let folder = place.join(&client.name);
    let python = folder.join("bin/python");
    let stamp = folder.join("packages");
    let packages = client.packages.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|it| it == packages) {
        return Ok(python);
    }
    let base = std::env::var("ROCKHOUND_CLIENTS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let text = |path: &Path| path.to_string_lossy().into_owned();
    run_program(&base, &["-m", "venv", &text(&folder)])?;
    let mut arguments = vec!["-m", "pip", "install", "--quiet"];
    arguments.extend(client.packages.iter().map(String::as_str));
    run_program(&text(&python), &arguments)?;
    std::fs::write(&stamp, packages).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

/// Runs a client; `None` where a folder that it needs is not named.
fn ran(client: &Client) -> Result<Option<ClientResult>> {
    for (variable, contents) in &client.needs {
        if std::env::var_os(variable).is_none_or(|it| !Path::new(&it).is_dir()) {
            println!("{} needs {variable}: {contents}", client.name);
            return Ok(None);
        }
    }
    let python = python(client)?;
    let recording = target().join("clients-recordings").join(&client.name);
    let mut timed = Command::new("timeout");
    timed.args(["--kill-after=10", LONGEST]).arg(command());
    timed.args(["profile", "--counters-only", "--overwrite", "-o"]).arg(&recording);
    timed.args(&client.options).arg("--").arg(python);
    timed.arg(root().join("tests/clients").join(&client.script)).envs(&client.environment);
    timed.env("PYTHONDONTWRITEBYTECODE", "1");
    eprintln!("$ {timed:?}");
    let start = Instant::now();
    let output = timed.stderr(Stdio::inherit()).output().context("cannot start `timeout`")?;
    let seconds = start.elapsed().as_secs();
    let mut result = read(&String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        result.failed += 1;
        result.failures.insert("the program".to_owned(), format!("{}", output.status));
    }
    let (dispatches, counters) = recorded(&recording.join("pmc_perf.csv"));
    Ok(Some(ClientResult { dispatches, counters, seconds, ..result }))
}

/// A line that a script prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Check {
        check: String,
        error: Option<f64>,
        limit: f64,
    },
    Failed {
        check: String,
        failed: String,
        #[serde(default)]
        counted: bool,
    },
    Counts {
        passed: u64,
        failed: u64,
        skipped: u64,
    },
}

/// The checks in a script's output. An error that is not a number fails.
fn read(text: &str) -> ClientResult {
    let mut result = ClientResult::default();
    for line in text.lines().filter(|it| it.starts_with('{')) {
        match serde_json::from_str(line) {
            Ok(Line::Check { check, error, limit }) => {
                let error = error.unwrap_or(f64::INFINITY);
                if error <= limit {
                    result.passed += 1;
                } else {
                    result.failed += 1;
                    result.failures.insert(check.clone(), format!("error {error:.1e}, limit {limit:.0e}"));
                }
                let of_limit = |it: &Largest| it.error / it.limit;
                let largest = Largest { check, error, limit };
                let is_larger = result.largest.as_ref().is_none_or(|it| of_limit(it) < of_limit(&largest));
                if limit > 0.0 && error.is_finite() && is_larger {
                    result.largest = Some(largest);
                }
            }
            Ok(Line::Failed { check, failed, counted }) => {
                result.failed += u64::from(!counted);
                result.failures.insert(check, failed);
            }
            Ok(Line::Counts { passed, failed, skipped }) => {
                result.passed += passed;
                result.failed += failed;
                result.skipped += skipped;
            }
            Err(_) => {}
        }
    }
    result
}

/// Dispatches and counters of a recording: rows, and columns whose names are a block's.
fn recorded(file: &Path) -> (u64, u64) {
    let Ok(text) = std::fs::read_to_string(file) else { return (0, 0) };
    let mut lines = text.lines();
    let blocks = ["SQ", "TA_", "TD_", "TCP_", "TCC_", "SPI_", "CP", "GRBM_", "GDS_"];
    let header = lines.next().unwrap_or_default();
    let counters = header.split(',').filter(|it| blocks.iter().any(|block| it.starts_with(block)));
    (lines.count() as u64, counters.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_scripts_are_counted() {
        let text = "model of 10 MB\n{\"check\": \"a\", \"error\": 1e-7, \"limit\": 1e-6}\n{\"check\": \"b\", \"error\": 2e-6, \"limit\": 1e-4}\n\
                    {\"check\": \"c\", \"error\": null, \"limit\": 1e-4}\n{\"check\": \"d\", \"failed\": \"no such device\"}\n\
                    {\"check\": \"e\", \"failed\": \"one of the three\", \"counted\": true}\n{\"passed\": 5, \"failed\": 3, \"skipped\": 2}\n{not JSON\n";
        let result = read(text);
        assert_eq!((result.passed, result.failed, result.skipped), (7, 5, 2));
        assert_eq!(result.largest.map(|it| it.check), Some("a".to_owned()));
        assert_eq!(result.failures.keys().collect::<Vec<_>>(), ["c", "d", "e"]);
    }

    #[test]
    fn every_client_has_a_script_and_versions() {
        let clients: Clients = toml::from_str(CLIENTS).unwrap();
        for client in clients.client {
            assert!(root().join("tests/clients").join(&client.script).is_file(), "{}", client.script);
            assert!(client.packages.iter().all(|it| it.contains("==")), "{}", client.name);
        }
    }
}
