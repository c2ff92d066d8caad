//! The state of the runtime in this process.
//!
//! One lock around everything; a kernel runs while it is held, since every stream runs in order and at once.
//! Functions of the program are called without it.

use crate::advice::Advice;
use crate::calls::Calls;
use crate::checks::Checking;
use crate::codes::Code;
use crate::device::Device;
use crate::faults::Faults;
use crate::graph::{Action, Graphs};
use crate::memory::{Allocations, NewMemory};
use crate::module::Module;
use crate::pools::Pools;
use crate::recording::Recording;
use crate::repeats::Repeats;
use crate::results::Results;
use crate::staging::Ring;
use crate::stream::Streams;
use crate::timeline::Timeline;
use crate::times::Times;
use crate::virtual_memory::VirtualMemory;
use crate::virtual_time;
use crate::visible;
use crate::work::{Function, ModuleId};
use host::capture::Capturer;
use host::session::{self, Progress, Session};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// Code that was handed over, loaded when it is first used.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Bytes of a registered binary.
    Registered(&'static [u8]),
    /// In memory.
    Loaded(Box<Module>),
    /// Could not be loaded; said once.
    Failed(Code),
    /// Given back.
    Gone,
}

/// A variable of device code with a separate address on the host.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) module: ModuleId,
    pub(crate) name: String,
    /// Memory of a managed variable; its symbol holds this address.
    pub(crate) managed: Option<usize>,
}

/// Settings of the session.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Threads.
    pub(crate) threads: usize,
    /// Most instructions of one wave.
    pub(crate) max_instructions: u64,
    /// Launches that would do what an earlier one did are counted and not run.
    pub(crate) repeats: bool,
    /// Display of the progress of long kernels.
    pub(crate) progress: Progress,
}

/// Everything.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) device: Device,
    /// GPUs that the program sees.
    pub(crate) devices: i32,
    /// Their numbers on the machine.
    pub(crate) visible: Vec<u32>,
    pub(crate) settings: Settings,
    pub(crate) allocations: Allocations,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) pools: Pools,
    pub(crate) advice: Advice,
    pub(crate) calls: Calls,
    pub(crate) modules: Vec<Slot>,
    /// By address of the host's stub, or by the handle given out.
    pub(crate) functions: BTreeMap<usize, Function>,
    pub(crate) variables: BTreeMap<usize, Variable>,
    pub(crate) streams: Streams,
    pub(crate) graphs: Graphs,
    /// By address: bytes and GPU of memory that graphs allocated.
    pub(crate) graph_memory: BTreeMap<usize, (usize, i32)>,
    pub(crate) timeline: Timeline,
    /// Arguments of kernels, and packets.
    pub(crate) arguments: Ring,
    pub(crate) packets: Ring,
    pub(crate) recording: Option<Recording>,
    pub(crate) checking: Option<Checking>,
    /// Note of a Python program about its next launch.
    pub(crate) note: Option<String>,
    /// Launches get a modelled time whether they are recorded or not.
    pub(crate) measures: bool,
    /// Clock of launches that are not recorded; made when it is first needed.
    pub(crate) times: Option<Times>,
    /// Process that made this; a forked one says nothing.
    process: u32,
    /// Kernels launched so far.
    pub(crate) launches: u64,
    /// Data came from the host since the last kernel.
    pub(crate) came_from_host: bool,
    /// Kernels and addresses of instructions whose accesses are dropped: said once.
    pub(crate) lost: BTreeSet<(String, u64)>,
    /// Limits that the program set.
    pub(crate) limits: BTreeMap<u32, usize>,
    /// Flags of devices, as the program set them.
    pub(crate) device_flags: BTreeMap<i32, u32>,
    /// Most dynamic LDS of functions, as the program set it.
    pub(crate) set_dynamic_lds: BTreeMap<usize, i32>,
    /// Kernels that ran, by module.
    pub(crate) ran: BTreeMap<ModuleId, BTreeSet<String>>,
    pub(crate) faults: Faults,
    pub(crate) repeats: Repeats,
    /// Contents that the program reads back, if somebody compares them.
    pub(crate) results: Option<Results>,
    /// Workgroups run from the last to the first.
    pub(crate) reversed: bool,
    /// Launch to capture.
    pub(crate) capture: Option<Capturer>,
}

