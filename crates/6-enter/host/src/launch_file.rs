//! Launch files: a kernel, its grid and its arguments, written down so that it runs without a host program.
//!
//! The file names arguments in the kernel's order; sizes and places come from the code object, and a mismatch
//! is reported with both sides.

mod captured;
mod contents;
mod data;
mod expression;
mod varied;

pub use buffers::{Differences, Element, differences};
pub use contents::{Bytes, Contents};
pub use expression::Expression;
pub(crate) use varied::Variations;

use crate::braces::{self, Values};
use crate::capture::{NAME, kerncap};
use crate::code_kind;
use anyhow::{Context, Result, anyhow, bail};
use buffers::Fill;
use captured::Captured;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use varied::Other;

/// Most bytes of one buffer.
const MOST_BYTES: u64 = 1 << 34;

/// A launch file as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchFile {
    /// File with the code, beside the launch file.
    pub code: PathBuf,
    /// Kernel, by linker name or demangled name; not needed where the code has one.
    pub kernel: Option<String>,
    /// GPU; by default the first model of the code's target.
    pub gpu: Option<String>,
    /// Work-items in up to three dimensions.
    grid: Vec<u32>,
    /// Work-items of a workgroup.
    workgroup: Vec<u32>,
    /// LDS beyond what the kernel declares, bytes.
    #[serde(default)]
    pub dynamic_lds: u32,
    /// All workgroups run at a time, and may wait for each other.
    #[serde(default)]
    pub cooperative: bool,
    /// Number of launches.
    #[serde(default = "once")]
    pub repeat: u32,
    /// Address of the code's virtual address 0; anywhere by default.
    pub code_address: Option<u64>,
    /// Origin of a launch that a program made.
    captured: Option<Captured>,
    /// Arguments in the kernel's order.
    #[serde(default)]
    pub argument: Vec<Argument>,
    /// Further memory that the kernel reaches: at an address, or of a variable of the code.
    #[serde(default)]
    pub memory: Vec<Argument>,
    /// The initial values, once they were asked for.
    #[serde(skip)]
    made: OnceLock<Arc<[Contents]>>,
}

fn once() -> u32 {
    1
}

/// One argument: a scalar with `value`, or a buffer with `shape`. Memory has the same form.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Name, for messages and expressions.
    pub name: String,
    /// Element type.
    #[serde(rename = "type")]
    pub element: Element,
    /// Value of a scalar.
    value: Option<f64>,
    /// Bytes of an argument that is passed by value, in hexadecimal digits: of a structure, or exactly.
    bytes: Option<String>,
    /// Address of a buffer; without `shape` the argument itself, which points into memory that is described elsewhere.
    pub address: Option<u64>,
    /// Variable of the code whose memory it is.
    pub symbol: Option<String>,
    /// Elements of a buffer in each dimension.
    shape: Option<Vec<u64>>,
    /// Contents of a buffer at the start; zeros by default.
    initial: Option<Initial>,
    /// Start of the random numbers.
    #[serde(default)]
    seed: u64,
    /// Range of random numbers, from the first up to the second.
    range: Option<[f64; 2]>,
    /// File with the contents, instead of `initial`.
    file: Option<PathBuf>,
    /// The type is a guess by the contents.
    #[serde(default)]
    guessed: bool,
    /// Contents in place of the file's.
    #[serde(skip)]
    other: Option<Other>,
    /// The kernel writes it, though the file does not tell.
    #[serde(skip)]
    rewritten: bool,
    /// Expected content of the buffer after the launch, in terms of the arguments at the start.
    pub expected: Option<Expression>,
    /// File with the expected content of the buffer after the launch.
    pub expected_file: Option<PathBuf>,
    /// Difference allowed between the two, relative where the expected value is larger than 1.
    #[serde(default)]
    pub tolerance: f64,
}

/// Initial content of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Initial {
    #[default]
    Zeros,
    Ones,
    /// 0, 1, 2, …
    Arange,
    /// Evenly spread over `range`, which is 0 to 1, or 0 to 100 for integers, unless given.
    Random,
}

impl LaunchFile {
    /// Reads a launch file or a folder with one; paths in it are made to start from its folder.
    pub fn read(path: &Path) -> Result<LaunchFile> {
        let (text, path) = text(path)?;
        LaunchFile::of(&text, &path)
    }

    /// The launch file whose braces these values fill.
    ///
    /// # Errors
    /// If it cannot be read, or not all of its braces are filled.
    pub(crate) fn filled(path: &Path, values: &Values) -> Result<LaunchFile> {
        let (text, path) = text(path)?;
        let filled = braces::with_values(&text, values)?;
        LaunchFile::of(&filled, &path)
    }

