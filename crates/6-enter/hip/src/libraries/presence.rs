//! Libraries by which programs look for GPUs: the HSA runtime, rocm_smi, amd_smi; and markers of ROCTX.
//!
//! They show the emulated GPUs and the host. What would need real hardware (queues, temperatures, power) is
//! not supported.

use super::blas::put;
use super::{Answer, Arguments, Problem};
use crate::device::Device;
use crate::runtime::lock;
use std::cell::Cell;

/// The host's agent; GPUs follow.
const CPU: u64 = 1;
/// First number of a pool of memory and of an instruction set: the number of the agent is added.
const POOLS: u64 = 0x1000;
const ISAS: u64 = 0x2000;

/// PCI address of the first GPU: bus 1.
const FIRST_BDF: u64 = 0x100;
const VENDOR: u64 = 0x1002;

/// A call of one of these libraries; `None` if the function is not implemented.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    if let Some(rest) = function.strip_prefix("hsa_") {
        return hsa(rest, arguments);
    }
    if let Some(rest) = function.strip_prefix("rsmi_") {
        return rocm_smi(rest, arguments);
    }
    if let Some(rest) = function.strip_prefix("amdsmi_") {
        return amd_smi(rest, arguments);
    }
    roctx(function, arguments)
}

fn gpus() -> (Device, u64) {
    let runtime = lock();
    (runtime.device, u64::try_from(runtime.devices).unwrap_or_default())
}

/// A GPU by its number from 0.
fn gpu(number: u64) -> Result<Device, Problem> {
    let (device, count) = gpus();
    if number < count { Ok(device) } else { Err(Problem::Value) }
}

/// Writes a text of at most `room` bytes with its zero.
fn put_text(at: usize, text: &str, room: usize) -> Result<(), Problem> {
    if room == 0 {
        return Err(Problem::Size);
    }
    let kept = text.len().min(room - 1);
    let bytes = text.as_bytes()[..kept].iter().chain(&[0]);
    bytes.enumerate().try_for_each(|(index, byte)| put(at.wrapping_add(index), *byte))
}

/// Unique number of a GPU.
fn unique(number: u64) -> u64 {
    0x726f_636b_0000_0000 + number
}

fn uuid(number: u64) -> String {
    format!("GPU-{:016x}", unique(number))
}

/// Number of a target as ROCm's tools have it: `gfx942` is 942, `gfx90a` 0x90a in decimal digits of each part.
fn target_number(device: Device) -> u64 {
    let digits = device.processor().trim_start_matches(char::is_alphabetic);
    digits.parse().unwrap_or_else(|_| u64::from_str_radix(digits, 16).unwrap_or_default())
}

fn name(device: Device) -> String {
    format!("AMD {}", device.model.name)
}

type Callback = unsafe extern "C" fn(u64, usize) -> i32;

/// Calls a function of the program for numbers until it returns something else than 0, which is the answer.
fn iterate(numbers: impl Iterator<Item = u64>, callback: usize, data: usize) -> Answer {
    if callback == 0 {
        return Err(Problem::Pointer);
    }
    // SAFETY: the program gives a function of this type.
    let callback = unsafe { std::mem::transmute::<usize, Callback>(callback) };
    for number in numbers {
        // SAFETY: as the program promises; the runtime's lock is not held.
        let status = unsafe { callback(number, data) };
        if status != 0 {
            return Ok(u64::from(status.cast_unsigned()));
        }
    }
    Ok(0)
}

fn hsa(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let done = match function {
        "init" | "shut_down" => Ok(()),
        "status_string" => {
            let (status, at) = (arguments.int(), arguments.address());
            let text = if status == 0 { c"HSA_STATUS_SUCCESS" } else { c"HSA_STATUS_ERROR" };
            put(at, text.as_ptr())
        }
        "system_get_info" => system_info(arguments.int(), arguments.address()),
        "iterate_agents" => {
            let (callback, data) = (arguments.address(), arguments.address());
            return Some(iterate(CPU..=CPU + gpus().1, callback, data));
        }
        "agent_get_info" => agent_info(arguments.word(), arguments.int(), arguments.address()),
        "agent_iterate_isas" => {
            let (agent, callback, data) = (arguments.word(), arguments.address(), arguments.address());
            let isas = (agent > CPU).then_some(ISAS + agent);
            return Some(iterate(isas.into_iter(), callback, data));
        }
        "isa_get_info_alt" => isa_info(arguments.word(), arguments.int(), arguments.address()),
        "amd_agent_iterate_memory_pools" => {
            let (agent, callback, data) = (arguments.word(), arguments.address(), arguments.address());
            return Some(iterate(std::iter::once(POOLS + agent), callback, data));
        }
        "amd_memory_pool_get_info" => pool_info(arguments.word(), arguments.int(), arguments.address()),
        "agent_iterate_caches" | "agent_iterate_regions" => Ok(()),
        _ => return None,
    };
    Some(done.map(|()| 0))
}

