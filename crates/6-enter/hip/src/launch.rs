//! Work of a stream: kernels, copies, fills, calls of host functions.
//!
//! Work is a value, so that doing it now and keeping it in a graph differ in one place.

use crate::calls;
use crate::capture::{self, Seen};
use crate::checks::Checking;
use crate::codes::Code;
use crate::graph::Action;
use crate::host_memory;
use crate::message::{rely, say};
use crate::progress;
use crate::recording::Recording;
use crate::repeats::{Needs, Outcome, Plan};
use crate::runtime::{Runtime, lock};
use crate::staging::Ring;
use crate::timeline::{self, Engine};
use crate::times::Times;
use crate::virtual_time;
use crate::work::{Copy3, Fill, Function, Kernel, Place, Work};
use arch::Model;
use emu::{Cause, Fault, Host, Launch, LostAccesses, Memory, Program, Summary};
use host::launches;
use host::session::Reliance;
use probe::{LaunchSize, Oversize};
use std::collections::BTreeMap;
use std::ptr::with_exposed_provenance_mut as pointer;
use std::sync::Arc;
use std::time::Instant;

/// Most workgroups of a launch that run in another order.
const MOST_REVERSED: u64 = 1 << 24;
/// Bytes beyond which an address has nothing to do with an allocation of the runtime.
const FAR: u64 = 1 << 20;

/// Does work, or adds it to the capture of the stream.
pub(crate) fn perform(stream: usize, work: Work) -> Result<(), Code> {
    let mut runtime = lock();
    if !runtime.streams.is_stream(stream) {
        return Err(Code::hipErrorInvalidHandle);
    }
    if runtime.streams.origin(stream).is_some() {
        return runtime.capture(stream, Action::Work(work));
    }
    drop(runtime);
    now(stream, &work)
}

/// Does work of a stream at once.
pub(crate) fn now(stream: usize, work: &Work) -> Result<(), Code> {
    match work {
        Work::Kernel(kernel) => virtual_time::apart(|| lock().launch(stream, kernel)),
        Work::Copy(copy) => virtual_time::apart(|| copy.perform(stream, &mut lock())),
        Work::Fill(fill) => virtual_time::apart(|| fill.perform(stream, &mut lock())),
        Work::Call(function, data) => {
            // SAFETY: the program gave the function for exactly this call. The lock is not held: it may call
            // us.
            unsafe { function(pointer(*data)) };
            Ok(())
        }
        Work::Values(values) => values.iter().try_for_each(|it| it.perform(&mut lock())),
    }
}

/// Bytes from the start to the end of a box; `None` on overflow.
fn extent(place: Place, width: usize, height: usize, depth: usize) -> Option<usize> {
    if width == 0 || height == 0 || depth == 0 {
        return Some(0);
    }
    let rows = place.pitch.checked_mul(height - 1)?;
    place.slice.checked_mul(depth - 1)?.checked_add(rows)?.checked_add(width)
}

impl Copy3 {
    fn perform(&self, stream: usize, runtime: &mut Runtime) -> Result<(), Code> {
        let Copy3 { mut to, mut from, width, height, depth } = *self;
        for (what, place) in [("copy to", to), ("copy from", from)] {
            match extent(place, width, height, depth) {
                Some(0) => return Ok(()),
                _ if place.address == 0 => return Err(Code::hipErrorInvalidValue),
                Some(bytes) => runtime.allocations.check(what, place.address, bytes)?,
                None => return Err(Code::hipErrorInvalidValue),
            }
            if height > 1 && place.pitch < width {
                return Err(Code::hipErrorInvalidPitchValue);
            }
        }
        for place in [&mut to, &mut from] {
            place.address = runtime.allocations.host(place.address);
        }
        let is_result = runtime.allocations.is_copy_to_host(self.to.address, self.from.address);
        let mut results = runtime.results.as_mut().filter(|_| is_result);
        for z in 0..depth {
            for y in 0..height {
                let at = |place: Place| place.address + z * place.slice + y * place.pitch;
                if let Some(results) = &mut results {
                    // SAFETY: as for the copy.
                    results.keep(unsafe { std::slice::from_raw_parts(pointer::<u8>(at(from)), width) });
                }
                // SAFETY: inside allocations as just checked, or memory the program vouches for.
                unsafe { std::ptr::copy(pointer::<u8>(at(from)), pointer::<u8>(at(to)), width) };
            }
        }
        runtime.came_from_host |= runtime.allocations.is_copy_from_host(self.to.address, self.from.address);
        let time = timeline::of_copy(runtime.device.model, &runtime.allocations, self);
        let ends = [self.to.address, self.from.address];
        let is_local = ends.iter().all(|it| timeline::is_on_device(&runtime.allocations, *it));
        runtime.timeline.add(stream, if is_local { Engine::Compute } else { Engine::Copy }, time);
        Ok(())
    }
}

