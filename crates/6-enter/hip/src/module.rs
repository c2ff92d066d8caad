//! Loaded code: images in memory, kernels, variables.
//!
//! Nothing is read before it is needed; a program with a thousand kernels pays for the one it launches.

use crate::codes::Code;
use crate::device::Device;
use crate::memory::{Allocations, Kind};
use crate::message::say;
use codeobj::{CodeObject, Frame, Image, LineTable, Wanted};
use emu::Program;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Headers whose `abort` and `assert` are compiled into kernels.
const RUNTIME_HEADERS: [&str; 2] = ["hip_assert.h", "rockhound_builtins.h"];

/// A code object in memory.
#[derive(Debug)]
pub(crate) struct Module {
    code: Arc<probe::Code>,
    object: CodeObject,
    /// Host address of virtual address 0.
    pub(crate) base: usize,
    symbols: BTreeMap<String, (u64, u64)>,
    kernels: BTreeMap<String, usize>,
    programs: BTreeMap<String, Arc<Program>>,
    /// Managed variables of code that is loaded at run time: address and size of their memory, by name.
    managed: BTreeMap<String, (usize, usize)>,
}

/// Suffix of the initial value of a managed variable; the variable itself is a pointer.
const MANAGED: &str = ".managed";

impl Module {
    /// Finds the code for the device in a file or bundle and loads it.
    pub(crate) fn load(data: &[u8], device: Device, allocations: &mut Allocations) -> Result<Module, Code> {
        let data = select(data, device)?.into_owned();
        let mut object = CodeObject::read(&data).map_err(|error| damaged(&error))?;
        if !arch::code_runs_on(&object.target.processor, device.processor()) {
            no_code(device, &[object.target.to_string()]);
            return Err(Code::hipErrorNoBinaryForGpu);
        }
        object.target.processor = device.processor().to_string();
        let image = Image::read(&data).map_err(|error| damaged(&error))?;
        let bytes = usize::try_from(image.bytes).map_err(|_| Code::hipErrorOutOfMemory)?;
        let base = allocations.allocate(
            Kind::Internal,
            bytes.next_multiple_of(4096).max(128 << 10),
            0,
            usize::MAX,
        )?;
        let start = std::ptr::with_exposed_provenance_mut::<u8>(base);
        // SAFETY: allocated just now with at least this length; nobody else knows of it yet.
        image.place(unsafe { std::slice::from_raw_parts_mut(start, bytes) }, base as u64);
        let symbols = image.symbols.iter().map(|it| (it.name.clone(), (it.address, it.size))).collect();
        let kernels = object.kernels.iter().enumerate().map(|(index, it)| (it.name.clone(), index)).collect();
        Ok(Module {
            code: Arc::new(probe::Code::new(data)),
            object,
            base,
            symbols,
            kernels,
            programs: BTreeMap::new(),
            managed: BTreeMap::new(),
        })
    }

    /// Gives managed variables memory with their initial values, which host code of a program does for code that is
    /// compiled into it.
    pub(crate) fn manage(&mut self, allocations: &mut Allocations, capacity: usize) -> Result<(), Code> {
        let names: Vec<String> =
            self.symbols.keys().filter_map(|it| it.strip_suffix(MANAGED)).map(str::to_owned).collect();
        for name in names {
            let initial = self.variable(&format!("{name}{MANAGED}"));
            let (Some((from, bytes @ 1..)), Some((pointer, 8..))) = (initial, self.variable(&name)) else {
                continue;
            };
            let memory = allocations.allocate(Kind::Managed, bytes, 0, capacity)?;
            if let Some(initial) = allocations.emulated.read(from as u64, bytes) {
                allocations.emulated.write(memory as u64, &initial);
            }
            allocations.emulated.write(pointer as u64, &(memory as u64).to_le_bytes());
            self.managed.insert(name, (memory, bytes));
        }
        Ok(())
    }

    /// A kernel ready to run.
    pub(crate) fn program(&mut self, name: &str) -> Result<Arc<Program>, Code> {
        if let Some(program) = self.programs.get(name) {
            return Ok(program.clone());
        }
        let index = *self.kernels.get(name).ok_or(Code::hipErrorNotFound)?;
        let program =
            Program::new(self.code.bytes(), &self.object, &self.object.kernels[index]).map_err(|error| {
                say(&error.to_string());
                Code::hipErrorInvalidImage
            })?;
        let program = Arc::new(program);
        self.programs.insert(name.to_string(), program.clone());
        Ok(program)
    }