fn system_info(attribute: i32, at: usize) -> Result<(), Problem> {
    match attribute {
        0 => put(at, 1u16),
        1 => put(at, 18u16),
        2 => put(at, nanoseconds()),
        3 => put(at, 1_000_000_000u64),
        4 => put(at, u64::MAX),
        // Little endian, the large model.
        5 => put(at, 0u32),
        6 => put(at, 1u32),
        7 => (0..128).try_for_each(|byte| put(at + byte, 0u8)),
        _ => Err(Problem::Unsupported(format!("system information {attribute:#x}"))),
    }
}

fn nanoseconds() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

fn agent_info(agent: u64, attribute: i32, at: usize) -> Result<(), Problem> {
    let number = agent.checked_sub(CPU + 1);
    let device = match number {
        Some(number) => Some(gpu(number)?),
        None if agent == CPU => None,
        None => return Err(Problem::Value),
    };
    if let Some((number, device)) = number.zip(device)
        && let Some(done) = gpu_info(number, device, attribute, at)
    {
        return done;
    }
    let is_gpu = device.is_some();
    match attribute {
        0 | 0xA009 => put_text(at, &device.map_or_else(|| "CPU".to_owned(), name), 64),
        1 => put_text(at, if is_gpu { "AMD" } else { "CPU" }, 64),
        // A GPU dispatches kernels.
        2 | 17 => put(at, u32::from(is_gpu)),
        3 => put(at, 1u32),
        4 | 5 | 11 => put(at, 0u32),
        7 => (0..3).try_for_each(|axis| put(at + 2 * axis, 0u16)),
        9 => (0..3).try_for_each(|axis| put(at + 4 * axis, 0u32)),
        16 | 0xA004 => put(at, (agent - CPU) as u32),
        18 => (0..4).try_for_each(|level| put(at + 4 * level, 0u32)),
        20 => (0..128).try_for_each(|byte| put(at + byte, 0u8)),
        21 => put(at, 1u16),
        22 => put(at, 0u16),
        0xA001 => put(at, 64u32),
        0xA002 => put(at, std::thread::available_parallelism().map_or(1, usize::from) as u32),
        0xA011 => put_text(at, "CPU-XX", 21),
        6 | 8 | 10 | 12..=15 | 19 | 0xA000 | 0xA003 | 0xA005..=0xA008 | 0xA00A..=0xA00F => put(at, 0u32),
        _ => Err(Problem::Unsupported(format!("information {attribute:#x} of an agent"))),
    }
}

/// What only a GPU has; `None` for what is left.
fn gpu_info(number: u64, device: Device, attribute: i32, at: usize) -> Option<Result<(), Problem>> {
    let (model, target) = (device.model, device.model.target());
    let most = crate::device::MOST_THREADS;
    Some(match attribute {
        0 => put_text(at, device.processor(), 64),
        6 => put(at, target.lanes_per_wave.value),
        7 => (0..3).try_for_each(|axis| put(at + 2 * axis, most as u16)),
        8 => put(at, most),
        9 => (0..3).try_for_each(|axis| put(at + 4 * axis, u32::MAX)),
        10 => put(at, u32::MAX),
        12 => put(at, 128u32),
        13 => put(at, 64u32),
        14 => put(at, 131_072u32),
        18 => {
            let caches = [16 << 10, target.l2.bytes_per_xcd.value, 0, 0];
            caches.iter().enumerate().try_for_each(|(level, bytes)| put(at + 4 * level, *bytes))
        }
        19 => put(at, ISAS + CPU + 1 + number),
        0xA001 => put(at, 128u32),
        0xA002 => put(at, model.compute_units.value),
        0xA003 => put(at, model.engine_mhz.value),
        0xA006 => put(at, (FIRST_BDF * (number + 1)) as u32),
        0xA008 => put(at, model.memory_mhz.get().copied().unwrap_or_default()),
        0xA00A => put(at, target.waves_per_cu()),
        0xA00B => put(at, target.simds_per_cu.value),
        0xA010 => put(at, 1u8),
        0xA011 => put_text(at, &uuid(number), 21),
        0xA014 => put(at, model.compute_units.value),
        0xA015 => {
            let used = lock().allocations.device_bytes();
            put(at, device.memory_bytes().saturating_sub(used) as u64)
        }
        0xA016 => put(at, 100_000_000u64),
        0xA111 => put(at, model.xcds.value),
        _ => return None,
    })
}