impl Fill {
    fn perform(&self, stream: usize, runtime: &mut Runtime) -> Result<(), Code> {
        let Fill { to, pattern, size, width, height, depth } = *self;
        match extent(to, width, height, depth) {
            Some(0) => return Ok(()),
            _ if to.address == 0 => return Err(Code::hipErrorInvalidValue),
            // Memory that only the host has is not the GPU's to fill.
            Some(_) if runtime.allocations.find(to.address).is_none() => {
                runtime.allocations.check("fill at", to.address, 1)?;
                return Err(Code::hipErrorInvalidValue);
            }
            Some(bytes) => runtime.allocations.check("fill at", to.address, bytes)?,
            None => return Err(Code::hipErrorInvalidValue),
        }
        let bytes = pattern.to_le_bytes();
        let address = runtime.allocations.host(to.address);
        for z in 0..depth {
            for y in 0..height {
                let start = pointer::<u8>(address + z * to.slice + y * to.pitch);
                if bytes[..size].iter().all(|it| *it == bytes[0]) {
                    // SAFETY: inside allocations as just checked, or memory the program vouches for.
                    unsafe { std::ptr::write_bytes(start, bytes[0], width) };
                    continue;
                }
                for x in (0..width / size).map(|index| index * size) {
                    // SAFETY: as above.
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(x), size) };
                }
            }
        }
        if timeline::is_on_device(&runtime.allocations, to.address) {
            let bytes = width as f64 * height as f64 * depth as f64;
            let time = timeline::of_fill(runtime.device.model, bytes);
            runtime.timeline.add(stream, Engine::Compute, Some(time));
        }
        Ok(())
    }
}

/// Ways in which a launch runs.
struct Ways<'a> {
    checking: Option<&'a mut Checking>,
    recording: Option<&'a mut Recording>,
    times: &'a mut Option<Times>,
    /// It gets a time, recorded or not.
    measures: bool,
    model: &'static Model,
}

impl Ways<'_> {
    /// Runs a kernel checked, recorded, timed or alone. `wanted` says whether it is recorded, with the program's note.
    fn run(
        self,
        (name, code, program): (&str, &Arc<probe::Code>, &Arc<Program>),
        memory: &Memory,
        launch: &Launch<'_>,
        (wanted, note): (bool, Option<String>),
    ) -> Result<(Summary, Outcome), Box<Fault>> {
        let untimed = |summary| (summary, Outcome::default());
        match (self.checking, self.recording) {
            (Some(checking), _) => checking.run(name, code, program, memory, launch).map(untimed),
            (None, Some(recording)) if wanted => {
                let summary = recording.run(name, code, program, memory, launch)?;
                recording.note(note);
                Ok((summary, recording.last()))
            }
            (None, mut recording)
                if self.measures
                    && recording.as_ref().is_none_or(|it| it.needs_results() && it.has_clock()) =>
            {
                recording.iter_mut().for_each(|it| it.pass_over());
                let times = self.times.get_or_insert_with(|| Times::new(self.model));
                let (summary, time) = times.run(program, memory, launch)?;
                Ok((summary, Outcome { time, dispatch: None }))
            }
            (None, mut recording) => {
                let run = recording.as_ref().is_none_or(|it| it.needs_results());
                recording.iter_mut().for_each(|it| it.pass_over());
                if !run {
                    return Ok(untimed(Summary::default()));
                }
                emu::run_alone(program, memory, launch).map(untimed)
            }
        }
    }
}

/// Workgroups from the last to the first, unless they wait for each other or are too many.
fn reversed(launch: &Launch<'_>) -> Option<Vec<u64>> {
    let count = launch.workgroup_count();
    (!launch.cooperative && count <= MOST_REVERSED).then(|| (0..count).rev().collect())
}

impl Runtime {
    /// Runs a kernel. A fault of the kernel ends the program, as it does on the hardware.
    fn launch(&mut self, stream: usize, kernel: &Kernel) -> Result<(), Code> {
        if self.device.retries {
            self.allocations.lend_pages();
        }
        let result = self.launch_with(stream, kernel);
        self.allocations.take_pages_back();
        result
    }

