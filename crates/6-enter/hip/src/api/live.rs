//! Calls of Rockhound's Python package, beyond HIP.
//!
//! Command, library and Python files are of one build, so these entries promise nothing to other callers.

use super::{In, Out, entries};
use crate::checks::Checking;
use crate::codes::Code;
use crate::faults::After;
use crate::memory::MOST_FILLED;
use crate::runtime::lock;
use std::ptr::with_exposed_provenance_mut as pointer;

type Chars = In<libc::c_char>;

entries! {
    /// Gives memory of the program an address on the GPU. It stays the program's, which takes it back before
    /// the memory goes. `is_unwritten`: it was given to `rockhoundUnwritten`.
    fn rockhoundMap(memory: usize, bytes: usize, name: Chars, is_unwritten: i32, base: Out<usize>) {
        let name = name.text()?;
        if memory == 0 || bytes == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let mut runtime = lock();
        let is_checked = runtime.checking.is_some();
        let found = runtime.allocations.lend(pointer(memory), bytes, &name, is_checked)?;
        if is_unwritten != 0 {
            runtime.allocations.emulated.expect_unwritten(found as u64);
        }
        // Earlier writes of the host are new to the GPU.
        runtime.came_from_host = true;
        base.put(found)
    }

    /// Fills new memory of the program with the pattern by which reads of what nothing has written are found.
    fn rockhoundUnwritten(memory: usize, bytes: usize) {
        if memory == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        // SAFETY: the caller gives memory of this length that nothing else uses during the call.
        let filled = unsafe { std::slice::from_raw_parts_mut(pointer::<u8>(memory), bytes.min(MOST_FILLED)) };
        emu::fill_unwritten(filled);
        Ok(())
    }

    /// Takes that back.
    fn rockhoundUnmap(base: usize) {
        lock().allocations.take_back(base)
    }

    /// Gives launches a modelled time from now on, recorded or not; `before` receives the previous setting.
    fn rockhoundMeasure(is_on: i32, before: Out<i32>) {
        let mut runtime = lock();
        let was = std::mem::replace(&mut runtime.measures, is_on != 0);
        before.put(i32::from(was))
    }

    /// Modelled nanoseconds of all work so far, launches so far, and pieces of work without a modelled time.
    fn rockhoundElapsed(nanoseconds: Out<f64>, launches: Out<u64>, unknown: Out<u64>) {
        let runtime = lock();
        let (time, pieces) = runtime.timeline.elapsed();
        nanoseconds.put(time)?;
        launches.put(runtime.launches)?;
        unknown.put(pieces)
    }

    /// Threads that run workgroups from now on.
    fn rockhoundThreads(count: u32) {
        lock().settings.threads = count.max(1) as usize;
        Ok(())
    }

    /// What becomes of a launch whose kernel is stopped: 0 ends the program, 1 returns an error, which the command
    /// repeats at the end, 2 returns an error.
    fn rockhoundFaults(after: i32) {
        lock().faults.after = After::of(after).ok_or(Code::hipErrorInvalidValue)?;
        Ok(())
    }

    /// Takes the message of the last stopped kernel, cut to `bytes` with the zero behind it; empty if there is none.
    fn rockhoundTakeFault(message: *mut libc::c_char, bytes: usize) {
        if message.is_null() || bytes == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let text = lock().faults.take().unwrap_or_default();
        let length = text.floor_char_boundary(bytes - 1);
        // SAFETY: the caller gives a place of that size.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), message.cast(), length);
            message.add(length).write(0);
        }
        Ok(())
    }

    /// Looks for mistakes in launches from now on: `races,uninit`. Nothing is timed or recorded then.
    fn rockhoundCheck(checks: Chars) {
        let checks = probe::Checks::parse(&checks.text()?).map_err(|_| Code::hipErrorInvalidValue)?;
        let folder = std::env::var_os(host::session::VARIABLE).ok_or(Code::hipErrorNotInitialized)?;
        lock().checking = checks.any().then(|| Checking::new(checks, folder.as_ref()));
        Ok(())
    }

    /// The next launch finds empty caches, as benchmarks want it.
    fn rockhoundEmptyCaches() {
        let mut runtime = lock();
        runtime.repeats.empty_caches();
        if let Some(recording) = &mut runtime.recording {
            recording.empty_caches();
        }
        if let Some(times) = &mut runtime.times {
            times.empty_caches();
        }
        Ok(())
    }

    /// Describes the next launch, as a JSON object.
    fn rockhoundDescribe(note: Chars) {
        lock().note = Some(note.text()?);
        Ok(())
    }

    /// A configuration that an autotuner tried and that cannot be launched, as an object of JSON.
    fn rockhoundFailed(note: Chars) {
        let note = note.text()?;
        if let Some(recording) = &lock().recording {
            recording.note_failed(&note);
        }
        Ok(())
    }
}
