//! The program's clocks, moved on by modelled time.
//!
//! The one idea to keep in mind: programs take times with `clock_gettime` around a synchronisation, and print or choose by
//! them. The time in which work is emulated is taken off these clocks, and where the program waits for the GPU they move
//! on by the modelled time of the work. The library comes before the C library in the order in which symbols are looked up.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// Clocks of wall time, by their numbers, which are below this.
const CLOCKS: usize = 8;
/// Clocks that tell a process how much it computed, which stay as they are.
const OF_THE_CPU: [i32; 2] = [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_THREAD_CPUTIME_ID];

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Nanoseconds that the program's clocks are ahead of the system's.
static AHEAD: AtomicI64 = AtomicI64::new(0);
/// Pieces of work that go on, and the system's time since when; 0 while there are none.
static DEPTH: AtomicUsize = AtomicUsize::new(0);
static SINCE: AtomicI64 = AtomicI64::new(0);
/// Nanoseconds of the timeline that the clocks have seen.
static SEEN: AtomicI64 = AtomicI64::new(0);
/// Last time of each clock, which never goes back.
static LAST: [AtomicI64; CLOCKS] = [const { AtomicI64::new(i64::MIN) }; CLOCKS];
/// Address of the C library's function, once it is known.
static SYSTEM: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The thread does the library's work, which takes the time that it takes.
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

type ClockGettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

/// The program's clocks are the model's from now on.
pub(crate) fn turn_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// This thread is the library's: it reads the system's clocks.
pub(crate) fn own_thread() {
    IS_OURS.set(true);
}

/// Does work whose duration says nothing about the GPU: the program's clocks stand still.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    if !IS_ON.load(Ordering::Relaxed) {
        return work();
    }
    if DEPTH.fetch_add(1, Ordering::AcqRel) == 0 {
        SINCE.store(now(), Ordering::Release);
    }
    let before = IS_OURS.replace(true);
    let result = work();
    IS_OURS.set(before);
    if DEPTH.fetch_sub(1, Ordering::AcqRel) == 1 {
        let since = SINCE.swap(0, Ordering::AcqRel);
        AHEAD.fetch_sub(now() - since, Ordering::AcqRel);
    }
    result
}

/// Nanoseconds of the system's monotonic clock.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place may be written.
    unsafe { of_system(libc::CLOCK_MONOTONIC, &raw mut time) };
    whole(time)
}

fn whole(time: libc::timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

/// The program has waited for the GPU, whose timeline is at this time; false if its clocks are the system's.
pub(crate) fn reach(end: f64) -> bool {
    if !IS_ON.load(Ordering::Relaxed) {
        return false;
    }
    let end = end as i64;
    let more = end.saturating_sub(SEEN.fetch_max(end, Ordering::Relaxed)).max(0);
    AHEAD.fetch_add(more, Ordering::Relaxed);
    true
}

/// A time of a clock as the program sees it.
fn shown(clock: libc::clockid_t, time: libc::timespec) -> libc::timespec {
    let own = usize::try_from(clock).ok().and_then(|it| LAST.get(it));
    let Some(last) = own.filter(|_| !OF_THE_CPU.contains(&clock)) else { return time };
    // Work that goes on now has not passed for the program.
    let since = SINCE.load(Ordering::Acquire);
    let working = if since == 0 { 0 } else { (now() - since).max(0) };
    let whole = whole(time).saturating_add(AHEAD.load(Ordering::Acquire)).saturating_sub(working);
    let whole = whole.max(last.fetch_max(whole, Ordering::Relaxed));
    libc::timespec { tv_sec: whole.div_euclid(1_000_000_000), tv_nsec: whole.rem_euclid(1_000_000_000) }
}

/// The C library's function.
fn system() -> Option<ClockGettime> {
    let mut address = SYSTEM.load(Ordering::Relaxed);
    if address == 0 {
        // SAFETY: the name is a C string.
        address = unsafe { libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr()) }.expose_provenance();
        SYSTEM.store(address, Ordering::Relaxed);
    }
    let found = std::ptr::with_exposed_provenance::<libc::c_void>(address);
    // SAFETY: it is the function of that name, or null, which is `None`.
    unsafe { std::mem::transmute::<*const libc::c_void, Option<ClockGettime>>(found) }
}

/// The system's time of a clock.
///
/// # Safety
/// `time` may be written.
unsafe fn of_system(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    match system() {
        // SAFETY: as the caller says.
        Some(system) => unsafe { system(clock, time) },
        // SAFETY: as the caller says.
        None => unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as libc::c_int },
    }
}

/// The time of a clock, in place of the C library's.
///
/// # Safety
/// `time` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    // SAFETY: as the caller says.
    let code = unsafe { of_system(clock, time) };
    if code == 0 && IS_ON.load(Ordering::Relaxed) && !IS_OURS.get() {
        // SAFETY: it was written just now.
        unsafe { time.write(shown(clock, time.read())) };
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanoseconds: i64) -> libc::timespec {
        libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds }
    }

    #[test]
    fn clocks_move_by_modelled_time_and_never_back() {
        let read = |clock, time| {
            let shown = shown(clock, time);
            (shown.tv_sec, shown.tv_nsec)
        };
        assert_eq!(read(libc::CLOCK_MONOTONIC, at(5, 100)), (5, 100));
        turn_on();
        reach(2_000_000_000.0);
        reach(1.0);
        assert_eq!(read(libc::CLOCK_MONOTONIC, at(5, 200)), (7, 200));
        AHEAD.fetch_sub(3_000_000_000, Ordering::Relaxed);
        // Work was emulated for longer: the clock waits.
        assert_eq!(read(libc::CLOCK_MONOTONIC, at(6, 0)), (7, 200));
        assert_eq!(read(libc::CLOCK_MONOTONIC, at(9, 0)), (8, 0));
        assert_eq!(read(libc::CLOCK_THREAD_CPUTIME_ID, at(1, 1)), (1, 1));
        let before = AHEAD.load(Ordering::Relaxed);
        let start = std::time::Instant::now();
        apart(|| {
            let inside = std::time::Instant::now();
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(inside.elapsed().as_millis() >= 50);
        });
        assert!(AHEAD.load(Ordering::Relaxed) <= before - 50_000_000);
        assert!(start.elapsed().as_millis() < 50);
    }
}