fn isa_info(isa: u64, attribute: i32, at: usize) -> Result<(), Problem> {
    let number = isa.checked_sub(ISAS + CPU + 1).ok_or(Problem::Value)?;
    let text = format!("amdgcn-amd-amdhsa--{}", gpu(number)?.target_id());
    match attribute {
        0 => put(at, text.len() as u32 + 1),
        1 => put_text(at, &text, text.len() + 1),
        _ => Err(Problem::Unsupported(format!("information {attribute} of an instruction set"))),
    }
}

fn pool_info(pool: u64, attribute: i32, at: usize) -> Result<(), Problem> {
    let agent = pool.checked_sub(POOLS).ok_or(Problem::Value)?;
    let bytes = match agent.checked_sub(CPU + 1) {
        Some(number) => gpu(number)?.memory_bytes() as u64,
        None => host_bytes(),
    };
    match attribute {
        // Global memory: coarse-grained on a GPU, fine-grained and for arguments on the host.
        0 => put(at, 0u32),
        1 => put(at, if agent == CPU { 3u32 } else { 4 }),
        2 => put(at, bytes),
        5 => put(at, 0u8),
        6 | 7 => put(at, 4096u64),
        15 => put(at, u8::from(agent == CPU)),
        _ => Err(Problem::Unsupported(format!("information {attribute} of a pool of memory"))),
    }
}

/// Bytes of the machine's memory; 0 where it does not say.
fn host_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}

fn rocm_smi(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let done = match function {
        "init" | "shut_down" => Ok(()),
        "num_monitor_devices" => put(arguments.address(), gpus().1 as u32),
        "version_get" => {
            let at = arguments.address();
            [7u32, 0, 0]
                .iter()
                .enumerate()
                .try_for_each(|(index, part)| put(at + 4 * index, *part))
                .and_then(|()| put(at + 16, c"emulated".as_ptr()))
        }
        "status_string" => {
            let (status, at) = (arguments.int(), arguments.address());
            let text =
                if status == 0 { c"RSMI_STATUS_SUCCESS" } else { c"RSMI_STATUS: not answered by Rockhound" };
            put(at, text.as_ptr())
        }
        _ => return device_of_smi(function, arguments),
    };
    Some(done.map(|()| 0))
}

/// A question about one GPU.
fn device_of_smi(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let what = function.strip_prefix("dev_")?.strip_suffix("_get")?;
    let number = u64::from(arguments.int().cast_unsigned());
    let device = match gpu(number) {
        Ok(device) => device,
        Err(problem) => return Some(Err(problem)),
    };
    let mut text = |text: &str| {
        let (at, room) = (arguments.address(), arguments.address() as u32);
        put_text(at, text, room as usize)
    };
    let done = match what {
        "name" | "market_name" => text(&name(device)),
        "brand" => text("AMD"),
        "vendor_name" => text("Advanced Micro Devices, Inc. [AMD/ATI]"),
        "vendor_id" => put(arguments.address(), VENDOR as u16),
        "unique_id" => put(arguments.address(), unique(number)),
        "pci_id" => put(arguments.address(), FIRST_BDF * (number + 1)),
        "node_id" => put(arguments.address(), number as u32 + 1),
        "guid" => put(arguments.address(), unique(number)),
        "target_graphics_version" => put(arguments.address(), target_number(device)),
        "memory_total" | "memory_usage" => {
            let (kind, at) = (arguments.int(), arguments.address());
            memory_of_smi(device, kind, what == "memory_total", at)
        }
        _ => return None,
    };
    Some(done.map(|()| 0))
}

