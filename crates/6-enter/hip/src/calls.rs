//! Services that kernels get besides their arguments: calls to the host, the buffer of `printf`, a heap.
//!
//! Memory for these is made when a kernel first asks for it, and used again; what device code prints goes
//! through the C library's streams, so that it is in order with the program's output.

use crate::codes::Code;
use crate::memory::{Allocations, Kind};
use crate::message::say_once;
use emu::{Hidden, Hostcall, Launch, Memory, PrintBuffer, Program, Services, Stream};
use host::launches::grid_barrier;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Bytes of the buffer of `printf`: more than the vendor's 4 MiB, since nothing is gained by losing text.
const PRINT_BYTES: u32 = 64 << 20;

/// Bytes of the structure through which device code finds its heap.
const HEAP_BYTES: usize = 128 << 10;
/// Memory that the heap hands out; taken from the system as it is used.
const ARENA_BYTES: usize = 1 << 30;
/// Alignment of the heap's requests.
const ARENA_STEP: u64 = 2 << 20;

/// Part of the message of a failed assert, which every lane prints.
const FAILED_ASSERT: &[u8] = b": Device-side assertion `";

/// Addresses of memory that kernels share.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Address and packets.
    hostcall: Option<(u64, u32)>,
    printing: Option<u64>,
    heap: Option<u64>,
    arena: Option<u64>,
    grid: Option<u64>,
    /// Bytes of the arena that were handed out.
    used: AtomicU64,
    /// Lanes by the message of their failed assert.
    failed_asserts: Mutex<BTreeMap<Vec<u8>, u64>>,
}

/// Memory of the runtime.
fn internal(allocations: &mut Allocations, bytes: usize) -> Result<u64, Code> {
    Ok(allocations.allocate(Kind::Internal, bytes, 0, usize::MAX)? as u64)
}

/// Services that a launch needs.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    pub(crate) hidden: Hidden,
    packets: u32,
    printing: bool,
}

impl Calls {
    /// Prepares the services for a kernel.
    pub(crate) fn prepare(
        &mut self,
        program: &Program,
        launch: &Launch<'_>,
        allocations: &mut Allocations,
    ) -> Result<Needs, Code> {
        let has = |kind: &str| program.metadata.arguments.iter().any(|it| it.kind == kind);
        let mut needs = Needs::default();
        if program.calls_host() {
            needs.packets = host::launches::packets(launch);
            needs.hidden.hostcall_buffer = match self.hostcall {
                Some((base, packets)) if packets >= needs.packets => base,
                _ => internal(allocations, Hostcall::bytes(needs.packets) as usize)?,
            };
            self.hostcall = Some((needs.hidden.hostcall_buffer, needs.packets));
        }
        if program.calls_host() && has("hidden_heap_v1") {
            needs.hidden.heap = match self.heap {
                Some(heap) => heap,
                None => internal(allocations, HEAP_BYTES)?,
            };
            self.heap = Some(needs.hidden.heap);
            if self.arena.is_none() {
                self.arena = Some(internal(allocations, ARENA_BYTES)?.next_multiple_of(ARENA_STEP));
            }
        }
        if let Some(words) = grid_barrier(program, launch) {
            let grid = match self.grid {
                Some(grid) => grid,
                None => internal(allocations, words.len())?,
            };
            allocations.emulated.write(grid, &words);
            needs.hidden.multigrid = grid;
            self.grid = Some(grid);
        }
        if has("hidden_printf_buffer") {
            needs.printing = true;
            needs.hidden.printf_buffer = match self.printing {
                Some(base) => base,
                None => internal(allocations, PRINT_BYTES as usize)?,
            };
            self.printing = Some(needs.hidden.printf_buffer);
        }
        Ok(needs)
    }

    /// Host functions that the kernel calls.
    pub(crate) fn host<'a>(&'a self, needs: &Needs, memory: &Memory) -> Option<Hostcall<'a>> {
        if needs.packets == 0 {
            return None;
        }
        Hostcall::new(memory, needs.hidden.hostcall_buffer, needs.packets, self)
    }
}

impl Needs {
    /// The buffer of `printf`, empty.
    pub(crate) fn print_buffer(&self, memory: &Memory) -> Option<PrintBuffer> {
        if !self.printing {
            return None;
        }
        PrintBuffer::new(memory, self.hidden.printf_buffer, PRINT_BYTES)
    }
}