    /// The launch file with this text, at this path.
    ///
    /// # Errors
    /// If the text does not have this form.
    pub fn of(text: &str, path: &Path) -> Result<LaunchFile> {
        let name = path.display();
        captured::check_version(text).with_context(|| format!("`{name}`"))?;
        let mut file: LaunchFile =
            toml::from_str(text).map_err(|error| anyhow!("`{name}`: {}", braces::mistake(&error, text)))?;
        file.check().with_context(|| format!("`{name}`"))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        file.code = folder.join(&file.code);
        for argument in file.argument.iter_mut().chain(&mut file.memory) {
            for path in [&mut argument.file, &mut argument.expected_file].into_iter().flatten() {
                *path = folder.join(&*path);
            }
        }
        Ok(file)
    }

    /// Whether its parts go together.
    fn check(&self) -> Result<()> {
        for memory in &self.memory {
            if memory.shape.is_none() || memory.address.is_some() == memory.symbol.is_some() {
                bail!("memory `{}` has a `shape`, and either an `address` or a `symbol`", memory.name);
            }
        }
        if let Some(argument) = self.argument.iter().find(|it| it.symbol.is_some()) {
            bail!("argument `{}`: `symbol` is for `[[memory]]`", argument.name);
        }
        self.captured.as_ref().map_or(Ok(()), |it| it.check(self.argument.len(), self.memory.len()))
    }

    /// Arguments, then further memory.
    pub fn parts(&self) -> impl Iterator<Item = &Argument> {
        self.argument.iter().chain(&self.memory)
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        self.parts().map(|it| it.bytes_of_buffer().unwrap_or(0)).fold(0, u64::saturating_add)
    }

    /// Initial values of arguments and memory, which are made once.
    ///
    /// # Errors
    /// If an argument has neither value nor shape, or its file cannot be read.
    pub fn contents(&self) -> Result<&[Contents]> {
        if self.made.get().is_none() {
            let made = self.parts().map(Argument::contents).collect::<Result<Arc<[_]>>>()?;
            let _ = self.made.set(made);
        }
        Ok(self.made.get().map_or(&[], |it| it))
    }

    /// Takes over initial values that were made for another launch with the same arguments.
    pub fn share_contents(&mut self, other: &LaunchFile) {
        if self.argument == other.argument && self.memory == other.memory {
            self.made = other.made.clone();
        }
    }

    /// Work-items in three dimensions.
    pub fn grid(&self) -> Result<[u32; 3]> {
        three(&self.grid, "grid")
    }

    /// Work-items of a workgroup in three dimensions.
    pub fn workgroup(&self) -> Result<[u32; 3]> {
        three(&self.workgroup, "workgroup")
    }

    /// Changes the random numbers of all arguments; `false` if there are none. Expected values in files, which belong
    /// to the numbers as they were, are dropped.
    pub fn reseed(&mut self, by: u64) -> bool {
        let mut changed = false;
        self.made = OnceLock::new();
        let parts = self.argument.iter_mut().chain(&mut self.memory);
        for argument in parts.filter(|it| it.initial == Some(Initial::Random)) {
            argument.seed = argument.seed.wrapping_add(by.wrapping_mul(0xd134_2543_de82_ef95));
            changed = true;
        }
        if changed {
            self.argument.iter_mut().chain(&mut self.memory).for_each(|it| it.expected_file = None);
        }
        changed
    }

    /// Arguments by name as numbers, for expressions.
    pub fn numbers(&self, contents: &[Contents]) -> BTreeMap<String, Vec<f64>> {
        let numbers = self
            .parts()
            .zip(contents)
            .map(|(argument, contents)| (argument.name.clone(), argument.element.numbers(&contents.bytes())));
        numbers.collect()
    }
}

