//! The launch that `rockhound capture` asks for, from the memory of this runtime.

use crate::memory::{self, Allocations};
use crate::message::say;
use crate::module::Module;
use crate::runtime::{Slot, loaded};
use crate::work::Kernel;
use emu::Program;
use host::capture::{Allocation, Begun, Capturer, Device, Dispatch, Kind};
use std::ops::Range;

/// The runtime as a capture sees it.
pub(crate) struct Seen<'a> {
    allocations: &'a Allocations,
    module: &'a Module,
}

impl<'a> Seen<'a> {
    /// As the kernel sees it; `None` if its code is not loaded.
    pub(crate) fn new(
        modules: &'a [Slot],
        kernel: &Kernel,
        allocations: &'a Allocations,
    ) -> Option<Seen<'a>> {
        loaded(modules, kernel.function.module).map(|module| Seen { allocations, module })
    }
}

impl Device for Seen<'_> {
    fn allocation(&self, address: u64) -> Option<Allocation> {
        let found = self.allocations.find(usize::try_from(address).ok()?)?;
        let kind = match found.kind {
            memory::Kind::Device | memory::Kind::Mapped => Kind::Device,
            memory::Kind::Host | memory::Kind::Registered => Kind::Host,
            memory::Kind::Managed => Kind::Managed,
            memory::Kind::Internal => Kind::Runtime,
        };
        Some(Allocation { base: found.base as u64, bytes: found.bytes as u64, kind })
    }

    fn span(&self) -> Range<u64> {
        let Range { start, end } = self.allocations.span();
        start as u64..end as u64
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), String> {
        let address = usize::try_from(address).map_err(|_| "its address is too large".to_owned())?;
        let found = self.allocations.find(address);
        if found.is_none_or(|it| into.len() > it.bytes - (address - it.base)) {
            return Err("it is not in one allocation".to_owned());
        }
        let start = std::ptr::with_exposed_provenance::<u8>(self.allocations.host(address));
        // SAFETY: inside an allocation, which lives while the runtime is locked; `into` is memory of the capture.
        unsafe { std::ptr::copy_nonoverlapping(start, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn variable(&self, name: &str) -> Option<u64> {
        self.module.variable(name).map(|(address, _)| address as u64)
    }
}

/// A captured launch that is under way.
pub(crate) struct UnderWay<'a> {
    begun: Begun,
    seen: Seen<'a>,
}

/// Counts a launch, and writes code and memory before it if it is the one wanted.
pub(crate) fn begin<'a>(
    capturer: Option<&mut Capturer>,
    seen: Option<Seen<'a>>,
    (name, kernel): (&str, &Kernel),
    program: &Program,
) -> Option<UnderWay<'a>> {
    let (capturer, seen) = capturer.zip(seen)?;
    let gpu = capturer.gpu().to_owned();
    let captured = capturer.next(name, &kernel.function.name)?;
    let arguments: Vec<_> = program.metadata.given().collect();
    let code = seen.module.code();
    let dispatch = Dispatch {
        name,
        symbol: &kernel.function.name,
        code: code.bytes(),
        code_address: Some(seen.module.base as u64),
        arguments: &arguments,
        values: &kernel.arguments,
        grid: kernel.grid,
        workgroup: kernel.workgroup,
        dynamic_lds: kernel.dynamic_lds,
        cooperative: kernel.cooperative,
        gpu: &gpu,
        on: &format!("emulated {gpu}"),
        is_exact: true,
    };
    let begun = captured.begin(&dispatch, &seen).unwrap_or_else(|error| {
        say(&format!("cannot capture `{name}`: {error:#}"));
        None
    })?;
    Some(UnderWay { begun, seen })
}

impl UnderWay<'_> {
    /// Writes what the launch left, and says what the capture lacks.
    pub(crate) fn end(self, name: &str) {
        match self.begun.end(&self.seen) {
            Ok(lacking) => lacking.iter().for_each(|it| say(&format!("capture of `{name}`: {it}"))),
            Err(error) => say(&format!("cannot capture `{name}`: {error:#}")),
        }
    }
}
