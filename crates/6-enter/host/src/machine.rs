//! Files and tools of a machine as a [`Tree`]: this one's, a copy's below a folder, or a bundle's.
//!
//! A file that vanishes while it is read, or that may not be read, is an entry with its reason; reading never
//! fails as a whole.

use anyhow::{Context, Result, bail};
use sorting::Sort;
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use system::capture::{AMD_PCI_FILES, FILES, PROCESS_FILES, TOOLS, Tool, trimmed};
use system::job::{self, Job};
use system::paste::{self, Paste};
use system::{
    Document, InductorCode, InductorFile, MOST_INDUCTOR_FILES, ServerLogScan, Tree, inductor_file,
    is_inductor_folder, recognize,
};

/// Most bytes read of one file of `/proc` or `/sys`.
const MOST_BYTES: u64 = 4 << 20;
/// Most entries of one folder that a pattern goes through.
const MOST_ENTRIES: usize = 16_384;
/// Most bytes of code read of a folder of Inductor.
const MOST_FOLDER: u64 = 256 << 20;
/// Bytes beyond which a file is read as a log, and of the pieces in which it is read.
const LONG: u64 = 32 << 20;
const PIECE: u64 = 4 << 20;
/// Time limit of a tool.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most bytes of a tool's output.
const MOST_OUTPUT: u64 = 32 << 20;

/// Reads the files of the machine below a folder; `/` is this one.
pub fn read_tree(root: &Path) -> Tree {
    let mut tree = Tree::new("");
    for pattern in FILES.iter().chain(PROCESS_FILES) {
        add_pattern(&mut tree, root, pattern);
    }
    let vendor =
        |tree: &Tree, device: &str| tree.text(&format!("sys/bus/pci/devices/{device}/vendor")).get().cloned();
    for device in tree.children("sys/bus/pci/devices") {
        if vendor(&tree, &device).as_deref() == Some("0x1002") {
            for file in AMD_PCI_FILES {
                add_file(&mut tree, root, &format!("sys/bus/pci/devices/{device}/{file}"));
            }
        }
    }
    tree
}

/// Target and compute units of this machine's first GPU, or of its partition if it is divided.
pub fn first_gpu() -> Option<(String, u32)> {
    let this = system::Machine::read(&read_tree(Path::new("/")), &[]);
    this.known_gpus().iter().find_map(|gpu| {
        let units = gpu.compute_units.get()? / u64::from(gpu.partitions.max(1));
        Some((gpu.target.get()?.clone(), u32::try_from(units).ok()?))
    })
}

fn add_pattern(tree: &mut Tree, root: &Path, pattern: &str) {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        found = found.iter().flat_map(|folder| matching(root, folder, part)).take(MOST_ENTRIES).collect();
    }
    for path in found {
        add_file(tree, root, &path);
    }
}

/// Paths of a folder whose names fit a part of a pattern. A part without `*` is taken as it is: the file may
/// be there and unreadable.
fn matching(root: &Path, folder: &str, part: &str) -> Vec<String> {
    let join = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let Some((before, after)) = part.split_once('*') else { return vec![join(part)] };
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let fits = |name: &String| {
        name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
    };
    names.filter(fits).take(MOST_ENTRIES).map(|name| join(&name)).collect()
}

fn add_file(tree: &mut Tree, root: &Path, path: &str) {
    match read_bounded(&root.join(path)) {
        Ok(bytes) => tree.insert(path, trimmed(path, bytes)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {}
            ErrorKind::PermissionDenied => tree.insert_unreadable(path, "permission denied"),
            _ => tree.insert_unreadable(path, error.to_string()),
        },
    }
}

fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Asks the tools that are installed; what each printed, by the name it has in a bundle.
pub fn ask_tools() -> BTreeMap<String, Vec<u8>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        std::env::split_paths(&path).chain([PathBuf::from("/opt/rocm/bin")]).collect();
    let mut outputs = BTreeMap::new();
    for tool in TOOLS {
        let program = folders.iter().map(|folder| folder.join(tool.program)).find(|it| it.is_file());
        if let Some(output) = program.and_then(|program| ask(&program, tool)) {
            outputs.insert(tool.output.to_owned(), output);
        }
    }
    outputs
}

/// The output of a tool that ended well in time.
fn ask(program: &Path, tool: &Tool) -> Option<Vec<u8>> {
    let mut child = Command::new(program)
        .args(tool.arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        stdout.take(MOST_OUTPUT).read_to_end(&mut output).map(|_| output)
    });
    let begin = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if begin.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            // A tool that hangs on a lost GPU is ended: its facts stay unknown.
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break false;
            }
        }
    };
    let output = reader.join().ok()?.ok()?;
    (ended && !output.is_empty()).then_some(output)
}

/// Name of this host.
pub fn host_name() -> String {
    let read =
        |path: &str| fs::read_to_string(path).ok().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    read("/proc/sys/kernel/hostname")
        .or_else(|| read("/etc/hostname"))
        .unwrap_or_else(|| "this machine".to_owned())
}