static RUNTIME: OnceLock<Mutex<Runtime>> = OnceLock::new();

/// The runtime, for this thread alone.
pub(crate) fn lock() -> MutexGuard<'static, Runtime> {
    RUNTIME.get_or_init(|| Mutex::new(Runtime::new())).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runtime, unless a thread holds it or it was never initialised.
pub(crate) fn try_lock() -> Option<MutexGuard<'static, Runtime>> {
    match RUNTIME.get()?.try_lock() {
        Ok(runtime) => Some(runtime),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Writes pending data when the program ends.
extern "C" fn at_exit() {
    // A thread that ends the program in the middle of a call holds the lock: then the last write has to do.
    let Some(mut runtime) = try_lock() else { return };
    let counted = runtime.repeats.counted;
    if let Some(recording) = &mut runtime.recording {
        recording.write();
        recording.explain();
    }
    if counted > 0 && runtime.process == std::process::id() {
        crate::message::say(&format!(
            "{counted} of {} launches were counted, not run: the same kernel with the same arguments ran before on the same memory",
            runtime.launches
        ));
    }
}

/// Contents of new memory of the GPU in a session.
fn new_memory(session: &Session) -> anyhow::Result<NewMemory> {
    if session.checks()?.uninitialized {
        return Ok(NewMemory::Unwritten);
    }
    Ok(session.watched.and_then(|it| it.fill).map_or(NewMemory::Cleared, NewMemory::Filled))
}

/// A module that is loaded.
pub(crate) fn loaded(modules: &[Slot], id: ModuleId) -> Option<&Module> {
    match modules.get(id)? {
        Slot::Loaded(module) => Some(module),
        _ => None,
    }
}

impl Runtime {
    /// Runtime as the session requests; without a session a program gets the default GPU. An unusable session
    /// ends the program, because it would not do what was requested.
    fn new() -> Runtime {
        let folder = std::env::var_os(session::VARIABLE).map(PathBuf::from);
        Runtime::of_session(folder.as_deref()).unwrap_or_else(|error| {
            crate::message::say(&format!("{error:#}"));
            std::process::exit(1)
        })
    }

    fn of_session(folder: Option<&Path>) -> anyhow::Result<Runtime> {
        let session = folder.map(Session::read).transpose()?.unwrap_or_default();
        let device = Device::new(session.model()?, std::env::var("HSA_XNACK").ok().as_deref());
        let visible = visible::devices(session.devices, |name| std::env::var(name).ok());
        let (mut checking, mut recording) = (None, None);
        if let Some(folder) = folder {
            // Tells `rockhound` that the program came here; without it the program just runs.
            let _ = std::fs::write(folder.join(session::CALLED), "");
            // SAFETY: only says what signal this process gets when `rockhound` is gone.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) };
            let checks = session.checks()?;
            checking = checks.any().then(|| Checking::new(checks, folder));
            let record = session.record.as_ref();
            recording = record.map(|it| Recording::new(it, folder, device.model)).transpose()?;
        }
        if folder.is_some() {
            // SAFETY: the function is `extern "C"` and stays for the life of the process.
            unsafe { libc::atexit(at_exit) };
        }
        let is_timed = recording.as_ref().is_none_or(Recording::has_clock) && checking.is_none();
        let has_virtual_time = session.virtual_time && is_timed;
        let measures = has_virtual_time && recording.is_none();
        if has_virtual_time {
            virtual_time::turn_on();
        }
        let mut allocations = Allocations::with(new_memory(&session)?);
        if checking.is_some() || session.watched.is_some() {
            allocations.keep_freed();
        }
        Ok(Runtime {
            device,
            devices: visible.len() as i32,
            visible,
            // The system is asked how many cores there are once, not for each launch.
            settings: Settings {
                threads: session.thread_count(),
                max_instructions: session.max_instructions,
                // A digest of all memory of the program differs at each launch: stacks change.
                repeats: session.repeats && !device.retries,
                progress: session.progress,
            },
            allocations,
            virtual_memory: VirtualMemory::default(),
            pools: Pools::default(),
            advice: Advice::default(),
            calls: Calls::default(),
            modules: Vec::new(),
            functions: BTreeMap::new(),
            variables: BTreeMap::new(),
            streams: Streams::default(),
            graphs: Graphs::default(),
            graph_memory: BTreeMap::new(),
            timeline: Timeline::new((recording.is_some() || has_virtual_time) && is_timed, device.model),
            arguments: Ring::default(),
            packets: Ring::default(),
            recording,
            checking,
            note: None,
            measures,
            times: None,
            process: std::process::id(),
            launches: 0,
            came_from_host: false,
            lost: BTreeSet::new(),
            limits: BTreeMap::new(),
            device_flags: BTreeMap::new(),
            set_dynamic_lds: BTreeMap::new(),
            ran: BTreeMap::new(),
            repeats: Repeats::default(),
            results: folder.filter(|_| session.watched.is_some()).map(Results::new),
            capture: session.capture.as_ref().map(Capturer::new),
            reversed: session.watched.is_some_and(|it| it.reversed),
            faults: folder.map_or_else(Faults::default, |it| Faults::new(it, session.stderr)),
        })
    }

    /// Adds work to the graph of the capture that a stream takes part in.
    pub(crate) fn capture(&mut self, stream: usize, action: Action) -> Result<(), Code> {
        let (graph, tail) = self.streams.captured(stream).ok_or(Code::hipErrorStreamCaptureInvalidated)?;
        let node = self.graphs.add(graph, action, tail)?;
        if let Some(stream) = self.streams.streams.get_mut(&stream) {
            stream.tail = vec![node];
        }
        Ok(())
    }

    /// Records an event of a stream, if it is one. Launches after the first event with a time have one too.
    pub(crate) fn record(&mut self, event: usize, stream: usize) {
        let Some(event) = self.streams.events.get_mut(&event) else { return };
        if event.timing && self.recording.is_none() && self.checking.is_none() {
            self.measures = true;
            self.timeline.model();
        }
        (event.recorded, event.captured) = (Some(self.timeline.event(stream)), None);
    }

    /// A module, loaded if it was not yet.
    pub(crate) fn module(&mut self, id: ModuleId) -> Result<&mut Module, Code> {
        let Runtime { modules, allocations, device, variables, .. } = self;
        let slot = modules.get_mut(id).ok_or(Code::hipErrorInvalidHandle)?;
        if let Slot::Registered(data) = slot {
            *slot = match Module::load(data, *device, allocations) {
                Ok(module) => {
                    let own = variables.values().filter(|it| it.module == id);
                    for (variable, memory) in own.filter_map(|it| Some((it, it.managed?))) {
                        if let Some((address, 8..)) = module.variable(&variable.name) {
                            allocations.emulated.write(address as u64, &(memory as u64).to_le_bytes());
                        }
                    }
                    Slot::Loaded(Box::new(module))
                }
                Err(code) => Slot::Failed(code),
            };
        }
        match slot {
            Slot::Loaded(module) => Ok(module),
            Slot::Failed(code) => Err(*code),
            Slot::Registered(_) | Slot::Gone => Err(Code::hipErrorInvalidHandle),
        }
    }

    /// Adds code; its number is what names it.
    pub(crate) fn add_module(&mut self, slot: Slot) -> ModuleId {
        self.modules.push(slot);
        self.modules.len() - 1
    }

    /// Gives a module back, with everything that refers to it.
    pub(crate) fn remove_module(&mut self, id: ModuleId) -> Result<(), Code> {
        let slot = self.modules.get_mut(id).ok_or(Code::hipErrorInvalidHandle)?;
        match std::mem::replace(slot, Slot::Gone) {
            Slot::Loaded(module) => module.unload(&mut self.allocations),
            Slot::Gone => return Err(Code::hipErrorInvalidHandle),
            Slot::Registered(_) | Slot::Failed(_) => {}
        }
        self.functions.retain(|_, it| it.module != id);
        self.variables.retain(|_, it| it.module != id);
        Ok(())
    }

    /// Address and size of a variable that host code knows by address, or by name.
    pub(crate) fn symbol(&mut self, address: usize) -> Result<(usize, usize), Code> {
        let variable = self.variables.get(&address).cloned().ok_or(Code::hipErrorInvalidSymbol)?;
        let module = self.module(variable.module)?;
        let (place, bytes) = module.variable(&variable.name).ok_or(Code::hipErrorInvalidSymbol)?;
        match variable.managed {
            Some(memory) => Ok((memory, self.allocations.find(memory).map_or(bytes, |it| it.bytes))),
            None => Ok((place, bytes)),
        }
    }
}
