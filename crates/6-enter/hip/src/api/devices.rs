//! Devices, contexts, peers.
//!
//! All devices are the same GPU model and share the process's memory; which one is chosen belongs to the
//! thread.

use super::{In, Out, entries};
use crate::codes::Code;
use crate::runtime::lock;
use std::cell::Cell;

thread_local! {
    static CURRENT: Cell<i32> = const { Cell::new(0) };
}

/// The thread's device.
pub(crate) fn current() -> i32 {
    CURRENT.get()
}

/// An error for a number that no device has.
pub(crate) fn check(device: i32) -> Result<(), Code> {
    if (0..lock().devices).contains(&device) { Ok(()) } else { Err(Code::hipErrorInvalidDevice) }
}

/// Contexts are devices: handle 1 is device 0.
pub(super) fn context_device(context: usize) -> Result<i32, Code> {
    let device =
        i32::try_from(context).ok().and_then(|it| it.checked_sub(1)).ok_or(Code::hipErrorInvalidContext)?;
    check(device).map(|()| device)
}

entries! {
    /// Number of devices.
    fn hipGetDeviceCount(count: Out<i32>) {
        count.put(lock().devices)
    }

    /// The thread's device.
    fn hipGetDevice(device: Out<i32>) {
        device.put(current())
    }

    /// Chooses the thread's device.
    fn hipSetDevice(device: i32) {
        check(device)?;
        CURRENT.set(device);
        Ok(())
    }

    /// The first of the given devices is good.
    fn hipSetValidDevices(_devices: In<i32>, _count: i32) {
        Ok(())
    }

    /// A device by number.
    fn hipDeviceGet(device: Out<i32>, number: i32) {
        check(number)?;
        device.put(number)
    }

    /// Everything is done already.
    fn hipDeviceSynchronize = hipCtxSynchronize() {
        lock().timeline.synchronize();
        Ok(())
    }

    /// Frees nothing: pointers of other threads stay valid, as programs that reset in one thread expect.
    fn hipDeviceReset() {
        Ok(())
    }

    /// How the host waits, which is kept and told: nothing is waited for.
    fn hipSetDeviceFlags(flags: u32) {
        // One way to wait; memory of the host is mapped; scratch memory stays.
        const WAYS: u32 = 7;
        const ALL: u32 = WAYS | 8 | 16;
        if flags & !ALL != 0 || (flags & WAYS).count_ones() > 1 {
            return Err(Code::hipErrorInvalidValue);
        }
        let device = current();
        lock().device_flags.insert(device, flags & WAYS);
        Ok(())
    }

    /// The flags that were set.
    fn hipGetDeviceFlags(flags: Out<u32>) {
        let device = current();
        let set = lock().device_flags.get(&device).copied().unwrap_or_default();
        flags.put(set)
    }

    /// Cache preferences change nothing on these GPUs.
    fn hipDeviceSetCacheConfig = hipCtxSetCacheConfig(configuration: u32) {
        if configuration > 3 { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
    }

    /// No preference.
    fn hipDeviceGetCacheConfig = hipCtxGetCacheConfig(configuration: Out<u32>) {
        configuration.put(0)
    }

    /// Bank width is fixed.
    fn hipDeviceSetSharedMemConfig = hipCtxSetSharedMemConfig(configuration: u32) {
        if configuration > 2 { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
    }

    /// Four bytes.
    fn hipDeviceGetSharedMemConfig = hipCtxGetSharedMemConfig(configuration: Out<u32>) {
        configuration.put(1)
    }

    /// All devices reach the same memory.
    fn hipDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        can.put(i32::from(device != peer))
    }

    /// Access is always open.
    fn hipDeviceEnablePeerAccess(peer: i32, _flags: u32) {
        check(peer)?;
        if peer == current() { Err(Code::hipErrorInvalidDevice) } else { Ok(()) }
    }

    /// As above.
    fn hipDeviceDisablePeerAccess(peer: i32) {
        check(peer)
    }

    /// The only context of a device.
    fn hipCtxCreate(context: Out<usize>, _flags: u32, device: i32) {
        check(device)?;
        CURRENT.set(device);
        context.put(device as usize + 1)
    }

    /// Contexts stay.
    fn hipCtxDestroy(context: usize) {
        context_device(context).map(|_| ())
    }

    /// The context of the thread's device.
    fn hipCtxGetCurrent(context: Out<usize>) {
        context.put(current() as usize + 1)
    }

    /// Chooses a device by its context.
    fn hipCtxSetCurrent = hipCtxPushCurrent(context: usize) {
        CURRENT.set(context_device(context)?);
        Ok(())
    }

    /// The context stays the thread's.
    fn hipCtxPopCurrent(context: Out<usize>) {
        if context.is_null() { return Ok(()) }
        context.put(current() as usize + 1)
    }

    /// Device of the thread's context.
    fn hipCtxGetDevice(device: Out<i32>) {
        device.put(current())
    }

    /// The context of a device.
    fn hipDevicePrimaryCtxRetain(context: Out<usize>, device: i32) {
        check(device)?;
        context.put(device as usize + 1)
    }

    /// Contexts stay.
    fn hipDevicePrimaryCtxRelease = hipDevicePrimaryCtxReset(device: i32) {
        check(device)
    }

    /// The context exists.
    fn hipDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        check(device)?;
        flags.put(0)?;
        active.put(1)
    }

    /// Flags change nothing here.
    fn hipDevicePrimaryCtxSetFlags(device: i32, _flags: u32) {
        check(device)
    }

    /// Bytes free and in all.
    fn hipMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let runtime = lock();
        let all = runtime.device.memory_bytes();
        free.put(all - runtime.allocations.device_bytes())?;
        total.put(all)
    }
}