/// The environment of a process, as bytes with NUL between the variables.
///
/// # Errors
/// Fails if the process does not exist, or belongs to another user.
pub fn process_environment(root: &Path, pid: u32) -> Result<Vec<u8>> {
    let path = root.join(format!("proc/{pid}/environ"));
    fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// The command of a process.
pub fn process_command(root: &Path, pid: u32) -> Option<Vec<String>> {
    let bytes = fs::read(root.join(format!("proc/{pid}/cmdline"))).ok()?;
    let words: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .filter(|it| !it.is_empty())
        .map(|it| String::from_utf8_lossy(it).into_owned())
        .collect();
    (!words.is_empty()).then_some(words)
}

/// Kind of an input file.
pub enum Input {
    /// Files of a machine: a bundle, or a folder with a copy of `/proc` and `/sys`; and the refused files.
    Machine(Tree, Vec<String>),
    /// A report with outputs of tools, environments and commands in it.
    Report(Box<Paste>),
    /// The output of a tool.
    Document(Document),
    /// Jobs that a file starts.
    Jobs(Vec<Job>),
}

/// Reads a bundle, a folder, or the output of a tool.
///
/// # Errors
/// It cannot be read, or is nothing that is understood.
pub fn read_input(path: &Path) -> Result<Input> {
    let name = path.display().to_string();
    if path.is_dir() {
        let mut tree = read_tree(path);
        if tree.is_empty() {
            if let Some(code) = inductor_folder(path, &name)? {
                return Ok(Input::Document(Document::of_inductor(code)));
            }
            bail!("{name}: a folder without `proc` and `sys` of a machine, and no cache of Inductor");
        }
        tree.set_name(name);
        return Ok(Input::Machine(tree, Vec::new()));
    }
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .take(system::MOST_BYTES)
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
        bytes
    } else {
        let mut file = fs::File::open(path).with_context(|| format!("cannot read `{name}`"))?;
        let mut bytes = Vec::new();
        let mut more = |bytes: &mut Vec<u8>, most: u64| {
            file.by_ref().take(most).read_to_end(bytes).with_context(|| format!("cannot read `{name}`"))
        };
        more(&mut bytes, LONG)?;
        if bytes.len() as u64 == LONG && !system::is_archive(&bytes) {
            return long_log(path, &name, bytes, &mut more);
        }
        let rest = system::MOST_BYTES + 1 - bytes.len() as u64;
        more(&mut bytes, rest)?;
        bytes
    };
    let short = if name == "-" { "standard input".to_owned() } else { short_name(path) };
    if system::is_archive(&bytes) {
        let (tree, refused) =
            system::read_archive(&short, &bytes).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        // A bundle has files of /proc and /sys, outputs of tools, or an environment.
        if !["proc", "sys", "commands"].iter().any(|it| tree.has_below(it)) && !tree.has("environment") {
            bail!(
                "{name}: an archive without files of a machine; unpack it and give what is in it to the command for that"
            );
        }
        return Ok(Input::Machine(tree, refused));
    }
    let text = String::from_utf8_lossy(&bytes);
    if bytes.len() < paste::MOST_BYTES
        && let Some(jobs) = job::jobs(&short, &text)
    {
        return jobs.map(Input::Jobs).map_err(|error| anyhow::anyhow!("{name}: {error}"));
    }
    let found = recognize(&short, &bytes);
    if bytes.len() < paste::MOST_BYTES
        && found.is_err()
        && let Some(paste) = paste::labelled(&short, &text)
    {
        return Ok(Input::Report(Box::new(paste)));
    }
    if bytes.len() < paste::MOST_BYTES && (found.is_err() || paste::is(&text)) {
        let paste = paste::split(&short, &text);
        let parts = paste.documents.len() + paste.commands.len();
        if parts > usize::from(found.is_ok()) {
            return Ok(Input::Report(Box::new(paste)));
        }
    }
    found.map(Input::Document).map_err(|error| anyhow::anyhow!("{name}: {error}"))
}

/// Reads a file that is too long for the output of a tool: the log of a server, piece by piece.
fn long_log(
    path: &Path,
    name: &str,
    mut piece: Vec<u8>,
    more: &mut dyn FnMut(&mut Vec<u8>, u64) -> Result<usize>,
) -> Result<Input> {
    let mut scan = ServerLogScan::new(&short_name(path));
    while !piece.is_empty() {
        scan.feed(&piece);
        piece.clear();
        more(&mut piece, PIECE)?;
    }
    match scan.finish() {
        Some(log) => Ok(Input::Document(Document::of_server_log(log))),
        None => bail!(
            "{name}: more than {} MiB: too large for the output of a tool, and no log of a vLLM server; `rockhound triage {name}` reads \
             logs of any size",
            LONG >> 20
        ),
    }
}

/// Reads a folder of Inductor's cache or of `torch_compile_debug`; `None` if it is neither.
fn inductor_folder(folder: &Path, name: &str) -> Result<Option<InductorCode>> {
    let mut paths = Vec::new();
    list(folder, "", 0, &mut paths);
    if !is_inductor_folder(paths.iter().map(String::as_str)) {
        return Ok(None);
    }
    paths.in_order();
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut bytes = 0;
    for path in &paths {
        let content = match inductor_file(path) {
            Some(InductorFile::Graph) => Vec::new(),
            // A file that vanishes while the cache is in use is one less.
            Some(_) => read_bounded(&folder.join(path)).unwrap_or_default(),
            None => continue,
        };
        bytes += content.len() as u64;
        if bytes > MOST_FOLDER {
            bail!("{name}: more than {} MiB of code", MOST_FOLDER >> 20);
        }
        files.push((path, content));
    }
    Ok(Some(InductorCode::of_folder(name, files.iter().map(|(path, content)| (*path, content.as_slice())))))
}

/// Files below a folder by their paths, without following links.
fn list(folder: &Path, below: &str, depth: usize, paths: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if kind.is_dir() && depth < 8 {
            list(&entry.path(), &path, depth + 1, paths);
        } else if kind.is_file() && paths.len() < MOST_INDUCTOR_FILES {
            paths.push(path);
        }
    }
}

fn short_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
