//! One launch of a program as a launch file: code, arguments, memory before and after.
//!
//! Memory keeps its addresses, so that pointers in structures and buffers stay valid. Whatever the arguments reach is
//! captured: a word that is an address inside of an allocation counts as a pointer, wherever it is found.

mod code;
pub(crate) mod kerncap;
mod memory;
mod text;
pub(crate) mod types;

pub use code::{DeviceCodes, gpu_named};
use sorting::Sort;

use crate::session::{self, KernelNames};
use anyhow::{Context, Result};
use codeobj::{Argument, Image};
use memory::{Found, Reached};
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use text::{Origin, Sizes, Value};

/// Name of the launch file in a folder.
pub(crate) const NAME: &str = "LAUNCH.toml";
/// Version of the form that is written.
pub(crate) const VERSION: u32 = 1;
/// Ending of the names of compressed files.
pub(crate) const COMPRESSED: &str = "zst";

/// Memory that a kernel can reach, as its runtime knows it.
pub trait Device {
    /// The allocation that holds an address.
    fn allocation(&self, address: u64) -> Option<Allocation>;
    /// Range of addresses that holds all allocations.
    fn span(&self) -> Range<u64>;
    /// Copies memory of an allocation.
    ///
    /// # Errors
    /// Says why the runtime does not give it.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), String>;
    /// Address of a variable of the kernel's code.
    fn variable(&self, name: &str) -> Option<u64>;
}

/// An allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub bytes: u64,
    /// Kind.
    pub kind: Kind,
}

/// Kind of an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Memory of the GPU.
    Device,
    /// Memory of the host that the GPU reaches.
    Host,
    /// Memory that moves between them.
    Managed,
    /// Code, or other memory of the runtime.
    Runtime,
}

/// A launch with everything but memory.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    /// Name for people.
    pub name: &'a str,
    /// Name in the code.
    pub symbol: &'a str,
    /// Code object.
    pub code: &'a [u8],
    /// Address of its virtual address 0, if that is known.
    pub code_address: Option<u64>,
    /// Arguments that the program gives.
    pub arguments: &'a [&'a Argument],
    /// Their values, at their offsets.
    pub values: &'a [u8],
    /// Work-items.
    pub grid: [u32; 3],
    /// Work-items of a workgroup.
    pub workgroup: [u32; 3],
    /// LDS beyond what the kernel declares, bytes.
    pub dynamic_lds: u32,
    /// Workgroups may wait for each other.
    pub cooperative: bool,
    /// GPU, as `--gpu` names it; empty if a replay chooses.
    pub gpu: &'a str,
    /// GPU, as the runtime names it.
    pub on: &'a str,
    /// A replay gives the same bits; on a GPU sums and approximations may differ in the last ones.
    pub is_exact: bool,
}

/// Looks for the launch to capture.
#[derive(Debug)]
pub struct Capturer {
    names: KernelNames,
    wanted: session::Capture,
    /// Launches so far.
    dispatches: u64,
    /// Launches of the wanted kernels so far.
    launches: u64,
    is_done: bool,
}

/// The launch to capture, found.
#[derive(Debug)]
pub struct Captured<'a> {
    wanted: &'a session::Capture,
    /// Number in its process, from 0.
    dispatch: u64,
    /// Number among the launches of the wanted kernels, from 1.
    launch: u64,
}

impl Capturer {
    /// Looks for what is wanted.
    pub fn new(wanted: &session::Capture) -> Capturer {
        let names = KernelNames::new(&wanted.kernels);
        Capturer { names, wanted: wanted.clone(), dispatches: 0, launches: 0, is_done: false }
    }

    /// GPU that the command names for the launch file; empty if it names none.
    pub fn gpu(&self) -> &str {
        &self.wanted.gpu
    }

    /// Counts a launch; it is the one to capture if something is returned.
    pub fn next(&mut self, name: &str, symbol: &str) -> Option<Captured<'_>> {
        let dispatch = self.dispatches;
        self.dispatches += 1;
        if self.is_done || !(self.names.admit(name) || self.names.admit(symbol)) {
            return None;
        }
        self.launches += 1;
        let launch = self.launches;
        self.is_done = match self.wanted.dispatch {
            Some(number) => number == dispatch,
            None => launch == self.wanted.nth,
        };
        self.is_done.then_some(Captured { wanted: &self.wanted, dispatch, launch })
    }
}

/// A launch that is under way.
#[derive(Debug)]
pub struct Begun {
    folder: PathBuf,
    origin: Origin,
    sizes: Sizes,
    values: Vec<Value>,
    reached: Vec<Reached>,
}

