//! The functions of the HIP interface that this library intercepts.

use crate::arguments::Pointers;
use crate::image::{self, Wrapper};
use crate::launch::Launch;
use crate::runtime::{NOT_FOUND, real};
use crate::state::{Image, Kernel, with};
use host::capture::Kind;
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

type Chars = *const libc::c_char;

/// A place of the program that the runtime writes: null, or leading to a value. Only programs make one.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Place(*mut usize);

impl Place {
    /// The value that the runtime left; 0 if the program gave no place.
    fn left(self) -> usize {
        // SAFETY: not null, and the program vouches for the rest.
        if self.0.is_null() { 0 } else { unsafe { self.0.read_unaligned() } }
    }
}

/// Three sizes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl Dim3 {
    fn array(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// A launch with attributes of the driver interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: u32,
    stream: usize,
    attributes: *const c_void,
    attribute_count: u32,
}

/// The same of the runtime interface.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ConfigurationC {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
    attributes: *const c_void,
    attribute_count: u32,
}

/// A text of the program.
///
/// # Safety
/// `text` is null or ends with a zero.
unsafe fn text<'a>(text: Chars) -> &'a CStr {
    // SAFETY: as the caller says.
    if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } }
}

/// Functions that call the runtime's own first, and note something if it succeeds; names behind `also` have the same signature.
macro_rules! noted {
    ($(#[$doc:meta] fn $name:ident $arguments:tt $(also $($other:ident)+)? $note:block)*) => {
        $(
            noted!(@one #[$doc] $name $arguments $note);
            $($(noted!(@one #[$doc] $other $arguments $note);)+)?
        )*
    };
    (@one #[$doc:meta] $name:ident($($argument:ident: $type:ty),* $(,)?) $note:block) => {
        #[$doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
            let Some(real) = real!($name($($type),*) -> i32) else { return NOT_FOUND };
            // SAFETY: the program's arguments as they are.
            let result = unsafe { real($($argument),*) };
            if result == 0 {
                $note
            }
            result
        }
    };
}

/// Functions that launch; names behind `also` have the same signature.
macro_rules! launches {
    ($(#[$doc:meta] fn $name:ident $arguments:tt $(also $($other:ident)+)? $launch:block)*) => {
        $(
            launches!(@one #[$doc] $name $arguments $launch);
            $($(launches!(@one #[$doc] $other $arguments $launch);)+)?
        )*
    };
    (@one #[$doc:meta] $name:ident($($argument:ident: $type:ty),* $(,)?) $launch:block) => {
        #[$doc]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> i32 {
            let Some(real) = real!($name($($type),*) -> i32) else { return NOT_FOUND };
            let launch: Launch = $launch;
            // SAFETY: the program's arguments as they are.
            unsafe { launch.perform(|| real($($argument),*)) }
        }
    };
}

/// Notes memory that the runtime gave.
fn add(place: Place, bytes: usize, kind: Kind) {
    with(|state| state.add(place.left(), bytes, kind));
}

/// Notes the code of a module.
///
/// # Safety
/// `data` points to code that the runtime has just read.
unsafe fn add_module(place: Place, data: *const c_void) {
    // SAFETY: as the caller says.
    if let Some(image) = unsafe { image::at(data) } {
        with(|state| state.images.insert(place.left(), Image::Loaded(image.to_vec())));
    }
}

noted! {
    /// Memory of the GPU.
    fn hipMalloc(place: Place, bytes: usize) {
        add(place, bytes, Kind::Device);
    }
    /// The same with flags.
    fn hipExtMallocWithFlags(place: Place, bytes: usize, flags: u32) {
        add(place, bytes, Kind::Device);
    }
    /// Memory that moves.
    fn hipMallocManaged(place: Place, bytes: usize, flags: u32) {
        add(place, bytes, Kind::Managed);
    }
    /// Memory of the host.
    fn hipHostMalloc(place: Place, bytes: usize, flags: u32) also hipHostAlloc {
        add(place, bytes, Kind::Host);
    }
    /// The same without flags.
    fn hipMallocHost(place: Place, bytes: usize) also hipMemAllocHost {
        add(place, bytes, Kind::Host);
    }
    /// Memory in the order of a stream.
    fn hipMallocAsync(place: Place, bytes: usize, stream: usize) {
        add(place, bytes, Kind::Device);
    }
    /// The same of a pool.
    fn hipMallocFromPoolAsync(place: Place, bytes: usize, pool: usize, stream: usize) {
        add(place, bytes, Kind::Device);
    }
    /// Memory of rows.
    fn hipMallocPitch(place: Place, pitch: Place, width: usize, height: usize) {
        add(place, pitch.left().saturating_mul(height), Kind::Device);
    }
    /// The same of the driver interface.
    fn hipMemAllocPitch(place: Place, pitch: Place, width: usize, height: usize, element: u32) {
        add(place, pitch.left().saturating_mul(height), Kind::Device);
    }
    /// Memory of the program.
    fn hipHostRegister(start: usize, bytes: usize, flags: u32) {
        with(|state| state.add(start, bytes, Kind::Host));
    }
    /// Memory in reserved addresses.
    fn hipMemMap(start: usize, bytes: usize, offset: usize, handle: usize, flags: u64) {
        with(|state| state.add(start, bytes, Kind::Device));
    }
    /// Its end.
    fn hipMemUnmap(start: usize, bytes: usize) {
        with(|state| state.remove(start));
    }
    /// The end of memory of the GPU and of the host; the program's memory is its own again.
    fn hipFree(start: usize) also hipHostFree hipFreeHost hipHostUnregister {
        with(|state| state.remove(start));
    }
    /// The same in the order of a stream.
    fn hipFreeAsync(start: usize, stream: usize) {
        with(|state| state.remove(start));
    }

    /// Code of a file.
    fn hipModuleLoad(place: Place, path: Chars) {
        // SAFETY: a text of the program.
        let path = unsafe { text(path) };
        let path = PathBuf::from(OsStr::from_bytes(path.to_bytes()));
        with(|state| state.images.insert(place.left(), Image::File(path)));
    }
    /// Code in memory.
    fn hipModuleLoadData(place: Place, data: *const c_void) also hipModuleLoadFatBinary {
        // SAFETY: the runtime has read the data; this holds for all data here.
        unsafe { add_module(place, data) }
    }
    /// The same with options.
    fn hipModuleLoadDataEx(place: Place, data: *const c_void, count: u32, options: Place, values: Pointers) {
        // SAFETY: as above.
        unsafe { add_module(place, data) }
    }
    /// Code in memory as a library.
    fn hipLibraryLoadData(
        place: Place, data: *const c_void, options: Place, values: Pointers, count: u32,
        library_options: Place, library_values: Pointers, library_count: u32,
    ) {
        // SAFETY: as above.
        unsafe { add_module(place, data) }
    }
    /// A kernel of a module or library.
    fn hipModuleGetFunction(place: Place, module: usize, name: Chars) also hipLibraryGetKernel {
        // SAFETY: a text of the program.
        let symbol = unsafe { text(name) }.to_string_lossy().into_owned();
        with(|state| state.kernels.insert(place.left(), Kernel { module, symbol, is_registered: false }));
    }
    /// A kernel of the program as a function.
    fn hipGetFuncBySymbol(place: Place, stub: usize) {
        with(|state| state.kernels.get(&stub).cloned().map(|it| state.kernels.insert(place.left(), it)));
    }
}

launches! {
    /// By the stub.
    fn hipLaunchKernel(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointers, shared: usize, stream: usize,
    ) also hipLaunchKernel_spt {
        Launch { pointers: arguments, dynamic_lds: shared, stream, ..Launch::of(function, grid.array(), block.array()) }
    }
    /// The same with events.
    fn hipExtLaunchKernel(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointers, shared: usize, stream: usize,
        start: usize, stop: usize, flags: i32,
    ) {
        Launch { pointers: arguments, dynamic_lds: shared, stream, ..Launch::of(function, grid.array(), block.array()) }
    }
    /// Workgroups wait for each other.
    fn hipLaunchCooperativeKernel(
        function: usize, grid: Dim3, block: Dim3, arguments: Pointers, shared: u32, stream: usize,
    ) also hipLaunchCooperativeKernel_spt {
        let launch = Launch::of(function, grid.array(), block.array());
        Launch { pointers: arguments, dynamic_lds: shared as usize, stream, cooperative: true, ..launch }
    }
    /// By the configuration of the runtime interface.
    fn hipLaunchKernelExC(configuration: *const ConfigurationC, function: usize, arguments: Pointers) {
        // SAFETY: the program gives a configuration, which the runtime reads as well.
        match unsafe { configuration.as_ref() } {
            Some(it) => {
                let launch = Launch::of(function, it.grid.array(), it.block.array());
                Launch { pointers: arguments, dynamic_lds: it.shared, stream: it.stream, ..launch }
            }
            None => Launch::of(0, [0; 3], [0; 3]),
        }
    }
    /// By the configuration of the driver interface.
    fn hipDrvLaunchKernelEx(configuration: *const Configuration, function: usize, arguments: Pointers, extra: Pointers) {
        // SAFETY: as above.
        match unsafe { configuration.as_ref() } {
            Some(it) => {
                let launch = Launch::of(function, it.grid.array(), it.block.array());
                Launch { pointers: arguments, extra, dynamic_lds: it.shared as usize, stream: it.stream, ..launch }
            }
            None => Launch::of(0, [0; 3], [0; 3]),
        }
    }
    /// A function of a module.
    fn hipModuleLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: usize,
        arguments: Pointers, extra: Pointers,
    ) {
        let launch = Launch::of(function, [gx, gy, gz], [bx, by, bz]);
        Launch { pointers: arguments, extra, dynamic_lds: shared as usize, stream, ..launch }
    }
    /// Its workgroups wait for each other.
    fn hipModuleLaunchCooperativeKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: usize,
        arguments: Pointers,
    ) {
        let launch = Launch::of(function, [gx, gy, gz], [bx, by, bz]);
        Launch { pointers: arguments, dynamic_lds: shared as usize, stream, cooperative: true, ..launch }
    }
    /// A function of a module over work-items, with events; the second name is the one in C++.
    fn hipExtModuleLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, stream: usize,
        arguments: Pointers, extra: Pointers, start: usize, stop: usize, flags: u32,
    ) also _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j {
        let grid = [gx, gy, gz];
        let launch = Launch::of(function, [1; 3], [bx, by, bz]);
        Launch { grid, pointers: arguments, extra, dynamic_lds: shared, stream, ..launch }
    }
    /// Its older form.
    fn hipHccModuleLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: usize, stream: usize,
        arguments: Pointers, extra: Pointers, start: usize, stop: usize,
    ) {
        let grid = [gx, gy, gz];
        let launch = Launch::of(function, [1; 3], [bx, by, bz]);
        Launch { grid, pointers: arguments, extra, dynamic_lds: shared, stream, ..launch }
    }
}

/// A binary of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFatBinary(wrapper: *const Wrapper) -> *mut *mut c_void {
    let Some(real) = real!(__hipRegisterFatBinary(*const Wrapper) -> *mut *mut c_void) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the compiler's wrapper as it is.
    let (handle, image) = unsafe { (real(wrapper), image::registered(wrapper)) };
    if let Some(image) = image {
        with(|state| state.images.insert(handle.addr(), Image::Registered(image)));
    }
    handle
}

/// A kernel of the program: the address of its stub and its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterFunction(
    handle: *mut *mut c_void,
    stub: *const c_void,
    device_function: *mut libc::c_char,
    name: Chars,
    thread_limit: u32,
    thread: *mut c_void,
    block: *mut c_void,
    block_size: *mut Dim3,
    grid_size: *mut Dim3,
    wave: *mut i32,
) {
    type Bare = *mut c_void;
    let Some(real) = real!(
        __hipRegisterFunction(
            *mut Bare,
            *const c_void,
            *mut libc::c_char,
            Chars,
            u32,
            Bare,
            Bare,
            *mut Dim3,
            *mut Dim3,
            *mut i32,
        ) -> ()
    ) else {
        return;
    };
    // SAFETY: the compiler's arguments as they are.
    unsafe {
        real(handle, stub, device_function, name, thread_limit, thread, block, block_size, grid_size, wave);
    }
    // SAFETY: the compiler gives a text.
    let symbol = unsafe { text(name) }.to_string_lossy().into_owned();
    let kernel = Kernel { module: handle.addr(), symbol, is_registered: true };
    with(|state| state.kernels.insert(stub.addr(), kernel));
}

/// A variable of the program: the address of its shadow and its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __hipRegisterVar(
    handle: *mut *mut c_void,
    shadow: *mut c_void,
    host_name: Chars,
    name: Chars,
    external: i32,
    bytes: usize,
    constant: i32,
    global: i32,
) {
    let Some(real) =
        real!(__hipRegisterVar(*mut *mut c_void, *mut c_void, Chars, Chars, i32, usize, i32, i32) -> ())
    else {
        return;
    };
    // SAFETY: the compiler's arguments as they are.
    unsafe { real(handle, shadow, host_name, name, external, bytes, constant, global) };
    // SAFETY: the compiler gives a text.
    let symbol = unsafe { text(name) }.to_string_lossy().into_owned();
    with(|state| state.variables.insert((handle.addr(), symbol), shadow.addr()));
}