/// Prints the content of the buffer.
pub(crate) fn flush(buffer: &PrintBuffer, memory: &Memory, formats: &[String]) {
    if buffer.print(memory, formats, print) {
        say_once(&format!("a kernel printed more than {} MiB at once; the rest is lost", PRINT_BYTES >> 20));
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

fn print(stream: Stream, text: &[u8]) {
    crate::progress::clear();
    // SAFETY: the streams of the C library, which are there as long as the process; text and length belong
    // together.
    unsafe {
        let file = if stream == Stream::Out { stdout } else { stderr };
        libc::fwrite(text.as_ptr().cast(), 1, text.len(), file);
    }
}

impl Calls {
    /// Takes the messages of failed asserts, and the number of lanes that failed with one that another had printed.
    pub(crate) fn take_failed_asserts(&mut self) -> (String, u64) {
        let failed = self.failed_asserts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let failed = std::mem::take(failed);
        let texts = failed.keys().map(|it| String::from_utf8_lossy(it));
        (texts.collect(), failed.values().map(|lanes| lanes - 1).sum())
    }
}

/// Flushes the program's output to the system.
pub(crate) fn flush_output() {
    // SAFETY: a stream of the C library, which is there as long as the process.
    unsafe { libc::fflush(stdout) };
}

impl Services for Calls {
    fn print(&self, stream: Stream, text: &[u8]) {
        if stream == Stream::Error && text.windows(FAILED_ASSERT.len()).any(|it| it == FAILED_ASSERT) {
            let mut failed = self.failed_asserts.lock().unwrap_or_else(PoisonError::into_inner);
            let lanes = failed.entry(text.to_vec()).or_default();
            *lanes += 1;
            if *lanes > 1 {
                return;
            }
        }
        print(stream, text);
    }

    fn allocate(&self, bytes: u64) -> Option<u64> {
        let bytes = bytes.checked_next_multiple_of(ARENA_STEP)?;
        let end = ARENA_BYTES as u64 - ARENA_STEP;
        let place = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|after| *after <= end)
        });
        Some(self.arena? + place.ok()?)
    }

    fn free(&self, _address: u64) {
        // The heap gives memory back only when it made more than it needed; that is not used again.
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    /// Output of the C library for the same format.
    fn expected(format: &str, argument: u64) -> Vec<u8> {
        let format = CString::new(format).unwrap();
        let mut out = vec![0u8; 12_000];
        let double = format.to_bytes().last().is_some_and(|it| b"fFeEgGaA".contains(it));
        // SAFETY: the buffer has that length, and the format takes one argument of that kind.
        let length = unsafe {
            match double {
                true => libc::snprintf(
                    out.as_mut_ptr().cast(),
                    out.len(),
                    format.as_ptr(),
                    f64::from_bits(argument),
                ),
                false => libc::snprintf(out.as_mut_ptr().cast(), out.len(), format.as_ptr(), argument),
            }
        };
        out.truncate(length as usize);
        out
    }

    #[test]
    fn printf_is_that_of_the_c_library() {
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let edges = [
            0.0,
            -0.0,
            1.0,
            0.5,
            9.5,
            9.99e5,
            1e6,
            1e-5,
            123456.5,
            1e300,
            f64::INFINITY,
            f64::MIN_POSITIVE,
            5e-324,
        ];
        for round in 0..40_000 {
            let mut pick = |from: &'static [&str]| from[(random() % from.len() as u64) as usize];
            let flags = [pick(&["", "-"]), pick(&["", "0", "+", " "]), pick(&["", "", "#"])].concat();
            let width = pick(&["", "", "1", "7", "20", "33"]);
            let precision = pick(&["", "", ".", ".0", ".1", ".5", ".12", ".13", ".20", ".400"]);
            let conversion = pick(&[
                "d", "i", "u", "x", "X", "o", "hhd", "hd", "ld", "lld", "zu", "llx", "c", "f", "F", "e", "E",
                "g", "G", "a", "A",
            ]);
            let undefined = flags.contains('#') && "diuc".contains(&conversion[conversion.len() - 1..])
                || conversion == "c" && (precision.len() + flags.len() > 0);
            if undefined {
                continue;
            }
            let format = format!("%{flags}{width}{precision}{conversion}");
            let argument = match round % 4 {
                0 => f64::to_bits(edges[(random() % edges.len() as u64) as usize]),
                1 => random() % 1000,
                2 => (random() as i32 as f64 / 1024.0).to_bits(),
                _ => random(),
            };
            let mut words = format.as_bytes().to_vec();
            words.resize((words.len() + 1).next_multiple_of(8), 0);
            let mut words: Vec<u64> = words.as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
            words.push(argument);
            let (found, expected) = (emu::printf(&words), expected(&format, argument));
            let texts = (String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
            assert_eq!(found, expected, "{format} of {argument:#x}: {texts:?}");
        }
    }
}