    /// Runs a kernel on registered memory.
    fn launch_with(&mut self, stream: usize, kernel: &Kernel) -> Result<(), Code> {
        let module = self.module(kernel.function.module)?;
        let (program, load) = (module.program(&kernel.function.name)?, module.base as u64);
        let (name, code) = (module.demangled(&kernel.function.name), module.code());
        self.check_sizes(kernel, &program, &name)?;
        let wanted = self.recording.as_mut().is_some_and(|it| it.wants(&name));
        if let Some(recording) = &mut self.recording {
            let seen = usize::try_from(kernel.device).ok().and_then(|it| self.visible.get(it));
            recording.set_device(seen.copied().unwrap_or_default());
        }
        let number = self.recording.as_ref().map_or(self.launches, |it| it.next());
        self.launches += 1;
        let note = self.note.take();
        let plan = self.plan(kernel, &program, wanted);
        if let Some(Plan::Count(outcome)) = plan {
            self.count(stream, outcome, note.filter(|_| wanted));
            return Ok(());
        }
        let mut launch = Launch::new([1; 3], kernel.workgroup, 0);
        launch.grid = kernel.grid;
        launch.dynamic_lds = kernel.dynamic_lds;
        launch.load = load;
        launch.cooperative = kernel.cooperative;
        launch.resident = self.resident(kernel, &program);
        launch.released = std::mem::take(&mut self.came_from_host);
        launch.threads = self.settings.threads;
        launch.max_instructions = self.settings.max_instructions;
        let needs = self.calls.prepare(&program, &launch, &mut self.allocations)?;
        let segment = emu::arguments(&program, &launch, &needs.hidden, &kernel.arguments);
        launch.kernarg = self.arguments.place(&segment, &mut self.allocations)?;
        launch.packet = self.packets.place(&launch.dispatch_packet(&program), &mut self.allocations)?;
        let memory = &self.allocations.emulated;
        let host = self.calls.host(&needs, memory);
        launch.host = host.as_ref().map(|it| it as &dyn Host);
        let buffer = needs.print_buffer(memory);
        if buffer.is_some() {
            // Records have the order of workgroups.
            launch.threads = 1;
        }
        let progress = progress::begin(self.settings.progress, &name, number, launch.wave_count());
        launch.progress = progress.as_deref();
        let ways = Ways {
            checking: self.checking.as_mut(),
            recording: self.recording.as_mut(),
            times: &mut self.times,
            measures: self.measures,
            model: self.device.model,
        };
        let order = self.reversed.then(|| reversed(&launch)).flatten();
        launch.only = order.as_deref();
        let seen = Seen::new(&self.modules, kernel, &self.allocations);
        let captured = capture::begin(self.capture.as_mut(), seen, (&name, kernel), &program);
        let start = Instant::now();
        let result = ways.run((&name, &code, &program), memory, &launch, (wanted, note));
        if launch.progress.is_some() {
            progress::end();
        }
        if let (Some(captured), Ok(_)) = (captured, &result) {
            captured.end(&name);
        }
        let outcome = result.as_ref().map(|it| it.1.clone()).unwrap_or_default();
        self.timeline.add(stream, Engine::Compute, outcome.time);
        if let (Some(Plan::Run(key, before)), Ok(_)) = (plan, &result) {
            let except = [&self.arguments, &self.packets].map(Ring::base);
            self.repeats.ran((key, before), (start.elapsed(), outcome), memory, &except);
        }
        if let Some(buffer) = buffer {
            let formats = self.module(kernel.function.module)?.formats().to_vec();
            calls::flush(&buffer, &self.allocations.emulated, &formats);
        }
        let (summary, _) = match result {
            Ok(done) => done,
            Err(fault) => return self.fault(kernel, &name, &fault),
        };
        self.timeline.wait_for_clock(stream, summary.waited);
        self.rely_on_approximations(kernel, &name, &program);
        summary.lost().for_each(|lost| self.warn_of_lost(kernel, &name, &program, &lost));
        Ok(())
    }

    /// Workgroups that the GPU holds at a time, of a kernel whose workgroups may wait for each other.
    fn resident(&self, kernel: &Kernel, program: &Program) -> u64 {
        if !program.may_wait_for_workgroups() {
            return 0;
        }
        let threads = kernel.workgroup.iter().product();
        self.device.workgroups_at_once(program, threads, kernel.dynamic_lds as usize)
    }

    /// Plan of a launch, if launches that repeat others are left out. Kernels that print always run, as output is part of
    /// their effect.
    fn plan(&mut self, kernel: &Kernel, program: &Program, wanted: bool) -> Option<Plan> {
        let prints = program.metadata.arguments.iter().any(|it| it.kind == "hidden_printf_buffer");
        if !self.settings.repeats || self.checking.is_some() || program.calls_host() || prints {
            return None;
        }
        let has_clock = self.recording.as_ref().is_some_and(|it| wanted && it.has_clock());
        let needs = Needs { time: has_clock || self.measures, dispatch: wanted };
        let except = [&self.arguments, &self.packets].map(Ring::base);
        Some(self.repeats.plan(kernel, &self.allocations.emulated, &except, needs))
    }