/// The text of a launch file, or of the one in a folder, and its path. A capture of kerncap becomes one.
///
/// # Errors
/// If it cannot be read, or the folder holds none.
pub(crate) fn text(path: &Path) -> Result<(String, PathBuf)> {
    let name = path.display();
    if let Some(folder) = kerncap::folder(path) {
        let text = kerncap::launch_file(&folder).with_context(|| format!("`{}`", folder.display()))?;
        return Ok((text, folder.join(NAME)));
    }
    let file = if path.is_dir() { path.join(NAME) } else { path.to_owned() };
    if path.is_dir() && !file.exists() {
        bail!("`{name}` has no {NAME}: the capture did not end, or it is none");
    }
    if std::fs::metadata(&file).is_ok_and(|it| it.len() == 0) {
        bail!("`{name}` is empty");
    }
    if let Some(what) = code_kind::of(&file) {
        bail!("`{name}` is {what}, not a launch file");
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok((text, file))
}

/// The text of a launch file as a table whose paths no longer start from its folder.
///
/// # Errors
/// If the text is not TOML.
pub(crate) fn rooted(text: &str, path: &Path) -> Result<toml::Table> {
    let name = path.display();
    let mut table: toml::Table =
        toml::from_str(text).map_err(|error| anyhow!("`{name}`: {}", braces::mistake(&error, text)))?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder)?;
    let absolute = |it: &mut toml::Value| {
        if let toml::Value::String(path) = it {
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
    };
    table.get_mut("code").into_iter().for_each(absolute);
    for part in ["argument", "memory"] {
        for argument in table.get_mut(part).and_then(toml::Value::as_array_mut).into_iter().flatten() {
            for key in ["file", "expected_file"] {
                argument.get_mut(key).into_iter().for_each(absolute);
            }
        }
    }
    Ok(table)
}

fn three(sizes: &[u32], what: &str) -> Result<[u32; 3]> {
    if sizes.is_empty() || sizes.len() > 3 || sizes.contains(&0) {
        bail!("`{what}` has one to three sizes, none of them 0");
    }
    Ok([0, 1, 2].map(|axis| sizes.get(axis).copied().unwrap_or(1)))
}

impl Argument {
    /// True if the file says what the argument holds at the start.
    pub fn is_given(&self) -> bool {
        self.initial.is_some() || self.file.is_some() || self.value.is_some() || self.bytes.is_some()
    }

    /// True if the kernel is known to write the buffer: the launch file gives no contents, or a captured launch changed them.
    pub fn is_output(&self) -> bool {
        !self.is_given() || self.rewritten || self.file.is_some() && self.is_expected()
    }

    /// True if the file says what the buffer holds after the launch.
    pub fn is_expected(&self) -> bool {
        self.expected.is_some() || self.expected_file.is_some()
    }

    /// Bytes of a buffer; `None` if it is none, or too large.
    fn bytes_of_buffer(&self) -> Option<u64> {
        let size = self.element.size() as u64;
        let bytes =
            self.shape.as_ref()?.iter().try_fold(size, |product, &length| product.checked_mul(length));
        bytes.filter(|bytes| *bytes <= MOST_BYTES)
    }

    /// Initial value of the argument.
    fn contents(&self) -> Result<Contents> {
        let name = &self.name;
        if let (None, None, None, Some(address)) = (&self.bytes, self.value, &self.shape, self.address) {
            return Ok(Contents::Scalar(address.to_le_bytes().to_vec()));
        }
        if let (Some(digits), None, None) = (&self.bytes, self.value, &self.shape) {
            let bytes = by_digits(digits);
            let bytes = bytes.with_context(|| {
                format!("argument `{name}`: `bytes` has two hexadecimal digits for each byte")
            })?;
            return Ok(Contents::Scalar(bytes));
        }
        match (self.value, &self.shape) {
            (Some(value), None) if self.bytes.is_none() => {
                Ok(Contents::Scalar(self.element.bytes(std::iter::once(value))))
            }
            (None, Some(_)) if self.bytes.is_none() => {
                let Some(bytes) = self.bytes_of_buffer() else {
                    bail!("argument `{name}`: a buffer has at most 16 GiB");
                };
                self.buffer(bytes, bytes / self.element.size() as u64).map(Contents::Buffer)
            }
            _ => bail!(
                "argument `{name}`: give one of `value` (a scalar), `bytes` (a structure), `shape` (a buffer) and `address` (a pointer)"
            ),
        }
    }

    fn buffer(&self, bytes: u64, count: u64) -> Result<Bytes> {
        if let Some(path) = &self.file {
            let contents =
                data::of_length(path, bytes).with_context(|| format!("argument `{}`", self.name))?;
            return Ok(Bytes::Given(Arc::new(match self.other {
                Some(other) => other.contents(&self.name, self.element, contents),
                None => contents,
            })));
        }
        let fill = match self.initial.unwrap_or_default() {
            Initial::Zeros => return Ok(Bytes::Same(0, usize::try_from(bytes)?)),
            Initial::Ones => Fill::Ones,
            Initial::Arange => Fill::Arange,
            Initial::Random => Fill::Random { seed: self.seed, range: self.range },
        };
        Ok(Bytes::Given(Arc::new(fill.bytes(self.element, count))))
    }

    /// Expected content of the buffer after the launch, if the file states it.
    pub fn expected(&self, count: usize, start: &BTreeMap<String, Vec<f64>>) -> Result<Option<Vec<f64>>> {
        if let Some(path) = &self.expected_file {
            let bytes = data::of_length(path, (count * self.element.size()) as u64)?;
            return Ok(Some(self.element.numbers(&bytes)));
        }
        let Some(expression) = &self.expected else { return Ok(None) };
        let values = expression
            .values(count, start)
            .map_err(|error| anyhow!("argument `{}`: `expected`: {error}", self.name))?;
        // As the buffer can hold it.
        Ok(Some(self.element.numbers(&self.element.bytes(values.into_iter()))))
    }
}

/// Bytes as hexadecimal digits, perhaps with spaces.
fn by_digits(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits.bytes().filter(|it| !it.is_ascii_whitespace()).collect();
    let digit = |it: u8| char::from(it).to_digit(16);
    let byte = |it: &[u8]| Some((digit(it[0])? * 16 + digit(*it.get(1)?)?) as u8);
    if digits.is_empty() { None } else { digits.chunks(2).map(byte).collect() }
}
