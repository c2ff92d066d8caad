//! Allocations, code and kernels of the program.

use crate::runtime;
use host::capture::{Allocation, Capturer, Device, Kind};
use host::session::Capture;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Names the file with the launch to capture.
use host::session::CAPTURE_VARIABLE;

/// GPU code.
#[derive(Clone)]
pub(crate) enum Image {
    /// Of the program, which keeps it.
    Registered(&'static [u8]),
    /// Of a module: a copy, as programs free what they load.
    Loaded(Vec<u8>),
    /// In a file.
    File(PathBuf),
}

/// A kernel, by the handle of its module or registered binary, and its name.
#[derive(Clone)]
pub(crate) struct Kernel {
    pub(crate) module: usize,
    pub(crate) symbol: String,
    /// Registered by the compiler, not loaded as a module.
    pub(crate) is_registered: bool,
}

/// Everything known.
#[derive(Default)]
pub(crate) struct State {
    /// Looks for the launch; `None` without a session.
    pub(crate) capturer: Option<Capturer>,
    pub(crate) allocations: RefCell<BTreeMap<u64, (u64, Kind)>>,
    pub(crate) images: HashMap<usize, Image>,
    pub(crate) kernels: HashMap<usize, Kernel>,
    /// Shadows of registered variables, by binary and name.
    pub(crate) variables: HashMap<(usize, String), usize>,
    /// A launch was seen.
    pub(crate) launched: bool,
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs with the state; `None` within such a run: a call of the runtime by itself, or by this library.
pub(crate) fn with<T>(run: impl FnOnce(&mut State) -> T) -> Option<T> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    if INSIDE.replace(true) {
        return None;
    }
    let state = STATE.get_or_init(|| Mutex::new(State { capturer: capturer(), ..State::default() }));
    let result = run(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
    INSIDE.set(false);
    Some(result)
}

/// The capture that the session asks for.
fn capturer() -> Option<Capturer> {
    let path = std::env::var_os(CAPTURE_VARIABLE)?;
    let read = || -> Result<Capture, String> {
        let bytes = std::fs::read(&path).map_err(|it| it.to_string())?;
        serde_json::from_slice(&bytes).map_err(|it| it.to_string())
    };
    match read() {
        Ok(wanted) => Some(Capturer::new(&wanted)),
        Err(why) => {
            crate::say(&format!("cannot use the session in {}: {why}", path.display()));
            None
        }
    }
}

impl State {
    /// Notes memory.
    pub(crate) fn add(&mut self, base: usize, bytes: usize, kind: Kind) {
        if base != 0 && bytes != 0 {
            self.allocations.get_mut().insert(base as u64, (bytes as u64, kind));
        }
    }

    /// Forgets memory.
    pub(crate) fn remove(&mut self, base: usize) {
        self.allocations.get_mut().remove(&(base as u64));
    }
}

/// Memory of the program while a kernel of a module is captured.
pub(crate) struct Seen<'a> {
    pub(crate) state: &'a State,
    pub(crate) kernel: &'a Kernel,
}

impl Seen<'_> {
    fn known(&self, address: u64) -> Option<Allocation> {
        let all = self.state.allocations.borrow();
        let (&base, &(bytes, kind)) = all.range(..=address).next_back()?;
        (address - base < bytes).then_some(Allocation { base, bytes, kind })
    }
}

impl Device for Seen<'_> {
    fn allocation(&self, address: u64) -> Option<Allocation> {
        self.known(address).or_else(|| {
            // Memory that the program got in another way.
            let (base, bytes) = runtime::range(address)?;
            self.state.allocations.borrow_mut().insert(base, (bytes, Kind::Device));
            Some(Allocation { base, bytes, kind: Kind::Device })
        })
    }

    fn span(&self) -> Range<u64> {
        let all = self.state.allocations.borrow();
        let first = all.first_key_value().map_or(0, |it| *it.0);
        first..all.last_key_value().map_or(0, |(base, (bytes, _))| base + bytes)
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), String> {
        runtime::copy(address, into)
    }

    fn variable(&self, name: &str) -> Option<u64> {
        let Kernel { module, is_registered, .. } = self.kernel;
        if *is_registered {
            return runtime::symbol(*self.state.variables.get(&(*module, name.to_owned()))?);
        }
        runtime::global(*module, &CString::new(name).ok()?)
    }
}