    /// Counts a launch that would do what an earlier one did.
    fn count(&mut self, stream: usize, outcome: Outcome, note: Option<String>) {
        if let Some(recording) = &mut self.recording {
            match &outcome.dispatch {
                Some(dispatch) => recording.repeat(dispatch, note),
                None => recording.pass_over(),
            }
        }
        self.came_from_host = false;
        self.timeline.add(stream, Engine::Compute, outcome.time);
    }

    fn check_sizes(&self, kernel: &Kernel, program: &Program, name: &str) -> Result<(), Code> {
        let Kernel { grid, workgroup, dynamic_lds, .. } = *kernel;
        let size = LaunchSize { grid, workgroup, dynamic_lds };
        let Err(oversize) = size.check(program, self.device.model.target()) else { return Ok(()) };
        if oversize != Oversize::Empty {
            say(&format!("`{name}` {oversize}"));
        }
        Err(match oversize {
            Oversize::Lds { .. } => Code::hipErrorOutOfMemory,
            Oversize::Empty | Oversize::Grid | Oversize::Workgroup { .. } => {
                Code::hipErrorInvalidConfiguration
            }
        })
    }

    /// Tells the command, once for each kernel, which of its instructions may have other bits than the hardware's.
    fn rely_on_approximations(&mut self, kernel: &Kernel, name: &str, program: &Program) {
        let Function { module, name: symbol } = &kernel.function;
        if self.ran.get(module).is_some_and(|known| known.contains(symbol)) {
            return;
        }
        self.ran.entry(*module).or_default().insert(symbol.clone());
        let mut opcodes: BTreeMap<&str, u64> = BTreeMap::new();
        for inst in program.instructions() {
            let opcode = inst.info().name;
            if emu::approximation(opcode).is_some() {
                *opcodes.entry(opcode).or_default() += 1;
            }
        }
        for (opcode, instructions) in opcodes {
            let (kernel, opcode) = (name.to_owned(), opcode.to_owned());
            rely(&Reliance::Approximated { kernel, opcode, instructions });
        }
    }

    /// Says which accesses of a kernel are dropped, once for each such instruction.
    fn warn_of_lost(&mut self, kernel: &Kernel, name: &str, program: &Program, lost: &LostAccesses) {
        let address = program.address(lost.index);
        if !self.lost.insert((name.to_string(), address)) {
            return;
        }
        let source = self.module(kernel.function.module).ok().and_then(|it| it.source(address));
        let source = source.map_or_else(String::new, |it| format!("\n  source {it}"));
        let what = launches::lost(name, program, lost, &source);
        say(&what);
        rely(&Reliance::Dropped { what });
    }

    /// An access outside every allocation may hit memory that only the host has; distant memory of the
    /// runtime tells a user nothing.
    fn look_closer(&self, cause: &mut Cause) {
        let Cause::Unmapped { access, address, bytes, nearest } = cause else { return };
        if nearest.as_ref().is_some_and(|it| it.freed) || self.allocations.is_in_pages(*address) {
            return;
        }
        if let Some(place) = host_memory::place(*address) {
            *cause = Cause::HostMemory { access, address: *address, bytes: *bytes, place };
            return;
        }
        let is_far = nearest.as_ref().is_some_and(|it| it.distance.unsigned_abs() > FAR);
        if is_far && nearest.as_ref().is_some_and(|it| self.allocations.is_internal(it.base)) {
            *nearest = None;
        }
    }

    /// Says where a kernel failed. It ends the program, as the vendor's runtime does, by abort, unless the program has
    /// asked for an error.
    fn fault(&mut self, kernel: &Kernel, name: &str, fault: &Fault) -> Result<(), Code> {
        let source = self.module(kernel.function.module).ok().and_then(|it| it.source(fault.address));
        let source = source.map_or_else(String::new, |it| format!("\n  source {it}"));
        let mut fault = fault.clone();
        self.look_closer(&mut fault.cause);
        let no_source =
            source.is_empty().then_some("compile with `-gline-tables-only` to see the source line");
        // Earlier output is not lost.
        calls::flush_output();
        fault.kernel = name.to_string();
        let (asserts, silent) = self.calls.take_failed_asserts();
        match silent {
            0 => {}
            1 => say("1 more lane failed the same assert"),
            lanes => say(&format!("{lanes} more lanes failed the same assert")),
        }
        let stopped = launches::stopped(&fault, &source, no_source);
        if let Some(recording) = &mut self.recording {
            recording.catch_up();
        }
        let hangs =
            matches!(fault.cause, Cause::Endless { .. } | Cause::Stuck { .. } | Cause::Deadlock { .. });
        self.faults.end(&asserts, &stopped, hangs)
    }
}