/// Memory of a kind: 0 is that of the GPU, 1 what of it the host sees, which is all.
fn memory_of_smi(device: Device, kind: i32, is_total: bool, at: usize) -> Result<(), Problem> {
    if !(0..=1).contains(&kind) {
        return Err(Problem::Unsupported(format!("memory of kind {kind}")));
    }
    let bytes = if is_total { device.memory_bytes() } else { lock().allocations.device_bytes() };
    put(at, bytes as u64)
}

/// Number of the only socket; GPUs follow it.
const SOCKET: u64 = 0x100;

fn amd_smi(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let done = match function {
        "init" | "shut_down" => Ok(()),
        "status_code_to_string" => {
            let (status, at) = (arguments.int(), arguments.address());
            let text = if status == 0 {
                c"AMDSMI_STATUS_SUCCESS"
            } else {
                c"AMDSMI_STATUS: not answered by Rockhound"
            };
            put(at, text.as_ptr())
        }
        "get_socket_handles" => handles(arguments, std::iter::once(SOCKET)),
        "get_processor_handles" => {
            if arguments.word() != SOCKET {
                return Some(Err(Problem::Value));
            }
            handles(arguments, (1..=gpus().1).map(|it| SOCKET + it))
        }
        _ => {
            let what = function.strip_prefix("get_")?;
            let number = arguments.word().checked_sub(SOCKET + 1).ok_or(Problem::Value);
            let known = number.and_then(|number| Ok((number, gpu(number)?)));
            match known {
                Ok((number, device)) => processor(what, number, device, arguments)?,
                Err(problem) => Err(problem),
            }
        }
    };
    Some(done.map(|()| 0))
}

/// Writes numbers to a list, whose length the program gives, or only says how many there are.
fn handles(arguments: &mut Arguments, numbers: impl Iterator<Item = u64>) -> Result<(), Problem> {
    let (count, list) = (arguments.address(), arguments.address());
    let numbers: Vec<u64> = numbers.collect();
    if count == 0 {
        return Err(Problem::Pointer);
    }
    if list != 0 {
        // SAFETY: the program's count of places.
        let room = unsafe { std::ptr::with_exposed_provenance::<u32>(count).read_unaligned() };
        numbers
            .iter()
            .take(room as usize)
            .enumerate()
            .try_for_each(|(index, it)| put(list + 8 * index, *it))?;
    }
    put(count, numbers.len() as u32)
}

fn processor(
    what: &str,
    number: u64,
    device: Device,
    arguments: &mut Arguments,
) -> Option<Result<(), Problem>> {
    Some(match what {
        // A GPU of AMD.
        "processor_type" => put(arguments.address(), 1u32),
        "gpu_device_uuid" => {
            let (length, at) = (arguments.address(), arguments.address());
            let text = uuid(number);
            put_text(at, &text, text.len() + 1).and_then(|()| put(length, text.len() as u32 + 1))
        }
        "gpu_device_bdf" => put(arguments.address(), (number + 1) << 8),
        "gpu_memory_total" | "gpu_memory_usage" => {
            let (kind, at) = (arguments.int(), arguments.address());
            memory_of_smi(device, kind, what == "gpu_memory_total", at)
        }
        _ => return None,
    })
}

thread_local! {
    /// Ranges that are open in this thread.
    static DEPTH: Cell<i32> = const { Cell::new(0) };
}

/// Markers: they return what they return under no profiler.
fn roctx(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let level = |level: i32| Some(Ok(u64::from(level.cast_unsigned())));
    match function {
        "roctxMarkA" | "roctxMark" => Some(Ok(0)),
        "roctxRangePushA" | "roctxRangePush" => level(DEPTH.replace(DEPTH.get() + 1)),
        "roctxRangePop" => {
            // Without an open range: -1, as the library answers.
            let open = DEPTH.get() - 1;
            DEPTH.set(open.max(0));
            level(open)
        }
        "roctxRangeStartA" | "roctxRangeStart" => {
            Some(Ok(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
        }
        "roctxRangeStop" | "roctxProfilerPause" | "roctxProfilerResume" => Some(Ok(0)),
        "roctx_version_major" => level(4),
        "roctx_version_minor" => level(1),
        "roctxGetThreadId" => {
            let at = arguments.address();
            Some(put(at, u64::from(std::process::id())).map(|()| 0))
        }
        _ => None,
    }
}
