//! Captures of kerncap, a tool of AMD's IntelliKit: a folder with `dispatch.json`, the code object, the segment of
//! arguments and all memory at its addresses.

use super::NAME;
use super::text::{self, Part, Place, Sizes, Value};
use super::types;
use crate::device_code::DeviceCode;
use anyhow::{Context, Result, anyhow, bail};
use buffers::Element;
use codeobj::Image;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The file that every capture has.
const DISPATCH: &str = "dispatch.json";
/// Bytes of memory by which the type of its elements is guessed.
const HEAD: u64 = 64 << 10;

/// Names and sizes.
#[derive(Deserialize)]
struct Dispatch {
    mangled_name: String,
    #[serde(default)]
    demangled_name: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// LDS that the kernel declares, and what the launch adds.
    group_segment_size: u32,
}

#[derive(Deserialize)]
struct Regions {
    regions: Vec<Region>,
}

/// Memory of the device.
#[derive(Deserialize)]
struct Region {
    base: u64,
    size: u64,
    /// The runtime's own memory for arguments.
    #[serde(default)]
    contains_kernarg: bool,
}

#[derive(Deserialize)]
struct Variables {
    variables: Vec<Variable>,
}

/// A variable of a code object.
#[derive(Deserialize)]
struct Variable {
    #[serde(default)]
    executable_sha256: String,
    name: String,
    size: u64,
    blob: PathBuf,
}

/// Facts of the code object.
#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    hsaco_sha256: String,
}

/// The folder of a capture: the path itself, its `capture`, or where a `dispatch.json` is.
pub(crate) fn folder(path: &Path) -> Option<PathBuf> {
    if path.file_name().is_some_and(|it| it == DISPATCH) {
        return path.parent().map(Path::to_owned);
    }
    let is_capture = |it: &PathBuf| {
        // Its Python backend writes tensors and no code.
        let python = || it.join("metadata.json").exists() && it.join("arg_0.bin").exists();
        !it.join(NAME).exists() && (it.join(DISPATCH).exists() || python())
    };
    [path.to_owned(), path.join("capture")].into_iter().find(is_capture)
}

/// The text of a launch file beside the files of the capture.
///
/// # Errors
/// If it is not whole.
pub(crate) fn launch_file(folder: &Path) -> Result<String> {
    if !folder.join(DISPATCH).exists() {
        bail!(
            "a capture of kerncap's Python backend has no code object and cannot be run\nhint: capture with its default backend, which writes {DISPATCH}"
        );
    }
    let dispatch: Dispatch = json(folder, DISPATCH)?;
    let code = DeviceCode::find(&folder.join("kernel.hsaco"), None)?;
    let symbol = dispatch.mangled_name.trim_end_matches(".kd");
    let kernel = code.kernel(Some(symbol))?;
    let regions: Regions = json(folder, "memory_regions.json")?;
    let mut parts = Vec::new();
    for region in regions.regions.iter().filter(|it| it.size > 0) {
        parts.extend(part(folder, region)?);
    }
    parts.extend(variables(folder, &code)?);
    let path = folder.join("kernarg.bin");
    let segment = std::fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut values = Vec::new();
    let elements = types::elements(&kernel.demangled, kernel.metadata.given().count());
    for ((number, argument), element) in kernel.metadata.given().enumerate().zip(elements) {
        let (start, size) = (argument.offset as usize, argument.size as usize);
        let bytes = segment.get(start..start.saturating_add(size));
        let bytes = bytes.with_context(|| {
            format!("`kernarg.bin` is cut: it has {} bytes, and an argument at {start}", segment.len())
        })?;
        let name = if argument.name.is_empty() { format!("argument{number}") } else { argument.name.clone() };
        let address = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes).unwrap_or_default();
        let is_pointer = argument.kind == "global_buffer" && address != 0;
        if is_pointer && let Some(lost) = regions.regions.iter().find(|it| it.holds(address)) {
            let there = parts.iter().any(|it| it.place == Place::Address(lost.base));
            if !there {
                bail!("`{name}` points into memory that the capture lacks: `{}` is not there", lost.file());
            }
        }
        values.push(match is_pointer {
            true => Value::Pointer { name, address, element },
            false => Value::Bytes { name, bytes: bytes.to_vec(), element, kind: argument.type_name.clone() },
        });
    }
    // What the kernel declares, it gets without asking.
    let dynamic_lds =
        dispatch.group_segment_size.saturating_sub(kernel.descriptor.map_or(0, |it| it.lds_bytes));
    let sizes = Sizes {
        title: format!("{}, captured by kerncap", dispatch.demangled_name),
        code: "kernel.hsaco".to_owned(),
        kernel: symbol.to_owned(),
        gpu: None,
        grid: dispatch.grid,
        workgroup: dispatch.block,
        dynamic_lds,
        cooperative: false,
        code_address: None,
    };
    text::name_values(&mut values, &mut parts);
    Ok(text::launch_file(&sizes, None, &values, &parts))
}

impl Region {
    fn holds(&self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|it| it < self.size)
    }

    fn file(&self) -> String {
        format!("memory/region_{:x}.bin", self.base)
    }
}

/// A JSON file of the folder.
fn json<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T> {
    let bytes = std::fs::read(folder.join(name)).with_context(|| format!("cannot read `{name}`"))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| anyhow!("`{name}` is cut, or not of the version of kerncap that is known: {error}"))
}

/// Memory with its file; `None` if kerncap could not read it, or if it is the runtime's own.
fn part(folder: &Path, region: &Region) -> Result<Option<Part>> {
    let name = region.file();
    if region.contains_kernarg || !folder.join(&name).exists() {
        return Ok(None);
    }
    file_part(folder, name, Place::Address(region.base), (format!("memory_{:x}", region.base), region.size))
        .map(Some)
}

fn file_part(folder: &Path, file: String, place: Place, (name, bytes): (String, u64)) -> Result<Part> {
    let path = folder.join(&file);
    let open = || -> std::io::Result<(u64, Vec<u8>)> {
        let opened = std::fs::File::open(&path)?;
        let mut head = Vec::new();
        (&opened).take(HEAD.min(bytes & !7)).read_to_end(&mut head)?;
        Ok((opened.metadata()?.len(), head))
    };
    let (length, head) = open().with_context(|| format!("cannot read `{file}`"))?;
    if length != bytes {
        bail!("`{file}` is cut: it has {length} bytes of {bytes}");
    }
    Ok(Part { name, place, element: Element::likely(&[&head]), bytes, file, expected: None })
}

/// The variables of the kernel's code.
fn variables(folder: &Path, code: &DeviceCode) -> Result<Vec<Part>> {
    if !folder.join("module_variables.json").exists() {
        return Ok(Vec::new());
    }
    let all: Variables = json(folder, "module_variables.json")?;
    let metadata: Metadata = match folder.join("metadata.json").exists() {
        true => json(folder, "metadata.json")?,
        false => Metadata::default(),
    };
    let image = Image::read(&code.data)?;
    let own = |it: &Variable| {
        let [captured, of_variable] = [&metadata.hsaco_sha256, &it.executable_sha256];
        let is_same = captured == of_variable || captured.is_empty() || of_variable.is_empty();
        is_same && image.symbol(&it.name).is_some_and(|symbol| symbol.size == it.size)
    };
    let each = |it: Variable| {
        let file = it.blob.to_string_lossy().into_owned();
        file_part(folder, file, Place::Symbol(it.name.clone()), (it.name, it.size))
    };
    all.variables.into_iter().filter(own).map(each).collect()
}
