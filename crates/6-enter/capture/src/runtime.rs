//! Functions of the runtime behind this library, found by name.

use std::ffi::{CStr, c_void};

/// File names under which the runtime may be loaded where the usual search does not see it, newest first.
const RUNTIMES: [&CStr; 4] =
    [c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5", c"libamdhip64.so"];

/// The HIP error of a function that the runtime does not have, `hipErrorSharedObjectSymbolNotFound`.
pub(crate) const NOT_FOUND: i32 = 302;

/// Address of the function of this name behind this library; 0 if there is none.
pub(crate) fn address(name: &CStr) -> usize {
    // SAFETY: a name that ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return next.expose_provenance();
    }
    // A library that Python loads for itself alone is no library behind this one.
    for runtime in RUNTIMES {
        // SAFETY: a name that ends with a zero; nothing is loaded that is not.
        let handle = unsafe { libc::dlopen(runtime.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_NOW) };
        if !handle.is_null() {
            // SAFETY: the handle of a loaded library, and a name that ends with a zero.
            let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
            if !found.is_null() {
                return found.expose_provenance();
            }
        }
    }
    0
}

/// A function of the runtime with the type given; `None` if the runtime has none of the name.
macro_rules! real {
    ($name:ident($($type:ty),* $(,)?) -> $result:ty) => {{
        static ADDRESS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        };
        let address = *ADDRESS.get_or_init(|| $crate::runtime::address(NAME));
        (address != 0).then(|| {
            let pointer = std::ptr::with_exposed_provenance::<std::ffi::c_void>(address);
            // SAFETY: the runtime's function of this name has the type that the HIP headers give it.
            unsafe { std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($type),*) -> $result>(pointer) }
        })
    }};
}
pub(crate) use real;

/// Waits for the GPU.
pub(crate) fn synchronize() -> Result<(), String> {
    let function = real!(hipDeviceSynchronize() -> i32).ok_or("the runtime cannot wait for the GPU")?;
    // SAFETY: it takes nothing.
    success("hipDeviceSynchronize", unsafe { function() })
}

/// Copies memory that the GPU reaches.
pub(crate) fn copy(from: u64, into: &mut [u8]) -> Result<(), String> {
    /// The runtime finds out where both ends are.
    const DEFAULT: i32 = 4;
    let function =
        real!(hipMemcpy(*mut c_void, *const c_void, usize, i32) -> i32).ok_or("the runtime cannot copy")?;
    let from = std::ptr::with_exposed_provenance(usize::try_from(from).map_err(|it| it.to_string())?);
    // SAFETY: `into` has the length, and the runtime checks the other end.
    success("hipMemcpy", unsafe { function(into.as_mut_ptr().cast(), from, into.len(), DEFAULT) })
}

/// Begin and length of the memory that an address is in.
pub(crate) fn range(address: u64) -> Option<(u64, u64)> {
    let function = real!(hipMemGetAddressRange(*mut usize, *mut usize, usize) -> i32)?;
    let (mut base, mut bytes) = (0, 0);
    // SAFETY: both places are ours, and the runtime checks the address.
    let code = unsafe { function(&raw mut base, &raw mut bytes, usize::try_from(address).ok()?) };
    (code == 0 && bytes > 0).then_some((base as u64, bytes as u64))
}

/// Whether launches of a stream go into a graph.
pub(crate) fn is_capturing(stream: usize) -> bool {
    let Some(function) = real!(hipStreamIsCapturing(usize, *mut i32) -> i32) else { return false };
    let mut status = 0;
    // SAFETY: the place is ours, and the stream the program's.
    let code = unsafe { function(stream, &raw mut status) };
    code == 0 && status != 0
}

/// Address of a registered variable, by the address of its shadow in the program.
pub(crate) fn symbol(shadow: usize) -> Option<u64> {
    let function = real!(hipGetSymbolAddress(*mut usize, usize) -> i32)?;
    let mut address = 0;
    // SAFETY: the place is ours, and the shadow was registered.
    let code = unsafe { function(&raw mut address, shadow) };
    (code == 0 && address != 0).then_some(address as u64)
}

/// Address of a variable of a module.
pub(crate) fn global(module: usize, name: &CStr) -> Option<u64> {
    let function = real!(hipModuleGetGlobal(*mut usize, *mut usize, usize, *const libc::c_char) -> i32)?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the places are ours, the module is loaded, and the name ends with a zero.
    let code = unsafe { function(&raw mut address, &raw mut bytes, module, name.as_ptr()) };
    (code == 0 && address != 0).then_some(address as u64)
}

/// Name and target of the GPU of this thread: `AMD Instinct MI300X` and `gfx942`.
pub(crate) fn gpu() -> Option<(String, String)> {
    /// More than the structure has in any version; name first, target somewhere.
    const BYTES: usize = 8192;
    let mut device = 0;
    let current = real!(hipGetDevice(*mut i32) -> i32)?;
    // SAFETY: the place is ours.
    if unsafe { current(&raw mut device) } != 0 {
        return None;
    }
    let properties = real!(hipGetDevicePropertiesR0600(*mut u8, i32) -> i32)
        .or_else(|| real!(hipGetDeviceProperties(*mut u8, i32) -> i32))?;
    let mut bytes = vec![0u8; BYTES];
    // SAFETY: the place is larger than the structure of any version.
    if unsafe { properties(bytes.as_mut_ptr(), device) } != 0 {
        return None;
    }
    let text = |bytes: &[u8]| {
        let plain = |it: &u8| it.is_ascii_graphic() || *it == b' ';
        String::from_utf8_lossy(&bytes[..bytes.iter().take_while(|it| plain(it)).count()]).into_owned()
    };
    let target = bytes.windows(3).position(|it| it == b"gfx")?;
    let target = text(&bytes[target..]);
    Some((text(&bytes), target.split(':').next().unwrap_or_default().to_owned()))
}

fn success(name: &str, code: i32) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("`{name}` fails with error {code}")) }
}
