//! An emulated GPU that runs the kernels.

use crate::code::kernels;
use crate::device::{Device, Given, Launch};
use crate::error::Error;
use arch::Model;
use codeobj::CodeObject;
use emu::Memory;
use probe::Value;
use record::{Job, Recorder};

/// A GPU with the kernels for it.
pub(crate) struct Bench {
    pub(crate) model: &'static Model,
    bytes: &'static [u8],
    object: CodeObject,
}

/// Result of a run.
pub(crate) struct Ran {
    nanoseconds: Option<f64>,
    counters: Vec<(&'static str, Value)>,
}

impl Bench {
    pub(crate) fn new(model: &'static Model) -> Result<Bench, Error> {
        let bytes = kernels(model)?;
        let object = CodeObject::read(bytes).map_err(|error| Error::Kernel {
            kernel: model.target().name.to_owned(),
            what: error.to_string(),
        })?;
        Ok(Bench { model, bytes, object })
    }

    pub(crate) fn has(&self, kernel: &str) -> bool {
        self.object.kernels.iter().any(|it| it.name == kernel)
    }

    /// Runs a kernel on a GPU whose caches are empty.
    fn ran(
        &self,
        kernel: &str,
        memory: Memory,
        groups: u64,
        threads: u64,
        given: &[Vec<u8>],
    ) -> Result<Ran, Error> {
        let failed = |what: String| Error::Kernel { kernel: kernel.to_owned(), what };
        let found = self.object.kernels.iter().find(|it| it.name == kernel);
        let found = found.ok_or_else(|| failed("not in the code object".to_owned()))?;
        let job = Job::new(self.bytes, &self.object, found, memory);
        let mut job = job.map_err(|error| failed(error.to_string()))?;
        job.give(given);
        let mut recorder = Recorder::new(self.model);
        let ran = job.run(&mut recorder, [groups as u32, 1, 1], [threads as u32, 1, 1]);
        ran.map_err(|fault| failed(fault.to_string()))?;
        let dispatch =
            recorder.dispatches().first().ok_or_else(|| failed("it was not recorded".to_owned()))?;
        let nanoseconds = dispatch.time.as_ref().map(|it| it.nanoseconds);
        Ok(Ran { nanoseconds, counters: dispatch.counters.to_vec() })
    }

    /// Nanoseconds of a kernel on memory that is prepared.
    pub(crate) fn time(
        &self,
        kernel: &str,
        memory: Memory,
        threads: u64,
        given: &[Given],
    ) -> Result<f64, Error> {
        let given: Vec<Vec<u8>> = given.iter().map(|it| it.bytes(&[])).collect();
        let ran = self.ran(kernel, memory, 1, threads, &given)?;
        ran.nanoseconds.ok_or_else(|| Error::NoTime(self.model.name.clone()))
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Ran, Error> {
        let mut memory = Memory::new();
        let buffers: Vec<u64> =
            launch.sizes.iter().map(|bytes| memory.allocate("data", *bytes as usize)).collect();
        let given: Vec<Vec<u8>> = launch.given.iter().map(|it| it.bytes(&buffers)).collect();
        self.ran(launch.kernel, memory, launch.groups, launch.threads, &given)
    }

    /// Value of a counter in one pass of one workgroup of a compute kernel; `None` if the target has no such
    /// counter.
    pub(crate) fn operations_of_a_pass(&self, kernel: &str, counter: &str) -> Result<Option<f64>, Error> {
        const THREADS: u64 = 256;
        let count = |passes: u32| {
            let given = vec![Given::Buffer(0), Given::Factor, Given::Integer(passes)];
            let launch = Launch { kernel, sizes: vec![THREADS * 64], groups: 1, threads: THREADS, given };
            let ran = self.launch(&launch)?;
            let found = ran.counters.iter().find(|(name, _)| *name == counter);
            Ok(found.and_then(|(_, value)| match value {
                Value::Known(count) => Some(*count as f64),
                Value::Missing(_) => None,
            }))
        };
        let (Some(one), Some(two)) = (count(1)?, count(2)?) else { return Ok(None) };
        Ok(Some(two - one).filter(|operations| *operations > 0.0))
    }
}

/// As a device.
pub(crate) struct Emulated<'a>(pub(crate) &'a Bench);

impl Device for Emulated<'_> {
    fn run(&mut self, launch: &Launch<'_>) -> Result<f64, Error> {
        let ran = self.0.launch(launch)?;
        ran.nanoseconds.ok_or_else(|| Error::NoTime(self.0.model.name.clone()))
    }

    fn least_nanoseconds(&self) -> f64 {
        0.0
    }

    fn repeats(&self) -> usize {
        1
    }

    fn keeps_caches(&self) -> bool {
        false
    }
}
