//! The code, arguments and memory of a launch file in the memory of an emulated GPU.

use crate::device_code::DeviceCode;
use crate::launch_file::{self, Bytes, Contents, LaunchFile};
use anyhow::{Context, Result, anyhow, bail};
use codeobj::{Argument, Image, Kernel};
use emu::{Memory, Shared, whole_dwords};
use record::Job;

/// A kernel that can be launched.
pub(super) struct Placed {
    pub(super) job: Job,
    /// Arguments at the start, then further memory.
    pub(super) contents: Vec<Contents>,
    /// Address of each that is a buffer.
    pub(super) addresses: Vec<Option<u64>>,
}

impl Placed {
    /// Places memory that has its address first, then code and arguments.
    pub(super) fn new(file: &LaunchFile, code: &DeviceCode, kernel: &Kernel) -> Result<Placed> {
        let contents = file.contents()?.to_vec();
        let mut memory = Memory::new();
        for (part, contents) in file.parts().zip(&contents) {
            if let (Contents::Buffer(bytes), Some(address)) = (contents, part.address) {
                register(&mut memory, part, address, bytes)?;
            }
        }
        let mut job = Job::at(&code.data, &code.object, kernel, memory, file.code_address)?;
        let (given, further) = contents.split_at(file.argument.len());
        let mut addresses = arguments(file, kernel, given, &mut job)?;
        for (part, contents) in file.memory.iter().zip(further) {
            let address = match (&part.symbol, contents) {
                (Some(symbol), Contents::Buffer(bytes)) => Some(variable(&job, code, symbol, bytes)?),
                _ => part.address,
            };
            addresses.push(address);
        }
        Ok(Placed { job, contents, addresses })
    }
}

/// Places the arguments, and gives them to the kernel; returns the address of each that is a buffer.
fn arguments(
    file: &LaunchFile,
    kernel: &Kernel,
    contents: &[Contents],
    job: &mut Job,
) -> Result<Vec<Option<u64>>> {
    let places: Vec<&Argument> = kernel.metadata.given().collect();
    if places.len() != contents.len() {
        let of_kernel: Vec<String> = places.iter().map(|place| described(place)).collect();
        bail!(
            "`{}` takes {} arguments ({}), the launch file gives {}",
            kernel.demangled,
            places.len(),
            of_kernel.join(", "),
            contents.len()
        );
    }
    let (mut addresses, mut values) = (Vec::new(), Vec::new());
    for ((argument, contents), place) in file.argument.iter().zip(contents).zip(places) {
        let (value, address) = match (contents, argument.address) {
            (Contents::Scalar(bytes), _) => (bytes.clone(), None),
            (Contents::Buffer(_), Some(address)) => (address.to_le_bytes().to_vec(), Some(address)),
            (Contents::Buffer(bytes), None) => {
                let address = job.memory.allocate(&argument.name, bytes.len());
                // It was allocated with this length.
                let _ = bytes.write_fresh(&job.memory, address);
                (address.to_le_bytes().to_vec(), Some(address))
            }
        };
        if value.len() != place.size as usize {
            bail!(
                "argument `{}` has {} bytes, the kernel takes {}",
                argument.name,
                value.len(),
                described(place)
            );
        }
        values.push(value);
        addresses.push(address);
    }
    job.give(values);
    Ok(addresses)
}

/// Memory at the address that it had in the program.
fn register(memory: &mut Memory, part: &launch_file::Argument, address: u64, bytes: &Bytes) -> Result<()> {
    let name = &part.name;
    if address.checked_add(bytes.len() as u64 + 4).is_none() {
        bail!("`{name}`: the address {address:#x} is too large");
    }
    let shared = Shared::zeroed(whole_dwords(address, bytes.len()));
    memory
        .register(name, address, bytes.len(), shared)
        .map_err(|_| anyhow!("`{name}` at {address:#x} overlaps other memory of the launch file"))?;
    bytes.write_fresh(memory, address).with_context(|| format!("`{name}` cannot be written"))
}

/// Writes a variable of the code, and returns its address.
fn variable(job: &Job, code: &DeviceCode, symbol: &str, bytes: &Bytes) -> Result<u64> {
    let image = Image::read(&code.data)?;
    let Some(found) = image.variables().find(|it| it.name == symbol) else {
        bail!("the code has no variable `{symbol}`");
    };
    if found.size != bytes.len() as u64 {
        bail!("the variable `{symbol}` has {} bytes, the launch file gives {}", found.size, bytes.len());
    }
    let address = job.load().wrapping_add(found.address);
    bytes
        .write(&job.memory, address)
        .with_context(|| format!("the variable `{symbol}` cannot be written"))?;
    Ok(address)
}

fn described(argument: &Argument) -> String {
    let name = if argument.name.is_empty() { &argument.kind } else { &argument.name };
    format!("{name}: {} bytes", argument.size)
}