    /// Texts of `printf` of all its kernels.
    pub(crate) fn formats(&self) -> &[String] {
        &self.object.formats
    }

    /// The code object.
    pub(crate) fn code(&self) -> Arc<probe::Code> {
        self.code.clone()
    }

    /// True if such a kernel exists.
    pub(crate) fn has_kernel(&self, name: &str) -> bool {
        self.kernels.contains_key(name)
    }

    /// Number of kernels.
    pub(crate) fn kernel_count(&self) -> usize {
        self.kernels.len()
    }

    /// Address and size of a variable; of the memory of a managed one.
    pub(crate) fn variable(&self, name: &str) -> Option<(usize, usize)> {
        if let Some(managed) = self.managed.get(name) {
            return Some(*managed);
        }
        let (address, size) = self.symbols.get(name)?;
        Some((self.base + usize::try_from(*address).ok()?, usize::try_from(*size).ok()?))
    }

    /// Demangled name of a kernel.
    pub(crate) fn demangled(&self, name: &str) -> String {
        self.kernels
            .get(name)
            .map_or_else(|| name.to_string(), |&index| self.object.kernels[index].demangled.clone())
    }

    /// Source file and line of an address: of the innermost function that is not the runtime's own.
    pub(crate) fn source(&self, address: u64) -> Option<String> {
        let table = LineTable::read(self.code.bytes()).ok()?;
        let frames = table.frames(address);
        let known = || frames.iter().filter(|frame| !frame.file.is_empty());
        let is_runtime = |frame: &&Frame| RUNTIME_HEADERS.iter().any(|name| frame.file.ends_with(name));
        let frame = known().find(|frame| !is_runtime(frame)).or_else(|| known().next())?;
        Some(format!("{}:{}", frame.file, frame.line))
    }

    /// Targets that a release must not outlive: gives the image back.
    pub(crate) fn unload(self, allocations: &mut Allocations) {
        for (memory, _) in self.managed.values() {
            let _ = allocations.free(std::ptr::with_exposed_provenance_mut(*memory), &[Kind::Managed]);
        }
        // The pointer comes from `allocate`; nothing to do when it is gone already.
        let _ = allocations.free(std::ptr::with_exposed_provenance_mut(self.base), &[Kind::Internal]);
    }
}

/// The code object for the device; generic code if it has none for this exact target.
fn select(data: &[u8], device: Device) -> Result<Cow<'_, [u8]>, Code> {
    let wanted = Wanted::targets(vec![device.wanted()]);
    let mut scan = codeobj::scan(data, &wanted).map_err(|error| damaged(&error))?;
    let (mut problem, mut generic) = (None, None);
    for found in scan.by_ref() {
        match found {
            Ok(found) if found.target.processor == device.processor() => return Ok(found.data),
            Ok(found) => generic = generic.or(Some(found.data)),
            Err(error) => problem = problem.or(Some(error)),
        }
    }
    if let Some(data) = generic {
        return Ok(data);
    }
    if let Some(error) = problem {
        return Err(damaged(&error));
    }
    let mut others: Vec<String> = scan
        .passed_over()
        .map(|id| codeobj::Target::parse(id).map_or_else(|| id.to_string(), |target| target.to_string()))
        .collect();
    others.sort();
    others.dedup();
    no_code(device, &others);
    Err(Code::hipErrorNoBinaryForGpu)
}

fn no_code(device: Device, others: &[String]) {
    let others = if others.is_empty() {
        "no GPU code at all".to_string()
    } else {
        format!("code for {}", others.join(", "))
    };
    let gpu = device.model.name.trim_start_matches("Instinct ");
    let (target, or) = if device.retries {
        (format!("{}:xnack+", device.processor()), ", leave out `HSA_XNACK=1`,")
    } else {
        (device.processor().to_owned(), ",")
    };
    crate::message::say_once(&format!(
        "the program has {others}, and none for the emulated {gpu} ({target})\n\
         hint: compile with `--offload-arch={target}`{or} or choose a GPU that the program has code for with `--gpu`"
    ));
}

fn damaged(error: &codeobj::ReadError) -> Code {
    say(&format!("the program's GPU code cannot be read: {error}"));
    Code::hipErrorInvalidImage
}