impl Captured<'_> {
    /// Writes code and memory as they are before the launch. `None` if another process of the program has written a launch.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn begin(&self, dispatch: &Dispatch<'_>, device: &dyn Device) -> Result<Option<Begun>> {
        let folder = self.wanted.folder.clone();
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        let code = folder.join("kernel.hsaco");
        match File::create_new(&code).and_then(|mut it| it.write_all(dispatch.code)) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(None),
            written => written.with_context(|| format!("cannot write `{}`", code.display()))?,
        }
        let mut found = Found::new(&folder, self.wanted.limit, device);
        let values = values(dispatch, device, &mut found)?;
        variables(dispatch, device, &mut found)?;
        found.follow()?;
        let (reached, not_captured) = found.done();
        let origin = Origin {
            program: self.wanted.program.clone(),
            on: dispatch.on.to_owned(),
            is_exact: dispatch.is_exact,
            dispatch: self.dispatch,
            launch: self.launch,
            environment: environment(),
            not_captured,
        };
        let sizes = Sizes {
            title: dispatch.name.to_owned(),
            code: "kernel.hsaco".to_owned(),
            kernel: dispatch.symbol.to_owned(),
            gpu: Some(dispatch.gpu.to_owned()).filter(|it| !it.is_empty()),
            grid: dispatch.grid,
            workgroup: dispatch.workgroup,
            dynamic_lds: dispatch.dynamic_lds,
            cooperative: dispatch.cooperative,
            code_address: dispatch.code_address,
        };
        Ok(Some(Begun { folder, origin, sizes, values, reached }))
    }
}

impl Begun {
    /// Writes memory that the launch changed, and the launch file; returns what the kernel may have read that is not in
    /// it.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn end(self, device: &dyn Device) -> Result<Vec<String>> {
        let Begun { folder, mut origin, sizes, mut values, reached } = self;
        let mut parts = Vec::new();
        for it in reached {
            parts.push(it.part(&folder, device, &mut origin.not_captured)?);
        }
        text::name_values(&mut values, &mut parts);
        let text = text::launch_file(&sizes, Some(&origin), &values, &parts);
        let file = folder.join(NAME);
        std::fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
        Ok(origin.not_captured)
    }
}

/// Values of the arguments; memory that they point to is added to what is found.
fn values(dispatch: &Dispatch<'_>, device: &dyn Device, found: &mut Found<'_>) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    let elements = types::elements(dispatch.name, dispatch.arguments.len());
    for ((number, argument), element) in dispatch.arguments.iter().enumerate().zip(elements) {
        let (start, size) = (argument.offset as usize, argument.size as usize);
        let bytes = dispatch.values.get(start..start + size).with_context(|| {
            format!("the program gives {} bytes of arguments, too few", dispatch.values.len())
        })?;
        let label =
            if argument.name.is_empty() { format!("argument{number}") } else { argument.name.clone() };
        let pointer = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes).ok().filter(|it| *it != 0);
        let is_buffer = argument.kind == "global_buffer";
        let pointed = pointer.and_then(|it| device.allocation(it));
        if let Some(kind) = ["image", "sampler", "pipe", "queue"].iter().find(|it| argument.kind == **it) {
            found
                .lacks(format!("`{label}` is an object of the kind `{kind}`: its contents are not captured"));
        }
        if let (true, Some(address), None) = (is_buffer, pointer, pointed) {
            found.lacks(format!(
                "`{label}` points to {address:#x}, which is no memory that the runtime knows: memory of the host that is not registered is not captured"
            ));
        }
        found.words(&label, bytes);
        values.push(match pointer.filter(|_| is_buffer) {
            Some(address) => Value::Pointer { name: label, address, element },
            None => {
                Value::Bytes { name: label, bytes: bytes.to_vec(), element, kind: argument.type_name.clone() }
            }
        });
    }
    Ok(values)
}

/// Variables of the code whose contents differ from the file.
fn variables(dispatch: &Dispatch<'_>, device: &dyn Device, found: &mut Found<'_>) -> Result<()> {
    let image = Image::read(dispatch.code)?;
    let mut initial = vec![0; usize::try_from(image.bytes)?];
    image.place(&mut initial, dispatch.code_address.unwrap_or_default());
    for symbol in image.variables() {
        let Some(address) = device.variable(&symbol.name) else { continue };
        let (start, size) = (usize::try_from(symbol.address)?, usize::try_from(symbol.size)?);
        let expected = initial.get(start..).and_then(|it| it.get(..size)).unwrap_or_default();
        found.variable(&symbol.name, address, expected)?;
    }
    Ok(())
}

/// Variables of the environment that say something to GPU runtimes, but for what points into the session of this run.
fn environment() -> Vec<(String, String)> {
    let own = std::env::var(session::VARIABLE).unwrap_or_default();
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut known: Vec<_> = all
        .filter(|(_, value)| own.is_empty() || !value.contains(&own))
        .filter(|(name, value)| {
            system::variables::by_name(name).is_some() && system::variables::is_captured(name, value)
        })
        .collect();
    known.in_order();
    known
}

#[cfg(test)]
mod tests;
