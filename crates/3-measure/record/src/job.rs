//! A kernel with its code and arguments in memory, to be run without a host program.
//!
//! A caller gives arguments in order; the metadata decides their offsets in the segment.

use crate::Recorder;
use codeobj::{CodeObject, Image, Kernel, ReadError};
use emu::{Fault, Hidden, Launch, Memory, Program, ProgramError, Summary, arguments};
use probe::{Code, Table};
use std::sync::Arc;

/// A kernel that can be launched repeatedly.
#[derive(Debug)]
pub struct Job {
    /// Name as shown.
    pub name: String,
    /// The kernel.
    pub program: Program,
    /// Events per execution of its instructions.
    pub table: Table,
    /// Memory with its code.
    pub memory: Memory,
    /// Arguments, in the layout of the start of the segment.
    pub explicit: Vec<u8>,
    load: u64,
}

/// Why a kernel cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The code object cannot be read.
    #[error("{0}")]
    Read(ReadError),
    /// It has no such kernel.
    #[error("there is no such kernel in the code object: `{0}`")]
    NoKernel(String),
    /// Other memory is where its code is to be.
    #[error("at {0:#x}, where the code is to be, is other memory")]
    Taken(u64),
    /// The kernel cannot be decoded.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Largest size of the argument segment, bytes.
const SEGMENT: u32 = 1 << 16;

impl Job {
    /// The first kernel of a code object, or the kernel with this name (linker's or displayed), in its own
    /// memory.
    pub fn find(bytes: &[u8], name: Option<&str>) -> Result<Job, JobError> {
        let object = CodeObject::read(bytes).map_err(JobError::Read)?;
        let is_named = |it: &&Kernel| name.is_none_or(|name| it.demangled == name || it.name == name);
        let found = object.kernels.iter().find(is_named);
        let kernel = found.ok_or_else(|| JobError::NoKernel(name.unwrap_or_default().to_owned()))?;
        Job::new(bytes, &object, kernel, Memory::new())
    }

    /// A kernel of a code object that was read from `bytes`, in memory that may hold data.
    pub fn new(bytes: &[u8], object: &CodeObject, kernel: &Kernel, memory: Memory) -> Result<Job, JobError> {
        Job::at(bytes, object, kernel, memory, None)
    }

    /// The same with its code at an address, if one is given.
    pub fn at(
        bytes: &[u8],
        object: &CodeObject,
        kernel: &Kernel,
        mut memory: Memory,
        address: Option<u64>,
    ) -> Result<Job, JobError> {
        let program = Program::new(bytes, object, kernel)?;
        let image = Image::read(bytes).map_err(JobError::Read)?;
        let load = match address {
            Some(address) if memory.load_at("code", &image, address) => address,
            Some(address) => return Err(JobError::Taken(address)),
            None => memory.load("code", &image),
        };
        let table = Table::new(&program).with_code(Arc::new(Code::new(bytes.to_vec())));
        Ok(Job { name: kernel.demangled.clone(), program, table, memory, explicit: Vec::new(), load })
    }

    /// Address of virtual address 0 of the code.
    pub fn load(&self) -> u64 {
        self.load
    }

    /// Sets arguments in order; a value longer than its argument is truncated.
    pub fn give<V: AsRef<[u8]>>(&mut self, values: impl IntoIterator<Item = V>) {
        for (place, value) in self.program.metadata.given().zip(values) {
            let (at, value) = (place.offset.min(SEGMENT) as usize, value.as_ref());
            let value = &value[..value.len().min(place.size as usize)];
            self.explicit.resize(self.explicit.len().max(at + value.len()), 0);
            self.explicit[at..at + value.len()].copy_from_slice(value);
        }
    }

    /// A launch of the kernel with the given arguments.
    pub fn launch<'a>(&mut self, launch: Launch<'a>, hidden: &Hidden) -> Launch<'a> {
        let launch = Launch { load: self.load, ..launch };
        let segment = arguments(&self.program, &launch, hidden, &self.explicit);
        Launch { kernarg: self.memory.allocate_with("arguments", &segment), ..launch }
    }

    /// Runs whole workgroups, recorded.
    pub fn run(
        &mut self,
        recorder: &mut Recorder,
        workgroups: [u32; 3],
        workgroup: [u32; 3],
    ) -> Result<Summary, Box<Fault>> {
        let launch = self.launch(Launch::new(workgroups, workgroup, 0), &Hidden::default());
        recorder.run(&self.name, &self.program, &self.table, &self.memory, &launch)
    }
}
