//! Launches, one of which is captured.

use crate::arguments::{self, Pointers};
use crate::state::{Image, Kernel, Seen, State, with};
use crate::{runtime, say};
use host::capture::{Begun, DeviceCodes, Dispatch, gpu_named};
use host::session;
use std::borrow::Cow;

/// A launch as the program asks for it.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    /// Stub, or function of a module.
    pub(crate) function: usize,
    /// Work-items.
    pub(crate) grid: [u32; 3],
    pub(crate) workgroup: [u32; 3],
    pub(crate) dynamic_lds: usize,
    pub(crate) stream: usize,
    pub(crate) cooperative: bool,
    pub(crate) pointers: Pointers,
    pub(crate) extra: Pointers,
}

impl Launch {
    /// Over workgroups.
    pub(crate) fn of(function: usize, workgroups: [u32; 3], workgroup: [u32; 3]) -> Launch {
        let grid = [0, 1, 2].map(|axis| workgroups[axis].saturating_mul(workgroup[axis]));
        let null = std::ptr::null_mut();
        let (dynamic_lds, stream, cooperative) = (0, 0, false);
        Launch { function, grid, workgroup, dynamic_lds, stream, cooperative, pointers: null, extra: null }
    }

    /// Launches by the runtime's own function, and captures before and after it if this is the launch wanted.
    ///
    /// # Safety
    /// The arguments are as the HIP headers say.
    pub(crate) unsafe fn perform(self, real: impl FnOnce() -> i32) -> i32 {
        // SAFETY: as the caller says.
        let begun = with(|state| unsafe { self.begin(state) }).flatten();
        let result = real();
        let Some((begun, kernel, name)) = begun else { return result };
        with(|state| {
            let seen = Seen { state, kernel: &kernel };
            let ended = match result {
                0 => runtime::synchronize(),
                code => Err(format!("the launch fails with error {code}")),
            };
            match ended.and_then(|()| begun.end(&seen).map_err(|it| format!("{it:#}"))) {
                Ok(lacking) => lacking.iter().for_each(|it| say(&format!("capture of `{name}`: {it}"))),
                Err(why) => say(&format!("cannot capture `{name}`: {why}")),
            }
        });
        result
    }

    /// # Safety
    /// As for [`Launch::perform`].
    unsafe fn begin(self, state: &mut State) -> Option<(Begun, Kernel, String)> {
        note_first(state);
        let kernel = state.kernels.get(&self.function)?.clone();
        let name = codeobj::demangle(&kernel.symbol);
        let mut capturer = state.capturer.take()?;
        let begun = capturer.next(&name, &kernel.symbol).map(|captured| {
            let find = || -> Result<Option<Begun>, String> {
                if runtime::is_capturing(self.stream) {
                    return Err("it goes into a graph, whose launches are not captured".to_owned());
                }
                runtime::synchronize()?;
                let (on, target) = runtime::gpu().ok_or("the runtime does not say which GPU this is")?;
                let image = image(state, &kernel)?;
                let code = DeviceCodes::find(&image, &target).map_err(|it| format!("{it:#}"))?;
                let arguments = code.arguments(&kernel.symbol).map_err(|it| format!("{it:#}"))?;
                // SAFETY: as the caller says.
                let values = unsafe { arguments::values(&arguments, self.pointers, self.extra) };
                let seen = Seen { state, kernel: &kernel };
                let dispatch = Dispatch {
                    name: &name,
                    symbol: &kernel.symbol,
                    code: code.bytes(),
                    code_address: code.address(|it| host::capture::Device::variable(&seen, it)),
                    arguments: &arguments,
                    values: &values.ok_or("its arguments are not where they should be")?,
                    grid: self.grid,
                    workgroup: self.workgroup,
                    dynamic_lds: u32::try_from(self.dynamic_lds).map_err(|it| it.to_string())?,
                    cooperative: self.cooperative,
                    gpu: gpu_named(&on, &target).unwrap_or_default(),
                    on: &on,
                    is_exact: false,
                };
                captured.begin(&dispatch, &seen).map_err(|it| format!("{it:#}"))
            };
            find()
        });
        state.capturer = Some(capturer);
        match begun? {
            Ok(begun) => Some((begun?, kernel, name)),
            Err(why) => {
                say(&format!("cannot capture `{name}`: {why}"));
                None
            }
        }
    }
}

/// Tells the command that a launch was seen.
fn note_first(state: &mut State) {
    if std::mem::replace(&mut state.launched, true) {
        return;
    }
    if let Some(file) = std::env::var_os(session::CAPTURE_VARIABLE) {
        // Without it the command says that it saw no launch.
        let _ = std::fs::write(std::path::Path::new(&file).with_file_name(session::CALLED), "");
    }
}

/// The code that a kernel is in.
fn image<'a>(state: &'a State, kernel: &Kernel) -> Result<Cow<'a, [u8]>, String> {
    match state.images.get(&kernel.module).ok_or("its code is gone")? {
        Image::Registered(bytes) => Ok(Cow::Borrowed(bytes)),
        Image::Loaded(bytes) => Ok(Cow::Borrowed(bytes)),
        Image::File(path) => {
            std::fs::read(path).map(Cow::Owned).map_err(|it| format!("`{}`: {it}", path.display()))
        }
    }
}
